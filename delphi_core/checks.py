"""Text to checked tables: every mistake is one sentence with file, row and remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from delphi_core.csv_text import quoted
from delphi_core.errors import DataError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from delphi_core.schema import Column, Table

PER_COLUMN_AT_MOST = 10
DATE_PATTERN = r"\d{4}-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?"
FLAGS = {"True": True, "true": True, "1": True, "False": False, "false": False, "0": False}


def check_table(
    text: pd.DataFrame, table: Table, name: str, *, others: bool = False
) -> tuple[pd.DataFrame, list[str]]:
    """Typed table and its mistakes.

    Parameters
    ----------
    text
        Cells as text, indexed by row number, as `csv_text.read_csv_text` gives them.
    table
        What they should be.
    name
        How messages call the file.
    others
        Whether columns the table does not name are kept as they are, and optional ones may be
        missing, as in a file of records; otherwise both are mistakes.

    Returns
    -------
    frame : DataFrame
        Columns in the table's order; number float64, integer Int64, flag bool, text str.
    problems : list of str
        One sentence each, in row order; the frame is usable only when there are none.
    """
    expected = [c for c in table.columns if c.required or not others]
    problems = [
        f"{name} has no column {column.name!r} ({column.about}); add it."
        for column in expected
        if column.name not in text
    ]
    if not others:
        problems += [
            f"{name} has an unknown column {quoted(column)}; "
            f"{did_you_mean(str(column), table.column_names)}"
            for column in text.columns
            if column not in table.column_names
        ]
    if problems:
        return text, problems
    found: list[tuple[int, str]] = []
    typed: dict[str, pd.Series] = {}
    for column in table.columns:
        if column.name in text:
            typed[column.name], mistakes = _read_column(text[column.name], column)
            found += [(row, f"{name} row {row}: {words}") for row, words in mistakes]
    rest = {c: text[c] for c in text.columns if c not in table.column_names}
    frame = pd.DataFrame({**typed, **rest}, index=text.index)
    if not found:
        found = _duplicates(frame, table, name)
    return frame, [sentence for _, sentence in sorted(found, key=lambda item: item[0])]


def check_references(frames: Mapping[str, pd.DataFrame], tables: Mapping[str, Table]) -> list[str]:
    """Rows that name a run, metric, ladder or source which no other table knows.

    Parameters
    ----------
    frames
        Typed tables by name, indexed by row number.
    tables
        Their declarations.

    Returns
    -------
    list of str
        One sentence each.
    """
    problems: list[str] = []
    for table in tables.values():
        for reference in table.references:
            targets = frames[reference.table]
            known = set(zip(*(targets[c] for c in reference.to), strict=True))
            names = [str(key[-1]) for key in known]
            rows = frames[table.name][list(reference.columns)].dropna()
            last = reference.columns[-1]
            for row, *key in rows.itertuples():
                values = str(key[-1]).split() if reference.listed else [key[-1]]
                problems += [
                    f"{table.name}.csv row {row}: {last} {quoted(value)} is not in "
                    f"{reference.table}.csv; {did_you_mean(str(value), names)}"
                    for value in values
                    if (*key[:-1], value) not in known
                ]
    return problems


def check_sizes(runs: pd.DataFrame, ladders: pd.DataFrame) -> list[str]:
    """Runs of IsoFLOP ladders that lack the size their ladder is measured by.

    Parameters
    ----------
    runs, ladders
        The typed tables, `runs` indexed by row number.

    Returns
    -------
    list of str
        One sentence each.
    """
    problems = []
    for ladder in ladders[ladders["kind"] == "isoflop"].itertuples():
        column = str(ladder.params_column)
        own = runs[runs["ladder"] == ladder.ladder]
        problems += [
            f"runs.csv row {row}: {column} is empty; ladder {ladder.ladder} sizes its runs by it."
            for row in own.index[own[column].isna()]
        ]
    return problems


def _read_column(text: pd.Series, column: Column) -> tuple[pd.Series, list[tuple[int, str]]]:
    """Typed column, and (row, sentence) of each cell that is not what it must be."""
    empty = text == ""
    must = f"it must be {_expected(column)}"
    mistakes = _sentences(text, empty & column.required, f"{column.name} is empty; {must}.")
    if column.kind in ("number", "integer"):
        typed, wrong = _read_numbers(text, column)
    elif column.kind == "flag":
        typed, wrong = text.map(FLAGS), ~text.isin(FLAGS)
        typed = typed.mask(wrong, other=False).astype(bool)
    else:
        typed = text.mask(empty)
        wrong = pd.Series(data=False, index=text.index)
        if column.choices:
            wrong = ~text.isin(column.choices)
        elif column.kind == "date":
            wrong = ~text.str.fullmatch(DATE_PATTERN)
    mistakes += _sentences(text, wrong & ~empty, f"{column.name} is {{}}; {must}.")
    return typed, mistakes


def _read_numbers(text: pd.Series, column: Column) -> tuple[pd.Series, pd.Series]:
    """Numbers of a column, and which cells are not such numbers."""
    numbers = pd.to_numeric(text, errors="coerce").to_numpy(dtype=np.float64)
    wrong = ~np.isfinite(numbers)
    if column.above is not None:
        wrong |= numbers <= column.above
    if column.at_least is not None:
        wrong |= numbers < column.at_least
    if column.at_most is not None:
        wrong |= numbers > column.at_most
    typed = pd.Series(numbers, index=text.index)
    if column.kind == "integer":
        # Whole numbers beyond 2^53 are not exact in a float.
        wrong |= (np.abs(numbers) > 2**53) | ~np.equal(np.mod(numbers, 1), 0)
        typed = typed.mask(pd.Series(wrong, index=text.index)).astype("Int64")
    return typed, pd.Series(wrong, index=text.index)


def _expected(column: Column) -> str:
    if column.choices:
        return "one of " + ", ".join(column.choices)
    if column.kind == "text":
        return f"text ({column.about})"
    if column.kind == "flag":
        return "true or false"
    if column.kind == "date":
        return "a date (YYYY-MM-DD) or month (YYYY-MM)"
    noun = "whole number" if column.kind == "integer" else "number"
    if column.above == 0 and column.at_most is None:
        return f"a positive {noun}"
    limits = [
        f"above {column.above:g}" if column.above is not None else "",
        f"at least {column.at_least:g}" if column.at_least is not None else "",
        f"at most {column.at_most:g}" if column.at_most is not None else "",
    ]
    noun = noun if column.kind == "integer" else "finite number"
    return f"a {noun} ".rstrip() + "".join(f", {limit}" for limit in limits if limit)


def _sentences(text: pd.Series, wrong: pd.Series, words: str) -> list[tuple[int, str]]:
    """(row, sentence) of the first wrong cells of a column; `words` may hold {} for the cell."""
    rows = text.index[wrong].to_list()
    cells = text[wrong].to_list()[:PER_COLUMN_AT_MOST]
    first = [(row, words.format(quoted(cell))) for row, cell in zip(rows, cells, strict=False)]
    rest = len(rows) - len(first)
    if rest > 0:
        first.append((rows[-1], f"the same mistake in {rest} more rows up to here."))
    return first


def _duplicates(frame: pd.DataFrame, table: Table, name: str) -> list[tuple[int, str]]:
    key = list(table.key) or list(frame.columns)
    repeats = frame.index[frame.duplicated(key)]
    if repeats.empty:
        return []
    first_of = frame.reset_index().groupby(key, dropna=False, sort=False)["row"].transform("min")
    first = pd.Series(first_of.to_numpy(), index=frame.index)
    what = (
        f"has the same {', '.join(table.key)} as" if table.key else "is the same in every column as"
    )
    return [
        (int(row), f"{name} row {row} {what} row {first[row]}; remove one of them.")
        for row in repeats
    ]


def typed_or_raise(frame: pd.DataFrame, problems: Sequence[str]) -> pd.DataFrame:
    """The frame without its row numbers, or all its mistakes.

    Raises
    ------
    DataError
        There are mistakes.
    """
    if problems:
        raise DataError(problems)
    return frame.reset_index(drop=True)
