"""Backtests of a target's rungs as tables and JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from delphi_core.errors import FitError
from delphi_core.fits.backtest import DEFAULT_FORECASTER, backtest, curve_scores, summary
from delphi_core.fits.live import RULE, false_alarm_rate
from delphi_core.plain_rows import plain_rows
from delphi_core.trajectories import main_line, target_metrics
from delphi_core.trajectory_tables import rungs_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from delphi_core.fits.trajectory import Trajectory
    from delphi_core.snapshot import Snapshot
    from delphi_core.sources.run_map import RunMap
    from delphi_core.trajectories import Target


@dataclass(frozen=True)
class MetricBacktest:
    """The backtests of one metric of a target: all that they need, to be done anywhere.

    Attributes
    ----------
    target, metric
        Ids.
    rungs
        By compute, and the target's own curve last where there are two rungs only.
    asymptote
        E that the target pins for the metric; None where it pins none.
    level
        Of the bands.
    smaller_only
        Whether no run is forecast from the target's own curve.
    """

    target: str
    metric: str
    rungs: tuple[Trajectory, ...]
    asymptote: float | None
    level: float
    smaller_only: bool

    def run(self) -> pd.DataFrame:
        """target, metric, then the columns of `backtest`."""
        table = backtest(self.rungs, asymptote=self.asymptote, level=self.level)
        if self.smaller_only:
            table = table[table["kind"] == "smaller"]
        table.insert(0, "metric", self.metric)
        table.insert(0, "target", self.target)
        return table


def backtest_of(
    snapshot: Snapshot,
    target: Target,
    metrics: Iterable[str] | None = None,
    level: float = 0.9,
    run_map: RunMap | None = None,
) -> pd.DataFrame:
    """Backtests of every forecaster on a target's rungs, by metric.

    Training losses are left out: a batch is no evaluation. Where a target has two rungs only, it is
    forecast from them as one more rung is: its own curve is what meets the forecast, and no other
    is forecast from it.

    Parameters
    ----------
    snapshot, target
        Whose rungs.
    metrics
        None for all that can be.
    level
        Of the bands.
    run_map
        Does the metrics; by default one after another.

    Returns
    -------
    DataFrame
        target, metric, then the columns of `backtest`.
    """
    kinds = snapshot.tables["metrics"].set_index("metric")["kind"]
    tested = [name for name in target_metrics(snapshot, target) if kinds[name] != "training"]
    tasks = []
    for metric in metrics or tested:
        rungs = rungs_of(snapshot, target, metric)
        if len(rungs) < len(target.rungs):
            continue
        own = target.asymptote if metric == target.metric else None
        few = len(rungs) == 2
        if few:
            rungs.append(main_line(snapshot, target.ladder, target.run, metric))
        tasks.append(MetricBacktest(target.target, metric, tuple(rungs), own, level, few))
    tables = list((run_map or map)(MetricBacktest.run, tasks))
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


def backtest_document(tables: Iterable[pd.DataFrame], **context: Any) -> dict[str, Any]:
    """Backtests and the choice they lead to, ready for JSON; context is put first."""
    found = [table for table in tables if len(table)]
    if not found:
        raise FitError("no rung of these targets can be forecast from others: name more rungs.")
    scores = summary(found)
    curves = curve_scores(found)
    rows = pd.concat(found, ignore_index=True)
    raised, finished = false_alarm_rate(rows[rows["forecaster"] == DEFAULT_FORECASTER.name])
    return {
        **context,
        "alarm": {"rule": RULE, "false_alarms": raised, "curves": finished},
        "default": DEFAULT_FORECASTER.name,
        "chosen": str(scores["forecaster"].iloc[0]),
        "scores": plain_rows(scores),
        "curves": plain_rows(curves),
    }
