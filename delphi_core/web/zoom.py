"""The part of a chart that a visitor has zoomed to, as a part of the view.

Streamlit draws a chart anew, whole, when its figures change: what was zoomed to would be lost, and
would be in no link. So the page is told of it (`chart_listener`), and draws the chart zoomed.
"""

from __future__ import annotations

import plotly.graph_objects as go

from delphi_core.web.view_state import parse_zoom


def zoomed(figure: go.Figure, text: str) -> go.Figure:
    """A copy of a figure, its first panel and the x axes that go with it zoomed."""
    ends = parse_zoom(text)
    if ends is None:
        return figure
    copy = go.Figure(figure)
    copy.update_xaxes(range=ends[:2], autorange=False)
    copy.update_layout(yaxis={"range": ends[2:], "autorange": False})
    return copy
