"""Previews and cards of a running server: what a chat gets of a link that somebody has opened."""

import gzip
import importlib.util
import io
import urllib.error
import urllib.request
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlencode

import plotly.graph_objects as go
import psutil
import pytest
import streamlit
from PIL import Image

from delphi_core.figures.card import card_figure
from tests.browser.browsing import find_chromium, serving
from tests.core.web.test_tags import Head

STATIC = Path(streamlit.__file__).parent / "static"
BPB = "eval/paloma/c4_en/bpb"
VIEWS = [
    ("/", {}),
    ("/", {"ladder": "moe-v16", "metric": BPB, "method": "cubic", "x": "tokens"}),
    ("/", {"metric": BPB}),
    ("/scaling", {}),
    ("/scaling", {"method": "marin", "law": "log", "target": "1e22", "tab": "size"}),
    ("/scaling", {"ladder": "moe-aug-hero"}),
    ("/trajectories", {}),
    ("/trajectories", {"target": "delphi-1e23", "method": "joint", "rungs": "true"}),
    ("/recipes", {}),
    ("/recipes", {"base": "moe-v16", "ladders": "moe-may-gates", "tab": "speed-up"}),
    ("/recipes", {"flops": "1e19", "tab": "pairs"}),
    ("/planner", {"tab": "valley"}),
    ("/planner", {"ladder": "moe-v16", "flops": "1e21, 1e23", "tab": "valley", "x": "size"}),
    ("/data", {"table": "evals", "ladder": "moe-v16"}),
    ("/about", {}),
]
WITHOUT_CHART = ("/data", "/about")

needs_drawing = pytest.mark.skipif(
    find_chromium() is None or importlib.util.find_spec("kaleido") is None,
    reason="cards are drawn where a Chromium is found and requirements-cards.txt is installed",
)


def fetch(url, **headers):
    """Status, headers and body of an answer, as it was sent."""
    request = urllib.request.Request(url, headers=headers)  # noqa: S310 - our own server
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 - the same
        return answer.status, answer.headers, answer.read()


def head_of(address, path, query):
    return Head(fetch(f"{address}{path}?{urlencode(query)}")[2].decode())


def picture(address, path, **query):
    """The card of a view: as an image, and its bytes."""
    _, headers, data = fetch(f"{address}/card.png?{urlencode({'page': path, **query})}")
    assert headers["content-type"] == "image/png"
    return Image.open(io.BytesIO(data)).convert("RGB"), data


@pytest.mark.parametrize(("path", "query"), VIEWS)
def test_the_title_of_a_preview_is_the_heading_that_was_shown(visit, server, path, query):
    page = visit().open(path, **query)
    page.settled(chart=path not in WITHOUT_CHART)
    head = head_of(server, path, query)
    assert head.values["og:title"] == head.title == page.title
    assert head.values["og:url"].startswith(f"{server}{path}")
    assert head.values["og:image"].startswith(f"{server}/card.png?page=")
    # The browser's own tab says so too.
    assert page.page.title() == f"{page.title} - Delphi Dashboard"
    # Recipes has warnings of its own.
    assert [notice for notice in page.notices if notice.startswith("The link")] == []


def test_the_address_that_a_preview_names_opens_the_same(visit, server):
    query = {"law": "log", "target": "1e22", "utm": "discord", "nonsense": "1"}
    named = head_of(server, "/scaling", query).values["og:url"]
    page = visit().open("/scaling", law="log", target="1e22")
    there = visit().goto(named)
    assert there.title == page.title
    assert there.notices == []


def test_pages_and_assets_are_compressed_and_assets_are_what_they_were(server):
    plain = fetch(f"{server}/scaling")[2]
    _, headers, body = fetch(f"{server}/scaling", **{"Accept-Encoding": "gzip"})
    assert headers["content-encoding"] == "gzip"
    assert int(headers["content-length"]) == len(body)
    assert gzip.decompress(body) == plain
    assets = sorted((STATIC / "static" / "js").glob("index.*.js"))
    assert assets
    for asset in assets[:3]:
        address = f"{server}/static/js/{asset.name}"
        assert fetch(address)[2] == asset.read_bytes()
        _, headers, body = fetch(address, **{"Accept-Encoding": "gzip"})
        assert headers["content-encoding"] == "gzip"
        assert gzip.decompress(body) == asset.read_bytes()


