"""A page that is open while its figures are published anew, or can no longer be had."""

import re
import shutil

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect

import delphi_core as dc
from delphi_core.snapshot import BUNDLED
from delphi_core.snapshot_publish import publish
from delphi_core.snapshot_write import write_manifest
from delphi_core.sources.places import Place
from tests.browser.browsing import begin_visit, numbers, serving

MACRO = "eval_dropless/paloma/macro_loss"


def with_evaluations(folder, more):
    """A copy of the bundled snapshot in which the hero run has gone on for some evaluations."""
    shutil.copytree(BUNDLED, folder)
    rows = pd.read_csv(folder / "trajectories.csv", dtype=str, keep_default_na=False)
    own = rows[(rows["ladder"] == "hero") & (rows["metric"] == MACRO)]
    own = own[own["run"] == "hero-535b-a23b"]
    last = own.iloc[[own["step"].astype(float).argmax()]]
    step, per_step = float(last["step"].iloc[0]), float(last["tokens"].iloc[0])
    per_step /= step + 1
    added = [
        last.assign(
            step=f"{step + 3000 * k:.0f}",
            tokens=f"{per_step * (step + 3000 * k + 1):.0f}",
            value="2.19",
        )
        for k in range(1, more + 1)
    ]
    pd.concat([rows, *added]).to_csv(folder / "trajectories.csv", index=False, lineterminator="\n")
    write_manifest(folder, "2030-01-01T00:00:00Z")
    return folder


@pytest.fixture
def live(browser, bucket, tmp_path):
    """A server on a bucket that it looks at twice a second, and a tab on it."""
    publish(Place(str(BUNDLED)), bucket.place())
    variables = {
        "DELPHI_SNAPSHOT": bucket.url,
        "DELPHI_REFRESH_SECONDS": "0.5",
        "DELPHI_CACHE_DIR": str(tmp_path / "cache"),
        "STORAGE_EMULATOR_HOST": bucket.server.url,
    }
    with serving(**variables) as address, browser.new_context() as context:
        visit = begin_visit(context.new_page(), address)
        yield visit, bucket
        assert visit.errors == []


def footer(visit):
    """The line at the foot of the page."""
    return visit.page.get_by_test_id("stCaptionContainer").last


def test_an_open_page_shows_what_is_published_and_keeps_zoom_and_choices(live, tmp_path, snapshot):
    visit, bucket = live
    visit.open("/trajectories", x="steps", rungs="true")
    visit.page.locator(".st-key-curve_chart .main-svg").first.wait_for()
    expect(footer(visit)).to_contain_text(f"Snapshot {snapshot.id}")
    expect(footer(visit)).to_contain_text("live, nothing newer at")
    before = visit.title
    # Zoom in, as dragging a rectangle does.
    box = visit.page.locator(".st-key-curve_chart .nsewdrag").first.bounding_box()
    visit.page.mouse.move(box["x"] + box["width"] * 0.2, box["y"] + box["height"] * 0.3)
    visit.page.mouse.down()
    visit.page.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + box["height"] * 0.9, steps=5)
    visit.page.mouse.up()
    visit.page.wait_for_url(re.compile("zoom="))
    visit.settled()
    zoomed = "() => document.querySelector('.js-plotly-plot').layout.xaxis.range.map(x => +x)"
    first = visit.page.evaluate(zoomed)
    assert first[1] < 300
    query = visit.query
    assert [float(end) for end in query["zoom"].split(",")][:2] == pytest.approx(first)
    other = with_evaluations(tmp_path / "other", 3)
    publish(Place(str(other)), bucket.place())
    made = dc.load_snapshot(other)
    expect(footer(visit)).to_contain_text(f"Snapshot {made.id}", timeout=30_000)
    expect(visit.page.locator("h1")).not_to_have_text(before)
    visit.settled()
    line = dc.main_line(made, "hero", "hero-535b-a23b", MACRO)
    (measured,) = [trace for trace in visit.drawn["data"] if trace["name"].startswith("measured, ")]
    assert numbers(measured["y"])[-3:] == [2.19] * 3
    assert len(numbers(measured["y"])) == int((line.fractions >= 0.0495).sum())
    assert np.allclose(visit.page.evaluate(zoomed), first)
    assert visit.query == query
    assert visit.shown("x") == "steps"
    assert visit.shown("rungs") is True


def test_a_page_stays_when_its_bucket_is_gone_and_says_since_when(live, snapshot):
    visit, bucket = live
    visit.open("/")
    title = visit.title
    pointer = bucket.get("latest.json")
    bucket.put("latest.json", b"{")
    notice = visit.page.get_by_test_id("stAlert")
    expect(notice).to_contain_text(
        re.compile(
            r"cannot be had since \d{4}-\d\d-\d\d \d\d:\d\d UTC; the last good ones are shown"
        ),
        timeout=30_000,
    )
    assert visit.title == title
    expect(footer(visit)).to_contain_text(f"Snapshot {snapshot.id}")
    visit.settled()
    bucket.put("latest.json", pointer)
    expect(notice).to_have_count(0, timeout=30_000)
    assert visit.title == title
