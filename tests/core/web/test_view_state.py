"""View state: any query gives a valid view, and a view gives back its own query."""

from hypothesis import given, settings
from hypothesis import strategies as st

import delphi_core as dc
from delphi_core.web.view_state import (
    METHODS,
    IsoflopView,
    isoflop_axes,
    isoflop_ladders,
    isoflop_metrics,
)

SNAPSHOT = dc.load_snapshot()
MACRO = "eval/paloma/macro_loss"
BPB = "eval/paloma/c4_en/bpb"


def test_what_the_page_offers():
    assert isoflop_ladders(SNAPSHOT) == ["delphi", "delphi-attempt-1", "moe-v16", "moe-aug-hero"]
    assert isoflop_metrics(SNAPSHOT, "delphi") == [BPB, MACRO]
    assert isoflop_metrics(SNAPSHOT, "delphi-attempt-1") == [MACRO]
    assert isoflop_metrics(SNAPSHOT, "moe-v16") == [BPB, MACRO]
    assert isoflop_axes(SNAPSHOT, "delphi", BPB) == ["tokens"]
    assert isoflop_axes(SNAPSHOT, "moe-v16", BPB) == ["tokens", "active_params"]


def test_defaults_are_the_ladders_own():
    view, notices = IsoflopView.read({}, SNAPSHOT)
    assert (view, notices) == (IsoflopView("delphi", MACRO, "tokens", "parabola"), [])
    view, _ = IsoflopView.read({"ladder": "moe-v16"}, SNAPSHOT)
    assert view == IsoflopView("moe-v16", MACRO, "active_params", "parabola")


def test_each_part_that_is_not_to_be_had_gives_a_notice():
    query = {"ladder": "moe-v16", "metric": "loss", "x": "params", "method": "spline", "utm": "1"}
    view, notices = IsoflopView.read(query, SNAPSHOT)
    assert view == IsoflopView("moe-v16", MACRO, "active_params", "parabola")
    assert [notice.split("which")[0] for notice in notices] == [
        "The link asks for metric 'loss', ",
        "The link asks for x 'params', ",
        "The link asks for method 'spline', ",
    ]


texts = st.text() | st.sampled_from(
    [*isoflop_ladders(SNAPSHOT), MACRO, BPB, "tokens", "params", "active_params", *METHODS]
)
queries = st.dictionaries(st.sampled_from(["ladder", "metric", "x", "method", "other"]), texts)


@given(queries)
@settings(deadline=None)
def test_any_query_gives_a_valid_view_that_gives_back_its_query(query):
    view, notices = IsoflopView.read(query, SNAPSHOT)
    assert view.ladder in isoflop_ladders(SNAPSHOT)
    assert view.metric in isoflop_metrics(SNAPSHOT, view.ladder)
    assert view.x in isoflop_axes(SNAPSHOT, view.ladder, view.metric)
    assert view.method in METHODS
    assert all(len(notice) < 400 for notice in notices)
    again, none = IsoflopView.read(view.to_query(SNAPSHOT), SNAPSHOT)
    assert (again, none) == (view, [])
    # What was asked for and offered is what is shown.
    for name, value in query.items():
        shown = getattr(view, name, value)
        assert shown == value or any(f" {name} " in notice for notice in notices)


def test_a_query_holds_what_differs_from_the_defaults():
    view = IsoflopView("moe-v16", BPB, "tokens", "marin")
    assert view.to_query(SNAPSHOT) == {
        "ladder": "moe-v16",
        "metric": BPB,
        "x": "tokens",
        "method": "marin",
    }
    assert IsoflopView("delphi", MACRO, "tokens", "parabola").to_query(SNAPSHOT) == {}
