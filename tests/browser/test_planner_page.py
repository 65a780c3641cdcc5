"""The Planner page in a real browser: links, controls, tabs, downloads, hover and eyes."""

import io
import json
import re

import numpy as np
import pandas as pd
import pytest
import yaml

import delphi_core as dc
from delphi_core.figures.valley import valley_alt
from delphi_core.plan_documents import plan_document
from delphi_core.plan_text import plan_sentence
from delphi_core.web import planner_words as words
from delphi_core.web.planner_view import TABS, PlannerView
from delphi_core.web.view_state import ZOOM
from tests.browser.browsing import PHONE, begin_visit, numbers, serving

BPB = "eval/paloma/c4_en/bpb"
# A view with every control away from its default, and what the controls show then.
AWAY = {
    "ladder": "moe-v16",
    "metric": BPB,
    "method": "parabola",
    "level": "0.95",
    "flops": "1e21, 1e23",
    "chips": "1024",
    "chip_flops": "9e14",
    "utilisation": "0.4",
    "days": "30",
    "x": "size",
    "tab": "valley",
}
AWAY_SHOWN = AWAY | {
    "ladder": "MoE v16 iso-FLOP",
    "level": "95 %",
    "tab": "Deviating",
}
TABLE = '[data-testid=stDataFrame]:has([aria-label$="{}"])'
# Tab to a part that it alone has; a table is known by what assistive technology calls it.
PARTS = {
    "plan": TABLE.format("What to train with each budget"),
    "valley": ".st-key-valley_chart",
    "recipe": TABLE.format("Delphi's recipe for each budget"),
    "backtest": TABLE.format("Backtest of every form of the valley"),
    "download": ".st-key-plan_csv",
}


def opened(visit, **query):
    """Open a view of the page, and wait until it is drawn."""
    return there(visit.open("/planner", **query), query.get("tab", "plan"))


def there(visit, tab):
    """Wait until a tab is there, with its chart."""
    visit.page.locator(PARTS[tab]).wait_for()
    return visit.settled(chart=tab == "valley")


def show(visit, tab):
    """Open a tab by a click."""
    name = words.TAB_TITLES[tab]
    visit.widget("tab").get_by_role("radio", name=name, exact=True).click()
    return there(visit, tab)


def found(snapshot, query):
    """The plans of a query."""
    view, notices = PlannerView.read({name: [value] for name, value in query.items()}, snapshot)
    assert notices == view.mistakes == []
    return dc.plan(
        snapshot,
        view.budgets,
        ladder=view.ladder,
        metric=view.metric,
        method=view.method,
        level=float(view.level),
        hidden_dim=view.width,
    )


def headline(plans):
    """The first plan, as the page's title has it."""
    words_of = plan_sentence(plans.plans[0], plans.ladder.params_column, how=False)
    more = len(plans.plans) - 1
    rest = f", and {more} more budget{'s' if more > 1 else ''}" if more else ""
    return words_of.removesuffix(".") + rest


def test_the_page_opens_first_on_a_fresh_server(browser, snapshot):
    with serving() as address, browser.new_context() as context:
        page = begin_visit(context.new_page(), address)
        opened(page)
        assert page.title == headline(found(snapshot, {}))
        assert page.page.title() == f"{page.title} - Delphi Dashboard"
        assert page.page.get_by_role("link", name="Scaling law", exact=True).count() == 1
        assert page.notices == page.errors == []
        assert [f"http://{host}" for host in page.hosts] == [address]


def test_every_part_of_a_view_is_in_a_link_and_survives_a_reload(visit, snapshot):
    # A width is for Delphi's own ladder only; it and zooms have their own tests.
    assert set(PlannerView.__dataclass_fields__) == {*AWAY, "hidden", ZOOM}
    plans = found(snapshot, AWAY)
    page = opened(visit(elsewhere=True), **AWAY)
    for _ in range(2):
        assert {key: page.shown(key) for key in AWAY} == AWAY_SHOWN
        assert page.query == AWAY
        assert page.notices == []
        assert page.title == headline(plans)
        curves = [(plan, plans.curve(plan)) for plan in plans.plans]
        assert page.figure.get_attribute("aria-label") == valley_alt(curves)
        line = next(trace for trace in page.drawn["data"] if trace["name"] == "1 × 10²³ FLOP")
        np.testing.assert_array_equal(numbers(line["x"]), curves[1][1]["params"])
        page.page.reload()
        page.page.locator("h1").wait_for()
        there(page, "valley")


