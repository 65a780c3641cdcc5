"""A tracking server of the tests' own: answers GraphQL as the real one does, on the loopback."""

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from delphi_core.sources.graphql import KEY_VARIABLE
from delphi_core.sources.tracking_server import SERVER_VARIABLE

FIELDS = ("config", "summaryMetrics", "historyKeys", "historyLineCount")


@dataclass
class TrackedRun:
    """A run as the server holds it.

    `history` has one row for each time something was logged; `line_count` is what the server says
    it has, by default as many.
    """

    config: object = field(default_factory=dict)
    summary: object = field(default_factory=dict)
    history: list = field(default_factory=list)
    line_count: int | None = None

    def answer(self, query, variables):
        """The fields of a query; `history` is a sample where there is more than was asked for."""
        steps = [row["_step"] for row in self.history]
        values = {
            "config": json.dumps(self.config),
            "summaryMetrics": json.dumps(self.summary),
            "historyKeys": {"lastStep": max(steps, default=-1), "sets": [], "keys": {}},
            "historyLineCount": len(steps) if self.line_count is None else self.line_count,
        }
        answer = {name: values[name] for name in FIELDS if name in query}
        if "history(" in query:
            low, high = variables["minStep"], variables["maxStep"]
            rows = [row for row in self.history if low <= row["_step"] < high]
            every = max(1, -(-len(rows) // variables["pageSize"]))
            answer["history"] = [json.dumps(row) for row in rows[::every]]
        return answer


@dataclass
class Instead:
    """An answer that the server gives in place of its own."""

    body: bytes = b""
    status: int = 200
    headers: dict = field(default_factory=dict)


class GraphqlServer:
    """What the server holds and was asked.

    Attributes
    ----------
    runs
        (ENTITY/PROJECT, run id) to `TrackedRun`.
    instead
        Answers given before its own, in order; an exception is no answer: the connection closes.
    always
        Called with query and variables; what it gives, if anything, is answered instead.
    stalls
        How it never ends an answer: "nothing" or "headers" come and then no more; with "drip"
        its content, with "slow headers" these, come byte by byte. None: it does not.
    asked
        (headers, query, variables) of each request.
    """

    def __init__(self, port):
        self.url = f"http://127.0.0.1:{port}"
        self.runs = {}
        self.instead = []
        self.always = lambda _query, _variables: None
        self.stalls = None
        self.asked = []
        self.ended = threading.Event()

    def data(self, query, variables):
        """`data` of the answer to a query."""
        place = f"{variables['entity']}/{variables['project']}"
        if place not in {project for project, _ in self.runs}:
            return {"project": None}
        run = self.runs.get((place, variables["run"]))
        return {"project": {"run": None if run is None else run.answer(query, variables)}}


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        held = self.server.held
        document = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        query, variables = document["query"], document["variables"]
        held.asked.append((dict(self.headers), query, variables))
        assert self.path == "/graphql"
        if held.stalls:
            self.stall(held)
            return
        instead = held.instead.pop(0) if held.instead else held.always(query, variables)
        if instead is ConnectionError:
            self.close_connection = True
            return
        if instead is None:
            data = json.dumps({"data": held.data(query, variables)}).encode()
            instead = Instead(data, headers={"Content-Type": "application/json"})
        self.send_response(instead.status)
        for name, value in instead.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(instead.body)))
        self.end_headers()
        self.wfile.write(instead.body)

    def do_GET(self):
        self.server.held.asked.append((dict(self.headers), "GET", {}))
        self.send_error(404)

    def stall(self, held):
        """Nothing, or something that never becomes an answer, until the server ends."""
        self.close_connection = True
        if held.stalls in ("headers", "drip"):
            self.send_response(200)
            self.send_header("Content-Length", "1000000")
            self.end_headers()
        if held.stalls == "slow headers":
            self.wfile.write(b"HTTP/1.0 200 OK\r\nX-Slow: ")
        while not held.ended.wait(0.05):
            if held.stalls in ("drip", "slow headers"):
                try:
                    self.wfile.write(b"x")
                except OSError:
                    return

    def log_message(self, *_arguments):
        pass


@contextmanager
def graphql_server():
    """A server that is up, ended with the block."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    server.held = GraphqlServer(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server.held
    finally:
        server.held.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def tracking_server(monkeypatch):
    """A server that is up, which commands read by default; no key is in the environment."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    with graphql_server() as server:
        monkeypatch.setenv(SERVER_VARIABLE, server.url)
        yield server
