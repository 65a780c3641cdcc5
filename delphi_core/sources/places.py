"""Folders in a bucket or on this machine: list, read whole files, write whole files.

No read lasts past its limit, nothing is cached, and every failure is one sentence.
"""

from __future__ import annotations

import os
import re
import uuid
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from delphi_core.errors import DataError, quoted

if TYPE_CHECKING:
    from collections.abc import Callable

    from delphi_core.sources.buckets import Bucket

T = TypeVar("T")

Credentials = Literal["anonymous", "machine"]
Kind = Literal["missing", "refused", "silent", "failing", "replaced"]

# A file to be written may be large, and nobody waits for a page meanwhile.
WRITE_SECONDS = 60.0
_ADDRESS = re.compile(r"gs://[^/\s]+(/[^/]+)*")
_SCHEME = re.compile(r"\w+:/")


class PlaceError(DataError):
    """A place or a file in it that cannot be had.

    Parameters
    ----------
    kind
        ``missing``: nothing has that name; ``refused``: there is no right to it; ``silent``: no
        answer within the limit; ``failing``: the server or the connection broke; ``replaced``: it
        changed while it was read.
    sentence
        What, where and what to do.
    """

    def __init__(self, kind: Kind, sentence: str) -> None:
        super().__init__([sentence])
        self.kind: Kind = kind

    def __reduce__(self) -> tuple[type[PlaceError], tuple[Kind, str]]:
        """What makes it again in another process."""
        return type(self), (self.kind, self.problems[0])


