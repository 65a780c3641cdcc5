"""The curve of one compute budget, its optimum, and what one should know about it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.polynomial import Polynomial

from delphi_core.fits.minimum import local_minimum, rounded_powers
from delphi_core.fits.uncertainty import Interval, minimum_interval, size_groups
from delphi_core.words import amount_words, count

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

FEWEST_UNFLAGGED = 3
"""A curve with fewer degrees of freedom in different sizes than this is flagged."""
REACH = 3.0
"""How far outside the sampled range, in decades, a minimum still counts as an optimum."""

_CURVE_NAMES = {2: "parabola", 3: "cubic"}
# What a place along x is called: one, the least, the most.
_PLACES = {
    "tokens": ("token count", "fewest tokens", "most tokens"),
    "params": ("size", "smallest size", "largest size"),
}


class Flag(StrEnum):
    """What is doubtful about a budget."""

    CONCAVE = "concave"
    NO_MINIMUM = "no_minimum"
    EDGE = "edge"
    FLAT = "flat"
    FEW_POINTS = "few_points"


class Resampling(NamedTuple):
    """Level of intervals (0..1), how many sets of rows are resampled, and their seed."""

    level: float = 0.9
    replicates: int = 1000
    seed: int = 0


class Doubt(NamedTuple):
    """A flag and a sentence that says what it means here."""

    flag: Flag
    sentence: str


@dataclass(frozen=True)
class Curve:
    """L = d x^3 + a x^2 + b x + c over the sampled range; d is 0 for a parabola.

    Attributes
    ----------
    polynomial
        The fit, in x = log10 of tokens or size.
    low, high
        Ends of the sampled range, in x.
    """

    polynomial: Polynomial
    low: float
    high: float

    @property
    def coefficients(self) -> tuple[float, float, float, float]:
        """(d, a, b, c)."""
        powers = np.zeros(4)
        raw = self.polynomial.convert().coef
        powers[: len(raw)] = raw
        c, b, a, d = (float(power) for power in powers)
        return d, a, b, c

    def minimum(self) -> float | None:
        """X of the local minimum, None if there is none."""
        offset, scale = self.polynomial.mapparms()
        u = float(local_minimum(_powers(self.polynomial)))
        return None if np.isnan(u) else (u - offset) / scale

    def predict(self, x: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Value at log10 of tokens or size `x` (any shape), in the same shape."""
        return np.asarray(self.polynomial(np.asarray(x, dtype=np.float64)))


@dataclass(frozen=True)
class BudgetFit:
    """Fit of one budget.

    Attributes
    ----------
    flops
        C of the budget, FLOP.
    runs
        How many runs it has.
    curve
        None where there are too few different sizes.
    optimal_x, optimal_tokens, optimal_params, loss_at_optimal
        x*, D* (tokens), N* (parameters) and L*; None where there is no optimum.
    interval
        Of D* or N*, whichever is along x, in tokens or parameters; None where there is no
        optimum.
    doubts
        What is doubtful, and a sentence for each.
    """

    flops: float
    runs: int
    curve: Curve | None = None
    optimal_x: float | None = None
    optimal_tokens: float | None = None
    optimal_params: float | None = None
    loss_at_optimal: float | None = None
    interval: Interval | None = None
    doubts: tuple[Doubt, ...] = ()

    @property
    def flags(self) -> tuple[Flag, ...]:
        """What is doubtful."""
        return tuple(doubt.flag for doubt in self.doubts)

    @property
    def sentences(self) -> tuple[str, ...]:
        """One for each flag."""
        return tuple(doubt.sentence for doubt in self.doubts)


def fit_budget(
    rows: pd.DataFrame,
    *,
    flops: float,
    x: Literal["tokens", "params", "active_params"],
    method: Literal["parabola", "cubic", "marin"],
    resampling: Resampling,
) -> BudgetFit:
    """Curve and optimum of the runs of one budget.

    Parameters
    ----------
    rows
        Records of the budget, in canonical order.
    flops
        Its C, FLOP.
    x
        What loss is fitted against.
    method
        parabola, cubic or marin.
    resampling
        Level of the interval, and how it is drawn.

    Returns
    -------
    BudgetFit
        Without a curve where there are too few different sizes for one, and without an optimum
        where the curve has no minimum within reach; the flags say which.
    """
    runs = len(rows)
    degree = 3 if method == "cubic" else 2
    along, across = ("tokens", "params") if x == "tokens" else ("params", "tokens")
    sampled = rows[along].to_numpy(dtype=np.float64)
    log_along = np.log10(sampled)
    groups = size_groups(log_along)
    sizes = int(groups.max()) + 1
    doubts = _few_points(runs, sizes, degree, along)
    if sizes <= degree:
        return BudgetFit(flops, runs, doubts=tuple(doubts))
    polynomial = Polynomial.fit(log_along, rows["value"].to_numpy(dtype=np.float64), degree)
    curve = Curve(polynomial, float(log_along.min()), float(log_along.max()))
    optimal_x = curve.minimum()
    if optimal_x is None or not curve.low - REACH <= optimal_x <= curve.high + REACH:
        doubts.append(_no_optimum(curve, degree, optimal_x))
        return BudgetFit(flops, runs, curve, doubts=tuple(doubts))
    loss = float(curve.predict(optimal_x))
    edge = _edge(curve, optimal_x, loss, along)
    interval = _interval(curve, rows, log_along, groups, resampling, flops=flops, edge=edge)
    doubts += edge
    doubts += _flat(interval, sampled)
    if method == "marin":
        nearest = int(np.argmin(np.abs(sampled - 10.0**optimal_x)))
        other = float(rows[across].iloc[nearest])
    else:
        log_across = np.log10(rows[across].to_numpy(dtype=np.float64))
        other = float(10.0 ** Polynomial.fit(log_along, log_across, 1)(optimal_x))
    optimum = {along: 10.0**optimal_x, across: other}
    return BudgetFit(
        flops,
        runs,
        curve,
        optimal_x=optimal_x,
        optimal_tokens=optimum["tokens"],
        optimal_params=optimum["params"],
        loss_at_optimal=loss,
        interval=interval,
        doubts=tuple(doubts),
    )


