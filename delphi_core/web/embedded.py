"""A view in a frame of another site: its chart and one line that says where it is from."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from delphi_core.web.headings import plain_heading
from delphi_core.web.links import read_link
from delphi_core.web.messages import errors_in_words, plain
from delphi_core.web.preview_pages import PAGES
from delphi_core.web.zoom import zoomed

HEIGHT = 330
"""Pixels of the chart: with its line of source it fits a frame 400 high."""
_NARROW = "<style>[data-testid=stMainBlockContainer] {padding: 0.5rem 0.5rem 0 0.5rem;}</style>"


def show_embedded(path: str) -> None:
    """Show the chart of the view that the address names.

    Parameters
    ----------
    path
        Of the page in its address; empty for the first one.
    """
    page = PAGES.get(f"/{path}")
    with errors_in_words():
        if page is None or page.chart is None:
            st.info("This page has no chart to embed; open it by its own address.")
            return
        query = {name: st.query_params.get_all(name) for name in st.query_params}
        link = read_link(page, query)
        figure, alt = page.chart(link.snapshot, link.view)
        figure = go.Figure(zoomed(figure, getattr(link.view, "zoom", "")))
        figure.update_layout(
            height=HEIGHT,
            margin={"t": 8, "b": 0},
            font={"size": 11},
            legend={"font": {"size": 10}, "y": -0.3},
        )
        figure.update_yaxes(title_font={"size": 10})
        st.html(_NARROW)
        st.plotly_chart(figure, key="embedded_chart", alt=alt)
        finding = plain(plain_heading(page.headline(link.snapshot, link.view)))
        made = link.snapshot.created_at[:10]
        st.caption(f"[{finding}]({link.address}) · figures of {made}")
