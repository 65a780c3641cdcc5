"""Sharing in a real browser: the link opens the same, the addresses give what is on screen."""

import http.server
import io
import shlex
import subprocess
import threading
import urllib.error
import urllib.request
from urllib.parse import urlencode

import pandas as pd
import pytest

from delphi_core.web.addresses import EMBED_SIZE
from tests.browser.accessible import faint_texts, violations
from tests.browser.browsing import PHONE

VIEWS = {
    "/": {"ladder": "moe-v16", "method": "cubic", "budgets": ["3e18", "1e19", "3e19"]},
    "/scaling": {"law": "log", "target": "1e22", "tab": "download"},
    "/trajectories": {"target": "delphi-1e23", "tab": "download"},
    "/data": {"table": "evals", "ladder": "delphi", "text": "d512", "sort": "-value"},
}
BUTTONS = {
    "/": {"points_csv": "isoflop-points", "optima_csv": "isoflop-optima"},
    "/scaling": {
        "points_csv": "scaling-points",
        "optima_csv": "scaling-optima",
        "forecasts_csv": "scaling-forecasts",
        "law_csv": "scaling-law",
    },
    "/trajectories": {"forecast_csv": "trajectories-forecast"},
    "/data": {"rows_csv": "evals"},
}
HOSTILE = "<img src=x onerror=alert(1)>"


def share(visit):
    """Open the popover; its texts by their key."""
    visit.widget("share").get_by_role("button").first.click()
    visit.page.locator(".st-key-share_bibtex code").wait_for()
    blocks = visit.page.locator("[class*=st-key-share_]").all()
    keys = [block.get_attribute("class").split("st-key-share_")[1].split()[0] for block in blocks]
    texts = [block.locator("code").inner_text() for block in blocks]
    return dict(zip(keys, texts, strict=True))


def downloads(visit, path):
    """The Download tab, open."""
    if path in ("/", "/data"):
        visit.open_tab("Download")
    visit.page.locator(".st-key-lines_curl code").wait_for()


def fetched(address, **headers):
    """What an address answers."""
    # S310: our own server, on this machine.
    request = urllib.request.Request(address, headers=headers)  # noqa: S310
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
        return answer.status, answer.headers, answer.read()


@pytest.mark.parametrize("path", VIEWS)
def test_the_link_opens_the_same_and_every_address_gives_the_downloaded_file(visit, path, tmp_path):
    page = visit().open(path, **VIEWS[path])
    page.settled(chart=path == "/")
    texts = share(page)
    assert texts["link"] == page.url.replace("%20", "+")
    there = visit(elsewhere=True).goto(texts["link"])
    there.page.locator("h1").filter(has_text=page.title).wait_for()
    assert there.query == page.query
    assert there.notices == []
    page.page.keyboard.press("Escape")
    downloads(page, path)
    pasted = {}
    # S102: what a visitor is told to paste into Python.
    exec(page.widget("lines_pandas").locator("code").inner_text(), pasted)  # noqa: S102
    curls = page.widget("lines_curl").locator("code").inner_text().split("\n")
    for (key, table), line in zip(BUTTONS[path].items(), curls, strict=True):
        file, content = page.download(key)
        address = texts[key.removesuffix("_csv").replace("rows", "evals")]
        assert address.split("?")[0] == f"{page.address}/data/{table}.csv"
        status, headers, body = fetched(address)
        assert (status, body) == (200, content)
        assert headers["Content-Disposition"] == f'inline; filename="{file}"'
        assert pasted[table.split("-")[-1]].equals(pd.read_csv(io.BytesIO(content)))
        subprocess.run(shlex.split(line), cwd=tmp_path, check=True, timeout=60)  # noqa: S603
        assert (tmp_path / file).read_bytes() == content
        with pytest.raises(urllib.error.HTTPError) as unchanged:
            fetched(address, **{"If-None-Match": headers["ETag"]})
        assert unchanged.value.code == 304
        unchanged.value.close()


def test_what_is_on_screen_is_what_the_address_gives(visit):
    page = visit().open("/data", table="published_optima", ladder="delphi")
    page.page.locator("h1").filter(has_text="rows of published optima").wait_for()
    shown = page.title.split()[0]
    address = share(page)["published_optima"]
    table = pd.read_csv(address)
    assert f"{len(table):,}" == shown
    assert set(table["ladder"]) == {"delphi"}


def test_an_address_is_compressed_for_who_asks_for_it(server):
    _, headers, _ = fetched(f"{server}/data/trajectories.csv", **{"Accept-Encoding": "gzip"})
    assert headers["Content-Encoding"] == "gzip"
    assert headers["Access-Control-Allow-Origin"] == "*"


def test_wrong_addresses_are_refused_in_words(server):
    for file, status, words in (
        ("rus.csv", 404, "did you mean 'runs'?"),
        ("runs.csv?ladder=delphi-2", 400, "did you mean 'delphi'?"),
        ("runs.csv?text=" + "x" * 9000, 414, "at most 4,096"),
    ):
        with pytest.raises(urllib.error.HTTPError) as refused:
            fetched(f"{server}/data/{file}")
        assert refused.value.code == status
        assert words in refused.value.read().decode()
        refused.value.close()


