"""How a table is declared: its columns with type, unit and limits, its key, its references."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["text", "number", "integer", "flag", "date"]


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    name
        As in the file's header.
    kind
        ``text``; ``number`` (finite float64); ``integer`` (whole number); ``flag`` (true or
        false); ``date`` (YYYY-MM or YYYY-MM-DD, kept as text).
    about
        What it holds, for the Data page and for messages.
    unit
        FLOP, tokens, parameters, ...; empty where there is none.
    required
        Whether a cell may not be empty.
    above
        Values must be greater than this.
    at_least, at_most
        Values must lie within, both ends included.
    choices
        The only texts allowed; empty for any.
    """

    name: str
    kind: Kind
    about: str
    unit: str = ""
    required: bool = True
    above: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reference:
    """Columns whose values another table must know.

    Attributes
    ----------
    columns
        In the table that refers.
    table
        The one that must know them.
    to
        Its columns, in the same order.
    listed
        Whether the last column holds several values, separated by spaces.
    """

    columns: tuple[str, ...]
    table: str
    to: tuple[str, ...]
    listed: bool = False


@dataclass(frozen=True)
class Table:
    """One table: its columns in order, what identifies a row, and what it refers to.

    Attributes
    ----------
    name
        The file's name without its ending.
    row
        What one row is.
    columns
        In file order.
    key
        Columns that together identify a row; empty: only identical rows are duplicates.
    references
        Values that other tables must know.
    """

    name: str
    row: str
    columns: tuple[Column, ...]
    key: tuple[str, ...] = ()
    references: tuple[Reference, ...] = ()

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the columns, in file order."""
        return tuple(column.name for column in self.columns)
