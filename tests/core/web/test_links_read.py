"""Links read outside the pages: queries that may hold anything, addresses that open the same."""

from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delphi_core.web.headings import heading_of
from delphi_core.web.links import LONGEST_QUERY, read_link, read_query
from delphi_core.web.page_index import PAGES

VIEWS = [
    ("/", b""),
    ("/", b"ladder=moe-v16&method=cubic&zoom=8,9,2,3"),
    ("/", b"metric=eval%2Fpaloma%2Fc4_en%2Fbpb"),
    ("/", b"budgets=3e18&budgets=9e18&excluded=true"),
    ("/scaling", b"target=1e22&tab=size&asymptote=1.6"),
    ("/scaling", b"metric=eval%2Fpaloma%2Fc4_en%2Fbpb"),
    ("/trajectories", b"target=67b"),
    ("/trajectories", b"without=ptb&asymptote=fit"),
    ("/recipes", b"base=delphi&tab=pairs&flops=1e20"),
    ("/recipes", b"ladders=&zoom=19,21,2.4,3"),
    ("/planner", b"flops=1e21,1e22&x=size&tab=valley&zoom=8,11,2.5,2.7"),
    ("/data", b"table=evals&ladder=hero&text=%3Cb%3E"),
    ("/about", b"ladder=delphi"),
]


@pytest.mark.parametrize(("path", "query"), VIEWS)
def test_the_address_of_a_link_and_of_its_card_open_the_same_view(path, query):
    link = read_link(PAGES[path], read_query(query))
    again = urlsplit(link.address)
    assert again.path == path
    assert read_link(PAGES[path], read_query(again.query.encode())) == link
    card = urlsplit(link.card)
    asked = parse_qs(card.query, keep_blank_values=True)
    assert card.path == "/card.png"
    assert asked.pop("page") == [path]
    assert asked.pop("v") == [link.snapshot.id]
    assert read_link(PAGES[path], asked) == link


@pytest.mark.parametrize(("path", "query"), VIEWS)
def test_a_view_is_named_before_anything_is_fitted(path, query):
    link = read_link(PAGES[path], read_query(query))
    title = link.page.generic_title(link.snapshot, link.view)
    if path == "/about":
        # Nothing of it is fitted: its heading is known at once.
        assert title == link.page.heading(link.snapshot, link.view)
    else:
        assert title.startswith(f"{link.page.title}: ")
    method = link.page.method(link.snapshot, link.view)
    assert method.endswith(".")
    metric = getattr(link.view, "metric", "")
    assert metric in title
    assert metric in method


def test_a_heading_is_made_once_and_plain(monkeypatch):
    link = read_link(PAGES["/scaling"], read_query(b"target=1e22"))
    heading = link.page.heading(link.snapshot, link.view)
    assert "\\" not in heading
    assert heading.startswith("Delphi (AdamH): loss ")

    def fail(*_):
        raise AssertionError

    monkeypatch.setattr("delphi_core.web.page_words.scaling_fitted", fail)
    assert link.page.heading(link.snapshot, link.view) == heading


def test_a_heading_is_that_of_every_tab_and_zoom_of_a_view():
    link = read_link(PAGES["/planner"], read_query(b"flops=3e21"))
    assert heading_of(link.snapshot.id, link.view) is None
    heading = link.page.heading(link.snapshot, link.view)
    other = read_link(PAGES["/planner"], read_query(b"flops=3e21&tab=valley&zoom=0,1,2,3"))
    assert heading_of(other.snapshot.id, other.view) == heading
    budget = read_link(PAGES["/planner"], read_query(b"flops=4e21"))
    assert heading_of(budget.snapshot.id, budget.view) is None


@given(st.binary(max_size=300))
def test_any_query_gives_a_view_of_every_page(query):
    for page in PAGES.values():
        link = read_link(page, read_query(query))
        assert link.page is page


def test_queries_without_end_are_not_read():
    assert read_query(b"x=" + b"y" * LONGEST_QUERY) == {}
    assert read_query(b"&".join([b"x=1"] * 500)) == {}
    assert read_query(b"x=%00%ff&x=2") == {"x": ["\x00\ufffd", "2"]}
