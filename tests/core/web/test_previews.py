"""The middleware that puts previews into pages, before an app that serves one as Streamlit does."""

import gzip
import html
from pathlib import Path

import pytest
import streamlit
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import FileResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from delphi_core.web import previews
from delphi_core.web.background import Allowance
from delphi_core.web.headings import remember_heading
from delphi_core.web.links import read_link, read_query
from delphi_core.web.page_index import PAGES
from delphi_core.web.previews import PreviewTags
from tests.core.web.asking import ask, in_a_loop
from tests.core.web.test_tags import Head

INDEX = Path(streamlit.__file__).parent / "static" / "index.html"
HOST = [("host", "localhost:8501")]


def file(_):
    return FileResponse(INDEX)


def serving(endpoint=file, *, previews=True):
    """An app that serves every page, and one other path, by one endpoint."""
    routes = [Route(path, endpoint) for path in (*PAGES, "/static/x.html")]
    return Starlette(routes=routes, middleware=[Middleware(PreviewTags)] if previews else [])


@pytest.fixture(autouse=True)
def unnamed(monkeypatch):
    monkeypatch.delenv("DELPHI_BASE_URL", raising=False)
    monkeypatch.delenv("DELPHI_ALLOWED_HOSTS", raising=False)
    monkeypatch.setattr(previews, "ALLOWANCE", Allowance(previews.HEADINGS_A_MINUTE, 3600))
    # A test that is slow for other reasons reads its link all the same.
    monkeypatch.setattr(previews, "READ_SECONDS", 60)


@pytest.fixture
def no_fits(monkeypatch):
    """Make no headings behind; those that would have been made."""
    asked = []
    monkeypatch.setattr(previews, "_make_heading", asked.append)
    return asked


@pytest.mark.parametrize("path", PAGES)
def test_each_page_has_tags_of_its_view(path, no_fits):
    answer = ask(serving(), path, headers=HOST)
    head = Head(answer.text)
    link = read_link(PAGES[path], {})
    assert answer.status == 200
    assert head.values["og:url"] == f"http://localhost:8501{path}"
    assert head.values["og:image"].startswith("http://localhost:8501/card.png?page=%2F")
    assert head.title == head.values["og:title"] == head.values["twitter:title"]
    assert link.snapshot.id in head.values["og:description"]
    assert [made.view for made in no_fits] in ([link.view], [])
    assert int(answer.headers["content-length"]) == len(answer.body)
    # All else is as Streamlit made it.
    before, after = INDEX.read_text(encoding="utf-8").split("<title>Streamlit</title>")
    assert answer.text.startswith(before)
    assert answer.text.endswith(after)


VIEWS = [
    ("/", b"method=cubic&y=log"),
    ("/scaling", b"target=2.5e22&tab=size"),
    ("/trajectories", b"target=67b&x=tokens"),
    ("/recipes", b""),
    ("/recipes", b"base=moe-v16&tab=speed-up&flops=1e20"),
    ("/recipes", b"ladders=hero"),
    ("/planner", b"flops=1e21,1e22&tab=valley"),
    ("/planner", b"flops="),
    ("/data", b"table=evals&ladder=delphi"),
    ("/about", b""),
]


@pytest.mark.parametrize(("path", "query"), VIEWS)
def test_once_a_view_is_fitted_its_title_is_its_heading(path, query, no_fits):  # noqa: ARG001
    link = read_link(PAGES[path], read_query(query))
    heading = link.page.heading(link.snapshot, link.view)
    head = Head(ask(serving(), path, query, headers=HOST).text)
    assert head.title == head.values["og:title"] == head.values["twitter:title"] == heading
    assert head.values["og:description"].startswith(link.page.method(link.snapshot, link.view))


def test_the_about_page_has_its_heading_from_the_start(no_fits, monkeypatch):  # noqa: ARG001
    monkeypatch.setattr(previews, "heading_of", lambda *_: None)
    head = Head(ask(serving(), "/about", headers=HOST).text)
    assert head.title == "How the numbers come about, and how to cite them"


def test_the_heading_that_was_shown_is_the_title(no_fits):
    query = b"target=1.5e22&law=huber"
    link = read_link(PAGES["/scaling"], read_query(query))
    asked = ask(serving(), "/scaling", query, headers=HOST)
    assert Head(asked.text).title == "Scaling law: Delphi (AdamH), eval/paloma/macro_loss"
    assert [made.view for made in no_fits] == [link.view]
    remember_heading(link.snapshot.id, link.view, r"Delphi: \<b\> & \"loss\" 2\.4")
    head = Head(ask(serving(), "/scaling", query, headers=HOST).text)
    assert head.title == head.values["og:title"] == 'Delphi: <b> & "loss" 2.4'
    assert len(no_fits) == 1


