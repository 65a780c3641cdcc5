"""Whether a frozen forecast still follows from the data, and how it has come out since."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from delphi_core.errors import DataError, DelphiError, quoted
from delphi_core.fits.backtest import scored
from delphi_core.freeze import versions
from delphi_core.frozen_file import (
    Part,
    checksum,
    file_name,
    frozen_text,
    is_sealed,
    parse_frozen,
    read_frozen,
)
from delphi_core.frozen_law import FrozenLaw
from delphi_core.frozen_rows import change_lines, changes, held, taken_up
from delphi_core.frozen_trajectory import FrozenTrajectory
from delphi_core.plain_rows import plain_rows
from delphi_core.snapshot_diff import diff_document

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd

    from delphi_core.freeze import Frozen
    from delphi_core.frozen_rows import Rows
    from delphi_core.snapshot import Snapshot

LINES = 10
"""Rows that differ are named up to so many a table."""


def check_forecast(snapshot: Snapshot, frozen: str | Path | dict[str, Any]) -> dict[str, Any]:
    """Recompute a frozen forecast, and score it against what was measured since.

    Parameters
    ----------
    snapshot
        The data as they are now.
    frozen
        The file, or a document of `freeze_forecast`.

    Returns
    -------
    dict
        follows (whether the file is unaltered, its rows are those of the snapshot, and they give
        the same forecast to the last bit); differences (one sentence each); altered; own_rows and
        now (whether the file's rows and the snapshot's give the forecast: identical, largest
        relative difference, problem); rows_changed (as `diff_document` has it); snapshot (ids, and
        names of the files that are others); versions (then, now and which differ); since (points
        and summary of the measurements made since).

    Raises
    ------
    DataError, FitError
        The file is broken, or holds settings or rows that give no forecast.
    """
    if isinstance(frozen, dict):
        name = "the forecast"
        document = parse_frozen(frozen_text(frozen).encode(), name)
    else:
        name = file_name(frozen)
        document = read_frozen(frozen)
    whole = Part(document, name)
    asked, settings, result = (whole.part(part) for part in ("forecast", "settings", "result"))
    own = _read(asked, settings)
    then = taken_up(whole.part("rows"), own.tables)
    sums = {"then": whole.text("rows_sha256"), "now": None}
    altered = not is_sealed(document) or checksum(held(then)) != sums["then"]
    from_own = _compared(own, then, result)
    if from_own["problem"]:
        raise DataError([f"{name}: its own rows give no forecast: {from_own['problem']}"])
    now, problem = _rows_now(own, snapshot)
    diffs = [] if now is None else changes(then, now, own.tables)
    sums["now"] = None if now is None else checksum(held(now))
    if now is None:
        from_now = {"identical": False, "largest_difference": None, "problem": problem}
    else:
        # The same rows in the same order give the same.
        from_now = from_own if sums["now"] == sums["then"] else _compared(own, now, result)
    used = versions()
    made_with = whole.part("versions")
    was = {key: made_with.text(key) for key in made_with.names}
    differ = [key for key in used if was.get(key) != used[key]]
    differences = []
    if altered:
        differences.append(
            "the file was altered after it was made: its checksums are not those of its content."
        )
    if not from_own["identical"]:
        differences.append(_off("the file's own rows", from_own, differ))
    differences += change_lines(diffs, LINES)
    if not from_now["identical"] and (from_own["identical"] or diffs or from_now["problem"]):
        differences.append(_off("the snapshot's rows", from_now, []))
    files = whole.part("snapshot").part("files")
    file_sums = {key: files.text(key) for key in files.names}
    return {
        "file": name,
        "made_at": whole.text("made_at"),
        "forecast": own.asked(),
        "settings": own.settings_document(),
        "checksum": whole.text("checksum"),
        "follows": not differences,
        "differences": differences,
        "altered": altered,
        "own_rows": from_own,
        "now": from_now,
        "rows_sha256": sums,
        "rows": {table: len(frame) for table, frame in then.items()},
        "rows_changed": diff_document(diffs),
        "snapshot": {
            "then": whole.part("snapshot").text("id"),
            "now": snapshot.id,
            "files_changed": sorted(
                key
                for key in {*file_sums, *snapshot.files}
                if file_sums.get(key) != snapshot.files.get(key)
            ),
        },
        "versions": {"then": was, "now": used, "differ": differ},
        "since": _since(own, snapshot, whole, result),
    }


def _read(asked: Part, settings: Part) -> Frozen:
    kinds: dict[str, type[FrozenTrajectory | FrozenLaw]] = {
        kind.kind: kind for kind in (FrozenTrajectory, FrozenLaw)
    }
    kind = asked.text("forecast")
    if kind not in kinds:
        raise asked.wrong(f"is of {quoted(kind)}, and must be of {' or '.join(kinds)}")
    return kinds[kind].read(asked, settings)


def _rows_now(own: Frozen, snapshot: Snapshot) -> tuple[Rows | None, str | None]:
    """The rows that the snapshot has for a forecast, or why it has none."""
    try:
        return own.rows(snapshot), None
    except DelphiError as error:
        return None, str(error)


def _compared(own: Frozen, rows: Rows, result: Part) -> dict[str, Any]:
    """What rows give beside what the file says."""
    try:
        # Rows of a file may be any numbers; what comes of those is compared, and refused if none.
        with np.errstate(all="ignore"):
            found = own.forecast(rows)
    except DelphiError as error:
        return {"identical": False, "largest_difference": None, "problem": str(error)}
    except (ArithmeticError, ValueError, np.linalg.LinAlgError):
        problem = "its numbers are out of all range."
        return {"identical": False, "largest_difference": None, "problem": problem}
    wanted, given = found["predictions"], result.any("predictions")
    same = set(found) == set(result.names) and all(
        found[name] == result.any(name) for name in found
    )
    return {
        "identical": same,
        "largest_difference": 0.0 if same else _difference(wanted, given),
        "problem": None,
    }


def _difference(wanted: list[dict[str, Any]], given: Any) -> float | None:
    """Largest relative difference of predicted values and bands; None where they do not pair."""
    if not isinstance(given, list) or len(given) != len(wanted):
        return None
    largest = 0.0
    for one, other in zip(wanted, given, strict=True):
        for name, value in one.items():
            said = other.get(name) if isinstance(other, dict) else None
            if value == said:
                continue
            if not isinstance(said, float) or not isfinite(said) or not value:
                return None
            largest = max(largest, abs(said / value - 1))
    return largest


def _off(rows: str, compared: dict[str, Any], differ: Sequence[str]) -> str:
    """One sentence: what rows give is not what the file says."""
    if compared["problem"]:
        return f"{rows} give no forecast: {compared['problem']}"
    off = compared["largest_difference"]
    by = "another forecast" if off is None else f"a forecast that is off by up to {off:.2g} of it"
    if off == 0:
        by = "the same predictions, but not all else that the file says of them"
    why = f" (other versions of {', '.join(differ)} are at work)" if differ else ""
    return f"{rows} give {by}{why}."


def _since(own: Frozen, snapshot: Snapshot, whole: Part, result: Part) -> dict[str, Any]:
    """Measurements made since, scored."""
    before = whole.lists("measured_before", 3)
    level = own.settings.level
    try:
        table = own.since(snapshot, result, before)
    except DelphiError as error:
        return {"problem": str(error), "points": [], "summary": {"evaluations": 0}}
    table = scored(table, level)
    now = {tuple(row) for row in own.measured(snapshot)}
    return {
        "problem": None,
        "known_before": len(before),
        "changed_since": sum(tuple(row) not in now for row in before),
        "points": plain_rows(table),
        "summary": _summary(table, level),
    }


def _summary(table: pd.DataFrame, level: float) -> dict[str, Any]:
    """How the forecast did on what was measured since."""
    if not len(table):
        return {"evaluations": 0}
    errors = table["error_pct"].abs()
    score = float(table["score"].mean())
    return {
        "evaluations": len(table),
        "mean_abs_error_pct": float(errors.mean()),
        "max_abs_error_pct": float(errors.max()),
        "coverage": float(table["covered"].astype("float64").mean()),
        "interval_score": score if isfinite(score) else None,
        "level": level,
    }
