"""Variable projection: sums of power laws with an asymptote, many fits at once.

L = E + sum_j A_j x_j^-alpha_j with E, A_j >= 0. For given exponents the rest is linear, so only
the exponents are searched (Golub and Pereyra 1973): a coarse grid, then Gauss-Newton on the
projected residual with Kaufman's (1975) Jacobian. One x is the loss law L*(C), two are the loss
surface L(N, D). Huber's loss is minimised by reweighting (IRLS) until nothing moves.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from delphi_core.fits.newton import ROUNDING, SMALLEST_LOG, HuberRows, least_huber
from delphi_core.fits.nonnegative import nonnegative_least_squares

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

EXPONENTS = (0.01, 2.0)
"""Least and greatest exponent that is searched."""
_GRID = {1: np.geomspace(*EXPONENTS, 40), 2: np.geomspace(*EXPONENTS, 12)}
# Damping above this ends a search.
_MOST_DAMPING = 1e10


class PowerSums(NamedTuple):
    """Fits of E + sum_j A_j x_j^-alpha_j, one a problem.

    Attributes
    ----------
    asymptote : array, problems
        E, in the values' unit.
    coefficients : array, problems x terms
        A_j of x_j over its geometric mean, in the values' unit.
    exponents : array, problems x terms
        alpha_j, dimensionless.
    objective : array, problems
        Sum of w r^2 / 2, or of w times Huber's loss.
    residuals : array, problems x rows
        L less the fit, or as the method has it in logarithms.
    """

    asymptote: Array
    coefficients: Array
    exponents: Array
    objective: Array
    residuals: Array

    def at(self, places: npt.NDArray[np.intp] | npt.NDArray[np.bool_]) -> PowerSums:
        """Some of the fits."""
        return PowerSums(*(part[places] for part in self))

    def repeated(self, number: int) -> PowerSums:
        """The same fits, each several times in a row, to start others from."""
        return PowerSums(*(np.repeat(part, number, axis=0) for part in self))

    def joined(self, others: PowerSums) -> PowerSums:
        """These fits, then others."""
        pairs = zip(self, others, strict=True)
        return PowerSums(*(np.concatenate(pair, axis=0) for pair in pairs))


@dataclass
class _Rows:
    """Problems that share their x: one row of `values`, `weights` and `asymptote` each."""

    x: Array
    values: Array
    weights: Array
    asymptote: Array | None
    delta: float | None

    def part(self, places: npt.NDArray[np.intp]) -> _Rows:
        pinned = None if self.asymptote is None else self.asymptote[places]
        return _Rows(self.x, self.values[places], self.weights[places], pinned, self.delta)

    def design(self, exponents: Array) -> Array:
        """What the linear coefficients multiply: 1 for E if it is free, then x^-alpha.

        problems x coefficients x rows: numpy is slow along a last axis of two or three.
        """
        powers = np.exp(-exponents[:, :, None] * self.x.T)
        if self.asymptote is not None:
            return powers
        return np.concatenate([np.ones_like(powers[:, :1]), powers], axis=1)

    def solve(self, exponents: Array, weights: Array) -> list[Array]:
        """What is known at given exponents, with the linear coefficients of the least squares."""
        design = self.design(exponents)
        linear = nonnegative_least_squares(np.swapaxes(design, 1, 2), self.above, weights)
        return self.found(exponents, linear, design)

    def found(self, exponents: Array, linear: Array, design: Array) -> list[Array]:
        """Exponents, linear coefficients, L less the fit, the objective and the design."""
        residuals = self.above - (linear[:, None] @ design)[:, 0]
        return [exponents, linear, residuals, self.objective(residuals), design]

    @property
    def above(self) -> Array:
        """L less E where that is pinned."""
        return self.values if self.asymptote is None else self.values - self.asymptote[:, None]

    def objective(self, residuals: Array) -> Array:
        """Sum of w r^2 / 2, or of w times Huber's loss."""
        loss = residuals**2 / 2
        if self.delta is not None:
            size = np.abs(residuals)
            loss = np.where(size <= self.delta, loss, self.delta * (size - self.delta / 2))
        return np.asarray(np.sum(self.weights * loss, axis=1))

    def reweighted(self, residuals: Array) -> Array:
        """Weights whose least squares has the same gradient as the objective."""
        if self.delta is None:
            return self.weights
        return self.weights * np.minimum(1.0, self.delta / np.maximum(np.abs(residuals), 1e-300))


