"""The optimal number of tokens or parameters against compute, with its law and band."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import plotly.graph_objects as go

from delphi_core.figures.theme import (
    FITTED,
    GREY,
    TARGET,
    amount_axis,
    escaped,
    faint,
    flops_axis,
    lay_out,
)
from delphi_core.words import AMOUNTS, amount_words, flops_words

if TYPE_CHECKING:
    import pandas as pd

    from delphi_core.fits.optima import Optima
    from delphi_core.fits.power_law import PowerLaw


def size_law_figure(
    law: PowerLaw | None,
    optima: Optima,
    quantity: Literal["tokens", "params"],
    *,
    size: str = "params",
    target: float | None = None,
    published_laws: pd.DataFrame | None = None,
    published_optima: pd.DataFrame | None = None,
) -> go.Figure:
    """The chart of a token law or params law.

    Parameters
    ----------
    law
        The law; None where there is none.
    optima
        What it was fitted to, or what the budgets' own curves say.
    quantity
        tokens (D*) or params (N*).
    size
        What the params column of the records holds: params or active_params.
    target
        Compute to read the law at, FLOP.
    published_laws, published_optima
        What to lay over: rows of `published.published_size_laws` and of published_optima.
    """
    amounts = optima.tokens if quantity == "tokens" else optima.params
    known = np.isfinite(amounts)
    compute = [float(flops) for flops in optima.flops[known]]
    if target is not None:
        compute.append(target)
    noun = AMOUNTS["tokens" if quantity == "tokens" else size]
    figure = go.Figure()
    flops = np.geomspace(min(compute) / 1.25, max(compute) * 1.25, 81) if compute else np.array([])
    seen = [float(amount) for amount in amounts[known]]
    if law is not None and len(flops):
        seen += _add_law(figure, law, flops)
    if published_laws is not None:
        own = published_laws[published_laws["quantity"] == quantity]
        for place, row in enumerate(own.to_dict("records")):
            values = 10 ** (row["exponent"] * np.log10(flops) + row["log10_coefficient"])
            figure.add_trace(
                go.Scatter(
                    x=flops,
                    y=values,
                    mode="lines",
                    name="published law",
                    legendgroup="published",
                    text=[f"{escaped(row['what'])}<br>exponent {row['exponent']:.4f}"] * len(flops),
                    hovertemplate="%{text}<extra></extra>",
                    line={"color": GREY, "width": 1.2, "dash": "dot"},
                    showlegend=place == 0,
                )
            )
    if published_optima is not None:
        rows = published_optima.dropna(subset=[f"optimal_{quantity}"])
        if len(rows):
            figure.add_trace(
                go.Scatter(
                    x=rows["flops"].to_numpy(),
                    y=rows[f"optimal_{quantity}"].to_numpy(),
                    mode="markers",
                    name="published optimum",
                    text=[escaped(words) for words in rows["fit_set"]],
                    hovertemplate="published %{y:.4e}<br>%{text}<extra></extra>",
                    marker={"symbol": "diamond-open", "size": 13, "color": GREY},
                    showlegend=True,
                )
            )
    figure.add_trace(
        go.Scatter(
            x=optima.flops[known],
            y=amounts[known],
            mode="markers",
            name="optimum of a budget",
            text=[
                f"<b>{flops_words(c)}</b><br>{amount_words(amount)} {noun}"
                for c, amount in zip(optima.flops[known], amounts[known], strict=True)
            ],
            hovertemplate="%{text}<extra></extra>",
            marker={"symbol": "diamond", "size": 10, "color": FITTED},
            showlegend=True,
        )
    )
    if law is not None and target is not None:
        value = float(law.predict(target))
        figure.add_trace(
            go.Scatter(
                x=[target],
                y=[value],
                mode="markers+text",
                name="at the target",
                text=[amount_words(value)],
                textposition="middle left",
                hovertemplate=f"<b>{flops_words(target)}</b><br>{amount_words(value)} {noun}"
                "<extra></extra>",
                marker={"symbol": "star", "size": 13, "color": TARGET},
                showlegend=True,
            )
        )
    symbol = "D*" if quantity == "tokens" else "N*"
    lay_out(
        figure,
        height=460,
        xaxis=flops_axis(compute),
        yaxis=amount_axis(seen, f"Optimal {noun} {symbol}"),
    )
    return figure


def _add_law(figure: go.Figure, law: PowerLaw, flops: np.ndarray) -> list[float]:
    """The law and, where its optima tell how they scatter, its band; amounts in sight."""
    low, high = law.band(flops)
    value = law.predict(flops)
    if np.isfinite(high).all():
        for values, fill in ((low, None), (high, "tonexty")):
            figure.add_trace(
                go.Scatter(
                    x=flops,
                    y=values,
                    mode="lines",
                    name=f"{100 * law.interval.level:g} % band",
                    legendgroup="band",
                    line={"width": 0, "color": FITTED},
                    fill=fill,
                    fillcolor=faint(FITTED),
                    hoverinfo="skip",
                    showlegend=fill is not None,
                )
            )
    figure.add_trace(
        go.Scatter(
            x=flops,
            y=value,
            mode="lines",
            name="law",
            line={"color": FITTED, "width": 2},
            hovertemplate="%{y:.4e} at %{x:.3e} FLOP<extra></extra>",
            showlegend=True,
        )
    )
    return [float(amount) for amount in value]
