"""The manifest of a snapshot: what its folder holds, with rows and sha256 of each file.

A table is one file, NAME.csv or NAME.parquet; the manifest lists exactly one for each table.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from delphi_core.errors import DataError, did_you_mean, quoted
from delphi_core.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SCHEMA_VERSION = 1
MANIFEST = "manifest.json"
ENDINGS = (".csv", ".parquet")


@dataclass(frozen=True)
class FileEntry:
    """What the manifest says of a file; rows as written there, which may be anything."""

    rows: object
    sha256: object


@dataclass(frozen=True)
class Manifest:
    """What a snapshot's folder holds.

    Attributes
    ----------
    created_at
        When it was made (ISO 8601, UTC).
    files
        File name to its entry, in the manifest's order.
    """

    created_at: str
    files: Mapping[str, FileEntry]

    @property
    def id(self) -> str:
        """First 12 hexadecimal digits of the sha256 over the files' names and checksums."""
        lines = [f"{name} {self.files[name].sha256}" for name in sorted(self.files)]
        return sha256("\n".join(lines).encode())[:12]

    @property
    def file_of(self) -> dict[str, str]:
        """Name of each table's file, in the order of `TABLES`."""
        files = {table_of(file): file for file in self.files}
        return {table: files[table] for table in TABLES}

    def content(self) -> bytes:
        """What manifest.json holds."""
        document = {
            "schema_version": SCHEMA_VERSION,
            "created_at": self.created_at,
            "files": {
                file: {"rows": entry.rows, "sha256": entry.sha256}
                for file, entry in self.files.items()
            },
        }
        return (json.dumps(document, indent=2) + "\n").encode()


def parse_manifest(content: bytes) -> Manifest:
    """Manifest of a folder, known to list one file for every table and nothing else.

    Parameters
    ----------
    content
        What manifest.json holds.

    Raises
    ------
    DataError
        It is not a manifest, of another schema version, or lists too little or too much.
    """
    broken = DataError([f"{MANIFEST} is not a manifest of a snapshot; write it anew."])
    try:
        manifest = json.loads(content)
        version, files = manifest["schema_version"], manifest["files"]
        created_at = manifest["created_at"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise broken from None
    if version != SCHEMA_VERSION:
        sentence = (
            f"{MANIFEST} has schema version {said(version)}; this version reads {SCHEMA_VERSION}."
        )
        raise DataError([sentence])
    if not (
        isinstance(created_at, str)
        and isinstance(files, dict)
        and all(isinstance(entry, dict) for entry in files.values())
    ):
        raise broken
    problems = listing_problems(files, f"{MANIFEST} lists")
    listed = {table_of(file) for file in files}
    problems = [
        f"{MANIFEST} does not list {table}.csv; add it." for table in sorted(set(TABLES) - listed)
    ] + problems
    if problems:
        raise DataError(problems)
    return Manifest(created_at, {file: _entry(entry) for file, entry in files.items()})


def listing_problems(files: Iterable[str], what: str) -> list[str]:
    """Files that are no table's, and tables that have two.

    Parameters
    ----------
    files
        Names of files.
    what
        How a sentence begins: who lists or holds them.
    """
    problems = []
    first: dict[str, str] = {}
    for file in sorted(files):
        table = table_of(file)
        if table is None:
            known = sorted(f"{name}.csv" for name in TABLES)
            problems.append(f"{what} {file!r}, which no snapshot has; {did_you_mean(file, known)}")
        elif table in first:
            problems.append(f"{what} {first[table]} and {file}; keep one of them.")
        else:
            first[table] = file
    return problems


def table_of(file: str) -> str | None:
    """The table whose file has this name; None for any other file."""
    path = PurePosixPath(file)
    known = path.name == file and path.suffix in ENDINGS and path.stem in TABLES
    return path.stem if known else None


def said(value: object) -> str:
    """What a manifest holds where it should hold a number, as messages may show it."""
    return str(value) if isinstance(value, int) else quoted(value)


def sha256(data: bytes) -> str:
    """Checksum of a file's content, as manifests hold it."""
    return hashlib.sha256(data).hexdigest()


def _entry(entry: Mapping[str, Any]) -> FileEntry:
    return FileEntry(entry.get("rows"), entry.get("sha256"))
