"""What the IsoFLOP chart covers, and what lies outside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from delphi_core.words import amount_words, count, flops_words

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    from delphi_core.fits.isoflop import IsoflopResult

_CURVE_POINTS = 101


def off_chart(isoflop: IsoflopResult, published: pd.DataFrame | None = None) -> list[str]:
    """What the axes of `isoflop_figure` leave outside.

    Parameters
    ----------
    isoflop, published
        As the figure takes them.

    Returns
    -------
    list of str
        A sentence each; empty where all is on the chart.
    """
    sentences = []
    low, high = value_range(isoflop, published)
    points = drawn(isoflop, isoflop.points)
    outside = points.loc[(points["value"] < low) | (points["value"] > high), "value"]
    if len(outside):
        values = ", ".join(f"{value:.2f}" for value in sorted(outside))
        sentences.append(f"{count(len(outside), 'run')} off the chart, at {values}.")
    if hidden := len(isoflop.points) - len(points):
        sentences.append(f"{count(hidden, 'run')} not drawn: a number is missing.")
    amounts = amounts_covered(isoflop, published)
    far = [
        f"{amount_words(amount)} at {flops_words(flops)}"
        for flops, amount in optimal_amounts(isoflop)
        if not min(amounts) <= amount <= max(amounts)
    ]
    if far:
        sentences.append(f"Optima off the chart: {', '.join(far)}.")
    return sentences


def along(isoflop: IsoflopResult) -> str:
    """Column of the records that the chart's first axis shows."""
    return "tokens" if isoflop.settings.x == "tokens" else "params"


def optimal_amounts(isoflop: IsoflopResult) -> list[tuple[float, float]]:
    """C (FLOP) and D* or N*, whichever the first axis shows, of each optimum."""
    name = f"optimal_{along(isoflop)}"
    return [(budget.flops, float(getattr(budget, name))) for budget in isoflop.optima]


def drawn(isoflop: IsoflopResult, rows: pd.DataFrame) -> pd.DataFrame:
    """The rows that have a place on the chart."""
    amounts = rows[along(isoflop)].to_numpy(dtype=np.float64)
    values = rows["value"].to_numpy(dtype=np.float64)
    kept: pd.DataFrame = rows[np.isfinite(amounts) & (amounts > 0) & np.isfinite(values)]
    return kept


def amounts_covered(isoflop: IsoflopResult, published: pd.DataFrame | None) -> list[float]:
    """Amounts that the first axis covers: all runs, and the optima within a decade of them."""
    amounts = [float(amount) for amount in drawn(isoflop, isoflop.points)[along(isoflop)]]
    if published is not None:
        amounts += [float(x) for name in ("token_min", "token_max") for x in published[name]]
    if not amounts:
        return [1e9]
    low, high = min(amounts) / 10, max(amounts) * 10
    return amounts + [amount for _, amount in optimal_amounts(isoflop) if low <= amount <= high]


def value_range(isoflop: IsoflopResult, published: pd.DataFrame | None) -> list[float]:
    """Ends of the value axis: all values but diverged ones, which would flatten the curves."""
    points = drawn(isoflop, isoflop.points)
    diverged = points["left_out_reason"].str.startswith("diverged").fillna(value=False)
    values = points.loc[~diverged.astype(bool), "value"].to_list()
    values += [budget.loss_at_optimal for budget in isoflop.optima]
    if published is not None:
        for row in published.to_dict("records"):
            values += published_curve(*(float(row[name]) for name in PUBLISHED_CURVE))[1].tolist()
    values = values or points["value"].to_list() or [0.0, 1.0]
    low, high = min(values), max(values)
    pad = 0.05 * (high - low) or 0.05
    return [low - pad, high + pad]


PUBLISHED_CURVE = ("token_min", "token_max", "a", "b", "c")
"""Columns of published_optima that `published_curve` takes."""


def published_curve(
    token_min: float, token_max: float, a: float, b: float, c: float
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Tokens and values along a published parabola in log10 tokens, where it was fitted."""
    x = np.linspace(np.log10(token_min), np.log10(token_max), _CURVE_POINTS)
    return 10.0**x, a * x**2 + b * x + c
