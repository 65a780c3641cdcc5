"""Rows of a table: filtered, searched and sorted, as the Data page shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from delphi_core.errors import DataError, did_you_mean
from delphi_core.records import budget_id

if TYPE_CHECKING:
    from collections.abc import Iterator

FILTERS = ("ladder", "role", "metric", "budget")
"""Columns that rows are filtered by, where a table has them."""


def filtered(
    table: pd.DataFrame,
    *,
    ladder: str = "",
    role: str = "",
    metric: str = "",
    budget: str = "",
    text: str = "",
    sort: str = "",
) -> pd.DataFrame:
    """Rows of a table that pass every filter.

    Parameters
    ----------
    table
        Any table of a snapshot; it is not changed.
    ladder, role, metric
        What the column of that name must hold; empty for anything.
    budget
        Nominal budget as `records.budget_id` writes it, such as 3e18; empty for any.
    text
        What some text column must hold, whatever its case; taken as it stands, no pattern.
    sort
        Column to sort by, smallest first, or largest first after a minus: -flops. Rows that are
        equal keep their order, empty cells come last. By default the table's own order.

    Returns
    -------
    DataFrame
        The columns and types of `table`, rows numbered from 0.

    Raises
    ------
    DataError
        The table has no column to filter or sort by; the message names near misses.
    """
    rows = table
    asked = zip(FILTERS, (ladder, role, metric, budget), strict=True)
    for name, value in asked:
        if value:
            _check_column(rows, name)
            rows = rows[_equal(rows[name], value)]
    if text:
        rows = rows[_mentions(rows, text)]
    if sort:
        column = sort.removeprefix("-")
        _check_column(rows, column)
        rows = rows.sort_values(column, kind="stable", ascending=column == sort)
    return rows.reset_index(drop=True)


def filter_values(rows: pd.DataFrame, column: str) -> list[str]:
    """What a column of `FILTERS` can be filtered by: its values, without repetition.

    Parameters
    ----------
    rows
        Holds the column.
    column
        Which one.

    Returns
    -------
    list of str
        Budgets as `records.budget_id` writes them, by compute; others in order of appearance.
    """
    values = rows[column].dropna().unique()
    if column == "budget":
        return list(dict.fromkeys(map(budget_id, sorted(values))))
    return [str(value) for value in values]


def _equal(values: pd.Series, wanted: str) -> pd.Series:
    """Which cells hold a value, budgets by their id."""
    if values.name == "budget":
        return values.isin(
            [number for number in values.dropna().unique() if budget_id(number) == wanted]
        )
    return values.isin([wanted])


def _mentions(rows: pd.DataFrame, text: str) -> pd.Series:
    """Which rows hold a text in some text column."""
    wanted = text.casefold()
    found = pd.Series(data=False, index=rows.index)
    for name in _text_columns(rows):
        # Columns of a million rows hold few different texts.
        texts = rows[name].dropna().unique()
        found |= rows[name].isin([value for value in texts if wanted in str(value).casefold()])
    return found


def _text_columns(rows: pd.DataFrame) -> Iterator[str]:
    return (name for name in rows.columns if pd.api.types.is_string_dtype(rows[name].dtype))


def _check_column(table: pd.DataFrame, name: str) -> None:
    if name not in table:
        raise DataError([f"the table has no column {name!r}; {did_you_mean(name, table.columns)}"])
