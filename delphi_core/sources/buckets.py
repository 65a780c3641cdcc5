"""Objects of a bucket through gcsfs: each call has a limit, and no answer is kept.

`places.py` is the way in; importing this module imports gcsfs, which takes most of a second.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

import aiohttp
import fsspec.asyn
import google.auth.exceptions

from delphi_core.sources.places import PlaceError, missing, shown

# By default gcsfs asks for each bucket's type over gRPC, which takes minutes where nothing answers
# there. It reads this once, when it is imported: here, and nowhere else. Its core class does not
# ask even where somebody else has imported it before.
os.environ["GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT"] = "false"
from gcsfs.core import GCSFileSystem
from gcsfs.retry import HttpError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from delphi_core.sources.places import Credentials

T = TypeVar("T")

FIRST_WAIT = 0.1
"""Seconds until a failing server is asked again; each later wait is twice as long."""
# Too slow, and too many requests; from 500 on it is the server's own fault.
_PASSING = (408, 429)
_NONSENSE = "the server's answer is none"

# What goes wrong is raised as a sentence; without a handler Python would print the log as well.
logging.getLogger("gcsfs").addHandler(logging.NullHandler())
_one_at_a_time = threading.Lock()


class _Server(GCSFileSystem):  # type: ignore[misc]
    """A storage server, asked once a call: gcsfs's own waits come to more than half a minute."""

    _request = GCSFileSystem._request.__wrapped__  # noqa: SLF001


@dataclass(frozen=True)
class Bucket:
    """Calls to a storage server with these credentials and limits.

    Attributes
    ----------
    credentials
        Anonymous, or the machine's own.
    seconds
        The longest one try may take.
    attempts
        How often a call that gets no answer is tried.
    writes
        Whether the right to write is asked for.
    """

    credentials: Credentials
    seconds: float
    attempts: int
    writes: bool = False

    def names(self, address: str) -> tuple[set[str], set[str]]:
        """Names of the folders and of the files right below an address.

        Raises
        ------
        PlaceError
            There is nothing, or it cannot be listed.
        """
        bucket, key = _parts(address)
        prefix = f"{key}/" if key else ""
        asked = {"delimiter": "/", "fields": "prefixes,items(name),nextPageToken"}
        folders: set[str] = set()
        files: set[str] = set()
        token: str | None = None
        while True:
            page = self._json(
                address, "b/{}/o", bucket, prefix=prefix or None, pageToken=token, **asked
            )
            try:
                folders |= {str(n).removeprefix(prefix)[:-1] for n in page.get("prefixes", ())}
                files |= {str(o["name"]).removeprefix(prefix) for o in page.get("items", ())}
            except (TypeError, KeyError):
                raise _nonsense(address) from None
            token = page.get("nextPageToken")
            if not token:
                break
        if prefix and not (folders or files):
            raise missing(address)
        # Some tools mark a folder by an empty object of its name.
        return folders - {""}, files - {""}

    def version(self, address: str) -> str:
        """Generation of an object.

        Raises
        ------
        PlaceError
            It is not there, or cannot be asked for.
        """
        found = self._json(address, "b/{}/o/{}", *_parts(address), fields="generation")
        if not found.get("generation"):
            raise _nonsense(address)
        return str(found["generation"])

    def read(self, address: str) -> bytes:
        """Content of an object.

        Raises
        ------
        PlaceError
            It is not there, or cannot be read.
        """
        return bytes(self._ask(address, lambda server: server._cat_file(address)))  # noqa: SLF001

    def write(self, address: str, data: bytes) -> None:
        """Write an object, in one call.

        Raises
        ------
        PlaceError
            It cannot be written.
        """
        self._ask(address, lambda server: server._pipe_file(address, data))  # noqa: SLF001

    def _json(self, address: str, path: str, *parts: str, **asked: str | None) -> dict[str, Any]:
        answer = self._ask(
            address,
            lambda server: server._call("GET", path, *parts, json_out=True, **asked),  # noqa: SLF001
        )
        if not isinstance(answer, dict):
            raise _nonsense(address)
        return answer

    def _ask(self, address: str, call: Callable[[_Server], Awaitable[T]]) -> T:
        """What a call gives within the limits; its errors in a sentence."""
        try:
            server = _server(
                self.credentials,
                os.environ.get("STORAGE_EMULATOR_HOST", ""),
                os.getpid(),
                self.writes,
            )
            for attempt in range(1, self.attempts + 1):
                try:
                    answer: T = fsspec.asyn.sync(
                        server.loop,
                        _patiently,
                        partial(call, server),
                        self.seconds,
                        timeout=self.seconds,
                    )
                except fsspec.FSTimeoutError:
                    if attempt == self.attempts:
                        raise
                else:
                    return answer
            raise AssertionError
        except _ERRORS as error:
            raise self._in_words(error, address) from None

    def _in_words(self, error: Exception, address: str) -> PlaceError:
        where = shown(address)
        if isinstance(error, FileNotFoundError):
            return missing(address)
        if isinstance(error, fsspec.FSTimeoutError):
            tries = "once" if self.attempts == 1 else f"{self.attempts} times"
            sentence = (
                f"{where} did not answer within {self.seconds:g} s, tried {tries}; try later."
            )
            return PlaceError("silent", sentence)
        if isinstance(error, google.auth.exceptions.GoogleAuthError):
            sentence = f"{where} needs Google credentials, and this machine has none that work"
            return PlaceError("refused", f"{sentence}; log in, or read it anonymously.")
        if _status(error) in (401, 403):
            remedy = "ask for the right to it"
            if self.credentials == "anonymous":
                remedy = "use credentials that have the right to it"
            return PlaceError("refused", f"{where} is refused ({_status(error)}); {remedy}.")
        return PlaceError("failing", f"{where} cannot be had: {_reason(error)}; try later.")


