"""The Recipes page in a real browser: links, controls, tabs, download, hover and eyes."""

import io
import re

import numpy as np
import pandas as pd
import pytest

import delphi_core as dc
from delphi_core.figures.recipe_words import recipes_alt, speed_up_alt
from delphi_core.recipe_tables import recipe_optima_table, speed_up_table
from delphi_core.web import recipes_words as words
from delphi_core.web.recipes_fits import law_lines, recipes_compared, speed_up_lines
from delphi_core.web.recipes_view import TABS, RecipesView, offered_laws
from delphi_core.web.view_state import ZOOM
from tests.browser.browsing import PHONE, begin_visit, numbers, serving

MACRO = "eval/paloma/macro_loss"
# A view with every control away from its default, and what the controls show then.
AWAY = {
    "base": "moe-v16",
    "ladders": ["delphi", "moe-may-gates"],
    "method": "parabola",
    "asymptote": "1.6",
    "flops": "1e20",
    "published": ["moe-v16-95.18", "moe-may-88.32"],
    "tab": "speed-up",
}
AWAY_SHOWN = AWAY | {
    "base": "MoE v16 iso-FLOP",
    "ladders": ["Delphi (AdamH)", "MoE May compute-optimal gates"],
    "tab": "Speed-up",
}
TABLE = '[data-testid=stDataFrame]:has([aria-label$="{}"])'
# Tab to a part that it alone has; a table is known by what assistive technology calls it.
PARTS = {
    "laws": ".st-key-laws_chart",
    "speed-up": ".st-key-speed_up_chart",
    "pairs": ".st-key-pairs_chart",
    "metrics": ".st-key-metric_0_chart",
    "table": TABLE.format("Optima of the ladders"),
    "download": ".st-key-optima_csv",
}
CHARTS = ("laws", "speed-up", "pairs", "metrics")


def opened(visit, **query):
    """Open a view of the page, and wait until it is drawn."""
    return there(visit.open("/recipes", **query), query.get("tab", "laws"))


def there(visit, tab):
    """Wait until a tab is there, with its chart."""
    visit.page.locator(PARTS[tab]).wait_for()
    return visit.settled(chart=tab in CHARTS)


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
        "controls": {key: visit.shown(key) for key in [*AWAY, "metric"]},
    }


def found(snapshot, query):
    """The view of a query, what it compares, and the compute it speaks of."""
    lists = {name: v if isinstance(v, list) else [v] for name, v in query.items()}
    asked, notices = RecipesView.read(lists, snapshot)
    assert notices == []
    recipes = recipes_compared(snapshot, asked.choice)
    return asked, recipes, asked.at or recipes.shared_flops


def headline(snapshot, query):
    """The page's title as it is read."""
    _, recipes, at = found(snapshot, query)
    return words.headline(recipes, at).replace("\\", "")


def test_the_page_opens_first_on_a_fresh_server(browser, snapshot):
    with serving() as address, browser.new_context() as context:
        page = begin_visit(context.new_page(), address)
        opened(page)
        assert page.title == headline(snapshot, {})
        assert page.page.title() == f"{page.title} - Delphi Dashboard"
        assert page.page.get_by_role("link", name="Trajectories", exact=True).count() == 1
        assert page.errors == []
        assert [f"http://{host}" for host in page.hosts] == [address]


def test_every_part_of_a_view_is_in_a_link_and_survives_a_reload(visit, snapshot):
    # The metric goes with the base; it and zooms have their own tests.
    assert {*AWAY, "metric", ZOOM} == set(RecipesView.__dataclass_fields__)
    asked, recipes, _ = found(snapshot, AWAY)
    default, _, _ = found(snapshot, {})
    assert all(getattr(asked, name) != getattr(default, name) for name in AWAY)
    page = opened(visit(elsewhere=True), **AWAY)
    for _ in range(2):
        assert {key: page.shown(key) for key in AWAY} == AWAY_SHOWN
        assert page.query == AWAY
        assert page.title == headline(snapshot, AWAY)
        page.page.reload()
        page.page.locator("h1").wait_for()
        there(page, "speed-up")
    lines = speed_up_lines(snapshot, asked.choice)
    assert page.figure.get_attribute("aria-label") == speed_up_alt(lines, "MoE v16 iso-FLOP")
    drawn = {trace["name"]: trace for trace in page.drawn["data"]}
    for line in lines:
        assert numbers(drawn[line.name]["y"]) == line.at_optima.value.tolist()
    show(page, "laws")
    assert page.query == {name: value for name, value in AWAY.items() if name != "tab"}
    laws = offered_laws(snapshot, MACRO)
    laws = laws[laws["id"].isin(asked.published)]
    assert page.figure.get_attribute("aria-label") == recipes_alt(law_lines(recipes), laws)
    assert set(AWAY["published"]) <= {trace["name"] for trace in page.drawn["data"]}


