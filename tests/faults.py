"""A proxy on this machine in front of the emulated bucket that fails as it is told.

A test asks for `faults`, says what is to happen to which requests, and reads as ever.
"""

from __future__ import annotations

import http.client
import threading
from dataclasses import dataclass
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.buckets import EmulatedBucket

SILENT = "silent"
CUT = "cut"
PASS = "pass"  # noqa: S105 - no password


@dataclass
class Rule:
    """What happens to requests whose path holds certain words.

    Attributes
    ----------
    words
        All of them must be in the path.
    answers
        One a request, in order; the last goes on for ever. A status; `SILENT`, no answer; `CUT`,
        the connection ends without one; `PASS`, the emulator's answer; a tuple of status and body;
        or a function, called once the emulator has answered.
    """

    words: tuple[str, ...]
    answers: list[int | str | tuple[int, bytes] | Callable[[], None]]

    def next(self) -> int | str | tuple[int, bytes] | Callable[[], None]:
        """What happens to the next request."""
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class FaultProxy(ThreadingHTTPServer):
    """The proxy.

    Attributes
    ----------
    rules
        The first that fits a request holds; without any it is passed on.
    seen
        Method and path of every request.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, behind: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.behind = behind
        self.rules: list[Rule] = []
        self.seen: list[tuple[str, str]] = []
        self.closing = threading.Event()
        self.lock = threading.Lock()

    def when(
        self, *words: str, do: list[int | str | tuple[int, bytes] | Callable[[], None]]
    ) -> None:
        """Say what happens to requests whose path holds these words."""
        self.rules.append(Rule(words, do))

    def answer_to(
        self, method: str, path: str
    ) -> int | str | tuple[int, bytes] | Callable[[], None]:
        """What happens to a request that came now."""
        with self.lock:
            self.seen.append((method, path))
            for rule in self.rules:
                if all(word in path for word in rule.words):
                    return rule.next()
        return PASS


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: FaultProxy

    def __getattr__(self, name: str) -> Callable[[], None]:
        """The same for every method: the standard library asks for do_GET, do_POST, ..."""
        if name.startswith("do_"):
            return self._answer
        raise AttributeError(name)

    def _answer(self) -> None:
        answer = self.server.answer_to(self.command, self.path)
        if answer in (SILENT, CUT):
            if answer == SILENT:
                self.server.closing.wait()
            self.close_connection = True
        elif isinstance(answer, int):
            self._send(answer, b"as the test said")
        elif isinstance(answer, tuple):
            self._send(*answer)
        else:
            status, body = self._forwarded()
            if callable(answer):
                answer()
            self._send(status, body)

    def _forwarded(self) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.behind)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        kept = {n: v for n, v in self.headers.items() if n.lower() in ("content-type", "range")}
        try:
            connection.request(self.command, self.path, body=body or None, headers=kept)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Keep the tests' output clean."""


@pytest.fixture
def faults(bucket: EmulatedBucket, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultProxy]:
    """A proxy in front of `bucket`, which STORAGE_EMULATOR_HOST leads to."""
    with FaultProxy(bucket.server.server_port) as proxy:
        thread = threading.Thread(target=partial(proxy.serve_forever, poll_interval=0.02))
        thread.start()
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", f"http://127.0.0.1:{proxy.server_port}")
        yield proxy
        proxy.closing.set()
        proxy.shutdown()
        thread.join()
