"""Backtests of a target's rungs as tables and JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from delphi_core.errors import FitError
from delphi_core.export import plain_rows
from delphi_core.fits.backtest import DEFAULT_FORECASTER, backtest, curve_scores, summary
from delphi_core.fits.live import RULE, false_alarm_rate
from delphi_core.trajectories import main_line, target_metrics
from delphi_core.trajectory_tables import rungs_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from delphi_core.snapshot import Snapshot
    from delphi_core.trajectories import Target


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
