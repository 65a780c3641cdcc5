"""View state of the Data page: any query gives a valid view that gives back its own query."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import delphi_core as dc
from delphi_core.browse import FILTERS
from delphi_core.tables import ROLES, TABLES
from delphi_core.web.data_view import DataView, data_filters, data_options, sort_options
from delphi_core.web.view_state import LONGEST_WORDS

SNAPSHOT = dc.load_snapshot()
MACRO = "eval/paloma/macro_loss"
ALL = DataView("runs", "", "", "", "", "", "")


def read(**query):
    return DataView.read({name: [value] for name, value in query.items()}, SNAPSHOT)


def test_all_runs_are_shown_first():
    assert read() == (ALL, [])
    assert ALL.to_query(SNAPSHOT) == {}
    assert ALL.filters == {}


def test_filters_are_those_of_the_table():
    assert data_filters("runs") == ["ladder", "role", "budget"]
    assert data_filters("evals") == ["ladder", "metric"]
    assert data_filters("sources") == []


def test_filters_offer_what_the_filters_before_them_leave():
    assert data_options(SNAPSHOT, "runs", "ladder")[:2] == ("delphi", "delphi-attempt-1")
    assert data_options(SNAPSHOT, "runs", "role", "delphi") == ("isoflop", "excluded", "heldout")
    assert data_options(SNAPSHOT, "runs", "budget", "moe-v16", "isoflop", "") == (
        *("1e18", "3e18", "1e19", "3e19", "1e20", "3e20"),
    )
    view, _ = read(ladder="moe-v16", role="isoflop")
    assert view.options(SNAPSHOT, "budget")[-1] == "3e20"
    assert view.options(SNAPSHOT, "metric") == ()


def test_each_part_that_is_not_to_be_had_gives_a_notice():
    view, notices = read(table="evals", ladder="delphi-2", role="isoflop", sort="flops")
    assert view == DataView("evals", "", "", "", "", "", "")
    assert [notice.split(",")[0].removeprefix("The link asks for ") for notice in notices] == [
        *("ladder 'delphi-2'", "role 'isoflop'", "sort 'flops'"),
    ]
    assert all(notice.endswith("; it is left out.") for notice in notices)
    _, (notice,) = read(table="run")
    assert "did you mean 'runs'" in notice


def test_an_empty_parameter_is_no_filter():
    assert read(ladder="", role="", text="", sort="") == (ALL, [])


def test_text_is_free_but_not_endless():
    view, notices = read(text="  .*(<b>  ")
    assert (view.text, notices) == (".*(<b>", [])
    view, notices = read(text="x" * 5000)
    assert view.text == "x" * LONGEST_WORDS
    assert "5,000" in notices[0]
    assert len(notices) == 1


texts = st.text(max_size=200) | st.sampled_from(
    [
        *(*TABLES, *ROLES, "delphi", "moe-v16", "hero", MACRO, "3e18", "1e20", ""),
        *("flops", "-flops", "value", "-run"),
    ]
)
queries = st.dictionaries(
    st.sampled_from(["table", *FILTERS, "text", "sort", "other"]),
    st.lists(texts, min_size=1, max_size=3),
)


@given(queries)
@settings(deadline=None)
def test_any_query_gives_a_valid_view_that_gives_back_its_query(query):
    view, notices = DataView.read(query, SNAPSHOT)
    for name in FILTERS:
        assert getattr(view, name) in ("", *view.options(SNAPSHOT, name))
    assert view.sort in ("", *sort_options(view.table))
    assert DataView.read(view.to_query(SNAPSHOT), SNAPSHOT) == (view, [])
    assert all(len(notice) < 600 for notice in notices)
    # The filters are such as the core takes, and only a text may leave nothing.
    rows = dc.filtered(SNAPSHOT.tables[view.table], **view.filters)
    assert len(rows) or view.text


@pytest.mark.parametrize("table", TABLES)
def test_every_order_of_a_table_can_be_had(table):
    for sort in sort_options(table):
        view, notices = read(table=table, sort=sort)
        assert (view.sort, notices) == (sort, [])
        assert len(dc.filtered(SNAPSHOT.tables[table], **view.filters))
