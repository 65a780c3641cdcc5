"""What commands print for people to read."""

from __future__ import annotations

from typing import Any

import pandas as pd

_ENDS = ("low", "high")


def fit_text(document: dict[str, Any]) -> str:
    """Optima, laws and forecasts of a fit, one a line."""
    if "budgets" not in document:
        return str(document["unidentified"]["sentence"])
    size = f"N* ({document['params_column']})"
    ends_of = "interval of D*" if document.get("x") == "tokens" else "interval of N*"
    of = document.get("file") or document["ladder"]
    snapshot = f", snapshot {document['snapshot']}" if document["snapshot"] else ""
    lines = [
        f"{of}, {document['metric']}{snapshot}",
        document["described"],
        "",
        f"{'C (FLOP)':>14} {'runs':>4} {'D* (tokens)':>14} {size:>18} {'L*':>9}  {ends_of:>27}",
    ]
    for budget in document["budgets"]:
        optimum = [budget[k] for k in ("optimal_tokens", "optimal_params", "loss_at_optimal")]
        cells = ["none", "", ""]
        if None not in optimum:
            cells = [f"{optimum[0]:.6e}", f"{optimum[1]:.6e}", f"{optimum[2]:.6f}"]
        line = f"{budget['flops']:14.6e} {budget['runs']:4d} {cells[0]:>14} {cells[1]:>18}"
        ends = budget.get("interval") or ""
        if budget.get("level") is not None:
            ends = f"{_end(budget['low'])} to {_end(budget['high'])}"
        notes = " ".join(budget.get("notes", []))
        lines.append(f"{line} {cells[2]:>9}  {ends:>27}  {notes}".rstrip())
    if "token_law" in document:
        tokens, params = document["token_law"], document["params_law"]
        lines += [
            "",
            (
                f"log10 D* = {tokens['alpha']:.6f} log10 C {tokens['log10_A']:+.6f}"
                f"{_exponent_interval(tokens)}"
            ),
            f"  D* {tokens['rule']}",
            (
                f"log10 N* = {params['exponent']:.6f} log10 C {params['intercept']:+.6f}"
                f"{_exponent_interval(params)}"
            ),
            f"  N* {params['rule']}",
        ]
    if "loss_law" in document:
        lines += ["", *_loss_law_lines(document)]
    lines += ["", *(f"left out: {item['run']}: {item['reason']}" for item in document["left_out"])]
    return "\n".join(lines).rstrip()


def _end(amount: float | None) -> str:
    return "open" if amount is None else f"{amount:.4e}"


def _exponent_interval(law: dict[str, Any]) -> str:
    if law["level"] is None:
        return ""
    level = f"{100 * law['level']:g} %"
    return f"  (exponent {level}: {law['low']:.4f} to {law['high']:.4f}, {law['interval']})"


def _loss_law_lines(document: dict[str, Any]) -> list[str]:
    law = document["loss_law"]
    lines = [law["described"], *(f"  {note}" for note in law["notes"]), ""]
    lines.append(
        f"{'C (FLOP)':>14} {'ratio':>8} {'forecast':>9}  {'low':>7} {'high':>7} {'measured':>9} "
        f"{'error':>8}  runs"
    )
    for row in document["forecasts"]:
        ends = [
            f"{row[end]:7.4f}" if row[end] is not None else "   open" for end in ("low", "high")
        ]
        line = f"{row['flops']:14.6e} {row['ratio']:8.3g} {row['predicted']:9.4f}  {' '.join(ends)}"
        if row["run"]:
            inside = "in the band" if row["covered"] else "outside"
            line += f" {row['counted']:9.4f} {row['error_pct']:+6.2f} %  {inside}, {row['rule']}: "
            names = row["run"].split(" ")
            line += names[0] + (f" and {len(names) - 1} more" if len(names) > 1 else "")
        lines.append(line)
    if any(row["beyond_walk_forward"] for row in document["forecasts"]):
        reach = "nothing" if law["reach"] is None else f"ratios up to {law['reach']:.3g}"
        lines.append(f"Walk-forward on this ladder tests {reach}: further out the law is a guess.")
    return lines


def methods_text(table: pd.DataFrame) -> str:
    """One line a method and forecast."""
    law, forecast = f"{'method':22} {'E':>7} {'alpha':>8}", f"{'C (FLOP)':>12} {'forecast':>9}"
    lines = [f"{law} {forecast} {'low':>8} {'high':>8} {'error':>9}"]
    for row in table.to_dict("records"):
        if pd.isna(row["E"]):
            lines.append(f"{row['method']:22} {row['notes']}")
            continue
        line = f"{row['method']:22} {row['E']:7.4f} {row['alpha']:8.5f}"
        if not pd.isna(row["flops"]):
            ends = [f"{row[end]:8.4f}" if pd.notna(row[end]) else "    open" for end in _ENDS]
            line += f" {row['flops']:12.6g} {row['predicted']:9.4f} {' '.join(ends)}"
        if pd.notna(row["error_pct"]):
            line += f" {row['error_pct']:+7.2f} %"
        lines.append(line)
    return "\n".join(lines)


def walk_forward_text(document: dict[str, Any]) -> str:
    """The choice, and every method and band by its score."""
    ladders = document["ladders"]
    chosen, default = document["chosen"], document["default"]
    level, over = f"{100 * document['level']:g} %", ", ".join(ladders)
    chosen_on = ", ".join(default["chosen_on"])
    lines = [
        f"snapshot {document['snapshot']}, {level} bands, {over}",
        f"least mean interval score, in percent of the loss: {chosen['method']}, {chosen['band']}",
        f"default: {default['method']}, {default['band']}, chosen on {chosen_on}",
        "Walk-forward reaches extrapolation ratios of about 10 here, and cannot test 333.",
        "",
        f"{'method':22} {'band':21} {'score':>8} {'error':>8} {'covered':>8}  "
        + " ".join(f"{ladder:>17}" for ladder in ladders),
    ]
    for row in document["scores"]:
        scores = " ".join(f"{_score(row[ladder]):>17}" for ladder in ladders)
        lines.append(
            f"{row['method']:22} {row['band']:21} {_score(row['score']):>8} "
            f"{row['mean_abs_error_pct']:6.3f} % {row['coverage']:8.0%}  {scores}"
        )
    return "\n".join(lines)


def _score(score: float | None) -> str:
    return "open" if score is None else f"{score:.3f}"
