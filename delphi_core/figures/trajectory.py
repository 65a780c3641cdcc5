"""A run's measured curve against its forecast, and how far off it is, on one x axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from delphi_core.figures.theme import FITTED, GREY, MEASURED, escaped, faint, lay_out
from delphi_core.figures.trajectory_axis import trajectory_axis
from delphi_core.figures.trajectory_events import add_breaks, add_events, add_seams
from delphi_core.words import amount_words, flops_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt
    import pandas as pd

    from delphi_core.figures.trajectory_axis import TrajectoryAxis, TrajectoryX
    from delphi_core.fits.trajectory import Trajectory
    from delphi_core.fits.trajectory_forecast import TrajectoryForecast

    Array = npt.NDArray[np.float64]

MOST_POINTS = 2000
"""A curve with more points is thinned for drawing, and for drawing only."""
EVEN = 0.0005
"""An evaluation this little before a fraction counts as at it: steps are whole."""


def trajectory_figure(
    measured: Trajectory,
    forecast: TrajectoryForecast | None,
    *,
    value_title: str,
    x: TrajectoryX = "fraction",
    shown: tuple[float, float] = (0.05, 1.0),
    rungs: tuple[Trajectory, ...] = (),
    events: pd.DataFrame | None = None,
    all_events: bool = False,
) -> go.Figure:
    """The chart of a trajectory.

    Parameters
    ----------
    measured
        The run's main line.
    forecast
        None where there is none.
    value_title
        Title of the value axis: metric and unit.
    x
        What the x axis counts; every run's own, so that rungs are drawn at the same fraction.
    shown
        Fractions of training to begin and end at.
    rungs
        To be drawn pale underneath.
    events
        Rows of `events_of`; those that break an assumption are marked.
    all_events
        Whether the others are marked as well, and seams of the run.
    """
    figure = make_subplots(
        rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.05, row_heights=[0.68, 0.32]
    )
    axis = trajectory_axis(measured, x)
    for rung in rungs:
        line = thinned(within(rung, shown))
        figure.add_trace(
            go.Scatter(
                x=_with_gaps(line, axis.at(line.fractions)),
                y=_with_gaps(line, line.values),
                mode="lines",
                name=f"rung {escaped(rung.plan.run)}",
                line={"color": GREY, "width": 1},
                opacity=0.6,
                hovertemplate="%{fullData.name}: %{y:.4f}<extra></extra>",
            ),
            row=1,
            col=1,
        )
    if forecast is not None:
        _add_forecast(figure, forecast, shown, axis)
    kept = thinned(within(measured, shown))
    if len(kept):
        _add_measured(figure, kept, forecast, axis)
    for share in (-1, 1):
        figure.add_hline(y=share, row=2, col=1, line={"color": GREY, "width": 1, "dash": "dot"})
    figure.add_hline(y=0, row=2, col=1, line={"color": GREY, "width": 1})
    if events is not None:
        inside = events[events["fraction"].between(*shown)]
        add_breaks(figure, inside[inside["breaks"]], axis)
        if all_events:
            add_events(figure, inside, axis)
    if len(kept) and all_events:
        add_seams(figure, kept, axis)
    lay_out(figure, height=660, legend={"y": -0.14})
    figure.update_xaxes(title_text=axis.title, row=2, col=1)
    first, last = axis.at(np.array(shown))
    if np.isfinite(first) and np.isfinite(last):
        figure.update_xaxes(range=[first, last + 0.01 * (last - first)])
    figure.update_yaxes(title_text=escaped(value_title), row=1, col=1)
    figure.update_yaxes(title_text="Off the forecast (%)", row=2, col=1)
    return figure


def thinned(line: Trajectory) -> Trajectory:
    """Every n-th evaluation and the last, so that no more than `MOST_POINTS` are drawn."""
    step = max(1, len(line) // MOST_POINTS)
    keep = np.zeros(len(line), dtype=bool)
    keep[::step] = True
    keep[-1:] = True
    return line.part(keep)


def within(line: Trajectory, shown: tuple[float, float]) -> Trajectory:
    """The evaluations between two fractions of training."""
    first, last = shown
    return line.part((line.fractions >= first - EVEN) & (line.fractions <= last + EVEN))


def _with_gaps(line: Trajectory, values: Iterable[Any]) -> list[Any]:
    """Values of a line with None where evaluations are missing, so that nothing is drawn there."""
    drawn = list(values)
    for place in reversed(line.gaps):
        drawn.insert(int(place), None)
    return drawn


def _add_forecast(
    figure: go.Figure,
    forecast: TrajectoryForecast,
    shown: tuple[float, float],
    axis: TrajectoryAxis,
) -> None:
    first, last = forecast.fitted.fractions
    start, end = max(first, shown[0], 1e-3), min(last, shown[1])
    if start > end:
        return
    places = np.linspace(start, end, 200) if first < last else np.array([first])
    x = axis.at(places)
    value, (low, high) = forecast.value(places), forecast.band(places)
    mode = "lines" if len(places) > 1 else "markers"
    for row, center, ends in (
        (1, value, (low, high)),
        (2, np.zeros_like(value), (100 * (low / value - 1), 100 * (high / value - 1))),
    ):
        if np.isfinite(high).all():
            for edge, fill in zip(ends, (None, "tonexty"), strict=True):
                figure.add_trace(
                    go.Scatter(
                        x=x,
                        y=edge,
                        mode="lines",
                        name=f"{100 * forecast.settings.level:g} % band",
                        legendgroup="band",
                        line={"width": 0, "color": FITTED},
                        fill=fill,
                        fillcolor=faint(FITTED),
                        hoverinfo="skip",
                        showlegend=row == 1 and fill is not None,
                    ),
                    row=row,
                    col=1,
                )
        if row == 1:
            figure.add_trace(
                go.Scatter(
                    x=x,
                    y=center,
                    mode=mode,
                    name=f"forecast, {forecast.settings.method}",
                    line={"color": FITTED, "width": 2},
                    marker={"color": FITTED, "size": 11, "symbol": "diamond"},
                    error_y=_bar(value, *ends) if first == last else None,
                    customdata=100 * places,
                    hovertemplate="forecast %{y:.4f} at %{customdata:.1f} %<extra></extra>",
                ),
                row=row,
                col=1,
            )


def _bar(value: Array, low: Array, high: Array) -> dict[str, Any]:
    """The band of a forecast of one point."""
    if not np.isfinite(high).all():
        return {"visible": False}
    return {
        "type": "data",
        "symmetric": False,
        "array": high - value,
        "arrayminus": value - low,
        "color": FITTED,
        "thickness": 2,
        "width": 6,
    }


def _add_measured(
    figure: go.Figure, line: Trajectory, forecast: TrajectoryForecast | None, axis: TrajectoryAxis
) -> None:
    values = np.asarray(line.values)
    x = _with_gaps(line, axis.at(line.fractions))
    hover = [
        f"<b>{100 * fraction:.1f} %</b>"
        + ("" if np.isnan(step) else f", step {step:,.0f}")
        + f"<br>{amount_words(fraction * line.plan.tokens)} tokens, "
        f"{flops_words(fraction * line.plan.flops)}<br>measured {value:.4f}"
        for fraction, step, value in zip(line.fractions, line.steps, values, strict=True)
    ]
    look: dict[str, Any] = {
        "mode": "lines+markers",
        "line": {"color": MEASURED, "width": 1.5},
        "marker": {"color": MEASURED, "size": 6},
    }
    figure.add_trace(
        go.Scatter(
            x=x,
            y=_with_gaps(line, values),
            name=f"measured, {escaped(line.plan.run)}",
            text=_with_gaps(line, hover),
            hovertemplate="%{text}<extra></extra>",
            legendgroup="measured",
            **look,
        ),
        row=1,
        col=1,
    )
    if forecast is None:
        return
    errors = 100 * (values / forecast.value(line.fractions) - 1)
    off = [
        f"{words}<br>{error:+.2f} %" if np.isfinite(error) else None
        for words, error in zip(hover, errors, strict=True)
    ]
    figure.add_trace(
        go.Scatter(
            x=x,
            y=_with_gaps(line, errors),
            name="measured over forecast",
            legendgroup="measured",
            showlegend=False,
            text=_with_gaps(line, off),
            hovertemplate="%{text}<extra></extra>",
            **look,
        ),
        row=2,
        col=1,
    )


def trajectory_alt(measured: Trajectory, forecast: TrajectoryForecast | None) -> str:
    """The chart in numbers, for those who cannot see it."""
    words = "No evaluation of this metric is in the snapshot."
    if len(measured):
        words = (
            f"{len(measured)} evaluations up to {100 * measured.fractions[-1]:.1f} % of training, "
            f"the last {measured.values[-1]:.4f}."
        )
    if forecast is None:
        return f"{words} No forecast."
    places = np.array([0.05, 0.25, 0.5, 0.75, 1.0])
    values = forecast.value(places)
    known = "; ".join(
        f"{value:.4f} at {100 * place:g} %"
        for place, value in zip(places, values, strict=True)
        if np.isfinite(value)
    )
    return f"{words} Forecast {known or 'at one fraction only'}. {forecast.describe()}"
