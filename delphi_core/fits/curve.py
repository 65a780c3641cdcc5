"""The curve of one compute budget, its optimum, and what one should know about it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.polynomial import Polynomial

from delphi_core.words import count

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

FEWEST_UNFLAGGED = 6
"""A budget with fewer runs than this is flagged."""

_CURVE_NAMES = {2: "parabola", 3: "cubic"}


class Flag(StrEnum):
    """What is doubtful about a budget."""

    CONCAVE = "concave"
    NO_MINIMUM = "no_minimum"
    EDGE = "edge"
    FEW_POINTS = "few_points"


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
        """Loss at log10 of tokens or size, in the same shape."""
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
        x*, D* (tokens), N* (parameters) and L*; None where the curve has no minimum.
    flags
        What is doubtful.
    sentences
        One for each flag.
    """

    flops: float
    runs: int
    curve: Curve | None = None
    optimal_x: float | None = None
    optimal_tokens: float | None = None
    optimal_params: float | None = None
    loss_at_optimal: float | None = None
    flags: tuple[Flag, ...] = ()
    sentences: tuple[str, ...] = ()


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
    """
    runs = len(rows)
    degree = 3 if method == "cubic" else 2
    along, across = ("tokens", "params") if x == "tokens" else ("params", "tokens")
    sampled = rows[along].to_numpy(dtype=np.float64)
    log_along = np.log10(sampled)
    log_across = np.log10(rows[across].to_numpy(dtype=np.float64))
    if len(np.unique(sampled)) <= degree:
        sentence = _too_few_points(sampled, degree)
        return BudgetFit(flops, runs, flags=(Flag.FEW_POINTS,), sentences=(sentence,))
    polynomial = Polynomial.fit(log_along, rows["value"].to_numpy(dtype=np.float64), degree)
    curve = Curve(polynomial, float(log_along.min()), float(log_along.max()))
    found: list[tuple[Flag, str]] = []
    if runs < FEWEST_UNFLAGGED:
        found.append((Flag.FEW_POINTS, _few_points(runs, degree)))
    optimal_x = _minimum(polynomial)
    if optimal_x is None:
        found.append(_no_minimum(curve, degree))
        flags, sentences = zip(*found, strict=True)
        return BudgetFit(flops, runs, curve, flags=flags, sentences=sentences)
    loss = float(curve.predict(optimal_x))
    edge = _edge(curve, optimal_x, loss)
    if edge:
        found.append((Flag.EDGE, edge))
    if method == "marin":
        nearest = int(np.argmin(np.abs(sampled - 10.0**optimal_x)))
        other = float(rows[across].iloc[nearest])
    else:
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
        flags=tuple(flag for flag, _ in found),
        sentences=tuple(sentence for _, sentence in found),
    )


def _minimum(polynomial: Polynomial) -> float | None:
    """Where the polynomial has its local minimum, if it has one that is a number of tokens.

    The roots of its derivative 3 d u^2 + 2 a u + b are (-a +- sqrt(a^2 - 3 b d)) / 3 d; the
    second derivative is positive at the upper sign, which is written so that nothing cancels.
    """
    # In the fit's own variable u, which runs from -1 to 1 over the sampled range.
    powers = np.zeros(4)
    powers[: len(polynomial.coef)] = polynomial.coef
    # What is left of a constant or a line after rounding is no curvature.
    powers[np.abs(powers) < 1e-12 * np.abs(powers).max()] = 0.0
    _, b, a, d = powers
    inner = a * a - 3 * b * d
    if inner <= 0 or (d == 0 and a <= 0):
        return None
    u = -b / (a + np.sqrt(inner)) if a > 0 else (-a + np.sqrt(inner)) / (3 * d)
    offset, scale = polynomial.mapparms()
    x = float((u - offset) / scale)
    # 10^x must stay a number: a line fitted as a parabola has its vertex far beyond any size.
    return x if abs(x) < 300 else None


def _too_few_points(sampled: npt.NDArray[np.float64], degree: int) -> str:
    runs, sizes = len(sampled), len(np.unique(sampled))
    have = count(runs, "run") + (f" of {count(sizes, 'size')}" if sizes < runs else "")
    need = f"a {_CURVE_NAMES[degree]} needs {degree + 1} different sizes"
    return f"few points: {have}, and {need}."


def _few_points(runs: int, degree: int) -> str:
    name, freedom = _CURVE_NAMES[degree], runs - degree - 1
    if freedom == 0:
        return f"few points: {runs} runs determine the {name} exactly, so nothing tests it."
    return f"few points: {runs} runs leave a {name} {count(freedom, 'degree')} of freedom."


def _no_minimum(curve: Curve, degree: int) -> tuple[Flag, str]:
    _, a, _, _ = curve.coefficients
    if degree == 2 and a < 0:
        return Flag.CONCAVE, (
            "concave: the parabola opens downwards, so its vertex is a maximum and there is no "
            "optimum (Marin's own code would take it for one)."
        )
    return Flag.NO_MINIMUM, "no minimum: the fitted curve has none, so there is no optimum."


def _edge(curve: Curve, optimal_x: float, loss: float) -> str | None:
    if optimal_x <= curve.low or optimal_x >= curve.high:
        side = "below the smallest" if optimal_x <= curve.low else "above the largest"
        return f"edge: the optimum lies {side} size sampled, so it is extrapolated."
    if curve.predict([curve.low, curve.high]).min() < loss:
        return "edge: an end of the sampled range lies lower than the local minimum of the curve."
    return None
