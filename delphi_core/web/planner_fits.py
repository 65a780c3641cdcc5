"""Cached planners of the Planner page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from delphi_core.errors import FitError
from delphi_core.plan_tables import LadderPlan, ladder_planner, planned, valley_backtest_of
from delphi_core.web.fit_cache import cached_fit

if TYPE_CHECKING:
    import pandas as pd

    from delphi_core.fits.planner import Planner
    from delphi_core.snapshot import Snapshot
    from delphi_core.web.planner_view import PlannerChoice, PlannerView


@dataclass(frozen=True, eq=False)
class Shown:
    """What the page shows of a view.

    Attributes
    ----------
    plan
        The plans; None where there is nothing to plan.
    problems
        One sentence for each part that could not be had.
    """

    plan: LadderPlan | None
    problems: tuple[str, ...]


@cached_fit(max_entries=200, show_spinner="Fitting ...")
def fitted_planner(snapshot: Snapshot, choice: PlannerChoice) -> Planner | str:
    """Laws and valley of a choice, or why there are none."""
    try:
        return ladder_planner(
            snapshot,
            choice.ladder,
            metric=choice.metric,
            method=choice.method,
            level=choice.level,
        )
    except FitError as error:
        return str(error)


def shown(snapshot: Snapshot, view: PlannerView) -> Shown:
    """Plans of a view; a width that a budget cannot have falls to the nearest in size."""
    snapshot = snapshot.part(view.ladder)
    planner = fitted_planner(snapshot, view.choice)
    if isinstance(planner, str):
        return Shown(None, (planner,))
    if not view.budgets:
        return Shown(None, ("no budget is typed; give one in FLOP, such as 1e22, or in chips.",))
    refused = []
    width = view.width
    try:
        plan = planned(
            snapshot, view.ladder, planner, view.budgets, metric=view.metric, hidden_dim=width
        )
    except FitError as error:
        refused = [f"{error} The recipe of the nearest size is shown."]
        plan = planned(snapshot, view.ladder, planner, view.budgets, metric=view.metric)
    return Shown(plan, (*refused, *plan.missing))


@cached_fit(max_entries=50, show_spinner="Backtesting ...")
def backtested(snapshot: Snapshot, choice: PlannerChoice) -> pd.DataFrame:
    """Every form of the valley on the later budgets of a choice's ladder."""
    return valley_backtest_of(snapshot, choice.ladder, choice.metric, choice.method)
