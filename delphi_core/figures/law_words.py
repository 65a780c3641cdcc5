"""What the charts of laws say in words, for those who cannot see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from delphi_core.words import AMOUNTS, amount_words, count, flops_words, ratio_words

if TYPE_CHECKING:
    import pandas as pd

    from delphi_core.fits.held_out import HeldOut
    from delphi_core.fits.loss_law import LossLaw
    from delphi_core.fits.optima import Optima
    from delphi_core.fits.power_law import PowerLaw
    from delphi_core.fits.profile import Profile


def loss_law_alt(
    law: LossLaw | None, optima: Optima, held_out: tuple[HeldOut, ...], target: float | None = None
) -> str:
    """The chart of a loss law, in numbers."""
    points = "; ".join(
        f"{loss:.4f} at {flops_words(flops)}"
        for flops, loss in zip(optima.flops, optima.losses, strict=True)
    )
    words = f"Loss at the optimum against compute at {count(len(optima), 'budget')}: {points}."
    if law is None:
        return f"{words} No law is fitted."
    words += f" Law: {law.equation}."
    wanted = [(item.flops, f", measured {item.measured:.4f}") for item in held_out]
    wanted += [] if target is None else [(target, "")]
    for flops, measured in wanted:
        forecast = law.predict(flops)
        words += f" Forecast at {flops_words(flops)} {float(forecast.value):.4f}"
        if np.isfinite(forecast.high):
            words += f", {100 * forecast.level:g} % band {forecast.low:.4f} to {forecast.high:.4f}"
        words += f"{measured}."
    return words


def size_law_alt(law: PowerLaw | None, optima: Optima, quantity: str, size: str) -> str:
    """The chart of a token or params law, in numbers."""
    amounts = optima.tokens if quantity == "tokens" else optima.params
    noun = AMOUNTS["tokens" if quantity == "tokens" else size]
    points = "; ".join(
        f"{amount_words(amount)} at {flops_words(flops)}"
        for flops, amount in zip(optima.flops, amounts, strict=True)
        if np.isfinite(amount)
    )
    words = f"Optimal {noun} against compute: {points}."
    return words if law is None else f"{words} {law.describe()}"


def asymptote_alt(law: LossLaw, profile: Profile, flops: float) -> str:
    """The profile of E, in numbers."""
    low, high = profile.interval.low, profile.interval.high
    ends = law.model.laws(profile.sums).predict(np.array([flops]))[:, 0]
    inside = (profile.asymptotes >= low) & (profile.asymptotes <= high)
    return (
        f"How well each irreducible loss E fits: best at {law.band.best.asymptote[0]:.4f}, "
        f"{profile.interval.level_words} interval {low:.3f} to {high:.3f}. Over that interval the "
        f"forecast at {flops_words(flops)} goes from {ends[inside].min():.4f} to "
        f"{ends[inside].max():.4f}."
    )


def walk_forward_alt(rows: pd.DataFrame, method: str) -> str:
    """The walk-forward chart, in numbers."""
    own = rows[rows["method"] == method]
    errors = "; ".join(
        f"{error:+.3f} % at ratio {ratio_words(ratio)}"
        for ratio, error in zip(own["ratio"], own["error_pct"], strict=True)
    )
    return (
        f"Error of forecasts of later budgets from earlier ones against extrapolation ratio. "
        f"{method}: {errors or 'none'}."
    )
