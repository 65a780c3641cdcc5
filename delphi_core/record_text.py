"""What the commands of forecasts on record print for people to read."""

from __future__ import annotations

from typing import Any

from delphi_core.words import count, flops_words, ratio_words


def ledger_text(document: dict[str, Any]) -> str:
    """Scores by extrapolation ratio, then every forecast with an outcome."""
    error = "error is (measured - forecast) / forecast"
    counts = f"{'forecasts':>9} {'outcomes':>8} {'runs':>4} {'mean error':>11} {'largest':>9}"
    lines = [
        f"published forecasts, snapshot {document['snapshot']}; {error}",
        "",
        f"{'preregistered':13} {'extrapolation ratio':26} {counts}",
    ]
    for row in document["scores"]:
        errors = [
            "none" if row[name] is None else f"{row[name]:.2f} %"
            for name in ("mean_abs_error_pct", "max_abs_error_pct")
        ]
        lines.append(
            f"{'yes' if row['preregistered'] else 'no':13} {row['ratio']:26} "
            f"{row['forecasts']:9d} {row['outcomes']:8d} {row['runs']:4d} {errors[0]:>11} "
            f"{errors[1]:>9}"
        )
    head = f"{'ratio':>8} {'forecast':>9} {'measured':>9} {'error':>9}"
    lines += ["", f"{'ladder':9} {'compute':>20} {'part':>5} {head}  made, method; fitted on"]
    for row in document["forecasts"]:
        if row["error_pct"] is None:
            continue
        ratio = "unknown" if row["ratio"] is None else ratio_words(row["ratio"])
        predicted = "as printed" if row["predicted"] is None else f"{row['predicted']:.4f}"
        measured = "" if row["actual"] is None else f"{row['actual']:.4f}"
        early = " (preregistered)" if row["preregistered"] else ""
        lines.append(
            f"{row['ladder']:9} {flops_words(row['flops']):>20} {100 * row['fraction']:3.0f} % "
            f"{ratio:>8} {predicted:>9} {measured:>9} {row['error_pct']:+7.2f} %  "
            f"{row['made']}{early}, {row['method']}; {row['fitted_on'] or 'unknown'}"
        )
    waiting = sum(row["error_pct"] is None for row in document["forecasts"])
    lines += ["", f"{count(waiting, 'more forecast')} without an outcome; --json has all"]
    return "\n".join(map(_shown, lines))


def check_text(found: dict[str, Any]) -> str:
    """What a check found, for people to read."""
    of = found["forecast"]
    what = f"{of.get('target') or of.get('ladder')}, {of['metric']}"
    rows = ", ".join(f"{number:,} of {table}" for table, number in found["rows"].items() if number)
    lines = [
        f"{found['file']}: {what}, frozen {found['made_at']}",
        f"checksum {found['checksum']}",
        _snapshots_line(found["snapshot"]),
        f"rows it follows from: {rows}",
    ]
    if found["follows"]:
        lines.append("It still follows from the same data, to the last bit.")
    else:
        lines.append("It does not follow as it stands:")
        lines += [f"  {line}" for line in found["differences"]]
    if found["versions"]["differ"]:
        pairs = (
            f"{name} {found['versions']['then'].get(name, 'unknown')} then, "
            f"{found['versions']['now'][name]} now"
            for name in found["versions"]["differ"]
        )
        lines.append(f"Versions differ: {'; '.join(pairs)}.")
    return "\n".join(map(_shown, [*lines, *_since_lines(found["since"])]))


def _snapshots_line(snapshot: dict[str, Any]) -> str:
    if snapshot["then"] == snapshot["now"]:
        return f"the same snapshot, {snapshot['now']}"
    files = ", ".join(snapshot["files_changed"]) or "none"
    return f"snapshot {snapshot['then']} then, {snapshot['now']} now; files that differ: {files}"


def _since_lines(since: dict[str, Any]) -> list[str]:
    if since["problem"]:
        return [f"Measurements since: not to be had: {since['problem']}"]
    summary = since["summary"]
    lines = []
    if not summary["evaluations"]:
        lines.append("Measurements since: none since it was frozen.")
    else:
        score = summary["interval_score"]
        width = "open" if score is None else f"{score:.3f} %"
        lines.append(
            f"Measurements since: {count(summary['evaluations'], 'evaluation')}, mean absolute "
            f"error {summary['mean_abs_error_pct']:.3f} %, worst "
            f"{summary['max_abs_error_pct']:.3f} %, {100 * summary['coverage']:.0f} % inside the "
            f"{100 * summary['level']:g} % band, interval score {width}."
        )
    if since["known_before"]:
        lines.append(f"{since['known_before']:,} were known when it was frozen; not counted.")
    if since["changed_since"]:
        lines.append(f"{since['changed_since']:,} of those have another value now, or are gone.")
    return lines


def _shown(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text)
