"""What the Planner page shows under its controls: one function a tab."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from delphi_core.fits.recipe import RECIPE_LADDER
from delphi_core.plan_documents import NO_RECIPE, plan_json, plan_yaml
from delphi_core.plan_tables import recipe_notes
from delphi_core.recipe_check import recipe_check, recipe_verdict
from delphi_core.web import planner_charts as charts
from delphi_core.web import planner_tables as tables
from delphi_core.web import planner_words as words
from delphi_core.web import share
from delphi_core.web.charts import show_chart
from delphi_core.web.code_block import show_code
from delphi_core.web.messages import plain
from delphi_core.web.planner_fits import backtested

if TYPE_CHECKING:
    from collections.abc import Callable

    from delphi_core.plan_tables import LadderPlan
    from delphi_core.snapshot import Snapshot
    from delphi_core.web.planner_fits import Shown
    from delphi_core.web.planner_view import PlannerView


def plan(snapshot: Snapshot, view: PlannerView, shown: Shown) -> None:
    """What to train with each budget, and what was trained near it."""
    del snapshot, view
    found = shown.plan
    if found is not None:
        tables.plans(found)
    _lines(words.notes(shown))
    if found is not None:
        st.markdown("**Nearest runs already trained**, by compute and size")
        tables.nearest(found, "nearest_table")


def valley(snapshot: Snapshot, view: PlannerView, shown: Shown) -> None:
    """What smaller models trained longer, and larger ones, cost."""
    found, chart = shown.plan, charts.chart_of(snapshot, view)
    if found is None or chart is None:
        _nothing(shown)
        return
    figure, alt = chart
    show_chart(figure, snapshot, view, alt=alt, key="valley_chart", zoom=True)
    low, high = found.planner.sampled_tokens_per_param
    sampled = f"{low:.2g} to {high:.3g} tokens per parameter were sampled"
    _lines([words.SPENT, f"{words.EXTRAPOLATED} ({sampled}). {words.SEE_BACKTEST}"])
    tables.deviations(found)


def recipe(snapshot: Snapshot, view: PlannerView, shown: Shown) -> None:
    """Every setting of Delphi's recipe, beside the nearest runs."""
    found = shown.plan
    if view.ladder != RECIPE_LADDER:
        st.info(plain(NO_RECIPE))
        return
    if found is None or not any(found.recipes):
        _nothing(shown)
        return
    check = recipe_check(snapshot)
    width = "as typed" if view.width is not None else "the one nearest in size to the plan"
    _lines(
        [
            f"the width is {width}; whole steps come within half a step of the budget.",
            recipe_verdict(check),
            *(note for own in found.recipes if own is not None for note in recipe_notes(own)),
            *shown.problems,
        ]
    )
    tables.recipes(found)
    st.markdown("**What the valley says of these sizes**")
    tables.recipe_sizes(found)
    st.markdown("**Settings of the nearest runs**")
    tables.nearest(found, "recipe_runs")
    differing = check[~check["equal"]]
    if len(differing):
        st.markdown("**Where a run was not trained by the recipe** (set by hand)")
        tables.differing(differing)


def backtest(snapshot: Snapshot, view: PlannerView, shown: Shown) -> None:
    """How the form of the valley was chosen, and how far off it is on this ladder."""
    del shown
    rows = backtested(snapshot, view.choice)
    if not len(rows):
        st.info(
            "A backtest needs five budgets with an optimum: four to fit and one to meet; this "
            "ladder has fewer by this method."
        )
        return
    _lines([words.backtest_verdict(rows), words.CHOICE])
    tables.backtest(rows)


def download(snapshot: Snapshot, view: PlannerView, shown: Shown) -> None:
    """Plans as CSV, JSON and YAML, and the code that makes them."""
    found = shown.plan
    if found is None:
        _nothing(shown)
        return
    share.download_buttons(snapshot, view)
    stem = words.file_stem(view)
    files: dict[str, tuple[Callable[[LadderPlan], str], str]] = {
        "json": (plan_json, "application/json"),
        "yaml": (plan_yaml, "application/yaml"),
    }
    with st.container(horizontal=True):
        for ending, (content, mime) in files.items():
            made, name = partial(content, found), f"{stem}.{ending}"
            title, key = f"All ({ending.upper()})", f"plan_{ending}"
            st.download_button(title, made, name, mime, key=key, on_click="ignore")
    st.markdown("At full precision. The same plans in a notebook:")
    show_code(words.plan_code(view))
    share.address_lines(snapshot, view)


SHOWN = {
    "plan": plan,
    "valley": valley,
    "recipe": recipe,
    "backtest": backtest,
    "download": download,
}


def _nothing(shown: Shown) -> None:
    st.info(plain(" ".join(shown.problems) or "There is nothing to show here."))


def _lines(lines: list[str]) -> None:
    if lines:
        told = (line[:1].upper() + line[1:] for line in dict.fromkeys(lines))
        st.markdown("\n".join(f"- {plain(line)}" for line in told))
