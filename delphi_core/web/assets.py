"""Streamlit's front end, compressed once for all visitors.

Streamlit serves its scripts and styles as they are: the chart library alone has 4.7 MB. Their names
change with what they hold, so that what was compressed once can be kept for as long as the server
runs: about 8 MB for all of them.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

PREFIX = "/static/"
COMPRESSED = (".js", ".css")
SMALLEST = 1000
"""Bytes below which compressing does not pay."""
LEVEL = 6
"""Three times slower than the fastest and a sixth smaller; the next ones gain nothing."""
_CONDITIONS = (b"accept-encoding", b"if-none-match", b"if-modified-since", b"if-range")


@dataclass(frozen=True)
class Asset:
    """A file of the front end: its headers, and its content compressed."""

    headers: dict[str, str]
    content: bytes


class CompressedAssets:
    """Middleware that answers for the front end's files with what it has compressed before.

    Parameters
    ----------
    app
        What serves the files.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._kept: dict[str, Asset] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request: what can be compressed from memory, all else untouched."""
        if not _takes_compressed(scope):
            await self.app(scope, receive, send)
            return
        path = scope["path"]
        asset = self._kept.get(path) or await self._made(scope, receive)
        if asset is None:
            await self.app(scope, receive, send)
            return
        self._kept[path] = asset
        known = Headers(scope=scope).get("if-none-match", "")
        if asset.headers["etag"] in known.split(", "):
            answer = Response(status_code=304, headers=asset.headers)
        else:
            answer = Response(asset.content, headers=asset.headers)
        await answer(scope, receive, send)

    async def _made(self, scope: Scope, receive: Receive) -> Asset | None:
        """A file as it is served, compressed; None where that cannot be or does not pay."""
        headers = [(name, value) for name, value in scope["headers"] if name not in _CONDITIONS]
        served = _Served()
        await self.app(
            {**scope, "method": "GET", "headers": headers, "extensions": {}}, receive, served
        )
        if not served.pays:
            return None
        content = await run_in_threadpool(gzip.compress, bytes(served.body), LEVEL)
        own = MutableHeaders(headers=dict(served.headers))
        del own["accept-ranges"]
        del own["content-length"]
        own["content-encoding"] = "gzip"
        own["vary"] = "Accept-Encoding"
        own["etag"] = f'"{sha256(content).hexdigest()[:32]}"'
        return Asset(dict(own), content)


class _Served:
    """What an application sends in answer to a request."""

    def __init__(self) -> None:
        self.status = 0
        self.headers = Headers()
        self.body = bytearray()

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = Headers(raw=message["headers"])
        else:
            self.body += message.get("body", b"")

    @property
    def pays(self) -> bool:
        """Whether this is a file that compressing makes smaller."""
        whole = self.status == 200 and "content-encoding" not in self.headers
        return whole and len(self.body) >= SMALLEST


def _takes_compressed(scope: Scope) -> bool:
    if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
        return False
    headers = Headers(scope=scope)
    accepted = "gzip" in headers.get("accept-encoding", "") and "range" not in headers
    return accepted and scope["path"].startswith(PREFIX) and scope["path"].endswith(COMPRESSED)
