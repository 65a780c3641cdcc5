"""Loss laws fitted to optima, many weightings of them at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from delphi_core.fits.law_models import HUBER_DELTA, Law, Laws
from delphi_core.fits.log_law import fit_log_law
from delphi_core.fits.projection import fit_power_sums

if TYPE_CHECKING:
    import numpy.typing as npt

    from delphi_core.fits.optima import Optima
    from delphi_core.fits.projection import PowerSums

    Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class OptimaModel:
    """A loss law fitted to optima."""

    optima: Optima
    law: Law

    @property
    def values(self) -> Array:
        """L* of each optimum."""
        return self.optima.losses

    @property
    def groups(self) -> npt.NDArray[np.intp]:
        """Each optimum is its own budget."""
        return np.arange(len(self.optima))

    @property
    def row_weights(self) -> Array:
        """Each optimum counts the same."""
        return np.ones(len(self.optima))

    @property
    def delta(self) -> float | None:
        """Huber's, if the law is huber."""
        return HUBER_DELTA if self.law == "huber" else None

    @property
    def parameters(self) -> int:
        """E, A and alpha."""
        return 3

    @cached_property
    def _center(self) -> float:
        return float(np.log(self.optima.flops).mean())

    @cached_property
    def _log_x(self) -> Array:
        return (np.log(self.optima.flops) - self._center)[:, None]

    def fit(
        self,
        weights: Array,
        *,
        asymptote: Array | None = None,
        start: PowerSums | None = None,
        values: Array | None = None,
    ) -> PowerSums:
        """Laws, one for each row of `weights`."""
        losses = np.broadcast_to(self.values if values is None else values, weights.shape)
        if self.law == "log":
            return fit_log_law(self._log_x, losses, weights, asymptote=asymptote)
        return fit_power_sums(
            self._log_x,
            losses,
            weights,
            asymptote=asymptote,
            delta=self.delta,
            start=None if start is None else start.exponents,
        )

    def fitted(self, sums: PowerSums) -> Array:
        """L*, or for the log law ln A C^-alpha less ln(L* - E), of each optimum."""
        powers = sums.coefficients * np.exp(-sums.exponents * self._log_x[:, 0])
        if self.law == "log":
            # The residuals are those of ln(L - E), and E moves the data, not the fit.
            gap = np.maximum(self.values - sums.asymptote[:, None], 1e-300)
            return np.log(powers) - np.log(gap)
        return sums.asymptote[:, None] + powers

    def laws(self, sums: PowerSums) -> Laws:
        """The laws themselves."""
        with np.errstate(divide="ignore"):
            logs = np.log(sums.coefficients[:, 0])
        exponent = sums.exponents[:, 0]
        return Laws(sums.asymptote, logs + exponent * self._center, exponent)

    def replicates(
        self, kind: str, number: int, seed: int, best: PowerSums, freedom: int
    ) -> tuple[Array, Array]:
        """L* of resampled rows; a budget without an optimum in a set does not count in it.

        So it is in the fit itself, which takes the optima there are. Sets that leave too few of
        them for the law are left out.
        """
        del best
        values = self.optima.replicates(kind, number, seed)
        known = np.isfinite(values) & (values > 0)
        enough = known.sum(axis=1) >= len(self.optima) - freedom
        weights = known[enough].astype(np.float64)
        return weights, np.where(known, values, self.values)[enough]
