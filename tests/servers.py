"""What tests that start a server share."""

import socket
import subprocess
import time
from collections.abc import Callable

START_SECONDS = 60


def free_port() -> int:
    """A port of this machine that nothing listens on now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def wait_until(condition: Callable[[], bool], server: subprocess.Popen[bytes]) -> None:
    """Wait until a condition holds of a server that was started.

    Raises
    ------
    RuntimeError
        The server ended first, or the condition did not hold within a minute.
    """
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if condition():
            return
        try:
            server.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
        raise RuntimeError("the server ended")
    raise RuntimeError(f"the server was not ready within {START_SECONDS} s")
