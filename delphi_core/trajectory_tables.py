"""Forecasts of targets as tables and JSON: the same call for page, shell and notebook."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from delphi_core.errors import DataError
from delphi_core.fits.backtest import DEFAULT_FORECASTER, scored
from delphi_core.fits.forecast_line import FIRST_FRACTION, GRID
from delphi_core.fits.live import RULE, alarms, reforecast
from delphi_core.fits.trajectory_forecast import TrajectoryFit, TrajectoryForecast
from delphi_core.macro import line_of, subsets_of
from delphi_core.plain_rows import plain_rows
from delphi_core.trajectories import Target, plan_of, target_named

if TYPE_CHECKING:
    from collections.abc import Iterable

    from delphi_core.fits.forecasters import ForecastMethod
    from delphi_core.fits.trajectory import Trajectory
    from delphi_core.snapshot import Snapshot

PUBLISHED_OFFSET = 0.005
"""What Marin's forecast of the hero's macro loss adds to the continued rung: part of the method as
published, for that metric only."""
Asymptote = float | Literal["fit"] | None
JUDGED_FROM = 0.05
"""Fraction of training from which errors count: what comes before is warm-up."""


def rungs_of(
    snapshot: Snapshot, target: Target, metric: str, without: Iterable[str] = ()
) -> list[Trajectory]:
    """Main lines of a target's rungs that have the metric, by compute; `without` some subsets."""
    lines = [line_of(snapshot, target.ladder, run, metric, without) for run in target.rungs]
    return sorted((line for line in lines if len(line)), key=lambda line: line.plan.flops)


def forecast_settings(
    target: Target,
    metric: str,
    rungs: list[Trajectory],
    *,
    method: ForecastMethod | None = None,
    asymptote: Asymptote = None,
    level: float = 0.9,
    whole: bool = True,
) -> TrajectoryFit:
    """Settings of a forecast, with what is not asked for filled in.

    Parameters
    ----------
    target, metric, rungs
        What is forecast, from what.
    method
        None for the default, or for per-fraction where the rungs have one point each.
    asymptote
        E; "fit" to profile it on the rungs; None for E as the target pins it for its own metric,
        and profiled for others.
    level
        Of the band.
    whole
        Whether the metric is as targets.csv means it, with all its subsets: what is pinned for it
        is pinned for no other.
    """
    points = sum(len(rung.part(rung.fractions >= FIRST_FRACTION)) for rung in rungs)
    chosen = method or ("per-fraction" if points <= 2 * len(rungs) else DEFAULT_FORECASTER.method)
    own = whole and metric == target.metric
    pinned = None if asymptote == "fit" else asymptote
    if asymptote is None and own and not DEFAULT_FORECASTER.profiled:
        pinned = target.asymptote
    offset = PUBLISHED_OFFSET if own and target.target == "hero" else None
    return TrajectoryFit(chosen, pinned, level, offset)


def forecast_of(
    snapshot: Snapshot,
    target: Target,
    metric: str,
    *,
    method: ForecastMethod | None = None,
    asymptote: Asymptote = None,
    level: float = 0.9,
    without: tuple[str, ...] = (),
) -> TrajectoryForecast:
    """Forecast of a target; what it measured is no input.

    Parameters
    ----------
    snapshot, target, metric
        What to forecast.
    method, asymptote, level
        As `forecast_settings` fills them in.
    without
        Subsets to leave out of a macro loss.

    Raises
    ------
    DataError
        Subsets are to be left out of what is not their mean, or are not known.
    FitError
        The rungs do not determine a forecast.
    """
    if without and not subsets_of(snapshot, target, metric):
        raise DataError(
            [f"{metric} of the rungs of {target.target} is no mean of subsets; leave none out."]
        )
    rungs = rungs_of(snapshot, target, metric, without)
    settings = forecast_settings(
        target, metric, rungs, method=method, asymptote=asymptote, level=level, whole=not without
    )
    return settings(rungs, plan_of(snapshot, target.ladder, target.run))


