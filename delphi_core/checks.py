"""Text to checked tables: every mistake is one sentence with file, row and remedy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from delphi_core.errors import SHOWN_AT_MOST, DataError, did_you_mean, quoted

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from delphi_core.schema import Column, Reference, Table

DATE_PATTERN = r"\d{4}-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?"
FLAGS = {"True": True, "true": True, "1": True, "False": False, "false": False, "0": False}
# From here on a float no longer tells neighbouring whole numbers apart.
_TOO_LARGE = 2.0**53


@dataclass
class Mistakes:
    """Mistakes of a table: sentences for the first ones, and a count of the others.

    Attributes
    ----------
    file
        How sentences call the table.
    found
        (row number, sentence); row 0 for the table as a whole.
    unlisted
        How many more there are.
    """

    file: str
    found: list[tuple[int, str]] = field(default_factory=list)
    unlisted: int = 0

    def add_table(self, words: str) -> None:
        """Note a mistake of the table as a whole."""
        self.found.append((0, f"{self.file} {words}"))

    def add_cells(self, text: pd.Series, wrong: pd.Series, words: str) -> None:
        """Note the wrong cells of a column; `words` may hold {} for what is in the cell."""
        rows, cells = text.index[wrong].to_list(), text[wrong].to_list()
        for row, cell in zip(rows[:SHOWN_AT_MOST], cells, strict=False):
            self.found.append((row, f"{self.file} row {row}: {words.format(quoted(cell))}"))
        self.unlisted += max(0, len(rows) - SHOWN_AT_MOST)

    def __bool__(self) -> bool:
        return bool(self.found)

    @property
    def sentences(self) -> list[str]:
        """The sentences in row order."""
        return [sentence for _, sentence in sorted(self.found, key=lambda item: item[0])]

    def raise_any(self) -> None:
        """Raise a DataError if there are mistakes."""
        if self:
            raise DataError(self.sentences, self.unlisted)


@dataclass(frozen=True)
class Where:
    """How sentences call tables and their rows.

    Attributes
    ----------
    files
        Table to its file; a CSV file of the table's name where it is not given.
    """

    files: Mapping[str, str] = field(default_factory=dict)

    def table(self, name: str) -> str:
        """A table's file."""
        return self.files.get(name, f"{name}.csv")

    def row(self, name: str, row: int) -> str:
        """A row of it."""
        return f"{self.table(name)} row {row}"


def check_table(
    text: pd.DataFrame, table: Table, file: str, *, others: bool = False
) -> tuple[pd.DataFrame, Mistakes]:
    """Typed table and its mistakes.

    Parameters
    ----------
    text
        Cells as text, indexed by row number, as `csv_text.read_csv_text` gives them; numbers may
        be numbers already, as `parquet_table.read_parquet` gives them.
    table
        What they should be.
    file
        How messages call the table.
    others
        Whether columns the table does not name are kept as they are, and optional ones may be
        missing, as in a file of records; otherwise both are mistakes.

    Returns
    -------
    frame : DataFrame
        Columns in the table's order; number float64, integer Int64, flag bool, text str.
    mistakes : Mistakes
        The frame is usable only when there are none.
    """
    mistakes = Mistakes(file)
    present = [str(name) for name in text.columns]
    unknown = [name for name in present if name not in table.column_names]
    for column in table.columns:
        if column.name not in text and (column.required or not others):
            near = [n for n in unknown if n.strip().lower() == column.name.lower()]
            remedy = f"rename {quoted(near[0])}" if near else "add it"
            mistakes.add_table(f"has no column {column.name!r} ({column.about}); {remedy}.")
    if not others:
        for name in unknown:
            remedy = did_you_mean(name, table.column_names)
            mistakes.add_table(f"has an unknown column {quoted(name)}; {remedy}")
    if mistakes:
        return text, mistakes
    columns = {
        column.name: _read_column(text[column.name], column, mistakes)
        for column in table.columns
        if column.name in text
    }
    frame = pd.DataFrame({**columns, **{name: text[name] for name in unknown}}, index=text.index)
    if not mistakes:
        _check_duplicates(frame, table, mistakes)
    return frame, mistakes


def check_references(
    frames: Mapping[str, pd.DataFrame], tables: Mapping[str, Table], where: Where | None = None
) -> list[str]:
    """Rows that name a run, metric, ladder or source which no other table knows.

    Parameters
    ----------
    frames
        Typed tables by name, indexed by row number.
    tables
        Their declarations.
    where
        How sentences call tables and their rows; by default as CSV files.

    Returns
    -------
    list of str
        One sentence each.
    """
    where = where or Where()
    problems: list[str] = []
    for table in tables.values():
        for reference in table.references:
            targets = frames[reference.table][list(reference.to)].drop_duplicates()
            known = set(targets.itertuples(index=False, name=None))
            rows = frames[table.name][list(reference.columns)].dropna()
            distinct = rows.drop_duplicates().itertuples(index=False, name=None)
            unknown = {key: left for key in distinct if (left := _unknown(key, reference, known))}
            if not unknown:
                continue
            names = sorted({str(key[-1]) for key in known})
            last = reference.columns[-1]
            for row, *key in rows.itertuples():
                problems += [
                    f"{where.row(table.name, row)}: {last} {quoted(value)} is not in "
                    f"{where.table(reference.table)}; {did_you_mean(value, names)}"
                    for value in unknown.get(tuple(key), ())
                ]
    return problems


