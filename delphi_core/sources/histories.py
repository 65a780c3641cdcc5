"""Logged evaluations of a run as rows of the trajectories table, wherever they were read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from delphi_core.tables import TRAJECTORIES
from delphi_core.words import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

TOTAL_TOKENS = "throughput/total_tokens"
"""Key under which a run logs the tokens it has been trained on."""

_BATCH_SIZES = ("trainer.train_batch_size",)
_LENGTHS = ("train_seq_len", "trainer.train_seq_len", "model.seq_len", "model.max_seq_len")


def logged(document: Mapping[str, object], key: str, separator: str = "/") -> object:
    """What a document holds under a key, flat or nested; None where it holds nothing.

    Parameters
    ----------
    document
        As JSON holds it.
    key
        ``eval/loss`` is looked for as such and, part by part, as ``{"eval": {"loss": ...}}``.
    separator
        What divides the parts of the key.
    """
    if key in document:
        return document[key]
    parts = key.split(separator)
    for cut in range(len(parts) - 1, 0, -1):
        inner = document.get(separator.join(parts[:cut]))
        if isinstance(inner, dict):
            found = logged(inner, separator.join(parts[cut:]), separator)
            if found is not None:
                return found
    return None


def finite_number(value: object) -> float:
    """A number as float64; NaN for anything else, such as None, "NaN" and infinities."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return math.nan
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return math.nan
    return number if math.isfinite(number) else math.nan


def values_by_step(
    rows: Iterable[Mapping[str, object]], keys: Sequence[str], step: str
) -> pd.DataFrame:
    """Values of some keys, one row a step.

    Parameters
    ----------
    rows
        One mapping for each time something was logged, in the order of logging.
    keys
        Which values to take.
    step
        Key of the step, which every row has as a whole number.

    Returns
    -------
    DataFrame
        `step` (int64), then each key (float64), by step. A step that has none of the keys has no
        row. What was logged twice at a step, as resumed runs do, counts as it came last; what
        is no finite number is missing.
    """
    found: dict[int, dict[str, float]] = {}
    for row in rows:
        for key in keys:
            value = logged(row, key)
            if value is not None:
                at = int(str(row[step]))
                found.setdefault(at, {})[key] = finite_number(value)
    steps = sorted(found)
    columns = {key: [found[at].get(key, math.nan) for at in steps] for key in keys}
    frame = pd.DataFrame(columns, index=pd.Index(steps, dtype="int64"), dtype="float64")
    return frame.rename_axis(step).reset_index()


def tokens_per_step(config: Mapping[str, object]) -> float:
    """Tokens of one step by a run's config, batch size times sequence length; NaN if not known."""
    sizes = (finite_number(logged(config, key, ".")) for key in _BATCH_SIZES)
    lengths = (finite_number(logged(config, key, ".")) for key in _LENGTHS)
    size = next((number for number in sizes if number > 0), math.nan)
    return size * next((number for number in lengths if number > 0), math.nan)


def trajectory_rows(
    values: pd.DataFrame,
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
    values
        As `values_by_step` gives them: the step, then columns of which some are the metrics.
        Tokens are those of `TOTAL_TOKENS` where it has them.
    metrics
        Which columns are metrics; one that is not there has no rows.
    ladder, run, segment, source
        What the rows say of where they come from.
    step_tokens
        Tokens of one step, where none are logged: step 0 has been trained on one step's.

    Returns
    -------
    rows : DataFrame
        Columns as in `tables.TRAJECTORIES`; by metric, then by step.
    missing : list of str
        One sentence for each metric that has no value, or no tokens at some steps.
    """
    steps = values.iloc[:, 0].to_numpy(dtype=np.int64)
    tokens = (steps + 1.0) * step_tokens
    if TOTAL_TOKENS in values:
        recorded = values[TOTAL_TOKENS].to_numpy(dtype=np.float64)
        tokens = np.where(np.isfinite(recorded), recorded, tokens)
    parts, missing = [], []
    for metric in metrics:
        column = values[metric] if metric in values else pd.Series(np.nan, index=values.index)
        number = column.to_numpy(dtype=np.float64)
        known = np.isfinite(number)
        if not known.any():
            missing.append(f"{segment} has no value of {metric}; check its name.")
        elif lost := int((known & ~np.isfinite(tokens)).sum()):
            missing.append(
                f"{segment} has no tokens for {count(lost, 'value')} of {metric}; "
                "give --tokens-per-step."
            )
        known &= np.isfinite(tokens)
        parts.append(
            pd.DataFrame(
                {
                    "step": steps[known],
                    "tokens": tokens[known],
                    "metric": metric,
                    "value": number[known],
                }
            )
        )
    rows = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
    rows = rows.assign(ladder=ladder, run=run, segment=segment, source=source)
    return rows.reindex(columns=list(TRAJECTORIES.column_names)), missing
