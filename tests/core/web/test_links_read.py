"""Links read outside the pages: queries that may hold anything, addresses that open the same."""

from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delphi_core.web.links import LONGEST_QUERY, read_link, read_query
from delphi_core.web.preview_pages import PAGES, generic_title, made_heading

VIEWS = [
    ("/", b""),
    ("/", b"ladder=moe-v16&method=cubic&zoom=8,9,2,3"),
    ("/", b"metric=eval%2Fpaloma%2Fc4_en%2Fbpb"),
    ("/", b"budgets=3e18&budgets=9e18&excluded=true"),
    ("/scaling", b"target=1e22&tab=size&asymptote=1.6"),
    ("/scaling", b"metric=eval%2Fpaloma%2Fc4_en%2Fbpb"),
    ("/trajectories", b"target=67b"),
    ("/trajectories", b"without=ptb&asymptote=fit"),
    ("/data", b"table=evals&ladder=hero&text=%3Cb%3E"),
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
    title = generic_title(link.page, link.snapshot, link.view)
    assert title.startswith(f"{link.page.name}: ")
    method = link.page.method(link.snapshot, link.view)
    assert method.endswith(".")
    metric = getattr(link.view, "metric", "")
    assert metric in title
    assert metric in method


def test_a_heading_is_made_once_and_plain(monkeypatch):
    link = read_link(PAGES["/scaling"], read_query(b"target=1e22"))
    heading = made_heading(link.page, link.snapshot, link.view)
    assert "\\" not in heading
    assert heading.startswith("Delphi (AdamH): loss ")

    def fail(*_):
        raise AssertionError

    monkeypatch.setattr("delphi_core.web.preview_pages.scaling_fitted", fail)
    assert made_heading(link.page, link.snapshot, link.view) == heading


@given(st.binary(max_size=300))
def test_any_query_gives_a_view_of_every_page(query):
    for page in PAGES.values():
        link = read_link(page, read_query(query))
        assert link.page is page


def test_queries_without_end_are_not_read():
    assert read_query(b"x=" + b"y" * LONGEST_QUERY) == {}
    assert read_query(b"&".join([b"x=1"] * 500)) == {}
    assert read_query(b"x=%00%ff&x=2") == {"x": ["\x00\ufffd", "2"]}
