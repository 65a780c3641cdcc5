"""How a sweep samples its budgets, known before anything is fitted."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from delphi_core.fits.left_out import reasons_left_out
from delphi_core.fits.rows import budget_groups, check_used, in_order
from delphi_core.fits.uncertainty import size_groups

if TYPE_CHECKING:
    import pandas as pd

FEWEST_SIZES = 3
"""A parabola through fewer different sizes is none."""


class Sampled(NamedTuple):
    """One budget: its nominal budget or its bucket (FLOP), its runs, and their different sizes."""

    flops: float
    runs: int
    sizes: int

    @property
    def has_curve(self) -> bool:
        """Whether a parabola can be fitted to it."""
        return self.sizes >= FEWEST_SIZES


def sampled_budgets(records: pd.DataFrame) -> tuple[Sampled, ...]:
    """The budgets that `fit_isoflops` fits by default, by compute.

    Parameters
    ----------
    records
        As `fit_isoflops` takes them: one metric, one label among the rows fitted.

    Raises
    ------
    FitError
        They cannot be fitted, as `fit_isoflops` says it.
    """
    points = in_order(records)
    reasons = reasons_left_out(points, include_excluded=False, drop={}, flops_min=0.0)
    used = np.array([reason is None for reason in reasons], dtype=bool)
    check_used(points[used])
    group = budget_groups(points, used, "recorded")
    tokens = points["tokens"].to_numpy(dtype=np.float64)
    found = []
    for key in np.unique(group[used]):
        rows = used & (group == key)
        sizes = int(size_groups(np.log10(tokens[rows])).max()) + 1
        found.append(Sampled(float(key), int(rows.sum()), sizes))
    return tuple(found)
