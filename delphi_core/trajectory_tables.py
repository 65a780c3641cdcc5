"""Forecasts of targets as tables and JSON: the same call for page, shell and notebook."""

from __future__ import annotations

from dataclasses import asdict
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from delphi_core.errors import FitError
from delphi_core.fits.backtest import (
    DEFAULT_FORECASTER,
    backtest,
    curve_scores,
    scored,
    summary,
)
from delphi_core.fits.forecast_line import FIRST_FRACTION, GRID
from delphi_core.fits.live import LATEST, OUTSIDE, alarms, reforecast
from delphi_core.fits.trajectory_forecast import TrajectoryFit, TrajectoryForecast
from delphi_core.trajectories import Target, main_line, plan_of, target_metrics, target_named

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


def rungs_of(snapshot: Snapshot, target: Target, metric: str) -> list[Trajectory]:
    """Main lines of a target's rungs that have the metric, by compute."""
    lines = [main_line(snapshot, target.ladder, run, metric) for run in target.rungs]
    return sorted((line for line in lines if len(line)), key=lambda line: line.plan.flops)


def forecast_settings(
    target: Target,
    metric: str,
    rungs: list[Trajectory],
    *,
    method: ForecastMethod | None = None,
    asymptote: Asymptote = None,
    level: float = 0.9,
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
    """
    points = sum(len(rung.part(rung.fractions >= FIRST_FRACTION)) for rung in rungs)
    chosen = method or ("per-fraction" if points <= 2 * len(rungs) else DEFAULT_FORECASTER.method)
    own = metric == target.metric
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
) -> TrajectoryForecast:
    """Forecast of a target; what it measured is no input.

    Raises
    ------
    FitError
        The rungs do not determine one.
    """
    rungs = rungs_of(snapshot, target, metric)
    settings = forecast_settings(
        target, metric, rungs, method=method, asymptote=asymptote, level=level
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
    raised = alarms(low, high, line.values)
    again = reforecast(forecast, measured)
    return {
        "alarm": bool(raised[-1:].any()),
        "alarms": int(raised.sum()),
        "rule": f"{OUTSIDE} of the latest {LATEST} evaluations outside the band on one side",
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
    """
    wanted = target_named(snapshot, target)
    name = metric or wanted.metric
    forecast = forecast_of(snapshot, wanted, name, method=method, asymptote=asymptote, level=level)
    return forecast_table(forecast, main_line(snapshot, wanted.ladder, wanted.run, name))


def forecast_document(
    snapshot: Snapshot, target: Target, metric: str, forecast: TrajectoryForecast
) -> dict[str, Any]:
    """Everything a forecast says, ready for JSON."""
    measured = main_line(snapshot, target.ladder, target.run, metric)
    table = forecast_table(forecast, measured)
    published = snapshot.tables["published_forecasts"]
    own = (published["ladder"] == target.ladder) & (published["run"] == target.run)
    return {
        "snapshot": snapshot.id,
        "target": target.target,
        "metric": metric,
        "method": forecast.settings.method,
        "asymptote": forecast.fitted.asymptote,
        "asymptote_pinned": forecast.settings.asymptote is not None,
        "level": forecast.settings.level,
        "described": forecast.describe(),
        "rungs": [rung.plan.run for rung in forecast.rungs],
        "continuation": [vars(item) for item in forecast.fitted.continuations],
        "points": _plain(table.drop(columns=["covered", "score"])),
        "summary": forecast_summary(table),
        "live": live_reading(forecast, measured),
        "published": _plain(published[own & (published["metric"] == metric)]),
    }


def _plain(table: pd.DataFrame) -> list[dict[str, Any]]:
    cells = table.astype(object).where(table.notna(), None)
    finite = cells.map(lambda cell: not isinstance(cell, float) or isfinite(cell))
    rows = cells.where(finite, None).to_dict("records")
    return [{str(name): value for name, value in row.items()} for row in rows]


def backtest_of(
    snapshot: Snapshot, target: Target, metrics: Iterable[str] | None = None, level: float = 0.9
) -> pd.DataFrame:
    """Backtests of every forecaster on a target's rungs, by metric.

    Training losses are left out: a batch is no evaluation. Where a target has two rungs only, it is
    forecast from them as one more rung is: its own curve is what meets the forecast, and no other
    is forecast from it.

    Returns
    -------
    DataFrame
        target, metric, then the columns of `backtest`.
    """
    kinds = snapshot.tables["metrics"].set_index("metric")["kind"]
    tested = [name for name in target_metrics(snapshot, target) if kinds[name] != "training"]
    tables = []
    for metric in metrics or tested:
        rungs = rungs_of(snapshot, target, metric)
        if len(rungs) < len(target.rungs):
            continue
        own = target.asymptote if metric == target.metric else None
        if len(rungs) == 2:
            rungs.append(main_line(snapshot, target.ladder, target.run, metric))
            table = backtest(rungs, asymptote=own, level=level)
            table = table[table["kind"] == "smaller"]
        else:
            table = backtest(rungs, asymptote=own, level=level)
        table.insert(0, "metric", metric)
        table.insert(0, "target", target.target)
        tables.append(table)
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


def backtest_document(tables: Iterable[pd.DataFrame], **context: Any) -> dict[str, Any]:
    """Backtests and the choice they lead to, ready for JSON; context is put first."""
    found = [table for table in tables if len(table)]
    if not found:
        raise FitError("no rung of these targets can be forecast from others: name more rungs.")
    scores = summary(found)
    curves = curve_scores(found)
    return {
        **context,
        "default": DEFAULT_FORECASTER.name,
        "chosen": str(scores["forecaster"].iloc[0]),
        "scores": _plain(scores),
        "curves": _plain(curves),
    }
