"""Approach 3: the loss surface by Huber's loss on ln L, many fits at once.

Minimises sum_i w_i Huber(LSE(a - alpha ln N_i, b - beta ln D_i, e) - ln L_i) with A = exp a,
B = exp b, E = exp e (Hoffmann et al. 2022, arXiv 2203.15556, section 3.3 and appendix D.3).
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from delphi_core.fits.law_models import HUBER_DELTA
from delphi_core.fits.newton import SMALLEST_LOG, HuberRows, least_huber
from delphi_core.fits.projection import EXPONENTS, PowerSums, fit_power_sums, huber_parameters

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

# Starting exponents; with E from non-negative least squares and half the least loss: 32 starts.
_STARTS = np.array(list(product((0.15, 0.3, 0.5, 0.8), repeat=2)))


def fit_approach3(
    log_x: Array,
    values: Array,
    weights: Array,
    *,
    asymptote: Array | None = None,
    start: PowerSums | None = None,
) -> PowerSums:
    """Least Huber loss of ln L over E, A, B and the exponents.

    Parameters
    ----------
    log_x : array, rows x 2
        ln N and ln D, each less its mean.
    values : array, problems x rows
        L of each row, positive.
    weights : array, problems x rows
        Not negative; a row with weight 0 does not count.
    asymptote : array, problems
        E where it is pinned, zero allowed; None to fit it.
    start
        Where to start; None for the best of 32 starts.

    Returns
    -------
    PowerSums
        Its objective is the sum of w times Huber's loss, its residuals are those of ln L.
    """
    problems = len(values)
    free = np.ones((problems, 5), dtype=bool)
    free[:, 2] = asymptote is None
    rows = HuberRows(log_x, np.log(values), weights, free, HUBER_DELTA, "log", EXPONENTS)
    if start is not None:
        found = least_huber(rows, huber_parameters(start, asymptote))
        return _sums(rows, asymptote, *found)
    starts = [_starts(log_x, values[i], weights[i], asymptote, i) for i in range(problems)]
    number = len(starts[0])
    every = rows.part(np.repeat(np.arange(problems), number))
    theta, objective = least_huber(every, np.vstack(starts))
    best = objective.reshape(problems, number).argmin(axis=1) + number * np.arange(problems)
    theta, objective = theta[best], objective[best]
    if asymptote is not None:
        return _sums(rows, asymptote, theta, objective)
    # E = exp(e) comes near zero without reaching it, so zero itself is tried too.
    none = theta.copy()
    none[:, 2] = SMALLEST_LOG
    rows.free = free & (np.arange(5) != 2)
    none, less = least_huber(rows, none)
    at_zero = less <= objective
    sums = _sums(rows, None, np.where(at_zero[:, None], none, theta), np.minimum(less, objective))
    sums.asymptote[at_zero] = 0.0
    return sums


def _starts(
    log_x: Array, values: Array, weights: Array, asymptote: Array | None, problem: int
) -> Array:
    """Starting parameters of one problem: linear fits at given exponents."""
    number = len(_STARTS)
    levels: list[Array | None] = [None, np.full(number, 0.5 * values[weights > 0].min())]
    if asymptote is not None:
        levels = [np.full(number, asymptote[problem])] * 2
    found = []
    for level in levels:
        sums = fit_power_sums(
            log_x,
            np.tile(values, (number, 1)),
            np.tile(weights, (number, 1)),
            asymptote=level,
            start=_STARTS,
            most_steps=0,
        )
        found.append(huber_parameters(sums, level))
    return np.vstack(found)


def _sums(
    rows: HuberRows,
    asymptote: Array | None,
    theta: Array,
    objective: Array,
) -> PowerSums:
    powers = np.exp(theta[:, :3])
    level = powers[:, 2] if asymptote is None else asymptote
    residuals = -rows.residuals(theta)[0]
    return PowerSums(level, powers[:, :2], theta[:, 3:], objective, residuals)
