"""Text of eval_metrics.jsonl to rows of the trajectories table.

One JSON object an evaluation: ``{"step": 1000, "eval/loss": 3.1, ...}``. A resumed run repeats
steps, and the last occurrence counts; a running job may leave half a line at the end. Steps count
from zero, so that an evaluation at a step has seen (step + 1) x batch x sequence tokens: so it is
on every bundled run whose batch size is constant.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from delphi_core.errors import DataError, quoted
from delphi_core.sources.run_folder import flatten
from delphi_core.tables import TRAJECTORIES

if TYPE_CHECKING:
    from collections.abc import Collection

EVAL_FILE = "eval_metrics.jsonl"
METRIC_START = "eval/"
# Beyond it a float no longer tells neighbouring steps apart.
_TOO_LARGE = 2**53


@dataclass(frozen=True, eq=False)
class Evaluations:
    """Evaluations of a run, and what could not be used.

    Attributes
    ----------
    rows
        Columns of the trajectories table, by step and metric.
    skipped
        A sentence for each line or value that was left out.
    """

    rows: pd.DataFrame
    skipped: tuple[str, ...]


def parse_eval_metrics(
    data: bytes,
    *,
    ladder: str,
    run: str,
    source: str,
    tokens_per_step: float,
    segment: str | None = None,
    metrics: Collection[str] | None = None,
) -> Evaluations:
    """Rows of the trajectories table from the content of an eval_metrics.jsonl.

    Parameters
    ----------
    data
        Content of the file.
    ladder, run, source
        What the rows belong to and come from.
    tokens_per_step
        Batch size times sequence length.
    segment
        Part of the run's lineage; by default the run itself.
    metrics
        Which to take; by default all that begin with ``eval/``.

    Raises
    ------
    DataError
        Tokens per step are not positive.
    """
    if not 0 < tokens_per_step < math.inf:
        words = f"tokens per step are {tokens_per_step:g}; give batch size times sequence length."
        raise DataError([words])
    skipped: list[str] = []
    values: dict[tuple[int, str], float] = {}
    for row, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            step, found = _evaluation(line)
        except (ValueError, KeyError, TypeError, RecursionError):
            skipped.append(f"{EVAL_FILE} line {row} is cut off or no evaluation; it was left out.")
            continue
        for metric, value in found.items():
            if metric in metrics if metrics is not None else metric.startswith(METRIC_START):
                number = _finite(value)
                if number is None:
                    words = f"{metric} is {'null' if value is None else quoted(value)}"
                    skipped.append(f"{EVAL_FILE} line {row}: {words}; it must be a finite number.")
                    # A later "NaN" takes back what an earlier pass over the step said.
                    values.pop((step, metric), None)
                else:
                    values[step, metric] = number
    keys = sorted(values)
    rows = pd.DataFrame(
        {
            "ladder": ladder,
            "run": run,
            "segment": run if segment is None else segment,
            "step": pd.array([step for step, _ in keys], dtype="Int64"),
            "tokens": [(step + 1) * float(tokens_per_step) for step, _ in keys],
            "metric": [metric for _, metric in keys],
            "value": [values[key] for key in keys],
            "source": source,
        },
        index=range(len(keys)),
    )
    text = dict.fromkeys(["ladder", "run", "segment", "metric", "source"], "str")
    rows = rows.astype({**text, "tokens": "float64", "value": "float64"})
    return Evaluations(rows[list(TRAJECTORIES.column_names)], tuple(skipped))


def _evaluation(line: bytes) -> tuple[int, dict[str, Any]]:
    """Step and figures of a line."""
    found = flatten(json.loads(line), "/")
    step = found.pop("step")
    if isinstance(step, bool) or step != int(step) or not 0 <= step < _TOO_LARGE:
        raise ValueError(step)
    return int(step), found


def _finite(value: object) -> float | None:
    """A number, or None for what is none or not finite."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
