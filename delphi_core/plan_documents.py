"""Plans ready for JSON, YAML and CSV, every number at full precision."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import yaml

from delphi_core.fits.recipe import RECIPE_LADDER, UNITS
from delphi_core.plain_rows import plain_rows
from delphi_core.plan_tables import recipe_notes
from delphi_core.spreadsheet import spreadsheet_csv

if TYPE_CHECKING:
    import pandas as pd

    from delphi_core.plan_tables import LadderPlan

NO_RECIPE = (
    f"No recipe here: the one that is known in full is that of ladder {RECIPE_LADDER}, and this "
    "ladder was trained by another."
)


def plan_document(found: LadderPlan) -> dict[str, Any]:
    """Everything that is planned.

    Returns
    -------
    dict
        snapshot, ladder, metric, unit, method, size (params or active_params), described (how
        each law was got), plans: one a budget, with the columns of `LadderPlan.table`, notes,
        valley (rows of `deviations`), recipe (settings of Delphi's recipe, None elsewhere) and
        nearest (runs). What is missing is None.
    """
    planner, ladder = found.planner, found.ladder.ladder
    rows = plain_rows(found.table)
    settings = {row["budget"]: row for row in plain_rows(found.recipe_table)}
    valley, nearest = plain_rows(found.valley), plain_rows(found.nearest)
    plans = []
    for row, plan, recipe in zip(rows, found.plans, found.recipes, strict=True):
        own = None
        if recipe is not None:
            own = settings[recipe.budget] | {"notes": recipe_notes(recipe)}
        plans.append(
            row
            | {
                "notes": list(plan.notes),
                "valley": [_without(r, "flops") for r in valley if r["flops"] == plan.flops],
                "recipe": own,
                "nearest": [
                    _without(r, "flops_planned")
                    for r in nearest
                    if r["flops_planned"] == plan.flops
                ],
            }
        )
    document: dict[str, Any] = {
        "snapshot": found.snapshot.id,
        "ladder": ladder,
        "metric": found.metric,
        "unit": found.snapshot.unit(found.metric),
        "method": planner.fit.method.name,
        "asymptote": planner.fit.settings.asymptote,
        "size": found.ladder.params_column,
        "flops_convention": found.ladder.flops_convention,
        "described": planner.describe(),
        "plans": plans,
    }
    if ladder == RECIPE_LADDER:
        document["recipe_units"] = {name: unit for name, unit in UNITS.items() if unit}
    else:
        document["no_recipe"] = NO_RECIPE
    return document


def plan_json(found: LadderPlan) -> str:
    """`plan_document` as JSON."""
    return json.dumps(plan_document(found), indent=2, allow_nan=False) + "\n"


def plan_yaml(found: LadderPlan) -> str:
    """`plan_document` as YAML."""
    return str(yaml.safe_dump(plan_document(found), sort_keys=False, allow_unicode=True, width=100))


def plan_rows(found: LadderPlan) -> pd.DataFrame:
    """One row a budget: the plan, then Delphi's recipe in columns that begin with recipe_."""
    table = found.table.assign(
        snapshot=found.snapshot.id,
        ladder=found.ladder.ladder,
        metric=found.metric,
        method=found.planner.fit.method.name,
    )
    recipes = found.recipe_table.drop_duplicates("budget").add_prefix("recipe_")
    joined = table.merge(recipes, left_on="flops", right_on="recipe_budget", how="left")
    return joined.drop(columns="recipe_budget").dropna(axis="columns", how="all")


def plan_csv(found: LadderPlan) -> str:
    """`plan_rows` as CSV."""
    return spreadsheet_csv(plan_rows(found))


def valley_rows(found: LadderPlan) -> pd.DataFrame:
    """Rows of `LadderPlan.valley`, each with snapshot, ladder, metric and method."""
    described = {"snapshot": found.snapshot.id, "ladder": found.ladder.ladder}
    described |= {"metric": found.metric, "method": found.planner.fit.method.name}
    return found.valley.assign(**described)


def valley_csv(found: LadderPlan) -> str:
    """`valley_rows` as CSV."""
    return spreadsheet_csv(valley_rows(found))


def recipe_rows(found: LadderPlan, place: int) -> list[dict[str, Any]]:
    """The recipe of a plan, one row a setting: setting, value, unit."""
    recipe = found.recipes[place]
    if recipe is None:
        return []
    return [
        {"setting": name, "value": value, "unit": UNITS[name]}
        for name, value in asdict(recipe).items()
    ]


def _without(row: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key != name}
