"""Fits of a loss surface, all starts or refits in one batch, against scipy in a loop.

The rows are made: a surface with noise, of the size of a ladder and of the runs that Besiroglu et
al. 2024 (arXiv 2404.10102) read off the Chinchilla figures. The references are what one would
write at first with scipy, from the same starts wherever both have several; scipy's BFGS stops at
its own tolerance, a little above the minimum or at it.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import least_squares, minimize, nnls

from bench.harness import Aim, Row, by_turns, clocked
from delphi_core.fits.approach3 import fit_approach3
from delphi_core.fits.law_models import HUBER_DELTA
from delphi_core.fits.projection import EXPONENTS, fit_power_sums

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    Array = npt.NDArray[np.float64]

ROWS, MANY_ROWS = 128, 240
REFITS = 1000
# The loop over all refits takes many seconds: this many are run, and their time scaled up.
LOOPED = 50
SEED = 0
RUNS = 7
# What ours may be above the reference, as a share of the objective; below is better.
CLOSE = 1e-8
STARTS = np.array(list(product((0.15, 0.3, 0.5, 0.8), repeat=2)))
GRID = 12
SMALLEST = 1e-12


def made_surface(rows: int, seed: int) -> tuple[Array, Array]:
    """Centred ln N and ln D (rows x 2) of made runs, and their losses with 1% noise."""
    rng = np.random.default_rng(seed)
    log_x = np.log(10) * rng.uniform([7.8, 9.0], [10.2, 11.5], size=(rows, 2))
    losses = 1.8 + np.exp(np.log([480.0, 2085.0]) - log_x * [0.35, 0.37]).sum(axis=1)
    return log_x - log_x.mean(axis=0), losses * np.exp(0.01 * rng.standard_normal(rows))


def plain_squares(log_x: Array, values: Array) -> float:
    """Least squares over the exponents from each start, non-negative ones inside."""
    return min(_squares(start, log_x, values) for start in STARTS)


def grid_squares(log_x: Array, values: Array) -> float:
    """The same from one start only: the best of a grid as fine as that of ours."""
    starts = product(np.geomspace(*EXPONENTS, GRID), repeat=2)
    start = min(starts, key=lambda exponents: nnls(_design(exponents, log_x), values)[1])
    return _squares(np.array(start), log_x, values)


def plain_huber(log_x: Array, values: Array) -> float:
    """Least Huber loss of L over all five parameters, from each start."""
    objective = partial(_objective, log_x=log_x, observed=values, weights=np.ones(len(values)))
    starts = [_start(log_x, values, exponents) for exponents in STARTS]
    found = [minimize(objective, start, jac=True, method="BFGS") for start in starts]
    return float(min(best.fun for best in found))


def plain_approach3(log_x: Array, values: Array) -> float:
    """Least Huber loss of ln L, from each start with E fitted and with half the least loss."""
    starts = [
        _start(log_x, values, exponents, level)
        for level in (None, 0.5 * values.min())
        for exponents in STARTS
    ]
    weights = np.ones(len(values))
    return min(_approach3(start, log_x, values, weights) for start in starts)


def plain_refits(log_x: Array, values: Array, weights: Array, best: Array) -> Array:
    """Objective of each refit: one minimisation a row of weights, all from the best fit."""
    return np.array([_approach3(best, log_x, values, drawn) for drawn in weights])


def compare() -> list[Row]:
    """Times of one fit by squares, by Huber's loss and by Approach 3, and of many refits."""
    log_x, values = made_surface(ROWS, SEED)
    one, ones = values[None], np.ones((1, ROWS))
    squares = partial(fit_power_sums, log_x, one, ones)
    huber = partial(fit_power_sums, log_x, one, ones, delta=HUBER_DELTA)
    many_x, many = made_surface(MANY_ROWS, SEED)
    approach3 = partial(fit_approach3, many_x, many[None], np.ones((1, MANY_ROWS)))
    best = approach3()
    rng = np.random.default_rng(SEED)
    drawn = rng.multinomial(MANY_ROWS, np.full(MANY_ROWS, 1 / MANY_ROWS), size=REFITS)
    weights = drawn.astype(np.float64)
    losses = np.tile(many, (REFITS, 1))
    refits = partial(fit_approach3, many_x, losses, weights, start=best.repeated(REFITS))
    logs = np.log([*best.coefficients[0], best.asymptote[0]])
    theta = np.append(logs, best.exponents[0])
    loop = partial(plain_refits, many_x, many, weights[:LOOPED], theta)
    starts = len(STARTS)
    return [
        _row(
            f"surface by squares, {ROWS} rows",
            f"least_squares over nnls, {starts} starts",
            lambda: squares().objective,
            partial(plain_squares, log_x, values),
        ),
        _row(
            f"surface by squares, {ROWS} rows",
            f"same, from the best of {GRID**2}",
            lambda: squares().objective,
            partial(grid_squares, log_x, values),
        ),
        _row(
            f"surface by Huber's loss, {ROWS} rows",
            f"BFGS, {starts} starts",
            lambda: huber().objective,
            partial(plain_huber, log_x, values),
        ),
        _row(
            f"Approach 3, {MANY_ROWS} rows, {2 * starts} starts",
            f"BFGS, {2 * starts} starts",
            lambda: approach3().objective,
            partial(plain_approach3, many_x, many),
        ),
        _row(
            f"Approach 3 on {REFITS:,} pairs bootstraps, {MANY_ROWS} rows",
            f"BFGS in a loop, {LOOPED} of them x {REFITS // LOOPED}",
            lambda: refits().objective,
            loop,
            scale=REFITS // LOOPED,
        ),
    ]


