"""How far a loss law can be trusted at any compute: five kinds of band around it.

Each band is a set of fits: those a profile of E allows, those to resampled rows or to all budgets
but one, or those a small step away in each parameter. So every band is defined at every compute
and for every coefficient, and a surface's is made like that of a law fitted to optima.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.stats import t

from delphi_core.fits.interval import Interval
from delphi_core.fits.profile import profile_of_asymptote, row_variance

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from delphi_core.fits.law_models import LawModel
    from delphi_core.fits.profile import Profile
    from delphi_core.fits.projection import PowerSums

    Array = npt.NDArray[np.float64]

BandKind = Literal["profile", "delta", "jackknife", "stratified bootstrap", "residual bootstrap"]
BANDS: tuple[BandKind, ...] = (
    "profile",
    "delta",
    "jackknife",
    "stratified bootstrap",
    "residual bootstrap",
)
_STEP = 1e-5


@dataclass(frozen=True, eq=False)
class Band:
    """A band around a fit.

    Attributes
    ----------
    method
        How it was got; none where no degree of freedom is left.
    level
        Share of such bands that are meant to hold the truth at any one place, 0..1.
    best
        The fit itself.
    members
        The fits that make it up.
    quantile
        Student's t at the level, for the bands that multiply by it.
    moved
        Members a step up, then a step down, in each parameter; for delta (in E too, unless it is
        pinned) and profile (not in E).
    covariance : array, members x parameters x parameters
        Of those parameters at each member.
    excess : array, members
        How much worse each member fits than the best, where t^2 is the end of an interval; for
        profile only.
    replicates, failed
        How many sets of rows were drawn, and how many gave no fit.
    profile
        That of E, where it is what the band was made from.
    """

    method: BandKind | Literal["none"]
    level: float
    best: PowerSums
    members: PowerSums
    quantile: float = 0.0
    moved: PowerSums | None = None
    covariance: Array | None = None
    excess: Array | float = 0.0
    replicates: int = 0
    failed: int = 0
    profile: Profile | None = None

    def ends(self, of: Callable[[PowerSums], Array]) -> tuple[Array, Array]:
        """Low and high of something that fits say.

        Parameters
        ----------
        of
            Numbers of each fit: fits to fits x numbers.
        """
        value = of(self.best)[0]
        if self.method == "none":
            return np.full_like(value, -np.inf), np.full_like(value, np.inf)
        members = of(self.members)
        if self.moved is not None and self.covariance is not None:
            # What is left of t^2 at each member, for the parameters that it leaves open.
            left = np.sqrt(np.maximum(self.quantile**2 - self.excess, 0.0))
            up, down = of(self.moved).reshape(2, -1, *members.shape)
            slopes = (up - down) / (2 * _STEP)
            spread = np.sqrt(np.einsum("imk,mij,jmk->mk", slopes, self.covariance, slopes))
            off = np.reshape(left, (-1, 1)) * spread
            return np.asarray((members - off).min(axis=0)), np.asarray((members + off).max(axis=0))
        if self.method == "jackknife":
            number = len(members)
            off = members - members.mean(axis=0)
            spread = np.sqrt((number - 1) / number * np.sum(off**2, axis=0))
        else:
            tails = [(1 - self.level) / 2, (1 + self.level) / 2]
            low, high = np.quantile(members, tails, axis=0)
            return np.minimum(low, value), np.maximum(high, value)
        return value - self.quantile * spread, value + self.quantile * spread

    def interval(self, of: Callable[[PowerSums], Array]) -> Interval:
        """Interval of one number that a fit says: fits to one number a fit."""
        low, high = self.ends(lambda sums: of(sums)[:, None])
        return Interval(
            self.level, self.method, float(low[0]), float(high[0]), self.replicates, self.failed
        )


def band_of(
    model: LawModel,
    best: PowerSums,
    kind: BandKind,
    *,
    level: float,
    pinned: bool = False,
    replicates: int = 1000,
    seed: int = 0,
) -> Band:
    """The band of a fit.

    Parameters
    ----------
    model, best
        Rows, and their fit.
    kind
        profile: all E that the rows allow, each with its own best law, and the envelope of what
        they say, give or take what the other parameters leave open at that E: the delta method
        with what its own misfit leaves of t^2 (Bates and Watts 1988, chapter 6). The delta method
        where E is pinned.
        delta: propagated covariance of the parameters, at Student's t.
        jackknife: leave-one-budget-out (Quenouille 1956), at Student's t for the budgets.
        stratified bootstrap: rows resampled within budgets. residual bootstrap: residuals
        resampled.
    level
        0.5..0.99.
    pinned
        Whether E is pinned.
    replicates, seed
        How many sets of rows are resampled, and how they are drawn.
    """
    freedom = len(model.values) - model.parameters + pinned
    if freedom < 1 or not np.isfinite(model.laws(best).log_coefficient).all():
        return Band("none", level, best, best)
    if kind == "profile" and not pinned:
        found = profile_of_asymptote(model, best, level=level)
        known = ~np.isnan(model.laws(found.allowed).log_coefficient)
        band = Band("profile", level, best, found.allowed.at(known), profile=found)
        band = replace(band, excess=found.allowed_excess[known])
        return _with_covariance(band, model, freedom, pinned=True)
    if kind in ("profile", "delta"):
        band = Band("delta", level, best, best)
        return _with_covariance(band, model, freedom, pinned=pinned)
    values, quantile = None, 0.0
    if kind == "jackknife":
        budgets = np.unique(model.groups)
        weights = np.array([model.groups != budget for budget in budgets], dtype=np.float64)
        if weights.sum(axis=1).min() < model.parameters - pinned:
            return Band("none", level, best, best)
        quantile = float(t.ppf(0.5 + level / 2, len(budgets) - 1))
    else:
        weights, values = model.replicates(kind, replicates, seed, best, freedom)
        if len(weights) < 0.2 * replicates:
            failed = replicates - len(weights)
            return Band("none", level, best, best, replicates=replicates, failed=failed)
    asymptote = np.repeat(best.asymptote, len(weights)) if pinned else None
    start = best.repeated(len(weights))
    members = model.fit(weights, asymptote=asymptote, start=start, values=values)
    drawn = 0 if kind == "jackknife" else replicates
    band = _known(Band(kind, level, best, members, quantile, replicates=drawn), model)
    return replace(band, failed=max(0, drawn - len(band.members.asymptote)))


def _known(band: Band, model: LawModel) -> Band:
    """The band without members that have no law, such as a surface without a term."""
    known = ~np.isnan(model.laws(band.members).log_coefficient)
    return replace(band, members=band.members.at(known))


def _with_covariance(band: Band, model: LawModel, freedom: int, *, pinned: bool) -> Band:
    """The band with the covariance s^2 (J'WJ)^-1 at each member, and members a step away."""
    moved = _moved(band.members, pinned=pinned)
    up, down = model.fitted(moved).reshape(2, -1, len(band.members.asymptote), len(model.values))
    jacobian = (up - down) / (2 * _STEP)
    information = np.einsum("imn,n,jmn->mij", jacobian, model.row_weights, jacobian)
    variance, _ = row_variance(model, band.best, freedom)
    covariance = variance * np.linalg.pinv(information, rcond=1e-13, hermitian=True)
    quantile = float(t.ppf(0.5 + band.level / 2, freedom))
    return replace(band, moved=moved, covariance=np.asarray(covariance), quantile=quantile)


def _moved(sums: PowerSums, *, pinned: bool) -> PowerSums:
    """Fits a step up, then a step down, in E (unless pinned), ln A and alpha of each term.

    One after another: all fits moved up in the first parameter, in the second and so on, then
    down.
    """
    terms, number = sums.coefficients.shape[1], len(sums.asymptote)
    places = range(1 if pinned else 0, 1 + 2 * terms)
    steps = [(place, step) for step in (_STEP, -_STEP) for place in places]
    moved = sums.at(np.tile(np.arange(number), len(steps)))
    for block, (place, step) in enumerate(steps):
        rows = slice(block * number, (block + 1) * number)
        if place == 0:
            moved.asymptote[rows] += step
        elif place <= terms:
            moved.coefficients[rows, place - 1] *= np.exp(step)
        else:
            moved.exponents[rows, place - 1 - terms] += step
    return moved
