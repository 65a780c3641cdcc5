"""The curve fitted to one compute budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from delphi_core.fits.minimum import local_minimum, rounded_powers

if TYPE_CHECKING:
    import numpy.typing as npt
    from numpy.polynomial import Polynomial


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

    @property
    def opens_downwards(self) -> bool:
        """Whether it is a parabola whose vertex is a maximum."""
        powers = rounded_powers(_powers(self.polynomial))
        return len(powers) == 3 and bool(powers[2] < 0)

    def predict(self, x: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Value at log10 of tokens or size `x` (any shape), in the same shape."""
        return np.asarray(self.polynomial(np.asarray(x, dtype=np.float64)))


def _powers(polynomial: Polynomial) -> npt.NDArray[np.float64]:
    """Coefficients from the constant up, in u from -1 to 1 over the sampled range."""
    return np.asarray(polynomial.coef, dtype=np.float64)
