"""What a snapshot is built from: folders of tables, published snapshots and the bundled one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from delphi_core.errors import DataError
from delphi_core.manifest import MANIFEST, listing_problems, parse_manifest, sha256
from delphi_core.snapshot import BUNDLED
from delphi_core.snapshot_read import read_cells, read_file, read_files, read_pointer
from delphi_core.snapshot_rows import Rows, merged, rows_of
from delphi_core.sources.places import Place, shown
from delphi_core.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import pandas as pd

    from delphi_core.sources.places import Credentials

BUNDLED_NAME = "bundled"


@dataclass
class Gathered:
    """Rows gathered so far, and what was noted on the way.

    Attributes
    ----------
    rows
        Table to its rows; a table that no source had is not there.
    problems, unlisted
        Mistakes of the sources, and how many more there are.
    notes
        What whoever builds should know.
    new_sources
        Keys of sources that were added for a file; those that no row names in the end go again.
    """

    rows: dict[str, Rows] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    unlisted: int = 0
    notes: list[str] = field(default_factory=list)
    new_sources: set[str] = field(default_factory=set)

    def add(self, name: str, cells: pd.DataFrame, file: str, but: Collection[str] = ()) -> None:
        """Add a file's rows to those of a table; its mistakes are noted instead.

        Parameters
        ----------
        name
            The table.
        cells
            As `check_table` takes them.
        file
            How messages call the file.
        but
            Columns that alone do not count, see `merged`.
        """
        rows, mistakes = rows_of(cells, TABLES[name], file)
        if mistakes:
            self.problems += mistakes.sentences
            self.unlisted += mistakes.unlisted
        elif name in self.rows:
            self.rows[name] = merged(self.rows[name], rows, TABLES[name], but)
        else:
            self.rows[name] = rows

    def refuse(self, error: DataError) -> None:
        """Note the mistakes of a source that cannot be read."""
        self.problems += error.problems
        self.unlisted += error.unlisted

    def raise_any(self) -> None:
        """Raise a DataError if there are mistakes."""
        if self.problems:
            raise DataError(self.problems, self.unlisted)


def add_source(gathered: Gathered, source: str, credentials: Credentials = "anonymous") -> None:
    """Add the tables of a source; its mistakes are noted.

    Parameters
    ----------
    gathered
        What they are added to.
    source
        ``bundled``; the place of a snapshot in a bucket, or of published ones on this machine; or
        a folder that holds tables as CSV or Parquet, where a manifest only warns.
    credentials
        Of a bucket.
    """
    try:
        contents = _contents(gathered, source, credentials)
    except DataError as error:
        gathered.refuse(error)
        return
    for name, table in TABLES.items():
        for file in (f"{name}.csv", f"{name}.parquet"):
            if file not in contents:
                continue
            label = f"{shown(source)}/{file}"
            try:
                gathered.add(name, read_cells(contents[file], table, label), label)
            except DataError as error:
                gathered.refuse(error)


def _contents(gathered: Gathered, source: str, credentials: Credentials) -> Mapping[str, bytes]:
    """Contents of a source's tables by file name."""
    place = Place(str(BUNDLED) if source == BUNDLED_NAME else source, credentials)
    if place.in_bucket or source == BUNDLED_NAME or read_pointer(place):
        try:
            return read_files(place).contents
        except DataError as error:
            raise error.of(shown(source)) from None
    files = place.files()
    tables = [file for file in files if file.endswith((".csv", ".parquet"))]
    problems = listing_problems(tables, f"{shown(source)} holds")
    if not tables:
        problems = [f"{shown(source)} holds no table, such as runs.csv; name another folder."]
    if problems:
        raise DataError(problems)
    contents = {file: read_file(place, file) for file in tables}
    if MANIFEST in files:
        _warn_of_changes(gathered, source, contents, read_file(place, MANIFEST))
    return contents


def _warn_of_changes(
    gathered: Gathered, source: str, contents: Mapping[str, bytes], manifest: bytes
) -> None:
    """Note files that are not as the folder's manifest says: edited, or torn."""
    try:
        entries = parse_manifest(manifest).files
    except DataError as error:
        gathered.notes.append(
            f"{shown(source)}: {error.problems[0]} Its tables are taken as they are."
        )
        return
    changed = [
        file
        for file in sorted({*entries, *contents})
        if file not in entries
        or file not in contents
        or sha256(contents[file]) != entries[file].sha256
    ]
    if changed:
        gathered.notes.append(
            f"{shown(source)}: {', '.join(changed)} {'is' if len(changed) == 1 else 'are'} not as "
            f"{MANIFEST} says; all are taken as they are now."
        )
