"""CSV for people: a spreadsheet that opens it shows its texts and never runs them.

Spreadsheets take a text that begins with = + - @ (or a tab or line break before one) for a
formula, and labels, run names and metrics come from whoever made a file. Such texts get an
apostrophe before them, as OWASP's page on CSV injection has it; numbers are never touched.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

CHUNK = 20_000
"""Rows that are made into text at once."""

_RUN = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")
_MARKED = re.compile(r"'+[=+\-@\t\r\n＝＋－＠]")


def spreadsheet_csv(table: pd.DataFrame, columns: Sequence[str] | None = None) -> str:
    """A table as CSV, every number at full precision and no text that would be run.

    Parameters
    ----------
    table
        Any.
    columns
        Which columns, in which order; all by default.
    """
    chosen = table if columns is None else table[list(columns)]
    return "".join(spreadsheet_chunks(chosen))


def spreadsheet_chunks(table: pd.DataFrame, rows: int = CHUNK) -> Iterator[str]:
    """The same CSV in parts, each made when it is asked for.

    Parameters
    ----------
    table
        Any.
    rows
        In each part; the first has the header as well.
    """
    for start in range(0, max(len(table), 1), rows):
        yield _csv(table.iloc[start : start + rows], header=start == 0)


def _csv(table: pd.DataFrame, *, header: bool) -> str:
    safe = marked(table)
    # Lines end as RFC 4180 has it: with a bare line feed a carriage return in a cell would stand
    # unquoted and break its row.
    return safe.to_csv(index=False, lineterminator="\r\n", header=header)


def marked(table: pd.DataFrame) -> pd.DataFrame:
    """A table without texts that a spreadsheet would run; pages' grids have a download, too.

    Parameters
    ----------
    table
        Any; it is not changed.
    """
    changed: dict[str, pd.Series] = {}
    for name, dtype in table.dtypes.items():
        if pd.api.types.is_object_dtype(dtype):
            # Lists among the cells have no hash.
            texts = {cell for cell in table[name] if isinstance(cell, str)}
        elif pd.api.types.is_string_dtype(dtype):
            # Columns of a million rows hold few different texts.
            texts = set(table[name].dropna().unique())
        else:
            continue
        # Apostrophes count as well, so that the mark can be taken off again.
        to = {text: f"'{text}" for text in texts if _RUN.match(text)}
        if to:
            changed[str(name)] = table[name].map(partial(_marked, to))
    return table.assign(**changed) if changed else table


def _marked(to: Mapping[str, str], cell: object) -> object:
    return to.get(cell, cell) if isinstance(cell, str) else cell


def unmarked(cells: pd.Series) -> pd.Series:
    """Texts of a column as they were before `spreadsheet_csv`; missing cells stay missing."""
    return cells.map(
        lambda cell: cell[1:] if isinstance(cell, str) and _MARKED.match(cell) else cell
    )
