"""The IsoFLOP page in a real browser: what links, controls, downloads and eyes get."""

import io
from collections import Counter

import pandas as pd
import pytest

import delphi_core as dc
from delphi_core import export
from delphi_core.figures.isoflop_words import isoflop_alt
from delphi_core.fits.isoflop import IsoflopFit
from delphi_core.records import without_budgets
from delphi_core.web.isoflop_view import IsoflopView
from delphi_core.web.view_state import ZOOM
from delphi_core.words import flops_words
from tests.browser.browsing import CHART, PHONE, numbers

MACRO = "eval/paloma/macro_loss"
BPB = "eval/paloma/c4_en/bpb"
# A view with every control away from its default.
AWAY = {
    "ladder": "moe-v16",
    "metric": BPB,
    "x": "tokens",
    "method": "cubic",
    "excluded": "true",
    "budgets": ["3e18", "1e19", "3e19", "1e20", "3e20"],
    "y": "log",
}
# How a visitor gets there: what to pick or switch, in this order.
STEPS = [
    ("ladder", "MoE v16 iso-FLOP"),
    ("metric", BPB),
    ("x", "tokens"),
    ("method", "cubic"),
    ("excluded", ""),
    ("budgets", "1e18"),
    ("budgets", "1e21"),
    ("y", "log"),
]


def view(visit):
    """All of a view that a visitor would compare."""
    return {
        "title": visit.title,
        "chart": visit.drawn,
        "alt": visit.figure.get_attribute("aria-label"),
        "controls": {key: visit.shown(key) for key in AWAY},
    }


def points(visit):
    """Run to x and y of each run that is drawn."""
    found = {}
    for trace in visit.drawn["data"]:
        if "customdata" in trace:
            places = zip(numbers(trace["x"]), numbers(trace["y"]), strict=True)
            found |= dict(zip(trace["customdata"], places, strict=True))
    return found


def test_a_link_opens_the_same_view_elsewhere(visit):
    # What is zoomed to, and the open tab, have tests of their own.
    assert {*AWAY, "tab", ZOOM} == set(IsoflopView.__dataclass_fields__)
    here = visit().open()
    start = view(here)
    for key, option in STEPS:
        here.use(key, option)
    assert here.query == AWAY
    there = visit(elsewhere=True).goto(here.url)
    assert view(there) == view(here)
    assert all(shown != start[part] for part, shown in view(there).items())
    assert not there.notices


def test_the_address_follows_each_control(visit):
    page = visit().open(utm="discord")
    steps = [
        ("x", "parameters", {"x": "params"}),
        ("method", "marin", {"x": "params", "method": "marin"}),
        ("x", "tokens", {"method": "marin"}),
        ("excluded", "", {"method": "marin", "excluded": "true"}),
        ("excluded", "", {"method": "marin"}),
        ("y", "log", {"method": "marin", "y": "log"}),
        ("metric", BPB, {"metric": BPB, "y": "log"}),
    ]
    for key, option, query in steps:
        page.use(key, option)
        assert page.query == {"utm": "discord", **query}


def test_back_and_forward_walk_through_the_views(visit):
    page = visit().open()
    views = [view(page)]
    for key, option in [("x", "parameters"), ("method", "marin"), ("metric", BPB)]:
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


@pytest.mark.parametrize("query", [{}, AWAY], ids=["default", "away"])
def test_downloads_are_what_is_shown(visit, snapshot, query):
    asked = {name: [value] if isinstance(value, str) else value for name, value in query.items()}
    opened, _ = IsoflopView.read(asked, snapshot)
    page = visit().open(**query)
    shown = points(page)
    optima = [trace for trace in page.drawn["data"] if trace["name"].endswith(", optimum")]
    page.open_tab("Download")
    name, content = page.download("points_csv")
    assert name.endswith("_points.csv")
    table = pd.read_csv(io.BytesIO(content))
    along = "tokens" if opened.x == "tokens" else "params"
    places = zip(table[along], table["value"], strict=True)
    assert shown == dict(zip(table["run"], places, strict=True))
    # The same fit as of the records that the server has, to the last bit.
    fit = IsoflopFit(method=opened.method, x=opened.x, include_excluded=opened.excluded)
    hidden = set(opened.offered_budgets(snapshot)) - set(opened.budgets)
    records = snapshot.records(opened.ladder, opened.metric)
    assert bits(fit(table)) == bits(fit(without_budgets(records, hidden)))

    name, content = page.download("optima_csv")
    assert name.endswith("_optima.csv")
    table = pd.read_csv(io.BytesIO(content)).dropna(subset="optimal_tokens")
    amounts = [numbers(trace["x"])[0] for trace in optima]
    assert amounts == table[f"optimal_{along}"].to_list()
    assert [numbers(trace["y"])[0] for trace in optima] == table["loss_at_optimal"].to_list()


def bits(fit):
    """Every coefficient and optimum of a fit, to compare bit by bit."""
    table = export.optima_table(fit).drop(columns=["flags", "notes", "interval"])
    return table.astype("float64").to_numpy().tobytes()


