"""Tables as pages show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import streamlit as st

from delphi_core.spreadsheet import marked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from streamlit.elements.lib.column_types import ColumnConfig


def show_table(
    table: pd.DataFrame,
    columns: Sequence[str],
    config: Mapping[str, ColumnConfig],
    *,
    key: str,
    alt: str,
    height: Literal["auto", "content"] = "auto",
) -> None:
    """Show columns of a table, without those that hold nothing.

    Parameters
    ----------
    table
        The rows; a column that it does not have holds nothing.
    columns
        In the order shown.
    config
        How each is headed and formatted.
    key, alt
        Of the table, and what assistive technology calls it.
    height
        content: as high as its rows.
    """
    shown = table.reindex(columns=list(columns))
    empty = [name for name in columns if shown[name].isna().all()]
    st.dataframe(
        marked(shown.drop(columns=empty)),
        key=key,
        hide_index=True,
        column_config=dict(config),
        placeholder="–",
        alt=alt,
        height=height,
    )
