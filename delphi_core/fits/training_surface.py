"""The loss surface along training: one smooth law of size, tokens seen, decay and steps.

L = E + A N^-alpha + B (g D)^-beta - sum_j k_j r_j(g) + K / (g S) at fraction g of a plan of N
parameters, D tokens and S steps. That is the surface of Hoffmann et al. 2022 (arXiv 2203.15556) at
the tokens seen so far; less what the decay of the learning rate has brought, ramps r_j rising from
0 to 1 after 0, 40 and 80 % of training (k_j >= 0; what a decay brings depends on how far the rate
has come down, Tissue et al. 2024, arXiv 2408.11029); plus a start that takes steps rather than
tokens, of which a small rung has taken few by any fraction and a large run has not. It falls with g
whatever the coefficients.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import least_squares

from delphi_core.errors import FitError
from delphi_core.fits.forecast_line import FittedLine

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from delphi_core.fits.trajectory import Plan, Trajectory

    Array = npt.NDArray[np.float64]


# ln A, alpha, ln B, beta and K of the surface along training, at N0, D0 and S0 below.
_START = np.array([-0.7, 0.2, -0.7, 0.3, 0.05])
_LEAST = np.array([-8.0, 0.02, -8.0, 0.02, 0.0])
_MOST = np.array([3.0, 1.0, 3.0, 1.0, 1.0])
_STEPS = 1e3
# Where decay may set in: linear decays from the start, others late. Chosen by backtests among four
# sets of places (mean error 0.352 % with this one, 0.361 to 0.392 % with the others).
_KNOTS = np.array([0.0, 0.4, 0.8])
# Over which a decay sets in. An edge there is a kink of the forecast, over 5 % of training twice
# the noise of the rungs' evaluations; over this it is less than that noise, and backtests of the
# hero's rungs score the same.
_BEND = 0.03
# Rungs keep tokens per parameter, so only what the fraction does tells the two exponents apart: a
# difference of 0.1 counts as much as one evaluation that is off by the noise, 0.3 % of the loss. It
# was taken by backtests of the hero's rungs in 17 metrics with an earlier form of the decay. With
# this one 0.2, 0.1, 0.05 and 0.02 have mean errors of 0.362, 0.352, 0.349 and 0.354 %, and without
# any it is 0.433 %: what matters is that there is one.
_NOISE, _ALIKE = 3e-3, 0.1


def _decayed(g: Array) -> Array:
    """What decay from each place has brought by fraction g, of all it brings: 0 to 1."""

    def ramps(at: Array) -> Array:
        past = at[:, None] - _KNOTS
        return np.asarray(np.where(_KNOTS > 0, _BEND * np.logaddexp(0, past / _BEND), past))

    start, end = ramps(np.array([0.0, 1.0]))
    return np.asarray((ramps(g) - start) / (end - start))


def fit_training_surface(rungs: Sequence[Trajectory], asymptote: float | None) -> FittedLine:
    """Least squares of ln L over all evaluations.

    Parameters
    ----------
    rungs
        With evaluations; at least two.
    asymptote
        E where it is pinned; None to fit it as one more parameter.

    Raises
    ------
    FitError
        A rung has no planned size.
    """
    for rung in rungs:
        if not rung.plan.params > 0:
            raise FitError(f"run {rung.plan.run} has no planned size; the surface needs it.")
    # ln N and ln D of their geometric means, so that A and B are of the losses' size.
    centers = np.mean([[np.log(rung.plan.params), np.log(rung.plan.tokens)] for rung in rungs], 0)
    terms = [_terms(rung.plan, rung.fractions, centers) for rung in rungs]
    log_n, log_d, steps, decay = (np.concatenate(part) for part in zip(*terms, strict=True))
    values = np.concatenate([rung.values for rung in rungs])
    alike = np.zeros(len(_START) + len(_KNOTS) + (asymptote is None))
    alike[[1, 3]] = _NOISE / _ALIKE, -_NOISE / _ALIKE

    def parts(theta: Array) -> tuple[Array, Array, Array]:
        level = float(theta[-1]) if asymptote is None else asymptote
        size, seen = np.exp(theta[0] - theta[1] * log_n), np.exp(theta[2] - theta[3] * log_d)
        brought = decay @ theta[5 : 5 + len(_KNOTS)]
        return size, seen, np.maximum(level + size + seen + theta[4] * steps - brought, 1e-6)

    def residuals(theta: Array) -> Array:
        return np.append(np.log(parts(theta)[2] / values), alike @ theta)

    def jacobian(theta: Array) -> Array:
        size, seen, fitted = parts(theta)
        columns = [size, -log_n * size, seen, -log_d * seen, steps, *(-decay.T)]
        if asymptote is None:
            columns.append(np.ones_like(fitted))
        return np.vstack([np.column_stack(columns) / fitted[:, None], alike])

    least = float(values.min())
    found = []
    for share in (None,) if asymptote is not None else (0.35, 0.6, 0.8):
        start = np.append(_START, np.full(len(_KNOTS), 0.05))
        low, high = np.append(_LEAST, np.zeros(len(_KNOTS))), np.append(_MOST, np.ones(len(_KNOTS)))
        if share is not None:
            start = np.append(start, share * least)
            low, high = np.append(low, 0.0), np.append(high, 0.97 * least)
        tight = {"xtol": 1e-12, "ftol": 1e-12, "gtol": 1e-12, "max_nfev": 2000}
        found.append(
            least_squares(residuals, start, jacobian, bounds=(low, high), x_scale="jac", **tight)
        )
    theta = min(found, key=lambda fit: float(fit.cost)).x
    level = float(theta[-1]) if asymptote is None else asymptote

    def predict(plan: Plan, fractions: Array) -> Array:
        log_n, log_d, steps, decay = _terms(plan, fractions, centers)
        powers = np.exp(theta[0] - theta[1] * log_n) + np.exp(theta[2] - theta[3] * log_d)
        brought = decay @ theta[5 : 5 + len(_KNOTS)]
        return np.asarray(level + powers + theta[4] * steps - brought)

    return FittedLine(predict, level)


def _terms(plan: Plan, fractions: Array, centers: Array) -> tuple[Array, Array, Array, Array]:
    """Centred ln N and ln of the tokens seen, 1000 over the steps taken, and decay since a knot."""
    log_n = np.full(len(fractions), np.log(plan.params) - centers[0])
    log_d = np.log(fractions * plan.tokens) - centers[1]
    # Without planned steps the start cannot be told from the rest.
    steps = _STEPS / (fractions * plan.steps) if plan.steps > 0 else np.zeros(len(fractions))
    return log_n, log_d, steps, _decayed(fractions)
