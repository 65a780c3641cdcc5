"""The profile of E: how well the rows are fitted at every irreducible loss, and what follows.

An E is allowed at a level if its best fit is not much worse than the best of all:
RSS(E) <= RSS_min (1 + t^2 / (n - p)), with Student's t at the level (Bates and Watts 1988, chapter
6). For Huber's loss the same with its objective, in units of its own variance (the likelihood-ratio
type test of Hampel et al. 1986, chapter 7), which for squares is that rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.stats import t

from delphi_core.fits.interval import Interval

if TYPE_CHECKING:
    import numpy.typing as npt

    from delphi_core.fits.law_models import LawModel
    from delphi_core.fits.projection import PowerSums

    Array = npt.NDArray[np.float64]

# E as a share of the least loss that counts.
_COARSE = np.concatenate([np.linspace(0.0, 0.96, 25), [0.975, 0.985, 0.992, 0.997]])
_FINE = 16


@dataclass(frozen=True, eq=False)
class Profile:
    """How well every E fits.

    Attributes
    ----------
    asymptotes : array
        E, in the metric's unit, from zero up.
    excess : array
        (O(E) - O_min) / unit, where the objective's unit makes it t^2 at the ends of an interval.
    sums : PowerSums
        The best fit at each E.
    interval
        Of E, at the level.
    allowed : PowerSums
        The fits within the interval, its ends included.
    allowed_excess : array
        Their excess.
    """

    asymptotes: Array
    excess: Array
    sums: PowerSums
    interval: Interval
    allowed: PowerSums
    allowed_excess: Array


def row_variance(model: LawModel, best: PowerSums, freedom: int) -> tuple[float, float]:
    """Variance of one row, and what of it the objective's curvature leaves.

    Squares: s^2 = sum r^2 / (n - p), and 1. Huber: K^2 sum psi^2 / (n - p) over the square of the
    mean m of psi', and that mean; K = 1 + p (1 - m) / (n m), since few rows lie inside delta and a
    fit draws some of them there (Huber 1981, section 7.6).
    """
    residuals, weights = best.residuals[0], model.row_weights
    if model.delta is None:
        variance, inside = float(np.sum(weights * residuals**2)) / freedom, 1.0
    else:
        psi = np.clip(residuals, -model.delta, model.delta)
        inside = float(np.average(np.abs(residuals) <= model.delta, weights=weights))
        inside = max(inside, 1 / len(residuals))
        number = len(residuals)
        correction = 1 + (number - freedom) / number * (1 - inside) / inside
        variance = correction**2 * float(np.sum(weights * psi**2)) / freedom / inside**2
    # Rows without noise leave rounding only.
    return max(variance, 1e-24), inside


def profile_of_asymptote(model: LawModel, best: PowerSums, *, level: float) -> Profile:
    """Profile of E of one fit.

    Parameters
    ----------
    model, best
        Rows, and their fit with E free.
    level
        0.5..0.99.
    """
    freedom = len(model.values) - model.parameters
    least = float(model.values.min())
    own = float(best.asymptote[0])
    variance, inside = row_variance(model, best, freedom)
    unit = variance * inside / 2
    bound = float(t.ppf(0.5 + level / 2, freedom) ** 2)

    def fits(asymptotes: Array) -> tuple[Array, PowerSums]:
        number = len(asymptotes)
        counts = np.ones((number, len(model.values)))
        sums = model.fit(counts, asymptote=asymptotes, start=best.repeated(number))
        worse = np.maximum(sums.objective - best.objective[0], 0.0)
        return worse / unit, sums

    places = np.unique(np.append(_COARSE * least, own))
    excess, sums = fits(places)
    ends = []
    for side in (-1, 1):
        outer = places[(side * (places - own) > 0) & (excess > bound)]
        if not len(outer):
            ends.append(0.0 if side < 0 else float(places[-1]))
            continue
        outside = float(outer[np.abs(outer - own).argmin()])
        between = np.linspace(own, outside, _FINE)
        worse, _ = fits(between)
        ends.append(_crossing(between, np.sqrt(worse), np.sqrt(bound)))
    margin = 0.75 * (ends[1] - ends[0])
    closer = np.linspace(max(0.0, ends[0] - margin), min(places[-1], ends[1] + margin), 2 * _FINE)
    more = np.append(closer, ends)
    more_excess, more_sums = fits(more)
    places, excess = np.append(places, more), np.append(excess, more_excess)
    sums = sums.joined(more_sums)
    order = np.argsort(places, kind="stable")
    sums, places, excess = sums.at(order), places[order], excess[order]
    allowed = (places >= ends[0]) & (places <= ends[1])
    interval = Interval(level, "profile", ends[0], ends[1])
    return Profile(places, excess, sums, interval, sums.at(allowed), excess[allowed])


def _crossing(places: Array, heights: Array, wanted: float) -> float:
    """Where a rising curve through the heights reaches what is wanted."""
    rising = np.maximum.accumulate(heights)
    keep = np.concatenate([[True], np.diff(rising) > 0])
    inverse = PchipInterpolator(rising[keep], places[keep])
    return float(inverse(np.clip(wanted, rising[0], rising[-1])))
