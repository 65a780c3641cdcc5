"""Walk-forward: error of each forecast of a later budget against its extrapolation ratio."""

from __future__ import annotations

from typing import TYPE_CHECKING

import plotly.graph_objects as go

from delphi_core.figures.theme import FITTED, GREY, MEASURED, lay_out
from delphi_core.words import flops_words, ratio_words

if TYPE_CHECKING:
    import pandas as pd


def walk_forward_figure(
    rows: pd.DataFrame, method: str, held_out: pd.DataFrame | None = None
) -> go.Figure:
    """The chart of a walk-forward.

    Parameters
    ----------
    rows
        Of `walk_forward_all`, one band.
    method
        Name of the method to bring out, with its bands; the others stand in grey.
    held_out
        Rows of `held_out_table` of that method, to show how much further they lie.
    """
    figure = go.Figure()
    others = rows[rows["method"] != method]
    if len(others):
        figure.add_trace(
            go.Scatter(
                x=others["ratio"],
                y=others["error_pct"],
                mode="markers",
                name="other methods",
                text=_hover(others),
                hovertemplate="%{text}<extra></extra>",
                marker={"color": GREY, "size": 7, "symbol": "circle-open"},
                showlegend=True,
            )
        )
    own = rows[rows["method"] == method]
    figure.add_trace(
        go.Scatter(
            x=own["ratio"],
            y=own["error_pct"],
            mode="markers",
            name=f"{method}, with its band",
            text=_hover(own),
            hovertemplate="%{text}<extra></extra>",
            # The band around the forecast, seen from the optimum: inside it where it spans zero.
            error_y={
                "type": "data",
                "symmetric": False,
                "array": 100 * (own["predicted"] - own["low"]) / own["predicted"],
                "arrayminus": 100 * (own["high"] - own["predicted"]) / own["predicted"],
                "color": FITTED,
                "thickness": 1.5,
            },
            marker={"color": FITTED, "size": 10, "symbol": "diamond"},
            showlegend=True,
        )
    )
    ratios = list(rows["ratio"])
    if held_out is not None and len(held_out):
        figure.add_trace(
            go.Scatter(
                x=held_out["ratio"],
                y=held_out["error_pct"],
                mode="markers",
                name="held-out runs, same method",
                text=[
                    f"held-out at {flops_words(flops)}: {error:+.2f} %"
                    for flops, error in zip(held_out["flops"], held_out["error_pct"], strict=True)
                ],
                hovertemplate="%{text}<extra></extra>",
                marker={"color": MEASURED, "size": 10},
                showlegend=True,
            )
        )
        ratios += list(held_out["ratio"])
    figure.add_hline(y=0, line={"color": GREY, "width": 1})
    ticks = [1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000]
    shown = [tick for tick in ticks if tick <= 1.3 * max(ratios, default=10)]
    lay_out(
        figure,
        height=500,
        xaxis={
            "type": "log",
            "title": {"text": "Extrapolation ratio: compute over the largest fitted"},
            "tickvals": shown,
            "ticktext": [str(tick) for tick in shown],
        },
        yaxis={"title": {"text": "Error (optimum or measured over forecast, %)"}},
    )
    return figure


def _hover(rows: pd.DataFrame) -> list[str]:
    return [
        f"<b>{row['method']}</b><br>fitted up to {flops_words(row['largest_flops'])} "
        f"({row['budgets']} budgets)<br>{flops_words(row['flops'])}, {ratio_words(row['ratio'])} "
        f"times that<br>forecast {row['predicted']:.4f}, optimum {row['optimum']:.4f}: "
        f"{row['error_pct']:+.3f} %"
        for row in rows.to_dict("records")
    ]
