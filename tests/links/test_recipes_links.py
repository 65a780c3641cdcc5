"""Links to the Recipes page must keep opening: add to this list, never change it."""

from dataclasses import asdict

import pytest

import delphi_core as dc
from delphi_core.web.recipes_view import RecipesView

MACRO = "eval/paloma/macro_loss"
BPB = "eval/paloma/c4_en/bpb"
# What a link without parameters opened.
DEFAULT = {
    "base": "delphi-attempt-1",
    "metric": MACRO,
    "ladders": ("delphi", "moe-v16"),
    "method": "cubic",
    "asymptote": "",
    "flops": "",
    "published": (),
    "tab": "laws",
}

# (query as shared, what it opened beside DEFAULT), by release.
LINKS = [
    # 0.5.0
    ({}, {}),
    ({"base": "delphi"}, {"base": "delphi", "ladders": ("delphi-attempt-1", "moe-v16")}),
    (
        {"base": "delphi", "metric": BPB},
        {"base": "delphi", "metric": BPB, "ladders": ("moe-v16",)},
    ),
    (
        {"base": "moe-v16-gates"},
        {"base": "moe-v16-gates", "ladders": ("moe-may-gates",)},
    ),
    (
        {"ladders": ["delphi", "moe-aug-hero", "hero"]},
        {"ladders": ("delphi", "moe-aug-hero", "hero"), "method": "parabola"},
    ),
    ({"ladders": ""}, {"ladders": ()}),
    (
        {"method": "surface", "asymptote": "1.6", "flops": "1e22"},
        {"method": "surface", "asymptote": "1.6", "flops": "1e22"},
    ),
    (
        {"base": "moe-v16", "ladders": "moe-may-gates", "published": "moe-may-88.32"},
        {"base": "moe-v16", "ladders": ("moe-may-gates",), "published": ("moe-may-88.32",)},
    ),
    *(
        ({"tab": tab}, {"tab": tab})
        for tab in ("laws", "speed-up", "pairs", "metrics", "table", "download")
    ),
    # After 0.5.0
    ({"zoom": "19,21,2.4,3"}, {"zoom": "19,21,2.4,3"}),
    (
        {"tab": "speed-up", "zoom": "19,21,-0.3,0.7"},
        {"tab": "speed-up", "zoom": "19,21,-0.3,0.7"},
    ),
]


def read(query):
    """The view of a query and its notices."""
    asked = {name: value if isinstance(value, list) else [value] for name, value in query.items()}
    return RecipesView.read(asked, dc.load_snapshot())


@pytest.mark.parametrize(("query", "view"), LINKS)
def test_old_links_open_the_view_they_opened_then(query, view):
    opened, notices = read(query)
    # Parameters that came later stand at their defaults.
    known = DEFAULT | view
    shown = {name: value for name, value in asdict(opened).items() if name in known}
    assert (shown, notices, opened.mistakes) == (known, [], [])


@pytest.mark.parametrize(("query", "view"), LINKS)
def test_the_shortest_query_of_a_view_opens_it_again(query, view):
    del view
    opened, _ = read(query)
    snapshot = dc.load_snapshot()
    again, notices = RecipesView.read(opened.to_query(snapshot), snapshot)
    assert (again, notices) == (opened, [])


BROKEN = [
    {"base": "delphi-2"},
    {"base": "hero"},
    {"metric": "eval/paloma/macro"},
    {"metric": BPB},
    {"method": "published"},
    {"method": "<script>alert(1)</script>"},
    {"published": "moe-v16"},
    {"tab": "../../etc/passwd"},
    {"zoom": "1,2,3"},
    {"zoom": "<b>"},
]


@pytest.mark.parametrize("query", BROKEN)
def test_broken_links_open_the_nearest_view_with_one_notice(query):
    view, notices = read(query)
    assert len(notices) == 1
    assert asdict(view) == DEFAULT | {"zoom": ""}


def test_ladders_that_are_none_are_left_out_one_by_one():
    view, notices = read({"ladders": ["delphi", "delphi-3", "delphi-attempt-1"]})
    assert view.ladders == ("delphi",)
    assert len(notices) == 2


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"flops": "1e40"}, "C is '1e40'; it must be a number from 1e+15 to 1e+26 FLOP"),
        ({"flops": "0"}, "C is '0'"),
        ({"flops": "many"}, "C is 'many'"),
        ({"asymptote": "-1"}, "E is '-1'; it must be a number from 0 up"),
        ({"asymptote": "nan"}, "E is 'nan'"),
    ],
)
def test_a_number_that_cannot_be_taken_is_named(query, sentence):
    view, notices = read(query)
    (mistake,) = view.mistakes
    assert sentence in mistake
    assert (notices, view.at, view.pinned) == ([], None, None)