def forecast_table(forecast: TrajectoryForecast, measured: Trajectory | None) -> pd.DataFrame:
    """Forecast at the 20 multiples of 5 % and at every evaluation.

    Returns
    -------
    DataFrame
        fraction, step (missing at the multiples), predicted, low, high, actual, error_pct
        ((actual - predicted) / predicted), covered and score (interval score in percent).
    """
    fractions, steps, actual = GRID, np.full(len(GRID), np.nan), np.full(len(GRID), np.nan)
    if measured is not None:
        fractions = np.append(fractions, measured.fractions)
        steps, actual = np.append(steps, measured.steps), np.append(actual, measured.values)
    low, high = forecast.band(fractions)
    table = pd.DataFrame(
        {
            "fraction": fractions,
            "step": steps,
            "predicted": forecast.value(fractions),
            "low": low,
            "high": high,
            "actual": actual,
        }
    )
    table = scored(table, forecast.settings.level).sort_values("fraction", kind="stable")
    table["covered"] = table["covered"].astype("boolean").mask(table["error_pct"].isna())
    return table.reset_index(drop=True)


def forecast_summary(table: pd.DataFrame) -> dict[str, Any]:
    """How a forecast did, over the evaluations from 5 % of training on."""
    rows = table[(table["fraction"] >= JUDGED_FROM) & table["error_pct"].notna()]
    steps = table.loc[table["actual"].notna(), "step"]
    if not len(rows):
        return {"evaluations": 0}
    errors = rows["error_pct"].abs()
    return {
        "evaluations": len(rows),
        "mean_abs_error_pct": float(errors.mean()),
        "max_abs_error_pct": float(errors.max()),
        "coverage": float(rows["covered"].astype("float64").mean()),
        "interval_score": float(rows["score"].mean()),
        "as_of_step": float(steps.max()) if steps.notna().any() else None,
    }


def live_reading(forecast: TrajectoryForecast, measured: Trajectory) -> dict[str, Any]:
    """How a run stands against its forecast now.

    Returns
    -------
    dict
        alarm (whether the latest evaluations raise one), alarms (at how many evaluations one was
        raised), rule, and reforecast of the end from the prefix (None where there is none).
    """
    line = measured.part(measured.fractions >= JUDGED_FROM)
    low, high = forecast.band(line.fractions)
    raised = alarms(forecast.value(line.fractions), low, high, line.values)
    again = reforecast(forecast, measured)
    return {
        "alarm": bool(raised[-1:].any()),
        "alarms": int(raised.sum()),
        "rule": RULE,
        "reforecast": None if again is None else asdict(again),
    }


def forecast_trajectory(
    snapshot: Snapshot,
    target: str,
    *,
    metric: str | None = None,
    method: ForecastMethod | None = None,
    asymptote: Asymptote = None,
    level: float = 0.9,
    without: tuple[str, ...] = (),
) -> pd.DataFrame:
    """Forecast of a target beside what it measured: rows of `forecast_table`.

    Parameters
    ----------
    snapshot
        Where targets, runs and trajectories are.
    target
        Its id: hero, 67b or delphi-1e23 in the bundled snapshot.
    metric
        None for the target's own.
    method, asymptote, level
        As `forecast_settings` fills them in.
    without
        Subsets to leave out of a macro loss: ptb, say.
    """
    wanted = target_named(snapshot, target)
    name = metric or wanted.metric
    forecast = forecast_of(
        snapshot, wanted, name, method=method, asymptote=asymptote, level=level, without=without
    )
    return forecast_table(forecast, line_of(snapshot, wanted.ladder, wanted.run, name, without))


def forecast_document(
    snapshot: Snapshot,
    target: Target,
    metric: str,
    forecast: TrajectoryForecast,
    without: tuple[str, ...] = (),
) -> dict[str, Any]:
    """Everything a forecast says, ready for JSON; `without` as it was forecast."""
    measured = line_of(snapshot, target.ladder, target.run, metric, without)
    table = forecast_table(forecast, measured)
    published = snapshot.tables["published_forecasts"]
    own = (published["ladder"] == target.ladder) & (published["run"] == target.run)
    return {
        "snapshot": snapshot.id,
        "target": target.target,
        "metric": metric,
        "without": list(without),
        "method": forecast.settings.method,
        "asymptote": forecast.fitted.asymptote,
        "asymptote_pinned": forecast.settings.asymptote is not None,
        "level": forecast.settings.level,
        "described": forecast.describe(),
        "rungs": [rung.plan.run for rung in forecast.rungs],
        "continuation": [vars(item) for item in forecast.fitted.continuations],
        "points": plain_rows(table.drop(columns=["covered", "score"])),
        "summary": forecast_summary(table),
        "live": live_reading(forecast, measured),
        "published": plain_rows(published[own & (published["metric"] == metric) & (not without)]),
    }
