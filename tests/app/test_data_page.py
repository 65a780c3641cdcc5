"""The Data page, headless: what it shows and gives away is what the core filters."""

import io
import json
import shutil

import pandas as pd
import pytest
import streamlit as st

import delphi_core as dc
from delphi_core import snapshot as snapshots
from delphi_core import snapshot_keeper
from delphi_core.browse import FILTERS, filter_values, filtered
from delphi_core.checks import check_table
from delphi_core.csv_text import read_csv_text
from delphi_core.snapshot_write import write_manifest
from delphi_core.tables import TABLES
from delphi_core.web.data_table import readable
from delphi_core.web.data_view import data_filters
from tests.app.snippets import snippets

MACRO = "eval/paloma/macro_loss"
HOSTILE = '<script>alert(1)</script> [x](javascript:alert(1)) :red[y] $z$ =1+1 "q", \r'


@pytest.fixture
def open_data(open_page):
    """Open the Data page under a query, as a link does."""

    def call(**query):
        page = open_page()
        page.switch_page("pages/data.py")
        page.query_params = dict(query)
        return page.run()

    return call


@pytest.fixture
def downloads(monkeypatch):
    """What the page's download buttons would save: file name to content."""
    files = {}

    def button(_label, data, file_name, *_mime, **_options):
        files[file_name] = data

    monkeypatch.setattr(st, "download_button", button)
    return files


def shown(page):
    """Rows of the page's table, as it hands them to the browser."""
    return page.dataframe[0].value.reset_index(drop=True)


def assert_shows(page, snapshot, name, **filters):
    """The page shows the rows that the core filters, and counts them."""
    assert not page.exception
    assert not page.warning
    rows = filtered(snapshot.tables[name], **filters)
    addresses = snapshot.tables["sources"].set_index("source")["url"]
    expected, _ = readable(TABLES[name], rows, addresses)
    pd.testing.assert_frame_equal(shown(page), expected, check_dtype=False)
    for column in TABLES[name].columns:
        if column.kind in ("text", "date", "flag"):
            if column.name != "url":
                assert shown(page)[column.name].equals(rows[column.name].astype(object)) or (
                    shown(page)[column.name].fillna("").to_list()
                    == rows[column.name].fillna("").to_list()
                )
        elif column.unit == "FLOP":
            numbers = shown(page)[f"{column.name} (10¹⁸ FLOP)"]
            assert numbers.to_list() == pytest.approx(rows[column.name] / 1e18, nan_ok=True)
    count = f"{len(rows):,} of " if len(rows) < len(snapshot.tables[name]) else "All "
    assert page.title[0].value.startswith(count)


@pytest.mark.parametrize("name", TABLES)
def test_every_table_opens_with_all_its_rows(open_data, snapshot, name):
    page = open_data(table=name)
    assert_shows(page, snapshot, name)
    filters = [box.key for box in page.selectbox if box.key not in ("table", "sort")]
    assert filters == [column for column in FILTERS if column in TABLES[name].column_names]
    # Each column is described.
    described = page.dataframe[1].value
    assert described["column"].to_list() == list(TABLES[name].column_names)
    config = json.loads(page.dataframe[0].proto.columns)
    assert len(config) >= len(TABLES[name].columns)
    assert all(options.get("hidden") or options["help"] for options in config.values())


@pytest.mark.parametrize(
    ("name", "column"), [(name, column) for name in TABLES for column in data_filters(name)]
)
def test_every_filter_shows_its_rows(open_data, snapshot, name, column):
    value = filter_values(snapshot.tables[name], column)[-1]
    page = open_data(table=name)
    page.selectbox(key=column).set_value(value).run()
    assert_shows(page, snapshot, name, **{column: value})
    expected = {"table": name, column: value}
    if name == "runs":
        del expected["table"]
    assert page.query_params == expected
    assert_shows(open_data(**page.query_params), snapshot, name, **{column: value})


