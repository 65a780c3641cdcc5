"""The Trajectories page in a real browser: links, controls, tabs, download, hover and eyes."""

import io
import re

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect

import delphi_core as dc
from delphi_core.figures.ledger import drawn_forecasts, ledger_alt
from delphi_core.figures.trajectory import trajectory_alt, within
from delphi_core.web import trajectory_words as words
from delphi_core.web.trajectory_fits import shown as forecast_shown
from delphi_core.web.trajectory_view import TABS, TrajectoryView
from delphi_core.web.view_state import ZOOM
from tests.browser.browsing import PHONE, begin_visit, numbers, serving

C4 = "eval_dropless/paloma/c4_en/loss"
# A view with every control away from its default, and what the controls show then.
AWAY = {
    "target": "delphi-1e23",
    "metric": "eval/macro_loss",
    "method": "joint",
    "asymptote": "1.25",
    "level": "0.95",
    "x": "tokens",
    "start": "0.2",
    "rungs": "true",
    "events": "true",
    "tab": "evaluations",
    "end": "0.8",
}
AWAY_SHOWN = AWAY | {
    "level": "95 %",
    "start": "20 %",
    "rungs": True,
    "events": True,
    "tab": "Evaluations",
    "end": "80 %",
}
TABLE = '[data-testid=stDataFrame]:has([aria-label$="{}"])'
# Tab to a part that it alone has; a table is known by what assistive technology calls it.
PARTS = {
    "curve": ".st-key-curve_chart",
    "evaluations": TABLE.format("Every evaluation with its forecast"),
    "methods": TABLE.format("Forecasters side by side"),
    "subsets": TABLE.format("Last evaluation of every metric against its forecast"),
    "backtests": TABLE.format("Backtests of every forecaster"),
    "record": ".st-key-record_csv",
    "download": ".st-key-forecast_csv",
}


def opened(visit, **query):
    """Open a view of the page, and wait until it is drawn."""
    return there(visit.open("/trajectories", **query), query.get("tab", "curve"))


def there(visit, tab):
    """Wait until a tab is there, with its chart."""
    visit.page.locator(PARTS[tab]).wait_for()
    return visit.settled(chart=tab == "curve")


def show(visit, tab):
    """Open a tab by a click."""
    name = words.TAB_TITLES[tab]
    visit.widget("tab").get_by_role("radio", name=name, exact=True).click()
    return there(visit, tab)


def view(visit):
    """All of a view that a visitor would compare."""
    return {
        "title": visit.title,
        "chart": visit.drawn,
        "alt": visit.figure.get_attribute("aria-label"),
        "controls": {key: visit.shown(key) for key in AWAY},
    }


def found(snapshot, query):
    """The view of a query, and what it shows."""
    asked, notices = TrajectoryView.read({name: [value] for name, value in query.items()}, snapshot)
    assert notices == []
    return asked, forecast_shown(snapshot, asked.choice)


def headline(expected):
    """The page's title as it is read."""
    return words.headline(expected).replace("\\", "")


def trace(visit, name):
    """The first trace of a name."""
    return next(trace for trace in visit.drawn["data"] if trace["name"] == name)


def test_the_page_opens_first_on_a_fresh_server(browser, snapshot):
    with serving() as address, browser.new_context() as context:
        page = begin_visit(context.new_page(), address)
        opened(page)
        _, expected = found(snapshot, {})
        assert page.title == headline(expected)
        assert page.page.title() == f"{page.title} - Delphi Dashboard"
        assert page.page.get_by_role("link", name="Scaling law", exact=True).count() == 1
        assert page.notices == page.errors == []
        assert [f"http://{host}" for host in page.hosts] == [address]


