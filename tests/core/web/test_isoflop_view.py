"""View state: any query gives a valid view, and a view gives back its own query."""

from hypothesis import given, settings
from hypothesis import strategies as st

import delphi_core as dc
from delphi_core.web.isoflop_view import (
    METHODS,
    IsoflopView,
    isoflop_axes,
    isoflop_budgets,
    isoflop_ladders,
    isoflop_methods,
    isoflop_metrics,
)
from delphi_core.web.view_state import in_query

SNAPSHOT = dc.load_snapshot()
MACRO = "eval/paloma/macro_loss"
DELPHI = ("3e18", "9e18", "1.8e19", "3e19", "9e19", "1.8e20", "3e20")
V16 = ("1e18", "3e18", "1e19", "3e19", "1e20", "3e20")
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
    plain = ("parabola", False)
    assert view == IsoflopView("delphi", MACRO, "tokens", *plain, DELPHI, "linear")
    assert notices == []
    view, _ = IsoflopView.read({"ladder": ["moe-v16"]}, SNAPSHOT)
    assert view == IsoflopView("moe-v16", MACRO, "active_params", *plain, V16, "linear")


def test_each_part_that_is_not_to_be_had_gives_a_notice():
    query = {
        "ladder": ["moe-v16"],
        "metric": ["loss"],
        "x": ["tokens", "params"],
        "method": ["spline"],
        "excluded": ["maybe"],
        "budgets": ["1e18", "2e18", "3e18"],
        "y": ["square"],
        "utm": ["1"],
    }
    view, notices = IsoflopView.read(query, SNAPSHOT)
    axis = "active_params"
    assert view == IsoflopView(
        *("moe-v16", MACRO, axis, "parabola"),
        excluded=False,
        budgets=("1e18", "3e18"),
        y="linear",
    )
    assert [notice.split("which")[0].removeprefix("The link asks for ") for notice in notices] == [
        *("metric 'loss', ", "x 'params', ", "method 'spline', ", "excluded 'maybe', "),
        *("budgets '2e18', ", "y 'square', "),
    ]


def test_budgets_come_in_order_of_compute_and_may_be_none():
    view, _ = IsoflopView.read({"budgets": ["3e20", "3e18", "3e18"]}, SNAPSHOT)
    assert view.budgets == ("3e18", "3e20")
    nothing, notices = IsoflopView.read({"budgets": [""]}, SNAPSHOT)
    assert (nothing.budgets, notices) == ((), [])
    wrong, notices = IsoflopView.read({"budgets": ["7e77"]}, SNAPSHOT)
    assert (wrong.budgets, len(notices)) == (DELPHI, 1)


def test_excluded_runs_bring_their_budgets():
    view, _ = IsoflopView.read({"ladder": ["moe-v16"], "excluded": ["true"]}, SNAPSHOT)
    assert view.budgets == (*V16, "1e21")


texts = st.text() | st.sampled_from(
    [
        *(*isoflop_ladders(SNAPSHOT), MACRO, BPB, "tokens", "params", "active_params", *METHODS),
        *("true", "false", "linear", "log", *DELPHI, *V16),
    ]
)
NAMES = ["ladder", "metric", "x", "method", "excluded", "budgets", "y", "other"]
queries = st.dictionaries(st.sampled_from(NAMES), st.lists(texts, min_size=1, max_size=4))


@given(queries)
@settings(deadline=None)
def test_any_query_gives_a_valid_view_that_gives_back_its_query(query):
    view, notices = IsoflopView.read(query, SNAPSHOT)
    place = (SNAPSHOT, view.ladder, view.metric)
    assert view.ladder in isoflop_ladders(SNAPSHOT)
    assert view.metric in isoflop_metrics(SNAPSHOT, view.ladder)
    assert view.x in isoflop_axes(*place)
    assert view.method in isoflop_methods(*place)
    assert set(view.budgets) <= set(isoflop_budgets(*place, excluded=view.excluded))
    assert all(len(notice) < 400 for notice in notices)
    again, none = IsoflopView.read(view.to_query(SNAPSHOT), SNAPSHOT)
    assert (again, none) == (view, [])
    # What was asked for and offered is what is shown.
    for name, values in query.items():
        if name not in ("budgets", "other"):
            shown = in_query(getattr(view, name))
            assert shown == values[-1:] or any(f" {name} " in notice for notice in notices)


def test_a_query_holds_what_differs_from_the_defaults():
    view = IsoflopView(
        *("moe-v16", BPB, "tokens", "marin"), excluded=True, budgets=("1e18", "1e21"), y="log"
    )
    assert view.to_query(SNAPSHOT) == {
        "ladder": ["moe-v16"],
        "metric": [BPB],
        "x": ["tokens"],
        "method": ["marin"],
        "excluded": ["true"],
        "budgets": ["1e18", "1e21"],
        "y": ["log"],
    }
    assert IsoflopView.read({}, SNAPSHOT)[0].to_query(SNAPSHOT) == {}
