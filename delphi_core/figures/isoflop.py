"""IsoFLOP curves: loss against tokens or size at each budget, fitted curves and their optima."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from delphi_core.figures.theme import GREY, TEMPLATE, amount_axis, budget_colors, escaped
from delphi_core.words import AMOUNTS, amount_words, count, flops_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from delphi_core.fits.isoflop import IsoflopResult

LEFT_OUT_SYMBOLS = {
    "excluded": "square-open",
    "diverged": "x-thin-open",
    "stopped early": "triangle-down-open",
    "validation": "cross-open",
}
_CURVE_POINTS = 101


def isoflop_figure(
    isoflop: IsoflopResult,
    *,
    value_title: str,
    size: str = "params",
    published: pd.DataFrame | None = None,
) -> go.Figure:
    """The IsoFLOP chart of a fit.

    Parameters
    ----------
    isoflop
        The fit; every one of its rows is drawn, those left out in grey with their reason.
    value_title
        Title of the value axis: metric and unit.
    size
        What the params column of the records holds: params or active_params.
    published
        Rows of published_optima with a parabola in log10 tokens, drawn dashed; only for a fit
        against tokens.

    Returns
    -------
    Figure
        Points carry their row of `isoflop.points` in customdata. The value axis covers what
        finished runs and curves show; diverged values may lie above it (`off_scale`).
    """
    x = isoflop.settings.x
    figure = go.Figure()
    _add_budgets(figure, isoflop, size)
    _add_optima(figure, isoflop, size)
    if published is not None:
        _add_published(figure, published)
    _add_left_out(figure, isoflop, size)
    shown = [float(v) for trace in figure.data for v in trace.x]
    figure.update_layout(
        template=TEMPLATE,
        height=560,
        xaxis=amount_axis(shown, AMOUNTS[x].capitalize()),
        yaxis={"title": {"text": escaped(value_title)}, "range": _value_range(isoflop, published)},
    )
    return figure


def isoflop_alt(isoflop: IsoflopResult, published: pd.DataFrame | None = None) -> str:
    """What the chart shows, in numbers, for those who cannot see it."""
    against = AMOUNTS[isoflop.settings.x]
    optima = "; ".join(
        f"at {flops_words(b.flops)} {amount_words(b.optimal_tokens or 0)} tokens, "
        f"size {amount_words(b.optimal_params or 0)}, loss {b.loss_at_optimal:.3f}"
        for b in isoflop.optima
    )
    words = f"Loss against {against} at {count(len(isoflop.budgets), 'compute budget')}."
    words += f" Optima: {optima}." if optima else " No budget could be fitted."
    if published is not None:
        rows = "; ".join(
            f"at {flops_words(row['flops'])} {amount_words(row['optimal_tokens'])} tokens, "
            f"loss {row['loss_at_optimal']:.3f}"
            for row in published.to_dict("records")
        )
        words += f" Published optima: {rows}."
    return words


def off_scale(isoflop: IsoflopResult) -> pd.DataFrame:
    """Rows whose value lies outside the value axis of `isoflop_figure`."""
    low, high = _value_range(isoflop, None)
    points = isoflop.points
    return points[(points["value"] < low) | (points["value"] > high)]


def _value_range(isoflop: IsoflopResult, published: pd.DataFrame | None) -> list[float]:
    """Ends of the value axis: all values but diverged ones, which would flatten the curves."""
    points = isoflop.points
    diverged = points["left_out_reason"].str.startswith("diverged").fillna(value=False)
    values = points.loc[~diverged.astype(bool), "value"].to_list()
    values += [b.loss_at_optimal for b in isoflop.optima]
    if published is not None:
        values += [
            float(v) for _, y in map(_published_curve, published.to_dict("records")) for v in y
        ]
    if not values:
        values = points["value"].to_list()
    low, high = min(values), max(values)
    pad = 0.05 * (high - low) or 0.05
    return [low - pad, high + pad]


def _along(isoflop: IsoflopResult) -> str:
    return "tokens" if isoflop.settings.x == "tokens" else "params"


def _points(isoflop: IsoflopResult, rows: pd.DataFrame, size: str, **look: Any) -> go.Scatter:
    return go.Scatter(
        x=rows[_along(isoflop)].to_numpy(dtype=np.float64),
        y=rows["value"].to_numpy(dtype=np.float64),
        mode="markers",
        text=[_point_words(row, size) for row in rows.to_dict("records")],
        customdata=rows.index.to_numpy(),
        hovertemplate="%{text}<extra></extra>",
        showlegend=True,
        **look,
    )


def _point_words(row: Mapping[Any, Any], size: str) -> str:
    reason = row["left_out_reason"]
    return (
        f"<b>{escaped(row.get('run', 'run without a name'))}</b><br>"
        f"{amount_words(row['params'])} {AMOUNTS[size]}<br>{amount_words(row['tokens'])} tokens, "
        f"{row['tokens'] / row['params']:.3g} a parameter<br>{flops_words(row['flops'])}<br>"
        f"value {row['value']:.4f}" + (f"<br>{escaped(reason)}" if pd.notna(reason) else "")
    )


def _add_budgets(figure: go.Figure, isoflop: IsoflopResult, size: str) -> None:
    colors = budget_colors(len(isoflop.budgets))
    points = isoflop.points
    for budget, color in zip(isoflop.budgets, colors, strict=True):
        name = flops_words(budget.flops)
        rows = points[(points["budget_flops"] == budget.flops)]
        symbol = "circle" if budget.curve else "circle-open"
        marker = {"color": color, "size": 8, "symbol": symbol}
        figure.add_trace(_points(isoflop, rows, size, name=name, legendgroup=name, marker=marker))
        if budget.curve is None:
            continue
        ends = [budget.curve.low, budget.curve.high]
        if budget.optimal_x is not None:
            ends.append(budget.optimal_x)
        # An extrapolated optimum may lie anywhere: the curve follows it for a decade at most.
        low = max(min(ends), budget.curve.low - 1)
        high = min(max(ends), budget.curve.high + 1)
        x = np.linspace(low, high, _CURVE_POINTS)
        figure.add_trace(
            go.Scatter(
                x=10.0**x,
                y=budget.curve.predict(x),
                mode="lines",
                name=f"{name}, fitted",
                legendgroup=name,
                line={"color": color, "width": 2, "simplify": False},
                hoverinfo="skip",
                showlegend=False,
            )
        )


def _add_optima(figure: go.Figure, isoflop: IsoflopResult, size: str) -> None:
    optima = isoflop.optima
    if not optima:
        return
    places = {budget.flops: place for place, budget in enumerate(isoflop.budgets)}
    colors = budget_colors(len(isoflop.budgets))
    hover = [
        f"<b>Optimum at {flops_words(b.flops)}</b><br>{amount_words(b.optimal_tokens or 0)} tokens"
        f"<br>{amount_words(b.optimal_params or 0)} {AMOUNTS[size]}<br>loss {b.loss_at_optimal:.4f}"
        + "".join(f"<br>{escaped(sentence)}" for sentence in b.sentences)
        for b in optima
    ]
    figure.add_trace(
        go.Scatter(
            x=[getattr(b, f"optimal_{_along(isoflop)}") for b in optima],
            y=[b.loss_at_optimal for b in optima],
            mode="lines+markers",
            name="optimum",
            text=hover,
            hovertemplate="%{text}<extra></extra>",
            line={"color": GREY, "width": 1.5, "dash": "dot"},
            marker={
                "symbol": "diamond",
                "size": 12,
                "color": [colors[places[b.flops]] for b in optima],
                "line": {"color": GREY, "width": 1.5},
            },
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
        figure.add_trace(_points(isoflop, group, size, name=name, marker=marker))


def _published_curve(row: Mapping[Any, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Tokens and loss along one published parabola, over the tokens it was fitted on."""
    x = np.linspace(np.log10(row["token_min"]), np.log10(row["token_max"]), _CURVE_POINTS)
    return 10.0**x, row["a"] * x**2 + row["b"] * x + row["c"]


def _add_published(figure: go.Figure, published: pd.DataFrame) -> None:
    colors = budget_colors(len(published))
    for row, color in zip(published.to_dict("records"), colors, strict=True):
        x, y = _published_curve(row)
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
    figure.add_trace(
        go.Scatter(
            x=published["optimal_tokens"].to_numpy(),
            y=published["loss_at_optimal"].to_numpy(),
            mode="lines+markers",
            name="published optimum",
            text=[
                f"<b>Published optimum at {flops_words(row['flops'])}</b><br>"
                f"{amount_words(row['optimal_tokens'])} tokens<br>"
                f"{amount_words(row['optimal_params'])} parameters<br>"
                f"value {row['loss_at_optimal']:.4f}<br>{escaped(row['fit_set'])}"
                for row in published.to_dict("records")
            ],
            hovertemplate="%{text}<extra></extra>",
            line={"color": GREY, "width": 1.5, "dash": "dot"},
            marker={"symbol": "diamond-open", "size": 12, "color": colors},
            showlegend=True,
        )
    )
