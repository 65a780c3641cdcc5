"""Backtests of forecasters: rungs forecast from other rungs, scored against what they measured.

This is how the default forecaster is chosen: on the rungs, never by a target's measurements.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from delphi_core.errors import FitError
from delphi_core.fits.forecast_line import FIRST_FRACTION
from delphi_core.fits.forecasters import FORECAST_METHODS, ForecastMethod
from delphi_core.fits.trajectory_forecast import TrajectoryFit

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from delphi_core.fits.trajectory import Trajectory


@dataclass(frozen=True)
class Forecaster:
    """One candidate: a method, and whether E is pinned where the target pins it.

    Attributes
    ----------
    method
        Of the forecast.
    profiled
        Whether E is profiled on the rungs even where it is pinned.
    """

    method: ForecastMethod
    profiled: bool

    @property
    def name(self) -> str:
        """As tables and commands write it."""
        return f"{self.method}, E profiled" if self.profiled else self.method


FORECASTERS: tuple[Forecaster, ...] = tuple(
    Forecaster(method, profiled) for profiled in (False, True) for method in FORECAST_METHODS
)


DEFAULT_FORECASTER = Forecaster("surface", profiled=False)
"""What `summary` puts first over all metrics of the hero's rungs and of Delphi's large runs."""


def backtest(
    rungs: Sequence[Trajectory],
    *,
    asymptote: float | None,
    forecasters: Iterable[Forecaster] = FORECASTERS,
    level: float = 0.9,
) -> pd.DataFrame:
    """Forecast rungs from others and score every evaluation.

    Each rung that has two smaller ones is forecast from those alone (kind smaller), and each of
    three or more from all others (kind left out). A forecast of a rung and its band never see it.

    Parameters
    ----------
    rungs
        By compute or in any order.
    asymptote
        E that the target pins; None where it pins none.
    forecasters
        Which candidates.
    level
        Of the bands.

    Returns
    -------
    DataFrame
        forecaster, kind, run, fraction, predicted, low, high, actual, error_pct, covered and score
        (interval score in percent of the actual value).
    """
    ordered = sorted(rungs, key=lambda rung: rung.plan.flops)
    cases = [("smaller", place, ordered[:place]) for place in range(2, len(ordered))]
    cases += [
        ("left out", place, ordered[:place] + ordered[place + 1 :])
        for place in range(len(ordered) - 1)
        if len(ordered) > 2
    ]
    tables = []
    for forecaster in forecasters:
        for kind, place, others in cases:
            pinned = None if forecaster.profiled and len(others) > 2 else asymptote
            settings = TrajectoryFit(forecaster.method, pinned, level)
            whole = ordered[place]
            rung = whole.part(whole.fractions >= FIRST_FRACTION)
            try:
                forecast = settings(others, rung.plan)
            except FitError:
                continue
            low, high = forecast.band(rung.fractions)
            predicted = forecast.value(rung.fractions)
            table = pd.DataFrame(
                {
                    "forecaster": forecaster.name,
                    "kind": kind,
                    "run": rung.plan.run,
                    "fraction": rung.fractions,
                    "predicted": predicted,
                    "low": low,
                    "high": high,
                    "actual": np.asarray(rung.values),
                }
            )
            tables.append(scored(table.dropna(subset="predicted"), level))
    columns = [
        "forecaster", "kind", "run", "fraction", "predicted", "low", "high", "actual", "error_pct",
        "covered", "score",
    ]  # fmt: skip
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=columns)


def scored(table: pd.DataFrame, level: float) -> pd.DataFrame:
    """With error_pct, covered and the interval score (Gneiting and Raftery 2007) in percent."""
    actual, low, high = table["actual"], table["low"], table["high"]
    missed = np.maximum(low - actual, 0) + np.maximum(actual - high, 0)
    return table.assign(
        error_pct=100 * (actual - table["predicted"]) / table["predicted"],
        covered=(low <= actual) & (actual <= high),
        score=100 * ((high - low) + 2 / (1 - level) * missed) / actual,
    )


def curve_scores(tables: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """One row a forecaster and curve that it forecast.

    Parameters
    ----------
    tables
        Rows of `backtest`, with columns target and metric.

    Returns
    -------
    DataFrame
        forecaster, target, metric, kind, run, evaluations, mean_abs_error_pct, max_abs_error_pct,
        coverage, width_pct and score.
    """
    rows = pd.concat(list(tables), ignore_index=True)
    rows = rows.assign(
        width=100 * (rows["high"] - rows["low"]) / rows["predicted"], off=rows["error_pct"].abs()
    )
    keys = ["forecaster", "target", "metric", "kind", "run"]
    return (
        rows.groupby(keys, sort=False)
        .agg(
            evaluations=("off", "size"),
            mean_abs_error_pct=("off", "mean"),
            max_abs_error_pct=("off", "max"),
            coverage=("covered", "mean"),
            width_pct=("width", "mean"),
            score=("score", "mean"),
        )
        .reset_index()
    )


def summary(tables: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """One row a forecaster, best interval score first.

    Parameters
    ----------
    tables
        Rows of `backtest`, with columns target and metric.

    Returns
    -------
    DataFrame
        forecaster, curves (how many it forecast), evaluations, mean_abs_error_pct,
        max_abs_error_pct, coverage, width_pct and score: means over curves, each curve the same.
    """
    grouped = curve_scores(tables).groupby("forecaster", sort=False)
    table = pd.DataFrame(
        {
            "curves": grouped.size(),
            "evaluations": grouped["evaluations"].sum(),
            "mean_abs_error_pct": grouped["mean_abs_error_pct"].mean(),
            "max_abs_error_pct": grouped["max_abs_error_pct"].max(),
            "coverage": grouped["coverage"].mean(),
            "width_pct": grouped["width_pct"].mean(),
            "score": grouped["score"].mean(),
        }
    )
    return table.sort_values("score", kind="stable").reset_index()
