"""Exact non-negative least squares on few columns, many problems at once."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

# A coefficient of a smaller share of the largest may be rounding of zero.
_SMALL = 1e-10


def nonnegative_least_squares(design: Array, values: Array, weights: Array) -> Array:
    """Coefficients c >= 0 that minimise sum_i w_i (y_i - sum_j X_ij c_j)^2.

    The solution is the ordinary one on the columns where it is not zero, so the best of all
    subsets whose ordinary solution is not negative is exact (the Karush-Kuhn-Tucker conditions;
    Lawson and Hanson 1974, chapter 23, walk through the same subsets).

    Parameters
    ----------
    design : array, problems x rows x columns
        At most three columns; best scaled to about 1.
    values, weights : array, problems x rows

    Returns
    -------
    array, problems x columns
        Zero in the columns that are left out.
    """
    best = _ordinary(design, values, weights)
    # Where every column counts, that is it; elsewhere the subsets are looked through.
    sure = (best > _SMALL * best.max(axis=1, keepdims=True)).all(axis=1)
    others = np.flatnonzero(~sure)
    if len(others):
        best[others] = _best_of_subsets(design[others], values[others], weights[others])
    return best


def _best_of_subsets(design: Array, values: Array, weights: Array) -> Array:
    """The best non-negative solution; a column that only takes off rounding is left out."""
    columns = design.shape[2]
    best = np.zeros((len(design), columns))
    least = np.sum(weights * values**2, axis=1)
    rounding = np.finfo(np.float64).eps * least
    for size in range(1, columns + 1):
        for subset in combinations(range(columns), size):
            own = design[:, :, subset]
            coefficients = _ordinary(own, values, weights)
            left = values - (own @ coefficients[..., None])[..., 0]
            squares = np.sum(weights * left**2, axis=1)
            better = (coefficients >= 0).all(axis=1) & (squares < least - rounding)
            least = np.where(better, squares, least)
            full = np.zeros_like(best)
            full[:, subset] = coefficients
            best = np.where(better[:, None], full, best)
    return best


def _ordinary(design: Array, values: Array, weights: Array) -> Array:
    """Ordinary least squares, not a number where the columns cannot be told apart."""
    weighted = np.swapaxes(design * weights[..., None], 1, 2)
    inverse = _inverse(weighted @ design)
    coefficients = inverse @ (weighted @ values[..., None])
    # Once more on what is left: the normal equations square the condition number.
    left = values[..., None] - design @ coefficients
    return np.asarray((coefficients + inverse @ (weighted @ left))[..., 0])


def _inverse(gram: Array) -> Array:
    """Inverses, not a number where the columns cannot be told apart."""
    scale = np.sqrt(np.maximum(np.einsum("bii->bi", gram), 1e-300))
    scales = scale[:, :, None] * scale[:, None, :]
    scaled = gram / scales
    singular = np.linalg.det(scaled) < 1e-14
    scaled[singular] = np.eye(scaled.shape[1])
    inverse: Array = np.linalg.inv(scaled) / scales
    inverse[singular] = np.nan
    return inverse
