"""What previews cost: the tags in a served page, and the drawing of a card.

The page is asked for over HTTP, beside the same server without the middleware. Cards are drawn from
the default Scaling law view: in a browser that runs, and from the start of a browser on, each
beside kaleido used as its manual says.
"""

from __future__ import annotations

import importlib.util
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from bench.first_chart import ROOT, served
from bench.harness import Aim, NotMeasuredError, Row, by_turns, clocked
from delphi_core.web.cards import figure_of, find_chromium
from delphi_core.web.links import read_link
from delphi_core.web.page_index import PAGES

if TYPE_CHECKING:
    import plotly.graph_objects as go

WITHOUT = """
import streamlit as st
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
app = st.App({path!r}, middleware=[Middleware(GZipMiddleware, minimum_size=1000, compresslevel=1)])
"""
PAGE = "/scaling?target=1e22&law=log"
PAGE_RUNS, WARM_RUNS, COLD_RUNS = 101, 9, 5
SIZE = {"format": "png", "width": 1200, "height": 630}


def compare() -> list[Row]:
    """Times of the page and of cards.

    Raises
    ------
    NotMeasuredError
        There is no Chromium, or requirements-cards.txt is not installed.
    """
    chromium = find_chromium()
    if chromium is None or importlib.util.find_spec("kaleido") is None:
        raise NotMeasuredError("cards want a Chromium, and requirements-cards.txt installed")
    return [_page(), *_cards(chromium)]


def _page() -> Row:
    """A page with its tags beside the page without."""
    with TemporaryDirectory() as folder:
        script = Path(folder) / "without.py"
        script.write_text(WITHOUT.format(path=str(ROOT / "app.py")), encoding="utf-8")
        with served(ROOT / "app.py") as tagged, served(script) as bare:
            calls = [partial(clocked, partial(_get, address)) for address in (tagged, bare)]
            times = by_turns(calls[0], calls[1], PAGE_RUNS, warm_up=5)
    return Row("page with its preview's tags", "page without", *times, Aim(seconds=0.02))


def _get(address: str) -> None:
    connection = HTTPConnection(urlsplit(address).netloc, timeout=30)
    try:
        connection.request("GET", PAGE, headers={"Accept-Encoding": "gzip"})
        connection.getresponse().read()
    finally:
        connection.close()


def _cards(chromium: str) -> list[Row]:
    # PLC0415: installed where this is called.
    import kaleido  # noqa: PLC0415

    from delphi_core.web.card_browser import CardBrowser  # noqa: PLC0415

    figure = figure_of(read_link(PAGES["/scaling"], {}))
    options: dict[str, Any] = {"path": chromium, "mathjax": False}

    def cold() -> float:
        browser = CardBrowser(chromium)
        try:
            return clocked(partial(browser.draw, figure))
        finally:
            browser.end()

    once = partial(clocked, partial(kaleido.calc_fig_sync, figure, opts=SIZE, kopts=options))
    colds = by_turns(cold, once, COLD_RUNS)
    browser = CardBrowser(chromium)
    kaleido.start_sync_server(**options)
    try:
        warms = by_turns(
            partial(clocked, partial(browser.draw, figure)),
            partial(clocked, partial(_plain, kaleido, figure)),
            WARM_RUNS,
        )
    finally:
        kaleido.stop_sync_server()
        browser.end()
    return [
        Row("card, its browser running", "kaleido's server", *warms, Aim(seconds=1)),
        Row("card, from the browser's start", "kaleido, one picture", *colds, Aim(seconds=5)),
    ]


def _plain(kaleido: Any, figure: go.Figure) -> None:
    kaleido.calc_fig_sync(figure, opts=SIZE)
