"""One compute budget: its curve, its optimum with an interval, and what is doubtful."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.polynomial import Polynomial

from delphi_core.fits.curve import Curve
from delphi_core.fits.doubts import (
    REACH,
    Doubt,
    Flag,
    edge_doubts,
    few_points_doubts,
    flat_doubts,
    no_optimum_doubt,
)
from delphi_core.fits.uncertainty import minimum_interval, size_groups

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    from delphi_core.fits.interval import Interval


class Resampling(NamedTuple):
    """Level of intervals (0..1), how many sets of rows are resampled, and their seed."""

    level: float = 0.9
    replicates: int = 1000
    seed: int = 0


@dataclass(frozen=True)
class BudgetFit:
    """Fit of one budget.

    Attributes
    ----------
    flops
        C of the budget, FLOP.
    runs
        How many runs it has.
    curve
        None where there are too few different sizes.
    optimal_x, optimal_tokens, optimal_params, loss_at_optimal
        x*, D* (tokens), N* (parameters) and L*; None where there is no optimum.
    interval
        Of D* or N*, whichever is along x, in tokens or parameters; None where there is no
        optimum.
    doubts
        What is doubtful, and a sentence for each.
    """

    flops: float
    runs: int
    curve: Curve | None = None
    optimal_x: float | None = None
    optimal_tokens: float | None = None
    optimal_params: float | None = None
    loss_at_optimal: float | None = None
    interval: Interval | None = None
    doubts: tuple[Doubt, ...] = ()

    @property
    def flags(self) -> tuple[Flag, ...]:
        """What is doubtful."""
        return tuple(doubt.flag for doubt in self.doubts)

    @property
    def sentences(self) -> tuple[str, ...]:
        """One for each flag."""
        return tuple(doubt.sentence for doubt in self.doubts)


def fit_budget(
    rows: pd.DataFrame,
    *,
    flops: float,
    x: Literal["tokens", "params", "active_params"],
    method: Literal["parabola", "cubic", "marin"],
    resampling: Resampling,
) -> BudgetFit:
    """Curve and optimum of the runs of one budget.

    Parameters
    ----------
    rows
        Records of the budget, in canonical order.
    flops
        Its C, FLOP.
    x
        What loss is fitted against.
    method
        parabola, cubic or marin.
    resampling
        Level of the interval, and how it is drawn.

    Returns
    -------
    BudgetFit
        Without a curve where there are too few different sizes for one, and without an optimum
        where the curve has no minimum within reach; the flags say which.
    """
    runs = len(rows)
    degree = 3 if method == "cubic" else 2
    along, across = ("tokens", "params") if x == "tokens" else ("params", "tokens")
    sampled = rows[along].to_numpy(dtype=np.float64)
    log_along = np.log10(sampled)
    groups = size_groups(log_along)
    sizes = int(groups.max()) + 1
    doubts = few_points_doubts(runs, sizes, degree, along)
    if sizes <= degree:
        return BudgetFit(flops, runs, doubts=tuple(doubts))
    polynomial = Polynomial.fit(log_along, rows["value"].to_numpy(dtype=np.float64), degree)
    curve = Curve(polynomial, float(log_along.min()), float(log_along.max()))
    optimal_x = curve.minimum()
    if optimal_x is None or not curve.low - REACH <= optimal_x <= curve.high + REACH:
        doubts.append(no_optimum_doubt(curve, optimal_x))
        return BudgetFit(flops, runs, curve, doubts=tuple(doubts))
    loss = float(curve.predict(optimal_x))
    edge = edge_doubts(curve, optimal_x, loss, along)
    interval = _interval(curve, rows, log_along, groups, resampling, flops=flops, edge=edge)
    doubts += edge
    doubts += flat_doubts(interval, sampled)
    if method == "marin":
        nearest = int(np.argmin(np.abs(sampled - 10.0**optimal_x)))
        other = float(rows[across].iloc[nearest])
    else:
        log_across = np.log10(rows[across].to_numpy(dtype=np.float64))
        other = float(10.0 ** Polynomial.fit(log_along, log_across, 1)(optimal_x))
    optimum = {along: 10.0**optimal_x, across: other}
    return BudgetFit(
        flops,
        runs,
        curve,
        optimal_x=optimal_x,
        optimal_tokens=optimum["tokens"],
        optimal_params=optimum["params"],
        loss_at_optimal=loss,
        interval=interval,
        doubts=tuple(doubts),
    )


def _interval(
    curve: Curve,
    rows: pd.DataFrame,
    log_along: npt.NDArray[np.float64],
    groups: npt.NDArray[np.intp],
    resampling: Resampling,
    *,
    flops: float,
    edge: list[Doubt],
) -> Interval:
    """Interval of the optimum along x, in tokens or parameters.

    Where the optimum is at an edge, nothing sampled bounds it on the far side, whatever the curve
    says: the interval is open there.
    """
    offset, scale = curve.polynomial.mapparms()
    found = minimum_interval(
        offset + scale * log_along,
        rows["value"].to_numpy(dtype=np.float64),
        groups,
        degree=curve.polynomial.degree(),
        level=resampling.level,
        replicates=resampling.replicates,
        # Each budget draws on its own, whichever others are fitted beside it.
        seed=(resampling.seed, round(1000 * np.log10(flops)) % 2**32),
    )
    low, high = (found.low - offset) / scale, (found.high - offset) / scale
    if edge:
        middle = curve.minimum() or 0.0
        low = -np.inf if middle < curve.high else min(low, curve.high)
        high = np.inf if middle > curve.low else max(high, curve.low)
    with np.errstate(over="ignore"):
        return replace(found, low=float(np.power(10.0, low)), high=float(np.power(10.0, high)))