def test_every_part_of_a_view_is_in_a_link_and_survives_a_reload(visit, snapshot):
    # Subsets are to be left out of the hero's macro loss only; they and zooms have their own tests.
    assert [*AWAY, "without", ZOOM] == list(TrajectoryView.__dataclass_fields__)
    default, _ = found(snapshot, {"target": AWAY["target"], "metric": AWAY["metric"]})
    asked, expected = found(snapshot, AWAY)
    changed = {name for name in AWAY if getattr(asked, name) != getattr(default, name)}
    assert changed == set(AWAY) - {"target", "metric"}
    assert asked.to_query(snapshot) == {name: [value] for name, value in AWAY.items()}
    page = opened(visit(elsewhere=True), **AWAY)
    for _ in range(2):
        assert {key: page.shown(key) for key in AWAY} == AWAY_SHOWN
        assert page.query == AWAY
        assert page.notices == []
        assert page.title == headline(expected)
        page.page.reload()
        page.page.locator("h1").wait_for()
        there(page, "evaluations")
    show(page, "curve")
    assert page.query == {name: value for name, value in AWAY.items() if name != "tab"}
    assert page.figure.get_attribute("aria-label") == trajectory_alt(
        expected.measured, expected.forecast
    )
    measured = trace(page, f"measured, {expected.target.run}")
    kept = within(expected.measured, asked.shown_fractions)
    assert numbers(measured["y"]) == np.asarray(kept.values).tolist()
    np.testing.assert_allclose(numbers(measured["x"]), kept.tokens / 1e12, rtol=1e-12)
    names = [trace["name"] for trace in page.drawn["data"]]
    assert "forecast, joint" in names
    assert [f"rung {rung.plan.run}" for rung in expected.rungs] == names[:2]


def test_subsets_left_out_are_in_the_link(visit, snapshot):
    page = opened(visit(), without="ptb")
    _, without_ptb = found(snapshot, {"without": "ptb"})
    assert page.title == headline(without_ptb)
    page.page.get_by_label("Macro loss without").click()
    page.page.get_by_role("option", name="gab", exact=True).click()
    page.page.wait_for_url(re.compile("without=gab&without=ptb"))
    asked = {"without": ["gab", "ptb"]}
    wanted, _ = TrajectoryView.read(asked, snapshot)
    assert wanted.without == ("gab", "ptb")
    expected = headline(forecast_shown(snapshot, wanted.choice))
    expect(page.page.locator("h1")).to_have_text(expected, timeout=30_000)
    page.page.go_back()
    page.page.wait_for_url(re.compile(r"\?without=ptb$"))
    expect(page.page.locator("h1")).to_have_text(headline(without_ptb), timeout=30_000)


def test_the_address_follows_each_control(visit):
    page = opened(visit(), utm="discord")
    query = {"utm": "discord"}
    steps = [
        ("rungs", "", {"rungs": "true"}),
        ("events", "", {"events": "true"}),
        ("x", "flops", {"x": "flops"}),
        ("start", "10 %", {"start": "0.1"}),
        ("end", "60 %", {"end": "0.6"}),
        ("level", "80 %", {"level": "0.8"}),
        ("method", "joint", {"method": "joint"}),
        ("asymptote", "1.4", {"asymptote": "1.4"}),
        ("metric", C4, {"metric": C4}),
    ]
    for key, option, change in steps:
        page.use(key, option)
        query |= change
        assert page.query == query
    shown = view(page)
    page.page.reload()
    page.page.locator("h1").wait_for()
    assert view(there(page, "curve")) == shown
    # The other target has no such metric: that falls to its default, the rest stays.
    page.use("target", "delphi-1e23")
    query.pop("metric")
    assert page.query == query | {"target": "delphi-1e23"}
    assert page.notices == []


def test_back_and_forward_walk_through_the_views(visit):
    page = opened(visit())
    views = [view(page)]
    for key, option in [
        ("x", "tokens"),
        ("asymptote", "1.4"),
        ("rungs", ""),
        ("target", "delphi-1e23"),
    ]:
        page.use(key, option)
        views.append(view(page))
    for shown in reversed(views[:-1]):
        with page.redrawn():
            page.page.go_back()
        assert view(page) == shown
    for shown in views[1:]:
        with page.redrawn():
            page.page.go_forward()
        assert view(page) == shown


def test_a_wrong_e_is_said_and_stays_to_be_mended(visit, snapshot):
    page = opened(visit(), asymptote="1.4")
    pinned = view(page)
    typed = "1,4 <b>*E*</b>"
    page.use("asymptote", typed)
    (sentence,) = page.notices
    assert f"E is '{typed}'; it must be a number from 0 up, or fit. It is left." in sentence
    assert page.shown("asymptote") == typed
    assert page.query == {"asymptote": typed}
    _, free = found(snapshot, {})
    assert page.title == headline(free) != pinned["title"]
    page.use("asymptote", "1.4")
    assert page.notices == []
    assert view(page) == pinned


