"""The curve of one compute budget, its optimum, and what one should know about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.polynomial import Polynomial

from delphi_core.words import count

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
    FEW_POINTS = "few_points"


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
    sizes = len(np.unique(sampled))
    doubts = _few_points(runs, sizes, degree, along)
    if sizes <= degree:
        return BudgetFit(flops, runs, doubts=tuple(doubts))
    log_along = np.log10(sampled)
    polynomial = Polynomial.fit(log_along, rows["value"].to_numpy(dtype=np.float64), degree)
    curve = Curve(polynomial, float(log_along.min()), float(log_along.max()))
    optimal_x = _minimum(polynomial)
    if optimal_x is None or not curve.low - REACH <= optimal_x <= curve.high + REACH:
        doubts.append(_no_optimum(curve, degree, optimal_x))
        return BudgetFit(flops, runs, curve, doubts=tuple(doubts))
    loss = float(curve.predict(optimal_x))
    doubts += _edge(curve, optimal_x, loss, along)
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
        doubts=tuple(doubts),
    )


def _minimum(polynomial: Polynomial) -> float | None:
    """Where a polynomial of degree 2 or 3 has its local minimum, if it has one.

    The roots of its derivative 3 d u^2 + 2 a u + b are (-a +- sqrt(a^2 - 3 b d)) / 3 d; the
    second derivative is positive at the upper sign, which is written so that nothing cancels.
    """
    _, b, a, d = _powers(polynomial)
    inner = a * a - 3 * b * d
    if inner <= 0 or (d == 0 and a <= 0):
        return None
    u = -b / (a + np.sqrt(inner)) if a > 0 else (-a + np.sqrt(inner)) / (3 * d)
    offset, scale = polynomial.mapparms()
    return float((u - offset) / scale)


def _powers(polynomial: Polynomial) -> npt.NDArray[np.float64]:
    """Coefficients (c, b, a, d) in u, which runs from -1 to 1 over the sampled range."""
    powers = np.zeros(4)
    powers[: len(polynomial.coef)] = polynomial.coef
    # What is left of a constant or a line after rounding is no curvature.
    powers[np.abs(powers) < 1e-12 * np.abs(powers).max()] = 0.0
    return powers


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
    if degree == 2 and _powers(curve.polynomial)[2] < 0:
        words = (
            "concave: the parabola opens downwards, so its vertex is a maximum and there is no "
            "optimum (Marin's own code would take it for one)."
        )
        return Doubt(Flag.CONCAVE, words)
    words = "no minimum: the fitted curve has none, so there is no optimum."
    return Doubt(Flag.NO_MINIMUM, words)


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
