"""What the forecast and backtest commands print for people to read."""

from __future__ import annotations

from typing import Any


def forecast_text(document: dict[str, Any]) -> str:
    """The forecast at each fraction and evaluation, and how it did."""
    lines = [
        f"{document['target']}, {document['metric']}, snapshot {document['snapshot']}",
        document["described"],
        *(
            f"{item['run']} stopped early: continued by {item['intercept']:.6f} "
            f"{item['slope']:+.6f} x fraction {item['offset']:+.4f}"
            for item in document["continuation"]
        ),
        "",
        f"{'fraction':>8} {'step':>8} {'forecast':>9} {'low':>8} {'high':>8} {'measured':>9} error",
    ]
    for point in document["points"]:
        step = "" if point["step"] is None else f"{point['step']:.0f}"
        cells = [
            "" if point[name] is None else f"{point[name]:.4f}"
            for name in ("predicted", "low", "high", "actual")
        ]
        error = "" if point["error_pct"] is None else f"{point['error_pct']:+.2f} %"
        lines.append(
            f"{point['fraction']:8.4f} {step:>8} {cells[0]:>9} {cells[1]:>8} {cells[2]:>8} "
            f"{cells[3]:>9} {error}".rstrip()
        )
    found = document["summary"]
    if found["evaluations"]:
        off, worst = found["mean_abs_error_pct"], found["max_abs_error_pct"]
        judged = f"{found['evaluations']} evaluations from 5 % on: mean absolute error {off:.3f} %"
        inside = f"{100 * found['coverage']:.0f} % inside the band"
        lines += ["", f"{judged}, worst {worst:.3f} %, {inside}"]
        lines += live_text(document["live"])
    return "\n".join(lines)


def live_text(live: dict[str, Any]) -> list[str]:
    """Whether a run raises an alarm, and the end re-forecast from what it has run."""
    lines = [f"alarm ({live['rule']}): {'raised' if live['alarm'] else 'none'}"]
    again = live["reforecast"]
    if again is not None and again["fraction"] < 0.99:
        lines.append(
            f"end re-forecast from this far: {again['predicted']:.4f} "
            f"({again['low']:.4f} to {again['high']:.4f})"
        )
    return lines


def backtest_text(document: dict[str, Any]) -> str:
    """Every forecaster by its interval score, and the default."""
    level, names = f"{100 * document['level']:g} %", ", ".join(document["targets"])
    errors = f"{'mean error':>11} {'worst':>9}"
    lines = [
        f"snapshot {document['snapshot']}, {level} bands, rungs of {names}",
        f"least mean interval score: {document['chosen']}; default: {document['default']}",
        "",
        f"{'forecaster':26} {'curves':>6} {errors} {'covered':>8} {'width':>8} {'score':>8}",
    ]
    lines += [
        f"{row['forecaster']:26} {row['curves']:6d} {row['mean_abs_error_pct']:9.3f} % "
        f"{row['max_abs_error_pct']:7.2f} % {100 * row['coverage']:6.1f} % "
        f"{row['width_pct']:6.2f} % {row['score']:8.3f}"
        for row in document["scores"]
    ]
    alarm = document["alarm"]
    raised = f"raised on {alarm['false_alarms']} of {alarm['curves']} curves of finished rungs"
    lines += ["", f"alarm ({alarm['rule']}): {raised}, by the default"]
    return "\n".join(lines)
