"""Published forecasts: error of each against how far it was extrapolated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go

from delphi_core.figures.theme import BUDGET_SCALE, GREY, escaped, lay_out
from delphi_core.words import count, flops_words, ratio_words

if TYPE_CHECKING:
    import pandas as pd

_TICKS = [1, 3, 10, 30, 100, 300, 1000, 3000, 10_000, 100_000, 1_000_000]


def ledger_figure(ledger: pd.DataFrame) -> go.Figure:
    """The chart of a ledger: preregistered forecasts filled, others open, a colour a ladder.

    Parameters
    ----------
    ledger
        Rows of `forecast_ledger`; those are drawn that `drawn_forecasts` keeps.
    """
    rows = drawn_forecasts(ledger)
    figure = go.Figure()
    ladders = list(dict.fromkeys(rows["ladder"]))
    for place, ladder in enumerate(ladders):
        color = BUDGET_SCALE[place % len(BUDGET_SCALE)]
        for preregistered in (True, False):
            own = rows[(rows["ladder"] == ladder) & (rows["preregistered"] == preregistered)]
            if not len(own):
                continue
            figure.add_trace(
                go.Scatter(
                    x=own["ratio"],
                    y=own["error_pct"],
                    mode="markers",
                    name=escaped(ladder) + (", preregistered" if preregistered else ""),
                    text=_hover(own),
                    hovertemplate="%{text}<extra></extra>",
                    marker={
                        "color": color,
                        "size": 11 if preregistered else 9,
                        "symbol": "circle" if preregistered else "circle-open",
                        "line": {"width": 1.5 if preregistered else 2, "color": color},
                    },
                    showlegend=True,
                )
            )
    figure.add_hline(y=0, line={"color": GREY, "width": 1})
    largest = max(rows["ratio"], default=10.0)
    shown = [tick for tick in _TICKS if tick <= 1.5 * largest]
    lay_out(
        figure,
        height=480,
        xaxis={
            "type": "log",
            "title": {"text": "Extrapolation ratio: compute over the largest fitted"},
            "tickvals": shown,
            "ticktext": [f"{tick:,}" for tick in shown],
        },
        yaxis={"title": {"text": "Error (measured over forecast, %)"}},
    )
    return figure


def drawn_forecasts(ledger: pd.DataFrame) -> pd.DataFrame:
    """The forecasts that have an outcome and lie beyond what they were fitted on."""
    return ledger[ledger["error_pct"].notna() & (ledger["ratio"] > 1 + 1e-9)]


def ledger_alt(ledger: pd.DataFrame) -> str:
    """What the chart says, in words."""
    rows = drawn_forecasts(ledger)
    if not len(rows):
        return "No published forecast beyond what it was fitted on has an outcome."
    own = rows[rows["preregistered"]]
    words = (
        f"Error of {count(len(rows), 'published forecast')} against extrapolation ratio, from "
        f"{rows['error_pct'].min():+.2f} to {rows['error_pct'].max():+.2f} % at ratios of "
        f"{ratio_words(rows['ratio'].min())} to {ratio_words(rows['ratio'].max())}."
    )
    if len(own):
        ends = f"from {own['error_pct'].min():+.2f} to {own['error_pct'].max():+.2f} %"
        words += f" Preregistered, filled: {len(own)}, {ends}."
    return words


def _hover(rows: pd.DataFrame) -> list[str]:
    cells = rows.astype(object).where(rows.notna(), None)
    return [
        f"<b>{escaped(row['run'] or row['ladder'])}</b><br>{escaped(row['method'])}"
        f"<br>made {escaped(row['made'])}; fitted on {escaped(row['fitted_on'])}"
        f"<br>{flops_words(row['flops'])} ({100 * row['fraction']:g} % of training), "
        f"{ratio_words(row['ratio'])} times that"
        f"<br>{_outcome(row)}"
        for row in cells.to_dict("records")
    ]


def _outcome(row: dict[Any, Any]) -> str:
    predicted = "not printed" if row["predicted"] is None else f"{row['predicted']:.4g}"
    measured = "" if row["actual"] is None else f", measured {row['actual']:.4g}"
    return f"forecast {predicted}{measured}: {row['error_pct']:+.2f} % ({row['error_from']})"
