"""The Data page in a real browser: links, filters, downloads, and the way between pages."""

import io

import pandas as pd
import pytest

from delphi_core.browse import filtered
from tests.browser.browsing import PHONE, begin_visit, serving

RUNS = {"ladder": "moe-v16", "role": "isoflop", "text": "d512"}


def titled(page, words):
    """Wait for a title."""
    page.page.locator("h1").filter(has_text=words).wait_for()


def pick(page, key, option):
    """Pick an option of a selector."""
    box = page.widget(key).get_by_role("combobox")
    box.fill(option)
    page.page.get_by_role("option", name=option, exact=True).click()


def rows(snapshot, query):
    """The rows that a query asks for."""
    filters = {name: value for name, value in query.items() if name != "table"}
    return filtered(snapshot.tables[query.get("table", "runs")], **filters)


def test_the_address_follows_each_control_and_opens_the_same_rows(visit, snapshot):
    page = visit().open("/data")
    total = len(snapshot.tables["runs"])
    titled(page, f"All {total} rows of runs")
    query = {}
    for key, value in RUNS.items():
        query[key] = value
        if key == "text":
            page.widget(key).get_by_role("textbox").fill(value)
            page.page.keyboard.press("Enter")
        else:
            pick(page, key, value)
        titled(page, f"{len(rows(snapshot, query))} of {total} rows of runs")
        assert page.query == query
    there = visit(elsewhere=True).goto(page.url)
    titled(there, f"{len(rows(snapshot, RUNS))} of {total} rows of runs")
    assert there.shown("ladder") == "moe-v16"
    assert there.widget("text").get_by_role("textbox").input_value() == "d512"


@pytest.mark.parametrize("query", [RUNS, {"table": "trajectories", "ladder": "hero"}], ids=str)
def test_the_download_is_what_is_shown(visit, snapshot, query):
    page = visit().open("/data", **query)
    expected = rows(snapshot, query)
    titled(page, f"{len(expected):,} of")
    page.open_tab("Download")
    name, content = page.download("rows_csv")
    assert name.endswith(".csv")
    table = pd.read_csv(io.BytesIO(content))
    assert table.columns.to_list() == expected.columns.to_list()
    numbers = expected.select_dtypes("number").columns
    for column in table.columns:
        have, want = table[column], expected[column].reset_index(drop=True)
        if column in numbers:
            have, want = have.astype("float64"), want.astype("float64")
        assert have.isna().equals(want.isna())
        assert have.dropna().to_list() == want.dropna().to_list()


def test_the_menu_leads_back_to_the_view_that_was_left(visit):
    page = visit().open(ladder="moe-v16", x="tokens")
    page.use("method", "cubic")
    left = page.query
    page.page.get_by_role("link", name="Data", exact=True).click()
    titled(page, "rows of runs")
    pick(page, "ladder", "delphi")
    titled(page, "of 273 rows of runs")
    page.page.get_by_role("link", name="IsoFLOP", exact=True).click()
    titled(page, "MoE v16")
    page.settled()
    assert page.query == left
    assert page.shown("method") == "cubic"
    page.page.go_back()
    titled(page, "of 273 rows of runs")
    assert page.shown("ladder") == "delphi"
    assert page.query == {"ladder": "delphi"}


def test_broken_links_open_what_there_is_with_a_notice(visit):
    page = visit().open("/data", table="runs", ladder="<b>hero-2</b>")
    titled(page, "All 273 rows of runs")
    (notice,) = page.notices
    assert "'<b>hero-2</b>'" in notice


def test_a_fresh_server_opens_a_link_to_the_page_first(browser):
    # Streamlit's old way with a folder called pages would run the page without app.py.
    with serving() as address, browser.new_context() as context:
        page = begin_visit(context.new_page(), address)
        page.page.goto(f"{address}/data?table=sources")
        titled(page, "rows of sources")
        page.page.get_by_role("link", name="IsoFLOP", exact=True).wait_for()
        assert page.page.title() == f"{page.title} - Delphi Dashboard"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_sideways_scrolling_on_a_phone(visit, scheme):
    page = visit(size=PHONE, scheme=scheme)
    for query in ({}, RUNS, {"table": "trajectories"}):
        page.open("/data", **query)
        for tab in ("Columns", "Download", "Table"):
            page.open_tab(tab)
            assert page.sideways == 0, (query, tab)
