"""A table as JSON: what is known of it, and its rows, made part by part."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from delphi_core.plain_rows import plain_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd

CHUNK = 5_000
"""Rows that are made into text at once."""


def json_chunks(
    metadata: Mapping[str, Any], table: pd.DataFrame, rows: int = CHUNK
) -> Iterator[str]:
    """JSON of ``{"metadata": ..., "rows": [...]}`` in parts, each made when it is asked for.

    Parameters
    ----------
    metadata
        What is known of the table, ready for JSON.
    table
        Any; a row becomes an object, and what is missing or infinite null.
    rows
        In each part.
    """
    yield f'{{"metadata": {json_line(metadata)},\n"rows": ['
    for start in range(0, len(table), rows):
        lines = [json_line(row) for row in plain_rows(table.iloc[start : start + rows])]
        yield ("," if start else "") + "\n" + ",\n".join(lines)
    yield "\n]}\n"


def json_line(value: Any) -> str:
    """A value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain)


def _plain(value: Any) -> Any:
    """A numpy number as Python's own."""
    return value.item()
