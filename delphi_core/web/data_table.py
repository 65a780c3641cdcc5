"""The Data page's table: every cell readable, with its unit, and nothing but web addresses linked.

The table's own search and download work on what is shown, so its column names carry the units;
full precision and raw numbers are what the page's CSV is for.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from delphi_core.spreadsheet import marked
from delphi_core.web.messages import plain

if TYPE_CHECKING:
    from delphi_core.schema import Column, Table

_LARGEST = 2**53
"""The grid cannot show larger numbers."""

_MANY = 20_000
"""Of more rows the browser gets only those in sight."""

_POWERS = {"FLOP": 18}
"""Powers of ten that units are shown in."""

_ADDRESS = r"https://[^\s<>\"\\]+"
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_SOURCE_URL = "source address"


def rows_table(table: Table, rows: pd.DataFrame, addresses: pd.Series) -> None:
    """Show rows of a table; many rows are sent to the browser as it scrolls.

    Parameters
    ----------
    table
        What the rows are.
    rows
        As `browse.filtered` gives them.
    addresses
        Address of each source, indexed by its key.
    """
    shown, config = readable(table, rows, addresses)
    st.dataframe(
        marked(shown),
        key=f"rows_{table.name}",
        hide_index=True,
        column_config=config,
        placeholder="–",
        lazy=len(rows) > _MANY or None,
        alt=f"Rows of the table {table.name}",
    )


def columns_table(table: Table) -> None:
    """Show what each column of a table holds."""
    columns = pd.DataFrame(
        {
            "column": [column.name for column in table.columns],
            "unit": [column.unit for column in table.columns],
            "what it holds": [column.about for column in table.columns],
            "type": [column.kind for column in table.columns],
            "may be empty": [not column.required for column in table.columns],
        }
    )
    st.dataframe(
        columns,
        key="columns",
        hide_index=True,
        column_config={"what it holds": st.column_config.TextColumn(width="large")},
        alt=f"Columns of the table {table.name}",
    )


def readable(
    table: Table, rows: pd.DataFrame, addresses: pd.Series
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Rows as the grid can show them, columns named with their units, and how it shows each."""
    shown: dict[str, pd.Series] = {}
    config: dict[str, Any] = {}
    for column in table.columns:
        values = rows[column.name]
        about = plain(column.about)
        if column.name == "url":
            _add_links(shown, config, "url", values, about)
        elif column.kind in ("number", "integer"):
            power = _power(values, column)
            label = _label(column, power)
            shown[label] = values / 10**power if power else values
            config[label] = st.column_config.NumberColumn(help=about, format=_format(column, power))
        else:
            shown[column.name] = values
            config[column.name] = st.column_config.Column(help=about)
    if "source" in rows and "url" not in rows:
        _add_links(shown, config, _SOURCE_URL, rows["source"].map(addresses), "page of the source")
    return pd.DataFrame(shown, index=rows.index), config


def _add_links(
    shown: dict[str, pd.Series], config: dict[str, Any], name: str, values: pd.Series, about: str
) -> None:
    """Add a column of links, and one of what is no web address, if there is any."""
    # Columns of a million rows hold few different addresses.
    known = [text for text in values.dropna().unique() if re.fullmatch(_ADDRESS, text)]
    links = values.where(values.isin(known))
    shown[name] = links
    config[name] = st.column_config.LinkColumn(help=about, width="large")
    others = values.mask(links.notna())
    if others.notna().any():
        shown[f"{name}, no link"] = others


def _power(values: pd.Series, column: Column) -> int:
    """Power of ten that a column is shown in."""
    power = _POWERS.get(column.unit, 0)
    largest = values.abs().max()
    while pd.notna(largest) and largest / 10**power > _LARGEST:
        power += 3
    return power


def _label(column: Column, power: int) -> str:
    # Tokens are counted in tokens, a step in steps.
    unit = "" if column.unit.startswith(column.name) else column.unit
    if power:
        unit = f"10{str(power).translate(_SUPERSCRIPTS)} {column.unit}".rstrip()
    return f"{column.name} ({unit})" if unit else column.name


def _format(column: Column, power: int) -> str:
    """Whole numbers with their thousands apart; others with eight digits."""
    whole = column.kind == "integer" or column.unit in ("tokens", "parameters", "steps")
    return "%,.0f" if whole and not power else "%.8g"
