"""What sizes off the optimum of a budget cost: smaller models trained longer, and larger ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from delphi_core.fits.planner import Plan, Planner

    Array = npt.NDArray[np.float64]

OVERTRAINING = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
"""Tokens per parameter over those of the optimum, as tables list them."""
_WIDEST_U = 12.0
_COLUMNS = [
    "overtraining", "params", "tokens", "tokens_per_param", "size_ratio", "predicted", "above",
    "deadweight_flops", "deadweight_pct", "extrapolated",
]  # fmt: skip


def deviations(
    planner: Planner, plan: Plan, factors: Sequence[float] = OVERTRAINING
) -> pd.DataFrame:
    """What other sizes cost at a plan's budget; every row spends all of it.

    Parameters
    ----------
    planner, plan
        The ladder's laws, and what they make of the budget.
    factors
        Over-training: tokens per parameter over those of the optimum, each above zero.

    Returns
    -------
    DataFrame
        overtraining, params, tokens, tokens_per_param, size_ratio (size over that of the
        optimum), predicted (L, in the metric's unit), above (L - L*), deadweight_flops (C - C'
        where L*(C') = L, FLOP) and deadweight_pct (of C), extrapolated (no run fitted was as far
        off the optimum of its budget, or had as many or as few tokens per parameter). Empty
        without a valley.
    """
    u = np.linspace(-_WIDEST_U, _WIDEST_U, 4801)
    params, tokens = _sizes(planner, plan, u)
    logs = np.log(tokens / params) - np.log(plan.tokens / plan.params)
    wanted = np.asarray(factors, dtype=np.float64)
    # Tokens per parameter fall as u grows.
    return _table(planner, plan, np.interp(np.log(wanted), logs[::-1], u[::-1]), wanted)


def deviation_at(planner: Planner, plan: Plan, params: float) -> pd.DataFrame:
    """The row of `deviations` of a size (the ladder's own) at a plan's budget."""
    tokens = plan.flops / planner.cost.per_token(params)
    along_tokens = planner.fit.x == "tokens"
    u = np.log(plan.tokens / tokens if along_tokens else params / plan.params)
    factor = tokens / params * plan.params / plan.tokens
    return _table(planner, plan, np.array([u]), np.array([factor]))


def _sizes(planner: Planner, plan: Plan, u: Array) -> tuple[Array, Array]:
    """N and D of places along the valley, which spend the budget."""
    if planner.fit.x == "tokens":
        tokens = plan.tokens * np.exp(-u)
        return planner.cost.params_for(plan.flops / tokens), tokens
    params = plan.params * np.exp(u)
    return params, plan.flops / planner.cost.per_token(params)


def _table(planner: Planner, plan: Plan, u: Array, factors: Array) -> pd.DataFrame:
    """Rows of `deviations` at places along the valley."""
    law, valley = planner.law, planner.valley
    if law is None or valley is None:
        return pd.DataFrame(columns=_COLUMNS)
    params, tokens = _sizes(planner, plan, u)
    above = valley.rise(plan.flops, u)
    # L*(C') = L*(C) + above: C'/C = (1 + above / (A C^-alpha))^(-1/alpha).
    excess = np.exp(np.log(law.coefficient) - law.exponent * np.log(plan.flops))
    wasted = -np.expm1(-np.log1p(above / excess) / law.exponent)
    low, high = valley.sampled
    least, most = planner.sampled_tokens_per_param
    per_param = tokens / params
    return pd.DataFrame(
        {
            "overtraining": factors,
            "params": params,
            "tokens": tokens,
            "tokens_per_param": per_param,
            "size_ratio": params / plan.params,
            "predicted": plan.predicted + above,
            "above": above,
            "deadweight_flops": plan.flops * wasted,
            "deadweight_pct": 100 * wasted,
            "extrapolated": (u < low) | (u > high) | (per_param < least) | (per_param > most),
        }
    )[_COLUMNS]
