"""The front end's files: compressed once, then answered for from memory."""

import gzip
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from delphi_core.web.assets import CompressedAssets
from tests.core.web.asking import ask

SCRIPT = b"export const answer = 42;\n" * 1000
GZIP = ("accept-encoding", "gzip, deflate, br")


@pytest.fixture
def folder(tmp_path):
    static = tmp_path / "static"
    static.mkdir()
    (static / "index.js").write_bytes(SCRIPT)
    (static / "tiny.css").write_text("a {}")
    (static / "font.woff2").write_bytes(SCRIPT)
    return static


@pytest.fixture
def app(folder):
    # As Streamlit does, anything that is not there is answered with a page.
    routes = [
        Mount("/static", StaticFiles(directory=folder)),
        Route("/{path:path}", lambda _: Response(SCRIPT, media_type="text/html")),
    ]
    middleware = [Middleware(CompressedAssets, folder=folder.parent)]
    return Starlette(routes=routes, middleware=middleware)


def test_a_file_is_compressed_once_and_then_kept(app, folder):
    first = ask(app, "/static/index.js", headers=[GZIP])
    assert (first.status, first.headers["content-encoding"]) == (200, "gzip")
    assert gzip.decompress(first.body) == SCRIPT
    assert int(first.headers["content-length"]) == len(first.body) < len(SCRIPT) / 20
    assert first.headers["content-type"].startswith("text/javascript")
    assert first.headers["vary"] == "Accept-Encoding"
    assert "accept-ranges" not in first.headers
    (Path(folder) / "index.js").unlink()
    assert ask(app, "/static/index.js", headers=[GZIP]).body == first.body


def test_who_has_it_is_told_so(app):
    etag = ask(app, "/static/index.js", headers=[GZIP]).headers["etag"]
    again = ask(app, "/static/index.js", headers=[GZIP, ("if-none-match", f'"x", {etag}')])
    assert (again.status, again.body, again.headers["etag"]) == (304, b"", etag)
    other = ask(app, "/static/index.js", headers=[GZIP, ("if-none-match", '"x"')])
    assert other.status == 200


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/static/index.js", []),
        ("/static/index.js", [("accept-encoding", "identity")]),
        ("/static/tiny.css", [GZIP]),
        ("/static/font.woff2", [GZIP]),
        ("/page", [GZIP]),
    ],
)
def test_all_else_is_served_as_it_was(app, path, headers):
    answer = ask(app, path, headers=headers)
    assert answer.status == 200
    assert "content-encoding" not in answer.headers


def test_a_part_of_a_file_is_served_as_it_was(app):
    answer = ask(app, "/static/index.js", headers=[GZIP, ("range", "bytes=0-9")])
    assert (answer.status, answer.body) == (206, SCRIPT[:10])


@pytest.mark.parametrize(
    "path", ["/static//index.js", "/static/./index.js", "//static/index.js", "/static/later.js"]
)
def test_other_spellings_and_what_is_missing_fill_no_memory(app, path):
    assert "content-encoding" not in ask(app, path, headers=[GZIP]).headers
