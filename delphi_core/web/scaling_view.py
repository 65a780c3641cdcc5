"""View state of the Scaling law page, and what the page offers."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Literal, cast

from delphi_core.errors import DataError
from delphi_core.fits import law_choice
from delphi_core.fits.bands import BANDS, BandKind
from delphi_core.fits.forecast import LARGEST_TARGET, SMALLEST_TARGET
from delphi_core.fits.law_choice import DEFAULT_METHOD
from delphi_core.fits.law_methods import CURVES, Curve
from delphi_core.fits.law_models import LAWS, Law
from delphi_core.fits.law_settings import DEFAULT_BAND
from delphi_core.web.isoflop_view import SCALES, isoflop_ladders, isoflop_metrics, only_published
from delphi_core.web.per_snapshot import per_snapshot
from delphi_core.web.view_state import Asked, ViewState

if TYPE_CHECKING:
    from delphi_core.fits.isoflop import Compute, X
    from delphi_core.snapshot import Snapshot
    from delphi_core.web.view_state import Query

COMPUTES: tuple[Compute, ...] = ("recorded", "nominal", "bucket")
LEVELS = ("0.8", "0.9", "0.95")
TABS = ("loss", "size", "asymptote", "methods", "walk-forward", "download")
DEFAULT_TARGET = "1e24"
PUBLISHED = "published"
"""What stands for a curve where only published optima are to be had."""


@dataclass(frozen=True)
class ScalingFit:
    """The part of a view that something is fitted by; a view that shares it is not fitted again."""

    ladder: str
    metric: str
    method: Curve | Literal["published"]
    law: Law
    asymptote: float | None
    band: BandKind
    level: float
    compute: Compute
    excluded: bool


@dataclass(frozen=True)
class ScalingView(ViewState):
    """What the Scaling law page shows.

    Attributes
    ----------
    ladder, metric
        Ids; the default metric is the ladder's own.
    method
        How optima come about: parabola, cubic, marin, surface, or published where no run of the
        metric is to be had. The default is the one walk-forward chose where it gives four
        optima, else parabola.
    law
        log, squares (default) or huber.
    asymptote
        E where it is pinned, as typed; empty, the default, to fit it.
    band
        How the band is made; the default is the one walk-forward chose.
    level
        Of the band: 0.8, 0.9 (default) or 0.95.
    compute
        C of a budget: recorded (default), nominal or bucket; marin has bucket only.
    excluded
        Whether runs that the published fit left out are fitted; off by default.
    target
        Compute to forecast the loss at, FLOP, as typed; 1e24 by default, empty for none.
    published
        Whether published laws and optima are laid over ours; off by default.
    y
        Scale of the loss axis: linear (default) or log.
    tab
        Which tab is open: loss (default), size, asymptote, methods, walk-forward or download.
    zoom
        What the chart is zoomed to: x from, x to, y from, y to; empty, the default, for all of it.
    """

    ladder: str
    metric: str
    method: Curve | Literal["published"]
    law: Law
    asymptote: str
    band: BandKind
    level: str
    compute: Compute
    excluded: bool
    target: str
    published: bool
    y: Literal["linear", "log"]
    tab: str
    zoom: str = ""

    @classmethod
    def read(cls, query: Query, snapshot: Snapshot) -> tuple[ScalingView, list[str]]:
        """The nearest valid view to a query, and a notice for each part that is not to be had.

        Parameters
        ----------
        query
            Values of the URL's parameters by name; those of other names are ignored.
        snapshot
            Where ladders and metrics are looked up.

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
        metric = asked.one(
            "metric", isoflop_metrics(snapshot, ladder), snapshot.ladder(ladder).default_metric
        )
        methods = scaling_methods(snapshot, ladder, metric)
        method = asked.one("method", methods, default_curve(snapshot, ladder, metric))
        law = asked.one("law", LAWS, DEFAULT_METHOD.law)
        asymptote = asked.words("asymptote")
        bands = scaling_bands(method)
        band = asked.one("band", bands, DEFAULT_BAND)
        level = asked.one("level", LEVELS, "0.9")
        compute = asked.one("compute", scaling_computes(method), COMPUTES[0])
        excluded = asked.flag("excluded", default=False)
        target = asked.words("target", DEFAULT_TARGET)
        published = asked.flag("published", default=False)
        scale = asked.one("y", SCALES, SCALES[0])
        tab = asked.one("tab", TABS, TABS[0])
        view = cls(
            ladder,
            metric,
            cast("Curve", method),
            cast("Law", law),
            asymptote,
            cast("BandKind", band),
            level,
            cast("Compute", compute),
            excluded,
            target,
            published,
            cast('Literal["linear", "log"]', scale),
            tab,
            asked.zoom(),
        )
        return view, asked.notices

    @property
    def pinned(self) -> float | None:
        """E where it is pinned; None where it is free or what was typed is no E."""
        value = _number(self.asymptote)
        return value if value is not None and 0 <= value < 1e6 else None

    @property
    def target_flops(self) -> float | None:
        """Compute to forecast at, FLOP; None where nothing is asked for that can be had."""
        value = _number(self.target)
        return value if value is not None and SMALLEST_TARGET <= value <= LARGEST_TARGET else None

    @property
    def mistakes(self) -> list[str]:
        """One sentence for each number that is typed and cannot be taken."""
        found = []
        if self.asymptote and self.pinned is None:
            found.append(f"E is {self.asymptote!r}; it must be a number from 0 up. It is fitted.")
        if self.target and self.target_flops is None:
            found.append(
                f"The target is {self.target!r}; it must be a number from {SMALLEST_TARGET:g} to "
                f"{LARGEST_TARGET:g} FLOP, such as 1e24. No target is forecast."
            )
        return found

    @property
    def fit(self) -> ScalingFit:
        """What the view is fitted by."""
        return ScalingFit(
            self.ladder,
            self.metric,
            self.method,
            self.law,
            self.pinned,
            self.band,
            float(self.level),
            self.compute,
            self.excluded,
        )


def scaling_methods(snapshot: Snapshot, ladder: str, metric: str) -> tuple[str, ...]:
    """How optima of a metric come about."""
    return (PUBLISHED,) if only_published(snapshot, ladder, metric) else CURVES


def scaling_bands(method: str) -> tuple[BandKind, ...]:
    """Bands of a method; published optima have no rows to resample."""
    return BANDS[:3] if method == PUBLISHED else BANDS


def scaling_computes(method: str) -> tuple[Compute, ...]:
    """What C of a budget may be: marin's is its bucket, a published one as it was published."""
    return {"marin": COMPUTES[2:], PUBLISHED: COMPUTES[:1]}.get(method, COMPUTES)


def default_curve(snapshot: Snapshot, ladder: str, metric: str) -> str:
    """The curve that walk-forward chose if it gives enough optima here, else a parabola."""
    if only_published(snapshot, ladder, metric):
        return PUBLISHED
    return _default_curve(snapshot.part(ladder), ladder, metric)


@per_snapshot
def _default_curve(snapshot: Snapshot, ladder: str, metric: str) -> str:
    x = cast("X", snapshot.ladder(ladder).default_x)
    return law_choice.default_curve(snapshot.records(ladder, metric), x)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) else None