_ERRORS = (
    OSError,
    HttpError,
    ValueError,
    RuntimeError,
    aiohttp.ClientError,
    google.auth.exceptions.GoogleAuthError,
)


async def _patiently(call: Callable[[], Awaitable[T]], seconds: float) -> T:
    """What a call gives; a failing server is asked again, with doubling waits, while time is."""
    now = asyncio.get_running_loop().time
    end, wait = now() + seconds, FIRST_WAIT
    while True:
        try:
            return await call()
        except _ERRORS as error:
            if not _may_pass(error) or now() + 2 * wait > end:
                raise
        await asyncio.sleep(wait)
        wait *= 2


def _status(error: Exception) -> int:
    """HTTP status of an answer; 0 for what is no answer."""
    if isinstance(error, HttpError):
        return int(error.code or 0)
    return 403 if str(error).startswith("Forbidden") else 0


def _may_pass(error: Exception) -> bool:
    if isinstance(error, (FileNotFoundError, FileExistsError)):
        return False
    if status := _status(error):
        return status >= 500 or status in _PASSING
    # Connections that break, and bad gateways, which gcsfs raises as errors of requests.
    return isinstance(error, (OSError, aiohttp.ClientError))


def _reason(error: Exception) -> str:
    if status := _status(error):
        return f"the server is failing ({status})" if status >= 500 else f"status {status}"
    if _may_pass(error):
        return "the connection to the server failed"
    return _NONSENSE


def _nonsense(address: str) -> PlaceError:
    return PlaceError("failing", f"{shown(address)} cannot be had: {_NONSENSE}; try later.")


def _parts(address: str) -> tuple[str, str]:
    bucket, _, key = address.removeprefix("gs://").partition("/")
    return bucket, key


def _server(credentials: Credentials, endpoint: str, process: int, writes: bool) -> _Server:  # noqa: FBT001
    # Connections do not outlive a fork, and another server may be named meanwhile.
    with _one_at_a_time:
        return _servers(credentials, endpoint, process, writes)


def _emulator(named: str) -> str | None:
    """Address of the server that the environment names; None for Google's."""
    if named in ("", "default"):
        return None
    return named if named.startswith(("http://", "https://")) else f"http://{named}"


@cache
def _servers(credentials: Credentials, endpoint: str, process: int, writes: bool) -> _Server:  # noqa: ARG001, FBT001
    return _Server(
        token="anon" if credentials == "anonymous" else "google_default",
        access="read_write" if writes else "read_only",
        endpoint_url=_emulator(endpoint),
        use_listings_cache=False,
        skip_instance_cache=True,
    )
