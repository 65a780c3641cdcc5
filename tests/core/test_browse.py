"""Filtering: what is shown is what was asked for, on every table and on made ones."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from delphi_core.browse import FILTERS, filter_values, filtered
from delphi_core.errors import DataError
from delphi_core.records import budget_id
from delphi_core.tables import TABLES

MADE = pd.DataFrame(
    {
        "run": ["a(b", ".*x", "back\\slash", "STRASSE ß", None, "Émile"],
        "note": ["100 %", None, "line\nbreak", "<script>", "NA", "émile"],
        "budget": [3e18, 1e20, None, 3e18 * (1 + 1e-9), 9e18, 1e20],
        "steps": pd.array([3, 1, None, 2, 3, 1], dtype="Int64"),
    }
).astype({"run": "str", "note": "str"})


@pytest.mark.parametrize("name", TABLES)
def test_without_filters_every_table_comes_back_as_it_is(snapshot, name):
    pd.testing.assert_frame_equal(filtered(snapshot.tables[name]), snapshot.tables[name])


@pytest.mark.parametrize("name", TABLES)
def test_each_value_of_a_filter_gives_its_rows_and_together_they_give_all(snapshot, name):
    table = snapshot.tables[name]
    for column in set(FILTERS) & set(table):
        parts = [filtered(table, **{column: value}) for value in filter_values(table, column)]
        for part, value in zip(parts, filter_values(table, column), strict=True):
            held = part[column].map(budget_id) if column == "budget" else part[column]
            assert set(held) == {value}
            assert part.dtypes.equals(table.dtypes)
        assert sum(map(len, parts)) == table[column].notna().sum()


def test_filters_hold_together(snapshot):
    runs = snapshot.tables["runs"]
    rows = filtered(runs, ladder="delphi", role="isoflop", budget="3e18", text="D512")
    assert rows["run"].to_list() == ["isoflop-3e+18-d512-L6-B32-adamh_scaling_v6"]
    assert len(filtered(runs, ladder="delphi", role="isoflop")) == 78


def test_budgets_are_those_of_one_id():
    assert filter_values(MADE, "budget") == ["3e18", "9e18", "1e20"]
    assert filtered(MADE, budget="3e18")["run"].to_list() == ["a(b", "STRASSE ß"]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("(", [0]),
        (".*", [1]),
        ("\\", [2]),
        ("k\\S", [2]),
        ("SS", [3]),
        ("ß", [3]),
        ("ÉM", [5]),
        ("%", [0]),
        ("\n", [2]),
        ("na", [4]),
        ("nan", []),
        ("<SCRIPT>", [3]),
        ("3e18", []),
    ],
)
def test_text_is_taken_as_it_stands_whatever_its_case(text, rows):
    expected = MADE.iloc[rows].reset_index(drop=True)
    pd.testing.assert_frame_equal(filtered(MADE, text=text), expected)


@given(st.text(max_size=8))
def test_any_text_is_searched_without_an_error(text):
    wanted = text.casefold()
    cells = MADE[["run", "note"]].fillna("").to_numpy().tolist()
    held = [any(wanted in cell.casefold() for cell in row if cell) for row in cells]
    assert len(filtered(MADE, text=text)) == (sum(held) if text else len(MADE))


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("steps", [1, 5, 3, 0, 4, 2]),
        ("-steps", [0, 4, 3, 1, 5, 2]),
        ("budget", [0, 3, 4, 1, 5, 2]),
        ("note", [0, 3, 4, 2, 5, 1]),
    ],
)
def test_equal_rows_keep_their_order_and_empty_cells_come_last(sort, order):
    expected = MADE.iloc[order].reset_index(drop=True)
    pd.testing.assert_frame_equal(filtered(MADE, sort=sort), expected)


@pytest.mark.parametrize("asked", [{"ladder": "delphi"}, {"sort": "-step"}])
def test_a_column_that_is_not_there_is_named(asked):
    with pytest.raises(DataError, match=r"the table has no column '(ladder|step)'; "):
        filtered(MADE, **asked)


def test_the_table_itself_stays_as_it_was(snapshot):
    before = snapshot.tables["runs"].copy()
    filtered(snapshot.tables["runs"], sort="-flops", text="moe")
    pd.testing.assert_frame_equal(snapshot.tables["runs"], before)


def test_rows_without_a_budget_are_not_found_by_its_name(snapshot):
    runs = snapshot.tables["runs"]
    assert runs["budget"].isna().any()
    assert len(filtered(runs, budget="nan")) == 0
