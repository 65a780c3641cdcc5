"""View state of the Planner page, and what the page offers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from delphi_core.errors import DataError, FitError
from delphi_core.figures.valley import VALLEY_X, ValleyX
from delphi_core.fits.law_methods import CURVES, Curve
from delphi_core.fits.recipe import RECIPE_LADDER
from delphi_core.plan_input import CHIP_PARTS, read_budgets, typed_chips, typed_width
from delphi_core.web.isoflop_view import isoflop_ladders, isoflop_metrics, only_published
from delphi_core.web.scaling_view import LEVELS, default_curve
from delphi_core.web.view_state import Asked, ViewState

if TYPE_CHECKING:
    from delphi_core.snapshot import Snapshot
    from delphi_core.web.view_state import Query

TABS = ("plan", "valley", "recipe", "backtest", "download")
DEFAULT_BUDGETS = "1e22"


@dataclass(frozen=True)
class PlannerChoice:
    """The part of a view that something is fitted by."""

    ladder: str
    metric: str
    method: Curve
    level: float


@dataclass(frozen=True)
class PlannerView(ViewState):
    """What the Planner page shows.

    Attributes
    ----------
    ladder, metric
        Ids; the default metric is the ladder's own.
    method
        How optima come about: parabola, cubic, marin or surface; the default is that of the Scaling
        law page.
    level
        Of the bands: 0.8, 0.9 (default) or 0.95.
    flops
        Budgets as typed, FLOP: 1e22 by default; several may be given, as in 1e22, 1e23.
    chips, chip_flops, utilisation, days
        One more budget, as typed; none by default.
    hidden
        Width to give Delphi's recipe for, as typed; empty, the default, for the nearest in size.
    x
        What the valley is drawn against: overtraining (default) or size.
    tab
        Which tab is open: plan (default), valley, recipe, backtest or download.
    zoom
        What the chart is zoomed to: x from, x to, y from, y to; empty, the default, for all of it.
    """

    ladder: str
    metric: str
    method: Curve
    level: str
    flops: str
    chips: str
    chip_flops: str
    utilisation: str
    days: str
    hidden: str
    x: ValleyX
    tab: str
    zoom: str = ""

    @classmethod
    def read(cls, query: Query, snapshot: Snapshot) -> tuple[PlannerView, list[str]]:
        """The nearest valid view to a query, and a notice for each part that is not to be had.

        Raises
        ------
        DataError
            The snapshot holds no ladder with IsoFLOP curves.
        """
        asked = Asked(query)
        ladders = planner_ladders(snapshot)
        if not ladders:
            raise DataError(["this snapshot holds no ladder with IsoFLOP curves."])
        ladder = asked.one("ladder", ladders, ladders[0])
        own = snapshot.ladder(ladder).default_metric
        metric = asked.one("metric", planner_metrics(snapshot, ladder), own)
        method = asked.one("method", CURVES, default_curve(snapshot, ladder, metric))
        view = cls(
            ladder,
            metric,
            cast("Curve", method),
            asked.one("level", LEVELS, "0.9"),
            asked.words("flops", DEFAULT_BUDGETS),
            asked.words("chips"),
            asked.words("chip_flops"),
            asked.words("utilisation"),
            asked.words("days"),
            asked.words("hidden"),
            cast("ValleyX", asked.one("x", VALLEY_X, VALLEY_X[0])),
            asked.one("tab", TABS, TABS[0]),
            asked.zoom(),
        )
        return view, asked.notices

    @property
    def budgets(self) -> list[float]:
        """Budgets that can be planned for, by compute, FLOP."""
        budgets, _ = read_budgets([self.flops])
        try:
            chips = typed_chips(self._chips)
        except (DataError, FitError):
            chips = None
        return sorted({*budgets, *([] if chips is None else [chips])})

    @property
    def width(self) -> int | None:
        """Width to give the recipe for; None where nothing is typed that can be taken."""
        if self.ladder != RECIPE_LADDER:
            return None
        try:
            return typed_width(self.hidden)
        except DataError:
            return None

    @property
    def mistakes(self) -> list[str]:
        """One sentence for each number that is typed and cannot be taken."""
        _, found = read_budgets([self.flops])
        try:
            typed_chips(self._chips)
        except (DataError, FitError) as error:
            found.append(str(error))
        try:
            if typed_width(self.hidden) is not None and self.ladder != RECIPE_LADDER:
                found.append(
                    f"no recipe of ladder {self.ladder} is known; the width plays no part."
                )
        except DataError as error:
            found.append(str(error))
        return found

    @property
    def choice(self) -> PlannerChoice:
        """What the view is fitted by."""
        return PlannerChoice(self.ladder, self.metric, self.method, float(self.level))

    @property
    def _chips(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in CHIP_PARTS}


def planner_ladders(snapshot: Snapshot) -> list[str]:
    """Ladders that have runs to fit curves to."""
    return [name for name in isoflop_ladders(snapshot) if planner_metrics(snapshot, name)]


def planner_metrics(snapshot: Snapshot, ladder: str) -> list[str]:
    """Metrics of a ladder that have runs to fit curves to."""
    offered = isoflop_metrics(snapshot, ladder)
    return [metric for metric in offered if not only_published(snapshot, ladder, metric)]
