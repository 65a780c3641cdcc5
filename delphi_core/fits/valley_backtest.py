"""Which form of the valley forecasts larger budgets best: the choice behind `valley.fit_valley`.

Each form is fitted on the budgets up to the k-th, and asked how far the runs of the later ones lie
above the optimum of their own budget. Held-out runs are in no budget and play no part.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from delphi_core.errors import FitError
from delphi_core.fits.loss_law import FEWEST_BUDGETS
from delphi_core.fits.loss_law_fit import LossLawFit
from delphi_core.fits.surface import SurfaceFit
from delphi_core.fits.valley import fit_valley, offsets_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from delphi_core.fits.isoflop import IsoflopFit, IsoflopResult
    from delphi_core.fits.law_models import Law

    Array = npt.NDArray[np.float64]
    Rise = Callable[[Array, Array], Array]

DEFAULT_VALLEY = "powers, scale of the law"
"""Least mean error over the ladders of `law_choice.CHOSEN_ON`, each counting the same."""
_COLUMNS = ["valley", "cut_flops", "flops", "u", "above", "forecast", "error"]


def _powers(isoflop: IsoflopResult, *, own_scale: bool) -> Rise:
    alpha = None if own_scale else LossLawFit(band="delta")(isoflop).exponent
    return fit_valley(offsets_of(isoflop), alpha).rise


def _parabola(isoflop: IsoflopResult) -> Rise:
    """The curvature of each budget's parabola, its logarithm on a line in that of compute."""
    found = replace(isoflop.settings, method="parabola", compute=None)(isoflop.points)
    pairs = [
        (budget.flops, budget.curve.coefficients[1])
        for budget in found.budgets
        if budget.curve is not None and budget.curve.coefficients[1] > 0
    ]
    if len(pairs) < 2:
        raise FitError("fewer than two budgets have a parabola that opens upwards.")
    flops, curvature = np.log(np.array(pairs)).T
    slope, level = np.polyfit(flops, curvature, 1)
    return lambda c, u: np.exp(slope * np.log(c) + level) * (u / np.log(10)) ** 2


def _surface(isoflop: IsoflopResult, law: Law) -> Rise:
    """A loss surface fitted to all runs, moved so that its optimum is that of the budget."""
    surface = SurfaceFit(law=law, band="delta")(isoflop)
    tokens, params = surface.law("tokens"), surface.law("params")

    def rise(c: Array, u: Array) -> Array:
        n, d = params.predict(c), tokens.predict(c)
        return surface.predict(n * np.exp(u), d * np.exp(-u)) - surface.predict(n, d)

    return rise


VALLEYS: dict[str, Callable[[IsoflopResult], Rise]] = {
    DEFAULT_VALLEY: lambda isoflop: _powers(isoflop, own_scale=False),
    "powers, own scale": lambda isoflop: _powers(isoflop, own_scale=True),
    "parabola, curvature on a line": _parabola,
    "surface squares": lambda isoflop: _surface(isoflop, "squares"),
    "surface log": lambda isoflop: _surface(isoflop, "log"),
    "surface huber": lambda isoflop: _surface(isoflop, "huber"),
    "none: no rise": lambda isoflop: lambda c, u: np.zeros_like(c + u),  # noqa: ARG005
}
"""Form to how it is fitted; the last is what a form must beat."""


def valley_backtest(records: pd.DataFrame, settings: IsoflopFit) -> pd.DataFrame:
    """Every form of the valley on the runs of later budgets.

    Parameters
    ----------
    records
        As `Snapshot.records` gives them.
    settings
        Of the IsoFLOP fit: its curves give the optima that runs are beside of.

    Returns
    -------
    DataFrame
        valley (the form), cut_flops (C of the last budget fitted), flops (C of the run's budget),
        u (as `valley.Offsets` has it), above (its L - L*) and forecast, in the metric's unit, error
        (above - forecast). Empty with fewer than five budgets that have an optimum.
    """
    whole = settings(records)
    tables: list[pd.DataFrame] = []
    for cut in range(FEWEST_BUDGETS, len(whole.optima)):
        last = whole.optima[cut - 1].flops
        kept = whole.points[whole.points["budget_flops"] <= last]
        earlier = settings(kept[list(records.columns)])
        later = offsets_of(whole, slice(cut, None))
        for name, fit in VALLEYS.items():
            try:
                forecast = fit(earlier)(later.flops, later.u)
            except FitError:
                forecast = np.full(len(later), np.nan)
            rows = {"valley": name, "cut_flops": last, "flops": later.flops, "u": later.u}
            rows |= {"above": later.above, "forecast": forecast, "error": later.above - forecast}
            tables.append(pd.DataFrame(rows))
    empty = pd.DataFrame(columns=_COLUMNS)
    return pd.concat(tables, ignore_index=True)[_COLUMNS] if tables else empty


def valley_scores(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Mean absolute error of each form on each ladder and over all, least first.

    Parameters
    ----------
    tables
        Ladder to rows of `valley_backtest`. A form that could not be fitted once has no score.

    Returns
    -------
    DataFrame
        valley, one column a ladder and score (their mean), in the metric's unit.
    """
    scores = pd.DataFrame(
        {
            ladder: table["error"]
            .abs()
            .groupby(table["valley"], sort=False)
            .apply(lambda errors: errors.mean(skipna=False))
            for ladder, table in tables.items()
        }
    )
    scores["score"] = scores.mean(axis=1, skipna=False)
    return scores.sort_values("score", kind="stable").rename_axis("valley").reset_index()
