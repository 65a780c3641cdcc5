"""Effective compute speed-up over a base against compute: by the laws, and at the optima."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from delphi_core.figures.recipes import mark, recipe_style
from delphi_core.figures.theme import GREY, escaped, faint, flops_axis, lay_out
from delphi_core.words import flops_words, ratio_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from delphi_core.fits.speedup import SpeedUp

MOST = 100.0
"""Speed-ups above this, or below its reciprocal, are cut off: laws far beyond their data."""
_STEPS = (0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10, 20, 30, 50, 100)


class SpeedUpLine(NamedTuple):
    """A ladder's speed-up as the chart shows it.

    Attributes
    ----------
    name
        Title of the ladder.
    place
        Which colour: the base has 0.
    by_law
        Along compute, ascending.
    at_optima
        At its budgets.
    """

    name: str
    place: int
    by_law: SpeedUp
    at_optima: SpeedUp


def speed_up_figure(
    lines: Sequence[SpeedUpLine], *, base: str, at: float | None = None
) -> go.Figure:
    """The chart of speed-ups.

    Parameters
    ----------
    lines
        What to draw.
    base
        Title of the base.
    at
        Compute to mark, FLOP.
    """
    figure = go.Figure()
    seen = [1.0]
    compute = [] if at is None else [at]
    for line in lines:
        compute += [float(flops) for flops in line.by_law.flops[[0, -1]]]
        seen += _add_line(figure, line)
    figure.add_hline(y=1.0, line={"color": GREY, "width": 1.5})
    axis = _ratio_axis(seen, f"Speed-up over {escaped(base)}")
    if at is not None:
        low, high = axis["range"]
        figure.add_trace(mark(at, (10**low, 10**high)))
    lay_out(
        figure,
        height=520,
        xaxis=flops_axis(compute, "Compute C of the recipe (FLOP)"),
        yaxis=axis,
    )
    return figure


def _add_line(figure: go.Figure, line: SpeedUpLine) -> list[float]:
    color, symbol = recipe_style(line.place)
    name, found = escaped(line.name), line.by_law
    group = f"recipe {line.place}"
    value = np.where(np.isfinite(found.value), found.value, np.nan)
    known = np.isfinite(value) & np.isfinite(found.low)
    if known.any():
        # An open end is drawn to the edge of the chart.
        high = np.where(np.isfinite(found.high), found.high, MOST)
        for values, fill in ((found.low, None), (high, "tonexty")):
            figure.add_trace(
                go.Scatter(
                    x=found.flops[known],
                    y=np.clip(values[known], 1 / MOST, MOST),
                    mode="lines",
                    name=f"{name}, {100 * found.level:g} % interval",
                    legendgroup=group,
                    line={"width": 0, "color": color, "simplify": False},
                    fill=fill,
                    fillcolor=faint(color),
                    hoverinfo="skip",
                    showlegend=False,
                )
            )
    inside = found.beyond <= 1
    for chosen, dash, words in ((inside, "solid", "by the laws"), (~inside, "dash", "beyond")):
        if not (chosen & np.isfinite(value)).any():
            continue
        figure.add_trace(
            go.Scatter(
                x=found.flops,
                y=np.where(_joined(chosen) if dash == "dash" else chosen, value, np.nan),
                mode="lines",
                name=f"{name}, {words}",
                legendgroup=group,
                line={"color": color, "width": 2, "dash": dash, "simplify": False},
                hovertemplate=f"<b>{name}</b><br>%{{y:.3g}} times at %{{x:.3e}} FLOP"
                "<extra></extra>",
                showlegend=False,
            )
        )
    seen = _add_optima(figure, line, name, color, symbol)
    return [*seen, *value[np.isfinite(value)]]


def _joined(chosen: Any) -> Any:
    """Places with their neighbours, so that a dashed line begins where the full one ends."""
    return chosen | np.append(chosen[1:], False) | np.append(False, chosen[:-1])


def _add_optima(
    figure: go.Figure, line: SpeedUpLine, name: str, color: str, symbol: str
) -> list[float]:
    found = line.at_optima
    known = np.isfinite(found.value)
    value, low, high = (part[known] for part in (found.value, found.low, found.high))
    high = np.where(np.isinf(high), MOST, high)
    bars: dict[str, Any] = {"visible": False}
    if np.isfinite(low).all() and np.isfinite(high).all() and len(value):
        bars = {
            "type": "data",
            "symmetric": False,
            "array": high - value,
            "arrayminus": value - low,
            "color": color,
            "thickness": 1.5,
            "width": 4,
        }
    hover = []
    for place in np.flatnonzero(known):
        words = f"<b>{name}</b><br>{flops_words(found.flops[place])}, optimum L* "
        words += f"{found.losses[place]:.4f}<br>{found.value[place]:.3f} times"
        if np.isfinite(found.low[place]):
            ends = [
                f"{end:.3f}" if np.isfinite(end) else "open"
                for end in (found.low[place], found.high[place])
            ]
            words += f" ({100 * found.level:g} %: {ends[0]} to {ends[1]})"
        if found.beyond[place] > 1:
            words += f"<br>{ratio_words(float(found.beyond[place]))} times beyond the base's data"
        hover.append(words)
    figure.add_trace(
        go.Scatter(
            x=found.flops[known],
            y=value,
            mode="markers",
            name=name,
            legendgroup=f"recipe {line.place}",
            error_y=bars,
            text=hover,
            hovertemplate="%{text}<extra></extra>",
            marker={"symbol": symbol, "size": 9, "color": color},
            showlegend=True,
        )
    )
    return [*value, *low[np.isfinite(low)], *high[np.isfinite(high)]]


def _ratio_axis(values: Sequence[float], title: str) -> dict[str, Any]:
    """A logarithmic axis of ratios with plain labels: 0.5, 1, 2."""
    kept = [min(max(float(value), 1 / MOST), MOST) for value in values]
    low, high = math.log10(min(kept)), math.log10(max(kept))
    pad = max(0.06 * (high - low), 0.05)
    low, high = low - pad, high + pad
    ticks = [tick for tick in _STEPS if low <= math.log10(tick) <= high]
    return {
        "title": {"text": title},
        "type": "log",
        "range": [low, high],
        "tickvals": ticks,
        "ticktext": [f"{tick:g}" for tick in ticks],
    }
