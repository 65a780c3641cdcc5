"""View state of the IsoFLOP page, and what the page offers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

import numpy as np

from delphi_core.errors import DataError, FitError
from delphi_core.fits.sampled import sampled_budgets
from delphi_core.published import published_parabolas
from delphi_core.records import SWEEP_ROLES, budget_id, join_records
from delphi_core.web.per_snapshot import per_snapshot
from delphi_core.web.view_state import Asked, ViewState

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from delphi_core.fits.isoflop import Method, X
    from delphi_core.snapshot import Snapshot
    from delphi_core.web.view_state import Query

Scale = Literal["linear", "log"]
METHODS: tuple[Method, ...] = ("parabola", "cubic", "marin")
SCALES: tuple[Scale, ...] = ("linear", "log")
TABS = ("Chart", "Table", "Download")


@dataclass(frozen=True)
class IsoflopView(ViewState):
    """What the IsoFLOP page shows.

    Attributes
    ----------
    ladder, metric
        Ids; the default metric is the ladder's own.
    x
        tokens, or the ladder's size column; the default is the ladder's own.
    method
        parabola (default), cubic or marin.
    excluded
        Whether runs that the published fit left out are fitted; off by default.
    budgets
        Nominal budgets that are shown and fitted, as `budget_id` writes them; all by default.
    y
        Scale of the value axis: linear (default) or log.
    tab
        Which tab is open: Chart (default), Table or Download.
    zoom
        What the chart is zoomed to: x from, x to, y from, y to; empty, the default, for all of it.
    """

    ladder: str
    metric: str
    x: X
    method: Method
    excluded: bool
    budgets: tuple[str, ...]
    y: Scale
    tab: str = "Chart"
    zoom: str = ""

    @property
    def whole(self) -> IsoflopView:
        """The view without its tab and zoom: what is fitted, and drawn."""
        return replace(self, tab=TABS[0], zoom="")

    def offered_budgets(self, snapshot: Snapshot) -> tuple[str, ...]:
        """Budgets to choose from."""
        return isoflop_budgets(snapshot, self.ladder, self.metric, excluded=self.excluded)

    @classmethod
    def read(cls, query: Query, snapshot: Snapshot) -> tuple[IsoflopView, list[str]]:
        """The nearest valid view to a query, and a notice for each part that is not to be had.

        Parameters
        ----------
        query
            Values of the URL's parameters by name; those of other names are ignored.
        snapshot
            Where ladders and metrics are looked up.

        Returns
        -------
        view : IsoflopView
            With every part to be had.
        notices : list of str
            One sentence a part that is not.

        Raises
        ------
        DataError
            The snapshot holds no ladder with IsoFLOP curves.
        """
        asked = Asked(query)
        ladders = isoflop_ladders(snapshot)
        if not ladders:
            raise DataError(["this snapshot holds no ladder with IsoFLOP curves."])
        ladder = asked.one("ladder", ladders, ladders[0])
        metrics = isoflop_metrics(snapshot, ladder)
        metric = asked.one("metric", metrics, snapshot.ladder(ladder).default_metric)
        axes = isoflop_axes(snapshot, ladder, metric)
        x = asked.one("x", axes, snapshot.ladder(ladder).default_x)
        method = asked.one("method", isoflop_methods(snapshot, ladder, metric), METHODS[0])
        excluded = asked.flag("excluded", default=False)
        budgets = asked.many(
            "budgets", isoflop_budgets(snapshot, ladder, metric, excluded=excluded)
        )
        y = asked.one("y", SCALES, SCALES[0])
        axis, how, scale = cast("X", x), cast("Method", method), cast("Scale", y)
        tab, zoom = asked.one("tab", TABS, TABS[0]), asked.zoom()
        return cls(ladder, metric, axis, how, excluded, budgets, scale, tab, zoom), asked.notices


def isoflop_ladders(snapshot: Snapshot) -> list[str]:
    """Ladders that the IsoFLOP page offers, in the order of ladders.csv."""
    return list(_offers(snapshot))


def isoflop_metrics(snapshot: Snapshot, ladder: str) -> list[str]:
    """Metrics of a ladder with a budget of three runs, or with published parabolas."""
    return list(_offers(snapshot)[ladder])


def isoflop_axes(snapshot: Snapshot, ladder: str, metric: str) -> list[str]:
    """What a ladder's loss can be drawn against: tokens, and size unless only published."""
    if only_published(snapshot, ladder, metric):
        return ["tokens"]
    return ["tokens", snapshot.ladder(ladder).params_column]


def isoflop_methods(snapshot: Snapshot, ladder: str, metric: str) -> tuple[Method, ...]:
    """How a metric can be fitted; what is only published is parabolas."""
    return METHODS[:1] if only_published(snapshot, ladder, metric) else METHODS


def isoflop_budgets(
    snapshot: Snapshot, ladder: str, metric: str, *, excluded: bool
) -> tuple[str, ...]:
    """Ids of the nominal budgets that a ladder's sweep has runs of, by compute."""
    offer = _offers(snapshot)[ladder][metric]
    return offer.budgets_with_excluded if excluded else offer.budgets


def only_published(snapshot: Snapshot, ladder: str, metric: str) -> bool:
    """Whether a metric has published parabolas but no runs here to fit curves to."""
    return not _offers(snapshot)[ladder][metric].has_curve


def published_shown(snapshot: Snapshot, view: IsoflopView) -> pd.DataFrame | None:
    """The published parabolas that a view shows: those of metrics that cannot be fitted here."""
    if only_published(snapshot, view.ladder, view.metric):
        return published_parabolas(snapshot, view.ladder, view.metric)
    return None


class Offer(NamedTuple):
    """What the page offers of a metric: a curve of its own, or only published ones; budgets."""

    has_curve: bool
    budgets: tuple[str, ...]
    budgets_with_excluded: tuple[str, ...]


@per_snapshot
def _offers(snapshot: Snapshot) -> dict[str, dict[str, Offer]]:
    """Ladder to metric to what is offered of it."""
    ladders = snapshot.tables["ladders"]
    names = ladders.loc[ladders["kind"] == "isoflop", "ladder"]
    offers = {str(name): _ladder_offers(snapshot.part(name), str(name)) for name in names}
    return {name: metrics for name, metrics in offers.items() if metrics}


@per_snapshot
def _ladder_offers(snapshot: Snapshot, ladder: str) -> dict[str, Offer]:
    """Metric to what is offered of it; of a visitor's own ladder nothing else is found anew."""
    runs, evals = (snapshot.tables[name] for name in ("runs", "evals"))
    runs, evals = runs[runs["ladder"] == ladder], evals[evals["ladder"] == ladder]
    size = snapshot.ladder(ladder).params_column
    every = {
        str(metric): _offer(join_records(runs, values, str(metric), size))
        for metric, values in evals.groupby("metric", sort=False)
    }
    offered = [metric for metric in snapshot.tables["metrics"]["metric"] if metric in every]
    return {
        metric: every[metric]
        for metric in offered
        if every[metric].has_curve or len(published_parabolas(snapshot, ladder, metric))
    }


def _offer(records: pd.DataFrame) -> Offer:
    try:
        has_curve = any(budget.has_curve for budget in sampled_budgets(records))
    except FitError:
        has_curve = False
    return Offer(has_curve, _budgets(records, SWEEP_ROLES[:1]), _budgets(records, SWEEP_ROLES))


def _budgets(records: pd.DataFrame, roles: Sequence[str]) -> tuple[str, ...]:
    budgets = records.loc[records["role"].isin(roles), "budget"].dropna()
    return tuple(map(budget_id, np.unique(budgets)))
