"""The charts of the Trajectories page, as its tabs show them and as cards of links draw them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from delphi_core.events import events_of
from delphi_core.figures.ledger import ledger_alt, ledger_figure
from delphi_core.figures.trajectory import trajectory_alt, trajectory_figure
from delphi_core.figures.trajectory_grid import trajectory_grid, trajectory_grid_alt
from delphi_core.trajectory_tables import JUDGED_FROM
from delphi_core.web.fit_cache import BY_ID
from delphi_core.web.trajectory_fits import ledger, shown
from delphi_core.web.trajectory_words import metric_words

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from delphi_core.snapshot import Snapshot
    from delphi_core.web.trajectory_fits import Shown
    from delphi_core.web.trajectory_view import TrajectoryView

    Chart = tuple[go.Figure, str]


def chart_of(snapshot: Snapshot, view: TrajectoryView) -> Chart:
    """The chart of a view's tab and what it says in words; of others than these two, the curve.

    Small multiples would be too small to read.
    """
    if view.tab == "record" and len(table := ledger(snapshot)):
        return record_chart(table)
    return curve_chart(snapshot, view)


def record_chart(table: pd.DataFrame) -> Chart:
    """Published forecasts against their outcomes, and what they say in words."""
    return ledger_figure(table), ledger_alt(table)


def curve_chart(snapshot: Snapshot, view: TrajectoryView) -> Chart:
    """Forecast and measured curve, and what they say in words."""
    return _curve_chart(snapshot, replace(view, zoom="", tab="curve"))


# Most of the time of a rerun if made anew.
@st.cache_resource(max_entries=200, show_spinner=False, hash_funcs=BY_ID)
def _curve_chart(snapshot: Snapshot, view: TrajectoryView) -> Chart:
    found = shown(snapshot, view.choice)
    figure = trajectory_figure(
        found.measured,
        found.forecast,
        value_title=snapshot.value_title(view.metric),
        x=view.x,
        shown=view.shown_fractions,
        rungs=found.rungs if view.rungs else (),
        events=events_of(snapshot, found.target.ladder, found.measured),
        all_events=view.events,
    )
    return figure, trajectory_alt(found.measured, found.forecast)


def subsets_chart(view: TrajectoryView, found: tuple[tuple[str, Shown], ...]) -> Chart:
    """How far every metric is off its forecast, and the same in words.

    Parameters
    ----------
    view
        Says which part of training is shown.
    found
        As `metrics_shown` gives it; not empty.
    """
    items = [
        (metric_words(metric), own.measured, own.forecast)
        for metric, own in found
        if own.forecast is not None
    ]
    first, last = view.shown_fractions
    figure = trajectory_grid(items, shown=(max(first, JUDGED_FROM), last))
    return figure, trajectory_grid_alt(items)