def _unknown(
    key: tuple[object, ...], reference: Reference, known: Collection[tuple[object, ...]]
) -> list[str]:
    """What of a row's reference the other table does not know."""
    values = str(key[-1]).split() if reference.listed else [str(key[-1])]
    return [value for value in values if (*key[:-1], value) not in known]


def check_sizes(runs: pd.DataFrame, ladders: pd.DataFrame, where: Where | None = None) -> list[str]:
    """Runs of IsoFLOP ladders that lack the size their ladder is measured by.

    Parameters
    ----------
    runs, ladders
        The typed tables, `runs` indexed by row number.
    where
        How sentences call tables and their rows; by default as CSV files.

    Returns
    -------
    list of str
        One sentence each.
    """
    where = where or Where()
    problems = []
    for ladder in ladders[ladders["kind"] == "isoflop"].itertuples():
        column = str(ladder.params_column)
        own = runs[runs["ladder"] == ladder.ladder]
        problems += [
            f"{where.row('runs', row)}: {column} is empty; "
            f"ladder {ladder.ladder} sizes its runs by it."
            for row in own.index[own[column].isna()]
        ]
    return problems


def _read_column(cells: pd.Series, column: Column, mistakes: Mistakes) -> pd.Series:
    """Typed column; each cell that is not what it must be is noted."""
    must = f"it must be {_expected(column)}"
    numbers = pd.api.types.is_numeric_dtype(cells)
    empty = cells.isna() if numbers else cells.str.strip() == ""
    mistakes.add_cells(cells, empty & column.required, f"{column.name} is empty; {must}.")
    if column.kind in ("number", "integer"):
        return _read_numbers(cells, empty, column, mistakes)
    typed, wrong = cells.mask(empty), pd.Series(data=False, index=cells.index)
    if column.kind == "flag":
        wrong = ~cells.isin(FLAGS)
        typed = cells.map(FLAGS).mask(wrong, other=False).astype(bool)
    elif column.choices:
        wrong = ~cells.isin(column.choices)
    elif column.kind == "date":
        wrong = ~cells.str.fullmatch(DATE_PATTERN)
    mistakes.add_cells(cells, wrong & ~empty, f"{column.name} is {{}}; {must}.")
    return typed


def _read_numbers(
    cells: pd.Series, empty: pd.Series, column: Column, mistakes: Mistakes
) -> pd.Series:
    numbers = pd.to_numeric(cells, errors="coerce").astype("float64")
    unread = numbers.isna() & ~empty
    infinite = numbers.abs().eq(np.inf)
    if unread.any():
        infinite |= unread & cells.str.strip().str.lower().isin(["nan", "-nan"])
    wrong = unread & ~infinite
    if column.above is not None:
        wrong |= numbers <= column.above
    if column.at_least is not None:
        wrong |= numbers < column.at_least
    if column.at_most is not None:
        wrong |= numbers > column.at_most
    if column.kind == "integer":
        wrong |= (numbers.abs() >= _TOO_LARGE) | ((numbers % 1) != 0)
    name, must = column.name, _expected(column)
    mistakes.add_cells(cells, infinite, f"{name} is {{}}; it must be a finite number.")
    mistakes.add_cells(cells, wrong & ~empty & ~infinite, f"{name} is {{}}; it must be {must}.")
    if column.kind == "integer":
        return numbers.mask(wrong | infinite).astype("Int64")
    return numbers


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
    return f"a {noun}" + "".join(f", {limit}" for limit in limits if limit)


def _check_duplicates(frame: pd.DataFrame, table: Table, mistakes: Mistakes) -> None:
    key = list(table.key) or list(frame.columns)
    repeats = frame.duplicated(key).to_numpy()
    if not repeats.any():
        return
    rows = pd.Series(frame.index.to_numpy(), index=frame.index)
    first = rows.groupby([frame[name] for name in key], dropna=False, sort=False).transform("min")
    same = f"has the same {', '.join(table.key)} as"
    if not table.key:
        same = "is the same in every column as"
    for row in frame.index[repeats][:SHOWN_AT_MOST]:
        words = f"row {row} {same} row {first[row]}; remove one of them."
        mistakes.found.append((row, f"{mistakes.file} {words}"))
    mistakes.unlisted += max(0, int(repeats.sum()) - SHOWN_AT_MOST)
