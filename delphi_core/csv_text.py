"""CSV files as text, row by row.

A row is numbered by the line of the file that it ends on, the header being row 1.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from itertools import islice

import pandas as pd

from delphi_core.errors import SHOWN_AT_MOST, DataError, quoted

_BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
_OTHER_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}
_OTHER_KINDS = {
    b"PK\x03\x04": "a ZIP archive or an Excel workbook",
    b"\x1f\x8b": "compressed by gzip",
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"GIF8": "a GIF picture",
    b"%PDF": "a PDF document",
    b"PAR1": "a Parquet file",
}
"""First bytes of files that are called .csv and are none, and what they are."""


def read_csv_text(
    data: bytes,
    name: str,
    *,
    may_be_empty: bool = False,
    rows_at_most: int | None = None,
    columns_at_most: int | None = None,
) -> pd.DataFrame:
    """Cells of a CSV file as text, indexed by row number.

    Parameters
    ----------
    data
        Content of the file: UTF-8, comma-separated, with a header.
    name
        How messages call the file.
    may_be_empty
        Whether a header without rows is fine.
    rows_at_most, columns_at_most
        Of more no more are read; None for any number.

    Returns
    -------
    DataFrame of str
        Empty cells are empty texts; blank lines are skipped.

    Raises
    ------
    DataError
        Not UTF-8, empty, no rows, a repeated column, a row with too few or too many cells, or
        more than was to be read.
    """
    header, numbered = _read_rows(_decode(data, name), name, rows_at_most)
    if columns_at_most is not None and len(header) > columns_at_most:
        sentence = f"{name} has {len(header):,} columns; at most {columns_at_most:,} are read."
        raise DataError([f"{sentence} Leave out those that say nothing of a run."])
    if rows_at_most is not None and len(numbered) > rows_at_most:
        sentence = f"{name} has more than {rows_at_most:,} rows; no more are read."
        raise DataError([f"{sentence} Leave out metrics or runs."])
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


def _read_rows(
    text: str, name: str, at_most: int | None
) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Header, and each later row with its number; blank lines are skipped.

    Reading ends with the first row of too many: a hostile file must not fill the memory.
    """
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next((cells for cells in reader if any(cells)), [])
        for separator, plural in _OTHER_SEPARATORS.items():
            if len(header) == 1 and separator in header[0]:
                raise DataError([f"{name} separates its cells by {plural}; save it with commas."])
        rows = ((reader.line_num, cells) for cells in reader if cells)
        return header, list(islice(rows, None if at_most is None else at_most + 1))
    except csv.Error as error:
        sentence = f"{name} row {reader.line_num}: not readable as CSV ({error}); check its quotes."
        raise DataError([sentence]) from None


def _decode(data: bytes, name: str) -> str:
    for beginning, kind in _OTHER_KINDS.items():
        if data.startswith(beginning):
            raise DataError([f"{name} is {kind}, not text; save it as CSV in UTF-8."])
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
