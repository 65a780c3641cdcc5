"""A CSV file of records: a download of this project, or a ladder of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from delphi_core.checks import check_table, typed_or_raise
from delphi_core.csv_text import read_csv_text
from delphi_core.errors import DataError
from delphi_core.records import RECORDS

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
    file = Path(path)
    try:
        data = file.read_bytes()
    except OSError as error:
        raise DataError([f"{file.name} cannot be read: {error.strerror}."]) from None
    return parse_records(data, file.name)


def parse_records(data: bytes, name: str) -> pd.DataFrame:
    """Records of the content of a CSV file, as `read_records` gives them.

    Parameters
    ----------
    data
        Content of the file.
    name
        How messages call it.
    """
    frame, problems = check_table(read_csv_text(data, name), RECORDS, name, others=True)
    return typed_or_raise(frame, problems)
