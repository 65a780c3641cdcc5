"""What the Trajectories page shows under its controls: one function a tab."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from delphi_core.figures.trajectory_grid import REACH_PCT
from delphi_core.fits.backtest import DEFAULT_FORECASTER, summary
from delphi_core.fits.live import false_alarm_rate
from delphi_core.trajectories import target_named
from delphi_core.web import share
from delphi_core.web import trajectory_charts as charts
from delphi_core.web import trajectory_words as words
from delphi_core.web.charts import show_chart
from delphi_core.web.code_block import show_code
from delphi_core.web.grid import show_table
from delphi_core.web.messages import plain
from delphi_core.web.trajectory_fits import (
    backtested,
    methods_compared,
    metrics_compared,
    metrics_shown,
)
from delphi_core.web.trajectory_record import record

if TYPE_CHECKING:
    import pandas as pd

    from delphi_core.snapshot import Snapshot
    from delphi_core.web.trajectory_fits import Shown
    from delphi_core.web.trajectory_view import TrajectoryView

_NUMBER, _TEXT = st.column_config.NumberColumn, st.column_config.TextColumn
_COLUMNS = {
    "percent": _NUMBER("training (%)", format="%.2f"),
    "step": _NUMBER("step", format="%.0f"),
    "actual": _NUMBER("measured", format="%.4f"),
    "predicted": _NUMBER("forecast", format="%.4f"),
    "low": _NUMBER("from", format="%.4f"),
    "high": _NUMBER("to", format="%.4f"),
    "error_pct": _NUMBER("error (%)", format="%+.2f"),
    "covered": st.column_config.CheckboxColumn("in the band"),
    "method": _TEXT("method"),
    "metric": _TEXT("metric"),
    "E": _NUMBER("E", format="%.4f"),
    "end": _NUMBER("forecast of the end", format="%.4f"),
    "end_low": _NUMBER("from", format="%.4f"),
    "end_high": _NUMBER("to", format="%.4f"),
    "evaluations": _NUMBER("evaluations"),
    "mean_abs_error_pct": _NUMBER("mean error (%)", format="%.3f"),
    "max_abs_error_pct": _NUMBER("worst (%)", format="%.3f"),
    "coverage": _NUMBER("in the band", format="percent"),
    "interval_score": _NUMBER("interval score (%)", format="%.3f"),
    "score": _NUMBER("interval score (%)", format="%.3f"),
    "width_pct": _NUMBER("band width (%)", format="%.2f"),
    "forecaster": _TEXT("forecaster"),
    "curves": _NUMBER("curves"),
    "notes": _TEXT("what to know", width="large"),
}


def curve(snapshot: Snapshot, view: TrajectoryView, shown: Shown) -> None:
    """Forecast and measured curve, and the verdict."""
    figure, alt = charts.curve_chart(snapshot, view)
    show_chart(figure, snapshot, view, alt=alt, key="curve_chart", zoom=True)
    lines = [line for line in words.verdict(shown, snapshot) if line]
    st.markdown("\n".join(f"- {plain(line)}" for line in lines))


def evaluations(snapshot: Snapshot, view: TrajectoryView, shown: Shown) -> None:
    """Every evaluation with its forecast."""
    del snapshot, view
    if shown.forecast is None:
        st.info(plain(f"No forecast: {shown.problem}"))
        return
    rows = shown.table[shown.table["actual"].notna()]
    rows = rows.assign(percent=100 * rows["fraction"])
    columns = ["percent", "step", "actual", "predicted", "low", "high", "error_pct", "covered"]
    _show(rows, columns, "evaluations_table", "Every evaluation with its forecast")


def methods(snapshot: Snapshot, view: TrajectoryView, shown: Shown) -> None:
    """Every forecaster side by side."""
    del shown
    table = methods_compared(snapshot, view.choice)
    columns = [
        "method", "E", "end", "end_low", "end_high", "evaluations", "mean_abs_error_pct",
        "max_abs_error_pct", "coverage", "interval_score", "notes",
    ]  # fmt: skip
    _show(table, columns, "methods_table", "Forecasters side by side")
    st.markdown(plain(words.CHOICE))


def subsets(snapshot: Snapshot, view: TrajectoryView, shown: Shown) -> None:
    """Every metric that the rungs have: which run ahead, which behind."""
    del shown
    found = metrics_shown(snapshot, view.choice)
    table = metrics_compared(found)
    if not len(table):
        st.info("The rungs have no other metric, so this is all that is public.")
        return
    figure, alt = charts.subsets_chart(view, found)
    finding = f"{target_named(snapshot, view.target).run}: every metric off its forecast (%)"
    source = f"Each metric against its forecast from smaller runs, by {view.method}."
    show_chart(figure, snapshot, view, alt=alt, key="grid_chart", finding=finding, source=source)
    ahead = int((table["error_pct"] < 0).sum())
    st.markdown(
        plain(
            f"Measured over forecast in percent, cut at {REACH_PCT:g} %. At the last evaluation "
            f"{ahead} of {len(table)} metrics run ahead of their forecast (a lower loss), "
            f"{len(table) - ahead} behind."
        )
    )
    columns = [
        "metric", "percent", "actual", "predicted", "low", "high", "error_pct", "E",
        "mean_abs_error_pct", "max_abs_error_pct", "coverage",
    ]  # fmt: skip
    table = table.assign(percent=100 * table["fraction"])
    _show(table, columns, "subsets_table", "Last evaluation of every metric against its forecast")


def backtests(snapshot: Snapshot, view: TrajectoryView, shown: Shown) -> None:
    """Rungs forecast from other rungs, in this metric."""
    del shown
    rows = backtested(snapshot, view.choice)
    if not len(rows):
        st.info("No rung has two others with a curve of this metric, so nothing can be backtested.")
        return
    columns = [
        "forecaster", "curves", "evaluations", "mean_abs_error_pct", "max_abs_error_pct",
        "coverage", "width_pct", "score",
    ]  # fmt: skip
    _show(summary([rows]), columns, "backtests_table", "Backtests of every forecaster")
    own = rows[rows["forecaster"] == DEFAULT_FORECASTER.name]
    raised, curves = false_alarm_rate(own)
    st.markdown(
        plain(
            f"In {view.metric} only. {words.CHOICE} On these rungs, which are healthy runs, the "
            f"alarm was raised on {raised} of {curves} curves forecast by the default: that is how "
            "often it is false."
        )
    )


def download(snapshot: Snapshot, view: TrajectoryView, shown: Shown) -> None:
    """The forecast beside the evaluations as CSV, and the code that makes it."""
    if shown.forecast is None:
        st.info(plain(f"No forecast: {shown.problem}"))
        return
    share.download_buttons(snapshot, view)
    st.markdown("CSV at full precision. The same forecast in a notebook:")
    show_code(words.refit_code(view))
    share.address_lines(snapshot, view)


SHOWN = {
    "curve": curve,
    "evaluations": evaluations,
    "methods": methods,
    "subsets": subsets,
    "backtests": backtests,
    "record": record,
    "download": download,
}


def _show(table: pd.DataFrame, columns: list[str], key: str, alt: str) -> None:
    show_table(table, columns, _COLUMNS, key=key, alt=alt)
