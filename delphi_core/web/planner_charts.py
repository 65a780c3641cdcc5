"""The chart of the Planner page, as its tab shows it and as cards of links draw it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from delphi_core.figures.valley import valley_alt, valley_figure
from delphi_core.web.fit_cache import cached_fit
from delphi_core.web.planner_fits import shown

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from delphi_core.snapshot import Snapshot
    from delphi_core.web.planner_view import PlannerView

    Chart = tuple[go.Figure, str]


def chart_of(snapshot: Snapshot, view: PlannerView) -> Chart | None:
    """The valley of a view, whichever its tab, and what it says in words; None without one."""
    # Neither tab nor zoom nor the recipe's width changes it.
    return _valley_chart(snapshot, replace(view, tab="valley", zoom="", hidden=""))


@cached_fit(max_entries=200, show_spinner=False)
def _valley_chart(snapshot: Snapshot, view: PlannerView) -> Chart | None:
    found = shown(snapshot, view).plan
    if found is None or not len(found.valley):
        return None
    curves = [(plan, found.curve(plan)) for plan in found.plans]
    figure = valley_figure(
        curves,
        value_title=snapshot.value_title(view.metric),
        size=found.ladder.params_column,
        x=view.x,
    )
    return figure, valley_alt(curves)