def test_the_address_follows_every_control(open_data, snapshot):
    page = open_data()
    page.selectbox(key="ladder").set_value("moe-v16").run()
    page.selectbox(key="role").set_value("isoflop").run()
    page.text_input(key="text").set_value("D512").run()
    page.selectbox(key="sort").set_value("-flops").run()
    filters = {"ladder": "moe-v16", "role": "isoflop", "text": "D512", "sort": "-flops"}
    assert page.query_params == filters
    assert_shows(page, snapshot, "runs", **filters)
    page.selectbox(key="ladder").set_value("").run()
    del filters["ladder"]
    assert page.query_params == filters
    assert_shows(page, snapshot, "runs", **filters)


def test_switching_tables_drops_the_filters_it_lacks_without_a_word(open_data, snapshot):
    page = open_data(ladder="delphi", role="isoflop", budget="3e18", sort="-flops", text="d512")
    page.selectbox(key="table").set_value("evals").run()
    assert_shows(page, snapshot, "evals", ladder="delphi", text="d512")
    assert page.query_params == {"table": "evals", "ladder": "delphi", "text": "d512"}


def test_a_link_that_asks_for_a_filter_the_table_lacks_says_so(open_data):
    page = open_data(table="evals", role="isoflop")
    assert "'isoflop'" in page.warning[0].value.replace("\\", "")
    assert page.title[0].value == "All 334 rows of evals"
    page.selectbox(key="ladder").set_value("delphi").run()
    assert not page.warning


VIEWS = [
    *({"table": name} for name in TABLES),
    {"table": "runs", "ladder": "moe-v16", "role": "isoflop", "sort": "-flops"},
    {"table": "runs", "budget": "3e18", "sort": "params"},
    {"table": "evals", "metric": MACRO, "text": "d512", "sort": "-value"},
    {"table": "events", "text": "oom"},
    {"table": "runs", "text": "nothing of the kind"},
]


@pytest.mark.parametrize("query", VIEWS, ids=lambda query: "-".join(query.values()))
def test_the_csv_holds_the_rows_shown_exactly(open_data, downloads, snapshot, query):
    open_data(**query)
    (data,) = [data for file, data in downloads.items() if file.startswith(query["table"])]
    filters = {name: value for name, value in query.items() if name != "table"}
    rows = filtered(snapshot.tables[query["table"]], **filters)
    assert_reads_back(data(), TABLES[query["table"]], rows)


def assert_reads_back(text, table, rows):
    """A CSV read as snapshots are read is the rows, types included; pandas reads the numbers."""
    cells = read_csv_text(text.encode(), "rows.csv", may_be_empty=True)
    again, mistakes = check_table(cells, table, "rows.csv")
    assert not mistakes
    pd.testing.assert_frame_equal(again.reset_index(drop=True), rows, check_exact=True)
    plain = pd.read_csv(io.StringIO(text, newline=""))
    for column in table.columns:
        if column.kind == "number" and len(rows):
            assert plain[column.name].astype("float64").equals(rows[column.name])


def test_the_snippet_gives_the_same_rows(open_data, snapshot):
    page = open_data(ladder="moe-v16", text="d5'12\"", sort="-tokens")
    for text in ("d512", "d5'12\"", "\\"):
        page.text_input(key="text").set_value(text).run()
        names = {}
        exec(snippets(page)[0], names)  # noqa: S102 - the page's own snippet
        expected = filtered(snapshot.tables["runs"], ladder="moe-v16", text=text, sort="-tokens")
        pd.testing.assert_frame_equal(names["rows"], expected)


@pytest.mark.parametrize("text", ["zzz", "<b>x</b> [a](http://b)", ".*", "((", "%00", "\\d"])
def test_no_row_is_said_in_words(open_data, text):
    page = open_data(text=text)
    assert not page.exception
    assert page.title[0].value == "0 of 273 rows of runs"
    assert len(page.dataframe) == 1
    assert page.info[0].value.replace("\\", "").startswith("No row has text ")
    assert "](" not in page.info[0].value
    assert "<" not in page.info[0].value.replace("\\<", "")


def test_rows_link_to_web_addresses_only(open_data, snapshot):
    runs = shown(open_data())
    assert runs["url"].dropna().str.startswith("https://").all()
    assert runs["url"].count() == snapshot.tables["runs"]["url"].count()
    assert runs["source"][0] == "s001"
    assert shown(open_data(table="evals"))["source address"][0].endswith("delphi-blog-data")
    assert shown(open_data(table="sources"))["url"].notna().all()


