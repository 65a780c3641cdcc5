"""Cached fits of the Recipes page: by what a view is fitted by, not by how it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from delphi_core.comparable import optima_metrics
from delphi_core.figures.recipes import RecipeLine
from delphi_core.figures.speedup import SpeedUpLine
from delphi_core.fits.law_settings import LawSettings
from delphi_core.recipe_fits import FittedRecipe, RecipeSettings, fit_recipe
from delphi_core.recipe_tables import joined, speed_up_table
from delphi_core.recipes import Recipes, compare_recipes
from delphi_core.web.fit_cache import shared_cache

if TYPE_CHECKING:
    import pandas as pd

    from delphi_core.snapshot import Snapshot
    from delphi_core.web.recipes_view import RecipesChoice, RecipesView

_PAST = 10.0
"""How far past the ladders' budgets speed-ups are drawn."""


@shared_cache(max_entries=200, show_spinner="Fitting ...")
def recipes_compared(snapshot: Snapshot, choice: RecipesChoice) -> Recipes:
    """The ladders of a view against its base."""
    settings = RecipeSettings(choice.method, LawSettings(asymptote=choice.asymptote))
    return compare_recipes(snapshot, choice.base, choice.ladders, choice.metric, settings)


def law_lines(found: Recipes) -> list[RecipeLine]:
    """Base and ladders as the chart of laws takes them."""
    return [recipe_line(recipe) for recipe in found.fitted]


def recipe_line(recipe: FittedRecipe) -> RecipeLine:
    """A ladder as charts take it."""
    return RecipeLine(recipe.ladder.title, recipe.law, recipe.optima, recipe.held_out)


@shared_cache(max_entries=200, show_spinner=False)
def speed_up_lines(snapshot: Snapshot, choice: RecipesChoice) -> list[SpeedUpLine]:
    """Speed-ups along compute, ten times past what was fitted at the most."""
    found = recipes_compared(snapshot, choice)
    lines = []
    place = 0
    for rival in found.rivals:
        # A ladder keeps its colour where another one has no law.
        place += rival.recipe is not None
        if rival.laws is None or rival.at_optima is None:
            continue
        budgets = [flops for law in rival.laws for flops in law.budget_flops]
        flops = np.geomspace(min(budgets), _PAST * max(budgets), 121)
        along = rival.speed_up(flops)
        if along is not None:
            title = snapshot.title(rival.comparison.ladder)
            lines.append(SpeedUpLine(title, place, along, rival.at_optima))
    return lines


@shared_cache(max_entries=100, show_spinner="Fitting every metric ...")
def metrics_fitted(
    snapshot: Snapshot, choice: RecipesChoice
) -> tuple[tuple[str, tuple[tuple[int, FittedRecipe], ...]], ...]:
    """Every metric that the base or a ladder has optima in, with those that have it.

    E is fitted in every metric but the view's own: a pinned E belongs to a metric.
    """
    names = recipes_compared(snapshot, choice).fitted
    ladders = [recipe.ladder.ladder for recipe in names]
    offered = {name: optima_metrics(snapshot, name) for name in ladders}
    found = []
    for metric in snapshot.tables["metrics"]["metric"]:
        pinned = choice.asymptote if metric == choice.metric else None
        settings = RecipeSettings(choice.method, LawSettings(asymptote=pinned))
        recipes = tuple(
            (place, fit_recipe(snapshot, name, metric, settings))
            for place, name in enumerate(ladders)
            if metric in offered[name]
        )
        if recipes:
            found.append((str(metric), recipes))
    return tuple(found)


def shown_flops(view: RecipesView, found: Recipes) -> float | None:
    """Compute that the page speaks of, FLOP: as typed, else what every law was fitted up to."""
    return view.at if view.at is not None else found.shared_flops


def speed_ups(view: RecipesView, found: Recipes) -> pd.DataFrame:
    """Speed-up of every ladder over the base, at budgets and at the compute spoken of."""
    at = shown_flops(view, found)
    flops = [] if at is None else [at]
    rows = [speed_up_table(rival, flops) for rival in found.rivals]
    return joined(rows)
