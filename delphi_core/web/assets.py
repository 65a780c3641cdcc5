"""Streamlit's front end, compressed once for all visitors.

Streamlit serves its scripts and styles as they are: the chart library alone has 4.7 MB. Their names
change with what they hold, so that what was compressed once can be kept for as long as the server
runs: about 8 MB for all of them.
"""

from __future__ import annotations

import asyncio
import gzip
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response

from delphi_core.web.etags import is_had

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

FRONT_END = Path(streamlit.__file__).parent / "static"
"""Streamlit's own; what is below it is served by its path from there."""
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
    folder
        Where they are. Only their own paths are answered for: other spellings of them, and what is
        not there, would fill the memory.
    """

    def __init__(self, app: ASGIApp, folder: Path = FRONT_END) -> None:
        self.app = app
        self._paths = frozenset(
            f"/{file.relative_to(folder).as_posix()}"
            for file in folder.rglob("*")
            if file.suffix in COMPRESSED and file.stat().st_size >= SMALLEST
        )
        self._kept: dict[str, Asset] = {}
        # One file at a time: those who come together wait for what the first of them has made.
        self._making = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request: what can be compressed from memory, all else untouched."""
        path = scope.get("path", "")
        if path not in self._paths or not _takes_compressed(scope):
            await self.app(scope, receive, send)
            return
        if path not in self._kept:
            async with self._making:
                if path not in self._kept and (made := await self._made(scope, receive)):
                    self._kept[path] = made
        asset = self._kept.get(path)
        if asset is None:
            await self.app(scope, receive, send)
            return
        known = Headers(scope=scope).get("if-none-match", "")
        if is_had(known, asset.headers["etag"]):
            answer = Response(status_code=304, headers=asset.headers)
        else:
            answer = Response(asset.content, headers=asset.headers)
        await answer(scope, receive, send)

    async def _made(self, scope: Scope, receive: Receive) -> Asset | None:
        """A file as it is served, compressed; None where it is not served."""
        headers = [(name, value) for name, value in scope["headers"] if name not in _CONDITIONS]
        served = _Served()
        await self.app(
            {**scope, "method": "GET", "headers": headers, "extensions": {}}, receive, served
        )
        if served.status != 200 or "content-encoding" in served.headers:
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


def _takes_compressed(scope: Scope) -> bool:
    if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
        return False
    headers = Headers(scope=scope)
    return "gzip" in headers.get("accept-encoding", "") and "range" not in headers
