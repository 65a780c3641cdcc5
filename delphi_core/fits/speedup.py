"""Effective compute speed-up of one recipe over another: what the other needs for the same loss.

At compute C the recipe reaches L_B(C); the base needs C_A for that loss, and the speed-up is
C_A / C. It is above 1 where the recipe is ahead, and the recipe needs its reciprocal of the base's
compute. With the base's law L_A = E + A C^-alpha that is ((L_A(C) - E) / (L_B(C) - E))^(1/alpha),
constant in C where the recipes share E and alpha. At or below the base's E no compute is enough:
the speed-up is open, written as infinite.

The interval pairs laws of resampled rows of the one ladder with laws of resampled rows of the
other, drawn apart, and takes percentiles. Where a band is not made of resampled rows, the two
intervals of ln C_A, each with the other law held at its best, are added in quadrature (the square-
and-add rule of Zou and Donner 2008).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from delphi_core.fits.interval import METHOD_WORDS
from delphi_core.fits.law_models import Laws
from delphi_core.fits.needed import log_needed

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from delphi_core.fits.bands import Band
    from delphi_core.fits.loss_law import LossLaw
    from delphi_core.fits.optima import Optima
    from delphi_core.fits.projection import PowerSums

    Array = npt.NDArray[np.float64]

RESAMPLED = ("stratified bootstrap", "residual bootstrap")
"""Bands whose members are laws of resampled rows."""
SAME_ROWS = "same rows"
"""Method where a law is held against itself."""


@dataclass(frozen=True, eq=False)
class SpeedUp:
    """Speed-up of a recipe over a base at some compute.

    Attributes
    ----------
    flops, losses : array
        C of the recipe (FLOP), and the loss it reaches there, in the metric's unit.
    value, low, high : array
        C that the base needs for that loss over C, and its interval; infinite where the base's law
        never gets there, not a number where the interval's end is not known.
    base_flops : array
        C that the base needs, FLOP.
    beyond : array
        How far outside the fitted budgets this is: the larger of C over the recipe's largest and
        what the base needs over its largest; at most 1 is inside.
    level, method
        Of the interval, the method in words; none where a law has no band.
    at
        law: at the recipe's law; optima: at the measured optima of its budgets.
    """

    flops: Array
    losses: Array
    value: Array
    low: Array
    high: Array
    base_flops: Array
    beyond: Array
    level: float
    method: str
    at: Literal["law", "optima"]

    @property
    def share(self) -> Array:
        """Share of the base's compute that the recipe needs for the same loss: 1 / value."""
        with np.errstate(divide="ignore"):
            return np.asarray(1 / self.value)

    @property
    def decided(self) -> npt.NDArray[np.bool_]:
        """Where the interval leaves no doubt which of the two is ahead."""
        return np.asarray((self.low > 1) | (self.high < 1))

    def describe(self) -> str:
        """One sentence: what the numbers are and how the interval was got."""
        where = "its law" if self.at == "law" else "the optimum of each of its budgets"
        sentence = (
            "Speed-up: the compute that the base's law needs for the loss the recipe has by "
            f"{where}, over the recipe's own"
        )
        if self.method == "none":
            return f"{sentence}; no interval, as a law has no band."
        if self.method == SAME_ROWS:
            return f"{sentence}; both laws are of the same rows, so nothing is in doubt."
        return f"{sentence}; {100 * self.level:g} % interval by {self.method}."


def speed_up(base: LossLaw, recipe: LossLaw, flops: npt.ArrayLike, *, seed: int = 0) -> SpeedUp:
    """Effective compute speed-up of a recipe's law over a base's, with its interval.

    Parameters
    ----------
    base, recipe
        Fitted laws of the same metric; whether they may be compared is not for this to say
        (`comparable.comparison`).
    flops
        C of the recipe, FLOP; any number of them.
    seed
        How sets of rows of the two are paired.

    Returns
    -------
    SpeedUp
        Level and method as the laws' bands have them. A law against itself is 1 without an
        interval: its rows are the same rows. Sets of rows of two ladders are paired at random, so
        that draws which budgets of equal compute share do not make them look alike.
    """
    compute = np.atleast_1d(np.asarray(flops, dtype=np.float64))
    best = recipe.model.laws(recipe.band.best).predict(compute)

    def losses(sums: PowerSums) -> Array:
        return recipe.model.laws(sums).predict(compute)

    members = None if recipe.band.method not in RESAMPLED else losses(recipe.band.members)
    side = _Side(best, recipe.band, members, losses)
    return _compared(base, side, compute, recipe.largest_flops, seed=seed, own=base is recipe)