def test_old_and_broken_links_open_the_nearest_view_with_a_notice(visit):
    page = visit()
    links = [
        ({"ladder": "moe-v16", "x": "params"}, "params", {"x": "active parameters"}),
        ({"metric": "eval/paloma/macro"}, "eval/paloma/macro", {"metric": MACRO}),
        ({"method": "<b>spline</b>", "x": "params"}, "<b>spline</b>", {"method": "parabola"}),
    ]
    for query, asked, controls in links:
        page.open(**query)
        (notice,) = page.notices
        assert f"'{asked}', which is not offered here" in notice
        for key, value in controls.items():
            assert page.shown(key) == value
        assert "grows as" in page.title


def test_nothing_off_site_and_no_error_in_the_console(visit, server):
    page = visit().open()
    for tab in ("Table", "Download", "Chart"):
        page.open_tab(tab)
    page.use("metric", BPB)
    page.page.locator(f"{CHART} .point").first.hover(force=True)
    assert page.errors == []
    assert [f"http://{host}" for host in page.hosts] == [server]


def test_no_sideways_scrolling_on_a_phone(visit):
    page = visit(size=PHONE)
    for query in ({}, AWAY, {"ladder": "moe-aug-hero", "method": "none"}):
        page.open(**query)
        for tab in ("Table", "Download", "Chart"):
            page.open_tab(tab)
            assert page.sideways == 0, (query, tab)


def drawn_elements(page):
    """How many markers and lines the browser has drawn."""
    names = page.page.locator(f"{CHART} .scatterlayer .point, {CHART} .scatterlayer .js-line")
    return Counter(names.evaluate_all("parts => parts.map(part => part.classList[0])"))


def test_a_click_in_the_legend_hides_a_budget(visit):
    page = visit().open()
    before = drawn_elements(page)
    budget = next(trace["legendgroup"] for trace in page.drawn["data"] if "legendgroup" in trace)
    own = [trace for trace in page.drawn["data"] if trace.get("legendgroup") == budget]
    markers = sum(len(numbers(trace["x"])) for trace in own if "markers" in trace["mode"])
    lines = sum("lines" in trace["mode"] for trace in own)
    # Points, curve and optimum go together.
    assert markers == 5 + 1
    assert lines == 1
    entry = page.page.locator(f"{CHART} .traces").filter(has_text=budget).first
    with page.redrawn():
        entry.locator(".legendtoggle").click()
    assert before - drawn_elements(page) == Counter({"point": markers, "js-line": lines})
    assert {trace["visible"] for trace in page.drawn["data"] if "visible" in trace} == {
        "legendonly"
    }
    with page.redrawn():
        entry.locator(".legendtoggle").click()
    assert drawn_elements(page) == before


def test_the_tabs_are_reached_and_switched_by_keyboard(visit):
    page = visit().open()
    keyboard, focused = page.page.keyboard, page.page.locator(":focus")
    reached = []
    while "tab" not in reached:
        keyboard.press("Tab")
        reached.append(focused.get_attribute("role"))
        assert len(reached) < 30
    assert "combobox" in reached
    assert "radio" in reached
    for name in ("Table", "Download"):
        keyboard.press("ArrowRight")
        keyboard.press("Enter")
        page.page.get_by_role("tabpanel", name=name, exact=True).wait_for()
        assert focused.inner_text() == name


def test_the_chart_says_its_numbers(visit, snapshot):
    page = visit().open()
    fit = dc.fit_isoflops(snapshot.records("delphi", MACRO))
    words = page.figure.get_attribute("aria-label")
    assert words == isoflop_alt(fit)
    for optimum in fit.optima:
        assert flops_words(optimum.flops) in words
        assert f"{optimum.loss_at_optimal:.3f}" in words


def test_a_click_on_a_point_shows_the_run_with_its_link(visit, snapshot):
    page = visit().open(ladder="delphi")
    point = page.page.locator(f"{CHART} .scatterlayer .point").nth(9)
    point.click(force=True)
    card = page.widget("isoflop_run")
    card.wait_for()
    name = card.locator("strong").inner_text()
    run = snapshot.tables["runs"].set_index("run").loc[name]
    assert card.get_by_role("link").get_attribute("href") == run["url"]
    assert "tokens" in card.inner_text()
    # Another ladder has no such run: the card goes.
    page.use("ladder", "MoE v16 iso-FLOP")
    card.wait_for(state="detached")


def test_the_open_tab_is_in_the_link_and_is_there_after_another_page(visit):
    page = visit().open()
    page.open_tab("Table")
    page.page.wait_for_url("**/?tab=Table")
    page.page.get_by_role("link", name="Planner", exact=True).click()
    page.page.wait_for_url("**/planner")
    page.settled(chart=False)
    page.page.get_by_role("link", name="IsoFLOP", exact=True).click()
    page.page.wait_for_url("**/?tab=Table")
    page.page.get_by_role("tabpanel", name="Table", exact=True).wait_for()
    there = visit(elsewhere=True).open(tab="Download")
    there.page.get_by_role("tabpanel", name="Download", exact=True).wait_for()
