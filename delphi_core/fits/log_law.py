"""The loss law by least squares in logarithms, many fits at once.

ln(L - E) = ln A - alpha ln C is linear for a given E, so only E is searched: bisection on the
derivative of the residual sum of squares where that turns from falling to rising on a grid, and E
of zero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from delphi_core.fits.projection import EXPONENTS, PowerSums

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

# E as a share of the least loss: E = (1 - gap) min L.
_GAPS = np.geomspace(1.0, 1e-6, 90)
_BISECTIONS = 60


def fit_log_law(
    log_x: Array, values: Array, weights: Array, *, asymptote: Array | None = None
) -> PowerSums:
    """Least squares of ln(L - E) over E >= 0, A and alpha.

    Parameters
    ----------
    log_x : array, rows x 1
        ln C less its mean.
    values : array, problems x rows
        L of each row, positive.
    weights : array, problems x rows
        Not negative; a row with weight 0 does not count.
    asymptote : array, problems
        E where it is pinned; None to fit it. Where an L that counts is not above it there is no
        law: its numbers are not numbers.

    Returns
    -------
    PowerSums
        Residuals and objective are those of ln(L - E).
    """
    x = log_x[:, 0]
    if asymptote is not None:
        return _sums(asymptote, x, values, weights)
    least = np.where(weights > 0, values, np.inf).min(axis=1)
    problems = np.arange(len(values))
    levels = [(1 - gap) * least for gap in _GAPS]
    table = np.stack([_sums(level, x, values, weights).objective for level in levels], axis=1)
    slopes = np.stack([_slope(level, x, values, weights) for level in levels], axis=1)
    # The objective may rise from E = 0 to a hump and fall to a narrow minimum that all of the grid
    # misses; its derivative does not.
    turns = (slopes[:, :-1] < 0) & (slopes[:, 1:] >= 0)
    lower = np.where(turns, np.minimum(table[:, :-1], table[:, 1:]), np.inf)
    place = np.where(turns.any(axis=1), lower.argmin(axis=1), len(_GAPS) - 2)
    high_gap, low_gap = _GAPS[place], _GAPS[place + 1]
    for _ in range(_BISECTIONS):
        middle = (low_gap + high_gap) / 2
        rising = _slope((1 - middle) * least, x, values, weights) > 0
        # Where the objective rises with E, the minimum has a larger gap.
        low_gap = np.where(rising, middle, low_gap)
        high_gap = np.where(rising, high_gap, middle)
    gap = (low_gap + high_gap) / 2
    best = _sums((1 - gap) * least, x, values, weights)
    zero = _sums(np.zeros_like(least), x, values, weights)
    at_zero = zero.objective <= best.objective
    return zero.joined(best).at(np.where(at_zero, problems, problems + len(problems)))


def _sums(asymptote: Array, x: Array, values: Array, weights: Array) -> PowerSums:
    """The regression of ln(L - E) on ln C at given E."""
    # Rows that do not count may lie below E.
    gap = np.where(weights > 0, values - asymptote[:, None], 1.0)
    logs = np.log(np.where(gap > 0, gap, np.nan))
    total = weights.sum(axis=1)
    x_mean, y_mean = weights @ x / total, np.sum(weights * logs, axis=1) / total
    centered = x - x_mean[:, None]
    spread = np.sum(weights * centered**2, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        slope = np.sum(weights * centered * logs, axis=1) / spread
    # A sum of squares is convex in the slope, so its bound is the best within bounds.
    slope = np.maximum(slope, -EXPONENTS[1])
    residuals = logs - y_mean[:, None] - slope[:, None] * centered
    objective = np.sum(weights * residuals**2, axis=1) / 2
    coefficients = np.exp(y_mean - slope * x_mean)[:, None]
    return PowerSums(asymptote, coefficients, -slope[:, None], objective, residuals)


def _slope(asymptote: Array, x: Array, values: Array, weights: Array) -> Array:
    """Derivative of the objective by E; ln A and alpha are at their best, so only L - E moves."""
    residuals = _sums(asymptote, x, values, weights).residuals
    gap = np.where(weights > 0, values - asymptote[:, None], 1.0)
    return np.asarray(-np.sum(weights * residuals / gap, axis=1))
