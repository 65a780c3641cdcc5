"""Which method and band are the default, and why: the least interval score of walk-forward."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from delphi_core.errors import FitError
from delphi_core.fits.isoflop import fit_isoflops
from delphi_core.fits.law_methods import LawMethod, method_named
from delphi_core.fits.loss_law import FEWEST_BUDGETS

if TYPE_CHECKING:
    from delphi_core.fits.bands import BandKind
    from delphi_core.fits.isoflop import X
    from delphi_core.fits.law_methods import Curve

DEFAULT_METHOD = LawMethod("cubic", "squares")
"""What `choose` finds on the ladders of `CHOSEN_ON`."""
CHOSEN_ON = ("delphi", "delphi-attempt-1", "moe-v16")
"""Ladders that the default method and band are chosen on."""
FEWEST_OPTIMA = 4
"""The default curve is the one walk-forward chose where it gives so many optima."""


def default_curve(records: pd.DataFrame, x: X) -> Curve:
    """The curve that walk-forward chose if it gives these records enough optima, else a parabola.

    Parameters
    ----------
    records
        As `Snapshot.records` gives them.
    x
        What the curves are drawn against.
    """
    chosen = DEFAULT_METHOD.curve
    if chosen == "surface":
        return chosen
    try:
        found = fit_isoflops(records, method=chosen, x=x).optima
    except FitError:
        return "parabola"
    return chosen if len(found) >= FEWEST_OPTIMA else "parabola"


@dataclass(frozen=True, eq=False)
class Choice:
    """Which method and band walk-forward prefers.

    Attributes
    ----------
    method, band
        The best.
    scores
        One row a method and band: the interval score of each ladder, their mean (what is
        compared), mean_abs_error_pct and coverage over all cuts.
    """

    method: LawMethod
    band: BandKind
    scores: pd.DataFrame


def choose(tables: dict[str, pd.DataFrame]) -> Choice:
    """The method and band with the least interval score, each ladder counting the same.

    Parameters
    ----------
    tables
        Ladder to rows of `walk_forward_all`.

    Raises
    ------
    FitError
        A ladder has no rows: too few of its budgets have an optimum.
    """
    for ladder, table in tables.items():
        if table.empty:
            raise FitError(
                f"ladder {ladder} has nothing to forecast: walk-forward needs "
                f"{FEWEST_BUDGETS + 1} budgets with an optimum."
            )
    rows = pd.concat([table.assign(ladder=ladder) for ladder, table in tables.items()])
    keys = ["method", "band"]
    by_ladder = rows.pivot_table(
        index=keys, columns="ladder", values="score", aggfunc="mean", sort=False
    )
    by_ladder = by_ladder.reindex(columns=list(tables))
    scores = by_ladder.assign(score=by_ladder.mean(axis=1, skipna=False))
    grouped = rows.groupby(keys, sort=False)
    scores["mean_abs_error_pct"] = grouped["error_pct"].agg(lambda errors: errors.abs().mean())
    scores["coverage"] = grouped["covered"].mean()
    scores = scores.sort_values("score", kind="stable").reset_index()
    first = scores.iloc[0]
    return Choice(method_named(first["method"]), first["band"], scores)
