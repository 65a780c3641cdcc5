"""How much compute laws need for a loss: the laws L = E + A C^-alpha turned round."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq

if TYPE_CHECKING:
    import numpy.typing as npt

    from delphi_core.fits.law_models import Laws
    from delphi_core.fits.loss_law import LossLaw

    Array = npt.NDArray[np.float64]

_PLACES = 400


def log_needed(laws: Laws, losses: Array) -> Array:
    """Natural logarithm of the compute (FLOP) at which laws reach losses.

    Parameters
    ----------
    laws
        One a row.
    losses : array, laws x places or 1 x places
        In the metric's unit.

    Returns
    -------
    array, laws x places
        Infinite where a loss lies at or below a law's E.
    """
    gap = losses - laws.asymptote[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = (laws.log_coefficient[:, None] - np.log(np.maximum(gap, 0.0))) / laws.exponent[
            :, None
        ]
    return np.where((gap > 0) & ~np.isnan(logs), logs, np.inf)


def speed_up_of_laws(base: Laws, recipe: Laws, flops: npt.ArrayLike) -> Array:
    """Speed-up of laws without bands, such as published ones: laws x flops.

    Parameters
    ----------
    base, recipe
        As many of the one as of the other, or one.
    flops
        C of the recipe, FLOP.
    """
    compute = np.atleast_1d(np.asarray(flops, dtype=np.float64))
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(log_needed(base, recipe.predict(compute)) - np.log(compute)))


def crossings(base: LossLaw, recipe: LossLaw, low: float, high: float) -> tuple[float, ...]:
    """Compute between `low` and `high` (FLOP) at which both laws have the same loss, ascending."""

    def difference(log_flops: npt.ArrayLike) -> Array:
        places = np.exp(np.atleast_1d(np.asarray(log_flops, dtype=np.float64)))
        own = [law.model.laws(law.band.best).predict(places)[0] for law in (base, recipe)]
        return np.asarray(own[0] - own[1])

    places = np.linspace(np.log(low), np.log(high), _PLACES)
    signs = np.sign(difference(places))
    turns = np.flatnonzero(signs[:-1] * signs[1:] < 0)
    found = [
        brentq(lambda log: float(difference(log)[0]), places[turn], places[turn + 1])
        for turn in turns
    ]
    return tuple(float(np.exp(log)) for log in found)
