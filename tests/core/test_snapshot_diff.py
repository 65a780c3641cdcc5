"""What differs between snapshots is named by table, row and column, and nothing else is."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from delphi_core.snapshot_diff import diff_document, diff_snapshots, diff_text
from delphi_core.tables import TABLES

RUN = "isoflop-3e+18-d512-L6-B32-adamh_scaling_v6"


@pytest.fixture
def other(snapshot):
    """The bundled snapshot with other tables."""

    def call(**tables):
        return dataclasses.replace(snapshot, tables={**snapshot.tables, **tables})

    return call


def test_nothing_differs_from_itself(snapshot):
    assert diff_snapshots(snapshot, snapshot) == []


def test_one_changed_loss_is_named(snapshot, other):
    evals = snapshot.tables["evals"].copy()
    evals.loc[0, "value"] = 3.72
    diffs = diff_snapshots(snapshot, other(evals=evals))
    assert diff_text(diffs, 10) == (
        "evals: 1 changed\n"
        f"  changed delphi, {RUN}, eval/paloma/macro_loss: value 3.710956335067749 -> 3.72"
    )
    assert diff_document(diffs) == {
        "evals": {
            "added": [],
            "removed": [],
            "changed": [
                {
                    "key": {"ladder": "delphi", "run": RUN, "metric": "eval/paloma/macro_loss"},
                    "columns": {"value": [3.710956335067749, 3.72]},
                }
            ],
            "reordered": False,
        }
    }


def test_added_and_removed_rows_are_named(snapshot, other):
    evals = snapshot.tables["evals"]
    fewer = other(evals=evals.drop(index=[0, 5]).reset_index(drop=True))
    first, second = evals.iloc[0], evals.iloc[5]
    (there,) = diff_snapshots(snapshot, fewer)
    (back,) = diff_snapshots(fewer, snapshot)
    rows = [{str(name): cell for name, cell in row.items()} for row in (first, second)]
    assert (
        diff_document([there])["evals"] | {"removed": [], "added": rows}
        == (diff_document([back])["evals"])
    )
    assert diff_document([there])["evals"]["removed"] == rows
    assert diff_text([there], 10).splitlines() == [
        "evals: 2 removed",
        f"  removed delphi, {first['run']}, {first['metric']}",
        f"  removed delphi, {second['run']}, {second['metric']}",
    ]


def test_rows_without_a_key_are_known_by_all_their_cells(snapshot, other):
    events = snapshot.tables["events"].copy()
    events.loc[3, "text"] = "something else"
    (diff,) = diff_snapshots(snapshot, other(events=events))
    document = diff_document([diff])["events"]
    assert [len(document[what]) for what in ("added", "removed", "changed")] == [1, 1, 0]
    assert document["added"][0]["text"] == "something else"


def test_an_empty_cell_differs_from_a_number(snapshot, other):
    runs = snapshot.tables["runs"].copy()
    runs.loc[0, "layers"] = pd.NA
    runs.loc[1, "active_params"] = 1e8
    text = diff_text(diff_snapshots(snapshot, other(runs=runs)), 10)
    assert "layers 6 -> (empty)" in text
    assert "active_params (empty) -> 100000000.0" in text


def test_another_order_is_said(snapshot, other):
    evals = snapshot.tables["evals"]
    turned = other(evals=evals.iloc[::-1].reset_index(drop=True))
    assert diff_text(diff_snapshots(snapshot, turned), 10) == "evals: rows in another order"


def test_lines_are_counted_where_there_are_many(snapshot, other):
    evals = snapshot.tables["evals"].copy()
    evals["value"] += 1
    diffs = diff_snapshots(snapshot, other(evals=evals, events=snapshot.tables["events"].iloc[:0]))
    lines = diff_text(diffs, 3).splitlines()
    assert lines[0] == "evals: 334 changed"
    assert lines[4] == "  and 331 more rows; --json has all"
    assert lines[5] == "events: 36 removed"
    assert lines[9] == "  and 33 more rows; --json has all"
    assert len(lines) == 10
    assert diff_text(diffs, 0).splitlines()[1] == "  and 334 more rows; --json has all"
    assert len(diff_document(diffs)["evals"]["changed"]) == 334


@settings(deadline=None, max_examples=25)
@given(st.sampled_from(sorted(TABLES)), st.data())
def test_a_changed_cell_is_named_exactly(snapshot, name, data):
    """Any cell that is no part of a key: its table, row and column, old and new."""
    table = TABLES[name]
    free = [column for column in table.columns if table.key and column.name not in table.key]
    if not free:
        return
    column = data.draw(st.sampled_from(free))
    row = data.draw(st.integers(0, len(snapshot.tables[name]) - 1))
    changed = snapshot.tables[name].copy()
    old = changed.loc[row, column.name]
    new = {"text": "other", "date": "2000-01", "number": -0.125, "integer": 12345}.get(column.kind)
    if column.kind == "flag":
        new = not old
    changed.loc[row, column.name] = new
    other = dataclasses.replace(snapshot, tables={**snapshot.tables, name: changed})
    document = diff_document(diff_snapshots(snapshot, other))
    key = {str(k): cell for k, cell in snapshot.tables[name].loc[row, list(table.key)].items()}
    key = {k: None if pd.isna(cell) else cell for k, cell in key.items()}
    plain = None if pd.isna(old) else old
    columns = {column.name: [plain, new]}
    assert document == {
        name: {
            "added": [],
            "removed": [],
            "changed": [{"key": key, "columns": columns}],
            "reordered": False,
        }
    }
    json.dumps(document, allow_nan=False)


def test_documents_are_json(snapshot, other):
    empty = other(**{name: table.iloc[:0] for name, table in snapshot.tables.items()})
    document = diff_document(diff_snapshots(snapshot, empty))
    read = json.loads(json.dumps(document, allow_nan=False))
    assert {name: len(rows["removed"]) for name, rows in read.items()} == {
        name: len(table) for name, table in snapshot.tables.items()
    }
    assert not any(isinstance(cell, np.generic) for cell in document["runs"]["removed"][0].values())
