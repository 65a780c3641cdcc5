"""A chart as the picture of a link: its finding above it, on white, legible when it is small."""

from __future__ import annotations

from math import ceil
from textwrap import wrap

import plotly.graph_objects as go

from delphi_core.figures.theme import escaped

WIDTH, HEIGHT = 1200, 630
"""Pixels; the shape that chats show without cutting anything off."""
INK, PAPER, GRID, FAINT_INK = "#262730", "#ffffff", "#e3e5ea", "#5b616e"
TITLE_SIZE, SOURCE_SIZE, AXIS_SIZE, LEGEND_SIZE = 28, 16, 16, 15
TITLE_LETTERS, SOURCE_LETTERS = 62, 132
"""How many letters a line of each has room for, in the widest fonts that browsers fall back to."""
_TITLE_LINE, _SOURCE_LINE, _LEGEND_LINE = 38, 22, 27
_EDGE, _AXIS_ROOM = 32, 64
_LETTER, _LEGEND_MARK = 9, 52


def card_figure(figure: go.Figure, *, title: str, source: str) -> go.Figure:
    """A copy of a chart, laid out as a card.

    Parameters
    ----------
    figure
        The chart.
    title
        What it shows, plain text; two lines of it at most.
    source
        How it was got and as of when, plain text; two lines of it at most.

    Returns
    -------
    Figure
        1200 by 630 pixels, with a white background.
    """
    finding = wrap(title, TITLE_LETTERS, max_lines=2, placeholder=" ...")
    origin = wrap(source, SOURCE_LETTERS, max_lines=2, placeholder=" ...")
    above = 62 + _TITLE_LINE * len(finding) + _SOURCE_LINE * len(origin)
    below = _AXIS_ROOM + _LEGEND_LINE * _legend_lines(figure)
    card = go.Figure(figure)
    card.update_layout(
        width=WIDTH,
        height=HEIGHT,
        autosize=False,
        paper_bgcolor=PAPER,
        plot_bgcolor=PAPER,
        font={"family": "sans-serif", "size": LEGEND_SIZE, "color": INK},
        title={
            "text": "<br>".join(f"<b>{escaped(line)}</b>" for line in finding),
            "font": {"size": TITLE_SIZE},
            "x": 0,
            "xanchor": "left",
            "pad": {"l": _EDGE},
            # A title of two lines is hung up by its second.
            "y": 1 - (30 + 21 * (len(finding) - 1)) / HEIGHT,
            "yanchor": "top",
            "subtitle": {
                "text": "<br>".join(escaped(line) for line in origin),
                "font": {"size": SOURCE_SIZE, "color": FAINT_INK},
            },
        },
        margin={"t": above, "b": below, "l": _EDGE, "r": _EDGE},
        legend={
            "font": {"size": LEGEND_SIZE},
            "yref": "container",
            "y": 0.005,
            "yanchor": "bottom",
            "x": 0,
        },
    )
    axis = {"gridcolor": GRID, "linecolor": FAINT_INK, "zerolinecolor": FAINT_INK}
    card.update_xaxes(title_font_size=AXIS_SIZE, tickfont_size=LEGEND_SIZE, **axis)
    card.update_yaxes(
        title_font_size=AXIS_SIZE, title_standoff=12, tickfont_size=LEGEND_SIZE, **axis
    )
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
