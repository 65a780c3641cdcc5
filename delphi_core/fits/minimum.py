"""Where polynomials of degree 2 or 3 have their local minimum, many at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt


def local_minimum(powers: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Local minimum of c + b u + a u^2 (+ d u^3).

    The roots of the derivative 3 d u^2 + 2 a u + b are (-a +- sqrt(a^2 - 3 b d)) / 3 d; the
    second derivative is positive at the upper sign, which is written so that nothing cancels.

    Parameters
    ----------
    powers
        Coefficients c, b, a and perhaps d along the last axis; any shape before it.

    Returns
    -------
    array
        u of each minimum, NaN where there is none; the shape without the last axis.
    """
    rounded = rounded_powers(powers)
    b, a = rounded[..., 1], rounded[..., 2]
    d = rounded[..., 3] if rounded.shape[-1] > 3 else np.zeros_like(a)
    inner = a * a - 3 * b * d
    none = (inner <= 0) | ((d == 0) & (a <= 0))
    root = np.sqrt(np.where(none, 1.0, inner))
    with np.errstate(divide="ignore", invalid="ignore"):
        minimum = np.where(a > 0, -b / (a + root), (root - a) / (3 * d))
    return np.where(none, np.nan, minimum)


def rounded_powers(powers: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The same coefficients without what rounding left of a constant or a line."""
    largest = np.abs(powers).max(axis=-1, keepdims=True)
    return np.where(np.abs(powers) < 1e-12 * largest, 0.0, powers)
