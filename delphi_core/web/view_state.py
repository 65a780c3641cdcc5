"""View state: each page's URL parameters, their defaults, and how to read them from a query.

The readers know no streamlit, so that a page, a route and a test read a link alike. Parameter
names and values are a public contract: old links must keep opening (tests/links). A parameter
that is missing has its default; one that cannot be had falls back to it, with a notice.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, cast

from delphi_core.errors import DataError, FitError, did_you_mean, quoted
from delphi_core.fits.isoflop import fit_isoflops

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from delphi_core.fits.isoflop import Method, X
    from delphi_core.snapshot import Snapshot

METHODS: tuple[Method, ...] = ("parabola", "cubic", "marin")


class ViewState(Protocol):
    """What a page shows: a frozen dataclass of texts, named as the URL's parameters.

    Fields stand in order of dependence: what a field may be hangs on those before it only.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @classmethod
    def read(cls, query: Mapping[str, str], snapshot: Snapshot) -> tuple[Self, list[str]]:
        """The nearest valid view to a query, and a notice for each part that is not to be had."""
        ...

    def to_query(self, snapshot: Snapshot) -> dict[str, str]:
        """The shortest query that `read` gives this view for."""
        query: dict[str, str] = {}
        for name, value in asdict(self).items():
            nearest, _ = self.read(query, snapshot)
            if getattr(nearest, name) != value:
                query[name] = value
        return query


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
    """

    ladder: str
    metric: str
    x: X
    method: Method

    @classmethod
    def read(cls, query: Mapping[str, str], snapshot: Snapshot) -> tuple[IsoflopView, list[str]]:
        """The nearest valid view to a query, and a notice for each part that is not to be had.

        Parameters
        ----------
        query
            URL parameters by name; those of other names are ignored.
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
        return cls(ladder, metric, cast("X", x), cast("Method", method)), asked.notices


@dataclass
class Asked:
    """A query being read: what it asks for, and notices on what is not offered.

    Attributes
    ----------
    query
        URL parameters by name; hostile until checked.
    notices
        One sentence for each value that was not to be had.
    """

    query: Mapping[str, str]
    notices: list[str] = field(default_factory=list)

    def one(self, name: str, options: Sequence[str], default: str) -> str:
        """The option a parameter asks for; else the default, or the first if that is none."""
        fallback = default if default in options else options[0]
        asked = self.query.get(name)
        if asked is None or asked in options:
            return asked or fallback
        self.notices.append(
            f"The link asks for {name} {quoted(asked)}, which is not offered here "
            f"({did_you_mean(asked, options)}); {fallback!r} is shown."
        )
        return fallback


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


def only_published(snapshot: Snapshot, ladder: str, metric: str) -> bool:
    """Whether a metric has published parabolas but no runs here to fit curves to."""
    return not _offers(snapshot)[ladder][metric]


def published_parabolas(snapshot: Snapshot, ladder: str, metric: str) -> pd.DataFrame:
    """Rows of published_optima of a ladder and metric that have a parabola in log10 tokens."""
    optima = snapshot.tables["published_optima"]
    rows = optima[(optima["ladder"] == ladder) & (optima["metric"] == metric)]
    needed = ["optimal_tokens", "optimal_params", "a", "b", "c", "token_min", "token_max"]
    return rows.dropna(subset=needed)


@lru_cache(maxsize=1)
def _offers(snapshot: Snapshot) -> dict[str, dict[str, bool]]:
    """Ladder to metric to whether it has a curve here; False: only published ones."""
    ladders = snapshot.tables["ladders"]
    offers: dict[str, dict[str, bool]] = {}
    for ladder in ladders.loc[ladders["kind"] == "isoflop", "ladder"]:
        curves = {
            metric: _has_curve(snapshot, ladder, metric) for metric in snapshot.metrics(ladder)
        }
        metrics = {
            metric: curve
            for metric, curve in curves.items()
            if curve or len(published_parabolas(snapshot, ladder, metric))
        }
        if metrics:
            offers[str(ladder)] = metrics
    return offers


def _has_curve(snapshot: Snapshot, ladder: str, metric: str) -> bool:
    try:
        isoflop = fit_isoflops(snapshot.records(ladder, metric))
    except FitError:
        return False
    return any(budget.curve for budget in isoflop.budgets)
