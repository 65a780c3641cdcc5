"""CSV for people: no text that a spreadsheet would run, every number as it is, and a way back."""

import csv
import io

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from delphi_core.sources.records_csv import parse_records
from delphi_core.spreadsheet import marked, spreadsheet_csv, unmarked

RUN = tuple("=+-@\t\r\n＝＋－＠")


def cells(text):
    """Cells of a CSV below its header."""
    return list(csv.reader(io.StringIO(text, newline="")))[1:]


@pytest.mark.parametrize("beginning", RUN)
def test_what_would_be_run_gets_an_apostrophe(beginning):
    text = f"{beginning}1+1"
    assert cells(spreadsheet_csv(pd.DataFrame({"a": [text]}))) == [[f"'{text}"]]


def test_numbers_dates_and_other_texts_stay_as_they_are():
    table = pd.DataFrame(
        {
            "number": [-1.5, 1e-300],
            "whole": pd.array([-3, None], dtype="Int64"),
            "text": ["a=b", None],
            "mixed": pd.Series([-2.5, "x"], dtype=object),
            "date": ["2026-01-01", ""],
        }
    )
    assert spreadsheet_csv(table) == table.to_csv(index=False, lineterminator="\r\n")


def test_a_table_without_such_texts_is_the_same_one():
    table = pd.DataFrame({"a": [1.0, -2.0], "b": ["x", None]})
    assert marked(table) is table


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1)))
def test_every_text_comes_back(texts):
    table = pd.DataFrame({"a": pd.Series(texts, dtype="str")})
    marked = cells(spreadsheet_csv(table))
    assert not [cell for (cell,) in marked if cell.startswith(RUN)]
    assert unmarked(pd.Series([cell for (cell,) in marked], dtype="str")).to_list() == texts


def test_records_come_back_as_they_were():
    numbers = {"tokens": [1e9], "value": [-3.5], "flops": [1e18], "params": [1e8]}
    texts = {"metric": ["-loss"], "label": ["'=a"], "run": ["@b"]}
    records = pd.DataFrame({**numbers, **texts})
    again = parse_records(spreadsheet_csv(records).encode(), "mine.csv")
    assert again[list(records)].to_dict("list") == records.to_dict("list")
