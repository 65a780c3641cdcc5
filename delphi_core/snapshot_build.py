"""Snapshots made of whatever there is: tables, published snapshots, records and trajectories."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from delphi_core.checks import check_references, check_sizes
from delphi_core.errors import DataError
from delphi_core.snapshot_records import Origin, add_records, add_trajectories
from delphi_core.snapshot_rows import Origins, no_rows
from delphi_core.snapshot_sources import Gathered, add_source
from delphi_core.snapshot_write import write_snapshot
from delphi_core.sources.places import shown
from delphi_core.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from delphi_core.manifest import Manifest
    from delphi_core.sources.places import Credentials


@dataclass(frozen=True)
class Built:
    """A snapshot that was written, and what whoever builds should know."""

    manifest: Manifest
    notes: tuple[str, ...]


def build_snapshot(
    out: Path,
    sources: Sequence[str],
    *,
    created_at: str,
    records: Sequence[str] = (),
    trajectories: Sequence[str] = (),
    origin: Origin | None = None,
    credentials: Credentials = "anonymous",
) -> Built:
    """Build a snapshot in a new folder; the same sources give the same bytes.

    A later source adds rows to those of earlier ones and, for the same key, replaces them; then
    records and trajectories do. A row whose numbers are the same stays as it was written.

    Parameters
    ----------
    out
        Folder to write, which must not exist, or be empty.
    sources
        As `snapshot_sources.add_source` takes them.
    created_at
        ISO 8601, UTC.
    records, trajectories
        CSV files.
    origin
        What records and trajectories are said to be of.
    credentials
        Of buckets.

    Raises
    ------
    DataError
        A source cannot be read, or the tables hold mistakes: one sentence each.
    """
    gathered = Gathered()
    for source in sources:
        add_source(gathered, source, credentials)
    gathered.raise_any()
    origin = origin or Origin()
    for files, add in ((records, add_records), (trajectories, add_trajectories)):
        for file in files:
            _add_file(gathered, file, add, origin)
            # A new ladder is described once.
            origin = replace(origin, about=None)
    gathered.raise_any()
    for name in TABLES:
        if name not in gathered.rows:
            gathered.rows[name] = no_rows(TABLES[name])
            gathered.notes.append(f"no source has {name}.csv; it has no rows.")
    _drop_unused_sources(gathered)
    frames = {name: gathered.rows[name].frame for name in TABLES}
    where = Origins(rows=gathered.rows)
    problems = check_references(frames, TABLES, where)
    problems += check_sizes(frames["runs"], frames["ladders"], where)
    if problems:
        raise DataError(problems)
    manifest = write_snapshot(out, gathered.rows, created_at)
    return Built(manifest, tuple(gathered.notes))


def _add_file(
    gathered: Gathered,
    file: str,
    add: Callable[[Gathered, str, bytes, Origin], None],
    origin: Origin,
) -> None:
    try:
        data = Path(file).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        gathered.problems.append(f"{shown(file)} cannot be read: {reason}.")
        return
    add(gathered, file, data, origin)


def _drop_unused_sources(gathered: Gathered) -> None:
    """Leave out sources that were added for a file whose rows all were there before."""
    used = {
        key
        for table in TABLES.values()
        if any(reference.table == "sources" for reference in table.references)
        for key in gathered.rows[table.name].frame["source"].unique()
    }
    sources = gathered.rows["sources"]
    kept = ~sources.frame["source"].isin(gathered.new_sources - used)
    gathered.rows["sources"] = sources.take(np.flatnonzero(kept))
