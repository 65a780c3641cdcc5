"""Cached loading: one snapshot and one fit per setting for all visitors."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from delphi_core.figures.isoflop import isoflop_figure
from delphi_core.figures.isoflop_words import isoflop_alt
from delphi_core.fits.isoflop import IsoflopFit
from delphi_core.records import without_budgets
from delphi_core.snapshot_keeper import SnapshotKeeper
from delphi_core.sources.places import Place
from delphi_core.web.fit_cache import cached_fit, shared_cache
from delphi_core.web.isoflop_view import published_shown

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from delphi_core.fits.isoflop import IsoflopResult
    from delphi_core.snapshot import Snapshot
    from delphi_core.snapshot_keeper import Kept
    from delphi_core.web.isoflop_view import IsoflopView


def kept_snapshot() -> Kept:
    """The snapshot to show now, and what is to be said of it: in memory, for all visitors."""
    return _keeper(os.environ.get("DELPHI_SNAPSHOT", "")).kept


def refresh_seconds() -> float:
    """How often DELPHI_SNAPSHOT is looked at: DELPHI_REFRESH_SECONDS, a minute if that is none."""
    try:
        seconds = float(os.environ.get("DELPHI_REFRESH_SECONDS", ""))
    except ValueError:
        return 60.0
    return seconds if 0.1 <= seconds <= 86_400 else 60.0


@shared_cache(show_spinner="Reading the figures ...", max_entries=1, on_release=SnapshotKeeper.stop)
def _keeper(named: str) -> SnapshotKeeper:
    """The process's one keeper of what DELPHI_SNAPSHOT names."""
    if not named:
        keeper = SnapshotKeeper(None)
    else:
        keeper = SnapshotKeeper(Place(named), _cache_folder(named), refresh_seconds())
    keeper.start()
    return keeper


def _cache_folder(named: str) -> Path | None:
    """Where the last good snapshot of a place is kept: below DELPHI_CACHE_DIR or ~/.cache."""
    try:
        parent = os.environ.get("DELPHI_CACHE_DIR") or Path.home() / ".cache" / "delphi-dashboard"
    except RuntimeError:  # This user has no home.
        return None
    return Path(parent) / hashlib.sha256(named.encode()).hexdigest()[:16]


@cached_fit(max_entries=500, show_spinner="Fitting ...")
def fitted(snapshot: Snapshot, view: IsoflopView) -> IsoflopResult:
    """The fit that the IsoFLOP page shows in a view."""
    settings = IsoflopFit(method=view.method, x=view.x, include_excluded=view.excluded)
    records = snapshot.records(view.ladder, view.metric)
    hidden = set(view.offered_budgets(snapshot)) - set(view.budgets)
    return settings(without_budgets(records, hidden))


@cached_fit(max_entries=200, show_spinner=False)
def isoflop_chart(snapshot: Snapshot, view: IsoflopView) -> tuple[go.Figure, str]:
    """The chart of a view and what it says in words; half the time of a rerun if made anew."""
    isoflop, published = fitted(snapshot, view), published_shown(snapshot, view)
    size = snapshot.ladder(view.ladder).params_column
    title = snapshot.value_title(view.metric)
    figure = isoflop_figure(isoflop, value_title=title, size=size, published=published, y=view.y)
    return figure, isoflop_alt(isoflop, size=size, published=published)
