"""Tables as Parquet files: what large tables of a snapshot are kept in."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from delphi_core.errors import DataError, quoted
from delphi_core.manifest import MANIFEST, said

if TYPE_CHECKING:
    from delphi_core.schema import Column, Table

_TYPES = {
    "text": "string",
    "date": "string",
    "number": "double",
    "integer": "int64",
    "flag": "bool",
}


def read_parquet(data: bytes, table: Table, name: str, rows: object = None) -> pd.DataFrame:
    """Cells of a Parquet file, indexed by row number, the first row being row 1.

    Parameters
    ----------
    data
        Content of the file.
    table
        What it should hold; of columns that it does not name only the name is read.
    name
        How messages call the file.
    rows
        How many rows it should have, where that is known: a file that has another number is not
        read any further.

    Returns
    -------
    DataFrame
        Numbers and integers as float64, NaN where there is none; all else as str, as a CSV file
        would have it. For `checks.check_table`.

    Raises
    ------
    DataError
        It is no Parquet file, it is damaged, or a column holds another type.
    """
    try:
        file = pq.ParquetFile(io.BytesIO(data))
        found = file.metadata.num_rows
        if rows is not None and found != rows:
            raise DataError([f"{name} has {found} rows where {MANIFEST} says {said(rows)}."])
        problems = _type_problems(file.schema_arrow, table, name)
        if problems:
            raise DataError(problems)
        content = file.read(columns=list(table.column_names))
        content.validate(full=True)
        cells = {
            column.name: _cells(content.column(column.name), column)
            for column in table.columns
            if column.name in content.column_names
        }
    except (pa.ArrowException, OSError, ValueError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError([f"{name} is not a readable Parquet file; write it anew."]) from None
    others = [column for column in file.schema_arrow.names if column not in cells]
    index = pd.RangeIndex(1, found + 1, name="row")
    return pd.DataFrame({**cells, **dict.fromkeys(others, "")}).set_axis(index)


def write_parquet(frame: pd.DataFrame, table: Table) -> bytes:
    """Parquet file of a typed table; the same table gives the same bytes.

    Parameters
    ----------
    frame
        As `checks.check_table` gives it.
    table
        Its declaration.
    """
    schema = pa.schema(
        [(column.name, pa.type_for_alias(_TYPES[column.kind])) for column in table.columns]
    )
    arrays = [pa.array(frame[field.name], type=field.type, from_pandas=True) for field in schema]
    sink = io.BytesIO()
    pq.write_table(pa.table(arrays, schema=schema), sink, compression="zstd")
    return sink.getvalue()


def _type_problems(schema: pa.Schema, table: Table, name: str) -> list[str]:
    """Columns whose type is not what the table's declaration wants."""

    def fits(column: Column) -> bool:
        kind = schema.field(column.name).type
        if column.kind in ("number", "integer"):
            return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))
        if column.kind == "flag":
            return bool(pa.types.is_boolean(kind))
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))

    problems = []
    names = list(schema.names)
    repeated = sorted({column for column in names if names.count(column) > 1})
    if repeated:
        return [f"{name} names column {quoted(column)} twice; keep one." for column in repeated]
    for column in table.columns:
        if column.name in names and not fits(column):
            held = schema.field(column.name).type
            wanted = _TYPES[column.kind]
            problems.append(
                f"{name}: column {column.name!r} holds {held} where {wanted} is wanted; "
                f"write it as {wanted}."
            )
    return problems


def _cells(array: pa.ChunkedArray, column: Column) -> pd.Series:
    """One column as pandas has it."""
    if column.kind in ("number", "integer"):
        # Whole numbers too large for a float to tell apart are refused by the checks.
        return pd.Series(array.cast(pa.float64(), safe=False).to_numpy())
    return pd.Series(array.cast(pa.string()).fill_null("").to_pandas(), dtype="str")
