"""`/card.png`: the chart of a view as a picture for its link's preview.

Drawn by a browser of the server's own where requirements-cards.txt is installed and a Chromium is
found; otherwise, and where drawing fails or takes too long, it is one picture for all.
"""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import os
import shutil
import time
from collections import OrderedDict
from concurrent.futures import CancelledError, Future
from functools import cache
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Protocol, TypeVar

from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from delphi_core.errors import DelphiError, FitError
from delphi_core.figures.card import card_figure
from delphi_core.web.background import Workroom
from delphi_core.web.etags import is_had
from delphi_core.web.links import CARD_PATH, LONGEST_QUERY, PAGE_PARAMETER, read_link, read_query
from delphi_core.web.page_index import PAGES
from delphi_core.web.view_state import ZOOM
from delphi_core.web.zoom import zoomed

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from starlette.requests import Request

    from delphi_core.web.links import Link
    from delphi_core.web.page_index import Page
    from delphi_core.web.view_state import Query, ViewState

LOG = logging.getLogger(__name__)
STATIC = Path(__file__).with_name("card.png")
"""The picture where none is drawn."""
SECONDS = 4.5
"""How long whoever asks for a card waits for it; chats wait five seconds."""
REST_SECONDS = 60
"""How long no card is drawn after the browser failed: to start one in vain is dear."""
MOST_KEPT = 100
"""Cards kept in memory, each about 0.1 MB; the one asked for longest ago goes first."""
CHROMIUMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
DRAWN_CACHING = "public, max-age=86400"
STATIC_CACHING = "public, max-age=300"
"""A card that was not drawn may well be the next time."""

READING = Workroom("reading links of cards", threads=1, most=16)
DRAWING = Workroom("drawing cards", threads=1, most=8)

Key = tuple[str, "ViewState"]
_T = TypeVar("_T")


class Browser(Protocol):
    """What draws."""

    def draw(self, figure: go.Figure) -> bytes:
        """A figure as PNG."""
        ...

    def end(self) -> None:
        """End it."""
        ...


class Cards:
    """Cards drawn by one browser, and kept.

    Parameters
    ----------
    browser
        None where there is none to draw with.
    """

    def __init__(self, browser: Browser | None) -> None:
        self.browser = browser
        self._kept: OrderedDict[Key, bytes] = OrderedDict()
        self._under_way: dict[Key, Future[bytes]] = {}
        self._lock = Lock()
        self._rests_until = 0.0

    @property
    def can_draw(self) -> bool:
        """Whether there is a browser to draw with, and it did not fail a moment ago."""
        return self.browser is not None and time.monotonic() >= self._rests_until

    def kept(self, key: Key) -> bytes | None:
        """A card that has been drawn."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def drawn(self, key: Key, link: Link) -> Future[bytes] | None:
        """What is being drawn for a key, once for all who ask; None where too much is."""
        with self._lock:
            if key in self._under_way:
                return self._under_way[key]
            future = DRAWING.submit(self._draw, key, link)
            if future is not None:
                self._under_way[key] = future
        if future is not None:
            future.add_done_callback(lambda _: self._under_way.pop(key, None))
        return future

    def _draw(self, key: Key, link: Link) -> bytes:
        if self.browser is None:
            raise RuntimeError("there is no browser to draw with.")
        figure = figure_of(link)
        try:
            picture = self.browser.draw(figure)
        except Exception:
            self._rests_until = time.monotonic() + REST_SECONDS
            raise
        with self._lock:
            self._kept[key] = picture
            while len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return picture


def figure_of(link: Link) -> go.Figure:
    """The chart of a link's view, laid out as its card."""
    page, snapshot, view = link.page, link.snapshot, link.view
    chart = None if page.chart is None else page.chart(snapshot, view)
    if chart is None:
        raise FitError(f"{link.address} has no chart.")
    figure, _ = chart
    if zoom := getattr(view, ZOOM, ""):
        figure = zoomed(figure, zoom)
    heading, source = page.heading(snapshot, view), page.source(snapshot, view)
    return card_figure(figure, title=heading, source=source)


def find_chromium() -> str | None:
    """Path of the Chromium that DELPHI_CHROMIUM names, or else of an installed one."""
    if named := os.environ.get("DELPHI_CHROMIUM"):
        return shutil.which(named)
    return next(filter(None, map(shutil.which, CHROMIUMS)), None)


@cache
def cards() -> Cards:
    """The cards of this server."""
    chromium = find_chromium()
    if chromium is None or importlib.util.find_spec("kaleido") is None:
        return Cards(None)
    # PLC0415: it is installed on some servers only.
    from delphi_core.web.card_browser import CardBrowser  # noqa: PLC0415

    return Cards(CardBrowser(chromium))


@cache
def static_card() -> bytes:
    """The picture where none is drawn."""
    return STATIC.read_bytes()


async def card(request: Request) -> Response:
    """Answer a request for a card: the nearest view's, or the picture that is for all."""
    text: bytes = request.scope["query_string"]
    if len(text) > LONGEST_QUERY:
        return PlainTextResponse(
            f"The address is too long: its parameters may have {LONGEST_QUERY:,} characters.\n", 414
        )
    query = dict(read_query(text))
    path = "/" + query.pop(PAGE_PARAMETER, ["/"])[-1].strip("/")
    known = request.headers.get("if-none-match", "")
    try:
        # As in the menu, a path without a page opens the first.
        return await _answer(PAGES.get(path, PAGES["/"]), query, known)
    except (TimeoutError, CancelledError):
        LOG.warning("a card took more than %g s", SECONDS)
    except DelphiError as error:
        LOG.warning("a card cannot be drawn: %s", error)
    except Exception:
        LOG.exception("a card cannot be drawn")
    return _picture(static_card(), STATIC_CACHING, known)


async def _answer(page: Page, query: Query, known: str) -> Response:
    """The card of a view, drawn if it has not been yet; those that need no drawing at once."""
    own = cards()
    if page.chart is None or not own.can_draw:
        return _picture(static_card(), STATIC_CACHING, known)
    end = asyncio.get_running_loop().time() + SECONDS
    reading = READING.submit(read_link, page, query)
    if reading is None:
        return _busy()
    link = await _within(reading, end)
    key = (link.snapshot.id, link.view)
    picture = own.kept(key)
    if picture is None:
        drawing = own.drawn(key, link)
        if drawing is None:
            return _busy()
        picture = await _within(drawing, end)
    return _picture(picture, DRAWN_CACHING, known)


async def _within(future: Future[_T], end: float) -> _T:
    """What a future gives, which goes on if that takes too long."""
    left = end - asyncio.get_running_loop().time()
    return await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(future)), max(left, 0))


def _picture(picture: bytes, caching: str, known: str) -> Response:
    etag = f'"{sha256(picture).hexdigest()[:32]}"'
    headers = {"etag": etag, "cache-control": caching}
    if is_had(known, etag):
        return Response(status_code=304, headers=headers)
    return Response(picture, media_type="image/png", headers=headers)


def _busy() -> Response:
    words = "Too many cards are being drawn; ask again in a few seconds.\n"
    return PlainTextResponse(words, 503, headers={"retry-after": "5", "cache-control": "no-store"})


ROUTES = [Route(CARD_PATH, card, methods=["GET"])]
"""Of the server; Starlette answers HEAD as well."""
