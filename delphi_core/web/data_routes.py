"""Data addresses: /data/<table>.csv, .json and .metadata.json with a page's parameters.

What is made of a request is made off the event loop, a few at once. A small answer is made whole;
a large one is sent while it is made, so that it is never in memory as a whole.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from delphi_core.web.base_url import base_url
from delphi_core.web.data_answer import LARGE, chunks, made_table
from delphi_core.web.data_request import RefusedError, read_request
from delphi_core.web.etags import is_had
from delphi_core.web.loading import kept_snapshot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send

LOG = logging.getLogger(__name__)
AT_ONCE = 4
"""Requests that are worked on at once, and large answers that are sent at once."""
WAIT_SECONDS = 10.0
"""How long a request waits for its turn before it is told to come back."""
SEND_SECONDS = 300.0
"""How long sending a large answer may take: whoever reads too slowly must not keep others out."""
METHODS = "GET, HEAD, OPTIONS"
SHARED = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": "ETag, Content-Disposition",
    "Cache-Control": "no-cache",
    "X-Content-Type-Options": "nosniff",
}
"""Headers of every answer."""
PREFLIGHT = {
    "Access-Control-Allow-Methods": METHODS,
    "Access-Control-Allow-Headers": "If-None-Match",
    "Access-Control-Max-Age": "86400",
    "Allow": METHODS,
}

REMEDIES = {405: {"Allow": METHODS}, 503: {"Retry-After": "5"}}
"""Further headers of answers that refuse."""

_working = asyncio.Semaphore(AT_ONCE)
_sending = asyncio.Semaphore(AT_ONCE)


@dataclass(frozen=True)
class _Asked:
    """A request as it came."""

    file: str
    query: bytes
    base: str
    tags: str


@dataclass(frozen=True)
class _Found:
    """An answer: what is sent, whole unless it is large, and its headers."""

    status: int
    headers: dict[str, str]
    whole: bytes = b""
    parts: Iterator[str] | None = None


class _Large(StreamingResponse):
    """A large answer, which holds one of the places for such until it is sent."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            async with asyncio.timeout(SEND_SECONDS):
                await super().__call__(scope, receive, send)
        finally:
            _sending.release()


async def data(request: Request) -> Response:
    """The answer to a request of a data address; what is wrong is said in one sentence."""
    try:
        return await _response(request)
    except RefusedError as error:
        return _sentence(error)
    except Exception:
        LOG.exception("data address %r", request.path_params["file"])
        sentence = "The table could not be made; this is a fault of the server, not of the address."
        return _sentence(RefusedError(500, sentence))


async def _response(request: Request) -> Response:
    if request.method == "OPTIONS":
        return Response(status_code=204, headers=SHARED | PREFLIGHT)
    if request.method not in ("GET", "HEAD"):
        raise RefusedError(405, f"Tables are only read here; the method must be one of {METHODS}.")
    asked = _Asked(
        request.path_params["file"],
        request.scope["query_string"],
        base_url(request.scope["scheme"], request.headers.get("host", "")),
        request.headers.get("if-none-match", ""),
    )
    await _turn(_working)
    try:
        found = await run_in_threadpool(_answer, asked)
    finally:
        _working.release()
    if found.parts is None:
        return Response(found.whole, found.status, found.headers)
    if request.method == "HEAD":
        return StreamingResponse(iter(()), found.status, found.headers)
    await _turn(_sending)
    return _Large(found.parts, found.status, found.headers)


# Further methods come as well, to be told what they may.
_METHODS = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"]
ROUTES = [Route("/data/{file}", data, methods=_METHODS)]


def _answer(asked: _Asked) -> _Found:
    """What a request is answered; called off the event loop."""
    request = read_request(asked.file, asked.query, kept_snapshot().snapshot)
    tag = request.tag(asked.base)
    headers = SHARED | {"ETag": tag}
    if is_had(asked.tags, tag):
        return _Found(304, headers)
    table = made_table(request)
    kind = "text/csv" if request.ending == "csv" else "application/json"
    headers |= {
        "Content-Type": f"{kind}; charset=utf-8",
        "Content-Disposition": f'inline; filename="{request.file}"',
    }
    parts = chunks(request, table, asked.base)
    if len(table) > LARGE and request.ending != "metadata.json":
        return _Found(200, headers, parts=parts)
    return _Found(200, headers, "".join(parts).encode())


async def _turn(places: asyncio.Semaphore) -> None:
    """Wait for a place.

    Raises
    ------
    RefusedError
        There was none in time (503).
    """
    try:
        async with asyncio.timeout(WAIT_SECONDS):
            await places.acquire()
    except TimeoutError:
        sentence = "The server is busy with other tables; ask again in some seconds."
        raise RefusedError(503, sentence) from None


def _sentence(error: RefusedError) -> Response:
    """An answer that says what is wrong."""
    headers = SHARED | {"Content-Type": "text/plain; charset=utf-8"}
    headers |= REMEDIES.get(error.status, {})
    return Response(f"{error.sentence}\n".encode(), error.status, headers)
