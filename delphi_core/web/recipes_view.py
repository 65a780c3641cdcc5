"""View state of the Recipes page, and what the page offers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from typing import TYPE_CHECKING, cast

from delphi_core.comparable import comparison, optima_metrics
from delphi_core.errors import DataError
from delphi_core.fits.forecast import LARGEST_TARGET, SMALLEST_TARGET
from delphi_core.fits.law_methods import CURVES, Curve
from delphi_core.published import published_recipe_laws
from delphi_core.recipe_fits import recipe_ladders, shared_curve
from delphi_core.web.view_state import Asked, ViewState

if TYPE_CHECKING:
    import pandas as pd

    from delphi_core.snapshot import Snapshot
    from delphi_core.web.view_state import Query

TABS = ("laws", "speed-up", "pairs", "metrics", "table", "download")
_DEFAULT_LADDERS = 2


@dataclass(frozen=True)
class RecipesChoice:
    """The part of a view that something is fitted by."""

    base: str
    metric: str
    ladders: tuple[str, ...]
    method: Curve
    asymptote: float | None


@dataclass(frozen=True)
class RecipesView(ViewState):
    """What the Recipes page shows.

    Attributes
    ----------
    base
        Id of the ladder that others are held against; the second sweep of the snapshot by
        default, so that the first is held against it.
    metric
        The base's own by default.
    ladders
        Ids of the ladders held against it; by default the first two of the base's kind that have
        optima in the metric.
    method
        How optima come about: parabola, cubic, marin or surface; by default what walk-forward
        chose where it suits every sweep, else parabola.
    asymptote
        E that every law is pinned at, as typed; empty, the default, to fit each law its own.
    flops
        Compute that the headline is about, FLOP, as typed; empty, the default, for the largest
        that every law was fitted up to.
    published
        Published laws laid over, as `published_recipe_laws` names them; none by default.
    tab
        Which tab is open: laws (default), speed-up, pairs, metrics, table or download.
    zoom
        What the chart is zoomed to: x from, x to, y from, y to; empty, the default, for all of it.
    """

    base: str
    metric: str
    ladders: tuple[str, ...]
    method: Curve
    asymptote: str
    flops: str
    published: tuple[str, ...]
    tab: str
    zoom: str = ""

    @classmethod
    def read(cls, query: Query, snapshot: Snapshot) -> tuple[RecipesView, list[str]]:
        """The nearest valid view to a query, and a notice for each part that is not to be had.

        Raises
        ------
        DataError
            The snapshot holds no ladder with optima.
        """
        asked = Asked(query)
        bases = offered_bases(snapshot)
        if not bases:
            raise DataError(["this snapshot holds no ladder with optima, so none to compare."])
        base = asked.one("base", bases, bases[min(1, len(bases) - 1)])
        metric = asked.one(
            "metric", offered_metrics(snapshot, base), default_metric(snapshot, base)
        )
        offered = offered_ladders(snapshot, base)
        ladders = default_ladders(snapshot, base, metric)
        if "ladders" in query:
            ladders = asked.some("ladders", offered)
        method = asked.one("method", CURVES, _preferred_curve(snapshot, (base, *ladders), metric))
        laws = tuple(offered_laws(snapshot, metric)["id"])
        view = cls(
            base,
            metric,
            ladders,
            cast("Curve", method),
            asked.words("asymptote"),
            asked.words("flops"),
            asked.some("published", laws),
            asked.one("tab", TABS, TABS[0]),
            asked.zoom(),
        )
        return view, asked.notices

    @property
    def pinned(self) -> float | None:
        """E where it is pinned; None where it is free or what was typed is no E."""
        value = _number(self.asymptote)
        return value if value is not None and 0 <= value < 1e6 else None

    @property
    def at(self) -> float | None:
        """Compute asked for, FLOP; None where nothing is, or what was typed cannot be had."""
        value = _number(self.flops)
        return value if value is not None and SMALLEST_TARGET <= value <= LARGEST_TARGET else None

    @property
    def mistakes(self) -> list[str]:
        """One sentence for each number that is typed and cannot be taken."""
        found = []
        if self.asymptote and self.pinned is None:
            found.append(f"E is {self.asymptote!r}; it must be a number from 0 up. It is fitted.")
        if self.flops and self.at is None:
            found.append(
                f"C is {self.flops!r}; it must be a number from {SMALLEST_TARGET:g} to "
                f"{LARGEST_TARGET:g} FLOP, such as 1e20. The largest that every law was fitted "
                "up to is taken."
            )
        return found

    @property
    def choice(self) -> RecipesChoice:
        """What the view is fitted by."""
        return RecipesChoice(self.base, self.metric, self.ladders, self.method, self.pinned)


# A view is read once for each of its fields while its query is made: what it hangs on is found
# once, then kept.
@lru_cache(maxsize=4)
def offered_bases(snapshot: Snapshot) -> list[str]:
    """Ladders that others can be held against: those with optima."""
    return recipe_ladders(snapshot)


@lru_cache(maxsize=50)
def offered_metrics(snapshot: Snapshot, base: str) -> list[str]:
    """Metrics that a base has optima in."""
    return optima_metrics(snapshot, base)


def default_metric(snapshot: Snapshot, base: str) -> str:
    """The ladder's own metric, or the first that it has optima in."""
    metrics = offered_metrics(snapshot, base)
    own = snapshot.ladder(base).default_metric
    return own if own in metrics else metrics[0]


@lru_cache(maxsize=50)
def offered_ladders(snapshot: Snapshot, base: str) -> tuple[str, ...]:
    """Ladders that may be asked for beside a base: all others, those refused with their reason."""
    own = offered_bases(snapshot)
    rest = [str(name) for name in snapshot.tables["ladders"]["ladder"] if name not in own]
    return tuple(name for name in [*own, *rest] if name != base)


@lru_cache(maxsize=100)
def default_ladders(snapshot: Snapshot, base: str, metric: str) -> tuple[str, ...]:
    """The first of a base's kind that may be compared with it in a metric."""
    kind = snapshot.ladder(base).kind
    found = [
        name
        for name in offered_bases(snapshot)
        if name != base
        and snapshot.ladder(name).kind == kind
        and comparison(snapshot, base, name, metric).allowed
    ]
    return tuple(found[:_DEFAULT_LADDERS])


@lru_cache(maxsize=50)
def offered_laws(snapshot: Snapshot, metric: str) -> pd.DataFrame:
    """Published laws of a metric."""
    return published_recipe_laws(snapshot, metric)


def published_laws(snapshot: Snapshot, view: RecipesView) -> pd.DataFrame | None:
    """The published laws that a view lays over; None where it has none."""
    rows = offered_laws(snapshot, view.metric)
    return rows[rows["id"].isin(view.published)] if view.published else None


@lru_cache(maxsize=500)
def _preferred_curve(snapshot: Snapshot, ladders: tuple[str, ...], metric: str) -> Curve:
    curves = {_curve_of(snapshot, ladder, metric) for ladder in ladders}
    return "parabola" if "parabola" in curves else curves.pop()


@lru_cache(maxsize=100)
def _curve_of(snapshot: Snapshot, ladder: str, metric: str) -> Curve:
    return shared_curve(snapshot, [ladder], metric)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) else None
