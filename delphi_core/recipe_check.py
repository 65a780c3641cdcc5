"""Delphi's recipe beside what its runs recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from delphi_core.errors import FitError
from delphi_core.fits.recipe import RECIPE_LADDER, delphi_recipe
from delphi_core.records import SWEEP_ROLES

if TYPE_CHECKING:
    from delphi_core.snapshot import Snapshot

CHECKED = {
    "layers": "layers",
    "params": "params",
    "batch_size": "batch_size",
    "steps": "steps",
    "tokens": "tokens",
    "flops": "flops",
    "lr_peak": "lr",
}
"""Column of runs.csv to setting of the recipe."""


def recipe_check(snapshot: Snapshot) -> pd.DataFrame:
    """Every setting of Delphi's runs beside the recipe's, from budget and width alone.

    Returns
    -------
    DataFrame
        One row a run and setting of `CHECKED` that was recorded: run, role, budget (FLOP),
        hidden_dim, setting, recorded, recipe, equal (to the last bit). Runs without a budget or
        a width, and those the recipe has none for, are left out.
    """
    runs = snapshot.tables["runs"]
    own = runs[(runs["ladder"] == RECIPE_LADDER) & runs["budget"].notna()]
    rows = []
    for run in own.dropna(subset="hidden_dim").to_dict("records"):
        try:
            recipe = delphi_recipe(float(run["budget"]), int(run["hidden_dim"]))
        except FitError:
            continue
        shared = {name: run[name] for name in ("run", "role", "budget", "hidden_dim")}
        for column, setting in CHECKED.items():
            if pd.notna(run[column]):
                made = getattr(recipe, setting)
                found = {"setting": column, "recorded": run[column], "recipe": made}
                rows.append(shared | found | {"equal": bool(run[column] == made)})
    columns = ["run", "role", "budget", "hidden_dim", "setting", "recorded", "recipe", "equal"]
    return pd.DataFrame(rows, columns=columns)


def recipe_verdict(check: pd.DataFrame) -> str:
    """How many runs of the sweep come out exactly, one sentence."""
    sweep = check[check["role"].isin(SWEEP_ROLES)]
    exact = sweep.groupby("run")["equal"].all()
    settings = ", ".join(CHECKED).replace("_", " ")
    return (
        f"From budget and width alone the recipe gives {settings} of {int(exact.sum())} of the "
        f"{len(exact)} runs of the sweep to the last bit."
    )
