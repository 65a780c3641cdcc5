"""Small multiples: how far each metric of a run is off its forecast, along training."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from delphi_core.figures.theme import FITTED, GREY, MEASURED, escaped, faint, lay_out
from delphi_core.figures.trajectory import thinned, within

if TYPE_CHECKING:
    from collections.abc import Sequence

    from delphi_core.fits.trajectory import Trajectory
    from delphi_core.fits.trajectory_forecast import TrajectoryForecast

COLUMNS = 4
LONGEST_TITLE = 16
REACH_PCT = 4.0
"""Errors beyond are cut at this edge of each panel, so that all share one scale."""


def trajectory_grid(
    items: Sequence[tuple[str, Trajectory, TrajectoryForecast]],
    *,
    shown: tuple[float, float] = (0.05, 1.0),
) -> go.Figure:
    """One panel a metric: measured over forecast in percent, with the band.

    Parameters
    ----------
    items
        Title, measured line and forecast of each metric.
    shown
        Fractions of training to begin and end at.
    """
    rows = max(1, ceil(len(items) / COLUMNS))
    figure = make_subplots(
        rows=rows,
        cols=COLUMNS,
        shared_xaxes=True,
        shared_yaxes=True,
        subplot_titles=[escaped(_short(title)) for title, _, _ in items],
        horizontal_spacing=0.02,
        vertical_spacing=0.25 / rows,
        x_title="Fraction of training (%)",
        y_title="Off the forecast (%)",
    )
    for place, (title, measured, forecast) in enumerate(items):
        at = {"row": place // COLUMNS + 1, "col": place % COLUMNS + 1}
        line = thinned(within(measured, shown))
        value, (low, high) = forecast.value(line.fractions), forecast.band(line.fractions)
        x = 100 * line.fractions
        for end, fill in ((low, None), (high, "tonexty")):
            figure.add_trace(
                go.Scatter(
                    x=x,
                    y=np.clip(100 * (end / value - 1), -REACH_PCT, REACH_PCT),
                    mode="lines",
                    line={"width": 0, "color": FITTED},
                    fill=fill,
                    fillcolor=faint(FITTED),
                    hoverinfo="skip",
                    showlegend=False,
                ),
                **at,
            )
        errors = 100 * (line.values / value - 1)
        figure.add_trace(
            go.Scatter(
                x=x,
                y=np.clip(errors, -REACH_PCT, REACH_PCT),
                mode="lines",
                name=escaped(title),
                line={"color": MEASURED, "width": 1.5},
                customdata=errors,
                hovertemplate="%{x:.1f} %: %{customdata:+.2f} % off<extra>%{fullData.name}</extra>",
                showlegend=False,
            ),
            **at,
        )
        figure.add_hline(y=0, line={"color": GREY, "width": 1}, **at)
    lay_out(figure, height=130 * rows + 60, margin={"t": 30, "b": 60, "l": 70})
    figure.update_yaxes(range=[-REACH_PCT, REACH_PCT], nticks=5)
    figure.update_annotations(font={"size": 11})
    return figure


def _short(title: str) -> str:
    """A title that leaves its neighbours room."""
    return title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1]}…"


def trajectory_grid_alt(items: Sequence[tuple[str, Trajectory, TrajectoryForecast]]) -> str:
    """The small multiples in numbers: each metric's last error."""
    parts = []
    for title, measured, forecast in items:
        if len(measured):
            last = measured.fractions[-1:]
            error = 100 * float(measured.values[-1] / forecast.value(last)[0] - 1)
            parts.append(f"{title} {error:+.2f} %")
    return f"How far each metric is off its forecast at the last evaluation: {'; '.join(parts)}."