def test_the_address_follows_each_control(visit):
    page = opened(visit(), utm="discord", tab="valley")
    query = {"utm": "discord", "tab": "valley"}
    steps = [
        ("flops", "1e22, 1e24", {"flops": "1e22, 1e24"}),
        ("x", "size", {"x": "size"}),
        ("level", "80 %", {"level": "0.8"}),
        ("method", "marin", {"method": "marin"}),
    ]
    for key, option, change in steps:
        page.use(key, option)
        query |= change
        assert page.query == query
    shown, title = page.drawn, page.title
    page.page.reload()
    page.page.locator("h1").wait_for()
    there(page, "valley")
    assert (page.drawn, page.title) == (shown, title)
    for _ in steps[2:]:
        with page.redrawn():
            page.page.go_back()
    assert page.query == {"utm": "discord", "tab": "valley", **steps[0][2], **steps[1][2]}
    assert page.shown("method") == "cubic"
    with page.redrawn():
        page.page.go_forward()
    assert page.shown("level") == "80 %"


def test_a_width_is_in_the_link_and_gives_its_recipe(visit, snapshot):
    page = opened(visit(), tab="recipe", hidden="3840")
    assert page.shown("hidden") == "3840"
    assert page.notices == []
    page.widget("hidden").get_by_role("textbox").fill("1000")
    page.page.keyboard.press("Enter")
    page.page.wait_for_url(re.compile("hidden=1000"))
    (sentence,) = page.settled(chart=False).notices
    assert "The width is '1000'; the recipe takes multiples of 128" in sentence
    assert page.shown("hidden") == "1000"
    assert page.title == headline(found(snapshot, {}))


@pytest.mark.parametrize("query", [{"hidden": "3584"}, AWAY], ids=["delphi", "away"])
def test_downloads_hold_the_plans_at_full_precision(visit, snapshot, query):
    page = opened(visit(), **{**query, "tab": "download"})
    plans = found(snapshot, query)
    document = json.loads(json.dumps(plan_document(plans)))
    name, content = page.download("plan_json")
    stem = "_".join(
        [plans.ladder.ladder, plans.metric.replace("/", "-"), query.get("method", "cubic"), "plan"]
    )
    assert (name, json.loads(content)) == (f"{stem}.json", document)
    name, content = page.download("plan_yaml")
    assert (name, yaml.safe_load(content)) == (f"{stem}.yaml", document)
    name, content = page.download("plan_csv")
    saved = pd.read_csv(io.BytesIO(content))
    assert name == f"{stem}.csv"
    for column in ("flops", "params", "tokens", "predicted", "low", "high"):
        np.testing.assert_array_equal(saved[column], plans.table[column], err_msg=column)
    name, content = page.download("valley_csv")
    assert name == f"{stem}_valley.csv"
    np.testing.assert_array_equal(
        pd.read_csv(io.BytesIO(content))["deadweight_pct"], plans.valley["deadweight_pct"]
    )


def test_the_optimum_says_what_to_train(visit, snapshot):
    page = opened(visit(), tab="valley")
    (plan,) = found(snapshot, {}).plans
    uid = page.page.evaluate(
        """() => document.querySelector('.js-plotly-plot')
                 ._fullData.find(trace => trace.name === 'optimum').uid"""
    )
    page.page.locator(f".trace{uid} .point").first.hover(force=True)
    box = page.page.locator(".hoverlayer .hovertext")
    box.wait_for()
    text = box.text_content()
    assert f"loss {plan.predicted:.4f}" in text
    assert f"90 % band {plan.low:.4f} to {plan.high:.4f}" in text


def test_hostile_links_are_shown_as_text(visit):
    hostile = "<img src=x onerror=alert(1)>"
    page = visit().open("/planner", ladder=hostile, flops=hostile, hidden=hostile)
    page.settled(chart=False)
    assert page.title == "What should a budget be spent on?"
    assert any(hostile in notice for notice in page.notices)
    assert page.shown("flops") == page.shown("hidden") == hostile
    assert page.page.locator("img[src=x]").count() == 0


@pytest.mark.parametrize("query", [{}, {"flops": "1e21, 1e22, 1e23, 1e24"}], ids=["one", "four"])
def test_tabs_open_by_a_click_and_none_scrolls_sideways_on_a_phone(visit, query):
    assert set(PARTS) == set(TABS)
    page = opened(visit(size=PHONE), **query)
    for tab in [*TABS[1:], TABS[0]]:
        show(page, tab)
        assert page.query == (query if tab == "plan" else query | {"tab": tab})
        others = [part for name, part in PARTS.items() if name != tab]
        assert page.page.locator(", ".join(others)).count() == 0
        assert page.shown("tab") == words.TAB_TITLES[tab]
        assert page.sideways == 0, tab
