"""Bootstrap of a ladder's optima against a plain loop of polyfit on the same resampled rows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from bench.harness import Aim, NotMeasuredError, Row, by_turns, clocked
from delphi_core import fit_isoflops, load_snapshot
from delphi_core.fits.curve import REACH

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

REPLICATES = 1000
SEED = 0
RUNS = 5
# polyfit works in raw powers of log10 tokens, which costs it a few digits.
CLOSE = 1e-6


def bootstrap(
    records: pd.DataFrame,  # noqa: ARG001
    replicates: int,  # noqa: ARG001
    seed: int,  # noqa: ARG001
) -> npt.NDArray[np.float64]:
    """Ours: log10 D* of each replicate (rows) and budget (columns), NaN without an optimum.

    To be filled in with delphi_core.fits.uncertainty; it must draw the rows of `resampled`.
    """
    raise NotMeasuredError("delphi_core has no bootstrap yet.")


def plain_bootstrap(records: pd.DataFrame, replicates: int, seed: int) -> npt.NDArray[np.float64]:
    """The reference: one numpy.polyfit a budget and replicate.

    Parameters
    ----------
    records
        Of one ladder and metric.
    replicates
        How many times the runs of each budget are drawn again.
    seed
        Of the draws.

    Returns
    -------
    array, replicates x budgets
        log10 D*, the vertex of the parabola in log10 tokens; NaN where it has none, under the
        rules of `fit_budget`: fewer than 3 different sizes, opening downwards, or out of reach.
    """
    isoflop = fit_isoflops(records)
    points = isoflop.points
    budgets = [points[points["budget_flops"] == budget.flops] for budget in isoflop.budgets]
    draws = resampled([len(budget) for budget in budgets], replicates, seed)
    optima = np.full((replicates, len(budgets)), np.nan)
    for column, (budget, rows) in enumerate(zip(budgets, draws, strict=True)):
        log_tokens = np.log10(budget["tokens"].to_numpy(dtype=np.float64))
        values = budget["value"].to_numpy(dtype=np.float64)
        for replicate in range(replicates):
            x, y = log_tokens[rows[replicate]], values[rows[replicate]]
            if len(np.unique(x)) < 3:
                continue
            a, b, _ = np.polyfit(x, y, 2)
            vertex = -b / (2 * a)
            if a > 0 and x.min() - REACH <= vertex <= x.max() + REACH:
                optima[replicate, column] = vertex
    return optima


def resampled(sizes: list[int], replicates: int, seed: int) -> list[npt.NDArray[np.int64]]:
    """Rows drawn with replacement within each budget: one array, replicates x runs, a budget."""
    generator = np.random.default_rng(seed)
    return [generator.integers(0, size, (replicates, size)) for size in sizes]


def compare() -> list[Row]:
    """Times of both on the Delphi ladder, after a check that they give the same optima.

    Raises
    ------
    NotMeasuredError
        There is nothing to time.
    AssertionError
        They differ, so that their times say nothing.
    """
    snapshot = load_snapshot()
    records = snapshot.records("delphi", snapshot.ladder("delphi").default_metric)
    ours = partial(bootstrap, records, REPLICATES, SEED)
    plain = partial(plain_bootstrap, records, REPLICATES, SEED)
    np.testing.assert_allclose(ours(), plain(), rtol=CLOSE, equal_nan=True)
    times = by_turns(partial(clocked, ours), partial(clocked, plain), RUNS)
    runs = fit_isoflops(records).runs
    name = f"bootstrap of optima, {REPLICATES:,} replicates, {runs} runs"
    return [Row(name, "polyfit in a loop", *times, Aim(ratio=1 / 20))]
