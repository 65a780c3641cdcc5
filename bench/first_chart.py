"""Time to the first chart in a cold browser, against a one-line app with one chart.

Both are served by the same Streamlit and visited once beforehand. Each run has a new browser with
an empty profile; from the navigation on, it counts until the chart's drawing is in the page.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from functools import partial
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from playwright.sync_api import Error, sync_playwright

from bench.harness import Aim, NotMeasuredError, Row, by_turns, clocked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, BrowserType, Page

ROOT = Path(__file__).parents[1]
ONE_LINE = 'import streamlit as st; st.plotly_chart({"data": [{"y": [1, 3, 2]}]})\n'
CHART = ".js-plotly-plot .main-svg"
RUNS = 7
LIMIT = 60
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def compare() -> list[Row]:
    """Times to the first chart of the app.

    Raises
    ------
    NotMeasuredError
        There is no Chromium.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        script = folder / "one_line.py"
        script.write_text(ONE_LINE, encoding="utf-8")
        chromium = stack.enter_context(sync_playwright()).chromium
        app, one_line = (
            partial(first_chart, chromium, stack.enter_context(served(path)))
            for path in (ROOT / "app.py", script)
        )
        times = by_turns(app, one_line, RUNS)
    return [Row("first chart in a cold browser", "one-line app", *times, Aim(ratio=1.3))]


def first_chart(chromium: BrowserType, address: str) -> float:
    """Seconds from the navigation to the chart, in a browser of its own."""
    with launched(chromium) as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        return clocked(partial(_see_chart, page, address))


def launched(chromium: BrowserType) -> Browser:
    """A Chromium of this machine.

    Raises
    ------
    NotMeasuredError
        There is none.
    """
    # Chromium has no sandbox for root.
    sandbox = os.name != "posix" or os.geteuid() != 0
    try:
        return chromium.launch(executable_path=_browser_path(), chromium_sandbox=sandbox)
    except Error as error:
        raise NotMeasuredError(
            "no Chromium could be started; put one on the PATH or run `playwright install "
            f"chromium` ({str(error).splitlines()[0]})"
        ) from None


@contextmanager
def served(script: Path, folder: Path | None = None) -> Iterator[str]:
    """Address of a server of a Streamlit script, which runs in a folder; in its own by default."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--server.address", "127.0.0.1", "--server.port", str(port)]
    options += ["--server.headless", "true", "--browser.gatherUsageStats", "false"]
    command = [sys.executable, "-m", "streamlit", "run", str(script), *options]
    server = subprocess.Popen(
        command, cwd=folder or script.parent, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _await_health(server, port)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(LIMIT)


def _see_chart(page: Page, address: str) -> None:
    page.goto(address, wait_until="commit")
    page.wait_for_selector(CHART, state="attached", timeout=LIMIT * 1e3)


def _browser_path() -> str | None:
    """Chromium of this machine; None for playwright's own."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)


def _await_health(server: subprocess.Popen[bytes], port: int) -> None:
    end = time.monotonic() + LIMIT
    while time.monotonic() < end and server.poll() is None:
        connection = HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", "/_stcore/health")
            # An unknown path is answered with a page; only this is health.
            if connection.getresponse().read() == b"ok":
                return
        except (OSError, HTTPException):
            pass
        finally:
            connection.close()
        time.sleep(0.05)
    raise NotMeasuredError("a Streamlit server did not start.")
