"""Marin's forecast of a trajectory: a power law in compute at each of 20 fractions of training.

Each rung's evaluations are snapped to the nearest 5 % of its own steps, a later one taking the
place of an earlier; ln(L - E) is fitted linearly on ln C with C = flops x fraction. A rung that
stopped early is continued by the line through its values from 60 to 80 %, plus an offset. Linear
between the 20 fractions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from delphi_core.errors import FitError
from delphi_core.fits.forecast_line import GRID, Continuation, FittedLine

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from delphi_core.fits.trajectory import Plan, Trajectory

    Array = npt.NDArray[np.float64]


def fit_per_fraction(
    rungs: Sequence[Trajectory], asymptote: float, offset: float | None
) -> FittedLine:
    """Fit the law at each fraction.

    Parameters
    ----------
    rungs
        With evaluations; at least two.
    asymptote
        E, below every value of the rungs.
    offset
        What a stopped rung's continuation adds; None for the mean of the finished rungs.

    Raises
    ------
    FitError
        No fraction has rungs of two sizes.
    """
    snapped = [(rung, _snapped(rung)) for rung in rungs]
    # Where a batch grew, tokens may count before any twentieth of the steps is near.
    rungs, tables = (
        [rung for rung, table in snapped if table],
        [table for _, table in snapped if table],
    )
    lines = [_line_of(table) for table in tables]
    ends = [
        table[1.0] - line[0] - line[1]
        for table, line in zip(tables, lines, strict=True)
        if line and 1.0 in table
    ]
    added = offset if offset is not None else (float(np.mean(ends)) if ends else 0.0)
    continued = []
    for rung, table in zip(rungs, tables, strict=True):
        last = max(table)
        line = _line_of(table)
        if last >= 1.0 or line is None or len(table) < 5:
            continue
        continued.append(Continuation(rung.plan.run, line[0], line[1], added))
        for place in GRID[last + 0.01 < GRID]:
            table[round(float(place), 2)] = line[0] * float(place) + line[1] + added
    places, slopes, levels = [], [], []
    for place in GRID:
        at = round(float(place), 2)
        # A continuation may run below E, where there is no law to fit.
        known = [
            (rung, table[at])
            for rung, table in zip(rungs, tables, strict=True)
            if table.get(at, asymptote) > asymptote
        ]
        if len({rung.plan.flops for rung, _ in known}) < 2:
            continue
        compute = np.log([rung.plan.flops * at for rung, _ in known])
        slope, level = np.polyfit(compute, np.log([value - asymptote for _, value in known]), 1)
        places.append(at)
        slopes.append(slope)
        levels.append(level)
    if not places:
        raise FitError("the rungs have no fraction of training in common, so nothing is fitted.")
    at_places, slope_of, level_of = np.array(places), np.array(slopes), np.array(levels)

    def predict(plan: Plan, fractions: Array) -> Array:
        logs = level_of + slope_of * np.log(plan.flops * at_places)
        return np.asarray(np.interp(fractions, at_places, asymptote + np.exp(logs)))

    ends_at = (places[0], places[-1])
    return FittedLine(predict, asymptote, fractions=ends_at, continuations=tuple(continued))


def _snapped(rung: Trajectory) -> dict[float, float]:
    """Values at multiples of 5 % of the rung's own steps (tokens where it has no steps)."""
    share = rung.steps / rung.plan.steps
    share = np.where(np.isfinite(share), share, rung.fractions)
    places = np.round(20 * share) / 20
    return {
        round(float(place), 2): float(value)
        for place, value in zip(places, rung.values, strict=True)
        if place > 0
    }


def _line_of(table: dict[float, float]) -> tuple[float, float] | None:
    """Slope and intercept through the five values from 60 to 80 %."""
    places = [0.6, 0.65, 0.7, 0.75, 0.8]
    if any(place not in table for place in places):
        return None
    slope, intercept = np.polyfit(places, [table[place] for place in places], 1)
    return float(slope), float(intercept)
