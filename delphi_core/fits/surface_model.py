"""Loss surfaces fitted to runs, many weightings of them at once, and the laws that follow."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from delphi_core.fits.approach3 import fit_approach3
from delphi_core.fits.law_models import HUBER_DELTA, Law, Laws
from delphi_core.fits.projection import fit_power_sums

if TYPE_CHECKING:
    import numpy.typing as npt

    from delphi_core.fits.projection import PowerSums

    Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SurfaceModel:
    """A loss surface L(N, D) = E + A N^-alpha + B D^-beta, and the loss law that follows.

    Attributes
    ----------
    params, tokens, values : array
        N, D and L of each run.
    groups : array
        Number of the budget of each run.
    law
        log is Approach 3; squares and huber are of L itself.
    k
        C = k N D.
    row_weights : array
        Weight of each run.
    """

    params: Array
    tokens: Array
    values: Array
    groups: npt.NDArray[np.intp]
    law: Law
    k: float
    row_weights: Array

    @property
    def delta(self) -> float | None:
        """Huber's, unless the law is squares."""
        return None if self.law == "squares" else HUBER_DELTA

    @property
    def parameters(self) -> int:
        """E, A, B, alpha and beta."""
        return 5

    @cached_property
    def _center(self) -> Array:
        return np.array([np.log(self.params).mean(), np.log(self.tokens).mean()])

    @cached_property
    def log_x(self) -> Array:
        """Logarithms of N and D of each run, less their means."""
        return np.column_stack([np.log(self.params), np.log(self.tokens)]) - self._center

    def fit(
        self,
        weights: Array,
        *,
        asymptote: Array | None = None,
        start: PowerSums | None = None,
        values: Array | None = None,
    ) -> PowerSums:
        """Surfaces, one for each row of `weights`."""
        losses = np.broadcast_to(self.values if values is None else values, weights.shape)
        both = weights * self.row_weights
        if self.law == "log":
            return fit_approach3(self.log_x, losses, both, asymptote=asymptote, start=start)
        return fit_power_sums(
            self.log_x,
            losses,
            both,
            asymptote=asymptote,
            delta=self.delta,
            start=None if start is None else start.exponents,
        )

    def fitted(self, sums: PowerSums) -> Array:
        """L, or ln L for Approach 3, of each run."""
        powers = np.exp(-sums.exponents[:, None, :] * self.log_x)
        total = sums.asymptote[:, None] + (powers @ sums.coefficients[..., None])[..., 0]
        return np.log(total) if self.law == "log" else total

    def log_coefficients(self, sums: PowerSums) -> Array:
        """Logarithms of A and B at N = D = 1: problems x 2."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(sums.coefficients) + sums.exponents * self._center)

    def log_ratio(self, sums: PowerSums) -> Array:
        """Logarithm of G, where G = (alpha A / beta B)^(1 / (alpha + beta))."""
        log_a, log_b = self.log_coefficients(sums).T
        alpha, beta = sums.exponents.T
        with np.errstate(invalid="ignore"):
            return np.asarray((np.log(alpha / beta) + log_a - log_b) / (alpha + beta))

    def laws(self, sums: PowerSums) -> Laws:
        """L*(C) = E + K C^-(alpha beta / (alpha + beta)), at N* = G (C/k)^(beta/(alpha+beta)).

        Hoffmann et al. 2022 (arXiv 2203.15556), equation 4, with C = k N D. Where A or B is zero
        there is no optimum, and K is not a number.
        """
        log_a, log_b = self.log_coefficients(sums).T
        alpha, beta = sums.exponents.T
        log_g = self.log_ratio(sums)
        exponent = alpha * beta / (alpha + beta)
        with np.errstate(invalid="ignore"):
            log_k = np.logaddexp(log_a - alpha * log_g, log_b + beta * log_g)
        return Laws(sums.asymptote, log_k + exponent * np.log(self.k), exponent)

    def replicates(
        self, kind: str, number: int, seed: int, best: PowerSums, freedom: int
    ) -> tuple[Array, Array]:
        """Runs drawn again within budgets, or residuals drawn over all runs."""
        rng = np.random.default_rng((seed, len(self.values)))
        weights = np.ones((number, len(self.values)))
        values = np.tile(self.values, (number, 1))
        fitted = self.fitted(best)[0]
        observed = np.log(self.values) if self.law == "log" else self.values
        for group in range(int(self.groups.max()) + 1):
            places = np.flatnonzero(self.groups == group)
            size = len(places)
            if kind == "stratified bootstrap":
                weights[:, places] = rng.multinomial(size, np.full(size, 1 / size), size=number)
        if kind == "residual bootstrap":
            # Widened to vary as the noise does: the parameters take their share.
            left = (observed - fitted) * np.sqrt(len(fitted) / freedom)
            drawn = left[rng.integers(0, len(left), size=values.shape)]
            values = np.exp(fitted + drawn) if self.law == "log" else fitted + drawn
        return weights, values
