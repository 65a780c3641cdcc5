"""A run's measured curve against its forecast, and how far off it is, on one x axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from delphi_core.figures.theme import FITTED, GREY, MEASURED, TARGET, TEMPLATE, escaped, faint
from delphi_core.words import amount_words, flops_words

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    from delphi_core.fits.trajectory import Trajectory
    from delphi_core.fits.trajectory_forecast import TrajectoryForecast

    Array = npt.NDArray[np.float64]

MOST_POINTS = 2000
"""A curve with more points is thinned for drawing, and for drawing only."""
EVEN = 0.0005
"""An evaluation this little before a fraction counts as at it: steps are whole."""
_TITLES = {
    "fraction": "Fraction of training (%)",
    "tokens": "Tokens seen (10¹² tokens)",
    "flops": "Compute spent (10²¹ FLOP)",
}


def trajectory_figure(
    measured: Trajectory,
    forecast: TrajectoryForecast | None,
    *,
    value_title: str,
    x: Literal["fraction", "tokens", "flops"] = "fraction",
    start: float = 0.05,
    rungs: tuple[Trajectory, ...] = (),
    events: pd.DataFrame | None = None,
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
    start
        Fraction of training to begin at.
    rungs
        To be drawn pale underneath.
    events
        Rows with fraction, kind and text to mark.
    """
    figure = make_subplots(
        rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.05, row_heights=[0.68, 0.32]
    )
    scale = {
        "fraction": 100.0,
        "tokens": measured.plan.tokens / 1e12,
        "flops": measured.plan.flops / 1e21,
    }[x]
    for rung in rungs:
        line = thinned(rung.part(rung.fractions >= start - EVEN))
        figure.add_trace(
            go.Scatter(
                x=scale * line.fractions,
                y=line.values,
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
        _add_forecast(figure, forecast, start, scale)
    kept = thinned(measured.part(measured.fractions >= start - EVEN))
    if len(kept):
        _add_measured(figure, kept, forecast, scale)
    for share in (-1, 1):
        figure.add_hline(y=share, row=2, col=1, line={"color": GREY, "width": 1, "dash": "dot"})
    figure.add_hline(y=0, row=2, col=1, line={"color": GREY, "width": 1})
    if events is not None:
        _add_events(figure, events[events["fraction"] >= start], scale)
    figure.update_layout(template=TEMPLATE, height=660, legend={"y": -0.14})
    figure.update_xaxes(title_text=_TITLES[x], row=2, col=1)
    figure.update_xaxes(range=[scale * start, scale * 1.01])
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


def _add_forecast(
    figure: go.Figure, forecast: TrajectoryForecast, start: float, scale: float
) -> None:
    first, last = forecast.fitted.fractions
    places = np.linspace(max(first, start, 1e-3), last, 200)
    if first == last:
        places = np.array([first])
    value, (low, high) = forecast.value(places), forecast.band(places)
    mode = "lines" if len(places) > 1 else "markers"
    for row, center, ends in (
        (1, value, (low, high)),
        (2, np.zeros_like(value), (100 * (low / value - 1), 100 * (high / value - 1))),
    ):
        if np.isfinite(high).all():
            for end, fill in zip(ends, (None, "tonexty"), strict=True):
                figure.add_trace(
                    go.Scatter(
                        x=scale * places,
                        y=end,
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
                    x=scale * places,
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
    figure: go.Figure, line: Trajectory, forecast: TrajectoryForecast | None, scale: float
) -> None:
    values = np.asarray(line.values)
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
            x=scale * line.fractions,
            y=values,
            name=f"measured, {escaped(line.plan.run)}",
            text=hover,
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
    known = np.isfinite(errors)
    figure.add_trace(
        go.Scatter(
            x=scale * line.fractions[known],
            y=errors[known],
            name="measured over forecast",
            legendgroup="measured",
            showlegend=False,
            text=[
                f"{words}<br>{error:+.2f} %"
                for words, error in zip(np.array(hover)[known], errors[known], strict=True)
            ],
            hovertemplate="%{text}<extra></extra>",
            **look,
        ),
        row=2,
        col=1,
    )


def _add_events(figure: go.Figure, events: pd.DataFrame, scale: float) -> None:
    """A mark at each event, its words in the hover box."""
    for row in events.to_dict("records"):
        figure.add_vline(
            x=scale * row["fraction"], line={"color": TARGET, "width": 1, "dash": "dot"}
        )
    if len(events):
        figure.add_trace(
            go.Scatter(
                x=scale * events["fraction"],
                y=np.zeros(len(events)),
                mode="markers",
                name="event",
                marker={"symbol": "triangle-up", "size": 9, "color": TARGET},
                text=[
                    f"<b>{escaped(row['kind'])}</b><br>{escaped(row['text'])}"
                    for row in events.to_dict("records")
                ],
                hovertemplate="%{text}<extra></extra>",
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
