"""Marks on a trajectory: where a forecast's assumptions stop holding, events, and seams."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from delphi_core.figures.theme import GREY, TARGET, escaped

if TYPE_CHECKING:
    import pandas as pd

    from delphi_core.figures.trajectory_axis import TrajectoryAxis
    from delphi_core.fits.trajectory import Trajectory

LONGEST_MARK = 28
UPRIGHT = -90
"""Angle of what is written along a line, degrees."""


def add_breaks(figure: go.Figure, events: pd.DataFrame, axis: TrajectoryAxis) -> None:
    """A line through both panels at each event that breaks an assumption, with its name.

    Parameters
    ----------
    figure
        Two rows: the curve, and how far it is off.
    events
        fraction, kind, text and planned (drawn dotted and fainter).
    axis
        Of the figure.
    """
    for place, row in zip(axis.at(_fractions(events)), events.to_dict("records"), strict=True):
        words = str(row["text"] if row["planned"] else row["kind"])
        words = words if len(words) <= LONGEST_MARK else f"{words[: LONGEST_MARK - 1]}…"
        figure.add_vline(
            x=place,
            line={"color": TARGET, "width": 1, "dash": "dot" if row["planned"] else "solid"},
            opacity=0.6 if row["planned"] else 1.0,
        )
        figure.add_annotation(
            x=place,
            y=1,
            xref="x",
            yref="y domain",
            text=f"planned: {escaped(words)}" if row["planned"] else escaped(words),
            textangle=UPRIGHT,
            showarrow=False,
            xanchor="right",
            yanchor="top",
            font={"size": 11},
        )


def add_events(figure: go.Figure, events: pd.DataFrame, axis: TrajectoryAxis) -> None:
    """A mark at each event, its words in the hover box; planned ones are open."""
    for planned, rows in events.groupby("planned", sort=True):
        figure.add_trace(
            go.Scatter(
                x=axis.at(_fractions(rows)),
                y=np.zeros(len(rows)),
                mode="markers",
                name="planned event" if planned else "event",
                marker={
                    "symbol": "triangle-up-open" if planned else "triangle-up",
                    "size": 9,
                    "color": TARGET,
                },
                text=[
                    f"<b>{escaped(row['kind'])}</b><br>{escaped(row['text'])}"
                    for row in rows.to_dict("records")
                ],
                hovertemplate="%{text}<extra></extra>",
            ),
            row=2,
            col=1,
        )


def add_seams(figure: go.Figure, line: Trajectory, axis: TrajectoryAxis) -> None:
    """A tick on the measured curve where another segment of the run took over."""
    inside = [seam for seam in line.seams if line.fractions[0] <= seam <= line.fractions[-1]]
    if not inside:
        return
    seams = np.array(inside)
    figure.add_trace(
        go.Scatter(
            x=axis.at(seams),
            y=np.interp(seams, line.fractions, line.values),
            mode="markers",
            name="seam",
            marker={"symbol": "line-ns-open", "size": 16, "color": GREY, "line": {"width": 2}},
            customdata=100 * seams,
            hovertemplate="at %{customdata:.1f} % another segment took over<extra></extra>",
        ),
        row=1,
        col=1,
    )


def _fractions(events: pd.DataFrame) -> np.ndarray:
    return events["fraction"].to_numpy(dtype=np.float64)