@pytest.mark.parametrize("query", [{}, AWAY], ids=["default", "away"])
def test_the_download_holds_the_forecast_at_full_precision(visit, snapshot, query):
    page = opened(visit(), **{**query, "tab": "download"})
    asked, expected = found(snapshot, query)
    name, content = page.download("forecast_csv")
    metric = asked.metric.replace("/", "-")
    assert name == f"{asked.target}_{metric}_{asked.method}_forecast.csv"
    saved = pd.read_csv(io.BytesIO(content))
    table = dc.forecast_trajectory(
        snapshot,
        asked.target,
        metric=asked.metric,
        method=asked.method,
        asymptote=asked.pinned,
        level=float(asked.level),
    )
    for column in ("fraction", "step", "predicted", "low", "high", "actual", "error_pct"):
        np.testing.assert_array_equal(
            saved[column].to_numpy(float), table[column].to_numpy(float), err_msg=column
        )
    assert set(saved["snapshot"]) == {snapshot.id}
    assert set(saved["described"]) == {expected.forecast.describe()}


def test_published_forecasts_are_on_record(visit, snapshot):
    page = opened(visit(), tab="record")
    ledger = dc.forecast_ledger(snapshot)
    page.settled()
    assert page.figure.get_attribute("aria-label") == ledger_alt(ledger)
    drawn = [
        point
        for trace in page.drawn["data"]
        for point in zip(numbers(trace["x"]), numbers(trace["y"]), strict=True)
    ]
    rows = drawn_forecasts(ledger)
    assert sorted(drawn) == sorted(zip(rows["ratio"], rows["error_pct"], strict=True))
    name, content = page.download("record_csv")
    assert name == f"forecasts_on_record_{snapshot.id}.csv"
    saved = pd.read_csv(io.BytesIO(content))
    for column in ("flops", "predicted", "actual", "error_pct", "ratio"):
        np.testing.assert_array_equal(saved[column], ledger[column], err_msg=column)
    page.page.locator(".st-key-record_chart .point").first.hover(force=True)
    box = page.page.locator(".hoverlayer .hovertext")
    box.wait_for()
    assert "fitted on first 6 of 6 budgets" in box.text_content()
    assert "-0.80 %" in box.text_content()


def test_a_measured_point_says_its_step_and_value(visit, snapshot):
    page = opened(visit())
    _, expected = found(snapshot, {})
    uid = page.page.evaluate(
        """name => document.querySelector('.js-plotly-plot')
                     ._fullData.find(trace => trace.name === name).uid""",
        f"measured, {expected.target.run}",
    )
    page.page.locator(f".trace{uid} .point").last.hover(force=True)
    box = page.page.locator(".hoverlayer .hovertext")
    box.wait_for()
    text = box.text_content()
    line = expected.measured
    assert f"{100 * line.fractions[-1]:.1f} %" in text
    assert f"step {line.steps[-1]:,.0f}" in text
    assert f"measured {line.values[-1]:.4f}" in text


def test_hostile_links_are_shown_as_text(visit):
    hostile = "<img src=x onerror=alert(1)>"
    page = opened(visit(), target=hostile, asymptote=hostile, x=hostile)
    assert len(page.notices) == 3
    assert all(hostile in notice for notice in page.notices)
    assert page.shown("asymptote") == hostile
    assert page.page.locator("img[src=x]").count() == 0


@pytest.mark.parametrize("query", [{}, AWAY], ids=["default", "away"])
def test_tabs_open_by_a_click_and_none_scrolls_sideways_on_a_phone(visit, query):
    assert set(PARTS) == set(TABS)
    shared = {name: value for name, value in query.items() if name != "tab"}
    page = opened(visit(size=PHONE), **shared)
    for tab in [*TABS[1:], TABS[0]]:
        show(page, tab)
        assert page.query == (shared if tab == "curve" else shared | {"tab": tab})
        others = [part for name, part in PARTS.items() if name != tab]
        assert page.page.locator(", ".join(others)).count() == 0
        assert page.shown("tab") == words.TAB_TITLES[tab]
        assert page.sideways == 0, tab