def _row(
    name: str,
    reference: str,
    ours: Callable[[], Array],
    plain: Callable[[], float | Array],
    *,
    scale: int = 1,
) -> Row:
    """Times of both, after a check that ours is not above what the reference finds.

    Raises
    ------
    AssertionError
        It is, so that the times say nothing.
    """
    wanted = np.atleast_1d(plain())
    if not (ours()[: len(wanted)] <= wanted * (1 + CLOSE)).all():
        raise AssertionError(f"{name}: the reference finds less.")
    times = by_turns(partial(clocked, ours), lambda: scale * clocked(plain), RUNS)
    return Row(name, reference, *times, Aim())


def _design(exponents: Array | tuple[float, ...], log_x: Array) -> Array:
    return np.column_stack([np.ones(len(log_x)), np.exp(-np.asarray(exponents) * log_x)])


def _start(log_x: Array, values: Array, exponents: Array, level: float | None = None) -> Array:
    """Logarithms of A, B and E by non-negative least squares unless given, and exponents."""
    design = _design(exponents, log_x)
    if level is None:
        level, *coefficients = nnls(design, values)[0]
    else:
        coefficients = nnls(design[:, 1:], values - level)[0]
    logs = np.log(np.maximum([*coefficients, level], SMALLEST))
    return np.append(logs, exponents)


def _squares(start: Array, log_x: Array, values: Array) -> float:
    """Objective of the least squares that one start leads to."""

    def residuals(exponents: Array) -> Array:
        design = _design(exponents, log_x)
        return np.asarray(values - design @ nnls(design, values)[0])

    return float(least_squares(residuals, start, bounds=EXPONENTS).cost)


def _approach3(start: Array, log_x: Array, values: Array, weights: Array) -> float:
    """Objective of the minimum that one start leads to."""
    objective = partial(
        _objective, log_x=log_x, observed=np.log(values), weights=weights, logs=True
    )
    return float(minimize(objective, start, jac=True, method="BFGS").fun)


def _objective(
    theta: Array, *, log_x: Array, observed: Array, weights: Array, logs: bool = False
) -> tuple[float, Array]:
    """Weighted Huber loss of L, or of ln L, and its gradient."""
    level = np.full(len(log_x), theta[2])
    terms = np.column_stack([theta[:2] - theta[3:] * log_x, level])
    if logs:
        fitted = np.logaddexp.reduce(terms, axis=1)
        slopes = np.exp(terms - fitted[:, None])
    else:
        slopes = np.exp(terms)
        fitted = slopes.sum(axis=1)
    residuals = fitted - observed
    size = np.abs(residuals)
    loss = np.where(size <= HUBER_DELTA, size**2 / 2, HUBER_DELTA * (size - HUBER_DELTA / 2))
    psi = weights * np.clip(residuals, -HUBER_DELTA, HUBER_DELTA)
    gradient = np.append(psi @ slopes, -psi @ (slopes[:, :2] * log_x))
    return float(weights @ loss), gradient
