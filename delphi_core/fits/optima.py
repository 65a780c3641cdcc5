"""Optima of budgets, fitted here or published: what laws in compute are fitted to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from delphi_core.errors import FitError
from delphi_core.fits.doubts import REACH
from delphi_core.fits.minimum import local_minimum
from delphi_core.fits.uncertainty import (
    FEWEST_FOR_PAIRS,
    bootstrap_replicates,
    residual_replicates,
    size_groups,
    widened_residuals,
)

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    from delphi_core.fits.budget import BudgetFit
    from delphi_core.fits.doubts import Flag
    from delphi_core.fits.isoflop import IsoflopResult

    Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Optima:
    """Optima by compute.

    Attributes
    ----------
    flops : array
        C of each, FLOP.
    tokens, params, losses : array
        D*, N* (not a number where they are not known) and L*.
    flags
        What is doubtful about each.
    runs
        How many runs they come from; None where that is not known.
    compute
        What C is: recorded, nominal, bucket or published.
    rules
        How D* ("tokens") and N* ("params") were got.
    isoflop, budgets
        The fit they come from, and their budgets in it; None and empty for published ones.
    """

    flops: Array
    tokens: Array
    params: Array
    losses: Array
    flags: tuple[tuple[Flag, ...], ...]
    runs: int | None
    compute: str
    rules: dict[str, str]
    isoflop: IsoflopResult | None = None
    budgets: tuple[BudgetFit, ...] = ()

    def __len__(self) -> int:
        """How many there are."""
        return len(self.flops)

    def first(self, number: int) -> Optima:
        """Those of least compute."""
        budgets = self.budgets[:number]
        return replace(
            self,
            flops=self.flops[:number],
            tokens=self.tokens[:number],
            params=self.params[:number],
            losses=self.losses[:number],
            flags=self.flags[:number],
            runs=sum(budget.runs for budget in budgets) if budgets else None,
            budgets=budgets,
        )

    def replicates(self, kind: str, number: int, seed: int) -> Array:
        """L* of fits to resampled rows, budget by budget.

        Parameters
        ----------
        kind
            stratified bootstrap: rows resampled within each budget that has six different sizes or
            more, residuals in the others. residual bootstrap: residuals of all budgets' curves
            pooled, each widened by 1 / sqrt(1 - leverage), added to the curves. A budget whose
            curve passes through all its rows has no residuals of its own: it takes the pooled.
        number, seed
            How many sets of rows, and how they are drawn.

        Returns
        -------
        array, replicates x optima
            Not a number where the rows drawn give no optimum, or no residual tells noise.

        Raises
        ------
        FitError
            The optima are published ones.
        """
        if self.isoflop is None:
            raise FitError("published optima have no rows to resample; choose another band.")
        rows = [curve_rows(self.isoflop, budget) for budget in self.budgets]
        residuals = [widened_residuals(*row[:3]) for row in rows]
        pool = np.concatenate(residuals)
        if not len(pool):
            return np.full((number, len(rows)), np.nan)
        columns = []
        for budget, row, left in zip(self.budgets, rows, residuals, strict=True):
            u, values, degree, reach = row
            own = (seed, round(1000 * np.log10(budget.flops)) % 2**32)
            groups = size_groups(u * REACH / (reach - 1))
            if kind == "stratified bootstrap" and groups.max() + 1 >= FEWEST_FOR_PAIRS:
                powers = bootstrap_replicates(
                    u, values, groups, degree=degree, replicates=number, seed=own
                )
            else:
                drawn = left if kind == "stratified bootstrap" and len(left) else pool
                powers = residual_replicates(u, values, degree, number, own, pool=drawn)
            columns.append(_losses(powers, reach))
        return np.stack(columns, axis=1)


def optima_of(isoflop: IsoflopResult) -> Optima:
    """The optima of an IsoFLOP fit."""
    found = isoflop.optima

    def column(name: str) -> Array:
        return np.array([getattr(optimum, name) for optimum in found], dtype=np.float64)

    return Optima(
        flops=column("flops"),
        tokens=column("optimal_tokens"),
        params=column("optimal_params"),
        losses=column("loss_at_optimal"),
        flags=tuple(optimum.flags for optimum in found),
        runs=sum(optimum.runs for optimum in found),
        compute=isoflop.compute,
        rules={"tokens": isoflop.rule("tokens"), "params": isoflop.rule("params")},
        isoflop=isoflop,
        budgets=found,
    )


def published_optima_of(published: pd.DataFrame) -> Optima:
    """Optima as published.

    Parameters
    ----------
    published
        Rows of published_optima of one ladder and metric.
    """
    rows = published.sort_values("flops", kind="stable")
    names = ("flops", "optimal_tokens", "optimal_params", "loss_at_optimal")
    flops, tokens, params, losses = (rows[name].to_numpy(dtype=np.float64) for name in names)
    return Optima(
        flops,
        tokens,
        params,
        losses,
        flags=((),) * len(rows),
        runs=None,
        compute="published",
        rules={"tokens": "as published", "params": "as published"},
    )


def curve_rows(isoflop: IsoflopResult, budget: BudgetFit) -> tuple[Array, Array, int, float]:
    """Places within -1..1 and values of a budget's runs, degree of its curve, and its reach."""
    points = isoflop.points
    rows = points[points["used"] & (points["budget_flops"] == budget.flops)]
    along = "tokens" if isoflop.settings.x == "tokens" else "params"
    if budget.curve is None:
        raise FitError("a budget without a curve has no optimum to resample.")
    offset, scale = budget.curve.polynomial.mapparms()
    u = offset + scale * np.log10(rows[along].to_numpy(dtype=np.float64))
    degree = budget.curve.polynomial.degree()
    return u, rows["value"].to_numpy(dtype=np.float64), degree, 1 + scale * REACH


def _losses(powers: Array, reach: float) -> Array:
    """Value at the minimum of each polynomial; not a number where it has none within reach."""
    known = np.asarray(np.isfinite(powers).all(axis=1))
    minima = local_minimum(np.where(known[:, None], powers, 0.0))
    with np.errstate(invalid="ignore"):
        minima = np.where(known & (np.abs(minima) <= reach), minima, np.nan)
    losses: Array = np.sum(np.vander(minima, powers.shape[1], increasing=True) * powers, axis=1)
    return losses