HOSTILE = [
    b"ladder=%22%3E%3Cscript%3Ealert(1)%3C/script%3E",
    b'ladder="><script>alert(1)</script>',
    b"asymptote=%22%3E%3Cscript%3E&target=%3Cimg%20src=x%3E&text=%22%3E%3Cscript%3E",
    b"target=" + b"9" * 7_000,
    b"text=%00%01%1b%5b31m%e2%80%ae%0d%0ax:y",
    b"x=" + b"y" * 10_000,
    b"unknown=1&constructor=2&__class__=3&" + b"&".join(b"p%d=1" % i for i in range(150)),
    b"%%%=%zz&&&==",
    b"\xff\xfe=\xff",
]


@pytest.mark.parametrize("query", HOSTILE)
@pytest.mark.parametrize("path", PAGES)
def test_hostile_parameters_are_escaped_or_dropped(path, query, no_fits):  # noqa: ARG001
    answer = ask(serving(), path, query, headers=HOST)
    plain = Head(ask(serving(), path, headers=HOST).text)
    head = Head(answer.text)
    assert answer.status == 200
    assert head.tags.count("script") == plain.tags.count("script")
    assert head.tags.count("img") == plain.tags.count("img") == 0
    assert set(head.values) == set(plain.values)
    assert all(value.isprintable() and len(value) < 1000 for value in head.values.values())
    assert "\x1b" not in answer.text
    assert head.values["og:url"].startswith(f"http://localhost:8501{path}")


@pytest.mark.parametrize("host", ["evil.example", 'localhost"><script>', "localhost@evil", ""])
def test_a_forged_host_is_never_echoed(host, no_fits):  # noqa: ARG001
    headers = [("host", host), ("x-forwarded-host", "evil.example")]
    text = ask(serving(), "/scaling", headers=headers).text
    assert "evil" not in text
    assert "og:image" not in text
    assert Head(text).values["og:title"]


def test_the_base_address_is_the_named_one(monkeypatch, no_fits):  # noqa: ARG001
    monkeypatch.setenv("DELPHI_BASE_URL", "https://dash.example/delphi")
    values = Head(ask(serving(), "/scaling", headers=[("host", "evil.example")]).text).values
    assert values["og:url"] == "https://dash.example/delphi/scaling"
    assert values["og:image"].startswith("https://dash.example/delphi/card.png?page=%2Fscaling&v=")


def test_head_gives_the_headers_of_the_whole_and_no_body(no_fits):  # noqa: ARG001
    whole, head = (ask(serving(), "/", method=method, headers=HOST) for method in ("GET", "HEAD"))
    assert head.body == b""
    assert head.headers["content-length"] == whole.headers["content-length"]
    assert head.headers["etag"] == whole.headers["etag"]


def test_a_page_that_is_known_is_not_sent_again(no_fits):  # noqa: ARG001
    first = ask(serving(), "/", headers=HOST)
    assert "last-modified" not in first.headers
    original = ask(serving(), "/static/x.html").headers
    assert first.headers["etag"] not in (original["etag"], f"W/{original['etag']}")
    again = ask(serving(), "/", headers=[*HOST, ("if-none-match", first.headers["etag"])])
    assert (again.status, again.body) == (304, b"")
    assert "content-length" not in again.headers
    # What the page was like without tags is no answer.
    for name in ("etag", "last-modified"):
        ask_for = {"etag": "if-none-match", "last-modified": "if-modified-since"}[name]
        answer = ask(serving(), "/", headers=[*HOST, (ask_for, original[name])])
        assert (answer.status, answer.body) == (200, first.body)
    ranged = ask(serving(), "/", headers=[*HOST, ("range", "bytes=0-99")])
    assert (ranged.status, ranged.body) == (200, first.body)


def test_a_body_in_pieces_is_put_together(no_fits):  # noqa: ARG001
    def pieces(_):
        data = INDEX.read_bytes()
        parts = (data[at : at + 7] for at in range(0, len(data), 7))
        return StreamingResponse(parts, media_type="text/html; charset=utf-8")

    streamed = ask(serving(pieces), "/scaling", headers=HOST)
    assert streamed.body == ask(serving(), "/scaling", headers=HOST).body
    assert int(streamed.headers["content-length"]) == len(streamed.body)