def speed_up_at_optima(base: LossLaw, recipe: LossLaw, optima: Optima, *, seed: int = 0) -> SpeedUp:
    """Speed-up at the measured optima of a recipe's budgets: its own law plays no part.

    Parameters
    ----------
    base
        The law to invert.
    recipe
        Whose settings say how rows are resampled.
    optima
        Of the recipe. Published ones and single runs have no rows to resample: the interval is
        that of the base's law alone, and says so.
    seed
        How sets of rows of the two are paired.
    """
    members = None
    settings = recipe.settings
    if optima.isoflop is not None:
        kind = settings.band if settings.band in RESAMPLED else "residual bootstrap"
        members = optima.replicates(kind, settings.replicates, settings.seed)
    side = _Side(optima.losses[None, :], None, members, None)
    return _compared(base, side, optima.flops, float(optima.flops.max()), seed=seed)


@dataclass(frozen=True, eq=False)
class _Side:
    """What the recipe has to say of its loss at some places.

    Attributes
    ----------
    losses : array, 1 x places
        By its best law or at its optima.
    band
        Of its law; None at optima.
    members : array, sets of rows x places
        The same by resampled rows; None without.
    of
        Losses by its law, for fits.
    """

    losses: Array
    band: Band | None
    members: Array | None
    of: Callable[[PowerSums], Array] | None


def _compared(
    base: LossLaw,
    side: _Side,
    compute: Array,
    largest: float,
    *,
    seed: int,
    own: bool = False,
) -> SpeedUp:
    best = base.model.laws(base.band.best)
    center = log_needed(best, side.losses)[0]
    # What fits at the edge of sense say of far compute may be infinite or nothing.
    with np.errstate(invalid="ignore", over="ignore"):
        if own:
            (low, high), method = (center, center), SAME_ROWS
        else:
            low, high, method = _ends(base, side, center, seed)
        log_flops = np.log(compute)
        value, low, high = (np.exp(logs - log_flops) for logs in (center, low, high))
    return SpeedUp(
        flops=compute,
        losses=side.losses[0],
        value=value,
        low=low,
        high=high,
        base_flops=value * compute,
        beyond=np.maximum(compute / largest, value * compute / base.largest_flops),
        level=base.band.level,
        method=method,
        at="law" if side.of is not None else "optima",
    )


def _ends(base: LossLaw, side: _Side, center: Array, seed: int) -> tuple[Array, Array, str]:
    """Ends of the interval of ln C_A, and how they were got."""
    level = base.band.level
    if base.band.method == "none" or (side.band is not None and side.band.method == "none"):
        return np.full_like(center, np.nan), np.full_like(center, np.nan), "none"
    if base.band.method in RESAMPLED and side.members is not None:
        laws = base.model.laws(base.band.members)
        draws = np.random.default_rng(seed)
        number = max(len(laws.asymptote), len(side.members))
        rows, others = (
            np.resize(draws.permutation(length), number)
            for length in (len(laws.asymptote), len(side.members))
        )
        needed = log_needed(Laws(*(part[rows] for part in laws)), side.members[others])
        low, high = _percentiles(needed, side.members[others], level)
        low, high = np.minimum(low, center), np.maximum(high, center)
        way = METHOD_WORDS[base.band.method]
        return low, high, f"{way}, {number:,} sets of rows of each ladder, paired at random"
    best = base.model.laws(base.band.best)
    low, high = base.band.ends(lambda sums: log_needed(base.model.laws(sums), side.losses))
    ways = [METHOD_WORDS[base.band.method]]
    if side.band is not None and side.of is not None:
        of = side.of
        own_low, own_high = side.band.ends(lambda sums: log_needed(best, of(sums)))
        ways.append(METHOD_WORDS[side.band.method])
    elif side.members is not None:
        own_low, own_high = _percentiles(log_needed(best, side.members), side.members, level)
        ways.append("resampled rows of the optima")
    else:
        return low, high, f"{ways[0]} of the base's law alone; the noise of the optima is not in it"
    off_low = np.hypot(center - low, np.maximum(center - own_low, 0.0))
    off_high = np.hypot(high - center, np.maximum(own_high - center, 0.0))
    words = " and ".join(dict.fromkeys(ways))
    return center - off_low, center + off_high, f"{words}, of each ladder, added in quadrature"


def _percentiles(logs: Array, losses: Array, level: float) -> tuple[Array, Array]:
    """Percentiles of ln C_A over sets of rows; a set that gives a budget no optimum is left out."""
    low, high = [], []
    for column, unknown in zip(logs.T, np.isnan(losses.T), strict=True):
        known = column[~unknown] if not unknown.all() else np.array([np.nan])
        # Not interpolated: between infinite ones there is nothing.
        low.append(float(np.quantile(known, (1 - level) / 2, method="lower")))
        high.append(float(np.quantile(known, (1 + level) / 2, method="higher")))
    return np.array(low), np.array(high)