def test_a_forged_host_is_never_echoed(server):
    body = fetch(f"{server}/scaling", Host="evil.example")[2].decode()
    assert "evil" not in body
    assert "og:title" in body


@needs_drawing
def test_cards_are_pictures_of_their_charts(server):
    # Fitted first: on a busy machine drawing alone has its five seconds.
    cards = {}
    views = [
        ("/", {}),
        ("/scaling", {}),
        ("/scaling", {"tab": "asymptote"}),
        ("/recipes", {}),
        ("/recipes", {"tab": "speed-up"}),
        ("/recipes", {"tab": "pairs"}),
        ("/planner", {}),
    ]
    for path, query in views:
        drawn, data = picture(server, path, **query)
        for _ in range(10):
            if data != static_card():
                break
            drawn, data = picture(server, path, **query)
        assert data != static_card()
        assert drawn.size == (1200, 630)
        colours = drawn.getcolors(1200 * 630)
        assert len(colours) > 200
        # White is most of it, and far from all.
        most, colour = max(colours)
        assert colour == (255, 255, 255)
        assert 0.5 < most / (1200 * 630) < 0.97
        cards[path, *query.values()] = data
    assert len(set(cards.values())) == len(cards)
    again = picture(server, "/scaling")[1]
    assert again == cards["/scaling",]


def static_card():
    return (Path(__file__).parents[2] / "delphi_core" / "web" / "card.png").read_bytes()


def test_without_a_browser_one_card_stands_for_all():
    with serving(DELPHI_CHROMIUM="no-such-browser") as address:
        for path in ("/", "/scaling", "/data"):
            assert picture(address, path)[1] == static_card()


@needs_drawing
@pytest.mark.parametrize("killed", [False, True], ids=["ended", "killed"])
def test_the_browser_that_draws_ends_with_the_server(killed):
    before = set(psutil.Process().children())
    with serving() as address:
        (server,) = set(psutil.Process().children()) - before
        picture(address, "/")
        browsers = server.children(recursive=True)
        while not browsers:
            browsers = server.children(recursive=True)
        if killed:
            server.kill()
    _, left = psutil.wait_procs(browsers, timeout=30)
    assert left == []


@contextmanager
def counted():
    """Address of a server that counts what it is asked for, and the paths."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, *_):
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port, asked
        server.shutdown()
        thread.join()


@contextmanager
def drawing():
    """A browser that draws; called by tests that need what it needs."""
    from delphi_core.web.card_browser import CardBrowser  # noqa: PLC0415 - not always installed

    browser = CardBrowser(find_chromium())
    try:
        yield browser
    finally:
        browser.end()


@needs_drawing
def test_drawing_asks_no_host_for_anything():
    from delphi_core.web.card_browser import drawing_page  # noqa: PLC0415 - as above

    assert "://" not in drawing_page().generate_index().replace("file://", "")
    with counted() as (port, asked):
        assert fetch_fails(f"http://127.0.0.1:{port}/seen")
        sources = [f"http://{host}:{port}/x.png" for host in ("localhost", "127.0.0.1")]
        images = [{"source": source, "x": 0, "y": 0, "sizex": 1, "sizey": 1} for source in sources]
        figure = card_figure(go.Figure(layout={"images": images}), title="x", source="y")
        with drawing() as browser:
            drawn = browser.draw(figure)
            assert psutil.pid_exists(browser.process)
        assert drawn.startswith(b"\x89PNG")
        assert browser.process is None
        assert asked == ["/seen"]


def fetch_fails(url):
    try:
        fetch(url)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code == 404
    return False


@needs_drawing
def test_a_browser_that_is_gone_is_replaced():
    figure = card_figure(go.Figure(go.Scatter(y=[1, 2])), title="x", source="y")
    with drawing() as browser:
        first = browser.draw(figure)
        gone = psutil.Process(browser.process)
        for process in [*gone.children(recursive=True), gone]:
            # One may end by itself as soon as another is gone.
            with suppress(psutil.NoSuchProcess):
                process.kill()
        psutil.wait_procs([gone], timeout=30)
        with pytest.raises(Exception, match=r".*"):
            browser.draw(figure)
        assert browser.draw(figure) == first
