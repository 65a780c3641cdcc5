"""Logged evaluations of a run as rows of the trajectories table, wherever they were read."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from delphi_core.tables import TRAJECTORIES
from delphi_core.words import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

TOTAL_TOKENS = "throughput/total_tokens"
"""Key under which a run logs the tokens it has been trained on."""

_BATCH_SIZE = "trainer.train_batch_size"
_LENGTHS = ("train_seq_len", "trainer.train_seq_len", "model.seq_len", "model.max_seq_len")


def finite_number(value: object) -> float:
    """A number as float64; NaN for anything else, such as None, "NaN" and infinities."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    try:
        number = float(value)
    except OverflowError:
        return math.nan
    return number if math.isfinite(number) else math.nan


@dataclass(frozen=True, eq=False)
class Logged:
    """What a run has logged under some keys.

    Attributes
    ----------
    values
        step (int64), then each key (float64), by step. A step that has none of the keys has no
        row.
    lost
        At how many steps what was logged under a key is no finite number, for keys that have any.
    notes
        A sentence for each thing that may be missing from it.
    """

    values: pd.DataFrame
    lost: Mapping[str, int]
    notes: tuple[str, ...] = ()


def values_by_step(
    rows: Iterable[Mapping[str, Any]], keys: Sequence[str], step: str = "step"
) -> Logged:
    """Values of some keys, one row a step.

    Parameters
    ----------
    rows
        One flat mapping for each time something was logged, in the order of logging. What was
        logged twice at a step, as resumed runs do, counts as it came last.
    keys
        Which values to take.
    step
        Key of the step, which every row has as an int.
    """
    found: dict[int, dict[str, float]] = {}
    for row in rows:
        for key in keys:
            if key in row:
                found.setdefault(row[step], {})[key] = finite_number(row[key])
    steps = sorted(found)
    columns = {key: [found[at].get(key, math.nan) for at in steps] for key in keys}
    frame = pd.DataFrame(columns, index=pd.Index(steps, dtype="int64"), dtype="float64")
    lost = Counter(key for held in found.values() for key in held if math.isnan(held[key]))
    return Logged(frame.rename_axis("step").reset_index(), lost)


def tokens_per_step(config: Mapping[str, Any]) -> float:
    """Tokens of one step, batch size times sequence length.

    Parameters
    ----------
    config
        Settings of the run by name, the levels joined by points.

    Returns
    -------
    float
        NaN where the config does not say, or where the batch changes.
    """
    lengths = (finite_number(config.get(key)) for key in _LENGTHS)
    length = next((number for number in lengths if number > 0), math.nan)
    size = finite_number(config.get(_BATCH_SIZE))
    return size * length if size > 0 else math.nan


def trajectory_rows(
    logged: Logged,
    metrics: Sequence[str],
    *,
    ladder: str,
    run: str,
    segment: str,
    source: str,
    step_tokens: float = math.nan,
) -> tuple[pd.DataFrame, list[str]]:
    """Rows of the trajectories table.

    Parameters
    ----------
    logged
        Has the metrics among its keys. Tokens are those under `TOTAL_TOKENS` where it has them.
    metrics
        Which keys are metrics; one that is not there has no rows.
    ladder, run, segment, source
        What the rows say of where they come from.
    step_tokens
        Tokens of one step, where none are logged: after step 0 a run has seen one step's.

    Returns
    -------
    rows : DataFrame
        Columns and types as in `tables.TRAJECTORIES`; by metric, then by step.
    missing : list of str
        The notes of `logged`, and one sentence for each metric that has no value, values that
        are no finite numbers, or values without tokens.
    """
    steps = logged.values["step"].to_numpy(dtype=np.int64)
    tokens = (steps + 1.0) * step_tokens
    if TOTAL_TOKENS in logged.values:
        recorded = logged.values[TOTAL_TOKENS].to_numpy(dtype=np.float64)
        tokens = np.where(recorded >= 0, recorded, tokens)
    parts, missing = [], []
    for metric in metrics:
        values = np.full(len(steps), math.nan)
        if metric in logged.values:
            values = logged.values[metric].to_numpy(dtype=np.float64)
        known, placed = np.isfinite(values), np.isfinite(tokens)
        missing += _missing(
            metric,
            known=int(known.sum()),
            lost=logged.lost.get(metric, 0),
            without_tokens=int((known & ~placed).sum()),
        )
        kept = known & placed
        columns = {"step": steps[kept], "tokens": tokens[kept], "value": values[kept]}
        parts.append(pd.DataFrame(columns).assign(metric=metric))
    frame = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
    frame = frame.assign(ladder=ladder, run=run, segment=segment, source=source)
    frame = frame.reindex(columns=list(TRAJECTORIES.column_names))
    text = {column.name: "str" for column in TRAJECTORIES.columns if column.kind == "text"}
    kinds = {**text, "step": "Int64", "tokens": "float64", "value": "float64"}
    return frame.astype(kinds), [*logged.notes, *(f"{segment} {words}" for words in missing)]


def _missing(metric: str, *, known: int, lost: int, without_tokens: int) -> list[str]:
    """What to say of a metric, after the name of the segment."""
    words = []
    if not (known or lost):
        words.append(f"has no value of {metric}; check its name.")
    if lost:
        values = count(lost, "value")
        words.append(
            f"has {values} of {metric} that cannot be used (NaN, infinite or no number); left out."
        )
    if without_tokens:
        values = count(without_tokens, "value")
        words.append(f"has {values} of {metric} without tokens; give --tokens-per-step.")
    return words
