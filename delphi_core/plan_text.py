"""What the plan command prints for people to read."""

from __future__ import annotations

from dataclasses import asdict
from math import isfinite
from typing import TYPE_CHECKING, Any

from delphi_core.fits.interval import METHOD_WORDS
from delphi_core.fits.law_choice import CHOSEN_ON
from delphi_core.fits.recipe import RECIPE_LADDER, UNITS
from delphi_core.fits.valley_backtest import DEFAULT_VALLEY
from delphi_core.plan_documents import NO_RECIPE
from delphi_core.plan_tables import recipe_notes
from delphi_core.words import AMOUNTS, amount_words, flops_words, ratio_words

if TYPE_CHECKING:
    import pandas as pd

    from delphi_core.fits.planner import Plan
    from delphi_core.plan_tables import LadderPlan


def plan_text(found: LadderPlan) -> str:
    """Every plan, with its valley, recipe and nearest runs."""
    size = found.ladder.params_column
    made = f"snapshot {found.snapshot.id}, {found.planner.fit.method.name}"
    lines = [f"{found.ladder.ladder}, {found.metric}, {made}", found.planner.describe()]
    for plan, recipe in zip(found.plans, found.recipes, strict=True):
        lines += ["", plan_sentence(plan, size), *(f"  {note}" for note in plan.notes)]
        lines += _valley_lines(found.valley, plan)
        lines += _nearest_lines(found.nearest, plan)
        if recipe is not None:
            lines += ["", f"Delphi's recipe at width {recipe.hidden_dim}:"]
            lines += [
                f"  {name:16} {setting_words(value):>24}  {UNITS[name]}".rstrip()
                for name, value in asdict(recipe).items()
            ]
            rows = found.recipe_table
            row = rows[rows["budget"] == recipe.budget].iloc[0]
            lines += [f"  {sentence}" for sentence in recipe_sentences(row)]
            lines += [f"  {note}" for note in recipe_notes(recipe)]
    if found.ladder.ladder != RECIPE_LADDER:
        lines += ["", NO_RECIPE]
    return "\n".join(lines)


def plan_sentence(plan: Plan, size: str, *, how: bool = True) -> str:
    """The finding: what to train with a budget, and what loss to expect of it.

    Parameters
    ----------
    plan
        Of one budget.
    size
        What the ladder's sizes are: params or active_params.
    how
        Whether to say how the band was got.
    """
    words = (
        f"At {flops_words(plan.flops)}: {amount_words(plan.params)} {AMOUNTS[size]} on "
        f"{amount_words(plan.tokens)} tokens"
    )
    if not isfinite(plan.predicted):
        return f"{words}; no loss law is fitted."
    words += f", loss {plan.predicted:.3f}"
    if not (isfinite(plan.low) and isfinite(plan.high)):
        return f"{words} (no band)."
    words += f" ({plan.low:.3f} to {plan.high:.3f}"
    return (
        f"{words}, {100 * plan.level:g} % band by the {METHOD_WORDS[plan.interval]})."
        if how
        else f"{words})."
    )


def recipe_sentences(row: pd.Series) -> list[str]:
    """What the valley says of a recipe's size; nothing where there is no valley."""
    if row["predicted"] is None or not isfinite(row["predicted"]):
        return []
    far = " (extrapolated)" if row["extrapolated"] else ""
    loss = f"loss {row['predicted']:.4f}, {row['above']:.4f} above the optimum"
    return [f"Its size: {loss}, {row['deadweight_pct']:.2g} % of the compute wasted{far}."]


def setting_words(value: Any) -> str:
    """A setting as people read it: whole numbers whole, others with six digits."""
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.6g}"


def _valley_lines(valley: pd.DataFrame, plan: Plan) -> list[str]:
    rows = valley[valley["flops"] == plan.flops] if len(valley) else valley
    if not len(rows):
        return []
    header = f"  {'over-training':>13} {'size':>8} {'tokens':>8} {'tokens/param':>12}"
    lines = ["", f"{header} {'loss':>8} {'above':>8} {'wasted':>8}"]
    for row in rows.to_dict("records"):
        far = "  extrapolated" if row["extrapolated"] else ""
        lines.append(
            f"  {row['overtraining']:>12g}x {amount_words(row['params']):>8} "
            f"{amount_words(row['tokens']):>8} {row['tokens_per_param']:12.4g} "
            f"{row['predicted']:8.4f} {row['above']:+8.4f} {row['deadweight_pct']:6.1f} %{far}"
        )
    return lines


def _nearest_lines(nearest: pd.DataFrame, plan: Plan) -> list[str]:
    lines = ["", "  nearest runs:"]
    for row in nearest[nearest["flops_planned"] == plan.flops].to_dict("records"):
        seeds = f", mean of {row['seeds']} seeds" if row["seeds"] > 1 else ""
        lines.append(
            f"    {row['run']} ({row['role']}): {ratio_words(row['flops_ratio'])} of the compute, "
            f"{ratio_words(row['params_ratio'])} of the size, "
            f"{amount_words(row['tokens'])} tokens, loss {row['value']:.4f}{seeds}"
        )
    return lines


def valley_scores_text(scores: pd.DataFrame, ladders: list[str]) -> str:
    """Every form of the valley by its mean error, least first."""
    lines = [
        "mean error of L - L* beside the optima of later budgets, in the metric's unit",
        f"used: {DEFAULT_VALLEY}, chosen on {', '.join(CHOSEN_ON)}",
        "",
        f"{'form':30} {'mean':>8} " + " ".join(f"{ladder:>17}" for ladder in ladders),
    ]
    for row in scores.to_dict("records"):
        cells = " ".join(f"{row[ladder]:17.5f}" for ladder in ladders)
        lines.append(f"{row['valley']:30} {row['score']:8.5f} {cells}")
    return "\n".join(lines)