def fit_power_sums(
    log_x: Array,
    values: Array,
    weights: Array,
    *,
    asymptote: Array | None = None,
    delta: float | None = None,
    start: Array | None = None,
    most_steps: int = 1000,
) -> PowerSums:
    """Least squares, or least Huber loss, over E, A and the exponents.

    Parameters
    ----------
    log_x : array, rows x terms
        Natural logarithms of x_j over its geometric mean; one or two terms.
    values : array, problems x rows
        L of each row.
    weights : array, problems x rows
        Not negative; a row with weight 0 does not count.
    asymptote : array, problems
        E where it is pinned; None to fit it.
    delta
        Where Huber's loss goes over from squares to absolute values, in the values' unit; None
        for squares.
    start : array, problems x terms
        Exponents to start from; None for the best of a grid.
    most_steps
        Of the exponents; none leaves them where they start.
    """
    rows = _Rows(log_x, values, weights, asymptote, delta)
    exponents = _best_of_grid(rows) if start is None else start.copy()
    search = _Search(rows, exponents)
    if delta is None:
        search.descend(most_steps, 1e-12)
    elif most_steps:
        # Reweighting alone comes near the minimum fast and nearer slowly: Newton's method takes
        # over, and what it finds is kept if reweighting does not move it.
        search.descend(15, 1e-10)
        search.take(*_least_huber(rows, search.sums()))
        search.descend(most_steps, 1e-9)
    return search.sums()


class _Search:
    """Where the search for each problem's minimum stands."""

    def __init__(self, rows: _Rows, exponents: Array) -> None:
        self.rows = rows
        self.found = rows.solve(exponents, rows.weights)

    def descend(self, most_steps: int, smallest_step: float) -> None:
        """Walk until no problem moves."""
        damping = np.full(len(self.rows.values), 1e-6)
        moving = np.arange(len(self.rows.values))
        # Rows without noise leave rounding only: less of it is no better fit.
        nothing = 1e-30 * np.sum(self.rows.weights * self.rows.values**2, axis=1)
        for _ in range(most_steps):
            if not len(moving):
                break
            before = [part[moving] for part in self.found]
            after, step = _step(self.rows.part(moving), before, damping[moving])
            lower, better = after[3] < before[3], after[3] <= before[3] * (1 + ROUNDING)
            for part, new in zip(self.found, after, strict=True):
                part[moving[better]] = new[better]
            damping[moving] *= np.where(lower, 0.2, 10.0)
            damping[moving] = np.maximum(damping[moving], 1e-12)
            done = (better & (step < smallest_step)) | (damping[moving] > _MOST_DAMPING)
            done |= self.found[3][moving] <= nothing[moving]
            moving = moving[~done]

    def take(self, exponents: Array, linear: Array) -> None:
        """Go to where something else has found less, problem by problem."""
        other = self.rows.found(exponents, linear, self.rows.design(exponents))
        less = other[3] <= self.found[3]
        for part, new in zip(self.found, other, strict=True):
            part[less] = new[less]

    def sums(self) -> PowerSums:
        exponents, linear, residuals, objective, _ = self.found
        pinned = self.rows.asymptote
        level = linear[:, 0] if pinned is None else pinned
        coefficients = linear[:, -exponents.shape[1] :]
        return PowerSums(level, coefficients, exponents, objective, residuals)


