"""A view in a frame of another site: its chart and one line that says where it is from."""

from __future__ import annotations

import plotly.graph_objects as go
import streamlit as st

from delphi_core.figures.card import fold_titles
from delphi_core.figures.trajectory_events import UPRIGHT
from delphi_core.web.headings import plain_heading
from delphi_core.web.links import read_link
from delphi_core.web.messages import errors_in_words, plain
from delphi_core.web.page_index import PAGES
from delphi_core.web.zoom import zoomed

HEIGHT = 315
"""Pixels of the chart: with two lines of finding and source it fits a frame 400 high."""
_PANELS, _LETTER = 190, 5.5
"""Pixels: about what is left for the panels, and a letter of an axis title."""
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
        chart = page.chart(link.snapshot, link.view)
        if chart is None:
            st.info(f"There is no chart here; [the page says why]({link.address}).")
            return
        figure, alt = chart
        figure = go.Figure(zoomed(figure, getattr(link.view, "zoom", "")))
        # What is written upright lies across the curve where it is small.
        figure.layout.annotations = [
            note for note in figure.layout.annotations if note.textangle != UPRIGHT
        ]
        figure.update_layout(
            height=HEIGHT,
            margin={"t": 8, "b": 0},
            font={"size": 11},
            # Below the axis title, however many lines it has.
            legend={"font": {"size": 10}, "yref": "container", "y": 0, "yanchor": "bottom"},
        )
        figure.update_yaxes(title_font={"size": 10})
        fold_titles(figure, height=_PANELS, letter=_LETTER)
        st.html(_NARROW)
        st.plotly_chart(figure, key="embedded_chart", alt=alt)
        finding = plain(plain_heading(page.headline(link.snapshot, link.view)))
        made = link.snapshot.created_at[:10]
        st.caption(f"[{finding}]({link.address}) · figures of {made}")