def test_the_data_page_opens_beside_its_addresses(visit):
    page = visit().open("/data")
    page.page.locator("h1").filter(has_text="rows of runs").wait_for()


class Elsewhere(http.server.BaseHTTPRequestHandler):
    """A page of another origin."""

    def do_GET(self):
        """Answer with an empty page."""
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<title>elsewhere</title>")

    def log_message(self, *_):
        """Say nothing."""


def test_a_page_of_another_origin_may_read_a_table(browser, server):
    read = """address => fetch(address, {headers: {'If-None-Match': '"0"'}})
        .then(answer => answer.text().then(text => [answer.headers.get('ETag'), text]))"""
    with http.server.HTTPServer(("127.0.0.1", 0), Elsewhere) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        with browser.new_context() as context:
            page = context.new_page()
            page.goto(f"http://127.0.0.1:{other.server_port}/")
            tag, text = page.evaluate(read, f"{server}/data/sources.csv")
        other.shutdown()
    assert tag.startswith('W/"')
    assert text.startswith("source,url")


def test_hostile_words_are_shown_as_text(visit):
    page = visit().open("/scaling", asymptote=HOSTILE, tab="download")
    page.page.locator(".st-key-lines_curl code").wait_for()
    texts = share(page)
    assert "%3Cimg" in texts["link"]
    assert page.page.locator("img[src=x]").count() == 0


@pytest.mark.parametrize("path", VIEWS)
def test_the_popover_fits_a_phone_and_opens_by_keyboard(visit, path):
    page = visit(size=PHONE).open(path, **VIEWS[path])
    page.settled(chart=path == "/")
    button = page.widget("share").get_by_role("button").first
    button.focus()
    page.page.keyboard.press("Enter")
    page.page.locator(".st-key-share_bibtex code").wait_for()
    box = page.page.locator(".st-key-share_link").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= PHONE[0]
    assert page.sideways == 0
    page.page.keyboard.press("Escape")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_are_readable(visit, scheme):
    page = visit(scheme=scheme).open("/scaling", tab="download")
    page.page.locator(".st-key-lines_curl code").wait_for()
    share(page)
    assert violations(page) == []


EMBEDDED = [
    ("/", {"ladder": "moe-v16"}),
    ("/scaling", {}),
    ("/trajectories", {}),
    ("/recipes", {}),
    ("/recipes", {"tab": "speed-up"}),
    ("/recipes", {"tab": "pairs"}),
    ("/planner", {"flops": "1e21, 1e22, 1e23, 1e24"}),
    ("/planner", {"ladder": "moe-v16", "x": "size", "zoom": "9,10,2.5,2.7"}),
]
_BOXES = """() => {
  const boxes = (name) => [...document.querySelectorAll(`.js-plotly-plot ${name}`)]
    .map((part) => part.getBoundingClientRect()).filter((box) => box.height);
  const under = Math.max(...boxes('[class^=x][class$=title]').map((box) => box.bottom));
  const legend = boxes('.legend')[0];
  const titles = boxes('[class^=y][class$=title]').sort((a, b) => a.top - b.top);
  const main = document.querySelector('[data-testid=stMain]');
  return {
    legend: legend.top - under,
    apart: titles.slice(1).map((box, place) => box.top - titles[place].bottom),
    above: titles[0].top,
    more: [main.scrollHeight - main.clientHeight, main.scrollWidth - main.clientWidth],
  };
}"""


def embedded(visit, path, query, **options):
    """A view in a frame of the size that embed codes have; it has no heading to wait for."""
    page = visit(size=EMBED_SIZE, **options)
    page.page.goto(f"{page.address}{path}?{urlencode({**query, 'embed': 'true'})}")
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("path", "query"), EMBEDDED)
def test_an_embedded_chart_fits_its_frame_and_nothing_lies_over_anything(
    visit, path, query, scheme
):
    page = embedded(visit, path, query, scheme=scheme)
    page.page.locator(".js-plotly-plot .legend").first.wait_for(state="attached")
    page.page.get_by_text("figures of").wait_for()
    found = page.settled(chart=False).page.evaluate(_BOXES)
    assert violations(page) == []
    assert faint_texts(page, scheme) == {}
    assert found["more"] == [0, 0]
    assert found["legend"] >= 0
    assert found["above"] >= 0
    assert all(gap >= 0 for gap in found["apart"])
    if "zoom" in query:
        seen = page.page.evaluate("document.querySelector('.js-plotly-plot').layout.xaxis.range")
        assert seen == [9, 10]


@pytest.mark.parametrize(
    ("path", "query", "sentence"),
    [
        ("/data", {}, "This page has no chart to embed"),
        ("/about", {}, "This page has no chart to embed"),
        ("/planner", {"flops": ""}, "There is no chart here; the page says why."),
    ],
)
def test_an_embedded_view_without_a_chart_says_so(visit, path, query, sentence):
    page = embedded(visit, path, query)
    page.page.get_by_test_id("stAlert").get_by_text(sentence).wait_for()


def test_an_embed_code_is_offered_where_there_is_a_chart(visit):
    for path, there in (("/recipes", True), ("/planner", True), ("/data", False)):
        page = visit().open(path)
        page.settled(chart=False)
        assert ("embed" in share(page)) is there
    assert set(share(visit().open("/about"))) == {"link", "text", "bibtex"}
