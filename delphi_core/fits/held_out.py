"""Held-out runs: larger than anything fitted, never fitted, and what they measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from delphi_core.records import run_names

if TYPE_CHECKING:
    import pandas as pd


HELD_OUT_ROLES = ("heldout", "target")


@dataclass(frozen=True)
class HeldOut:
    """Held-out runs of one budget.

    Attributes
    ----------
    flops
        Their mean C, FLOP.
    runs
        Their names.
    values
        What each measured, in the metric's unit.
    measured
        The mean over seeds where all are of one size; of several sizes the best.
    rule
        Which of the two, in words.
    """

    flops: float
    runs: tuple[str, ...]
    values: tuple[float, ...]
    measured: float
    rule: str

    @property
    def seeds(self) -> int:
        """How many runs `measured` is the mean of."""
        return len(self.runs) if self.rule.startswith("mean") else 1

    def error_pct(self, predicted: float) -> float:
        """(measured - predicted) / predicted, in percent."""
        return 100 * (self.measured - predicted) / predicted


def held_out_runs(points: pd.DataFrame) -> tuple[HeldOut, ...]:
    """Finished held-out runs and targets, by compute.

    Parameters
    ----------
    points
        Records; without role there are none.
    """
    if "role" not in points:
        return ()
    points = points.assign(**{name: None for name in ("status", "budget") if name not in points})
    finished = points["status"].isna() | (points["status"] == "finished")
    good = np.isfinite(points["value"].to_numpy(dtype=np.float64))
    rows = points[points["role"].isin(HELD_OUT_ROLES) & finished & good]
    rows = rows.sort_values(["flops", "value"], kind="stable")
    budgets = rows["budget"].fillna(rows["flops"])
    found = []
    for _, group in rows.groupby(budgets, sort=True):
        values = tuple(float(value) for value in group["value"])
        sizes = group["params"].nunique()
        rule = "the run" if len(group) == 1 else "mean over seeds"
        measured = float(np.mean(values))
        if sizes > 1:
            rule, measured = f"best of {sizes} sizes", min(values)
        found.append(
            HeldOut(float(group["flops"].mean()), tuple(run_names(group)), values, measured, rule)
        )
    return tuple(found)


def seed_noise(held_out: tuple[HeldOut, ...]) -> float | None:
    """Standard deviation of one run's loss between seeds, pooled; None without replicates.

    It is measured on the held-out runs, so it enters no law, choice or band: only the prediction
    interval of a single run that is shown beside them.
    """
    freedom = seed_freedom(held_out)
    if not freedom:
        return None
    groups = [np.array(item.values) for item in held_out if item.seeds > 1]
    squares = sum(float(np.sum((group - group.mean()) ** 2)) for group in groups)
    return float(np.sqrt(squares / freedom))


def seed_freedom(held_out: tuple[HeldOut, ...]) -> int:
    """Degrees of freedom of `seed_noise`."""
    return sum(item.seeds - 1 for item in held_out if item.seeds > 1)
