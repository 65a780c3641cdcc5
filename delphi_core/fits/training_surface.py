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
# sets of places (errors of 0.354 % with this one, 0.359 to 0.394 % with the others).
_KNOTS = np.array([0.0, 0.4, 0.8])
# Over which a decay sets in. An edge there is a kink of the forecast, over 5 % of training twice
# the noise of the rungs' evaluations; over this it is less than that noise, and backtests of the
# hero's rungs score the same.
_BEND = 0.03
# Rungs keep tokens per parameter, so only what the fraction does tells the two exponents apart: a
# difference of 0.1 counts as much as one evaluation that is off by the noise, 0.3 % of the loss. Of
# 0.2, 0.1, 0.05 and 0.02 this has the least error in backtests of the hero's rungs in 17 metrics
# (0.367 %; 0.434 % without).
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
    size = float(np.exp(np.mean([np.log(rung.plan.params) for rung in rungs])))
    tokens = float(np.exp(np.mean([np.log(rung.plan.tokens) for rung in rungs])))
    least = min(float(rung.values.min()) for rung in rungs)

    def loss(theta: Array, plan: Plan, g: Array, level: float) -> Array:
        a, alpha, b, beta, start = theta[:5]
        start = start if plan.steps > 0 else 0.0
        steps = plan.steps if plan.steps > 0 else 1.0
        return np.asarray(
            level
            + np.exp(a - alpha * np.log(plan.params / size))
            + np.exp(b - beta * np.log(g * plan.tokens / tokens))
            - _decayed(g) @ theta[5 : 5 + len(_KNOTS)]
            + start / (g * steps / _STEPS)
        )

    def residuals(theta: Array) -> Array:
        level = float(theta[-1]) if asymptote is None else asymptote
        fitted = [loss(theta, rung.plan, rung.fractions, level) for rung in rungs]
        parts = [
            np.log(np.maximum(fit, 1e-6)) - np.log(rung.values)
            for fit, rung in zip(fitted, rungs, strict=True)
        ]
        parts.append(np.array([_NOISE * (theta[1] - theta[3]) / _ALIKE]))
        return np.concatenate(parts)

    found_all = []
    for share in (None,) if asymptote is not None else (0.35, 0.6, 0.8):
        start = np.append(_START, np.full(len(_KNOTS), 0.05))
        low, high = np.append(_LEAST, np.zeros(len(_KNOTS))), np.append(_MOST, np.ones(len(_KNOTS)))
        if share is not None:
            start = np.append(start, share * least)
            low, high = np.append(low, 0.0), np.append(high, 0.97 * least)
        found = least_squares(
            residuals, start, bounds=(low, high), x_scale="jac", xtol=1e-12, ftol=1e-12, gtol=1e-12
        )
        found_all.append(found)
    best = min(found_all, key=lambda found: found.cost)
    theta = best.x
    level = float(theta[-1]) if asymptote is None else asymptote

    def predict(plan: Plan, fractions: Array) -> Array:
        return loss(theta, plan, fractions, level)

    return FittedLine(predict, level)
