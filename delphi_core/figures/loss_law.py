"""Loss against compute: the optima, the law with its band, and what was measured beyond.

Below it the same in percent of the law, where bands and errors can be seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from delphi_core.figures.theme import (
    FITTED,
    GREY,
    MEASURED,
    TARGET,
    escaped,
    faint,
    flops_axis,
    lay_out,
    value_axis,
)
from delphi_core.words import flops_words, ratio_words

if TYPE_CHECKING:
    import pandas as pd

    from delphi_core.fits.held_out import HeldOut
    from delphi_core.fits.loss_law import LossLaw
    from delphi_core.fits.optima import Optima


def loss_law_figure(
    law: LossLaw | None,
    optima: Optima,
    held_out: tuple[HeldOut, ...],
    *,
    value_title: str,
    target: float | None = None,
    published_laws: pd.DataFrame | None = None,
    published_optima: pd.DataFrame | None = None,
    y: Literal["linear", "log"] = "linear",
) -> go.Figure:
    """The chart of a loss law.

    Parameters
    ----------
    law
        The law; None where the rows determine none.
    optima
        What it was fitted to, or what the budgets' own curves say.
    held_out
        What was measured beyond.
    value_title
        Title of the value axis: metric and unit.
    target
        Compute to forecast at, FLOP.
    published_laws, published_optima
        What to lay over: rows of `published.published_loss_laws` and of published_optima.
    y
        Scale of the value axis.
    """
    figure = make_subplots(
        rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.05, row_heights=[0.66, 0.34]
    )
    compute = _compute_in_sight(optima, held_out, target, published_optima)
    seen = [float(loss) for loss in optima.losses]
    if law is not None:
        seen += _add_law(figure, law, compute)
    if published_laws is not None:
        _add_published_laws(figure, published_laws, compute, law)
    if published_optima is not None and len(published_optima):
        _add_published_optima(figure, published_optima)
    _add_optima(figure, optima, law)
    seen += _add_held_out(figure, law, held_out)
    if law is not None and target is not None:
        seen += _add_target(figure, law, target)
    low, high = (min(seen), max(seen)) if seen else (0.0, 1.0)
    pad = 0.04 * (high - low) or 0.05
    axis = flops_axis(compute)
    lay_out(
        figure,
        height=660,
        hovermode="closest",
        legend={"y": -0.14},
        xaxis=axis | {"title": {"text": ""}, "showticklabels": False},
        xaxis2=axis,
        yaxis=value_axis([low - pad, high + pad], escaped(value_title), y),
        yaxis2={"title": {"text": "Off the law (%)"}, "zeroline": True, "zerolinecolor": GREY},
    )
    return figure


def _add_both(figure: go.Figure, trace: go.Scatter, law: LossLaw | None) -> None:
    """A trace in the upper panel, and in percent of the law in the lower."""
    figure.add_trace(trace, row=1, col=1)
    if law is None:
        return
    below = go.Scatter(trace)
    center = law.predict(np.asarray(trace.x, dtype=np.float64)).value
    below.y = 100 * (np.asarray(trace.y, dtype=np.float64) / center - 1)
    below.showlegend = False
    if trace.mode == "markers+text":
        below.mode = "markers"
    if trace.hovertemplate and "%{y" in trace.hovertemplate:
        below.hovertemplate = "%{y:+.3f} % off the law at %{x:.3e} FLOP<extra></extra>"
    if trace.error_y.array is not None:
        below.error_y.array = 100 * np.asarray(trace.error_y.array) / center
        below.error_y.arrayminus = 100 * np.asarray(trace.error_y.arrayminus) / center
    figure.add_trace(below, row=2, col=1)


def _compute_in_sight(
    optima: Optima,
    held_out: tuple[HeldOut, ...],
    target: float | None,
    published_optima: pd.DataFrame | None,
) -> list[float]:
    compute = [*optima.flops, *(item.flops for item in held_out)]
    if target is not None:
        compute.append(target)
    if published_optima is not None:
        compute += list(published_optima["flops"])
    return [float(flops) for flops in compute] or [1e20]


def _add_law(figure: go.Figure, law: LossLaw, compute: list[float]) -> list[float]:
    """The law and its band, full over what was fitted and dashed beyond; ends of the band."""
    flops = np.geomspace(min(compute) / 1.25, max(compute) * 1.25, 161)
    forecast = law.predict(flops)
    known = np.isfinite(forecast.high) & np.isfinite(forecast.low)
    if known.all():
        for values, fill in ((forecast.low, None), (forecast.high, "tonexty")):
            trace = go.Scatter(
                x=flops,
                y=values,
                mode="lines",
                name=f"{100 * forecast.level:g} % band",
                legendgroup="band",
                line={"width": 0, "color": FITTED, "simplify": False},
                fill=fill,
                fillcolor=faint(FITTED),
                hoverinfo="skip",
                showlegend=fill is not None,
            )
            _add_both(figure, trace, law)
    inside = flops <= law.largest_flops
    at = np.append(flops[inside], law.largest_flops)
    for x, dash, name in (
        (at, "solid", "law, fitted"),
        (np.append(law.largest_flops, flops[~inside]), "dash", "law, extrapolated"),
    ):
        trace = go.Scatter(
            x=x,
            y=law.predict(x).value,
            mode="lines",
            name=name,
            legendgroup=name,
            line={"color": FITTED, "width": 2, "dash": dash, "simplify": False},
            hovertemplate="L* %{y:.4f} at %{x:.3e} FLOP<extra></extra>",
            showlegend=True,
        )
        _add_both(figure, trace, law)
    return [*forecast.low, *forecast.high] if known.all() else list(forecast.value)


def _add_optima(figure: go.Figure, optima: Optima, law: LossLaw | None) -> None:
    hover = [
        f"<b>Optimum at {flops_words(flops)}</b><br>L* {loss:.4f}"
        for flops, loss in zip(optima.flops, optima.losses, strict=True)
    ]
    trace = go.Scatter(
        x=optima.flops,
        y=optima.losses,
        mode="markers",
        name="optimum of a budget",
        text=hover,
        hovertemplate="%{text}<extra></extra>",
        marker={"symbol": "diamond", "size": 10, "color": FITTED},
        showlegend=True,
    )
    _add_both(figure, trace, law)


def _add_held_out(
    figure: go.Figure, law: LossLaw | None, held_out: tuple[HeldOut, ...]
) -> list[float]:
    """Every held-out run, and beside one of each budget the error of what counts there.

    That is the best of several sizes, which stands lowest, or the mean over seeds, which no run
    has: the highest of them then.
    """
    x, y, hover, labels = [], [], [], []
    for item in held_out:
        predicted = None if law is None else float(law.predict(item.flops).value)
        best = item.rule.startswith("best")
        beside = min(item.values) if best else max(item.values)
        for run, value in zip(item.runs, item.values, strict=True):
            words = f"<b>{escaped(run)}</b><br>{flops_words(item.flops)}<br>measured {value:.4f}"
            if predicted is not None and law is not None:
                error = 100 * (value - predicted) / predicted
                ratio = ratio_words(item.flops / law.largest_flops)
                words += f"<br>forecast {predicted:.4f}, {error:+.2f} %<br>{ratio} times the data"
            x.append(item.flops)
            y.append(value)
            hover.append(words)
            labelled = predicted is not None and value == beside
            labels.append(f"{item.error_pct(predicted or 1.0):+.2f} %" if labelled else "")
    if not x:
        return []
    trace = go.Scatter(
        x=x,
        y=y,
        mode="markers+text",
        name="held-out run, never fitted",
        text=labels,
        textposition="top right",
        textfont={"size": 13},
        customdata=hover,
        hovertemplate="%{customdata}<extra></extra>",
        marker={"symbol": "circle", "size": 9, "color": MEASURED, "opacity": 0.85},
        showlegend=True,
    )
    _add_both(figure, trace, law)
    return y


def _add_target(figure: go.Figure, law: LossLaw, target: float) -> list[float]:
    forecast = law.predict(target)
    value, low, high = (float(part) for part in (forecast.value, forecast.low, forecast.high))
    bar: dict[str, Any] = {"visible": False}
    if np.isfinite(high):
        bar = {
            "type": "data",
            "symmetric": False,
            "array": [high - value],
            "arrayminus": [value - low],
            "color": TARGET,
            "thickness": 2,
            "width": 6,
        }
    trace = go.Scatter(
        x=[target],
        y=[value],
        mode="markers",
        name="forecast at the target",
        error_y=bar,
        hovertemplate=f"<b>Forecast at {flops_words(target)}</b><br>L* %{{y:.4f}}<extra></extra>",
        marker={"symbol": "star", "size": 13, "color": TARGET},
        showlegend=True,
    )
    _add_both(figure, trace, law)
    return [value, *(end for end in (low, high) if np.isfinite(end))]


def _add_published_laws(
    figure: go.Figure, laws: pd.DataFrame, compute: list[float], law: LossLaw | None
) -> None:
    flops = np.geomspace(min(compute) / 1.25, max(compute) * 1.25, 81)
    for place, row in enumerate(laws.to_dict("records")):
        values = float(row["E"]) + float(row["A"]) * flops ** -float(row["alpha"])
        name = escaped(f"{row['status']}: {row['what'] or 'law'}")
        equation = f"{row['E']:g} + {row['A']:g} C^-{row['alpha']:g}"
        trace = go.Scatter(
            x=flops,
            y=values,
            mode="lines",
            name="published or recomputed laws",
            legendgroup="published",
            line={"color": GREY, "width": 1.2, "dash": "dot", "simplify": False},
            text=[f"{name}<br>{equation}"] * len(flops),
            hovertemplate="%{text}<br>%{y:.4f} at %{x:.3e} FLOP<extra></extra>",
            showlegend=place == 0,
        )
        _add_both(figure, trace, law)


def _add_published_optima(figure: go.Figure, published: pd.DataFrame) -> None:
    figure.add_trace(
        go.Scatter(
            x=published["flops"].to_numpy(),
            y=published["loss_at_optimal"].to_numpy(),
            mode="markers",
            name="published optimum",
            text=[escaped(words) for words in published["fit_set"]],
            hovertemplate="published optimum %{y:.4f}<br>%{text}<extra></extra>",
            marker={"symbol": "diamond-open", "size": 13, "color": GREY, "line": {"width": 1.5}},
            showlegend=True,
        ),
        row=1,
        col=1,
    )
