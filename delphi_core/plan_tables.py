"""Plans of a ladder as tables: budgets, deviations, recipes and the nearest runs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from delphi_core.errors import DataError, FitError, did_you_mean
from delphi_core.fits.deviations import OVERTRAINING, deviation_at, deviations
from delphi_core.fits.isoflop import IsoflopFit
from delphi_core.fits.law_choice import DEFAULT_METHOD, default_curve
from delphi_core.fits.law_methods import CURVES, LawMethod, isoflop_settings
from delphi_core.fits.law_settings import LawSettings
from delphi_core.fits.nearest_runs import nearest_runs
from delphi_core.fits.planner import PlannerFit
from delphi_core.fits.recipe import (
    MOST_TOKENS_PER_PARAM,
    RECIPE_LADDER,
    Recipe,
    delphi_recipe,
    nearest_width,
)
from delphi_core.fits.valley_backtest import valley_backtest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from delphi_core.fits.isoflop import X
    from delphi_core.fits.law_methods import Curve
    from delphi_core.fits.planner import Plan, Planner
    from delphi_core.snapshot import Ladder, Snapshot

_SETTINGS = ["hidden_dim", "layers", "batch_size", "steps", "seq_len", "lr_peak", "seed", "url"]


@dataclass(frozen=True, eq=False)
class LadderPlan:
    """Plans of a ladder for some budgets.

    Attributes
    ----------
    snapshot
        Where the runs are.
    ladder, metric
        Whose, and of which loss.
    planner
        Laws and valley.
    plans
        One a budget, as asked for.
    recipes
        Delphi's recipe for each; None where there is none.
    missing
        One sentence for each part that could not be had.
    """

    snapshot: Snapshot
    ladder: Ladder
    metric: str
    planner: Planner
    plans: tuple[Plan, ...]
    recipes: tuple[Recipe | None, ...]
    missing: tuple[str, ...]

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row a budget.

        Returns
        -------
        DataFrame
            flops (C, FLOP), ratio (C over the largest budget fitted), params and tokens (what to
            train), tokens_per_param, optimal_params (N* by its law) and optimal_tokens (D* by
            its law) with the ends of their bands, spent (share of C that those two would spend
            together), predicted (L*, in the metric's unit), low,
            high, level, interval (its method); ends that nothing bounds are missing.
        """
        rows = []
        for plan in self.plans:
            row = asdict(plan) | {"tokens_per_param": plan.tokens_per_param}
            del row["notes"]
            rows.append({name: _bounded(name, cell) for name, cell in row.items()})
        columns = [
            "flops", "ratio", "params", "tokens", "tokens_per_param", "predicted", "low", "high",
            "level", "interval", "optimal_params", "params_low", "params_high", "optimal_tokens",
            "tokens_low", "tokens_high", "spent",
        ]  # fmt: skip
        return pd.DataFrame(rows, columns=columns)

    @cached_property
    def valley(self) -> pd.DataFrame:
        """Rows of `deviations` for each budget, with flops (C, FLOP) first."""
        return self._by_budget([deviations(self.planner, plan) for plan in self.plans])

    def curve(self, plan: Plan, points: int = 121) -> pd.DataFrame:
        """`deviations` of a plan, close enough to draw, over the factors of the tables."""
        factors = np.geomspace(OVERTRAINING[0], OVERTRAINING[-1], points)
        return deviations(self.planner, plan, factors.tolist())

    @cached_property
    def recipe_table(self) -> pd.DataFrame:
        """Delphi's recipe, one row a budget, with what the valley says of its size.

        Returns
        -------
        DataFrame
            Columns of `recipe.Recipe`, then tokens_per_param, predicted, above, deadweight_pct
            and extrapolated, as in `deviations`. Empty for other ladders.
        """
        rows: list[dict[str, Any]] = []
        for plan, recipe in zip(self.plans, self.recipes, strict=True):
            if recipe is None:
                continue
            row = asdict(recipe) | {"tokens_per_param": recipe.tokens_per_param}
            own = deviation_at(self.planner, plan, recipe.params)
            for name in ("predicted", "above", "deadweight_pct", "extrapolated"):
                row[name] = own[name].item() if len(own) else None
            rows.append(row)
        more = ["tokens_per_param", "predicted", "above", "deadweight_pct", "extrapolated"]
        return pd.DataFrame(rows, columns=[*Recipe.__dataclass_fields__, *more])

    @cached_property
    def nearest(self) -> pd.DataFrame:
        """Runs nearest to each plan, with flops_planned (C, FLOP) first and their settings last."""
        found = []
        for plan in self.plans:
            rows = nearest_runs(self.planner.isoflop.points, plan.flops, plan.params)
            found.append(rows.assign(flops_planned=plan.flops))
        runs = self.snapshot.tables["runs"]
        own = runs.loc[runs["ladder"] == self.ladder.ladder, ["run", *_SETTINGS]]
        joined = pd.concat(found, ignore_index=True).merge(own, on="run", how="left")
        return joined[["flops_planned", *(name for name in joined if name != "flops_planned")]]

    def _by_budget(self, tables: list[pd.DataFrame]) -> pd.DataFrame:
        joined = [
            table.assign(flops=plan.flops)
            for plan, table in zip(self.plans, tables, strict=True)
            if len(table)
        ]
        if not joined:
            return tables[0].assign(flops=[]) if tables else pd.DataFrame()
        found = pd.concat(joined, ignore_index=True)
        return found[["flops", *(name for name in found if name != "flops")]]


