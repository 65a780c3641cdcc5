"""How far an optimum can be trusted: intervals by Fieller's theorem and by the bootstrap.

Every interval carries its level and the method that gave it. The choice of method hangs on the
rows alone. Coverage was checked on made ladders (tests/core/fits/test_uncertainty.py).
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import norm, t

from delphi_core.fits.interval import Interval, IntervalMethod
from delphi_core.fits.minimum import local_minimum

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

SAME_SIZE = 1e-3
"""Decades within which two sizes count as one."""
FEWEST_FOR_PAIRS = 6
"""With fewer different sizes than this, resampled rows too often determine no curve."""


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
        return Interval.none(level)
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
    u: Array,
    values: Array,
    degree: int,
    replicates: int,
    seed: tuple[int, ...],
    *,
    pool: Array | None = None,
) -> Array:
    """Coefficients of polynomials fitted to the fit plus resampled residuals.

    Parameters and result are those of `bootstrap_replicates`; `pool` holds the residuals to draw
    from, by default the rows' own.
    """
    rng = np.random.default_rng(seed)
    design = np.vander(u, degree + 1, increasing=True)
    solve = np.linalg.pinv(design)
    fitted = design @ (solve @ values)
    residuals = widened_residuals(u, values, degree) if pool is None else pool
    drawn = residuals[rng.integers(0, len(residuals), size=(replicates, len(u)))]
    return np.asarray((fitted + drawn) @ solve.T)


def widened_residuals(u: Array, values: Array, degree: int) -> Array:
    """Residuals of a polynomial, centred, and widened to vary as the noise does.

    By 1 / sqrt(1 - leverage) each; none for a row that the curve passes through whatever its
    value, since it says nothing of noise.
    """
    design = np.vander(u, degree + 1, increasing=True)
    solve = np.linalg.pinv(design)
    leverage = np.clip(np.einsum("ij,ji->i", design, solve), 0.0, 1 - 1e-9)
    residuals = (values - design @ (solve @ values)) / np.sqrt(1 - leverage)
    if len(u) <= degree + 1:
        return np.empty(0)
    return np.asarray(residuals - residuals.mean())


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
