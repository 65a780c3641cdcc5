"""Charts as pages show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from streamlit.delta_generator import DeltaGenerator

    from delphi_core.web.view_state import ViewState


def show_chart(
    figure: go.Figure,
    view: ViewState,
    *,
    key: str,
    alt: str,
    place: DeltaGenerator | None = None,
    **options: Any,
) -> Any:
    """Show a chart; what Streamlit says of its selection.

    Parameters
    ----------
    figure
        The chart.
    view
        What it shows: new figures of the same view leave the visitor's zoom as it is.
    key, alt
        Of the chart, and what it says in words.
    place
        A container; by default the page.
    **options
        Passed on to `st.plotly_chart`.
    """
    figure.update_layout(uirevision=repr(view))
    return (place or st).plotly_chart(figure, key=key, alt=alt, **options)
