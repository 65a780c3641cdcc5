"""What the compare command prints for people to read."""

from __future__ import annotations

from typing import Any


def compare_text(document: dict[str, Any]) -> str:
    """Every ladder against the base: warnings, speed-up, pairs; then published laws."""
    base = document["base"]
    how = f"method {document['method']} {document['law']}, snapshot {document['snapshot']}"
    lines = [f"{document['metric']}, base {base['ladder']}, {how}", base["described"]]
    lines += _held_out_lines(base)
    for item in document["ladders"]:
        lines += ["", *_ladder_lines(item, base["ladder"])]
    rows = [row for row in document["published"] if row["published_speed_up"] is not None]
    if rows:
        lines += ["", f"Published laws at {document['flops'][0]:.4g} FLOP:"]
        lines += [
            f"  {row['id']} ({row['what']}): {row['published_speed_up']:.3f} over {row['base_id']}"
            f" ({row['base_what']}), both with E {row['E']:g}{_optimal(row)}"
            for row in rows
        ]
    return "\n".join(lines)


def _ladder_lines(item: dict[str, Any], base: str) -> list[str]:
    if item["refused"]:
        return [f"{item['ladder']}: refused. {' '.join(item['refused'])}"]
    lines = [item["described"], *_held_out_lines(item)]
    lines += [*(f"  warning: {words}" for words in item["warnings"])]
    lines += [f"  {words}" for words in item["notes"]]
    if "speed_up" not in item:
        return [*lines, f"  no speed-up: {item['problem']}"]
    lines += [f"  {item['described_speed_up']}"] if item["described_speed_up"] else []
    lines.append(
        f"  {'at':>7} {'C (FLOP)':>12} {'loss':>8} {f'{base} needs':>24} {'speed-up':>9} "
        f"{'low':>7} {'high':>7}"
    )
    for row in [*item["at_optima"], *item["speed_up"]]:
        needs, value, low, high = (
            "never" if row[name] is None and name == "base_flops" else _cell(row[name], form)
            for name, form in (
                ("base_flops", ".4e"), ("speed_up", ".4f"), ("low", ".3f"), ("high", ".3f"),
            )
        )  # fmt: skip
        beyond = "  extrapolated" if row["beyond"] is None or row["beyond"] > 1 else ""
        at = "optimum" if row["at"] == "optima" else "law"
        lines.append(
            f"  {at:>7} {row['flops']:12.4e} {row['loss']:8.4f} {needs:>24} {value:>9} "
            f"{low:>7} {high:>7}{beyond}"
        )
    lines += [f"  the laws cross at {flops:.3g} FLOP" for flops in item["crossings"]]
    if "pairs" in item:
        pairs = item["pairs"]
        lines.append(
            f"  run by run: ahead in {pairs['ahead']} of {pairs['pairs']} pairs of equal width, "
            f"tokens and batch, by {pairs['least_difference']:.4f} to "
            f"{pairs['greatest_difference']:.4f}"
        )
    return lines


def _held_out_lines(item: dict[str, Any]) -> list[str]:
    return [
        f"  held out at {row['flops']:.3g} FLOP: measured {row['counted']:.4f}, "
        f"{row['error_pct']:+.2f} % off this law"
        for row in item["held_out"]
    ]


def _optimal(row: dict[str, Any]) -> str:
    return "" if row["optimal"] else "; of runs that are not compute-optimal"


def _cell(value: float | None, form: str) -> str:
    return "open" if value is None else format(value, form)
