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
    from collections.abc import Sequence

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
    safe = marked(table if columns is None else table[list(columns)])
    # Lines end as RFC 4180 has it: with a bare line feed a carriage return in a cell would stand
    # unquoted and break its row.
    return safe.to_csv(index=False, lineterminator="\r\n")


def marked(table: pd.DataFrame) -> pd.DataFrame:
    """A table without texts that a spreadsheet would run; pages' grids have a download, too.

    Parameters
    ----------
    table
        Any; it is not changed.
    """
    changed: dict[str, pd.Series] = {}
    for name, dtype in table.dtypes.items():
        if not (pd.api.types.is_object_dtype(dtype) or pd.api.types.is_string_dtype(dtype)):
            continue
        # Columns of a million rows hold few different texts. Apostrophes count as well, so that
        # the mark can be taken off again.
        texts = [text for text in table[name].dropna().unique() if isinstance(text, str)]
        marks = {text: f"'{text}" for text in texts if _RUN.match(text)}
        if marks:
            changed[str(name)] = table[name].map(lambda cell, to=marks: to.get(cell, cell))
    return table.assign(**changed) if changed else table


def unmarked(cells: pd.Series) -> pd.Series:
    """Texts of a column as they were before `spreadsheet_csv`; missing cells stay missing."""
    return cells.map(
        lambda cell: cell[1:] if isinstance(cell, str) and _MARKED.match(cell) else cell
    )
