"""What compressing the front end is worth: bytes and seconds to the first chart.

A browser visits the first page over a line of 10 Mbit/s and 40 ms, once with an empty cache (cold)
and once more (warm), beside the same app served without compression. Over HTTP, the chart library
is asked for beside a server that compresses it anew for everyone who asks.
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Literal
from urllib.request import Request, urlopen

import streamlit
from playwright.sync_api import sync_playwright

from bench.first_chart import CHART, LIMIT, ROOT, launched, served
from bench.harness import Aim, Row, by_turns, clocked

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Browser

MIDDLEWARE = {
    "without": "",
    "each_time": "Middleware(GZipMiddleware, minimum_size=1000, compresslevel=1)",
}
SCRIPT = """
import streamlit as st
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
app = st.App({path!r}, middleware=[{middleware}])
"""
BYTES_A_SECOND, LATENCY_MS = 10e6 / 8, 40
VISITS, FETCHES = 5, 21
COUNTED: dict[str, Literal["s", "MB"]] = {
    "bytes to the first chart, cold": "MB",
    "first chart at 10 Mbit/s, cold": "s",
    "bytes to the first chart, warm": "MB",
    "first chart at 10 Mbit/s, warm": "s",
}


def compare() -> list[Row]:
    """Bytes and times of the front end.

    Raises
    ------
    NotMeasuredError
        There is no Chromium.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        addresses = {"kept": stack.enter_context(served(ROOT / "app.py"))}
        for name, middleware in MIDDLEWARE.items():
            script = folder / f"{name}.py"
            text = SCRIPT.format(path=str(ROOT / "app.py"), middleware=middleware)
            script.write_text(text, encoding="utf-8")
            addresses[name] = stack.enter_context(served(script, ROOT))
        return [*_visits(addresses), _library(addresses)]


def _visits(addresses: dict[str, str]) -> list[Row]:
    with sync_playwright() as playwright, launched(playwright.chromium) as browser:
        kept, without = (partial(_visit, browser, addresses[name]) for name in ("kept", "without"))
        # The first ones warm up the servers.
        pairs = [(kept(), without()) for _ in range(VISITS + 1)][1:]
    return [
        Row(
            name,
            "not compressed",
            tuple(ours[name] for ours, _ in pairs),
            tuple(theirs[name] for _, theirs in pairs),
            unit=unit,
        )
        for name, unit in COUNTED.items()
    ]


def _visit(browser: Browser, address: str) -> dict[str, float]:
    """Megabytes and seconds to the first chart of a new visitor, and of their second visit."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    client = context.new_cdp_session(page)
    client.send("Network.enable")
    line = {"downloadThroughput": BYTES_A_SECOND, "uploadThroughput": BYTES_A_SECOND}
    client.send(
        "Network.emulateNetworkConditions", {"offline": False, "latency": LATENCY_MS, **line}
    )
    got: list[float] = []
    client.on("Network.loadingFinished", lambda event: got.append(event["encodedDataLength"]))
    found: list[float] = []
    for _ in range(2):
        got.clear()
        start = time.perf_counter()
        page.goto(address, wait_until="commit")
        page.wait_for_selector(CHART, state="attached", timeout=LIMIT * 1e3)
        found += [sum(got) / 1e6, time.perf_counter() - start]
    context.close()
    return dict(zip(COUNTED, found, strict=True))


def _library(addresses: dict[str, str]) -> Row:
    static = Path(streamlit.__file__).parent / "static"
    (library,) = (static / "static" / "js").glob("PlotlyChart.*.js")
    calls = [
        _fetch(f"{addresses[name]}/{library.relative_to(static)}") for name in ("kept", "each_time")
    ]
    times = by_turns(calls[0], calls[1], FETCHES, warm_up=2)
    return Row("chart library over HTTP", "compressed each time", *times, Aim(ratio=1))


def _fetch(address: str) -> Callable[[], float]:
    request = Request(address, headers={"Accept-Encoding": "gzip"})  # noqa: S310 - our own server

    def read() -> None:
        with urlopen(request, timeout=LIMIT) as answer:  # noqa: S310 - our own server
            answer.read()

    return partial(clocked, read)
