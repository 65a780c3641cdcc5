"""Links to the Trajectories page must keep opening: add to this list, never change it."""

from dataclasses import astuple

import pytest

import delphi_core as dc
from delphi_core.web.trajectory_view import TrajectoryView

MACRO = "eval_dropless/paloma/macro_loss"
PTB = "eval_dropless/paloma/ptb/loss"
C4 = "eval/paloma/c4_en/loss"
HERO = ("hero", MACRO, "surface", "", "0.9", "fraction", "0.05", False, False, "curve")
# What views have had since 0.5.0, as links from before open it.
ADDED = ("1", (), "")

# (query as shared, view it opened), by release.
LINKS = [
    # 0.4.0
    ({}, HERO),
    ({"tab": "backtests"}, (*HERO[:-1], "backtests")),
    (
        {"method": "per-fraction", "asymptote": "1.5", "x": "tokens", "start": "0.2"},
        ("hero", MACRO, "per-fraction", "1.5", "0.9", "tokens", "0.2", False, False, "curve"),
    ),
    (
        {"metric": PTB, "rungs": "true", "events": "true", "level": "0.95"},
        ("hero", PTB, "surface", "", "0.95", "fraction", "0.05", True, True, "curve"),
    ),
    (
        {"target": "67b"},
        ("67b", "eval/paloma/macro_loss", "per-fraction", *HERO[3:]),
    ),
    ({"target": "delphi-1e23", "x": "flops"}, ("delphi-1e23", C4, "surface", "", "0.9", "flops",
                                               "0.05", False, False, "curve")),
    # 0.5.0
    ({"x": "steps", "end": "0.4"}, (*HERO[:5], "steps", *HERO[6:], "0.4")),
    ({"without": ["gab", "ptb"]}, (*HERO, "1", ("gab", "ptb"))),
    ({"without": ""}, HERO),
    ({"zoom": "10,40,2.1,2.3"}, (*HERO, "1", (), "10,40,2.1,2.3")),
    ({"tab": "record"}, (*HERO[:-1], "record")),
]  # fmt: skip


def read(query):
    """The view of a query and its notices."""
    lists = {name: value if isinstance(value, list) else [value] for name, value in query.items()}
    return TrajectoryView.read(lists, dc.load_snapshot())


def complete(view):
    """A view with the fields it did not have yet."""
    return (*view, *ADDED[len(view) - len(HERO) :])


@pytest.mark.parametrize(("query", "view"), LINKS)
def test_old_links_open_the_view_they_opened_then(query, view):
    opened, notices = read(query)
    assert (astuple(opened), notices) == (complete(view), [])


@pytest.mark.parametrize(("query", "view"), LINKS)
def test_the_shortest_query_of_a_view_opens_it_again(query, view):
    snapshot = dc.load_snapshot()
    opened, _ = read(query)
    again, notices = TrajectoryView.read(opened.to_query(snapshot), snapshot)
    assert (astuple(again), notices) == (complete(view), [])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("target", "hero2"),
        ("metric", "<script>"),
        ("method", "magic"),
        ("level", "2"),
        ("x", "steps\x00"),
        ("start", "-1"),
        ("rungs", "yes"),
        ("tab", "x" * 10_000),
        ("end", "0.05"),
        ("without", "<img>"),
        ("zoom", "1,2,3,nan"),
        ("zoom", "1,2,3"),
        ("zoom", "1,1,2,3"),
        ("zoom", "<svg onload=1>"),
    ],
)
def test_what_is_not_offered_falls_back_with_a_notice(name, value):
    opened, notices = read({name: value})
    assert astuple(opened) == complete(HERO)
    assert len(notices) == 1
    assert len(notices[0]) < 1000


@pytest.mark.parametrize("typed", ["nan", "inf", "-1", "1e400", "<b>", "1.5; rm"])
def test_an_e_that_is_none_is_kept_as_typed_and_named(typed):
    opened, notices = read({"asymptote": typed})
    assert not notices
    assert opened.pinned is None
    assert len(opened.mistakes) == 1
