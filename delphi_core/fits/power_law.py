"""Power laws of optima in compute: D* = A C^alpha and N* = 10^q C^p."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.polynomial import Polynomial

from delphi_core.errors import FitError
from delphi_core.fits.doubts import Flag
from delphi_core.words import count

if TYPE_CHECKING:
    import numpy.typing as npt

    from delphi_core.fits.isoflop import IsoflopResult


@dataclass(frozen=True)
class PowerLaw:
    """A quantity at the optimum as a power of compute: y = 10^log10_coefficient C^exponent.

    Attributes
    ----------
    quantity
        ``tokens`` (D*) or ``params`` (N*).
    exponent
        Dimensionless.
    log10_coefficient
        log10 of y at C = 1 FLOP.
    optima
        How many budgets it was fitted on.
    at_edge
        How many of their optima are flagged edge: extrapolated, or not the lowest place sampled.
    rule
        How y was got in each budget.
    compute
        What C is: recorded, nominal or bucket.
    """

    quantity: Literal["tokens", "params"]
    exponent: float
    log10_coefficient: float
    optima: int
    at_edge: int
    rule: str
    compute: str

    @property
    def coefficient(self) -> float:
        """A, in the quantity's unit at C = 1 FLOP."""
        return float(10.0**self.log10_coefficient)

    def predict(self, flops: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """The quantity at compute `flops` (FLOP; any shape), in the same shape."""
        log_compute = np.log10(np.asarray(flops, dtype=np.float64))
        return np.asarray(10.0 ** (self.exponent * log_compute + self.log10_coefficient))

    def describe(self) -> str:
        """One sentence: the law and how it was got."""
        symbol = {"tokens": "D*", "params": "N*"}[self.quantity]
        outside = f" {self.at_edge} of the optima at an edge." if self.at_edge else ""
        exact = " Two points determine it exactly, so nothing tests it." if self.optima == 2 else ""
        return (
            f"{symbol} = 10^{self.log10_coefficient:.4f} C^{self.exponent:.4f} by least squares in "
            f"logarithms over {count(self.optima, 'budget')}, C {self.compute}; {symbol} "
            f"{self.rule}.{exact}{outside}"
        )


def fit_token_law(isoflop: IsoflopResult) -> PowerLaw:
    """Token law D* = A C^alpha of fitted optima.

    Least squares of log10 D* on log10 C over the budgets that have an optimum, each with the
    same weight (Marin's IsoFLOP analysis; Approach 2 of Hoffmann et al. 2022, arXiv 2203.15556).

    Parameters
    ----------
    isoflop
        Fitted budgets.

    Returns
    -------
    PowerLaw
        In tokens, of C in FLOP.

    Raises
    ------
    FitError
        Fewer than two budgets have an optimum.
    """
    return _fit(isoflop, "tokens")


def fit_params_law(isoflop: IsoflopResult) -> PowerLaw:
    """Params law N* = 10^q C^p of fitted optima, by the same least squares as the token law.

    Parameters
    ----------
    isoflop
        Fitted budgets.

    Returns
    -------
    PowerLaw
        In parameters (active ones on a ladder sized by them), of C in FLOP.

    Raises
    ------
    FitError
        Fewer than two budgets have an optimum.
    """
    return _fit(isoflop, "params")


def _fit(isoflop: IsoflopResult, quantity: Literal["tokens", "params"]) -> PowerLaw:
    optima = isoflop.optima
    if len(optima) < 2:
        raise FitError(
            f"a law in compute needs 2 budgets with an optimum; there "
            f"{'is' if len(optima) == 1 else 'are'} {len(optima)}."
        )
    log_compute = np.log10([optimum.flops for optimum in optima])
    values = np.log10([getattr(optimum, f"optimal_{quantity}") for optimum in optima])
    line = Polynomial.fit(log_compute, values, 1)
    intercept, slope = line.convert().coef
    return PowerLaw(
        quantity=quantity,
        exponent=float(slope),
        log10_coefficient=float(intercept),
        optima=len(optima),
        at_edge=sum(Flag.EDGE in optimum.flags for optimum in optima),
        rule=isoflop.rule(quantity),
        compute=isoflop.compute,
    )
