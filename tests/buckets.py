"""An emulated bucket in the tests' own process, for any test file.

A test asks for `bucket`, fills it, and reads through `delphi_core.sources.places`; what is written
here goes past our own code.
"""

from __future__ import annotations

import itertools
import sys
import threading
from dataclasses import dataclass, replace
from functools import partial
from http.server import ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from gcp_storage_emulator.handlers.buckets import create_bucket
from gcp_storage_emulator.server import RequestHandler
from gcp_storage_emulator.storage import Storage

from delphi_core.sources.places import Place

if TYPE_CHECKING:
    from collections.abc import Iterator


class StorageHandler(RequestHandler):  # type: ignore[misc]
    """The emulator's answers over connections that stay."""

    protocol_version = "HTTP/1.1"  # connections are kept, as Google's are
    disable_nagle_algorithm = True  # a body would wait for the receipt of its head


class StorageServer(ThreadingHTTPServer):
    """The emulator on a free port of this machine, with threads as a real server has."""

    daemon_threads = True
    request_queue_size = 128
    handler: type[StorageHandler] = StorageHandler

    def __init__(self) -> None:
        self.storage = Storage(use_memory_fs=True)
        # At each write it would note all objects there are, to find them after a restart.
        self.storage._write_config_to_file = lambda: None  # noqa: SLF001
        super().__init__(("127.0.0.1", 0), partial(self.handler, self.storage))

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print what went wrong, but for readers that went away: tests read what is printed."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    @property
    def url(self) -> str:
        """Its address, for STORAGE_EMULATOR_HOST."""
        return f"http://127.0.0.1:{self.server_port}"


@dataclass(frozen=True)
class EmulatedBucket:
    """A bucket of its own in the emulator.

    Attributes
    ----------
    name
        Of the bucket.
    server
        The emulator.
    """

    name: str
    server: StorageServer

    @property
    def url(self) -> str:
        """Its address."""
        return f"gs://{self.name}"

    def place(self, below: str = "", **limits: Any) -> Place:
        """The bucket, or a folder in it, as our own code reads it."""
        return replace(Place(f"{self.url}/{below}"), **limits)

    def put(self, name: str, data: bytes | str) -> None:
        """Write an object; each time it has another generation."""
        content = data.encode() if isinstance(data, str) else data
        about = {
            "kind": "storage#object",
            "bucket": self.name,
            "name": name,
            "generation": str(next(_GENERATIONS)),
            "size": str(len(content)),
            "contentType": "application/octet-stream",
            "crc32c": "",
            "md5Hash": "",
        }
        self.server.storage.create_file(self.name, name, content, about)

    def get(self, name: str) -> bytes:
        """Content of an object."""
        return bytes(self.server.storage.get_file(self.name, name))

    def state(self) -> dict[str, str]:
        """Name and generation of every object: the same as long as nobody writes."""
        objects = self.server.storage.objects.get(self.name, {})
        return {name: about["generation"] for name, about in objects.items()}


_GENERATIONS = itertools.count(1_700_000_000_000_000)
_NAMES = itertools.count()


@pytest.fixture(scope="session")
def storage_server() -> Iterator[StorageServer]:
    """The emulator, for the whole session."""
    with StorageServer() as server:
        thread = threading.Thread(target=partial(server.serve_forever, poll_interval=0.02))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def bucket(storage_server: StorageServer, monkeypatch: pytest.MonkeyPatch) -> EmulatedBucket:
    """A fresh, empty bucket, which STORAGE_EMULATOR_HOST leads to."""
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", storage_server.url)
    name = f"bucket-{next(_NAMES)}"
    create_bucket(name, storage_server.storage)
    return EmulatedBucket(name, storage_server)
