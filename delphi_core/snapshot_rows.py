"""Rows of a table from several sources, each with where it comes from; merged by key."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from delphi_core.checks import Where, check_table
from delphi_core.snapshot_write import as_text

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import numpy.typing as npt

    from delphi_core.checks import Mistakes
    from delphi_core.schema import Table


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of a table.

    Attributes
    ----------
    frame
        The typed table; numbered from 0.
    text
        The same as text, as its source writes it; None where that wrote no text.
    origin
        The file and row that each came from; columns file and row.
    """

    frame: pd.DataFrame
    text: pd.DataFrame | None
    origin: pd.DataFrame

    def as_text(self) -> pd.DataFrame:
        """Its cells as text."""
        return as_text(self.frame) if self.text is None else self.text

    def take(self, places: npt.NDArray[np.intp]) -> Rows:
        """The rows at these places, in their order."""

        def taken(part: pd.DataFrame) -> pd.DataFrame:
            return part.iloc[places].reset_index(drop=True)

        text = None if self.text is None else taken(self.text)
        return Rows(taken(self.frame), text, taken(self.origin))


@dataclass(frozen=True)
class Origins(Where):
    """How sentences call rows that come from several files: as the file each came from."""

    rows: Mapping[str, Rows] = field(default_factory=dict)

    def row(self, name: str, row: int) -> str:
        """The file and row that a row of a table came from."""
        file, line = self.rows[name].origin.iloc[row]
        return f"{file} row {line}"


def rows_of(cells: pd.DataFrame, table: Table, file: str) -> tuple[Rows, Mistakes]:
    """Rows of one file's cells, and their mistakes.

    Parameters
    ----------
    cells
        As `check_table` takes them.
    table
        What they should be.
    file
        How messages call the file.
    """
    frame, mistakes = check_table(cells, table, file)
    origin = pd.DataFrame({"file": file, "row": cells.index})
    written = [dtype == "str" for dtype in cells.dtypes]
    text = cells.reset_index(drop=True) if all(written) else None
    return Rows(frame.reset_index(drop=True), text, origin), mistakes


def no_rows(table: Table) -> Rows:
    """A table without rows."""
    cells = pd.DataFrame(columns=list(table.column_names), dtype="str")
    return rows_of(cells, table, f"{table.name}.csv")[0]


def merged(base: Rows, new: Rows, table: Table, but: Collection[str] = ()) -> Rows:
    """Rows of two sources: a later one takes the place of an earlier one with the same key.

    Parameters
    ----------
    base, new
        The earlier and the later rows, each without duplicates.
    table
        Their declaration. Without a key only identical rows are the same.
    but
        Columns that alone do not count: a row that differs in them only stays as it was, as does
        one whose numbers are merely written in another way.

    Returns
    -------
    Rows
        In the order of `base`, then what is new, in its order.
    """
    if new.frame.empty:
        return base
    before = len(base.frame)
    place = places_of(new.frame, base.frame, table)
    known = place >= 0
    compared = [name for name in table.column_names if name not in but]
    changed = known.copy()
    changed[known] = differ(
        base.frame[compared].iloc[place[known]], new.frame[compared].iloc[known]
    )
    take = np.arange(before)
    take[place[changed]] = before + np.flatnonzero(changed)
    take = np.concatenate([take, before + np.flatnonzero(~known)])
    both = pd.concat([base.frame, new.frame], ignore_index=True)
    text = None
    if base.text is not None or new.text is not None:
        text = pd.concat([base.as_text(), new.as_text()], ignore_index=True)
    origin = pd.concat([base.origin, new.origin], ignore_index=True)
    return Rows(both, text, origin).take(take)


def places_of(rows: pd.DataFrame, among: pd.DataFrame, table: Table) -> npt.NDArray[np.intp]:
    """Where rows stand among others, by the table's key; -1 where there is none of their key.

    Parameters
    ----------
    rows, among
        Typed rows, each without duplicates.
    table
        Their declaration; without a key only identical rows are the same.
    """
    both = pd.concat([among, rows], ignore_index=True)
    key = list(table.key or table.column_names)
    code = both.groupby(key, dropna=False, sort=False).ngroup().to_numpy()
    place = np.full(len(both), -1, dtype=np.intp)
    place[code[: len(among)]] = np.arange(len(among))
    return place[code[len(among) :]]


def differ(left: pd.DataFrame, right: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Which rows of two tables of one shape differ; nothing equals nothing."""
    one, other = left.reset_index(drop=True), right.reset_index(drop=True)
    same = (one == other).fillna(value=False) | (one.isna() & other.isna())
    return np.asarray(~same.to_numpy(dtype=bool).all(axis=1))
