"""CSV files as text, row by row.

Rows are numbered as an editor or a spreadsheet shows them: the header is row 1.
"""

from __future__ import annotations

import csv
import io

import pandas as pd

from delphi_core.errors import DataError

_BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")


def read_csv_text(data: bytes, name: str) -> pd.DataFrame:
    """Cells of a CSV file as text, indexed by the row they end on.

    Parameters
    ----------
    data
        Content of the file: UTF-8, comma-separated, with a header.
    name
        How messages call the file.

    Returns
    -------
    DataFrame of str
        Empty cells are empty texts; blank lines are skipped; the index counts the header as 1.

    Raises
    ------
    DataError
        Not UTF-8, empty, no rows, a repeated column, or a row with too few or too many cells.
    """
    reader = csv.reader(io.StringIO(_decode(data, name), newline=""), strict=True)
    numbered: list[tuple[int, list[str]]] = []
    try:
        header = next(reader, [])
        numbered.extend((reader.line_num, cells) for cells in reader if cells)
    except csv.Error as error:
        sentence = f"{name} row {reader.line_num}: not readable as CSV ({error}); check its quotes."
        raise DataError([sentence]) from None
    if not any(header):
        raise DataError([f"{name} is empty; it must begin with a header row."])
    repeated = sorted({column for column in header if header.count(column) > 1})
    if repeated:
        raise DataError(
            [f"{name} names column {quoted(c)} twice; keep one." for c in repeated[:10]]
        )
    if not numbered:
        raise DataError([f"{name} has a header but no rows; add at least one."])
    width = len(header)
    ragged = [
        f"{name} row {row}: {len(cells)} cells where the header has {width}; "
        "check its commas and quotes."
        for row, cells in numbered
        if len(cells) != width
    ]
    if ragged:
        raise DataError(ragged)
    return pd.DataFrame(
        [cells for _, cells in numbered],
        columns=header,
        index=pd.Index([row for row, _ in numbered], name="row"),
        dtype="str",
    )


def quoted(value: object) -> str:
    """Cell as a message may show it: escaped, and short."""
    shown = repr(str(value))
    return shown if len(shown) <= 60 else shown[:57] + "...'"


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
