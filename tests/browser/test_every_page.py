"""Every page and tab, on a desk and on a phone, in light and dark: readable, and within reach.

That none of them shows an error in the console or asks another host for anything is what every
visit of these tests is held to (`conftest`).
"""

import pytest

from delphi_core.web import planner_view, recipes_view, scaling_view, trajectory_view
from tests.browser.accessible import faint_texts, unreached, violations
from tests.browser.browsing import CHART, PHONE

DESK = (1440, 900)
TABBED = {
    "/scaling": scaling_view.TABS,
    "/trajectories": trajectory_view.TABS,
    "/recipes": recipes_view.TABS,
    "/planner": planner_view.TABS,
}
VIEWS = [
    *(("/", {}), ("/", {"ladder": "moe-v16"}), ("/data", {}), ("/about", {})),
    *((path, {"tab": tab}) for path, tabs in TABBED.items() for tab in tabs),
    # Chips that count, warnings, everything laid over.
    ("/scaling", {"published": "true", "ladder": "nonsense"}),
    ("/trajectories", {"rungs": "true", "events": "true", "target": "67b"}),
    ("/planner", {"tab": "valley", "flops": "1e21, 1e23"}),
]
PAGES = ["/", *TABBED, "/data", "/about"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("path", "query"), VIEWS, ids=str)
def test_a_view_is_readable_and_does_not_scroll_sideways(visit, path, query, scheme):
    page = visit(size=DESK, scheme=scheme).open(path, **query)
    for width, height in (DESK, PHONE):
        page.page.set_viewport_size({"width": width, "height": height})
        page.settled(chart=bool(page.page.locator(CHART).count()))
        assert page.sideways == 0
        assert faint_texts(page, scheme) == {}
        assert violations(page) == []


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("path", PAGES)
def test_every_control_is_reached_by_the_keyboard(visit, path, size):
    page = visit(size=size).open(path)
    page.settled(chart=path not in ("/planner", "/data", "/about"))
    assert unreached(page) == []
