"""What the IsoFLOP chart says in words: its description and its hover boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from delphi_core.figures.theme import escaped
from delphi_core.words import AMOUNTS, amount_words, count, flops_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from delphi_core.fits.budget import BudgetFit
    from delphi_core.fits.isoflop import IsoflopResult


def isoflop_alt(
    isoflop: IsoflopResult, size: str = "params", published: pd.DataFrame | None = None
) -> str:
    """What the chart shows, in numbers, for those who cannot see it; arguments as the figure's."""
    against = AMOUNTS[isoflop.settings.x]
    optima = "; ".join(
        f"at {flops_words(b.flops)} {amount_words(b.optimal_tokens or 0)} tokens, "
        f"{amount_words(b.optimal_params or 0)} {AMOUNTS[size]}, value {b.loss_at_optimal:.3f}"
        + (f", {b.interval.describe(against)}" if b.interval else "")
        for b in isoflop.optima
    )
    words = f"Value against {against} at {count(len(isoflop.budgets), 'compute budget')}."
    words += f" Optima: {optima}." if optima else " No budget has an optimum."
    if published is not None:
        rows = "; ".join(
            f"at {flops_words(row['flops'])} {amount_words(row['optimal_tokens'])} tokens, "
            f"value {row['loss_at_optimal']:.3f}"
            for row in published.to_dict("records")
        )
        words += f" Published optima: {rows}."
    return words


def point_words(name: str, row: Mapping[Any, Any], size: str) -> str:
    """Hover box of a run; what is not known of it is left out."""
    lines = [f"<b>{escaped(name)}</b>"]
    if row["params"] > 0:
        lines.append(f"{amount_words(row['params'])} {AMOUNTS[size]}")
    if row["tokens"] > 0:
        lines.append(f"{amount_words(row['tokens'])} tokens")
    if (ratio := row["tokens"] / row["params"]) > 0:
        lines.append(f"{ratio:.3g} tokens per {AMOUNTS[size].removesuffix('s')}")
    if row["flops"] > 0:
        lines.append(flops_words(row["flops"]))
    lines.append(f"value {row['value']:.4f}")
    if pd.notna(reason := row["left_out_reason"]):
        lines.append(escaped(reason))
    return "<br>".join(lines)


def optimum_words(isoflop: IsoflopResult, budget: BudgetFit, size: str) -> str:
    """Hover box of an optimum."""
    lines = [
        f"<b>Optimum at {flops_words(budget.flops)}</b>",
        f"{amount_words(budget.optimal_tokens or 0)} tokens",
        f"{amount_words(budget.optimal_params or 0)} {AMOUNTS[size]}",
        f"value {budget.loss_at_optimal:.4f}",
    ]
    if budget.interval is not None:
        lines.append(budget.interval.describe(AMOUNTS[isoflop.settings.x]))
    return "<br>".join([*lines, *(escaped(sentence) for sentence in budget.sentences)])
