"""CSV files as text, row by row.

A row is numbered by the line of the file that it ends on, the header being row 1.
"""

from __future__ import annotations

import csv
import io
from collections import Counter

import pandas as pd

from delphi_core.errors import SHOWN_AT_MOST, DataError, quoted

_BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
_OTHER_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}


def read_csv_text(data: bytes, name: str, *, may_be_empty: bool = False) -> pd.DataFrame:
    """Cells of a CSV file as text, indexed by row number.

    Parameters
    ----------
    data
        Content of the file: UTF-8, comma-separated, with a header.
    name
        How messages call the file.
    may_be_empty
        Whether a header without rows is fine.

    Returns
    -------
    DataFrame of str
        Empty cells are empty texts; blank lines are skipped.

    Raises
    ------
    DataError
        Not UTF-8, empty, no rows, a repeated column, or a row with too few or too many cells.
    """
    header, numbered = _read_rows(_decode(data, name), name)
    if not header:
        raise DataError([f"{name} is empty; it must begin with a header row."])
    repeated = [column for column, times in Counter(header).items() if times > 1]
    if repeated:
        raise DataError([f"{name} names column {quoted(c)} twice; keep one." for c in repeated])
    if not numbered and not may_be_empty:
        raise DataError([f"{name} has a header but no rows; add at least one."])
    width = len(header)
    ragged = [(row, len(cells)) for row, cells in numbered if len(cells) != width]
    if ragged:
        sentences = [
            f"{name} row {row}: {cells} cells where the header has {width}; "
            "check its commas and quotes."
            for row, cells in ragged[:SHOWN_AT_MOST]
        ]
        raise DataError(sentences, unlisted=len(ragged) - len(sentences))
    return pd.DataFrame(
        [cells for _, cells in numbered],
        columns=header,
        index=pd.Index([row for row, _ in numbered], name="row", dtype="int64"),
        dtype="str",
    )


def _read_rows(text: str, name: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Header, and each later row with its number; blank lines are skipped."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next((cells for cells in reader if any(cells)), [])
        for separator, plural in _OTHER_SEPARATORS.items():
            if len(header) == 1 and separator in header[0]:
                raise DataError([f"{name} separates its cells by {plural}; save it with commas."])
        return header, [(reader.line_num, cells) for cells in reader if cells]
    except csv.Error as error:
        sentence = f"{name} row {reader.line_num}: not readable as CSV ({error}); check its quotes."
        raise DataError([sentence]) from None


def _decode(data: bytes, name: str) -> str:
    if data.startswith(_BYTE_ORDER_MARKS):
        raise DataError([f"{name} is UTF-16 or UTF-32 text; save it as CSV in UTF-8."])
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        sentence = f"{name} row {row}: not UTF-8 text; save the file as CSV in UTF-8."
        raise DataError([sentence]) from None
    if "\0" in text:
        row = text.count("\n", 0, text.index("\0")) + 1
        raise DataError([f"{name} row {row}: holds a NUL byte; save the file as CSV in UTF-8."])
    return text
