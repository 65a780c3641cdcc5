"""Rows of a table as JSON holds them."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd


def plain_rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of a table, ready for JSON: what is missing or infinite is None."""
    cells = table.astype(object).where(table.notna(), None)
    finite = cells.map(lambda cell: not isinstance(cell, float) or isfinite(cell))
    rows = cells.where(finite, None).to_dict("records")
    return [{str(name): value for name, value in row.items()} for row in rows]
