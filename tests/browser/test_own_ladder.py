"""A ladder of one's own in a real browser: uploaded, seen by its visitor only, and removed."""

import pytest

from delphi_core.own_ladders import template_csv
from tests.browser.browsing import PHONE

MACRO = "eval/paloma/macro_loss"
TAB = "Your own ladder"


@pytest.fixture(scope="module")
def delphi(snapshot):
    """A file: Delphi's sweep in the six columns."""
    return template_csv(snapshot.records("delphi", MACRO)).encode()


def give(page, content, name="mine.csv"):
    """Upload a file on the Data page."""
    page.open_tab(TAB)
    file = {"name": name, "mimeType": "text/csv", "buffer": content}
    page.page.locator("input[type=file]").set_input_files(file)


def titled(page, words):
    """Wait for a title."""
    page.page.locator("h1").filter(has_text=words).wait_for()


def test_two_visitors_never_see_each_others_upload(visit, delphi):
    one, other = visit().open("/data"), visit(elsewhere=True).open("/data")
    give(one, delphi, "mine.csv")
    one.widget("own_taken").get_by_text("Your mine.csv: 78 records").wait_for()
    give(other, delphi.replace(b"adamh_scaling_v6", b"theirs"), "theirs.csv")
    other.widget("own_taken").get_by_text("Your theirs.csv: 78 records").wait_for()
    for page, own, others in ((one, "mine", "theirs"), (other, "theirs", "mine")):
        page.widget("own_taken").get_by_role("link", name="See it on IsoFLOP").click()
        titled(page, f"Your {own}.csv")
        page.settled()
        assert page.query == {"ladder": "yours"}
        assert f"Your {others}.csv" not in page.page.locator("body").inner_text()
        box = page.widget("ladder").get_by_role("combobox")
        box.click()
        options = page.page.get_by_role("option")
        options.first.wait_for()
        assert [text for text in options.all_inner_texts() if text.startswith("Your")] == [
            f"Your {own}.csv"
        ]
        page.page.keyboard.press("Escape")


def test_the_upload_goes_with_the_visit_and_survives_the_way_through_pages(visit, delphi):
    page = visit(elsewhere=True).open("/data")
    give(page, delphi)
    page.widget("own_taken").wait_for()
    page.widget("own_taken").get_by_role("link", name="See it on Scaling law").click()
    titled(page, "Your mine.csv")
    page.page.get_by_role("link", name="Data", exact=True).click()
    titled(page, "rows of runs")
    page.page.get_by_role("link", name="Scaling law", exact=True).click()
    titled(page, "Your mine.csv")
    # The same link in another tab is another visit, and a reload begins a new one.
    page.page.reload()
    titled(page, "Delphi")
    assert "'yours', which is not offered here" in page.notices[0]


def test_the_template_is_taken_back_and_removed(visit):
    page = visit().open("/data")
    page.open_tab(TAB)
    name, content = page.download("template_csv")
    assert name == "template.csv"
    give(page, content, name)
    page.widget("own_taken").wait_for()
    titled(page, "All 351 rows of runs")
    page.widget("own_remove").get_by_role("button").click()
    titled(page, "All 273 rows of runs")
    page.widget("own_csv").wait_for()


def test_too_large_a_file_and_one_that_is_none_are_refused(visit, tmp_path):
    page = visit().open("/data")
    large = tmp_path / "large.csv"
    large.write_bytes(b"1" * (21 * 2**20))
    page.open_tab(TAB)
    page.page.locator("input[type=file]").set_input_files(large)
    page.widget("own_csv").get_by_text("20.0MB or smaller").wait_for()
    give(page, b"PK\x03\x04" + bytes(100), "zip.csv")
    page.page.get_by_test_id("stAlert").get_by_text("is a ZIP archive").wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_sideways_scrolling_on_a_phone(visit, delphi, scheme):
    page = visit(size=PHONE, scheme=scheme, elsewhere=True).open("/data")

    page.open_tab(TAB)
    assert page.sideways == 0
    give(page, delphi, f"{'long' * 30}.csv")
    page.widget("own_taken").wait_for()
    assert page.sideways == 0