@dataclass(frozen=True)
class Place:
    """A folder in a bucket or on this machine; may be sent to another process.

    Attributes
    ----------
    url
        ``gs://bucket/folder``, or the path of a local folder. The environment variable
        STORAGE_EMULATOR_HOST names another server than Google's.
    credentials
        ``anonymous``, or ``machine`` for the Google credentials that this machine has.
    seconds
        The longest one try of a read may take; local files are read without a limit.
    attempts
        How often a read that gets no answer is tried. An answer that says the server is failing
        is tried again for as long as `seconds` allows.

    Raises
    ------
    DataError
        The address is neither, or a limit is not positive.
    """

    url: str
    credentials: Credentials = "anonymous"
    seconds: float = 5.0
    attempts: int = 2

    def __post_init__(self) -> None:
        url = self.url.rstrip("/") or self.url[:1]
        if not url or "\0" in url:
            raise DataError(["a place is a folder or gs://bucket/folder; none was named."])
        if _SCHEME.match(self.url) and not _ADDRESS.fullmatch(url):
            sentence = f"{quoted(self.url)} is no place; name a folder or gs://bucket/folder."
            raise DataError([sentence])
        object.__setattr__(self, "url", url)
        if not (0 < self.seconds < float("inf") and self.attempts >= 1):
            sentence = (
                f"a read of {self.seconds:g} s, tried {self.attempts} times, cannot be made; "
                "allow a positive time and one try."
            )
            raise DataError([sentence])

    @property
    def in_bucket(self) -> bool:
        """Whether it is in a bucket."""
        return self.url.startswith("gs://")

    def below(self, name: str) -> Place:
        """A folder below this one, whether or not it is there."""
        return replace(self, url=self.address(name))

    def address(self, name: str) -> str:
        """Address of a file or folder below this one.

        Parameters
        ----------
        name
            Its name, which may hold slashes.

        Raises
        ------
        DataError
            The name leads out of the place.
        """
        if "\0" in name or any(part in ("", ".", "..") for part in name.split("/")):
            sentence = f"{quoted(name)} is no name of a file below {shown(self.url)}; correct it."
            raise DataError([sentence])
        return f"{self.url.rstrip('/')}/{name}"

    def folders(self) -> list[str]:
        """Names of the folders right below, sorted.

        Raises
        ------
        PlaceError
            There is no such place, or it cannot be listed.
        """
        return self._listed()[0]

    def files(self) -> list[str]:
        """Names of the files right below, sorted.

        Raises
        ------
        PlaceError
            There is no such place, or it cannot be listed.
        """
        return self._listed()[1]

    def version(self, name: str) -> str:
        """What changes whenever a file does: its generation, or its time and size.

        Parameters
        ----------
        name
            The file's name, which may hold slashes.

        Raises
        ------
        PlaceError
            It is not there, or cannot be asked for.
        """
        address = self.address(name)
        if self.in_bucket:
            return self._bucket().version(address)
        status = _local(address, Path(address).stat)
        return f"{status.st_mtime_ns}-{status.st_size}"

    def read(self, name: str) -> bytes:
        """The whole content of a file.

        Parameters
        ----------
        name
            The file's name, which may hold slashes.

        Raises
        ------
        PlaceError
            It is not there, or cannot be read.
        """
        address = self.address(name)
        if self.in_bucket:
            return self._bucket().read(address)
        return _local(address, Path(address).read_bytes)

    def read_unchanged(self, name: str) -> bytes:
        """The whole content of a file that nobody replaced meanwhile.

        Parameters
        ----------
        name
            The file's name, which may hold slashes.

        Raises
        ------
        PlaceError
            It is not there, cannot be read, or was replaced in both of two reads.
        """
        before = self.version(name)
        for _ in range(2):
            data = self.read(name)
            after = self.version(name)
            if after == before:
                return data
            before = after
        where = shown(self.address(name))
        raise PlaceError(
            "replaced", f"{where} was replaced while it was read, twice; read it later."
        )

    def write(self, name: str, data: bytes) -> None:
        """Write a whole file; readers see the old one or the new one, never a part.

        Parameters
        ----------
        name
            The file's name, which may hold slashes; folders on the way are made.
        data
            What it is to hold.

        Raises
        ------
        PlaceError
            It cannot be written.
        """
        address = self.address(name)
        if self.in_bucket:
            self._bucket(writes=True).write(address, data)
        else:
            _local(address, partial(_replace, Path(address), data), "be written")

    def _listed(self) -> tuple[list[str], list[str]]:
        """Names of the folders and of the files right below, each sorted."""
        if self.in_bucket:
            folders, files = self._bucket().names(self.url)
            return sorted(folders), sorted(files)

        def listed() -> tuple[list[str], list[str]]:
            entries = sorted(Path(self.url).iterdir())
            folders = [entry.name for entry in entries if entry.is_dir()]
            return folders, [entry.name for entry in entries if entry.is_file()]

        return _local(self.url, listed)

    def _bucket(self, *, writes: bool = False) -> Bucket:
        # gcsfs takes most of a second to import: only who reads a bucket pays for it.
        from delphi_core.sources.buckets import Bucket  # noqa: PLC0415

        seconds = max(self.seconds, WRITE_SECONDS) if writes else self.seconds
        return Bucket(self.credentials, seconds, self.attempts, writes=writes)


def shown(address: str) -> str:
    """An address as messages call it: whole, with line breaks and terminal codes replaced."""
    return "".join(c if c.isprintable() else "?" for c in address)


def _local(address: str, call: Callable[[], T], what: str = "be read") -> T:
    """What a call to this machine's own file system gives; its errors in a sentence."""
    try:
        return call()
    except (FileNotFoundError, NotADirectoryError):
        raise missing(address) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        kind: Kind = "refused" if isinstance(error, PermissionError) else "failing"
        raise PlaceError(kind, f"{shown(address)} cannot {what}: {reason}.") from None


def missing(address: str) -> PlaceError:
    """The error of an address where there is nothing."""
    return PlaceError("missing", f"{shown(address)} is not there; check its name.")


def _replace(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Not a temporary file of the standard library, which nobody else may read.
    new = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        new.write_bytes(data)
        os.replace(new, path)  # noqa: PTH105 - the one call that is known to be atomic
    finally:
        new.unlink(missing_ok=True)
