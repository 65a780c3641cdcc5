"""Loss against compute of several ladders: optima, laws with bands, and published laws."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import plotly.graph_objects as go

from delphi_core.figures.theme import GREY, escaped, faint, flops_axis, lay_out, value_axis
from delphi_core.words import flops_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    import pandas as pd

    from delphi_core.fits.held_out import HeldOut
    from delphi_core.fits.loss_law import LossLaw
    from delphi_core.fits.optima import Optima

    Array = npt.NDArray[np.float64]

# Okabe and Ito's blue, vermilion, green, purple and orange, at a lightness that has a contrast of
# 3 or more on white and on Streamlit's dark ground; symbols and dashes tell them apart as well.
RECIPE_COLORS = ("#2f7fd1", "#d9622b", "#12967a", "#bd62a0", "#a8842c", "#7f6fd6", "#5d8a2f")
RECIPE_SYMBOLS = ("diamond", "circle", "square", "triangle-up", "cross", "x", "pentagon")
_DASHES = ("dot", "dashdot", "longdash", "longdashdot")


class RecipeLine(NamedTuple):
    """A ladder as a chart shows it.

    Attributes
    ----------
    name
        Title of the ladder.
    law
        None where its optima determine none.
    optima
        Of its budgets.
    held_out
        What was measured beyond, never fitted.
    """

    name: str
    law: LossLaw | None
    optima: Optima
    held_out: tuple[HeldOut, ...] = ()

    @property
    def flops(self) -> list[float]:
        """Compute of its optima and held-out runs, FLOP."""
        return [*map(float, self.optima.flops), *(item.flops for item in self.held_out)]


def recipe_style(place: int) -> tuple[str, str]:
    """Colour and symbol of the ladder at a place; the base has the first."""
    return (
        RECIPE_COLORS[place % len(RECIPE_COLORS)],
        RECIPE_SYMBOLS[place % len(RECIPE_SYMBOLS)],
    )


def recipes_figure(
    lines: Sequence[RecipeLine],
    *,
    value_title: str,
    published: pd.DataFrame | None = None,
    at: float | None = None,
) -> go.Figure:
    """The chart of several ladders, base first.

    Parameters
    ----------
    lines
        What to draw; each keeps the colour and symbol of its place.
    value_title
        Title of the value axis: metric and unit.
    published
        Rows of `published.published_recipe_laws` to lay over.
    at
        Compute to mark, FLOP.
    """
    figure = go.Figure()
    compute = [flops for line in lines for flops in line.flops]
    compute += [] if at is None else [at]
    seen: list[float] = []
    for place, line in enumerate(lines):
        seen += add_recipe(figure, line, place, compute)
    if published is not None:
        seen += _add_published(figure, published, compute)
    low, high = (min(seen), max(seen)) if seen else (0.0, 1.0)
    pad = 0.04 * (high - low) or 0.05
    if at is not None:
        figure.add_trace(mark(at, (low - pad, high + pad)))
    lay_out(
        figure,
        height=560,
        xaxis=flops_axis(compute),
        yaxis=value_axis([low - pad, high + pad], escaped(value_title), "linear"),
    )
    return figure


def mark(at: float, ends: tuple[float, float]) -> go.Scatter:
    """The line at the compute that the headline speaks of (FLOP), between two values."""
    return go.Scatter(
        x=[at, at],
        y=list(ends),
        mode="lines",
        name=f"C of the headline, {flops_words(at)}",
        line={"color": GREY, "width": 1.2, "dash": "dot"},
        hoverinfo="skip",
        showlegend=True,
    )


def add_recipe(
    figure: go.Figure,
    line: RecipeLine,
    place: int,
    compute: Sequence[float],
) -> list[float]:
    """A ladder's optima, law and band; the losses that must be in sight.

    Parameters
    ----------
    figure
        Where to draw.
    line, place
        What, and which colour.
    compute
        That must be in sight, FLOP.
    """
    color, symbol = recipe_style(place)
    name, group = escaped(line.name), f"recipe {place}"
    traces = [] if line.law is None else _law_traces(line.law, compute, color, group)
    hover = [
        f"<b>{name}</b><br>optimum at {flops_words(flops)}<br>L* {loss:.4f}"
        for flops, loss in zip(line.optima.flops, line.optima.losses, strict=True)
    ]
    optima = go.Scatter(
        x=line.optima.flops,
        y=line.optima.losses,
        mode="markers",
        name=name,
        legendgroup=group,
        text=hover,
        hovertemplate="%{text}<extra></extra>",
        marker={"symbol": symbol, "size": 10, "color": color},
        showlegend=True,
    )
    held_out = _held_out_trace(line, color, symbol, group)
    for trace in [*traces, optima, held_out]:
        figure.add_trace(trace)
    inside = [] if line.law is None else [float(v) for v in line.law.predict(compute).value]
    measured = [item.measured for item in line.held_out]
    return [*map(float, line.optima.losses), *measured, *inside]


def _held_out_trace(line: RecipeLine, color: str, symbol: str, group: str) -> go.Scatter:
    """What counts of the held-out runs of each budget, as open symbols."""
    hover = []
    for item in line.held_out:
        words = f"<b>{escaped(line.name)}</b><br>held out at {flops_words(item.flops)}, never "
        words += f"fitted<br>measured {item.measured:.4f} ({escaped(item.rule)})"
        if line.law is not None:
            error = item.error_pct(float(line.law.predict(item.flops).value))
            words += f", {error:+.2f} % off the law"
        hover.append(words)
    return go.Scatter(
        x=[item.flops for item in line.held_out],
        y=[item.measured for item in line.held_out],
        mode="markers",
        name=f"{escaped(line.name)}, held out",
        legendgroup=group,
        text=hover,
        hovertemplate="%{text}<extra></extra>",
        marker={"symbol": f"{symbol}-open", "size": 11, "color": color, "line": {"width": 2}},
        showlegend=False,
    )


def _law_traces(law: LossLaw, compute: Sequence[float], color: str, group: str) -> list[go.Scatter]:
    """Band and law, full over what was fitted and dashed on both sides of it."""
    flops = np.geomspace(min(compute) / 1.3, max(compute) * 1.3, 121)
    forecast = law.predict(flops)
    traces = []
    shared = {"mode": "lines", "legendgroup": group, "showlegend": False}
    if (np.isfinite(forecast.low) & np.isfinite(forecast.high)).all():
        for values, fill in ((forecast.low, None), (forecast.high, "tonexty")):
            traces.append(
                go.Scatter(
                    x=flops,
                    y=values,
                    name=f"{100 * forecast.level:g} % band",
                    line={"width": 0, "color": color, "simplify": False},
                    fill=fill,
                    fillcolor=faint(color, 0.16),
                    hoverinfo="skip",
                    **shared,
                )
            )
    first, last = law.budget_flops[0], law.largest_flops
    between = np.unique([first, *flops[(flops > first) & (flops < last)], last])
    before, after = np.append(flops[flops < first], first), np.append(last, flops[flops > last])
    for x, dash in ((between, "solid"), (before, "dash"), (after, "dash")):
        if len(x) > 1:
            traces.append(
                go.Scatter(
                    x=x,
                    y=law.predict(x).value,
                    name="law, fitted" if dash == "solid" else "law, extrapolated",
                    line={"color": color, "width": 2, "dash": dash, "simplify": False},
                    hovertemplate="L* %{y:.4f} at %{x:.3e} FLOP<extra></extra>",
                    **shared,
                )
            )
    return traces


def _add_published(
    figure: go.Figure, published: pd.DataFrame, compute: Sequence[float]
) -> list[float]:
    flops = np.geomspace(min(compute) / 1.3, max(compute) * 1.3, 81)
    seen: list[float] = []
    for place, row in enumerate(published.to_dict("records")):
        values = float(row["E"]) + float(row["A"]) * flops ** -float(row["alpha"])
        seen += [float(values.min()), float(values.max())]
        what = f"{row['status']}: {row['what']}" if row["what"] else str(row["status"])
        words = f"{escaped(row['recipe'])}, {escaped(what)}"
        words += f"<br>{row['E']:g} + {row['A']:g} C^-{row['alpha']:g}"
        figure.add_trace(
            go.Scatter(
                x=flops,
                y=values,
                mode="lines",
                name=escaped(row["id"]),
                line={
                    "color": GREY,
                    "width": 1.6,
                    "dash": _DASHES[place % len(_DASHES)],
                    "simplify": False,
                },
                text=[words] * len(flops),
                hovertemplate="%{text}<br>%{y:.4f} at %{x:.3e} FLOP<extra></extra>",
                showlegend=True,
            )
        )
    return seen
