"""Bootstrap of a ladder's optima against a plain loop of polyfit on the same resampled rows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from bench.harness import Aim, Row, by_turns, clocked
from delphi_core import fit_isoflops, load_snapshot
from delphi_core.fits.minimum import local_minimum
from delphi_core.fits.uncertainty import bootstrap_replicates, size_groups

if TYPE_CHECKING:
    import numpy.typing as npt

REPLICATES = 1000
SEED = 0
RUNS = 7
# Two ways of solving the same least squares.
CLOSE = 1e-6


Budget = tuple["npt.NDArray[np.float64]", "npt.NDArray[np.float64]", "npt.NDArray[np.intp]"]


def bootstrap(budgets: list[Budget], replicates: int, seed: int) -> npt.NDArray[np.float64]:
    """Ours: minimum of each replicate (rows) and budget (columns), NaN without one."""
    minima = [
        local_minimum(
            bootstrap_replicates(
                u, values, groups, degree=2, replicates=replicates, seed=(seed, place)
            )
        )
        for place, (u, values, groups) in enumerate(budgets)
    ]
    return np.stack(minima, axis=1)


def plain_bootstrap(budgets: list[Budget], replicates: int, seed: int) -> npt.NDArray[np.float64]:
    """The reference: one numpy.polyfit a budget and replicate, on the same rows.

    Parameters
    ----------
    budgets
        Places within -1..1, values and different sizes of each budget's runs.
    replicates
        How many times the runs of each budget are drawn again.
    seed
        Of the draws.

    Returns
    -------
    array, replicates x budgets
        Vertex of the parabola; NaN where the rows leave it no degree of freedom or it opens
        downwards.
    """
    minima = np.full((replicates, len(budgets)), np.nan)
    for column, (u, values, groups) in enumerate(budgets):
        runs = len(u)
        rng = np.random.default_rng((seed, column))
        drawn = rng.multinomial(runs, np.full(runs, 1 / runs), size=replicates)
        for replicate, weights in enumerate(drawn):
            rows = np.repeat(np.arange(runs), weights)
            if len(np.unique(groups[rows])) > 3:
                a, b, _ = np.polyfit(u[rows], values[rows], 2)
                if a > 0:
                    minima[replicate, column] = -b / (2 * a)
    return minima


def delphi_budgets() -> list[Budget]:
    """The 78 Delphi runs by budget, log10 of tokens scaled to -1..1."""
    snapshot = load_snapshot()
    isoflop = fit_isoflops(snapshot.records("delphi", snapshot.ladder("delphi").default_metric))
    budgets = []
    for budget in isoflop.budgets:
        rows = isoflop.points[isoflop.points["budget_flops"] == budget.flops]
        x = np.log10(rows["tokens"].to_numpy(dtype=np.float64))
        u = 2 * (x - x.min()) / (x.max() - x.min()) - 1
        budgets.append((u, rows["value"].to_numpy(dtype=np.float64), size_groups(x)))
    return budgets


def compare() -> list[Row]:
    """Times of both on the Delphi ladder, after a check that they give the same optima.

    Raises
    ------
    AssertionError
        They differ, so that their times say nothing.
    """
    budgets = delphi_budgets()
    ours = partial(bootstrap, budgets, REPLICATES, SEED)
    plain = partial(plain_bootstrap, budgets, REPLICATES, SEED)
    np.testing.assert_allclose(ours(), plain(), rtol=CLOSE, atol=CLOSE, equal_nan=True)
    times = by_turns(partial(clocked, ours), partial(clocked, plain), RUNS)
    runs = sum(len(u) for u, *_ in budgets)
    name = f"bootstrap of optima, {REPLICATES:,} replicates, {runs} runs"
    return [Row(name, "polyfit in a loop", *times, Aim(ratio=1 / 20))]
