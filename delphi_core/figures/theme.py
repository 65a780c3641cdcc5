"""Palette, template and axes that every figure shares; readable on light and on dark."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING, Any, Literal

import plotly.graph_objects as go
from plotly.colors import sample_colorscale

from delphi_core.words import amount_words, power_of_ten

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Middling lightness: each keeps a contrast of 3 or more on white and on Streamlit's dark ground.
BUDGET_SCALE = ("#4f7fe0", "#1d9a94", "#a8842c", "#db5f47", "#b8589f")
GREY = "#858b96"
FITTED, MEASURED, TARGET = "#4f7fe0", "#db5f47", "#a8842c"
"""Colours of what was fitted, of what was measured and never fitted, and of what is asked for."""
INK = "#000037"
"""Colour of what is written: near black, and on a page whatever Streamlit's theme writes with.

Streamlit's front end puts its darkest grey (its lightest, on dark) in the place of this one colour;
what a figure leaves open is written in a grey with a contrast of 3.7 on white.
"""

TEMPLATE = go.layout.Template(
    layout={
        "margin": {"t": 16, "r": 12, "b": 8, "l": 8},
        "legend": {"orientation": "h", "y": -0.18, "yanchor": "top", "x": 0, "font": {"size": 13}},
        "hoverlabel": {"align": "left"},
        "hovermode": "closest",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "xaxis": {"zeroline": False, "showline": True, "ticks": "outside", "automargin": True},
        "yaxis": {"zeroline": False, "automargin": True},
    }
)


def lay_out(figure: go.Figure, **layout: Any) -> None:
    """Give a figure the look that all share, and the layout that is its own.

    Parameters
    ----------
    figure
        With all its panels.
    **layout
        As `Figure.update_layout` takes it.
    """
    figure.update_layout(template=TEMPLATE, font={"color": INK}, **layout)
    ink = {"tickfont": {"color": INK}, "title": {"font": {"color": INK}}}
    figure.update_xaxes(ink)
    figure.update_yaxes(ink)


def budget_colors(number: int) -> list[str]:
    """Colours for budgets in order of compute, from blue (least) to purple (most)."""
    places = [i / (number - 1) if number > 1 else 0.0 for i in range(number)]
    return list(sample_colorscale(list(BUDGET_SCALE), places))


def amount_axis(values: Iterable[float], title: str) -> dict[str, Any]:
    """A logarithmic axis of tokens or parameters with labels such as 2 B.

    Scale, range and ticks are set together: a tick step of one decade left on a linear axis
    would ask the browser for billions of ticks.

    Parameters
    ----------
    values
        Positive amounts that must be in sight.
    title
        Of the axis.
    """
    known = list(values) or [1e9]
    low, high = math.log10(min(known)), math.log10(max(known))
    pad = max(0.04 * (high - low), 0.05)
    low, high = low - pad, high + pad
    decades = range(math.floor(low), math.ceil(high) + 1, max(1, round((high - low) / 8)))
    steps = (1, 2, 5) if high - low < 2.2 else (1, 3) if high - low < 5 else (1,)
    ticks = [step * 10.0**decade for decade in decades for step in steps]
    ticks = [tick for tick in ticks if low <= math.log10(tick) <= high]
    return {
        "title": {"text": title},
        "type": "log",
        "range": [low, high],
        "tickvals": ticks,
        "ticktext": [amount_words(tick) for tick in ticks],
    }


def flops_axis(values: Iterable[float], title: str = "Compute C (FLOP)") -> dict[str, Any]:
    """A logarithmic axis of compute with labels such as 10²⁰.

    Parameters
    ----------
    values
        Positive compute that must be in sight, FLOP.
    title
        Of the axis.
    """
    known = list(values) or [1e20]
    low, high = math.log10(min(known)), math.log10(max(known))
    pad = max(0.05 * (high - low), 0.1)
    low, high = low - pad, high + pad
    decades = range(math.ceil(low), math.floor(high) + 1, max(1, round((high - low) / 7)))
    return {
        "title": {"text": title},
        "type": "log",
        "range": [low, high],
        "tickvals": [10.0**decade for decade in decades],
        "ticktext": [power_of_ten(decade) for decade in decades],
    }


def value_axis(
    ends: Sequence[float], title: str, scale: Literal["linear", "log"]
) -> dict[str, Any]:
    """An axis of values from one end to the other; linear where a logarithm has no place.

    Parameters
    ----------
    ends
        Least and greatest value in sight.
    title
        Of the axis.
    scale
        linear or log; set with the range, which plotly wants in log10 on a log axis.
    """
    axis: dict[str, Any] = {"title": {"text": title}, "type": "linear", "range": list(ends)}
    if scale == "log" and ends[0] > 0:
        axis |= {"type": "log", "range": [math.log10(end) for end in ends], "nticks": 8}
    return axis


def escaped(text: object) -> str:
    """Text for plotly, which reads a subset of HTML in labels and hover boxes."""
    return html.escape(str(text), quote=False)


def faint(color: str, opacity: float = 0.18) -> str:
    """A colour (#rrggbb) for filling a band, seen through."""
    red, green, blue = (int(color[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:g})"
