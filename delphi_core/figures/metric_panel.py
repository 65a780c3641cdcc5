"""Loss against compute in one metric, small: one of several side by side, one a metric."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import plotly.graph_objects as go

from delphi_core.figures.recipes import RecipeLine, add_recipe
from delphi_core.figures.theme import escaped, flops_axis, lay_out, value_axis

if TYPE_CHECKING:
    from collections.abc import Sequence


class MetricPanel(NamedTuple):
    """A metric as its panel shows it.

    Attributes
    ----------
    title, unit
        Of the metric.
    lines
        The ladders that have it, each with the place of its colour.
    """

    title: str
    unit: str
    lines: tuple[tuple[int, RecipeLine], ...]


def metric_panel(panel: MetricPanel, compute: Sequence[float]) -> go.Figure:
    """The panel of a metric.

    Parameters
    ----------
    panel
        What to draw; a ladder has the same colour in each.
    compute
        That every panel has in sight, FLOP, so that they can be read side by side. Values have an
        axis of their own: E and the unit belong to a metric.
    """
    figure = go.Figure()
    seen: list[float] = []
    for place, line in panel.lines:
        seen += add_recipe(figure, line, place, compute)
    pad = 0.05 * (max(seen) - min(seen)) or 0.05
    lay_out(
        figure,
        height=430,
        legend={"y": -0.26},
        title={"text": escaped(panel.title), "x": 0.5, "xanchor": "center"},
        margin={"t": 44},
        xaxis=flops_axis(compute),
        yaxis=value_axis([min(seen) - pad, max(seen) + pad], escaped(panel.unit), "linear"),
    )
    return figure