def test_the_address_follows_each_control_and_back_and_forward_walk_through_the_views(visit):
    page = opened(visit(), utm="discord")
    query = {"utm": "discord"}
    views = [view(page)]
    steps = [
        ("method", "parabola", {"method": "parabola"}),
        ("asymptote", "1.6", {"asymptote": "1.6"}),
        ("flops", "1e19", {"flops": "1e19"}),
        ("ladders", "MoE v16 iso-FLOP", {"ladders": "delphi"}),
        ("base", "Delphi (AdamH)", {"base": "delphi"}),
    ]
    for key, option, change in steps:
        page.use(key, option)
        query |= change
        if key == "base":
            # The new base is no recipe beside itself: none is left.
            query["ladders"] = ""
        assert page.query == query
        views.append(view(page))
    page.page.reload()
    page.page.locator("h1").wait_for()
    assert view(there(page, "laws")) == views[-1]
    for shown in reversed(views[:-1]):
        with page.redrawn():
            page.page.go_back()
        assert view(page) == shown
    for shown in views[1:]:
        with page.redrawn():
            page.page.go_forward()
        assert view(page) == shown


def test_another_metric_is_in_the_link(visit, snapshot):
    page = opened(visit(), base="delphi")
    page.use("metric", "eval/paloma/c4_en/bpb")
    query = {"base": "delphi", "metric": "eval/paloma/c4_en/bpb"}
    # The default ladders were those of the other metric: attempt 1 has no optima in this one.
    assert page.query["metric"] == query["metric"]
    assert page.title == headline(snapshot, page.query)


def test_what_is_refused_stands_beside_the_chart(visit):
    page = opened(visit(), ladders=["delphi", "hero"])
    (refused,) = page.notices
    assert "another kind of evaluation" in refused
    chart = page.widget("laws_chart").bounding_box()
    notice = page.page.get_by_test_id("stAlert").bounding_box()
    assert notice["x"] >= chart["x"] + chart["width"]
    assert abs(notice["y"] - chart["y"]) < 50


def test_a_wrong_number_is_said_and_stays_to_be_mended(visit, snapshot):
    page = opened(visit(), ladders="delphi", flops="1e20")
    typed = "1e40 <b>*C*</b>"
    page.use("flops", typed)
    (sentence,) = page.notices
    assert f"C is '{typed}'; it must be a number from 1e+15 to 1e+26 FLOP" in sentence
    assert page.shown("flops") == typed
    assert page.title == headline(snapshot, {"ladders": "delphi"})
    page.use("flops", "1e20")
    assert page.notices == []


def test_the_downloads_hold_every_digit(visit, snapshot):
    page = opened(visit(), **{**AWAY, "tab": "download"})
    _, recipes, at = found(snapshot, AWAY)
    name, content = page.download("optima_csv")
    assert name == "moe-v16_eval-paloma-macro_loss_parabola_optima.csv"
    saved = pd.read_csv(io.BytesIO(content))
    table = recipe_optima_table(recipes.fitted)
    np.testing.assert_array_equal(saved["loss_at_optimal"], table["loss_at_optimal"])
    _, content = page.download("speed-up_csv")
    saved = pd.read_csv(io.BytesIO(content))
    tables = [speed_up_table(rival, [at]) for rival in recipes.rivals]
    expected = pd.concat(tables, ignore_index=True)
    for column in ("speed_up", "low", "high", "share", "base_flops"):
        np.testing.assert_array_equal(saved[column], expected[column], err_msg=column)
    assert set(saved["snapshot"]) == {snapshot.id}
    _, content = page.download("published_csv")
    assert "moe-may-88.32" in content.decode()


def test_a_pair_says_both_runs(visit, snapshot):
    page = opened(visit(), tab="pairs")
    both = (snapshot.records(name, MACRO) for name in ("delphi-attempt-1", "delphi"))
    first = dc.paired_runs(*both).iloc[0]
    page.page.locator(".scatterlayer .point").first.hover(force=True)
    box = page.page.locator(".hoverlayer .hovertext")
    box.wait_for()
    text = box.text_content()
    assert first["run"] in text
    assert first["base_run"] in text
    assert f"lower by {first['difference']:.4f}" in text


def test_hostile_links_are_shown_as_text(visit):
    hostile = "<img src=x onerror=alert(1)>"
    page = opened(visit(), base=hostile, flops=hostile, ladders=["delphi", hostile])
    assert len(page.notices) == 3
    assert all(hostile in notice for notice in page.notices)
    assert page.shown("flops") == hostile
    assert page.page.locator("img[src=x]").count() == 0


@pytest.mark.parametrize("query", [{}, AWAY], ids=["default", "away"])
def test_tabs_open_by_a_click_and_none_scrolls_sideways_on_a_phone(visit, query):
    assert set(PARTS) == set(TABS)
    shared = {name: value for name, value in query.items() if name != "tab"}
    # Runs of the sweeps of moe-v16 pair with none of the others.
    tabs = [tab for tab in [*TABS[1:], TABS[0]] if tab != "pairs" or not shared]
    page = opened(visit(size=PHONE), **shared)
    for tab in tabs:
        show(page, tab)
        assert page.query == (shared if tab == "laws" else shared | {"tab": tab})
        others = [part for name, part in PARTS.items() if name != tab]
        assert page.page.locator(", ".join(others)).count() == 0
        assert page.shown("tab") == words.TAB_TITLES[tab]
        assert page.sideways == 0, tab


def test_the_menu_leads_back_to_the_view_that_was_left(visit):
    page = opened(visit(), method="parabola", tab="speed-up")
    title = page.title
    page.page.get_by_role("link", name="IsoFLOP", exact=True).click()
    page.page.wait_for_url(re.compile(r"/$"))
    page.settled()
    page.page.get_by_role("link", name="Recipes", exact=True).click()
    page.page.wait_for_url(re.compile(r"/recipes\?method=parabola&tab=speed-up$"))
    assert there(page, "speed-up").title == title
