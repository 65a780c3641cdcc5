"""Charts as pages show them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import streamlit as st

from delphi_core.figures.picture import picture_layout
from delphi_core.web.chart_listener import listen_to_chart
from delphi_core.web.opening import FINDING
from delphi_core.web.page_index import page_of
from delphi_core.web.page_words import as_of
from delphi_core.web.view_state import ZOOM, in_query
from delphi_core.web.zoom import zoomed

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from streamlit.delta_generator import DeltaGenerator

    from delphi_core.snapshot import Snapshot
    from delphi_core.web.view_state import ViewState

PICTURE_SCALE = 2
"""How much finer a saved picture is than it is laid out."""
LONGEST_NAME = 150
"""Letters of a picture's name before that of its chart."""


def show_chart(
    figure: go.Figure,
    snapshot: Snapshot,
    view: ViewState,
    *,
    key: str,
    alt: str,
    place: DeltaGenerator | None = None,
    zoom: bool = False,
    finding: str = "",
    source: str = "",
    **options: Any,
) -> Any:
    """Show a chart; what Streamlit says of its selection.

    Parameters
    ----------
    figure
        The chart.
    snapshot, view
        What it shows.
    key, alt
        Of the chart, and what it says in words.
    place
        A container; by default the page.
    zoom
        Whether what a visitor zooms to is a part of the view; one chart a page.
    finding, source
        What a picture of it is headed by, plain text, and how that is got; by default the page's
        heading, and how the view's numbers are got.
    **options
        Passed on to `st.plotly_chart`.
    """
    if zoom and getattr(view, ZOOM):
        # The figure may be one that all visitors share.
        figure = zoomed(figure, getattr(view, ZOOM))
    place = place or st.container()
    page = page_of(view)
    finding = finding or st.session_state.get(FINDING, "")
    if source:
        source = f"{source} {as_of(snapshot)}"
    elif page is not None:
        source = page.source(snapshot, view)
    picture = picture_layout(figure, finding, source)
    saved = {"filename": _file_name(view, key), "format": "png", "scale": PICTURE_SCALE}
    saved |= {side: picture.pop(side) for side in ("width", "height")}
    # A picture is saved at once: there is nothing to notify of.
    config = {"toImageButtonOptions": saved, "displayNotifier": False}
    shown = place.plotly_chart(figure, key=key, alt=alt, config=config, **options)
    with place:
        listen_to_chart(key, picture, zoom=zoom)
    return shown


def _file_name(view: ViewState, key: str) -> str:
    """Name of a view's picture, without its ending: what its link asks for is in it."""
    page = page_of(view)
    stem = "" if page is None else page.file_stem(view)
    asked = []
    for name in view.__dataclass_fields__:
        if name in st.query_params and name not in ("tab", ZOOM):
            value = re.sub(r"[^A-Za-z0-9._-]+", "-", "-".join(in_query(getattr(view, name))))
            if value not in stem:
                asked.append(f"{name}-{value}")
    name = "_".join([part for part in (stem, *asked) if part])
    return f"{name[:LONGEST_NAME]}_{key.removesuffix('_chart')}"
