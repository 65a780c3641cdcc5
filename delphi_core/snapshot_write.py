"""Snapshots to a folder: tables as files, and the manifest that describes them.

The same tables give the same bytes. CSV cells stand as the text they are given as, each row ends in
a line feed, and only cells that need quotes have them; numbers are written with all their digits.
"""

from __future__ import annotations

import csv
import os
import shutil
import uuid
from typing import TYPE_CHECKING, Protocol

import pandas as pd

from delphi_core.errors import DataError
from delphi_core.manifest import MANIFEST, FileEntry, Manifest, listing_problems, sha256, table_of
from delphi_core.parquet_table import write_parquet
from delphi_core.snapshot_read import read_cells, read_file
from delphi_core.sources.places import Place, shown
from delphi_core.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from delphi_core.schema import Table

LARGEST_CSV = 50_000
"""Rows of a table up to which it is written as CSV; a larger one is written as Parquet."""


class Written(Protocol):
    """Rows of a table: typed, and as text."""

    @property
    def frame(self) -> pd.DataFrame:
        """The typed table."""

    def as_text(self) -> pd.DataFrame:
        """The same as text."""


def write_manifest(folder: Path, created_at: str) -> None:
    """Write manifest.json for the tables that lie in a folder.

    Parameters
    ----------
    folder
        Holds every table, as CSV or as Parquet.
    created_at
        ISO 8601, UTC.

    Raises
    ------
    DataError
        A table is missing, unreadable, or there twice.
    """
    present = [path.name for path in folder.iterdir() if table_of(path.name)]
    if problems := listing_problems(present, f"{folder.name} holds"):
        raise DataError(problems)
    entries = {}
    for name, table in TABLES.items():
        file = f"{name}.parquet" if f"{name}.parquet" in present else f"{name}.csv"
        data = read_file(Place(str(folder)), file)
        entries[file] = FileEntry(len(read_cells(data, table, file)), sha256(data))
    (folder / MANIFEST).write_bytes(Manifest(created_at, entries).content())


def table_file(rows: Written, table: Table) -> tuple[str, bytes]:
    """Name and content of a table's file: CSV, or Parquet where the table is large.

    Parameters
    ----------
    rows
        The table's rows.
    table
        Its declaration.
    """
    if len(rows.frame) > LARGEST_CSV:
        return f"{table.name}.parquet", write_parquet(rows.frame, table)
    lines = _Lines()
    # Told that rows end in both, the writer quotes cells that hold either.
    writer = csv.writer(lines, lineterminator="\r\n")
    writer.writerow(table.column_names)
    cells = rows.as_text()[list(table.column_names)]
    writer.writerows(cells.itertuples(index=False, name=None))
    return f"{table.name}.csv", "".join(lines.written).encode()


class _Lines:
    """What a CSV writer writes, each row ending in a line feed."""

    def __init__(self) -> None:
        self.written: list[str] = []

    def write(self, row: str) -> int:
        self.written.append(row.removesuffix("\r\n") + "\n")
        return len(row)


def as_text(frame: pd.DataFrame) -> pd.DataFrame:
    """Cells of a typed table as text, with all digits; empty where there is nothing."""
    cells = {
        str(name): [
            "" if missing else str(cell) for cell, missing in zip(column, empty, strict=True)
        ]
        for (name, column), empty in zip(
            frame.astype(object).items(), frame.isna().to_numpy().T, strict=True
        )
    }
    return pd.DataFrame(cells, index=frame.index, dtype="str")


def write_snapshot(folder: Path, tables: Mapping[str, Written], created_at: str) -> Manifest:
    """Write a snapshot into a new folder, which is there whole or not at all.

    Parameters
    ----------
    folder
        Must not exist, or be empty.
    tables
        Rows of each table, by name.
    created_at
        ISO 8601, UTC.

    Raises
    ------
    DataError
        The folder holds something, or cannot be written.
    """
    entries, contents = {}, {}
    for name, table in TABLES.items():
        file, data = table_file(tables[name], table)
        entries[file] = FileEntry(len(tables[name].frame), sha256(data))
        contents[file] = data
    manifest = Manifest(created_at, entries)
    contents[MANIFEST] = manifest.content()
    _write_folder(folder, contents)
    return manifest


def _write_folder(folder: Path, contents: Mapping[str, bytes]) -> None:
    where = shown(str(folder))
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise DataError([f"{where} is there already; name a new folder."])
        folder.parent.mkdir(parents=True, exist_ok=True)
        unfinished = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}")
        unfinished.mkdir()
        try:
            for name, data in contents.items():
                (unfinished / name).write_bytes(data)
            os.replace(unfinished, folder)  # noqa: PTH105 - the one call that is known to be atomic
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    except (FileExistsError, NotADirectoryError):
        raise DataError([f"{where} is below a file; name another folder."]) from None
    except (OSError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        reason = getattr(error, "strerror", None) or "not a path"
        raise DataError([f"{where} cannot be written: {reason}."]) from None
