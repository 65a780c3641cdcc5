"""A CSV file of records: a download of this project, or a ladder of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from delphi_core.checks import check_table
from delphi_core.csv_text import read_csv_text
from delphi_core.errors import DataError
from delphi_core.records import RECORDS
from delphi_core.spreadsheet import unmarked

if TYPE_CHECKING:
    import pandas as pd


def read_records(path: str | Path) -> pd.DataFrame:
    """Records of a CSV file, checked.

    Parameters
    ----------
    path
        File with the columns tokens, metric, value, flops, params and label; the other columns
        of `records.RECORDS` are checked where present, and any more are kept as text.

    Returns
    -------
    DataFrame
        One row a record, in file order.

    Raises
    ------
    DataError
        The file cannot be read, or holds mistakes: one sentence each.
    """
    name = shown_name(path)
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise DataError([f"{name} cannot be read: {reason}."]) from None
    return parse_records(data, name)


def shown_name(path: str | Path) -> str:
    """A file's name as messages call it: line breaks and terminal codes are replaced."""
    return "".join(c if c.isprintable() else "?" for c in Path(path).name) or "the file"


def parse_records(data: bytes, name: str) -> pd.DataFrame:
    """Records of the content of a CSV file, as `read_records` gives them.

    Parameters
    ----------
    data
        Content of the file.
    name
        How messages call it.

    Raises
    ------
    DataError
        The content holds mistakes: one sentence each.
    """
    return numbered_records(data, name).reset_index(drop=True)


def numbered_records(
    data: bytes,
    name: str,
    *,
    rows_at_most: int | None = None,
    columns_at_most: int | None = None,
) -> pd.DataFrame:
    """The same, indexed by row number, the header being row 1.

    Parameters
    ----------
    data, name
        As `parse_records` takes them.
    rows_at_most, columns_at_most
        A file that has more is refused; None for any number.
    """
    cells = read_csv_text(
        data, name, rows_at_most=rows_at_most, columns_at_most=columns_at_most
    ).apply(unmarked)
    frame, mistakes = check_table(cells, RECORDS, name, others=True)
    mistakes.raise_any()
    return frame
