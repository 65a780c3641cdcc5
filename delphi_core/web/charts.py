"""Charts as pages show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from delphi_core.web.view_state import ZOOM
from delphi_core.web.zoom import listen_to_zoom, zoomed

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
    zoom: bool = False,
    **options: Any,
) -> Any:
    """Show a chart; what Streamlit says of its selection.

    Parameters
    ----------
    figure
        The chart.
    view
        What it shows.
    key, alt
        Of the chart, and what it says in words.
    place
        A container; by default the page.
    zoom
        Whether what a visitor zooms to is a part of the view; one chart a page.
    **options
        Passed on to `st.plotly_chart`.
    """
    if zoom and getattr(view, ZOOM):
        # The figure may be one that all visitors share.
        figure = zoomed(figure, getattr(view, ZOOM))
    shown = (place or st).plotly_chart(figure, key=key, alt=alt, **options)
    if zoom:
        listen_to_zoom(key)
    return shown
