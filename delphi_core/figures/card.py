"""A chart as the picture of a link: its finding above it, on white, legible when it is small."""

from __future__ import annotations

from math import ceil
from textwrap import wrap
from typing import Any

import plotly.graph_objects as go

from delphi_core.figures.picture import CARD_WIDTH, Heading

WIDTH, HEIGHT = CARD_WIDTH, 630
"""Pixels; the shape that chats show without cutting anything off."""
INK, PAPER, GRID, FAINT_INK = "#262730", "#ffffff", "#e3e5ea", "#5b616e"
AXIS_SIZE, LEGEND_SIZE = 16, 15
_LEGEND_LINE = 27
_EDGE, _AXIS_ROOM = 32, 64
_LETTER, _LEGEND_MARK = 9, 52


def card_figure(figure: go.Figure, *, title: str, source: str) -> go.Figure:
    """A copy of a chart, laid out as a card.

    Parameters
    ----------
    figure
        The chart.
    title
        What it shows, plain text.
    source
        How it was got and as of when, plain text.

    Returns
    -------
    Figure
        1200 by 630 pixels, with a white background.
    """
    heading = Heading(title, source)
    above = heading.height
    below = _AXIS_ROOM + _LEGEND_LINE * _legend_lines(figure)
    card = go.Figure(figure)
    card.update_layout(
        width=WIDTH,
        height=HEIGHT,
        autosize=False,
        paper_bgcolor=PAPER,
        plot_bgcolor=PAPER,
        font={"family": "sans-serif", "size": LEGEND_SIZE, "color": INK},
        title=heading.title(HEIGHT),
        title_subtitle_font_color=FAINT_INK,
        margin={"t": above, "b": below, "l": _EDGE, "r": _EDGE},
        legend={
            "font": {"size": LEGEND_SIZE},
            "yref": "container",
            "y": 0.005,
            "yanchor": "bottom",
            "x": 0,
        },
    )
    axis: dict[str, Any] = {"gridcolor": GRID, "linecolor": FAINT_INK, "zerolinecolor": FAINT_INK}
    axis |= {"title_font": {"size": AXIS_SIZE, "color": INK}}
    axis |= {"tickfont": {"size": LEGEND_SIZE, "color": INK}}
    card.update_xaxes(**axis)
    card.update_yaxes(title_standoff=12, **axis)
    fold_titles(card, height=HEIGHT - above - below, letter=_LETTER)
    return card


def fold_titles(figure: go.Figure, *, height: float, letter: float) -> None:
    """Break the titles of value axes where their panels are too low for them.

    Parameters
    ----------
    figure
        The chart, which is changed.
    height
        Of all panels together, pixels.
    letter
        Width of a letter of a title, pixels.
    """
    for axis in figure.select_yaxes():
        if axis.title.text:
            low, high = axis.domain or (0, 1)
            letters = max(8, int((high - low) * height / letter))
            axis.title.text = "<br>".join(wrap(axis.title.text, letters, break_long_words=False))


def _legend_lines(figure: go.Figure) -> int:
    """About how many lines the legend takes; 0 where there is none."""
    if figure.layout.showlegend is False:
        return 0
    names = [trace.name or "" for trace in figure.data if trace.showlegend is not False]
    pixels = sum(_LETTER * len(name) + _LEGEND_MARK for name in names)
    return ceil(pixels / (WIDTH - 2 * _EDGE))
