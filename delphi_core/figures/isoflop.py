"""IsoFLOP curves: loss against tokens or size at each budget, fitted curves and their optima."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import plotly.graph_objects as go

from delphi_core.figures.isoflop_extent import (
    PUBLISHED_CURVE,
    along,
    amounts_covered,
    drawn,
    optimal_amounts,
    published_curve,
    value_range,
)
from delphi_core.figures.isoflop_words import optimum_words, point_words
from delphi_core.figures.theme import (
    GREY,
    amount_axis,
    budget_colors,
    escaped,
    lay_out,
    value_axis,
)
from delphi_core.records import run_names
from delphi_core.words import AMOUNTS, amount_words, flops_words

if TYPE_CHECKING:
    import pandas as pd

    from delphi_core.fits.budget import BudgetFit
    from delphi_core.fits.isoflop import IsoflopResult

_SHOWN = ["params", "tokens", "flops", "value", "left_out_reason"]
LEFT_OUT_SYMBOLS = {
    "excluded": "square-open",
    "diverged": "x-thin-open",
    "stopped early": "triangle-down-open",
    "validation": "cross-open",
    "target": "star-diamond-open",
}


def isoflop_figure(
    isoflop: IsoflopResult,
    *,
    value_title: str,
    size: str = "params",
    published: pd.DataFrame | None = None,
    y: Literal["linear", "log"] = "linear",
) -> go.Figure:
    """The IsoFLOP chart of a fit.

    Parameters
    ----------
    isoflop
        The fit. Every row with finite numbers is drawn: in its budget's colour, open where the
        budget is too small to fit; in grey where it is left out.
    value_title
        Title of the value axis: metric and unit.
    size
        What the params column of the records holds: params or active_params.
    published
        Rows of published_optima with a parabola in log10 tokens, drawn dashed; only for a fit
        against tokens.
    y
        Scale of the value axis; a range that reaches zero stays linear.

    Returns
    -------
    Figure
        Points carry the name of their run in customdata. The value axis covers what
        finished runs and curves show, and the other axis the runs and a decade around them;
        `isoflop_extent.off_chart` says what lies outside.
    """
    figure = go.Figure()
    _add_path(figure, isoflop)
    _add_budgets(figure, isoflop, size)
    if published is not None:
        _add_published(figure, published, size)
    _add_left_out(figure, isoflop, size)
    title = AMOUNTS[isoflop.settings.x].capitalize()
    lay_out(
        figure,
        height=560,
        xaxis=amount_axis(amounts_covered(isoflop, published), title),
        yaxis=value_axis(value_range(isoflop, published), escaped(value_title), y),
    )
    return figure


def _points(isoflop: IsoflopResult, rows: pd.DataFrame, size: str, **look: Any) -> go.Scatter:
    rows = drawn(isoflop, rows)
    return go.Scatter(
        x=rows[along(isoflop)].to_numpy(dtype=np.float64),
        y=rows["value"].to_numpy(dtype=np.float64),
        mode="markers",
        text=[
            point_words(name, row, size)
            for name, row in zip(run_names(rows), rows[_SHOWN].to_dict("records"), strict=True)
        ],
        customdata=run_names(rows),
        hovertemplate="%{text}<extra></extra>",
        showlegend=True,
        # A click on one run shows it: the others step back, but stay readable.
        unselected={"marker": {"opacity": 0.5}},
        **look,
    )


def _add_budgets(figure: go.Figure, isoflop: IsoflopResult, size: str) -> None:
    """Points, curve and optimum of each budget; a click on its legend entry hides all three."""
    points = isoflop.points
    colors = budget_colors(len(isoflop.budgets))
    for budget, color in zip(isoflop.budgets, colors, strict=True):
        name = flops_words(budget.flops)
        rows = points[points["budget_flops"] == budget.flops]
        marker = {"color": color, "size": 8, "symbol": "circle" if budget.curve else "circle-open"}
        figure.add_trace(_points(isoflop, rows, size, name=name, legendgroup=name, marker=marker))
        if budget.curve is None:
            continue
        ends = [budget.curve.low, budget.curve.high]
        if budget.optimal_x is not None:
            ends.append(budget.optimal_x)
        # An extrapolated optimum may lie anywhere: the curve follows it for a decade at most.
        low = max(min(ends), budget.curve.low - 1)
        high = min(max(ends), budget.curve.high + 1)
        x = np.linspace(low, high, 101)
        figure.add_trace(
            go.Scatter(
                x=10.0**x,
                y=budget.curve.predict(x),
                mode="lines+text",
                # At its right end, beside its last point, a curve says which it is.
                text=[""] * (len(x) - 1) + [f"\u2002{name.removesuffix(' FLOP')}"],
                textposition="top right",
                name=f"{name}, fitted",
                legendgroup=name,
                line={"color": color, "width": 2, "simplify": False},
                hoverinfo="skip",
                showlegend=False,
            )
        )
        if budget.optimal_x is not None:
            figure.add_trace(_optimum(isoflop, budget, size, color))


def _optimum(isoflop: IsoflopResult, budget: BudgetFit, size: str, color: str) -> go.Scatter:
    """Optimum of a budget with its interval, which ends where the axis does if not before."""
    amount = float(getattr(budget, f"optimal_{along(isoflop)}"))
    covered = amounts_covered(isoflop, None)
    low, high = amount, amount
    if budget.interval is not None and budget.interval.method != "none":
        low = min(max(budget.interval.low, min(covered)), amount)
        high = max(min(budget.interval.high, max(covered)), amount)
    return go.Scatter(
        x=[amount],
        y=[budget.loss_at_optimal],
        mode="markers",
        name=f"{flops_words(budget.flops)}, optimum",
        legendgroup=flops_words(budget.flops),
        text=[optimum_words(isoflop, budget, size)],
        hovertemplate="%{text}<extra></extra>",
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [high - amount],
            "arrayminus": [amount - low],
            "color": color,
            "thickness": 2,
            "width": 6,
        },
        marker={
            "symbol": "diamond",
            "size": 12,
            "color": color,
            "line": {"color": GREY, "width": 1.5},
        },
        showlegend=False,
    )


def _add_path(figure: go.Figure, isoflop: IsoflopResult) -> None:
    """Dotted line through the optima, and what a diamond means."""
    if not isoflop.optima:
        return
    level = isoflop.settings.level
    figure.add_trace(
        go.Scatter(
            x=[amount for _, amount in optimal_amounts(isoflop)],
            y=[budget.loss_at_optimal for budget in isoflop.optima],
            mode="lines+markers",
            name=f"optimum, {100 * level:g} % interval",
            line={"color": GREY, "width": 1.5, "dash": "dot"},
            marker={"symbol": "diamond", "size": 5, "color": GREY},
            hoverinfo="skip",
            showlegend=True,
        )
    )


def _add_left_out(figure: go.Figure, isoflop: IsoflopResult, size: str) -> None:
    rows = isoflop.points[isoflop.points["budget_flops"].isna()]
    kinds = rows["left_out_reason"].str.split(":").str[0]
    for kind, group in rows.groupby(kinds, sort=False):
        marker = {
            "color": GREY,
            "size": 9,
            "symbol": LEFT_OUT_SYMBOLS.get(str(kind), "circle-open"),
            "line": {"color": GREY, "width": 1.5},
        }
        name = f"{escaped(kind)}, not fitted"
        if kind == "diverged":
            name += " (off the chart)"
        figure.add_trace(_points(isoflop, group, size, name=name, marker=marker))


def _add_published(figure: go.Figure, published: pd.DataFrame, size: str) -> None:
    colors = budget_colors(len(published))
    rows = published.to_dict("records")
    for row, color in zip(rows, colors, strict=True):
        x, y = published_curve(*(float(row[name]) for name in PUBLISHED_CURVE))
        figure.add_trace(
            go.Scatter(
                x=x,
                y=y,
                mode="lines",
                name=f"{flops_words(row['flops'])}, published",
                line={"color": color, "width": 2, "dash": "dash", "simplify": False},
                hoverinfo="skip",
                showlegend=True,
            )
        )
    hover = [
        f"<b>Published optimum at {flops_words(row['flops'])}</b><br>"
        f"{amount_words(row['optimal_tokens'])} tokens<br>"
        f"{amount_words(row['optimal_params'])} {AMOUNTS[size]}<br>"
        f"value {row['loss_at_optimal']:.4f}<br>{escaped(row['fit_set'])}"
        for row in rows
    ]
    figure.add_trace(
        go.Scatter(
            x=published["optimal_tokens"].to_numpy(),
            y=published["loss_at_optimal"].to_numpy(),
            mode="lines+markers",
            name="published optimum",
            text=hover,
            hovertemplate="%{text}<extra></extra>",
            line={"color": GREY, "width": 1.5, "dash": "dot"},
            marker={"symbol": "diamond-open", "size": 12, "color": colors},
            showlegend=True,
        )
    )
