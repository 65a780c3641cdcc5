"""Least Huber loss of sums of power laws by Newton's method, many fits at once.

Huber's delta of 1e-3 leaves few rows inside it, so methods of first order are slow and stop
early; with exact second derivatives a dozen steps reach the minimum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

_MOST_STEPS = 500
_SMALLEST_STEP, _MOST_DAMPING = 1e-11, 1e12
SMALLEST_LOG = -700.0
"""What stands for the logarithm of zero."""
ROUNDING = 1e-13
"""Objectives that differ by a smaller share may be the same: steps are taken, yet held shorter."""


@dataclass
class HuberRows:
    """Problems that share x, and what is minimised.

    Attributes
    ----------
    x : array, rows x terms
        Natural logarithms of x_j, centred.
    observed : array, problems x rows
        L, or ln L where the link is log.
    weights : array, problems x rows
    free : array of bool, problems x (2 terms + 1)
        Which of ln A_j, ln E and alpha_j are fitted.
    delta
        Where the loss goes over from squares to absolute values.
    link
        Whether residuals are of L (linear) or of ln L (log).
    bounds
        Of the exponents.
    """

    x: Array
    observed: Array
    weights: Array
    free: npt.NDArray[np.bool_]
    delta: float
    link: Literal["linear", "log"]
    bounds: tuple[float, float]

    def part(self, places: npt.NDArray[np.intp]) -> HuberRows:
        """Some of the problems."""
        return HuberRows(
            self.x,
            self.observed[places],
            self.weights[places],
            self.free[places],
            self.delta,
            self.link,
            self.bounds,
        )

    def residuals(self, theta: Array) -> tuple[Array, Array]:
        """Fit less observed: problems x rows; and terms (with log: shares), problems x ... x rows.

        Rows come last: numpy is slow along a last axis of two or three.
        """
        number = self.x.shape[1]
        logs = np.repeat(theta[:, : number + 1, None], len(self.x), axis=2)
        logs[:, :number] -= theta[:, number + 1 :, None] * self.x.T
        if self.link == "linear":
            terms = np.exp(logs)
            return terms.sum(axis=1) - self.observed, terms
        largest = logs.max(axis=1, keepdims=True)
        powers = np.exp(logs - largest)
        total = powers.sum(axis=1, keepdims=True)
        return (largest + np.log(total))[:, 0] - self.observed, powers / total

    def objective(self, residuals: Array) -> Array:
        """Sum of weighted Huber losses."""
        size = np.abs(residuals)
        loss = np.where(size <= self.delta, size**2 / 2, self.delta * (size - self.delta / 2))
        return np.asarray(np.sum(self.weights * loss, axis=1))


def least_huber(rows: HuberRows, theta: Array) -> tuple[Array, Array]:
    """Parameters ln A_j, ln E, alpha_j of the least Huber loss, from a start.

    Parameters
    ----------
    rows
        The problems.
    theta : array, problems x (2 terms + 1)
        Where to start.

    Returns
    -------
    theta : array, problems x (2 terms + 1)
    objective : array, problems
    """
    theta = theta.copy()
    number = rows.x.shape[1]
    residuals, terms = rows.residuals(theta)
    found = (theta, rows.objective(residuals), *_quadratic(rows, residuals, terms))
    damping = np.full(len(theta), 1e-4)
    moving = np.arange(len(theta))
    for _ in range(_MOST_STEPS):
        if not len(moving):
            break
        now = rows.part(moving)
        before, objective, values, vectors, along = (part[moving] for part in found)
        after = before + now.free * _step(values, vectors, along, damping[moving])
        after[:, number + 1 :] = np.clip(after[:, number + 1 :], *rows.bounds)
        after[:, : number + 1] = np.maximum(after[:, : number + 1], SMALLEST_LOG)
        residuals, terms = now.residuals(after)
        reached = now.objective(residuals)
        lower = reached < objective
        better = np.flatnonzero(reached <= objective * (1 + ROUNDING))
        taken = _quadratic(now.part(better), residuals[better], terms[better])
        for part, new in zip(found, (after[better], reached[better], *taken), strict=True):
            part[moving[better]] = new
        looser = np.maximum(damping[moving] / 10, 1e-14)
        damping[moving] = np.where(lower, looser, damping[moving] * 10)
        small = np.abs(after - before).max(axis=1) < _SMALLEST_STEP
        moving = moving[~(small | (damping[moving] > _MOST_DAMPING))]
    return theta, found[1]


def _quadratic(rows: HuberRows, residuals: Array, terms: Array) -> tuple[Array, Array, Array]:
    """Second derivatives as eigenvalues and eigenvectors, and the gradient along these."""
    number = rows.x.shape[1]
    # d fit: the term itself for ln A_j and ln E, minus term times x for the exponents.
    slopes = np.concatenate([terms, -terms[:, :number] * rows.x.T], axis=1)
    psi = rows.weights * np.clip(residuals, -rows.delta, rows.delta)
    curvature = rows.weights * (np.abs(residuals) <= rows.delta)
    if rows.link == "log":
        curvature = curvature - psi
    gradient = (slopes @ psi[..., None])[..., 0]
    hessian = (curvature[:, None] * slopes) @ np.swapaxes(slopes, 1, 2)
    for term in range(number + 1):
        own = psi * terms[:, term]
        hessian[:, term, term] += own.sum(axis=1)
        if term < number:
            exponent = number + 1 + term
            line = own @ rows.x[:, term]
            hessian[:, term, exponent] -= line
            hessian[:, exponent, term] -= line
            hessian[:, exponent, exponent] += own @ rows.x[:, term] ** 2
    gradient = gradient * rows.free
    hessian = hessian * rows.free[:, :, None] * rows.free[:, None, :]
    values, vectors = np.linalg.eigh(hessian)
    along = (np.swapaxes(vectors, 1, 2) @ gradient[..., None])[..., 0]
    return values, vectors, along


def _step(values: Array, vectors: Array, along: Array, damping: Array) -> Array:
    """Damped Newton step; directions of negative curvature are turned over."""
    largest = np.abs(values).max(axis=1, keepdims=True) + 1e-300
    scale = np.maximum(np.abs(values), 1e-12 * largest) + damping[:, None] * largest
    step = -(vectors @ (along / scale)[..., None])[..., 0]
    longest = np.abs(step).max(axis=1, keepdims=True)
    return np.asarray(step / np.maximum(longest, 1.0))
