"""Snapshots from a folder on this machine or in a bucket to checked tables.

A place may hold a snapshot, or snapshots as folders and a pointer (latest.json) to the current one.
What the manifest (manifest.json) does not describe is refused.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from delphi_core.checks import Where, check_references, check_sizes, check_table
from delphi_core.csv_text import read_csv_text
from delphi_core.errors import DataError, quoted
from delphi_core.manifest import MANIFEST, Manifest, parse_manifest, said, sha256
from delphi_core.parquet_table import read_parquet
from delphi_core.sources.places import Place, PlaceError
from delphi_core.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from delphi_core.schema import Table

POINTER = "latest.json"


@dataclass(frozen=True)
class Pointer:
    """Which folder of a place is the current snapshot, and the id it must have."""

    folder: str
    id: str

    def content(self) -> bytes:
        """What latest.json holds."""
        return (json.dumps({"folder": self.folder, "id": self.id}, indent=2) + "\n").encode()


@dataclass(frozen=True)
class SnapshotFiles:
    """Files of a snapshot, each the one that its manifest describes.

    Attributes
    ----------
    manifest
        The manifest.
    contents
        File name to content; the manifest itself is not among them.
    """

    manifest: Manifest
    contents: Mapping[str, bytes]


def read_files(place: Place) -> SnapshotFiles:
    """Files of the snapshot at a place, known to match its manifest.

    Parameters
    ----------
    place
        A snapshot's folder, or one with a pointer to it.

    Raises
    ------
    DataError
        There is no snapshot, it cannot be read, or it is torn: one sentence a file.
    """
    pointer = read_pointer(place)
    folder = place if pointer is None else place.below(pointer.folder)
    manifest = parse_manifest(read_file(folder, MANIFEST))
    if pointer is not None and pointer.id != manifest.id:
        sentence = (
            f"{POINTER} names {quoted(pointer.folder)} as snapshot {quoted(pointer.id)}, and it is "
            f"{manifest.id}; publish it again."
        )
        raise DataError([sentence])
    names = list(manifest.files)
    # One connection a file: together they take as long as the largest.
    with ThreadPoolExecutor(len(names)) as pool:
        answers = [pool.submit(_described, folder, name, manifest) for name in names]
    errors = [error for answer in answers if (error := answer.exception())]
    for error in errors:
        if not isinstance(error, DataError) or len(errors) == 1:
            raise error
    if errors:
        raise DataError([str(error) for error in errors])
    contents = {name: answer.result() for name, answer in zip(names, answers, strict=True)}
    return SnapshotFiles(manifest, contents)


def read_tables(files: SnapshotFiles) -> dict[str, pd.DataFrame]:
    """Typed tables of a snapshot's files, indexed by row number, in the order of `TABLES`.

    Raises
    ------
    DataError
        The files hold mistakes: one sentence each.
    """
    frames: dict[str, pd.DataFrame] = {}
    problems: list[str] = []
    unlisted = 0
    for name, file in files.manifest.file_of.items():
        rows = files.manifest.files[file].rows
        try:
            text = read_cells(files.contents[file], TABLES[name], file, rows)
        except DataError as error:
            problems += error.problems
            unlisted += error.unlisted
            continue
        if len(text) != rows:
            problems.append(f"{file} has {len(text)} rows where {MANIFEST} says {said(rows)}.")
        frames[name], mistakes = check_table(text, TABLES[name], file)
        problems += mistakes.sentences
        unlisted += mistakes.unlisted
    if not problems:
        where = Where(files.manifest.file_of)
        problems = check_references(frames, TABLES, where)
        problems += check_sizes(frames["runs"], frames["ladders"], where)
    if problems:
        raise DataError(problems, unlisted)
    return frames


def read_cells(data: bytes, table: Table, file: str, rows: object = None) -> pd.DataFrame:
    """Cells of a table's file, CSV or Parquet, as `check_table` takes them.

    Parameters
    ----------
    data, file
        Its content and its name.
    table
        What it should hold.
    rows
        How many rows it should have, where that is known.

    Raises
    ------
    DataError
        It is not readable.
    """
    if file.endswith(".parquet"):
        return read_parquet(data, table, file, rows)
    return read_csv_text(data, file, may_be_empty=True)


def files_version(place: Place) -> str:
    """What changes when another snapshot is to be had at a place.

    Raises
    ------
    PlaceError
        It holds neither a pointer nor a manifest, or cannot be asked.
    """
    try:
        return f"{POINTER} {place.version(POINTER)}"
    except PlaceError as error:
        if error.kind not in ("missing", "refused"):
            raise
    return f"{MANIFEST} {place.version(MANIFEST)}"


def read_pointer(place: Place) -> Pointer | None:
    """The pointer of a place; None where it has none.

    Raises
    ------
    DataError
        It cannot be read, or names no folder.
    """
    try:
        content = place.read(POINTER)
    except PlaceError as error:
        # Who may not list a bucket is refused what is not there.
        if error.kind in ("missing", "refused"):
            return None
        raise
    try:
        document = json.loads(content)
        folder, snapshot = document["folder"], document["id"]
    except (ValueError, KeyError, TypeError, RecursionError):
        folder, snapshot = None, None
    if not (isinstance(folder, str) and folder and "/" not in folder and isinstance(snapshot, str)):
        raise DataError([f"{POINTER} names no folder of a snapshot; publish one again."])
    return Pointer(folder, snapshot)


def read_file(place: Place, name: str) -> bytes:
    """Content of a file of a snapshot.

    Raises
    ------
    DataError
        It cannot be read.
    """
    if place.in_bucket:
        return place.read(name)
    path = Path(place.url) / name
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        where = quoted(f"{path.parent.name}/{path.name}")
        raise DataError([f"{where} cannot be read: {reason}."]) from None


def _described(folder: Place, name: str, manifest: Manifest) -> bytes:
    """Content of a file, known to be the one that the manifest describes."""
    data = read_file(folder, name)
    if sha256(data) != manifest.files[name].sha256:
        sentence = (
            f"{name} is not the file {MANIFEST} describes (its sha256 differs); "
            "the snapshot is torn: copy it again, whole."
        )
        raise DataError([sentence])
    return data
