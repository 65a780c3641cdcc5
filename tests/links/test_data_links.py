"""Links to the Data page must keep opening: add to this list, never change it."""

import pandas as pd
import pytest

import delphi_core as dc
from delphi_core.own_ladders import parse_own_ladders
from delphi_core.web.data_view import DataView

MACRO = "eval/paloma/macro_loss"

# (query as shared, what it opened beside defaults), by release.
LINKS = [
    # 0.1.0
    ({}, {"table": "runs"}),
    ({"table": "runs", "ladder": "moe-v16"}, {"table": "runs", "ladder": "moe-v16"}),
    (
        {"ladder": "delphi", "role": "isoflop", "budget": "3e18"},
        {"table": "runs", "ladder": "delphi", "role": "isoflop", "budget": "3e18"},
    ),
    (
        {"table": "evals", "ladder": "delphi", "metric": MACRO, "sort": "-value"},
        {"table": "evals", "ladder": "delphi", "metric": MACRO, "sort": "-value"},
    ),
    (
        {"table": "trajectories", "ladder": "hero", "metric": "eval_dropless/paloma/macro_loss"},
        {"table": "trajectories", "ladder": "hero", "metric": "eval_dropless/paloma/macro_loss"},
    ),
    ({"table": "events", "text": "OOM"}, {"table": "events", "text": "OOM"}),
    ({"table": "sources", "sort": "url"}, {"table": "sources", "sort": "url"}),
    *(
        ({"table": table}, {"table": table})
        for table in [
            *("ladders", "metrics", "segments", "targets", "published_optima"),
            *("published_fits", "published_laws", "published_forecasts"),
        ]
    ),
]


def read(query):
    """The view of a query and its notices."""
    return DataView.read({name: [value] for name, value in query.items()}, dc.load_snapshot())


# Links to a ladder of one's own: they open for whoever has given a file in the same visit.
OWN_LINKS = [
    # 0.5.0
    ({"ladder": "yours"}, {"table": "runs", "ladder": "yours"}),
    ({"table": "evals", "ladder": "yours-2"}, {"table": "evals", "ladder": "yours-2"}),
]


@pytest.mark.parametrize(("query", "view"), OWN_LINKS)
def test_links_to_ladders_of_ones_own_open_for_nobody_else(query, view):
    snapshot = dc.load_snapshot()
    records = snapshot.records("delphi", MACRO)
    records = records[records["role"] == "isoflop"]
    both = pd.concat([records, records.assign(label="b", run=records["run"] + "-b")])
    own = parse_own_ladders(both.to_csv(index=False).encode(), "mine.csv")
    values = {name: [value] for name, value in query.items()}
    opened, notices = DataView.read(values, dc.with_own_ladders(snapshot, own))
    assert ({"table": opened.table, **opened.filters}, notices) == (view, [])
    opened, notices = DataView.read(values, snapshot)
    assert "ladder" not in opened.filters
    assert len(notices) == 1


@pytest.mark.parametrize(("query", "view"), LINKS)
def test_old_links_open_the_view_they_opened_then(query, view):
    opened, notices = read(query)
    assert ({"table": opened.table, **opened.filters}, notices) == (view, [])


BROKEN = [
    {"table": "run"},
    {"table": "../../etc/passwd"},
    {"ladder": "<script>alert(1)</script>"},
    {"metric": MACRO},
    {"table": "evals", "budget": "3e18"},
    {"budget": "4e18"},
    {"sort": "--flops"},
]


@pytest.mark.parametrize("query", BROKEN)
def test_broken_links_open_the_nearest_view_with_one_notice(query):
    view, notices = read(query)
    assert len(notices) == 1
    assert view.filters == {}
