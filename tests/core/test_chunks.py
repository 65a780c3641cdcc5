"""Tables made into text part by part: the same text as made at once."""

import io
import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from delphi_core import tables
from delphi_core.json_text import json_chunks
from delphi_core.spreadsheet import spreadsheet_chunks, spreadsheet_csv

TEXTS = st.one_of(st.none(), st.text(st.characters(codec="utf-8"), max_size=6), st.just("=1+1"))
NUMBERS = st.one_of(st.floats(), st.integers(-(10**18), 10**18).map(float))
ROWS = st.lists(st.tuples(TEXTS, NUMBERS, st.one_of(st.none(), st.integers(-9, 9))), max_size=9)


def table_of(rows):
    """A table as fits and snapshots make them: text, number, and whole numbers with gaps."""
    table = pd.DataFrame(rows, columns=["text", "number", "whole"])
    return table.astype({"text": "str", "number": "float64", "whole": "Int64"})


@given(ROWS, st.integers(1, 4))
def test_csv_in_parts_is_csv_made_at_once(rows, size):
    table = table_of(rows)
    parts = list(spreadsheet_chunks(table, size))
    assert "".join(parts) == spreadsheet_csv(table)
    assert len(parts) == max(1, math.ceil(len(table) / size))


@pytest.mark.parametrize("name", list(tables.TABLES))
def test_every_table_of_the_snapshot_is_the_same_in_parts(snapshot, name):
    table = snapshot.tables[name]
    assert "".join(spreadsheet_chunks(table, 7)) == spreadsheet_csv(table)


@given(ROWS, st.integers(1, 4))
def test_json_has_every_cell_and_null_for_what_is_missing_or_infinite(rows, size):
    table = table_of(rows)
    found = json.loads("".join(json_chunks({"x": None}, table, size)))
    assert found["metadata"] == {"x": None}
    assert len(found["rows"]) == len(table)
    for row, own in zip(found["rows"], table.to_dict("records"), strict=True):
        number = own["number"]
        assert row["number"] == (number if np.isfinite(number) else None)
        assert row["text"] == (None if pd.isna(own["text"]) else own["text"])
        assert row["whole"] == (None if pd.isna(own["whole"]) else own["whole"])


def test_json_numbers_are_those_of_the_csv():
    table = pd.DataFrame({"value": [0.1, 1e23, 5e-324, 1.7976931348623157e308]})
    found = json.loads("".join(json_chunks({}, table)))
    read = pd.read_csv(io.StringIO(spreadsheet_csv(table)))
    assert [row["value"] for row in found["rows"]] == read["value"].to_list()
    assert read.equals(table)


def test_lists_beside_texts_that_would_be_run_stay_as_they_are():
    table = pd.DataFrame({"measured": [[2.5], []], "mixed": ["=1", [1]]})
    assert spreadsheet_csv(table) == "measured,mixed\r\n[2.5],'=1\r\n[],[1]\r\n"


def test_flags_and_lists_of_numbers_are_json():
    table = pd.DataFrame({"covered": [True, None], "measured": [[2.5, 2.25], []]})
    table["n"] = np.array([1, 2])
    found = json.loads("".join(json_chunks({}, table)))
    assert found["rows"] == [
        {"covered": True, "measured": [2.5, 2.25], "n": 1},
        {"covered": None, "measured": [], "n": 2},
    ]
