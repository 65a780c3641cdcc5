"""CSV for people: a spreadsheet that opens it shows its texts and never runs them.

Spreadsheets take a text that begins with = + - @ (or a tab or line break before one) for a
formula, and labels, run names and metrics come from whoever made a file. Such texts get an
apostrophe before them, as OWASP's page on CSV injection has it; numbers are never touched.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
    texts = [
        name
        for name, dtype in table.dtypes.items()
        if pd.api.types.is_object_dtype(dtype) or pd.api.types.is_string_dtype(dtype)
    ]
    safe = table.assign(**{str(name): table[name].map(_marked) for name in texts})
    # Lines end as RFC 4180 has it: with a bare line feed a carriage return in a cell would stand
    # unquoted and break its row.
    return safe.to_csv(index=False, lineterminator="\r\n", header=header)


def unmarked(cells: pd.Series) -> pd.Series:
    """Texts of a column as they were before `spreadsheet_csv`; missing cells stay missing."""
    return cells.map(
        lambda cell: cell[1:] if isinstance(cell, str) and _MARKED.match(cell) else cell
    )


def _marked(cell: object) -> object:
    """A cell as a spreadsheet may have it. Apostrophes count as well, so that it can be undone."""
    return f"'{cell}" if isinstance(cell, str) and _RUN.match(cell) else cell
