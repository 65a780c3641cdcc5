"""How far an optimum can be trusted: intervals by Fieller's theorem and by the bootstrap.

Every interval carries its level and the method that gave it. The choice of method hangs on the
rows alone. Coverage was checked on made ladders (tests/core/fits/test_uncertainty.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isinf
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.stats import norm, t

from delphi_core.fits.minimum import local_minimum
from delphi_core.words import amount_words

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

IntervalMethod = Literal["bootstrap", "residual bootstrap", "fieller", "none"]
METHOD_WORDS: dict[IntervalMethod, str] = {
    "bootstrap": "bootstrap",
    "residual bootstrap": "bootstrap of residuals",
    "fieller": "Fieller's theorem",
    "none": "no interval",
}
SAME_SIZE = 1e-3
"""Decades within which two sizes count as one."""
FEWEST_FOR_PAIRS = 6
"""With fewer different sizes than this, resampled rows too often determine no curve."""


@dataclass(frozen=True)
class Interval:
    """An interval with its level and method.

    Attributes
    ----------
    level
        Share of such intervals that are meant to hold the truth, 0..1.
    method
        bootstrap (rows resampled), residual bootstrap, fieller, or none where no row is left to
        tell noise by.
    low, high
        Its ends; infinite where the rows do not bound it.
    replicates, failed
        How many sets of rows were drawn, and how many of them were no use: a set that leaves no
        degree of freedom is left out, and one whose curve has no minimum counts as an optimum
        beyond either end, half and half.
    """

    level: float
    method: IntervalMethod
    low: float
    high: float
    replicates: int = 0
    failed: int = 0

    def describe(self, noun: str) -> str:
        """The interval in words, its ends positive amounts of `noun`: tokens, parameters."""
        level = f"{100 * self.level:g} % interval"
        if self.method == "none":
            return "no interval: no degree of freedom is left to tell noise by"
        low, high = amount_words(self.low), "" if isinf(self.high) else amount_words(self.high)
        if self.low <= 0 and not high:
            ends = "not bounded"
        elif not high:
            ends = f"from {low} {noun} up"
        elif self.low <= 0:
            ends = f"up to {high} {noun}"
        else:
            ends = f"{low} to {high} {noun}"
        return f"{level} {ends} ({METHOD_WORDS[self.method]})"


def minimum_interval(
    u: Array,
    values: Array,
    groups: npt.NDArray[np.intp],
    *,
    degree: int,
    level: float,
    replicates: int,
    seed: tuple[int, ...],
) -> Interval:
    """Interval of the minimum of the polynomial fitted to `values` on `u`.

    Fieller's theorem for a parabola on fewer than six different `u`, residuals resampled for a
    cubic on so few, rows resampled otherwise.

    Parameters
    ----------
    u, values
        One entry a row, u within -1..1.
    groups
        Which of the different sizes each row has, as `size_groups` numbers them.
    degree
        2 or 3.
    level
        Of the interval, 0..1.
    replicates
        How many sets of rows to resample.
    seed
        Of the resampling; the same seed and rows give the same interval.

    Returns
    -------
    Interval
        In u.
    """
    sizes = int(groups.max()) + 1
    freedom = len(u) - degree - 1
    if sizes <= degree or freedom < 1:
        return Interval(level, "none", -inf, inf)
    if sizes < FEWEST_FOR_PAIRS:
        if degree == 2:
            return fieller_interval(u, values, level=level)
        powers = residual_replicates(u, values, degree, replicates, seed)
        method: IntervalMethod = "residual bootstrap"
    else:
        powers = bootstrap_replicates(
            u, values, groups, degree=degree, replicates=replicates, seed=seed
        )
        method = "bootstrap"
    return _percentiles(local_minimum(powers), powers, level, freedom, method)


def fieller_interval(u: Array, values: Array, *, level: float) -> Interval:
    """Interval of the vertex -b / 2a of a parabola: all z where b + 2 a z may be zero.

    {z : (b + 2 a z)^2 <= t^2 Var(b + 2 a z)} with Student's t (Fieller 1954): exact under normal
    noise for any number of rows. Where the curvature itself may be zero it is unbounded.

    Parameters
    ----------
    u, values
        One entry a row, at least four rows at three different u.
    level
        Of the interval, 0..1.
    """
    design = np.vander(u, 3, increasing=True)
    powers, *_ = np.linalg.lstsq(design, values, rcond=None)
    freedom = len(u) - 3
    residuals = values - design @ powers
    covariance = (residuals @ residuals) / freedom * np.linalg.pinv(design.T @ design)
    quantile = t.ppf(0.5 + level / 2, freedom) ** 2
    _, b, a = powers
    square = 4 * (a * a - quantile * covariance[2, 2])
    middle = 4 * (a * b - quantile * covariance[1, 2])
    constant = b * b - quantile * covariance[1, 1]
    inner = middle * middle - 4 * square * constant
    if square <= 0:
        return Interval(level, "fieller", -inf, inf)
    # Not below zero where the curvature is sure, but for rounding.
    root = np.sqrt(max(inner, 0.0))
    low, high = (-middle - root) / (2 * square), (-middle + root) / (2 * square)
    return Interval(level, "fieller", float(low), float(high))


def bootstrap_replicates(
    u: Array,
    values: Array,
    groups: npt.NDArray[np.intp],
    *,
    degree: int,
    replicates: int,
    seed: tuple[int, ...],
) -> Array:
    """Coefficients of the polynomials fitted to resampled rows.

    Parameters
    ----------
    u, values
        One entry a row, u within -1..1.
    groups
        Which of the different sizes each row has, as `size_groups` numbers them.
    degree
        Of the polynomial.
    replicates
        How many sets of rows.
    seed
        Of the resampling.

    Returns
    -------
    array, replicates x (degree + 1)
        Coefficients from the constant up; NaN where the rows drawn leave no degree of freedom.
    """
    rng = np.random.default_rng(seed)
    rows = len(u)
    weights = rng.multinomial(rows, np.full(rows, 1 / rows), size=replicates).astype(np.float64)
    # Weighted least squares by its normal equations: u within -1..1 keeps them well conditioned.
    design = np.vander(u, 2 * degree + 1, increasing=True)
    moments = weights @ design
    right = weights @ (design[:, : degree + 1] * values[:, None])
    places = np.add.outer(np.arange(degree + 1), np.arange(degree + 1))
    # A set that its curve passes through exactly says nothing of noise, and its minimum may lie
    # anywhere: one in four is such a set at six rows.
    determined = _different(weights, groups) > degree + 1
    left = np.where(determined[:, None, None], moments[:, places], np.eye(degree + 1))
    try:
        powers = np.linalg.solve(left, right[..., None])[..., 0]
    except np.linalg.LinAlgError:
        powers = (np.linalg.pinv(left) @ right[..., None])[..., 0]
    return np.where(determined[:, None], powers, np.nan)


def residual_replicates(
    u: Array, values: Array, degree: int, replicates: int, seed: tuple[int, ...]
) -> Array:
    """Coefficients of polynomials fitted to the fit plus resampled residuals.

    Residuals are widened by 1 / sqrt(1 - leverage), so that they vary as the noise does.
    Parameters and result are those of `bootstrap_replicates`.
    """
    rng = np.random.default_rng(seed)
    design = np.vander(u, degree + 1, increasing=True)
    solve = np.linalg.pinv(design)
    fitted = design @ (solve @ values)
    leverage = np.clip(np.einsum("ij,ji->i", design, solve), 0.0, 1 - 1e-9)
    residuals = (values - fitted) / np.sqrt(1 - leverage)
    residuals -= residuals.mean()
    drawn = residuals[rng.integers(0, len(u), size=(replicates, len(u)))]
    return np.asarray((fitted + drawn) @ solve.T)


def size_groups(log_amounts: Array) -> npt.NDArray[np.intp]:
    """Number, from 0, of the different size that each row has.

    Sizes within a thousandth of a decade of the smallest of them are one: token counts rounded
    to whole steps are replicates, and a curve through them would follow their noise.

    Parameters
    ----------
    log_amounts
        log10 of tokens or parameters.
    """
    groups = np.zeros(len(log_amounts), dtype=np.intp)
    number, start = -1, -inf
    for place in np.argsort(log_amounts, kind="stable"):
        if log_amounts[place] - start > SAME_SIZE:
            number, start = number + 1, float(log_amounts[place])
        groups[place] = number
    return groups


def _different(weights: Array, groups: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """How many different sizes each set of drawn rows has."""
    drawn = np.zeros((len(weights), int(groups.max()) + 1))
    for row, place in enumerate(groups):
        drawn[:, place] += weights[:, row]
    different: npt.NDArray[np.intp] = np.count_nonzero(drawn, axis=1)
    return different


def _percentiles(
    minima: Array, powers: Array, level: float, freedom: int, method: IntervalMethod
) -> Interval:
    """Percentile interval, at the percentiles of Student's t for the rows' degrees of freedom.

    Plain percentiles are those of a normal with the noise known and cover too little on few rows
    (Hesterberg 2015, arXiv 1411.5279, section 5.3).
    """
    minima = minima[np.isfinite(powers).all(axis=1)]
    failed = len(powers) - int(np.count_nonzero(np.isfinite(minima)))
    if not len(minima):
        return Interval(level, method, -inf, inf, len(powers), failed)
    none = np.flatnonzero(np.isnan(minima))
    minima = minima.copy()
    minima[none[::2]], minima[none[1::2]] = -inf, inf
    tail = float(norm.cdf(-t.ppf(0.5 + level / 2, freedom)))
    ordered = np.sort(minima)
    last = len(ordered) - 1
    low, high = ordered[int(np.floor(tail * last))], ordered[int(np.ceil((1 - tail) * last))]
    return Interval(level, method, float(low), float(high), len(powers), failed)
