"""What a law says of runs nobody has trained yet."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import norm, t

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]


SMALLEST_TARGET, LARGEST_TARGET = 1e15, 1e26
"""Compute that can be asked for, FLOP."""


@dataclass(frozen=True, eq=False)
class Forecast:
    """L* at some compute, with its band.

    Attributes
    ----------
    flops, value, low, high : array
        C (FLOP), L* and the ends of its band, in the metric's unit; infinite where nothing
        bounds it.
    level, method
        Of the band.
    ratio : array
        Extrapolation ratio: C over the largest that was fitted.
    """

    flops: Array
    value: Array
    low: Array
    high: Array
    level: float
    method: str
    ratio: Array

    def with_run_noise(
        self, noise: float, runs: int = 1, freedom: int | None = None
    ) -> tuple[Array, Array]:
        """Prediction interval of the mean of some runs: the band and their noise in quadrature.

        Parameters
        ----------
        noise
            Standard deviation of one run's loss between seeds, in the metric's unit.
        runs
            How many runs are averaged.
        freedom
            Degrees of freedom that the noise was estimated with, for Student's t; None where it is
            known.
        """
        share = 0.5 + self.level / 2
        quantile = float(norm.ppf(share) if freedom is None else t.ppf(share, freedom))
        own = quantile * noise / sqrt(runs)
        low = self.value - np.hypot(self.value - self.low, own)
        high = self.value + np.hypot(self.high - self.value, own)
        return low, high
