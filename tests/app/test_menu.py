"""Going from page to page: each keeps its own view, and no value leaks into another."""

from urllib.parse import parse_qs

import pytest

MACRO = "eval/paloma/macro_loss"
BPB = "eval/paloma/c4_en/bpb"
FILES = {
    "IsoFLOP": "pages/isoflop.py",
    "Scaling law": "pages/scaling.py",
    "Trajectories": "pages/trajectories.py",
    "Recipes": "pages/recipes.py",
    "Planner": "pages/planner.py",
    "Data": "pages/data.py",
    "About": "pages/about.py",
}


def links(page):
    """Query of the menu's link to each page."""
    named = [link.proto for link in page.get("page_link") if link.proto.label in FILES]
    return {link.label: parse_qs(link.query_string) for link in named}


def go(page, name, query=None):
    """Open a page under a query; by default as its link in the menu does."""
    query = links(page)[name] if query is None else query
    page.switch_page(FILES[name])
    page.query_params = query
    return page.run()


def values(page):
    """Name and value of every selector."""
    return {box.key: box.value for box in page.selectbox}


def test_the_menu_names_every_page(open_page):
    page = open_page()
    assert page.markdown[0].value == "**IsoFLOP**"
    others = ["Scaling law", "Trajectories", "Recipes", "Planner", "Data", "About"]
    assert links(page) == {title: {} for title in others}


def test_the_menu_leads_back_to_the_view_that_was_left(open_page):
    page = open_page(ladder="moe-v16", metric=BPB)
    page.button_group(key="method").set_value("cubic").run()
    page.multiselect(key="budgets").set_value(["3e18", "1e19", "3e19"]).run()
    left, title = dict(page.query_params), page.title[0].value
    go(page, "Data")
    page.selectbox(key="table").set_value("evals").run()
    page.selectbox(key="ladder").set_value("delphi").run()
    page.text_input(key="text").set_value("d512").run()
    rows = page.title[0].value
    assert links(page)["IsoFLOP"] == {name: query(value) for name, value in left.items()}
    go(page, "IsoFLOP")
    assert (page.query_params, page.title[0].value) == (left, title)
    go(page, "Data")
    assert page.title[0].value == rows
    assert page.query_params == {"table": "evals", "ladder": "delphi", "text": "d512"}
    assert not page.exception
    assert not page.warning


def query(value):
    """A parameter of AppTest as a list."""
    return value if isinstance(value, list) else [value]


def test_the_page_that_is_open_is_no_link(open_page):
    page = open_page(ladder="moe-v16")
    others = ["Scaling law", "Trajectories", "Recipes", "Planner", "Data", "About"]
    assert list(links(page)) == others
    go(page, "Data")
    assert page.markdown[0].value == "**Data**"
    assert links(page) == {
        "IsoFLOP": {"ladder": ["moe-v16"]},
        "Scaling law": {},
        "Trajectories": {},
        "Recipes": {},
        "Planner": {},
        "About": {},
    }


def test_no_value_leaks_into_another_page(open_page):
    page = open_page(ladder="moe-v16", metric=BPB)
    go(page, "Data")
    assert values(page) == {"table": "runs", "ladder": "", "role": "", "budget": "", "sort": ""}
    page.selectbox(key="table").set_value("trajectories").run()
    page.selectbox(key="ladder").set_value("hero").run()
    page.selectbox(key="metric").set_value("eval_dropless/paloma/macro_loss").run()
    go(page, "IsoFLOP")
    assert values(page) == {"ladder": "moe-v16", "metric": BPB}
    go(page, "Data")
    assert values(page)["ladder"] == "hero"
    go(page, "IsoFLOP", {})
    assert values(page) == {"ladder": "delphi", "metric": MACRO}
    assert not page.warning


@pytest.mark.parametrize("ladder", ["moe-v16", "hero"])
def test_steps_back_and_forward_between_pages_open_what_the_address_says(open_page, ladder):
    page = open_page(x="params")
    go(page, "Data", {"ladder": ladder})
    for _ in range(2):
        go(page, "IsoFLOP", {"x": "params"})
        assert values(page)["ladder"] == "delphi"
        assert page.button_group(key="x").value == "params"
        go(page, "IsoFLOP", {})
        assert page.button_group(key="x").value == "tokens"
        go(page, "Data", {})
        assert values(page)["ladder"] == ""
        go(page, "Data", {"ladder": ladder})
        assert values(page)["ladder"] == ladder
        assert page.query_params == {"ladder": ladder}
        assert not page.warning


def test_the_scaling_page_keeps_its_own_view_beside_the_others(open_page):
    page = open_page(ladder="moe-v16", metric=BPB)
    go(page, "Scaling law")
    assert values(page) == {"ladder": "delphi", "metric": MACRO, "band": "residual bootstrap"}
    page.text_input(key="target").set_value("1e22").run()
    page.button_group(key="method").set_value("marin").run()
    left = dict(page.query_params)
    assert left == {"method": "marin", "target": "1e22"}
    go(page, "IsoFLOP")
    assert page.button_group(key="method").value == "parabola"
    assert values(page) == {"ladder": "moe-v16", "metric": BPB}
    go(page, "Scaling law")
    assert page.query_params == left
    assert page.text_input(key="target").value == "1e22"
    assert not page.exception
    assert not page.warning


def test_a_notice_is_gone_on_another_page_and_back_with_its_link(open_page):
    page = open_page(ladder="delphi-2")
    assert len(page.warning) == 1
    go(page, "Data")
    assert not page.warning
    go(page, "IsoFLOP")
    assert len(page.warning) == 1


def test_foreign_parameters_stay_on_the_data_page(open_page):
    page = open_page()
    go(page, "Data", {"utm": "discord"})
    page.selectbox(key="ladder").set_value("hero").run()
    assert page.query_params == {"utm": "discord", "ladder": "hero"}
