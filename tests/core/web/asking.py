"""Ask an ASGI app as a server would, in the test's own process."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from starlette.datastructures import Headers


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: Headers
    body: bytes

    @property
    def text(self):
        """The body as text."""
        return self.body.decode()


def in_a_loop(call):
    """Await something in a thread of its own: the browser tests leave a loop in the main one."""
    with ThreadPoolExecutor(1) as threads:
        threads.submit(asyncio.run, call).result()


def ask(app, path="/", query=b"", *, method="GET", headers=(), extensions=()):
    """The answer of an app to one request, of a server with extensions."""
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query,
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in headers],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
        "extensions": {name: {} for name in extensions},
    }
    sent = []

    asked = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive():
        if asked:
            return asked.pop()
        # Whoever asked stays until they have their answer.
        return await asyncio.get_running_loop().create_future()

    async def send(message):
        sent.append(message)

    in_a_loop(app(scope, receive, send))
    start, *bodies = sent
    assert start["type"] == "http.response.start"
    assert [bool(part.get("more_body")) for part in bodies] == [True] * (len(bodies) - 1) + [False]
    body = b"".join(part.get("body", b"") for part in bodies)
    return Answer(start["status"], Headers(raw=list(start["headers"])), body)
