"""Rows that a frozen forecast follows from: held in its file, taken up again, compared."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from delphi_core.checks import check_table
from delphi_core.errors import DataError
from delphi_core.frozen_file import checksum
from delphi_core.snapshot import Snapshot
from delphi_core.snapshot_diff import TableDiff, diff_table
from delphi_core.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from delphi_core.frozen_file import Part
    from delphi_core.schema import Column, Table

Rows = dict[str, pd.DataFrame]
"""Typed rows by table, of the columns that count, indexed as in the snapshot they are from."""

MOST_ROWS = 10_000
"""Of a file; the hero's forecast without a subset, the largest there is, has 1,178."""
_DTYPES = {"number": "float64", "integer": "Int64", "flag": "bool", "text": "str", "date": "str"}


def part_of(table: str, *columns: str) -> Table:
    """Declaration of some columns of a table.

    Parameters
    ----------
    table
        Its name.
    *columns
        Those that a forecast hangs on, the key's among them.
    """
    whole = TABLES[table]
    kept = tuple(column for column in whole.columns if column.name in columns)
    return replace(whole, columns=kept, references=())


def cut(rows: pd.DataFrame, table: Table) -> pd.DataFrame:
    """The columns of rows that a declaration names."""
    return rows[list(table.column_names)]


def held(rows: Rows) -> dict[str, Any]:
    """Rows as a file holds them: columns, cells and their sha256, by table."""
    found = {}
    for name, frame in rows.items():
        cells = frame.astype(object).where(frame.notna(), None)
        lists = [list(row) for row in cells.itertuples(index=False, name=None)]
        content = {"columns": [str(column) for column in frame.columns], "rows": lists}
        found[name] = {"sha256": checksum(content), **content}
    return found


def taken_up(part: Part, tables: Mapping[str, Table]) -> Rows:
    """Rows out of a file, checked as those of any snapshot are.

    Parameters
    ----------
    part
        What `held` gave.
    tables
        Declarations of the tables it must hold.

    Raises
    ------
    DataError
        A table or column is missing or unknown, or a cell is not what it must be.
    """
    if set(part.names) != set(tables):
        raise part.wrong(f"must hold the tables {', '.join(tables)}")
    if sum(len(part.part(name).lists("rows")) for name in tables) > MOST_ROWS:
        raise part.wrong(f"must hold no more than {MOST_ROWS:,} rows")
    found, problems, unlisted = {}, [], 0
    for name, table in tables.items():
        own = part.part(name)
        if own.texts("columns") != list(table.column_names):
            raise own.wrong(f"must have the columns {', '.join(table.column_names)}")
        rows = own.lists("rows", len(table.columns))
        cells = {
            column.name: _cells(own, column, [row[place] for row in rows])
            for place, column in enumerate(table.columns)
        }
        index = pd.RangeIndex(1, len(rows) + 1)
        frame, mistakes = check_table(pd.DataFrame(cells).set_axis(index), table, own.where)
        found[name] = frame.reset_index(drop=True)
        problems += mistakes.sentences
        unlisted += mistakes.unlisted
    if problems:
        raise DataError(problems, unlisted)
    return found


def snapshot_of_rows(rows: Rows) -> Snapshot:
    """A snapshot that holds these rows and nothing else; cells of other columns are missing."""
    tables = {}
    for name, table in TABLES.items():
        own = rows.get(name, pd.DataFrame()).reset_index(drop=True)
        columns = {
            column.name: own[column.name]
            if column.name in own
            else pd.Series(None, index=own.index, dtype=_DTYPES[column.kind])
            for column in table.columns
        }
        tables[name] = pd.DataFrame(columns)
    return Snapshot("rows of a file", "", tables)


def changes(then: Rows, now: Rows, tables: Mapping[str, Table]) -> list[TableDiff]:
    """The tables whose rows differ; that rows stand in another order is no difference."""
    diffs = (diff_table(then[name], now[name], table) for name, table in tables.items())
    return [diff for diff in diffs if not replace(diff, reordered=False).same]


def change_lines(diffs: Sequence[TableDiff], most: int) -> list[str]:
    """Rows that differ, one a line: table, row, what it is, and old and new values.

    Parameters
    ----------
    diffs
        As `changes` gives them.
    most
        How many lines a table may have; further rows are counted.
    """
    lines = []
    for diff in diffs:
        name = diff.table.name
        own = [
            f"{name} row {place + 2} ({_shown(*key.values())}): "
            + "; ".join(
                f"{column} was {_shown(old)}, is {_shown(new)}"
                for column, (old, new) in columns.items()
            )
            for place, (key, columns) in zip(diff.after.index, diff.changes(), strict=True)
        ]
        for frame, words in ((diff.removed, "is no longer there"), (diff.added, "is new")):
            rows = frame[diff.key].itertuples(index=False, name=None)
            own += [f"{name}: the row of {_shown(*row)} {words}" for row in rows]
        lines += own[:most]
        if len(own) > most:
            lines.append(f"{name}: and {len(own) - most:,} more rows; --json has all")
    return lines


def _cells(own: Part, column: Column, cells: list[Any]) -> pd.Series:
    """Cells of a column as `check_table` takes them: numbers as they are, others as text."""
    if column.kind in ("number", "integer"):
        if any(isinstance(cell, (bool, str)) for cell in cells):
            raise own.wrong(f"must have numbers as {column.name}")
        return pd.Series(cells, dtype="float64")
    if column.kind == "flag":
        if not all(isinstance(cell, bool) for cell in cells):
            raise own.wrong(f"must have true or false as {column.name}")
        return pd.Series([str(cell) for cell in cells], dtype="str")
    if not all(cell is None or isinstance(cell, str) for cell in cells):
        raise own.wrong(f"must have texts as {column.name}")
    return pd.Series(["" if cell is None else cell for cell in cells], dtype="str")


def _shown(*cells: Any) -> str:
    words = ["(empty)" if pd.isna(cell) else str(cell) for cell in cells]
    return ", ".join("".join(c if c.isprintable() else "?" for c in word) for word in words)
