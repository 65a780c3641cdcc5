"""Snapshots into a bucket: a new folder first, then one pointer is switched to it.

Nothing is ever deleted or changed but the pointer, so that a reader has the old snapshot whole or
the new one whole, wherever a publication ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from delphi_core.errors import DataError, quoted
from delphi_core.manifest import MANIFEST
from delphi_core.snapshot_read import POINTER, Pointer, read_files, read_pointer, read_tables

if TYPE_CHECKING:
    from collections.abc import Callable

    from delphi_core.manifest import Manifest
    from delphi_core.snapshot_read import SnapshotFiles
    from delphi_core.sources.places import Place


@dataclass(frozen=True)
class Published:
    """What was published.

    Attributes
    ----------
    pointer
        The folder and the snapshot's id.
    before
        What readers had until now; None where there was nothing.
    """

    pointer: Pointer
    before: Pointer | None


def utc_time(text: str) -> datetime:
    """A time of ISO 8601 that says how it relates to UTC.

    Raises
    ------
    ValueError
        It is none.
    """
    time = datetime.fromisoformat(text)
    if time.tzinfo is None:
        raise ValueError(text)
    return time.astimezone(UTC)


def publish(
    source: Place, destination: Place, tell: Callable[[str], None] = lambda _: None
) -> Published:
    """Publish a snapshot: upload it, read it back, and only then point readers to it.

    Parameters
    ----------
    source
        The snapshot's folder.
    destination
        Where published snapshots lie as folders, with a pointer to the current one.
    tell
        Called with each file's name before it is written.

    Raises
    ------
    DataError
        The snapshot is not whole, or the destination cannot be written or read; readers have what
        they had.
    """
    files = read_files(source)
    read_tables(files)
    manifest = files.manifest
    pointer = Pointer(_folder_name(manifest), manifest.id)
    before = read_pointer(destination)
    folder = destination.below(pointer.folder)
    if not (before == pointer and _is_there(folder, manifest)):
        _upload(files, folder, tell)
        if read_files(folder).manifest != manifest:
            raise DataError([f"{pointer.folder} is not as it was written; publish it again."])
        tell(POINTER)
        destination.write(POINTER, pointer.content())
    if (found := read_pointer(destination)) != pointer:
        other = found.folder if found else "nothing"
        sentence = f"{POINTER} names {quoted(other)} by now: somebody else published as well."
        raise DataError([sentence])
    return Published(pointer, before)


def _upload(files: SnapshotFiles, folder: Place, tell: Callable[[str], None]) -> None:
    """Write every file, the manifest last: a folder without one is no snapshot yet."""
    for name, data in {**files.contents, MANIFEST: files.manifest.content()}.items():
        tell(name)
        folder.write(name, data)


def _is_there(folder: Place, manifest: Manifest) -> bool:
    """Whether a folder holds all that a manifest describes."""
    try:
        return read_files(folder).manifest == manifest
    except DataError:
        return False


def _folder_name(manifest: Manifest) -> str:
    """Name of a snapshot's folder: when it was made, and its id. The same one is never another."""
    try:
        time = utc_time(manifest.created_at)
    except ValueError:
        sentence = (
            f"{MANIFEST} says it was made at {quoted(manifest.created_at)}, which is no time in "
            "UTC such as 2026-01-31T12:00:00Z; build it anew."
        )
        raise DataError([sentence]) from None
    return f"{time:%Y-%m-%dT%H%M%SZ}-{manifest.id}"
