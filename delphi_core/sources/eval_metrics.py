"""Text of eval_metrics.jsonl to evaluations, as `histories` makes rows of.

One JSON object an evaluation: ``{"step": 1000, "eval/loss": 3.1, ...}``, flat or nested. A resumed
run repeats steps, and a running job may leave half a line at the end.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from delphi_core.sources.run_folder import flatten

EVAL_FILE = "eval_metrics.jsonl"
# Beyond it a float no longer tells neighbouring steps apart.
_TOO_LARGE = 2**53


@dataclass(frozen=True)
class Evaluations:
    """Evaluations of a run, in the order of the file.

    Attributes
    ----------
    rows
        ``step``, a whole number, and figures by name, flat.
    notes
        A sentence for each line that was left out.
    """

    rows: tuple[dict[str, Any], ...]
    notes: tuple[str, ...]


def parse_eval_metrics(data: bytes) -> Evaluations:
    """Evaluations in the content of an eval_metrics.jsonl.

    Parameters
    ----------
    data
        Content of the file.
    """
    rows, notes = [], []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            rows.append(_evaluation(line))
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
            words = f"{EVAL_FILE} line {number} is cut off or no evaluation; it was left out."
            notes.append(words)
    return Evaluations(tuple(rows), tuple(notes))


def _evaluation(line: bytes) -> dict[str, Any]:
    """Step and figures of a line."""
    found = flatten(json.loads(line), "/")
    step = found["step"]
    if isinstance(step, bool) or step != int(step) or not 0 <= step < _TOO_LARGE:
        raise ValueError(step)
    return {**found, "step": int(step)}
