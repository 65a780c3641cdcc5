"""What a loss law comes from: optima or a whole surface, under one interface for bands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from delphi_core.fits.projection import PowerSums

    Array = npt.NDArray[np.float64]

Law = Literal["log", "squares", "huber"]
LAWS: tuple[Law, ...] = ("log", "squares", "huber")
HUBER_DELTA = 1e-3
"""Where Huber's loss goes over to absolute values, in the metric's unit, or in ln L."""


class Laws(NamedTuple):
    """Laws L*(C) = E + A C^-alpha, one an entry.

    Attributes
    ----------
    asymptote : array
        E, in the metric's unit.
    log_coefficient : array
        ln A at C = 1 FLOP; minus infinity where A is zero.
    exponent : array
        alpha, dimensionless.
    """

    asymptote: Array
    log_coefficient: Array
    exponent: Array

    def predict(self, flops: Array) -> Array:
        """L* at compute `flops` (FLOP): laws x flops."""
        logs = self.log_coefficient[:, None] - self.exponent[:, None] * np.log(flops)
        return np.asarray(self.asymptote[:, None] + np.exp(logs))


class LawModel(Protocol):
    """Rows and a way to fit them."""

    @property
    def values(self) -> Array:
        """L of each row."""
        ...

    @property
    def groups(self) -> npt.NDArray[np.intp]:
        """Number of the budget of each row, from 0."""
        ...

    @property
    def row_weights(self) -> Array:
        """Weight of each row."""
        ...

    @property
    def delta(self) -> float | None:
        """Where Huber's loss goes over to absolute values; None for squares."""
        ...

    @property
    def parameters(self) -> int:
        """How many parameters are fitted with E free."""
        ...

    def fit(
        self,
        weights: Array,
        *,
        asymptote: Array | None = None,
        start: PowerSums | None = None,
        values: Array | None = None,
    ) -> PowerSums:
        """Fits, one for each row of `weights` (problems x rows)."""
        ...

    def fitted(self, sums: PowerSums) -> Array:
        """What fits say of each row, on the scale of their residuals: problems x rows."""
        ...

    def laws(self, sums: PowerSums) -> Laws:
        """The loss laws of fits."""
        ...

    def replicates(
        self, kind: str, number: int, seed: int, best: PowerSums, freedom: int
    ) -> tuple[Array, Array]:
        """Weights and values of resampled rows: replicates x rows each."""
        ...
