"""What differs between two snapshots: tables, and rows by the table's key."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from delphi_core.plain_rows import plain_rows
from delphi_core.snapshot_rows import differ, places_of
from delphi_core.tables import TABLES
from delphi_core.words import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd

    from delphi_core.schema import Table
    from delphi_core.snapshot import Snapshot


@dataclass(frozen=True, eq=False)
class TableDiff:
    """Rows of one table that differ.

    Attributes
    ----------
    table
        Its declaration; where it has no key, a row is known by all its cells.
    removed, added
        Rows that only the first and only the second snapshot has.
    before, after
        Rows of the same key with different cells, as the first and as the second has them.
    reordered
        Whether the rows that both have stand in another order.
    """

    table: Table
    removed: pd.DataFrame
    added: pd.DataFrame
    before: pd.DataFrame
    after: pd.DataFrame
    reordered: bool

    @property
    def key(self) -> list[str]:
        """Columns that a row is known by."""
        return list(self.table.key or self.table.column_names)

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return not (len(self.removed) or len(self.added) or len(self.before) or self.reordered)

    def changes(self) -> Iterator[tuple[dict[str, Any], dict[str, tuple[Any, Any]]]]:
        """Key, and old and new cell of each column that differs, of every changed row."""
        rows = zip(plain_rows(self.before), plain_rows(self.after), strict=True)
        for old, new in rows:
            columns = {name: (old[name], new[name]) for name in old if old[name] != new[name]}
            yield {name: old[name] for name in self.key}, columns


def diff_snapshots(first: Snapshot, second: Snapshot) -> list[TableDiff]:
    """The tables that differ, in the order of `TABLES`.

    Parameters
    ----------
    first, second
        The snapshots; numbers are compared, however they are written.
    """
    diffs = (
        diff_table(first.tables[name], second.tables[name], table) for name, table in TABLES.items()
    )
    return [diff for diff in diffs if not diff.same]


def diff_table(first: pd.DataFrame, second: pd.DataFrame, table: Table) -> TableDiff:
    """What differs between two typed tables.

    Parameters
    ----------
    first, second
        The tables, without duplicates.
    table
        Their declaration.
    """
    partner = places_of(first, second, table)
    kept = partner >= 0
    before, after = first[kept], second.iloc[partner[kept]]
    changed = differ(before, after)
    return TableDiff(
        table=table,
        removed=first[~kept],
        added=second[places_of(second, first, table) < 0],
        before=before[changed],
        after=after[changed],
        reordered=bool((np.diff(partner[kept]) < 0).any()),
    )


def diff_document(diffs: Sequence[TableDiff]) -> dict[str, Any]:
    """Everything that differs, as JSON holds it: table to its rows."""
    return {
        diff.table.name: {
            "added": plain_rows(diff.added),
            "removed": plain_rows(diff.removed),
            "changed": [
                {"key": key, "columns": {name: list(cells) for name, cells in columns.items()}}
                for key, columns in diff.changes()
            ],
            "reordered": diff.reordered,
        }
        for diff in diffs
    }


def diff_text(diffs: Sequence[TableDiff], lines: int) -> str:
    """What differs, for people to read.

    Parameters
    ----------
    diffs
        As `diff_snapshots` gives them; at least one.
    lines
        How many rows of a table are shown; the others are counted.
    """
    return "\n".join(line for diff in diffs for line in _table_lines(diff, lines))


def _table_lines(diff: TableDiff, lines: int) -> Iterator[str]:
    rows = {"changed": len(diff.before), "added": len(diff.added), "removed": len(diff.removed)}
    counts = [f"{number:,} {what}" for what, number in rows.items() if number]
    if diff.reordered:
        counts.append("rows in another order")
    yield f"{diff.table.name}: {', '.join(counts)}"
    yield from (f"  {line}" for line in islice(_row_lines(diff), lines))
    if (more := sum(rows.values()) - lines) > 0:
        yield f"  and {count(more, 'more row')}; --json has all"


def _row_lines(diff: TableDiff) -> Iterator[str]:
    for key, columns in diff.changes():
        cells = "; ".join(
            f"{name} {_cell(old)} -> {_cell(new)}" for name, (old, new) in columns.items()
        )
        yield f"changed {_named(key)}: {cells}"
    for what, frame in (("added", diff.added), ("removed", diff.removed)):
        for row in plain_rows(frame[diff.key]):
            yield f"{what} {_named(row)}"


def _named(key: dict[str, Any]) -> str:
    return ", ".join(_cell(cell) for cell in key.values() if cell is not None)


def _cell(cell: object) -> str:
    return "(empty)" if cell is None else "".join(c if c.isprintable() else "?" for c in str(cell))
