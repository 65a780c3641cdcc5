"""What the Planner page says in words: headline, notes, caption, file names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from delphi_core.fits.law_choice import CHOSEN_ON
from delphi_core.fits.valley_backtest import DEFAULT_VALLEY
from delphi_core.plan_text import plan_sentence
from delphi_core.web.messages import plain
from delphi_core.web.sources import source_links
from delphi_core.words import count, flops_words

if TYPE_CHECKING:
    import pandas as pd

    from delphi_core.snapshot import Snapshot
    from delphi_core.web.planner_fits import Shown
    from delphi_core.web.planner_view import PlannerView

TAB_TITLES = {
    "plan": "Plan",
    "valley": "Deviating",
    "recipe": "Recipe",
    "backtest": "Backtest",
    "download": "Download",
}
X_TITLES = {"overtraining": "over-training", "size": "size"}
SPENT = (
    "Every point spends the whole budget: a smaller model is trained on more tokens. Compute "
    "wasted is C − C', where C' is what the optimum needs for the same loss."
)
EXTRAPOLATED = (
    "Extrapolated: no run fitted was as far off the optimum of its budget, or had as many or as "
    "few tokens per parameter"
)
SEE_BACKTEST = "The Backtest tab says how far off the valley was on larger budgets."
CHOICE = (
    f"The form of the valley, {DEFAULT_VALLEY}, has the least mean error over "
    f"{', '.join(CHOSEN_ON)} (each ladder counts the same, optima by the default method) when the "
    "runs of later budgets are forecast from earlier ones; held-out runs play no part in it. "
    "python -m delphi_core plan-backtest makes the choice again."
)


def headline(shown: Shown) -> str:
    """The finding: what to train with the first budget, and what loss to expect."""
    plan = shown.plan
    if plan is None:
        return "What should a budget be spent on?"
    first = plain(
        plan_sentence(plan.plans[0], plan.ladder.params_column, how=False).removesuffix(".")
    )
    if len(plan.plans) > 1:
        first += f", and {count(len(plan.plans) - 1, 'more budget')}"
    return first


def notes(shown: Shown) -> list[str]:
    """What to know of the plans, one sentence a line: of several that of the largest budget."""
    lines = list(shown.problems)
    if shown.plan is not None:
        plan = shown.plan.plans[-1]
        only = f"{flops_words(plan.flops)}: " if len(shown.plan.plans) > 1 else ""
        lines += [
            f"{only}{note}" if note not in shown.plan.plans[0].notes else note
            for note in plan.notes
        ]
    return list(dict.fromkeys(lines))


def backtest_verdict(rows: pd.DataFrame) -> str:
    """How far off the valley was on this ladder's later budgets, one sentence."""
    own = rows[rows["valley"] == DEFAULT_VALLEY]
    runs = len(own[["flops", "u"]].drop_duplicates())
    if own["error"].isna().all():
        return "The form of the valley could not be fitted to the earlier budgets of this ladder."
    return (
        f"On this ladder: {count(len(own), 'forecast')} of {count(runs, 'run')} beside the optimum "
        f"of a later budget; mean error {own['error'].abs().mean():.4f}, worst "
        f"{own['error'].abs().max():.4f}, where the runs lie {own['above'].abs().mean():.4f} above "
        "their optimum on average."
    )


def caption(snapshot: Snapshot, view: PlannerView, shown: Shown) -> str:
    """What was fitted on what, as of when and from which source, in Markdown."""
    ladder = snapshot.ladder(view.ladder)
    made = f"FLOPs: {ladder.flops_convention}. {snapshot.part(view.ladder).named}."
    if shown.plan is None:
        return plain(made)
    planner = shown.plan.planner
    lines = [planner.describe(), planner.isoflop.describe(), f"{view.metric}. {made}"]
    text = "  \n".join(plain(line) for line in lines)
    return f"{text} Sources: {source_links(snapshot, ladder, planner.isoflop, set())}."


def plan_code(view: PlannerView) -> str:
    """Python that makes the same plans."""
    width = "" if view.width is None else f", hidden_dim={view.width!r}"
    return (
        "import delphi_core as dc\n"
        "snapshot = dc.load_snapshot()\n"
        f"plan = dc.plan(snapshot, {view.budgets!r}, ladder={view.ladder!r},\n"
        f"               metric={view.metric!r}, method={view.method!r}, "
        f"level={float(view.level)!r}{width})\n"
        "print(plan.table)\n"
        "print(plan.valley)\n"
        "print(plan.recipe_table)"
    )


def file_stem(view: PlannerView) -> str:
    """Name of a download of a view, without what it holds and without its ending."""
    parts = (view.ladder, view.metric, view.method, "plan")
    return "_".join(re.sub(r"[^A-Za-z0-9._-]+", "-", part) for part in parts)
