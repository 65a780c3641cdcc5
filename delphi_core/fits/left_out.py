"""Which records an IsoFLOP fit leaves out, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from delphi_core.errors import FitError, did_you_mean, quoted

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

_ROLES = {
    "isoflop": None,
    "excluded": None,
    "heldout": "held-out: larger than anything fitted, never fitted",
    "validation": "validation: a compute-optimal run, never fitted",
    "optimum": "optimum: already compute-optimal, no part of a sweep",
    "rung": "rung: belongs to a trajectory ladder",
    "target": "target: a large run to be forecast, never fitted",
}
_STATUSES = {
    "finished": None,
    "diverged": "diverged: its value says nothing about its size",
    "running": "running: not finished yet",
    "stopped": "stopped early",
    "crashed": "crashed",
}


@dataclass(frozen=True)
class LeftOut:
    """One run that was not fitted.

    Attributes
    ----------
    run
        Its name, or its place where the records name no runs.
    reason
        Begins with held-out, validation, optimum, rung, target, diverged, running, stopped early,
        crashed, excluded, below or dropped.
    """

    run: str
    reason: str


def reasons_left_out(
    records: pd.DataFrame,
    *,
    include_excluded: bool,
    drop: Mapping[str, Sequence[str]],
    flops_min: float,
) -> list[str | None]:
    """Why each record is left out of an IsoFLOP fit; None where it is used.

    Parameters
    ----------
    records
        As `Snapshot.records` gives them; without role and status, all count as finished runs of
        the sweep.
    include_excluded
        Whether runs that the published fit left out are used.
    drop
        Column to values; rows that hold one of them are left out.
    flops_min
        Compute below which rows are left out, FLOP.

    Returns
    -------
    list
        One entry a row.

    Raises
    ------
    FitError
        A role or status is unknown, or `drop` names no column, or a value that no row has.
    """
    dropped = _dropped(records, drop)
    columns = ["role", "status", "progress", "excluded_reason", "flops"]
    rows = records.reindex(columns=columns).astype(object)
    rows = rows.where(rows.notna(), None)
    _known("role", rows["role"], _ROLES)
    _known("status", rows["status"], _STATUSES)
    reasons = []
    for row, drop_reason in zip(rows.to_dict("records"), dropped, strict=True):
        reason = _ROLES.get(row["role"]) or _unfinished(row)
        if reason is None and row["role"] == "excluded" and not include_excluded:
            reason = f"excluded: {row['excluded_reason'] or 'no reason is recorded'}"
        if reason is None and row["flops"] < flops_min:
            reason = f"below {flops_min:g} FLOP"
        reasons.append(reason or drop_reason)
    return reasons


def _known(column: str, cells: pd.Series, choices: Mapping[str, str | None]) -> None:
    for cell in cells.dropna().unique():
        if cell not in choices:
            remedy = did_you_mean(str(cell), choices)
            raise FitError(f"the records hold a {column} {quoted(cell)}; {remedy}")


def _unfinished(row: Mapping[Hashable, Any]) -> str | None:
    reason = _STATUSES.get(row["status"])
    if row["status"] not in ("stopped", "crashed"):
        return reason
    try:
        progress = float(row["progress"])
    except (TypeError, ValueError):
        return f"{reason}: how much of its plan was trained is not recorded"
    return f"{reason}: {progress:.0%} of its plan was trained".replace("%", " %")


def _dropped(records: pd.DataFrame, drop: Mapping[str, Sequence[str]]) -> list[str | None]:
    """Reason of each row that `drop` names; numbers are compared as numbers."""
    reasons: list[str | None] = [None] * len(records)
    for column, values in drop.items():
        if column not in records:
            remedy = did_you_mean(column, records.columns)
            raise FitError(f"no column {quoted(column)} to drop by; {remedy}")
        cells = records[column]
        numeric = pd.api.types.is_numeric_dtype(cells)
        for value in values:
            wanted: object = pd.to_numeric(pd.Series([value]), errors="coerce")[0]
            hits = cells == (wanted if numeric else value)
            hits = hits.fillna(value=False).astype(bool)
            if not hits.any():
                there = cells.dropna().sort_values().unique()
                remedy = did_you_mean("" if numeric else value, there)
                raise FitError(f"no row has {column} {quoted(value)}; {remedy}")
            for place in hits.to_numpy().nonzero()[0]:
                reasons[place] = f"dropped: {column} is {value}"
    return reasons
