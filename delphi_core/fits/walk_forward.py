"""Walk-forward: fit the budgets up to k, forecast the later ones, and see how far off that was.

This is how the default law and band are chosen: on the ladders themselves, never by held-out
runs. A cut needs one budget more than a free E has parameters, so four. The score of a band
[l, u] at level 1 - a for an optimum y is the interval score (Gneiting and Raftery 2007, section
6.2), (u - l) + 2/a (l - y)+ + 2/a (y - u)+, here in percent of y: narrow bands score well, and
each miss costs 2/a times its size.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.stats import t

from delphi_core.errors import FitError
from delphi_core.fits.bands import BANDS, BandKind, band_of
from delphi_core.fits.law_methods import METHODS, LawMethod, fit_method, isoflop_settings
from delphi_core.fits.law_settings import LawSettings
from delphi_core.fits.loss_law import FEWEST_BUDGETS
from delphi_core.fits.optima import curve_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from delphi_core.fits.budget import BudgetFit
    from delphi_core.fits.isoflop import IsoflopFit, IsoflopResult

REPLICATES = 300
"""Of the bootstraps, here: there are some hundred bands to draw."""


def walk_forward(
    isoflop: IsoflopResult,
    method: LawMethod,
    *,
    bands: Sequence[BandKind] = BANDS,
    level: float = 0.9,
    replicates: int = REPLICATES,
) -> pd.DataFrame:
    """Forecasts of later budgets from earlier ones.

    Parameters
    ----------
    isoflop
        A fit of the whole ladder; its later budgets serve as what is to be met.
    method
        Which law; a surface is fitted to the runs of the earlier budgets.
    bands
        Which bands to score.
    level
        Of the bands.
    replicates
        How many sets of rows the bootstraps draw.

    Returns
    -------
    DataFrame
        One row a band, cut and later budget: budgets (fitted), largest_flops (of those, FLOP),
        flops (of the later budget), ratio (extrapolation ratio), predicted, band, low, high,
        optimum (that budget's own L*), optimum_low, optimum_high (its interval by its own runs),
        error_pct ((optimum - predicted) / predicted), covered, score (interval score in percent
        of the optimum; infinite for a band without ends).
    """
    columns = [
        "budgets", "largest_flops", "flops", "ratio", "predicted", "band", "low", "high",
        "optimum", "optimum_low", "optimum_high", "error_pct", "covered", "score",
    ]  # fmt: skip
    optima = isoflop.optima
    rows = []
    for number in range(FEWEST_BUDGETS, len(optima)):
        fitted, later = optima[:number], optima[number:]
        cut = until(isoflop, fitted[-1].flops)
        settings = LawSettings(band=bands[0], level=level, replicates=replicates)
        try:
            result = fit_method(cut, method, settings)
        except FitError:
            continue
        flops = np.array([budget.flops for budget in later])
        for band in bands:
            made = result.band
            if band != bands[0]:
                made = band_of(
                    result.model,
                    made.best,
                    band,
                    level=level,
                    pinned=method.asymptote is not None,
                    replicates=replicates,
                )
            forecast = replace(result, band=made).predict(flops)
            for place, budget in enumerate(later):
                value, low, high = (
                    float(part[place]) for part in (forecast.value, forecast.low, forecast.high)
                )
                own = float(budget.loss_at_optimal or np.nan)
                own_low, own_high = optimum_interval(isoflop, budget, level)
                rows.append(
                    (
                        number, fitted[-1].flops, budget.flops, budget.flops / fitted[-1].flops,
                        value, band, low, high, own, own_low, own_high,
                        100 * (own - value) / value, low <= own <= high,
                        interval_score(low, high, own, level),
                    )
                )  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


def interval_score(low: float, high: float, actual: float, level: float) -> float:
    """Interval score of a band, in percent of what was met; less is better."""
    missed = max(low - actual, 0.0) + max(actual - high, 0.0)
    return 100 * ((high - low) + 2 / (1 - level) * missed) / actual


def until(isoflop: IsoflopResult, flops: float) -> IsoflopResult:
    """The part of a fit up to a budget, as if later ones had never been trained."""
    points = isoflop.points
    kept = points[~(points["budget_flops"] > flops)]
    budgets = tuple(budget for budget in isoflop.budgets if budget.flops <= flops)
    return replace(isoflop, budgets=budgets, points=kept)


def optimum_interval(
    isoflop: IsoflopResult, budget: BudgetFit, level: float
) -> tuple[float, float]:
    """Interval of a budget's own L* by its own runs, in the metric's unit.

    At the minimum the slope is zero, so its error is that of the curve there (delta method);
    infinite where no degree of freedom is left.
    """
    if budget.curve is None or budget.optimal_x is None or budget.loss_at_optimal is None:
        return -np.inf, np.inf
    u, values, degree, _ = curve_rows(isoflop, budget)
    offset, scale = budget.curve.polynomial.mapparms()
    design = np.vander(u, degree + 1, increasing=True)
    freedom = len(u) - degree - 1
    if freedom < 1:
        return -np.inf, np.inf
    left = values - design @ np.asarray(budget.curve.polynomial.coef, dtype=np.float64)
    variance = float(left @ left) / freedom
    at = np.vander([offset + scale * budget.optimal_x], degree + 1, increasing=True)[0]
    error = float(np.sqrt(variance * (at @ np.linalg.pinv(design.T @ design) @ at)))
    half = float(t.ppf(0.5 + level / 2, freedom)) * error
    return budget.loss_at_optimal - half, budget.loss_at_optimal + half


def walk_forward_all(
    records: pd.DataFrame,
    settings: IsoflopFit,
    *,
    methods: Sequence[LawMethod] = METHODS,
    bands: Sequence[BandKind] = BANDS,
    level: float = 0.9,
    replicates: int = REPLICATES,
) -> pd.DataFrame:
    """Walk-forward of every method on a ladder's records.

    Parameters
    ----------
    records
        As `Snapshot.records` gives them; held-out runs among them play no part.
    settings
        What every method's IsoFLOP fit shares: x, compute, rows.
    methods, bands, level, replicates
        As `walk_forward` has them.

    Returns
    -------
    DataFrame
        method, then the columns of `walk_forward`.
    """
    tables = []
    fits: dict[IsoflopFit, IsoflopResult] = {}
    for method in methods:
        own = isoflop_settings(method, settings)
        if own not in fits:
            fits[own] = own(records)
        table = walk_forward(fits[own], method, bands=bands, level=level, replicates=replicates)
        table.insert(0, "method", method.name)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)
