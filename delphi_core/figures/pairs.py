"""Two ladders run by run: how much lower the loss is in each pair of equal runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from delphi_core.figures.recipes import recipe_style
from delphi_core.figures.theme import GREY, escaped, flops_axis, lay_out, value_axis
from delphi_core.words import flops_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd


def pairs_figure(
    lines: Sequence[tuple[str, int, pd.DataFrame]], *, base: str, unit: str
) -> go.Figure:
    """The chart of pairs.

    Parameters
    ----------
    lines
        Title of a ladder, which colour it has (the base 0), and rows of `paired_runs`.
    base
        Title of the base.
    unit
        Of the metric.
    """
    figure = go.Figure()
    compute: list[float] = []
    seen = [0.0]
    for title, place, pairs in lines:
        color, symbol = recipe_style(place)
        compute += list(pairs["flops"])
        seen += list(pairs["difference"])
        hover = [
            f"<b>{escaped(row['run'])}</b> {row['value']:.4f}<br>"
            f"{escaped(row['base_run'])} {row['base_value']:.4f}<br>"
            f"{flops_words(row['flops'])}, lower by {row['difference']:.4f}"
            for row in pairs.to_dict("records")
        ]
        figure.add_trace(
            go.Scatter(
                x=pairs["flops"].to_numpy(),
                y=pairs["difference"].to_numpy(),
                mode="markers",
                name=escaped(title),
                text=hover,
                hovertemplate="%{text}<extra></extra>",
                marker={"symbol": symbol, "size": 8, "color": color, "opacity": 0.85},
                showlegend=True,
            )
        )
    pad = 0.06 * (max(seen) - min(seen)) or 0.05
    figure.add_hline(y=0.0, line={"color": GREY, "width": 1.5})
    lay_out(
        figure,
        height=480,
        xaxis=flops_axis(compute),
        yaxis=value_axis(
            [min(seen) - pad, max(seen) + pad],
            f"Below {escaped(base)} by ({escaped(unit)})",
            "linear",
        ),
    )
    return figure
