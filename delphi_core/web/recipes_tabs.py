"""What the Recipes page shows under its controls: one function a tab."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from delphi_core import recipe_tables
from delphi_core.figures import recipe_words
from delphi_core.figures.metric_panel import MetricPanel, metric_panel
from delphi_core.web import recipes_charts as charts
from delphi_core.web import recipes_tables as tables
from delphi_core.web import recipes_words as words
from delphi_core.web import share
from delphi_core.web.charts import show_chart
from delphi_core.web.code_block import show_code
from delphi_core.web.messages import plain
from delphi_core.web.recipes_fits import metrics_fitted, recipe_line, shown_flops, speed_ups
from delphi_core.web.recipes_view import offered_laws

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from delphi_core.recipes import Recipes
    from delphi_core.snapshot import Snapshot
    from delphi_core.web.recipes_view import RecipesView


def laws(snapshot: Snapshot, view: RecipesView, found: Recipes) -> None:
    """Optima and laws of all on one chart, what to know beside it, and the verdict."""
    figure, alt = charts.laws_chart(snapshot, view)
    with _beside_warnings(found):
        show_chart(figure, snapshot, view, alt=alt, key="laws_chart", zoom=True)
    at = shown_flops(view, found)
    _lines(words.verdict(found, at))
    _notes(found)
    if view.published and at is not None:
        _published_table(snapshot, view, found, at)


def speed_up(snapshot: Snapshot, view: RecipesView, found: Recipes) -> None:
    """Speed-up over the base against compute."""
    chart, at = charts.speed_up_chart(snapshot, view), shown_flops(view, found)
    if chart is None:
        with _beside_warnings(found):
            st.info("No two laws to compare: choose a ladder that has one.")
        _lines(words.verdict(found, at))
        return
    figure, alt = chart
    with _beside_warnings(found):
        show_chart(figure, snapshot, view, alt=alt, key="speed_up_chart", zoom=True)
    _lines(words.verdict(found, at))
    _notes(found)
    tables.speed_ups(snapshot, speed_ups(view, found))
    if view.published and at is not None:
        _published_table(snapshot, view, found, at)


def pairs(snapshot: Snapshot, view: RecipesView, found: Recipes) -> None:
    """Runs of equal width, tokens and batch."""
    chart = charts.pairs_chart(snapshot, view)
    if chart is None:
        st.info(
            plain(
                f"No finished run of the sweep of {found.base.ladder.title} has the width, tokens "
                "and batch of a run of the other ladders."
            )
        )
        return
    figure, alt = chart
    finding = f"Runs of the width, tokens and batch of a run of {found.base.ladder.title}"
    show_chart(figure, snapshot, view, alt=alt, key="pairs_chart", zoom=True, finding=finding)
    _lines(words.pairs_verdict(found))
    tables.pairs(snapshot, recipe_tables.pairs_table(found))


def metrics(snapshot: Snapshot, view: RecipesView, found: Recipes) -> None:
    """The same laws in every metric that one of the ladders has optima in."""
    del found
    fitted = metrics_fitted(snapshot, view.choice)
    panels = [
        MetricPanel(
            snapshot.value_title(metric).rpartition(" (")[0],
            snapshot.unit(metric),
            tuple((place, recipe_line(recipe)) for place, recipe in recipes),
        )
        for metric, recipes in fitted
    ]
    compute = [flops for panel in panels for _, line in panel.lines for flops in line.flops]
    # Columns, since side by side on a phone two panels would be too narrow to read.
    places = st.columns(2) * len(panels)
    for number, (place, panel) in enumerate(zip(places, panels, strict=False)):
        alt = recipe_words.metric_panel_alt(panel)
        figure, key = metric_panel(panel, compute), f"metric_{number}_chart"
        show_chart(
            figure,
            snapshot,
            view,
            alt=alt,
            key=key,
            place=place,
            finding=panel.title,
            source=f"Optima and laws of each recipe in this metric, optima by {view.method}.",
        )
    lines = ["One way of fitting in every metric; E, A and the unit belong to the metric."]
    if view.pinned is not None:
        lines.append(f"E is pinned at {view.pinned:g} in {view.metric} only, and fitted elsewhere.")
    _lines(lines)
    every = [recipe for _, recipes in fitted for _, recipe in recipes]
    tables.laws(snapshot, recipe_tables.recipe_laws_table(every))


def table(snapshot: Snapshot, view: RecipesView, found: Recipes) -> None:
    """Every number of the comparison."""
    tables.laws(snapshot, recipe_tables.recipe_laws_table(found.fitted))
    tables.speed_ups(snapshot, speed_ups(view, found))
    tables.optima(snapshot, recipe_tables.recipe_optima_table(found.fitted))
    if (at := shown_flops(view, found)) is not None and len(offered_laws(snapshot, view.metric)):
        _published_table(snapshot, view, found, at, every=True)


def download(snapshot: Snapshot, view: RecipesView, found: Recipes) -> None:
    """Everything as CSV, and the code that makes the same comparison."""
    share.download_buttons(snapshot, view)
    st.markdown("CSV at full precision. The same comparison in a notebook, and from a shell:")
    show_code(words.code(view, shown_flops(view, found)))
    show_code(words.command(view))
    share.address_lines(snapshot, view)


SHOWN = {
    "laws": laws,
    "speed-up": speed_up,
    "pairs": pairs,
    "metrics": metrics,
    "table": table,
    "download": download,
}


def _published_table(
    snapshot: Snapshot, view: RecipesView, found: Recipes, at: float, *, every: bool = False
) -> None:
    ids = None if every else view.published
    table = recipe_tables.published_speed_ups(snapshot, found, at, ids)
    tables.published(table, at)


def _beside_warnings(found: Recipes) -> DeltaGenerator:
    """A place for a chart; refusals and warnings stand beside it, on a phone below."""
    refused, warned = words.refusals(found), words.warnings(found)
    if not refused and not warned:
        return st.container()
    chart, beside = st.columns([3, 1])
    for sentence in refused:
        beside.error(plain(sentence))
    for sentence in warned:
        beside.warning(plain(sentence))
    return chart


def _notes(found: Recipes) -> None:
    """What differs as recipes do, and what cannot be known."""
    if notes := words.notes(found):
        st.caption("\n".join(f"- {plain(note)}" for note in notes))


def _lines(lines: list[str]) -> None:
    if lines:
        words_of = (line[:1].upper() + line[1:] for line in lines)
        st.markdown("\n".join(f"- {plain(line)}" for line in words_of))