@pytest.fixture
def other_snapshot(tmp_path, monkeypatch):
    """A folder that DELPHI_SNAPSHOT names, read anew by the next page."""
    folder = shutil.copytree(snapshots.BUNDLED, tmp_path / "snapshot")
    monkeypatch.setenv("DELPHI_SNAPSHOT", str(folder))
    st.cache_resource.clear()
    yield folder
    st.cache_resource.clear()


def replace(folder, table, old, new):
    """Put other text into one cell of a table."""
    file = folder / f"{table}.csv"
    text = file.read_bytes().decode()
    assert old in text
    file.write_bytes(text.replace(old, new, 1).encode())


def test_hostile_cells_are_shown_as_they_are_and_never_linked(other_snapshot, open_data, downloads):
    quoted = '"' + HOSTILE.replace('"', '""') + '"'
    replace(other_snapshot, "events", "resume test; host OOM (#8480)", quoted)
    replace(other_snapshot, "sources", "https://huggingface.co", "javascript:alert(1)//")
    replace(other_snapshot, "runs", "https://wandb.ai", "data:text/html;")
    write_manifest(other_snapshot, "2030-01-01T00:00:00Z")
    made = dc.load_snapshot(other_snapshot)
    page = open_data(table="events", text="</SCRIPT>")
    assert_shows(page, made, "events", text="</SCRIPT>")
    assert shown(page)["text"].to_list() == [HOSTILE]
    (data,) = [data for file, data in downloads.items() if file.startswith("events")]
    assert_reads_back(data(), TABLES["events"], filtered(made.tables["events"], text="</SCRIPT>"))
    sources = shown(open_data(table="sources"))
    assert pd.isna(sources["url"][0])
    assert sources["url, no link"][0].startswith("javascript:")
    runs = shown(open_data())
    assert pd.isna(runs["url"][0])
    assert runs["url, no link"][0].startswith("data:")
    evals = open_data(table="evals")
    assert pd.isna(shown(evals)["source address"][0])
    links = json.loads(evals.dataframe[0].proto.columns)
    assert "source address, no link" not in links


@pytest.fixture
def million(snapshot, monkeypatch):
    """A snapshot with a million evaluations during training."""
    table = snapshot.tables["trajectories"]
    many = pd.concat([table] * (1_000_000 // len(table) + 1), ignore_index=True)
    made = dc.Snapshot("a" * 12, "2030-01-01", {**snapshot.tables, "trajectories": many})
    monkeypatch.setattr(snapshot_keeper, "load_snapshot", lambda _: made)
    st.cache_resource.clear()
    yield made
    st.cache_resource.clear()


def test_a_million_rows_open_without_writing_a_csv(million, open_data, monkeypatch):
    def refuse(*_arguments, **_options):
        raise AssertionError("the page wrote a CSV before anyone asked for it")

    tables, lazy = [], []

    def dataframe(data, **options):
        tables.append(data)
        lazy.append(options.get("lazy"))

    monkeypatch.setattr(pd.DataFrame, "to_csv", refuse)
    monkeypatch.setattr(st, "dataframe", dataframe)
    page = open_data(table="trajectories", ladder="hero")
    assert not page.exception
    rows = filtered(million.tables["trajectories"], ladder="hero")
    assert (len(tables[-2]), lazy[-2]) == (len(rows), True)
    page.selectbox(key="ladder").set_value("").run()
    assert not page.exception
    assert page.title[0].value.startswith("All 1,00")
    assert len(tables[-2]) == len(million.tables["trajectories"])


def test_flops_beyond_what_a_grid_shows_are_scaled(snapshot):
    runs = snapshot.tables["runs"].head(2).assign(tokens=[1e12, 3e16], flops=[3e18, 3e36])
    table, config = readable(TABLES["runs"], runs, pd.Series(dtype="str"))
    assert table["flops (10²¹ FLOP)"].to_list() == pytest.approx([3e-3, 3e15])
    assert table["tokens (10³ tokens)"].to_list() == pytest.approx([1e9, 3e13])
    for name in table.select_dtypes("number"):
        assert not table[name].abs().max() > 2**53
        assert name in config
