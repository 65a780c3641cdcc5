"""What the charts of recipes say in words, for those who cannot see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from delphi_core.words import count, flops_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from delphi_core.figures.metric_panel import MetricPanel
    from delphi_core.figures.recipes import RecipeLine
    from delphi_core.figures.speedup import SpeedUpLine


def recipes_alt(lines: Sequence[RecipeLine], published: pd.DataFrame | None = None) -> str:
    """The chart of laws, in numbers."""
    parts = [f"Loss at the optimum against compute of {count(len(lines), 'ladder')}."]
    for line in lines:
        points = "; ".join(
            f"{loss:.4f} at {flops_words(flops)}"
            for flops, loss in zip(line.optima.flops, line.optima.losses, strict=True)
        )
        law = "no law" if line.law is None else f"law {line.law.equation}"
        beyond = "".join(
            f" Held out at {flops_words(item.flops)}: {item.measured:.4f}."
            for item in line.held_out
        )
        parts.append(f"{line.name}: {points}; {law}.{beyond}")
    if published is not None and len(published):
        parts.append(f"Published laws: {', '.join(published['id'])}.")
    return " ".join(parts)


def speed_up_alt(lines: Sequence[SpeedUpLine], base: str) -> str:
    """The chart of speed-ups, in numbers."""
    parts = [f"Compute that {base} needs for the same loss over the recipe's own, by compute."]
    for line in lines:
        found = line.at_optima
        points = []
        for place, value in enumerate(found.value):
            words = f"{value:.3f}" if np.isfinite(value) else "open"
            if np.isfinite(found.low[place]) and np.isfinite(found.high[place]):
                words += f" ({found.low[place]:.3f} to {found.high[place]:.3f})"
            points.append(f"{words} at {flops_words(found.flops[place])}")
        parts.append(f"{line.name}: {'; '.join(points)}.")
    return " ".join(parts)


def pairs_alt(lines: Sequence[tuple[str, int, pd.DataFrame]], base: str) -> str:
    """The chart of pairs, in numbers."""
    parts = [f"Loss of {base} less that of the recipe's run of equal width, tokens and batch."]
    for title, _, pairs in lines:
        low, high = pairs["difference"].min(), pairs["difference"].max()
        parts.append(
            f"{title}: lower in {int(pairs['ahead'].sum())} of {count(len(pairs), 'pair')}, "
            f"differences {low:.4f} to {high:.4f}."
        )
    return " ".join(parts)


def metric_panel_alt(panel: MetricPanel) -> str:
    """The panel of a metric, in numbers."""
    return f"{panel.title}. {recipes_alt([line for _, line in panel.lines])}"
