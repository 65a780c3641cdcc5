"""Previews of links: tags in the page that Streamlit serves, for readers that run no JavaScript.

Streamlit serves one and the same page for every path and query. This middleware puts into it what
the link shows: title and description of its view, and the address of its card. It belongs between
the server's compression and Streamlit. If anything goes wrong the page is served as it was.
"""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import CancelledError
from hashlib import sha256
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders

from delphi_core.web.background import Allowance, Workroom
from delphi_core.web.base_url import base_url
from delphi_core.web.etags import is_had
from delphi_core.web.headings import heading_of
from delphi_core.web.links import read_link, read_query
from delphi_core.web.page_index import PAGES
from delphi_core.web.tags import SITE, Preview, head_tags, with_tags

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from delphi_core.web.links import Link
    from delphi_core.web.page_index import Page

LOG = logging.getLogger(__name__)
READ_SECONDS = 1.5
"""How long a page waits for its link to be read; later it is served with a title of the page."""
LARGEST_SHELL = 1_000_000
"""Bytes beyond which what is served is no page of Streamlit's."""
HEADINGS_A_MINUTE = 10
"""How many findings are made for previews alone: whoever reads links must not keep a server busy.

Pages that are opened, and cards, make theirs besides.
"""

READING = Workroom("reading links", threads=2, most=16)
HEADINGS = Workroom("headings", threads=1, most=4)
ALLOWANCE = Allowance(HEADINGS_A_MINUTE, 60)
# They ask for a part of the page, whether it is as it was, or for it compressed, which Streamlit
# would do by itself: it is had whole and plain, and answered for here.
_CONDITIONS = (
    *(b"if-none-match", b"if-modified-since", b"if-match", b"range", b"if-range"),
    b"accept-encoding",
)


class PreviewTags:
    """Middleware that puts a link's preview into the page that it opens.

    Parameters
    ----------
    app
        What serves the page.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request: pages with their tags, all else untouched."""
        page = PAGES.get(scope["path"]) if scope["type"] == "http" else None
        if page is None or scope["method"] not in ("GET", "HEAD"):
            await self.app(scope, receive, send)
            return
        try:
            tags = head_tags(await _preview(page, scope))
        except Exception:
            LOG.exception("no preview of %s", page.path)
            await self.app(scope, receive, send)
            return
        kept = [(name, value) for name, value in scope["headers"] if name not in _CONDITIONS]
        extensions = dict(scope.get("extensions") or {})
        extensions.pop("http.response.pathsend", None)
        whole = {**scope, "method": "GET", "headers": kept, "extensions": extensions}
        await self.app(whole, receive, _Rewritten(send, tags, scope))


class _Rewritten:
    """What is sent for a page: its tags put in, or whatever was sent if that is no page."""

    def __init__(self, send: Send, tags: str, scope: Scope) -> None:
        self._send = send
        self._tags = tags
        self._head_only = scope["method"] == "HEAD"
        self._known = Headers(scope=scope).get("if-none-match", "")
        self._start: Message | None = None
        self._body = bytearray()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_page(message):
            self._start = message
        elif message["type"] == "http.response.body" and self._start is not None:
            self._body += message.get("body", b"")
            more = bool(message.get("more_body", False))
            if not more or len(self._body) > LARGEST_SHELL:
                start, self._start = self._start, None
                whole = not more and len(self._body) <= LARGEST_SHELL
                await self._serve(start, bytes(self._body), tagged=whole, more=more)
        else:
            await self._pass_on(message)

    async def _pass_on(self, message: Message) -> None:
        if self._head_only and message["type"] == "http.response.body":
            message = {**message, "body": b""}
        await self._send(message)

    async def _serve(self, start: Message, body: bytes, *, tagged: bool, more: bool) -> None:
        if tagged:
            try:
                body = with_tags(body.decode(), self._tags).encode()
            except ValueError as error:
                LOG.warning("no preview: %s", error)
            else:
                start, body = self._with_headers(start, body)
        await self._send(start)
        await self._pass_on({"type": "http.response.body", "body": body, "more_body": more})

    def _with_headers(self, start: Message, body: bytes) -> tuple[Message, bytes]:
        headers = MutableHeaders(raw=list(start["headers"]))
        for name in ("last-modified", "accept-ranges"):
            del headers[name]
        # Weak, since it may be compressed on its way.
        etag = f'W/"{sha256(body).hexdigest()[:32]}"'
        headers["etag"] = etag
        if is_had(self._known, etag):
            del headers["content-length"]
            return {**start, "status": 304, "headers": headers.raw}, b""
        headers["content-length"] = str(len(body))
        return {**start, "headers": headers.raw}, body


def _is_page(start: Message) -> bool:
    headers = Headers(raw=list(start["headers"]))
    html = headers.get("content-type", "").startswith("text/html")
    return start["status"] == 200 and html and "content-encoding" not in headers


async def _preview(page: Page, scope: Scope) -> Preview:
    """Preview of a link to a page; of the page as such where the link is not read in time."""
    query = read_query(scope["query_string"])
    reading = READING.submit(read_link, page, query)
    if reading is None:
        return _of_page(page)
    try:
        waiting = asyncio.shield(asyncio.wrap_future(reading))
        link = await asyncio.wait_for(waiting, READ_SECONDS)
    except (TimeoutError, CancelledError):
        return _of_page(page)
    base = base_url(scope["scheme"], Headers(scope=scope).get("host", ""))
    heading = heading_of(link.snapshot.id, link.view)
    if heading is None:
        _make_heading(link)
    snapshot = link.snapshot
    return Preview(
        heading or page.generic_title(snapshot, link.view),
        f"{page.method(snapshot, link.view)} Snapshot {snapshot.id} of {snapshot.created_at[:10]}.",
        f"{base}{link.address}" if base else "",
        f"{base}{link.card}" if base else "",
    )


def _of_page(page: Page) -> Preview:
    return Preview(f"{page.title} - {SITE}", "Scaling ladders of the Marin project.")


def _make_heading(link: Link) -> None:
    """Have the finding of a view made for the next one who asks, if that is not too much."""
    if ALLOWANCE.take():
        HEADINGS.submit(_logged_heading, link)


def _logged_heading(link: Link) -> None:
    try:
        link.page.heading(link.snapshot, link.view)
    except Exception:
        LOG.exception("no heading of %s", link.address)
