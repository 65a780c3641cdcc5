"""Work for link previews and cards, outside any visit: a few threads, and a queue with an end."""

from __future__ import annotations

import logging
import time
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")

_PREFIX = "outside a visit"


def _of_a_visit(record: logging.LogRecord) -> bool:
    """Whether a warning of Streamlit's is about a visit.

    What is cached says on the page that it is being made. Outside a visit there is no page to say
    it on, which is as it should be.
    """
    return not (record.threadName or "").startswith(_PREFIX)


logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context").addFilter(_of_a_visit)


class Workroom:
    """Threads that take what is cached for all visitors, and a bounded queue before them.

    Parameters
    ----------
    name
        What is done there.
    threads
        How many at a time.
    most
        How many may be in hand or waiting.
    """

    def __init__(self, name: str, *, threads: int, most: int) -> None:
        self._threads = ThreadPoolExecutor(threads, f"{_PREFIX}: {name}")
        self._places = BoundedSemaphore(most)

    def submit(
        self, call: Callable[P, R], /, *arguments: P.args, **named: P.kwargs
    ) -> Future[R] | None:
        """What a call will give; None where there is no room for it."""
        if not self._places.acquire(blocking=False):
            return None
        try:
            future = self._threads.submit(call, *arguments, **named)
        except RuntimeError:  # The server is ending.
            self._places.release()
            return None
        future.add_done_callback(lambda _: self._places.release())
        return future


class Allowance:
    """How often something may be done.

    Parameters
    ----------
    most, seconds
        At most so often in any stretch of so many seconds.
    """

    def __init__(self, most: int, seconds: float) -> None:
        self._seconds = seconds
        self._done: deque[float] = deque(maxlen=most)

    def take(self) -> bool:
        """Whether it may be done once more now; if so it counts as done."""
        now = time.monotonic()
        if len(self._done) == self._done.maxlen and now - self._done[0] < self._seconds:
            return False
        self._done.append(now)
        return True
