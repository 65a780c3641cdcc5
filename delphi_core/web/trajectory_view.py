"""View state of the Trajectories page, and what the page offers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from typing import TYPE_CHECKING, cast

from delphi_core.errors import DataError
from delphi_core.figures.trajectory_axis import TRAJECTORY_X, TrajectoryX
from delphi_core.fits.backtest import DEFAULT_FORECASTER
from delphi_core.fits.forecasters import FORECAST_METHODS, ForecastMethod
from delphi_core.macro import subsets_of
from delphi_core.trajectories import Target, target_metrics, targets
from delphi_core.trajectory_tables import Asymptote, forecast_settings, rungs_of
from delphi_core.web.view_state import Asked, ViewState

if TYPE_CHECKING:
    from delphi_core.snapshot import Snapshot
    from delphi_core.web.view_state import Query

LEVELS = ("0.8", "0.9", "0.95")
STARTS = ("0", "0.05", "0.1", "0.2")
ENDS = ("0.4", "0.6", "0.8", "1")
TABS = ("curve", "evaluations", "methods", "subsets", "backtests", "record", "download")


@dataclass(frozen=True)
class TrajectoryChoice:
    """The part of a view that something is forecast by."""

    target: str
    metric: str
    method: ForecastMethod
    asymptote: Asymptote
    level: float
    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class TrajectoryView(ViewState):
    """What the Trajectories page shows.

    Attributes
    ----------
    target
        Id of targets.csv; the first by default.
    metric
        The target's own by default.
    method
        Forecaster; the one backtests prefer by default, or per-fraction where the rungs have one
        point each.
    asymptote
        E where it is pinned, as typed, or fit to profile it on the rungs; empty, the default, for E
        as the target pins it.
    level
        Of the band: 0.8, 0.9 (default) or 0.95.
    x
        fraction (default), steps, tokens or flops.
    start
        Fraction of training that the chart begins at: 0, 0.05 (default), 0.1 or 0.2.
    rungs, events
        Whether the rungs' curves and all of the run's events are drawn; both off by default.
    tab
        Which tab is open: curve (default), evaluations, methods, subsets, backtests, record or
        download.
    end
        Fraction of training that the chart ends at: 0.4, 0.6, 0.8 or 1 (default).
    without
        Subsets left out of a macro loss; none by default.
    zoom
        What the chart is zoomed to: x from, x to, y from, y to; empty, the default, for all of it.
    """

    target: str
    metric: str
    method: ForecastMethod
    asymptote: str
    level: str
    x: TrajectoryX
    start: str
    rungs: bool
    events: bool
    tab: str
    end: str
    without: tuple[str, ...]
    zoom: str = ""

    @classmethod
    def read(cls, query: Query, snapshot: Snapshot) -> tuple[TrajectoryView, list[str]]:
        """The nearest valid view to a query, and a notice for each part that is not to be had.

        Raises
        ------
        DataError
            The snapshot holds no target.
        """
        asked = Asked(query)
        known = _targets(snapshot)
        if not known:
            raise DataError(["this snapshot holds nothing to forecast; add rows to targets.csv."])
        target = known[asked.one("target", list(known), next(iter(known)))]
        metric = asked.one("metric", _metrics(snapshot, target), target.metric)
        preferred = _preferred_method(snapshot, target, metric)
        method = asked.one("method", FORECAST_METHODS, preferred)
        view = cls(
            target.target,
            metric,
            cast("ForecastMethod", method),
            asked.words("asymptote"),
            asked.one("level", LEVELS, "0.9"),
            cast("TrajectoryX", asked.one("x", TRAJECTORY_X, TRAJECTORY_X[0])),
            asked.one("start", STARTS, STARTS[1]),
            asked.flag("rungs", default=False),
            asked.flag("events", default=False),
            asked.one("tab", TABS, TABS[0]),
            asked.one("end", ENDS, ENDS[-1]),
            asked.some("without", offered_subsets(snapshot, target, metric)),
            asked.zoom(),
        )
        return view, asked.notices

    @property
    def pinned(self) -> Asymptote:
        """What was typed for E; None where that is nothing or no E."""
        if self.asymptote == "fit":
            return "fit"
        try:
            value = float(self.asymptote)
        except ValueError:
            return None
        return value if isfinite(value) and 0 <= value < 1e6 else None

    @property
    def mistakes(self) -> list[str]:
        """One sentence for each number that is typed and cannot be taken."""
        if self.asymptote and self.pinned is None:
            return [f"E is {self.asymptote!r}; it must be a number from 0 up, or fit. It is left."]
        return []

    @property
    def choice(self) -> TrajectoryChoice:
        """What the view is forecast by."""
        return TrajectoryChoice(
            self.target, self.metric, self.method, self.pinned, float(self.level), self.without
        )

    @property
    def shown_fractions(self) -> tuple[float, float]:
        """Fractions of training that the chart begins and ends at."""
        return float(self.start), float(self.end)


def method_words(method: str) -> str:
    """A method as a control shows it."""
    return f"{method} (default)" if method == DEFAULT_FORECASTER.method else method


# A view is read once for each of its fields while its query is made, and what it hangs on is found
# in tables as long as all trajectories: found once, then kept.
@lru_cache(maxsize=4)
def _targets(snapshot: Snapshot) -> dict[str, Target]:
    return targets(snapshot)


@lru_cache(maxsize=100)
def _metrics(snapshot: Snapshot, target: Target) -> list[str]:
    return target_metrics(snapshot, target)


@lru_cache(maxsize=500)
def _preferred_method(snapshot: Snapshot, target: Target, metric: str) -> ForecastMethod:
    return forecast_settings(target, metric, rungs_of(snapshot, target, metric)).method


@lru_cache(maxsize=100)
def offered_subsets(snapshot: Snapshot, target: Target, metric: str) -> tuple[str, ...]:
    """Subsets that may be left out of a metric."""
    return subsets_of(snapshot, target, metric)