def huber_parameters(sums: PowerSums, asymptote: Array | None) -> Array:
    """Start of ln A_j, ln E and alpha_j; a term of zero starts at a thousandth of the rest."""
    least = 1e-3 * np.maximum(sums.coefficients.max(axis=1), 1e-300)
    level = np.maximum(sums.asymptote, least) if asymptote is None else asymptote
    with np.errstate(divide="ignore"):
        logs = np.log(np.column_stack([np.maximum(sums.coefficients, least[:, None]), level]))
    return np.column_stack([np.maximum(logs, SMALLEST_LOG), sums.exponents])


def _least_huber(rows: _Rows, sums: PowerSums) -> tuple[Array, Array]:
    """Exponents and linear coefficients by Newton's method; what is zero stays zero."""
    terms = sums.exponents.shape[1]
    kept = np.column_stack([sums.coefficients > 0, sums.asymptote > 0, sums.exponents > 0])
    kept[:, terms] &= rows.asymptote is None
    with np.errstate(divide="ignore"):
        logs = np.log(np.column_stack([sums.coefficients, sums.asymptote]))
    start = np.column_stack([np.maximum(logs, SMALLEST_LOG), sums.exponents])
    delta = float(rows.delta or 0.0)
    problem = HuberRows(rows.x, rows.values, rows.weights, kept, delta, "linear", EXPONENTS)
    theta, _ = least_huber(problem, start)
    powers = np.where(kept[:, : terms + 1], np.exp(theta[:, : terms + 1]), 0.0)
    powers = np.roll(powers, 1, axis=1) if rows.asymptote is None else powers[:, :terms]
    return theta[:, terms + 1 :], powers


def _step(rows: _Rows, found: list[Array], damping: Array) -> tuple[list[Array], Array]:
    """What one damped Gauss-Newton step of the exponents finds, and how far it moved them.

    Kaufman's Jacobian of the projected residual gives the same step as Gauss-Newton over all
    parameters, since the residual is already orthogonal to the linear ones.
    """
    exponents, linear, residuals, _, design = found
    weights = rows.reweighted(residuals)
    terms = exponents.shape[1]
    slopes = -linear[:, -terms:, None] * rows.x.T * design[:, -terms:]
    jacobian = np.concatenate([design, slopes], axis=1)
    kept = np.concatenate([linear > 0, linear[:, -terms:] > 0], axis=1)
    jacobian = jacobian * kept[:, :, None]
    weighted = jacobian * weights[:, None]
    gram = weighted @ np.swapaxes(jacobian, 1, 2)
    places = np.arange(gram.shape[1])
    diagonal = gram[:, places, places]
    gram[:, places, places] = np.where(kept, diagonal, 1.0)
    gram[:, places[-terms:], places[-terms:]] *= 1 + damping[:, None]
    # A term that is left out would make the matrix singular; so would one that is next to none.
    gram[:, places, places] += 1e-14 * diagonal.max(axis=1, keepdims=True) + 1e-300
    moves = np.linalg.solve(gram, weighted @ residuals[..., None])[..., 0][:, -terms:]
    moved = np.clip(exponents + np.clip(moves, -0.5, 0.5), *EXPONENTS)
    after = rows.solve(moved, weights)
    change = np.abs(moved - exponents).max(axis=1)
    if rows.delta is not None:
        # Weights that still change move the linear coefficients too.
        change = np.maximum(change, np.abs(after[1] - linear).max(axis=1))
    return after, change


def _best_of_grid(rows: _Rows) -> Array:
    """The exponents of a coarse grid with the least sum of squares, for each problem."""
    terms = rows.x.shape[1]
    grid = np.array(list(product(_GRID[terms], repeat=terms)))
    best = np.empty((len(rows.values), terms))
    for problem in range(len(rows.values)):
        own = rows.part(np.full(len(grid), problem))
        best[problem] = grid[np.argmin(own.solve(grid, own.weights)[3])]
    return best
