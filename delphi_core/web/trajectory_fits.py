"""Cached forecasts of the Trajectories page."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from delphi_core.backtest_tables import backtest_of
from delphi_core.errors import FitError
from delphi_core.fits.forecasters import FORECAST_METHODS
from delphi_core.ledger import forecast_ledger
from delphi_core.macro import line_of
from delphi_core.trajectories import Target, target_metrics, target_named
from delphi_core.trajectory_tables import (
    forecast_of,
    forecast_summary,
    forecast_table,
    rungs_of,
)
from delphi_core.web.fit_cache import shared_cache

if TYPE_CHECKING:
    from delphi_core.fits.trajectory import Trajectory
    from delphi_core.fits.trajectory_forecast import TrajectoryForecast
    from delphi_core.snapshot import Snapshot
    from delphi_core.web.trajectory_view import TrajectoryChoice


@dataclass(frozen=True, eq=False)
class Shown:
    """What the page shows of one choice.

    Attributes
    ----------
    target
        What is forecast.
    measured
        Its main line.
    rungs
        Their main lines.
    forecast, table
        None and empty where there is no forecast.
    problem
        Why there is none.
    """

    target: Target
    measured: Trajectory
    rungs: tuple[Trajectory, ...]
    forecast: TrajectoryForecast | None
    table: pd.DataFrame
    problem: str = ""


@shared_cache(max_entries=300, show_spinner="Forecasting ...")
def shown(snapshot: Snapshot, choice: TrajectoryChoice) -> Shown:
    """Forecast and measured curve of a choice."""
    target = target_named(snapshot, choice.target)
    measured = line_of(snapshot, target.ladder, target.run, choice.metric, choice.without)
    rungs = tuple(rungs_of(snapshot, target, choice.metric, choice.without))
    try:
        forecast = forecast_of(
            snapshot,
            target,
            choice.metric,
            method=choice.method,
            asymptote=choice.asymptote,
            level=choice.level,
            without=choice.without,
        )
    except FitError as error:
        return Shown(target, measured, rungs, None, pd.DataFrame(), str(error))
    return Shown(target, measured, rungs, forecast, forecast_table(forecast, measured))


def methods_compared(snapshot: Snapshot, choice: TrajectoryChoice) -> pd.DataFrame:
    """One row a method, with E as chosen and fitted: its forecast of the end, how it did so far."""
    rows: list[dict[str, Any]] = []
    ways: list[tuple[str, TrajectoryChoice]] = [
        (method, replace(choice, method=method)) for method in FORECAST_METHODS
    ]
    if choice.asymptote != "fit":
        ways += [
            (f"{method}, E fitted", replace(choice, method=method, asymptote="fit"))
            for method in FORECAST_METHODS
        ]
    for name, way in ways:
        found = shown(snapshot, way)
        if found.forecast is None:
            rows.append({"method": name, "notes": found.problem})
            continue
        end = found.table[found.table["fraction"] == 1.0].iloc[0]
        rows.append(
            {
                "method": name,
                "E": found.forecast.fitted.asymptote,
                "end": end["predicted"],
                "end_low": end["low"],
                "end_high": end["high"],
                **forecast_summary(found.table),
            }
        )
    return pd.DataFrame(rows)


@shared_cache(max_entries=100, show_spinner="Forecasting every metric ...")
def metrics_shown(snapshot: Snapshot, choice: TrajectoryChoice) -> tuple[tuple[str, Shown], ...]:
    """Forecast and measured line of every metric that all rungs have and an evaluation meets."""
    target = target_named(snapshot, choice.target)
    found = []
    for metric in target_metrics(snapshot, target):
        if len(rungs_of(snapshot, target, metric)) < len(target.rungs):
            continue
        pinned = choice.asymptote if metric == choice.metric else None
        own = shown(snapshot, replace(choice, metric=metric, asymptote=pinned, without=()))
        if own.forecast is not None and own.table["error_pct"].notna().any():
            found.append((metric, own))
    return tuple(found)


def metrics_compared(metrics: tuple[tuple[str, Shown], ...]) -> pd.DataFrame:
    """One row a metric: how far the run is ahead or behind, the furthest ahead first."""
    rows = []
    for metric, own in metrics:
        last = own.table[own.table["error_pct"].notna()].iloc[-1]
        level = own.forecast.fitted.asymptote if own.forecast is not None else None
        names = ("fraction", "actual", "predicted", "low", "high", "error_pct")
        row = {"metric": metric, "E": level} | {name: last[name] for name in names}
        rows.append(row | forecast_summary(own.table))
    return pd.DataFrame(rows).sort_values("error_pct", kind="stable") if rows else pd.DataFrame()


@shared_cache(max_entries=100, show_spinner="Backtesting ...")
def backtested(snapshot: Snapshot, choice: TrajectoryChoice) -> pd.DataFrame:
    """Backtests of every forecaster on the rungs, in the view's metric."""
    target = target_named(snapshot, choice.target)
    return backtest_of(snapshot, target, [choice.metric], level=choice.level)


@shared_cache(max_entries=4, show_spinner=False)
def ledger(snapshot: Snapshot) -> pd.DataFrame:
    """Published forecasts with their outcomes."""
    return forecast_ledger(snapshot)