def _interval(
    curve: Curve,
    rows: pd.DataFrame,
    log_along: npt.NDArray[np.float64],
    groups: npt.NDArray[np.intp],
    resampling: Resampling,
    *,
    flops: float,
    edge: list[Doubt],
) -> Interval:
    """Interval of the optimum along x, in tokens or parameters.

    Where the optimum is at an edge, nothing sampled bounds it on the far side, whatever the curve
    says: the interval is open there.
    """
    offset, scale = curve.polynomial.mapparms()
    found = minimum_interval(
        offset + scale * log_along,
        rows["value"].to_numpy(dtype=np.float64),
        groups,
        degree=curve.polynomial.degree(),
        level=resampling.level,
        replicates=resampling.replicates,
        # Each budget draws on its own, whichever others are fitted beside it.
        seed=(resampling.seed, round(1000 * np.log10(flops))),
    )
    low, high = (found.low - offset) / scale, (found.high - offset) / scale
    if edge:
        middle = curve.minimum() or 0.0
        low = -np.inf if middle < curve.high else min(low, curve.high)
        high = np.inf if middle > curve.low else max(high, curve.low)
    with np.errstate(over="ignore"):
        return replace(found, low=float(np.power(10.0, low)), high=float(np.power(10.0, high)))


def _powers(polynomial: Polynomial) -> npt.NDArray[np.float64]:
    """Coefficients from the constant up, in u from -1 to 1 over the sampled range."""
    return np.asarray(polynomial.coef, dtype=np.float64)


def _few_points(runs: int, sizes: int, degree: int, along: str) -> list[Doubt]:
    """Flag of a budget whose different sizes leave its curve too little to be tested by.

    Replicates of one size say how noisy it is, but nothing about the curve between sizes.
    """
    name, freedom = _CURVE_NAMES[degree], sizes - degree - 1
    if freedom >= FEWEST_UNFLAGGED:
        return []
    noun = _PLACES[along][0]
    have = count(runs, "run") + (f" at {count(sizes, noun)}" if sizes < runs else "")
    if freedom < 0:
        words = f"{have}, and a {name} needs {degree + 1} different {noun}s."
    elif freedom == 0:
        words = f"{have} determine the {name} exactly, so nothing tests it."
    else:
        words = f"{have} leave a {name} {count(freedom, 'degree')} of freedom."
    return [Doubt(Flag.FEW_POINTS, f"few points: {words}")]


def _no_optimum(curve: Curve, degree: int, optimal_x: float | None) -> Doubt:
    if optimal_x is not None:
        words = (
            f"no minimum within reach: the curve's own lies more than {REACH:g} decades outside "
            "the sampled range, so there is no optimum."
        )
        return Doubt(Flag.NO_MINIMUM, words)
    if degree == 2 and rounded_powers(_powers(curve.polynomial))[2] < 0:
        words = (
            "concave: the parabola opens downwards, so its vertex is a maximum and there is no "
            "optimum (Marin's own code would take it for one)."
        )
        return Doubt(Flag.CONCAVE, words)
    words = "no minimum: the fitted curve has none, so there is no optimum."
    return Doubt(Flag.NO_MINIMUM, words)


def _flat(interval: Interval, sampled: npt.NDArray[np.float64]) -> list[Doubt]:
    """Flag of a budget whose interval covers all that was sampled."""
    least, most = float(sampled.min()), float(sampled.max())
    if interval.method == "none" or interval.low > least or interval.high < most:
        return []
    words = (
        f"flat: the {interval.level:.0%} interval covers all that was sampled, so the optimum "
        f"could be anywhere from {amount_words(least)} to {amount_words(most)}, or beyond."
    )
    return [Doubt(Flag.FLAT, words.replace("%", " %"))]


def _edge(curve: Curve, optimal_x: float, loss: float, along: str) -> list[Doubt]:
    _, least, most = _PLACES[along]
    if optimal_x <= curve.low:
        return [Doubt(Flag.EDGE, f"edge: below the {least} sampled, so extrapolated.")]
    if optimal_x >= curve.high:
        return [Doubt(Flag.EDGE, f"edge: above the {most} sampled, so extrapolated.")]
    if curve.predict([curve.low, curve.high]).min() < loss:
        words = "an end of the sampled range lies lower than the local minimum of the curve."
        return [Doubt(Flag.EDGE, f"edge: {words}")]
    return []
