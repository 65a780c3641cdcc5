"""Power laws of optima in compute: D* = A C^alpha and N* = 10^q C^p."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.polynomial import Polynomial
from scipy.stats import t

from delphi_core.errors import FitError
from delphi_core.fits.doubts import Flag
from delphi_core.fits.interval import Interval
from delphi_core.fits.optima import Optima, optima_of
from delphi_core.words import count

if TYPE_CHECKING:
    import numpy.typing as npt

    from delphi_core.fits.isoflop import IsoflopResult


class Scatter(NamedTuple):
    """How optima scatter around a law: mean and sum of squares of log10 C, s, and Student's t."""

    center: float
    spread: float
    error: float
    quantile: float


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
        What C is: recorded, nominal, bucket or published.
    interval
        Of the exponent; Student's t on the scatter of the optima, or the surface's own.
    scatter
        How the optima scatter around the law; None where that is not known.
    """

    quantity: Literal["tokens", "params"]
    exponent: float
    log10_coefficient: float
    optima: int
    at_edge: int
    rule: str
    compute: str
    interval: Interval
    scatter: Scatter | None = None

    @property
    def coefficient(self) -> float:
        """A, in the quantity's unit at C = 1 FLOP."""
        return float(10.0**self.log10_coefficient)

    def predict(self, flops: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """The quantity at compute `flops` (FLOP; any shape), in the same shape."""
        log_compute = np.log10(np.asarray(flops, dtype=np.float64))
        return np.asarray(10.0 ** (self.exponent * log_compute + self.log10_coefficient))

    def band(self, flops: npt.ArrayLike) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Low and high of the law at compute `flops` (FLOP; any shape).

        Student's t on log10 y: s sqrt(1/n + (x - mean x)^2 / sum (x - mean x)^2), x = log10 C
        (Draper and Smith 1998, section 3.1). Infinite where nothing tells how the optima scatter.
        """
        log_compute = np.log10(np.asarray(flops, dtype=np.float64))
        value = self.exponent * log_compute + self.log10_coefficient
        if self.scatter is None:
            return np.zeros_like(value), np.full_like(value, np.inf)
        center, spread, error, quantile = self.scatter
        off = quantile * error * np.sqrt(1 / self.optima + (log_compute - center) ** 2 / spread)
        return np.asarray(10.0 ** (value - off)), np.asarray(10.0 ** (value + off))

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


def fit_token_law(optima: IsoflopResult | Optima, *, level: float = 0.9) -> PowerLaw:
    """Token law D* = A C^alpha of optima.

    Least squares of log10 D* on log10 C over the budgets that have an optimum, each with the
    same weight (Marin's IsoFLOP analysis; Approach 2 of Hoffmann et al. 2022, arXiv 2203.15556).

    Parameters
    ----------
    optima
        Of an IsoFLOP fit, or published ones.
    level
        Of the interval and the band.

    Returns
    -------
    PowerLaw
        In tokens, of C in FLOP.

    Raises
    ------
    FitError
        Fewer than two budgets have an optimum.
    """
    return _fit(optima, "tokens", level)


def fit_params_law(optima: IsoflopResult | Optima, *, level: float = 0.9) -> PowerLaw:
    """Params law N* = 10^q C^p of optima, by the same least squares as the token law.

    Parameters
    ----------
    optima
        Of an IsoFLOP fit, or published ones.
    level
        Of the interval and the band.

    Returns
    -------
    PowerLaw
        In parameters (active ones on a ladder sized by them), of C in FLOP.

    Raises
    ------
    FitError
        Fewer than two budgets have an optimum.
    """
    return _fit(optima, "params", level)


def _fit(
    given: IsoflopResult | Optima, quantity: Literal["tokens", "params"], level: float
) -> PowerLaw:
    optima = given if isinstance(given, Optima) else optima_of(given)
    values = optima.tokens if quantity == "tokens" else optima.params
    known = np.isfinite(values)
    number = int(np.count_nonzero(known))
    if number < 2:
        raise FitError(
            f"a law in compute needs 2 budgets with an optimum; there "
            f"{'is' if number == 1 else 'are'} {number}."
        )
    log_compute, logs = np.log10(optima.flops[known]), np.log10(values[known])
    line = Polynomial.fit(log_compute, logs, 1)
    intercept, slope = line.convert().coef
    interval, scatter = Interval.none(level), None
    if number > 2:
        center = float(log_compute.mean())
        spread = float(np.sum((log_compute - center) ** 2))
        error = float(np.sqrt(np.sum((logs - line(log_compute)) ** 2) / (number - 2)))
        quantile = float(t.ppf(0.5 + level / 2, number - 2))
        half = quantile * error / float(np.sqrt(spread))
        interval = Interval(level, "student t", float(slope) - half, float(slope) + half)
        scatter = Scatter(center, spread, error, quantile)
    return PowerLaw(
        quantity=quantity,
        exponent=float(slope),
        log10_coefficient=float(intercept),
        optima=number,
        at_edge=sum(
            Flag.EDGE in flags for flags, good in zip(optima.flags, known, strict=True) if good
        ),
        rule=optima.rules[quantity],
        compute=optima.compute,
        interval=interval,
        scatter=scatter,
    )
