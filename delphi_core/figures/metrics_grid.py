"""The same laws in every metric at once: one small panel a metric."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plotly.subplots import make_subplots

from delphi_core.figures.recipes import add_recipe
from delphi_core.figures.theme import TEMPLATE, escaped, flops_axis, value_axis

if TYPE_CHECKING:
    from collections.abc import Sequence

    import plotly.graph_objects as go

    from delphi_core.figures.recipes import RecipeLine

Panel = tuple[str, str, list[tuple[int, "RecipeLine"]]]
"""Name of a metric, its unit, and the ladders that have it, each with its colour's place."""
_HEIGHT = 340


def metrics_grid(panels: Sequence[Panel], *, columns: int = 2) -> go.Figure:
    """Small multiples of loss against compute, one a metric.

    Parameters
    ----------
    panels
        What to draw; a ladder has the same colour in each. Values keep their own axis: E and units
        are a metric's own.
    columns
        How many panels stand side by side.
    """
    columns = min(columns, max(len(panels), 1))
    rows = -(-max(len(panels), 1) // columns)
    figure = make_subplots(
        rows=rows,
        cols=columns,
        subplot_titles=[escaped(name) for name, _, _ in panels],
        horizontal_spacing=0.1,
        vertical_spacing=0.22 / rows,
    )
    compute = [flops for _, _, lines in panels for _, line in lines for flops in line.flops]
    named: set[int] = set()
    for number, (_, unit, lines) in enumerate(panels):
        row, col = number // columns + 1, number % columns + 1
        seen: list[float] = []
        for place, line in lines:
            legend = place not in named
            named.add(place)
            seen += add_recipe(figure, line, place, compute, legend=legend, row=row, col=col)
        pad = 0.05 * (max(seen) - min(seen)) or 0.05
        figure.update_xaxes(flops_axis(compute), row=row, col=col)
        axis = value_axis([min(seen) - pad, max(seen) + pad], escaped(unit), "linear")
        figure.update_yaxes(axis, row=row, col=col)
    figure.update_layout(
        template=TEMPLATE,
        height=_HEIGHT * rows + 90,
        margin={"t": 40},
        legend={"y": -0.3 / rows},
    )
    return figure
