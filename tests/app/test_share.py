"""Share, on every page: link, embed code, data addresses and citation of what is shown."""

import json
from urllib.parse import parse_qs, urlsplit

import pytest
import streamlit as st

from delphi_core.own_ladders import parse_own_ladders, template_csv
from delphi_core.spreadsheet import spreadsheet_csv
from delphi_core.web import share
from delphi_core.web.page_index import PAGES

FILES = {path: path.strip("/") or "isoflop" for path in PAGES}
AWAY = {
    "/": {"ladder": "moe-v16", "method": "cubic", "y": "log"},
    "/scaling": {"law": "log", "target": "1e22", "tab": "download"},
    "/trajectories": {"target": "67b", "tab": "download"},
    # Of a base whose runs are paired with another ladder's.
    "/recipes": {"method": "parabola", "flops": "1e20", "tab": "download"},
    "/planner": {"flops": "1e21, 1e22", "tab": "download"},
    "/data": {"table": "evals", "ladder": "delphi", "text": "d512"},
    "/about": {},
}
HOSTILE = '"><script>alert(1)</script>'
PATHS = list(PAGES)
WITH_TABLES = [path for path in PATHS if PAGES[path].names]


@pytest.fixture
def open_at(open_page):
    """Open a page under a query."""

    def call(path, **query):
        page = open_page()
        page.switch_page(f"pages/{FILES[path]}.py")
        page.query_params = dict(query)
        page.run()
        assert not page.exception
        return page

    return call


def texts(page):
    """Every text that can be copied."""
    return [block.value for block in page.code]


def link_of(page):
    """The link of the popover."""
    return texts(page)[0]


def addresses_of(page):
    """Data addresses of the popover."""
    found = [text for text in texts(page) if text.split("?")[0].endswith(".csv")]
    return [text for text in found if "\n" not in text and " " not in text]


def asked(address):
    """Path and parameters of an address."""
    parts = urlsplit(address)
    return parts.path, {name: values[0] for name, values in parse_qs(parts.query).items()}


def test_every_page_of_the_menu_has_a_share_popover(open_page):
    page = open_page()
    menu = [page.markdown[0].value.strip("*")] + [
        link.proto.label for link in page.get("page_link")
    ]
    titles = [own.title for own in PAGES.values()]
    assert [title for title in menu if title in titles] == titles


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("away", [False, True], ids=["default", "away"])
def test_the_link_and_the_addresses_are_those_of_the_view(open_at, path, away):
    query = AWAY[path] if away else {}
    page = open_at(path, **query)
    assert asked(link_of(page)) == (path, query)
    own = PAGES[path]
    names = [query.get("table", "runs")] if path == "/data" else own.names
    found = [asked(address) for address in addresses_of(page)]
    rest = {name: value for name, value in query.items() if name not in ("table", "tab")}
    assert found == [(f"/data/{own.prefix}{name}.csv", rest) for name in names]


@pytest.mark.parametrize("path", PATHS)
def test_the_citation_says_what_the_page_is_headed_by(open_at, snapshot, path):
    page = open_at(path, **AWAY[path])
    title = page.title[0].value.replace("\\", "")
    text = next(text for text in texts(page) if text.startswith("Delphi Dashboard"))
    assert f"“{title}”" in text
    assert snapshot.id in text
    assert snapshot.created_at[:10] in text
    bibtex = next(text for text in texts(page) if text.startswith("@misc"))
    assert snapshot.id in bibtex
    frames = [text for text in texts(page) if text.startswith("<iframe")]
    # Where there is a chart to embed.
    assert len(frames) == (0 if path in ("/data", "/about") else 1)
    for frame in frames:
        assert "embed=true" in frame
        assert 'width="600" height="400"' in frame


def test_the_operators_address_begins_every_address(open_at, monkeypatch):
    monkeypatch.setenv("DELPHI_BASE_URL", "https://dash.example/delphi")
    page = open_at("/scaling", **AWAY["/scaling"])
    assert link_of(page).startswith("https://dash.example/delphi/scaling?")
    lines = "\n".join(texts(page))
    assert lines.count("https://dash.example/delphi/data/scaling-law.csv?") == 4


@pytest.mark.parametrize("path", WITH_TABLES)
def test_download_tabs_have_lines_for_every_table(open_at, path):
    page = open_at(path, **AWAY[path])
    names = ["evals"] if path == "/data" else PAGES[path].names
    pandas, r, curl = texts(page)[-3:]
    assert pandas.split("\n")[0] == "import pandas as pd"
    for lines, kind in (
        (pandas.split("\n")[1:], " = pd.read_csv("),
        (r.split("\n"), " <- read.csv("),
    ):
        assert [line.split(kind)[0] for line in lines] == list(names)
        assert all(line.endswith('")') for line in lines)
    assert [line.split()[0] for line in curl.split("\n")] == ["curl"] * len(names)


def test_downloads_are_the_tables_of_the_addresses(open_at, monkeypatch, snapshot):
    files = {}

    def button(_label, data, file_name, *_mime, **_options):
        files[file_name] = data()

    page = open_at("/scaling", **AWAY["/scaling"])
    monkeypatch.setattr(st, "download_button", button)
    page.run()
    own = PAGES["/scaling"]
    view, _ = own.view.read({name: [value] for name, value in AWAY["/scaling"].items()}, snapshot)
    made = {
        f"{own.file_name(view, name)}.csv": spreadsheet_csv(make())
        for name, make in own.tables(snapshot, view).items()
    }
    assert files == made
    assert len(files) == 4


def test_a_law_that_is_not_there_has_no_address(open_at):
    page = open_at("/scaling", asymptote="3.5")
    assert [asked(address)[0] for address in addresses_of(page)] == [
        "/data/scaling-points.csv",
        "/data/scaling-optima.csv",
    ]


def test_hostile_words_of_a_view_are_encoded_in_all_that_is_copied(open_at):
    page = open_at("/scaling", asymptote=HOSTILE, tab="download")
    for text in texts(page)[:-3]:
        assert HOSTILE not in text
        if not text.startswith(("<iframe", "Delphi", "@misc")):
            assert "<" not in text
    assert asked(link_of(page))[1]["asymptote"] == HOSTILE


def test_the_popover_of_a_page_that_is_in_no_index_is_not_there(monkeypatch, open_at):
    monkeypatch.setattr(share, "page_of", lambda _: None)
    page = open_at("/data")
    assert not [text for text in texts(page) if "/data/" in text]


@pytest.fixture
def own(snapshot):
    """A visitor's own ladder."""
    records = snapshot.records("delphi", "eval/paloma/macro_loss")
    return parse_own_ladders(template_csv(records).encode(), "mine.csv")


def test_a_visitors_own_ladder_is_in_no_address(open_page, own):
    page = open_page()
    page.session_state["own ladders"] = own
    page.query_params = {"ladder": own.fitted[0]}
    page.run()
    assert page.selectbox(key="ladder").value == own.fitted[0]
    said = [block.value for block in page.markdown if block.value == share.OWN]
    assert len(said) == 2
    assert not [text for text in texts(page) if "yours" in text and "http" in text]
    assert not addresses_of(page)
    page.selectbox(key="ladder").set_value("delphi").run()
    assert len(addresses_of(page)) == 2
    assert json.dumps(texts(page)).count("mine.csv") == 0
