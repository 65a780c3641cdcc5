"""Exact non-negative least squares on few columns, many problems at once."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]


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
    columns = design.shape[2]
    weighted = design * weights[..., None]
    gram = np.swapaxes(weighted, 1, 2) @ design
    right = (np.swapaxes(weighted, 1, 2) @ values[..., None])[..., 0]
    best = np.zeros((len(design), columns))
    # What c takes off the sum of squares, c'(2 X'Wy - X'WX c): zero where no column is taken.
    gain = np.zeros(len(design))
    for size in range(1, columns + 1):
        for subset in combinations(range(columns), size):
            own = np.ix_(range(len(design)), subset, subset)
            coefficients = _solve(gram[own], right[:, subset])
            # Once more on what is left: the normal equations square the condition number.
            left = values - (design[:, :, subset] @ coefficients[..., None])[..., 0]
            more = (np.swapaxes(weighted[:, :, subset], 1, 2) @ left[..., None])[..., 0]
            coefficients = coefficients + _solve(gram[own], more)
            fitted = (gram[own] @ coefficients[..., None])[..., 0]
            taken = np.sum(coefficients * (2 * right[:, subset] - fitted), axis=1)
            better = (coefficients >= 0).all(axis=1) & (taken > gain)
            gain = np.where(better, taken, gain)
            full = np.zeros_like(best)
            full[:, subset] = coefficients
            best = np.where(better[:, None], full, best)
    return best


def _solve(gram: Array, right: Array) -> Array:
    """Solutions, not a number where the columns cannot be told apart."""
    scale = np.sqrt(np.maximum(np.einsum("bii->bi", gram), 1e-300))
    scaled = gram / (scale[:, :, None] * scale[:, None, :])
    if scaled.shape[1] == 1:
        return right / gram[:, :, 0]
    singular = np.linalg.det(scaled) < 1e-14
    scaled = np.where(singular[:, None, None], np.eye(scaled.shape[1]), scaled)
    solution = np.linalg.solve(scaled, (right / scale)[..., None])[..., 0] / scale
    return np.where(singular[:, None], np.nan, solution)
