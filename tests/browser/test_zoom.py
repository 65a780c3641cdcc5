"""What a visitor zooms to is in the link, opens elsewhere, and ends with the chart it is of."""

import re

import pytest

CHARTS = [
    ("/", {}, "isoflop_chart"),
    ("/scaling", {}, "loss_chart"),
    ("/scaling", {"tab": "size"}, "tokens_chart"),
    ("/scaling", {"tab": "asymptote"}, "asymptote_chart"),
    ("/scaling", {"tab": "walk-forward"}, "walk_chart"),
    ("/trajectories", {}, "curve_chart"),
    # Beside which the page has nothing to warn of.
    ("/recipes", {"ladders": "delphi"}, "laws_chart"),
    ("/recipes", {"ladders": "delphi", "tab": "speed-up"}, "speed_up_chart"),
    ("/recipes", {"tab": "pairs"}, "pairs_chart"),
    ("/planner", {"tab": "valley"}, "valley_chart"),
]
_RANGES = """key => {
  const { xaxis, yaxis } = document.querySelector(`.st-key-${key} .js-plotly-plot`).layout;
  return [...xaxis.range, ...yaxis.range].map(Number);
}"""

_SHOWS = f"""([key, ends]) => ({_RANGES})(key)
  .every((end, i) => Math.abs(end - ends[i]) < 0.05 * Math.abs(ends[i]))"""


def drag(visit, key):
    """Drag over a chart: a zoom to a rectangle, or a move where dragging moves."""
    box = visit.page.locator(f".st-key-{key} .nsewdrag").first.bounding_box()
    mouse = visit.page.mouse
    mouse.move(box["x"] + box["width"] * 0.3, box["y"] + box["height"] * 0.3)
    mouse.down()
    mouse.move(box["x"] + box["width"] * 0.6, box["y"] + box["height"] * 0.7, steps=5)
    mouse.up()


def drawn(visit, key):
    """The page, once its chart is drawn."""
    visit.page.locator(f".st-key-{key} .main-svg").first.wait_for(state="attached")
    return visit.settled(chart=False)


@pytest.mark.parametrize(("path", "query", "key"), CHARTS)
def test_a_zoom_is_in_the_link_and_a_double_click_ends_it(visit, path, query, key):
    page = drawn(visit().open(path, **query), key)
    whole = page.page.evaluate(_RANGES, key)
    drag(page, key)
    page.page.wait_for_url(re.compile("zoom="))
    drawn(page, key)
    asked = [float(end) for end in page.query["zoom"].split(",")]
    assert page.page.evaluate(_RANGES, key) == pytest.approx(asked, rel=1e-4)
    assert asked != pytest.approx(whole)
    there = drawn(visit(elsewhere=True).goto(page.url), key)
    assert there.page.evaluate(_RANGES, key) == pytest.approx(asked, rel=1e-4)
    assert there.notices == []
    box = there.page.locator(f".st-key-{key} .nsewdrag").first.bounding_box()
    there.page.mouse.dblclick(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    there.page.wait_for_url(re.compile(r"^((?!zoom=).)*$"))
    assert there.query == query
    # The chart follows its link.
    there.page.wait_for_function(_SHOWS, arg=[key, whole])


def test_another_choice_ends_the_zoom(visit):
    page = drawn(visit().open("/trajectories", zoom="10,40,2.1,2.3"), "curve_chart")
    assert page.page.evaluate(_RANGES, "curve_chart") == [10, 40, 2.1, 2.3]
    page.widget("x").get_by_role("radio", name="tokens", exact=True).click()
    page.page.wait_for_url(re.compile(r"\?x=tokens$"))
    drawn(page, "curve_chart")
    assert page.page.evaluate(_RANGES, "curve_chart")[1] < 20


def test_a_zoom_belongs_to_the_tab_it_was_made_in(visit):
    page = drawn(visit().open("/recipes", zoom="18,20,2.8,3.4"), "laws_chart")
    assert page.page.evaluate(_RANGES, "laws_chart") == [18, 20, 2.8, 3.4]
    page.widget("tab").get_by_role("radio", name="Speed-up", exact=True).click()
    page.page.wait_for_url(re.compile(r"\?tab=speed-up$"))
    drawn(page, "speed_up_chart")
    assert page.page.evaluate(_RANGES, "speed_up_chart")[1] > 21