def ladder_planner(
    snapshot: Snapshot,
    ladder: str,
    *,
    metric: str | None = None,
    method: Curve | None = None,
    asymptote: float | None = None,
    level: float = 0.9,
) -> Planner:
    """Laws and valley of a ladder.

    Parameters
    ----------
    snapshot
        Where its runs are.
    ladder, metric
        Ids; the metric is the ladder's own by default.
    method
        How optima come about: parabola, cubic, marin or surface; by default as on the Scaling law
        page.
    asymptote, level
        As `LawSettings` has them.

    Raises
    ------
    DataError
        There is no such ladder or metric.
    FitError
        A setting is unknown, or the runs determine no law of the optimal size.
    """
    described = snapshot.ladder(ladder)
    records = snapshot.records(ladder, metric or described.default_metric)
    x = cast("X", described.default_x)
    if method is not None and method not in CURVES:
        raise FitError(f"no method {method!r}; {did_you_mean(str(method), CURVES)}")
    settings = LawSettings(law=DEFAULT_METHOD.law, asymptote=asymptote, level=level)
    curve = LawMethod(method or default_curve(records, x), DEFAULT_METHOD.law)
    try:
        return PlannerFit(method=curve, settings=settings, x=x)(records)
    except FitError as error:
        where = f"ladder {ladder}, {metric or described.default_metric}"
        raise FitError(f"no plan from {where}, {curve.name}: {error}") from None


def plan(
    snapshot: Snapshot,
    flops: float | Sequence[float],
    *,
    ladder: str = RECIPE_LADDER,
    metric: str | None = None,
    method: Curve | None = None,
    asymptote: float | None = None,
    level: float = 0.9,
    hidden_dim: int | None = None,
) -> LadderPlan:
    """What to train with some budgets.

    Parameters
    ----------
    snapshot
        Where the ladder's runs are.
    flops
        Training compute, FLOP; one budget or several.
    ladder, metric, method, asymptote, level
        As `ladder_planner` has them.
    hidden_dim
        Width to give Delphi's recipe for; by default the one nearest in size to the plan.

    Raises
    ------
    DataError
        There is no such ladder or metric, or a width is asked for where no recipe is known.
    FitError
        A budget, width or setting is none, or the runs determine no law of the optimal size.
    """
    budgets = [float(flops)] if isinstance(flops, int | float) else [float(c) for c in flops]
    planner = ladder_planner(
        snapshot, ladder, metric=metric, method=method, asymptote=asymptote, level=level
    )
    return planned(snapshot, ladder, planner, budgets, metric=metric, hidden_dim=hidden_dim)


def planned(
    snapshot: Snapshot,
    ladder: str,
    planner: Planner,
    budgets: Sequence[float],
    *,
    metric: str | None = None,
    hidden_dim: int | None = None,
) -> LadderPlan:
    """What a ladder's planner makes of some budgets; see `plan`."""
    described = snapshot.ladder(ladder)
    if hidden_dim is not None and ladder != RECIPE_LADDER:
        remedy = f"leave the width out or take ladder {RECIPE_LADDER}"
        raise DataError([f"no recipe of ladder {ladder} is known, so it has no width; {remedy}."])
    plans = tuple(planner.plan(flops) for flops in budgets)
    recipes, missing = [], list(planner.problems)
    for plan in plans:
        recipe, problem = None, ""
        if hidden_dim is not None:
            recipe = delphi_recipe(plan.flops, hidden_dim)
        elif ladder == RECIPE_LADDER:
            try:
                recipe = delphi_recipe(plan.flops, nearest_width(plan.flops, plan.params))
            except FitError as error:
                problem = f"no recipe: {error}"
        recipes.append(recipe)
        missing += [problem] if problem else []
    return LadderPlan(
        snapshot,
        described,
        metric or described.default_metric,
        planner,
        plans,
        tuple(recipes),
        tuple(missing),
    )


def valley_backtest_of(
    snapshot: Snapshot, ladder: str, metric: str | None = None, method: Curve | None = None
) -> pd.DataFrame:
    """Every form of the valley on the later budgets of a ladder, see `valley_backtest`.

    Parameters
    ----------
    snapshot, ladder, metric, method
        As `ladder_planner` has them; beside a surface optima are those of parabolas.
    """
    described = snapshot.ladder(ladder)
    records = snapshot.records(ladder, metric or described.default_metric)
    x = cast("X", described.default_x)
    curve = LawMethod(method or default_curve(records, x), DEFAULT_METHOD.law)
    return valley_backtest(records, isoflop_settings(curve, IsoflopFit(x=x)))


def recipe_notes(recipe: Recipe) -> list[str]:
    """What to know of a recipe, one sentence each."""
    notes = []
    if recipe.tokens_per_param > MOST_TOKENS_PER_PARAM:
        notes.append(
            f"{recipe.tokens_per_param:.0f} tokens per parameter: the suite leaves out sizes with "
            f"more than {MOST_TOKENS_PER_PARAM:g}."
        )
    return notes


def _bounded(name: str, cell: Any) -> Any:
    """A cell; None for an end that nothing bounds."""
    nothing = name in ("params_low", "tokens_low") and cell <= 0
    return None if nothing or (isinstance(cell, float) and not isfinite(cell)) else cell
