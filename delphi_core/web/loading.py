"""Cached loading: one snapshot and one fit per setting for all visitors."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from delphi_core.errors import DataError
from delphi_core.figures.isoflop import isoflop_figure
from delphi_core.figures.isoflop_words import isoflop_alt
from delphi_core.fits.isoflop import IsoflopFit
from delphi_core.records import without_budgets
from delphi_core.snapshot import BUNDLED, Snapshot, load_snapshot
from delphi_core.web.isoflop_view import published_shown

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from delphi_core.fits.isoflop import IsoflopResult
    from delphi_core.web.isoflop_view import IsoflopView


@dataclass(frozen=True)
class LoadedSnapshot:
    """The snapshot in use, and why it is not the one that was asked for, if so."""

    snapshot: Snapshot
    refused: str | None


@st.cache_resource(show_spinner="Reading the figures ...")
def current_snapshot() -> LoadedSnapshot:
    """The snapshot DELPHI_SNAPSHOT names, or the bundled one if that is refused.

    Read once a process; shared by all visitors, so never to be changed.
    """
    try:
        return LoadedSnapshot(load_snapshot(), None)
    except DataError as error:
        if not os.environ.get("DELPHI_SNAPSHOT"):
            raise
        return LoadedSnapshot(load_snapshot(BUNDLED), error.problems[0])


@st.cache_resource(
    max_entries=500, show_spinner="Fitting ...", hash_funcs={Snapshot: lambda snapshot: snapshot.id}
)
def fitted(snapshot: Snapshot, view: IsoflopView) -> IsoflopResult:
    """The fit that the IsoFLOP page shows in a view."""
    settings = IsoflopFit(method=view.method, x=view.x, include_excluded=view.excluded)
    records = snapshot.records(view.ladder, view.metric)
    hidden = set(view.offered_budgets(snapshot)) - set(view.budgets)
    return settings(without_budgets(records, hidden))


@st.cache_resource(
    max_entries=200, show_spinner=False, hash_funcs={Snapshot: lambda snapshot: snapshot.id}
)
def isoflop_chart(snapshot: Snapshot, view: IsoflopView) -> tuple[go.Figure, str]:
    """The chart of a view and what it says in words; half the time of a rerun if made anew."""
    isoflop, published = fitted(snapshot, view), published_shown(snapshot, view)
    size = snapshot.ladder(view.ladder).params_column
    title = snapshot.value_title(view.metric)
    figure = isoflop_figure(isoflop, value_title=title, size=size, published=published, y=view.y)
    return figure, isoflop_alt(isoflop, size=size, published=published)
