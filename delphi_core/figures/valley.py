"""The valley around the optimum: loss and wasted compute against over-training or size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from delphi_core.figures.theme import (
    FITTED,
    GREY,
    amount_axis,
    budget_colors,
    escaped,
    lay_out,
)
from delphi_core.words import AMOUNTS, amount_words, flops_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from delphi_core.fits.planner import Plan

ValleyX = Literal["overtraining", "size"]
VALLEY_X: tuple[ValleyX, ...] = ("overtraining", "size")
_TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)


def valley_figure(
    curves: Sequence[tuple[Plan, pd.DataFrame]],
    *,
    value_title: str,
    size: str = "params",
    x: ValleyX = "overtraining",
) -> go.Figure:
    """The chart of what deviating from the optimum costs.

    Parameters
    ----------
    curves
        Plan of each budget, by compute, and rows of `deviations` along its valley.
    value_title
        Title of the value axis: metric and unit.
    size
        What the ladder's sizes are: params or active_params.
    x
        What the valley is drawn against: tokens per parameter over those of the optimum, or size.
    """
    figure = make_subplots(
        rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.06, row_heights=[0.6, 0.4]
    )
    colors = [FITTED] if len(curves) == 1 else budget_colors(len(curves))
    column = "overtraining" if x == "overtraining" else "params"
    for color, (plan, rows) in zip(colors, curves, strict=True):
        name = flops_words(plan.flops)
        known = ~rows["extrapolated"].to_numpy(dtype=bool)
        hover = [
            f"<b>{name}</b><br>{row['overtraining']:.3g}x over-trained<br>"
            f"{amount_words(row['params'])} {AMOUNTS[size]}, {amount_words(row['tokens'])} tokens"
            f"<br>loss {row['predicted']:.4f}, {row['above']:.4f} above the optimum<br>"
            f"{row['deadweight_pct']:.1f} % of the compute wasted"
            + ("<br>extrapolated" if row["extrapolated"] else "")
            for row in rows.to_dict("records")
        ]
        optimum = _optimum_words(plan, size)
        # Plotly shows the line's box where both lie, so that says what the optimum's does.
        hover[int(np.log(rows["overtraining"]).abs().argmin())] = optimum
        for panel, values in ((1, rows["predicted"]), (2, rows["deadweight_pct"])):
            for sampled in (True, False):
                figure.add_trace(
                    go.Scatter(
                        x=rows[column].to_numpy(),
                        y=_only(values.to_numpy(dtype=np.float64), _joined(known, sampled=sampled)),
                        mode="lines",
                        name=name if sampled else "extrapolated",
                        legendgroup=name if sampled else "extrapolated",
                        text=hover,
                        hovertemplate="%{text}<extra></extra>",
                        line={
                            "color": color,
                            "width": 2,
                            "dash": "solid" if sampled else "dot",
                            "simplify": False,
                        },
                        connectgaps=False,
                        showlegend=panel == 1 and sampled,
                    ),
                    row=panel,
                    col=1,
                )
        _add_optimum(figure, plan, color, optimum, x)
    _add_key(figure)
    axis = _axis(curves, size, x)
    lay_out(
        figure,
        height=620,
        legend={"y": -0.16},
        xaxis=axis | {"title": {"text": ""}, "showticklabels": False},
        xaxis2=axis,
        yaxis={"title": {"text": escaped(value_title)}},
        yaxis2={
            "title": {"text": "Compute wasted (%)"},
            "range": [-3, 103],
            "tickvals": [0, 50, 100],
        },
    )
    return figure


def _joined(known: np.ndarray, *, sampled: bool) -> np.ndarray:
    """Places to draw; an extrapolated stretch begins at the last sampled place beside it."""
    if sampled:
        return known
    outside = np.pad(~known, 1)
    return np.asarray(outside[1:-1] | outside[2:] | outside[:-2])


def _only(values: np.ndarray, places: np.ndarray) -> np.ndarray:
    return np.where(places, values, np.nan)


def _optimum_words(plan: Plan, size: str) -> str:
    words = (
        f"<b>optimum at {flops_words(plan.flops)}</b><br>{amount_words(plan.params)} "
        f"{AMOUNTS[size]} on {amount_words(plan.tokens)} tokens<br>loss {plan.predicted:.4f}"
    )
    if _bounded(plan):
        words += f"<br>{100 * plan.level:g} % band {plan.low:.4f} to {plan.high:.4f}"
    return words


def _bounded(plan: Plan) -> bool:
    return bool(np.isfinite(plan.low) and np.isfinite(plan.high))


def _add_optimum(figure: go.Figure, plan: Plan, color: str, words: str, x: ValleyX) -> None:
    """The optimum, with the band of the law."""
    place = 1.0 if x == "overtraining" else plan.params
    error = {
        "array": [plan.high - plan.predicted],
        "arrayminus": [plan.predicted - plan.low],
        "thickness": 1.2,
    }
    figure.add_trace(
        go.Scatter(
            x=[place],
            y=[plan.predicted],
            mode="markers",
            name="optimum",
            text=[words],
            hovertemplate="%{text}<extra></extra>",
            marker={"symbol": "diamond", "size": 10, "color": color},
            error_y=error if _bounded(plan) else None,
            showlegend=False,
        ),
        row=1,
        col=1,
    )


def _add_key(figure: go.Figure) -> None:
    """What dots and diamonds mean, in the legend."""
    for name, mode, look in (
        ("optimum, with the law's band", "markers", {"marker": {"symbol": "diamond", "size": 10}}),
        ("further off than any run fitted", "lines", {"line": {"dash": "dot", "width": 2}}),
    ):
        part = next(iter(look))
        look[part] = look[part] | {"color": GREY}
        figure.add_trace(
            go.Scatter(x=[None], y=[None], mode=mode, name=name, showlegend=True, **look),
            row=1,
            col=1,
        )


def _axis(curves: Sequence[tuple[Plan, pd.DataFrame]], size: str, x: ValleyX) -> dict[str, object]:
    if x == "size":
        seen = [float(end) for _, rows in curves for end in rows["params"].agg(["min", "max"])]
        return amount_axis(seen, f"Size ({AMOUNTS[size]})")
    return {
        "title": {"text": "Tokens per parameter over those of the optimum"},
        "type": "log",
        "range": [float(np.log10(_TICKS[0])) - 0.05, float(np.log10(_TICKS[-1])) + 0.05],
        "tickvals": list(_TICKS),
        "ticktext": [f"{tick:g}x" for tick in _TICKS],
    }


def valley_alt(curves: Sequence[tuple[Plan, pd.DataFrame]]) -> str:
    """The chart in numbers: loss and waste at the optimum, at ten times and at its far end."""
    parts = []
    for plan, rows in curves:
        words = f"At {flops_words(plan.flops)} the optimum has loss {plan.predicted:.4f}"
        for factor in (0.1, 10, 100):
            row = rows.iloc[int((np.log(rows["overtraining"] / factor)).abs().argmin())]
            words += (
                f"; {factor:g} times its tokens per parameter {row['predicted']:.4f}, "
                f"{row['deadweight_pct']:.0f} % of the compute wasted"
            )
        parts.append(words)
    return ". ".join(parts) + "."