def test_a_server_that_sends_files_itself_gets_the_page_with_tags(no_fits):  # noqa: ARG001
    answer = ask(serving(), "/", headers=HOST, extensions=["http.response.pathsend"])
    assert answer.body == ask(serving(), "/", headers=HOST).body
    assert b"og:title" in answer.body


def gzipped(_):
    return Response(b"\x1f\x8b", media_type="text/html", headers={"content-encoding": "gzip"})


@pytest.mark.parametrize(
    "endpoint",
    [
        lambda _: PlainTextResponse("<title>Streamlit</title>"),
        lambda _: Response("<title>x</title>", 500, media_type="text/html"),
        gzipped,
        lambda _: Response("<html>no such thing</html>", media_type="text/html"),
        lambda _: Response(b"<title>\xff</title>", media_type="text/html"),
        lambda _: Response("<title>x</title>" + "y" * 1_000_001, media_type="text/html"),
    ],
    ids=["text", "error", "compressed", "no title", "no text", "too large"],
)
def test_what_is_no_page_is_served_as_it_was(endpoint, no_fits):  # noqa: ARG001
    kept = ask(serving(endpoint, previews=False))
    for method, body in (("GET", kept.body), ("HEAD", b"")):
        served = ask(serving(endpoint), method=method)
        assert (served.status, served.body) == (kept.status, body)
        assert served.headers == kept.headers


@pytest.mark.parametrize("path", ["/static/x.html", "/nowhere", "/scaling/", "/_stcore/health"])
def test_other_paths_are_not_touched(path, monkeypatch):
    def fail(*_):
        raise AssertionError

    monkeypatch.setattr(previews, "_preview", fail)
    served, kept = (ask(serving(previews=there), path, headers=HOST) for there in (True, False))
    assert (served.status, served.body) == (kept.status, kept.body)
    assert served.headers == kept.headers


def test_websockets_pass_untouched():
    seen = []

    async def app(scope, receive, send):
        seen.append((scope, receive, send))

    given = ({"type": "websocket", "path": "/"}, object(), object())
    in_a_loop(PreviewTags(app)(*given))
    assert seen == [given]


def test_a_page_is_served_as_it_was_when_its_preview_fails(monkeypatch, caplog):
    async def fail(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(previews, "_preview", fail)
    answer = ask(serving(), "/", headers=HOST)
    assert answer.body == INDEX.read_bytes()
    assert "no preview of /" in caplog.text


def test_a_link_that_is_not_read_in_time_has_the_title_of_its_page(monkeypatch):
    monkeypatch.setattr(previews, "READ_SECONDS", 0)
    assert Head(ask(serving(), "/scaling").text).title == "Scaling law - Delphi Dashboard"
    monkeypatch.setattr(previews.READING, "submit", lambda *_: None)
    assert Head(ask(serving(), "/scaling").text).title == "Scaling law - Delphi Dashboard"


def test_findings_are_made_for_previews_only_so_often(monkeypatch):
    made = []
    monkeypatch.setattr(previews.HEADINGS, "submit", lambda _, link: made.append(link) or object())
    for number in range(3 * previews.HEADINGS_A_MINUTE):
        ask(serving(), "/scaling", b"target=3.%de21" % number, headers=HOST)
    assert len(made) == previews.HEADINGS_A_MINUTE


def test_the_next_reader_gets_the_finding_that_was_made_behind():
    query = b"target=7e22&law=log"
    first = Head(ask(serving(), "/scaling", query, headers=HOST).text).title
    assert first.startswith("Scaling law: ")
    # Work in this room is done in order: what comes last finds the rest done.
    previews.HEADINGS.submit(lambda: None).result(60)
    second = Head(ask(serving(), "/scaling", query, headers=HOST).text).title
    assert second.startswith("Delphi (AdamH): loss ")


def test_tags_go_in_before_compression(no_fits):  # noqa: ARG001
    def compressing(*inside):
        outer = Middleware(GZipMiddleware, minimum_size=1000, compresslevel=1)
        return Starlette(routes=[Route("/", file)], middleware=[outer, *inside])

    plain = ask(serving(), headers=HOST)
    # Streamlit compresses by itself as well.
    own = Middleware(GZipMiddleware, minimum_size=500)
    for app in (compressing(Middleware(PreviewTags)), compressing(Middleware(PreviewTags), own)):
        answer = ask(app, headers=[*HOST, ("accept-encoding", "gzip")])
        assert answer.headers["content-encoding"] == "gzip"
        assert gzip.decompress(answer.body) == plain.body
    assert html.escape(Head(plain.text).title) in plain.text
