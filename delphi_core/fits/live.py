"""Reading a live run: alarms against its forecast, and the end re-forecast from what it has run.

The forecast made before the run never changes. An alarm compares several evaluations with its band,
since one noisy subset moves a macro loss by more than its trend: a plain "worse than last time"
fires on a third of a healthy run's evaluations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import t

from delphi_core.fits.forecast_line import FIRST_FRACTION
from delphi_core.fits.trajectory_forecast import extrapolation

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    from delphi_core.fits.trajectory import Trajectory
    from delphi_core.fits.trajectory_forecast import TrajectoryForecast

    Array = npt.NDArray[np.float64]

LATEST, OUTSIDE, WIDER = 5, 3, 1.5
"""An alarm: so many of the latest evaluations are further off than so many times the band, all on
one side. Outside the band itself, rungs raise four times as many false alarms; the choice was made
on them, between rules that see a loss 1 % too high after 15 % of training or after 30 %."""
RULE = (
    f"{OUTSIDE} of the latest {LATEST} evaluations on one side, further off than {WIDER:g} times "
    "the band"
)
PREFIX = 0.05
"""Stretch of training before now whose mean error the end is re-forecast from."""


def alarms(predicted: Array, low: Array, high: Array, actual: Array) -> npt.NDArray[np.bool_]:
    """At each evaluation, whether the latest ones raise an alarm.

    Parameters
    ----------
    predicted, low, high, actual : array
        Forecast, ends of its band and what was measured, by step.
    """
    raised = np.zeros(len(actual), dtype=bool)
    above = actual > predicted * (high / predicted) ** WIDER
    below = actual < predicted * (low / predicted) ** WIDER
    for side in (above, below):
        for place in range(len(actual)):
            latest = side[max(0, place - LATEST + 1) : place + 1]
            raised[place] |= int(latest.sum()) >= OUTSIDE
    return raised


def false_alarm_rate(backtests: pd.DataFrame) -> tuple[int, int]:
    """How many backtested curves ever raise an alarm, and how many there are.

    Parameters
    ----------
    backtests
        Rows of `backtest` of one forecaster: finished rungs, so that every alarm is false.
    """
    raised = 0
    named = [name for name in ("target", "metric", "kind", "run") if name in backtests]
    groups = [rows for _, rows in backtests.groupby(named, sort=False)]
    for rows in groups:
        ordered = rows.sort_values("fraction", kind="stable")
        names = ("predicted", "low", "high", "actual")
        columns = (ordered[name].to_numpy(dtype=np.float64) for name in names)
        raised += bool(alarms(*columns).any())
    return raised, len(groups)


@dataclass(frozen=True)
class Reforecast:
    """The end of a plan, re-forecast from how a run has met its forecast so far.

    Attributes
    ----------
    fraction
        Of training, now.
    off_pct
        Mean error over the last 5 % of training, in percent of the forecast.
    share
        How much of such an error rungs kept to their end.
    predicted, low, high
        Of the end, in the metric's unit.
    level
        Of the interval.
    rungs
        How many rungs it was learnt from.
    """

    fraction: float
    off_pct: float
    share: float
    predicted: float
    low: float
    high: float
    level: float
    rungs: int


def reforecast(forecast: TrajectoryForecast, measured: Trajectory) -> Reforecast | None:
    """Re-forecast the end from a run's prefix; None where there is nothing to learn from.

    Rungs forecast from the others were off by e_r at this fraction and by e_r' at their end. The
    least squares slope of e' on e through the origin is how much of an error stays; the spread
    around it, at Student's t and widened for the target's extrapolation, gives the interval.
    """
    line = measured.part(measured.fractions >= FIRST_FRACTION)
    if len(line) < 2 or forecast.fitted.fractions[1] < 1:
        return None
    now = float(line.fractions[-1])
    own = _error_before(line.fractions, np.log(line.values / forecast.value(line.fractions)), now)
    then, later = [], []
    for fractions, errors in forecast.rung_errors:
        if fractions[-1] > now + PREFIX and fractions[0] <= now:
            then.append(_error_before(fractions, errors, now))
            later.append(float(errors[-1]))
    if len(then) < 3 or not np.isfinite(own):
        return None
    before, after = np.array(then), np.array(later)
    share = float(np.clip(before @ after / max(before @ before, 1e-300), 0.0, 1.0))
    spread = float(np.sqrt(np.sum((after - share * before) ** 2) / (len(after) - 1)))
    wider = extrapolation(forecast.rungs, forecast.plan)
    half = float(t.ppf(0.5 + forecast.settings.level / 2, len(after) - 1)) * spread * wider
    end = float(forecast.value(1.0)) * float(np.exp(share * own))
    return Reforecast(
        fraction=now,
        off_pct=100 * float(np.expm1(own)),
        share=share,
        predicted=end,
        low=end * float(np.exp(-half)),
        high=end * float(np.exp(half)),
        level=forecast.settings.level,
        rungs=len(after),
    )


def _error_before(fractions: Array, errors: Array, now: float) -> float:
    """Mean error over the stretch before now, or the last one where it has none."""
    recent = (fractions > now - PREFIX) & (fractions <= now)
    if recent.any():
        return float(errors[recent].mean())
    return float(errors[fractions <= now][-1])
