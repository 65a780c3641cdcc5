"""A time limit for calls that have none, or none that holds."""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


def within(seconds: float, call: Callable[[], T]) -> T:
    """What a call gives, if it gives it in time.

    The time limits of requests are those of single reads: a server that sends its headers byte by
    byte, or a name that is long looked up, would hold it for ever.

    Parameters
    ----------
    seconds
        How long to wait.
    call
        What to do, in a thread of its own; one that was given up ends with the process at the
        latest.

    Raises
    ------
    TimeoutError
        It took longer.
    """
    answers: queue.SimpleQueue[tuple[tuple[T, ...], BaseException | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            answers.put(((call(),), None))
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            answers.put(((), error))

    threading.Thread(target=run, daemon=True).start()
    try:
        answer, error = answers.get(timeout=max(seconds, 0.0))
    except queue.Empty:
        raise TimeoutError from None
    if error is not None:
        raise error
    return answer[0]
