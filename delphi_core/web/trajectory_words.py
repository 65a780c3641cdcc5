"""What the Trajectories page says in words: headline, verdict, caption, file names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from delphi_core.events import events_of
from delphi_core.fits.backtest import DEFAULT_FORECASTER
from delphi_core.trajectory_tables import forecast_summary, live_reading
from delphi_core.web.messages import plain
from delphi_core.words import count, flops_words

if TYPE_CHECKING:
    import pandas as pd

    from delphi_core.snapshot import Snapshot
    from delphi_core.web.trajectory_fits import Shown
    from delphi_core.web.trajectory_view import TrajectoryView

TAB_TITLES = {
    "curve": "Curve",
    "evaluations": "Evaluations",
    "methods": "Methods",
    "subsets": "All metrics",
    "backtests": "Backtests",
    "record": "On record",
    "download": "Download",
}
CHOICE = (
    f"The default forecaster, {DEFAULT_FORECASTER.name}, has the least interval score in backtests "
    "over all metrics of the hero's and 67B's rungs, and of Delphi's 1e23 run from its two smaller "
    "ones; what the hero and 67B runs measured plays no part in it. python -m delphi_core backtest "
    "makes the choice again."
)


def headline(shown: Shown) -> str:
    """The finding: the last evaluation against its forecast."""
    run = plain(shown.measured.plan.run)
    judged = _judged(shown)
    if not len(judged):
        return f"{run}: no evaluation meets a forecast here"
    last = judged.iloc[-1]
    return (
        f"{run} at {100 * last['fraction']:.1f} %: measured {last['actual']:.4f}, forecast "
        f"{last['predicted']:.4f}, {_signed(last['error_pct'])} %"
    )


def verdict(shown: Shown, snapshot: Snapshot) -> list[str]:
    """How the forecast holds, one sentence a line."""
    if shown.forecast is None:
        return [f"No forecast: {shown.problem}", shown.target.note]
    lines = []
    judged = _judged(shown)
    if len(judged):
        found, last = forecast_summary(shown.table), judged.iloc[-1]
        inside = "inside" if last["low"] <= last["actual"] <= last["high"] else "outside"
        lines.append(
            f"{100 * last['fraction']:.1f} %: measured {last['actual']:.4f}, forecast "
            f"{last['predicted']:.4f}, {_signed(last['error_pct'])} %, {inside} the "
            f"{100 * shown.forecast.settings.level:g} % band ({last['low']:.4f} to "
            f"{last['high']:.4f})."
        )
        if found["evaluations"]:
            lines.append(
                f"{count(found['evaluations'], 'evaluation')} from 5 % of training on: mean "
                f"absolute error {found['mean_abs_error_pct']:.3f} %, worst "
                f"{found['max_abs_error_pct']:.3f} %, {100 * found['coverage']:.0f} % inside the "
                "band."
            )
    end = shown.table[shown.table["fraction"] == 1.0].iloc[0]
    if np.isfinite(end["predicted"]):
        lines.append(
            f"At the end of its plan, {flops_words(shown.forecast.plan.flops)}: "
            f"{end['predicted']:.4f} (band {end['low']:.4f} to {end['high']:.4f})."
        )
    lines += _live(shown)
    lines += _premises(snapshot, shown)
    lines += [
        f"{item.run} stopped early and was continued by the line {item.intercept:.4f} "
        f"{item.slope:+.4f} x fraction {item.offset:+.4f}."
        for item in shown.forecast.fitted.continuations
    ]
    published = snapshot.tables["published_forecasts"]
    own = published[published["run"] == shown.target.run]
    own = own[own["metric"] == shown.target.metric].dropna(subset=["predicted", "actual"])
    for row in own.to_dict("records")[:3]:
        error = 100 * (row["actual"] / row["predicted"] - 1)
        lines.append(
            f"Published {row['made']}: {row['predicted']:g} forecast at "
            f"{100 * row['fraction']:g} %, {row['actual']:g} measured ({_signed(error)} %)."
        )
    if shown.target.note:
        lines.append(f"{shown.target.note}.")
    return lines


def _live(shown: Shown) -> list[str]:
    """Alarm and re-forecast of a run that is under way."""
    if shown.forecast is None or not len(_judged(shown)):
        return []
    reading = live_reading(shown.forecast, shown.measured)
    raised = "raised now" if reading["alarm"] else "none now"
    if reading["alarms"] and not reading["alarm"]:
        raised += f"; raised at {count(reading['alarms'], 'earlier evaluation')}"
    lines = [f"Alarm ({reading['rule']}): {raised}."]
    again = reading["reforecast"]
    if again is not None and not shown.measured.finished:
        lines.append(
            f"Re-forecast of the end from its last 5 % of training, {_signed(again['off_pct'])} % "
            f"off, of which rungs kept {100 * again['share']:.0f} % to their end: "
            f"{again['predicted']:.4f} ({again['low']:.4f} to {again['high']:.4f}). The forecast "
            "above stays what it was."
        )
    return lines


def _premises(snapshot: Snapshot, shown: Shown) -> list[str]:
    """Up to where the run is trained as its rungs were, and what is planned."""
    events = events_of(snapshot, shown.target.ladder, shown.measured)
    breaks = events[events["breaks"]]
    lines = []
    for planned, start in ((False, "Trained as its rungs were up to"), (True, "Planned:")):
        found = [
            f"{100 * row['fraction']:.1f} % ({row['text']})"
            for row in breaks[breaks["planned"] == planned].to_dict("records")
        ]
        if found:
            lines.append(f"{start} {'; then '.join(found)}.")
    return lines


def caption(snapshot: Snapshot, view: TrajectoryView, shown: Shown) -> str:
    """What was forecast from what, as of when, in Markdown."""
    lines = [] if shown.forecast is None else [shown.forecast.describe()]
    lines.append(
        "A mid-run loss is no final loss: the forecast compares runs at the same fraction of "
        "training (by tokens), which assumes the same schedule shape, tokens per parameter, "
        "mixture and sequence length."
    )
    steps = shown.measured.steps
    last = "" if not len(steps) or np.isnan(steps[-1]) else f", as of step {steps[-1]:,.0f}"
    metric = view.metric
    if view.without:
        metric += f" without {', '.join(view.without)}"
    lines.append(f"{metric}; snapshot {snapshot.id} of {snapshot.created_at[:10]}{last}.")
    return "  \n".join(plain(line) for line in lines)


def file_stem(view: TrajectoryView) -> str:
    """Name of a download of a view, without what it holds and without its ending."""
    without = [f"without-{'-'.join(view.without)}"] if view.without else []
    parts = (view.target, view.metric, *without, view.method)
    return "_".join(re.sub(r"[^A-Za-z0-9._-]+", "-", part) for part in parts)


def refit_code(view: TrajectoryView) -> str:
    """Python that makes the same forecast."""
    without = f", without={view.without!r}" if view.without else ""
    pinned = "" if view.pinned is None else f", asymptote={view.pinned!r}"
    return (
        "import delphi_core as dc\n"
        "snapshot = dc.load_snapshot()\n"
        f"forecast = dc.forecast_trajectory(snapshot, {view.target!r}, metric={view.metric!r},\n"
        f"                                  method={view.method!r}{pinned}, "
        f"level={float(view.level)!r}{without})\n"
        "print(forecast)"
    )


def metric_words(metric: str) -> str:
    """A metric in few words: the part of its id that tells it from the others."""
    parts = metric.split("/")
    return parts[-2] if parts[-1] == "loss" and len(parts) > 2 else parts[-1]


def percent(level: str) -> str:
    """A share as a control shows it."""
    return f"{100 * float(level):g} %"


def _judged(shown: Shown) -> pd.DataFrame:
    if shown.forecast is None:
        return shown.table
    return shown.table[shown.table["error_pct"].notna()]


def _signed(percent_off: float) -> str:
    return f"{percent_off:+.2f}".replace("-", "−")
