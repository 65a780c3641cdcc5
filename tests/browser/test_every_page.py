"""Every page and tab, on a desk and on a phone, in light and dark: readable, and within reach.

That none of them shows an error in the console or asks another host for anything is what every
visit of these tests is held to (`conftest`).
"""

import pytest

from delphi_core.web import planner_view, recipes_view, scaling_view, trajectory_view
from tests.browser.accessible import faint_texts, unreached, violations
from tests.browser.browsing import CHART, PHONE

TABBED = {
    "/scaling": scaling_view.TABS,
    "/trajectories": trajectory_view.TABS,
    "/recipes": recipes_view.TABS,
    "/planner": planner_view.TABS,
}
PAGES = ["/", *TABBED, "/data", "/about"]
VIEWS = [
    *((path, {"tab": tab}) for path, tabs in TABBED.items() for tab in tabs[1:]),
    ("/", {"ladder": "moe-v16"}),
    # With a warning, and with all that can be laid over.
    ("/scaling", {"published": "true", "ladder": "nonsense"}),
    ("/trajectories", {"rungs": "true", "events": "true", "target": "67b"}),
    ("/planner", {"tab": "valley", "flops": "1e21, 1e23"}),
]
SIZES = {"desk": (1440, 900), "phone": PHONE}


def opened(visit, path, query, size, **options):
    """A visit to a view, once its chart is there, if it has one."""
    page = visit(size=SIZES[size], **options).open(path, **query)
    return page.settled(chart=bool(page.page.locator(CHART).count()))


def held_to_all(page, scheme):
    page.fitted()
    assert faint_texts(page, scheme) == {}
    assert violations(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_readable_and_does_not_scroll_sideways(visit, path, size, scheme):
    held_to_all(opened(visit, path, {}, size, scheme=scheme), scheme)


@pytest.mark.parametrize(("size", "scheme"), [("desk", "light"), ("phone", "dark")])
@pytest.mark.parametrize(("path", "query"), VIEWS, ids=str)
def test_so_are_its_tabs(visit, path, query, size, scheme):
    held_to_all(opened(visit, path, query, size, scheme=scheme), scheme)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("path", PAGES)
def test_every_control_is_reached_by_the_keyboard(visit, path, size):
    assert unreached(opened(visit, path, {}, size)) == []
