"""What the Data page says in words: its headline, its caption, its file names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from delphi_core.errors import quoted
from delphi_core.own_ladders import SnapshotWithOwn
from delphi_core.web.messages import plain
from delphi_core.words import count

if TYPE_CHECKING:
    from delphi_core.own_ladders import OwnLadders
    from delphi_core.schema import Table
    from delphi_core.snapshot import Snapshot
    from delphi_core.web.data_view import DataView

FILTERS = {"ladder": "Ladder", "role": "Role", "metric": "Metric", "budget": "Budget (FLOP)"}
"""Labels of the filters."""


def table_name(table: str) -> str:
    """A table in the selector."""
    return table.replace("_", " ")


def filter_name(value: str) -> str:
    """A value of a filter in its selector."""
    return value or "all"


def sort_name(sort: str) -> str:
    """An order in its selector."""
    if not sort:
        return "as recorded"
    column = sort.removeprefix("-")
    return f"{column}, {'descending' if column != sort else 'ascending'}"


def headline(table: Table, shown: int, rows: int) -> str:
    """How many rows are shown, as a title in Markdown."""
    name = plain(table_name(table.name))
    if not rows:
        return f"The table of {name} is empty"
    if shown == rows:
        return f"All {count(rows, 'row')} of {name}" if rows > 1 else f"The one row of {name}"
    return f"{shown:,} of {count(rows, 'row')} of {name}"


def nothing(view: DataView) -> str:
    """Why no row is shown, in Markdown."""
    asked = [f"{name} {quoted(value)}" for name, value in view.filters.items() if name != "sort"]
    if not asked:
        return "This snapshot holds no row of this table."
    return plain(f"No row has {' and '.join(asked)}. Leave a filter out to see more.")


def caption(snapshot: Snapshot, table: Table) -> str:
    """What a row is, as of when, in Markdown."""
    row = f"One row: one {table.row}."
    return "  \n".join(plain(line) for line in (row, f"{snapshot.named}."))


def file_stem(view: DataView) -> str:
    """Name of the download of a view, without its ending."""
    filters = [value for name, value in view.filters.items() if name != "sort"]
    parts = [re.sub(r"[^A-Za-z0-9._-]+", "-", part) for part in (view.table, *filters)]
    return "_".join(parts)


def notebook_code(view: DataView, snapshot: Snapshot) -> str:
    """Python that gives the same rows."""
    filters = "".join(f", {name}={value!r}" for name, value in view.filters.items())
    load = "snapshot = dc.load_snapshot()\n"
    if isinstance(snapshot, SnapshotWithOwn):
        load += f"own = dc.read_own_ladders({snapshot.own.file!r}{_size(snapshot.own)})\n"
        load += "snapshot = dc.with_own_ladders(snapshot, own)\n"
    return (
        "import delphi_core as dc\n"
        f"{load}table = snapshot.tables[{view.table!r}]\n"
        f"rows = dc.filtered(table{filters})"
    )


def _size(own: OwnLadders) -> str:
    """The argument that says what the column params holds, where it is not the default."""
    return "" if own.size == "params" else f", size={own.size!r}"
