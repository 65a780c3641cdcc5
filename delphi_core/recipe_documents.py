"""Recipes compared, ready for JSON, every number at full precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from delphi_core.fits.needed import crossings
from delphi_core.law_tables import held_out_table
from delphi_core.plain_rows import plain_rows
from delphi_core.recipe_tables import (
    published_speed_ups,
    recipe_laws_table,
    recipe_optima_table,
    speed_up_table,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from delphi_core.recipe_fits import FittedRecipe
    from delphi_core.recipes import Recipes, Rival
    from delphi_core.snapshot import Snapshot

AHEAD_SPAN = 1e4
"""How far past the largest budget, and below the smallest, laws are searched for a crossing."""


def compare_document(
    snapshot: Snapshot, found: Recipes, flops: Sequence[float] = ()
) -> tuple[dict[str, Any], list[str]]:
    """Recipes against a base, ready for JSON.

    Parameters
    ----------
    snapshot
        Where they come from.
    found
        As `compare_recipes` gives them.
    flops
        Compute to say the speed-up at, FLOP; by default the largest that every law was fitted up
        to.

    Returns
    -------
    document : dict
        snapshot, metric, method, law, base, ladders and published.
    missing : list of str
        One sentence a ladder without a speed-up.
    """
    wanted = list(flops) or [at for at in (found.shared_flops,) if at is not None]
    settings = found.settings
    document = {
        "snapshot": snapshot.id,
        "metric": found.base.metric,
        "method": settings.curve,
        "law": settings.law.law,
        "E_pinned": settings.law.asymptote,
        "flops": wanted,
        "base": _recipe(found.base),
        "ladders": [_rival(rival, wanted) for rival in found.rivals],
        "published": plain_rows(published_speed_ups(snapshot, found, wanted[0])) if wanted else [],
    }
    missing = [
        f"{rival.comparison.ladder} is not compared: {rival.problem}"
        for rival in found.rivals
        if rival.laws is None
    ]
    return document, missing


def crossing(rival: Rival) -> tuple[float, ...]:
    """Compute at which the laws of a ladder and the base cross, FLOP, ascending."""
    if rival.laws is None or rival.recipe is rival.base:
        return ()
    budgets = [flops for law in rival.laws for flops in law.budget_flops]
    return crossings(*rival.laws, min(budgets) / AHEAD_SPAN, max(budgets) * AHEAD_SPAN)


def _recipe(recipe: FittedRecipe) -> dict[str, Any]:
    (law,) = plain_rows(recipe_laws_table([recipe]))
    return {
        "ladder": recipe.ladder.ladder,
        "described": recipe.describe(),
        "law": None if recipe.law is None else law,
        "optima": plain_rows(recipe_optima_table([recipe])),
        "held_out": []
        if recipe.law is None
        else plain_rows(held_out_table(recipe.law, recipe.held_out)),
    }


def _rival(rival: Rival, flops: Sequence[float]) -> dict[str, Any]:
    item = rival.comparison
    document: dict[str, Any] = {
        "ladder": item.ladder,
        "refused": list(item.refusals),
        "warnings": list(item.warnings),
        "notes": list(item.notes),
        "problem": rival.problem,
    }
    if rival.recipe is not None:
        document |= _recipe(rival.recipe)
    if rival.laws is not None:
        table = speed_up_table(rival, flops)
        at_law = rival.speed_up(flops)
        document |= {
            "described_speed_up": "" if at_law is None else at_law.describe(),
            "speed_up": plain_rows(table[table["at"] == "law"]),
            "at_optima": plain_rows(table[table["at"] == "optima"]),
            "crossings": list(crossing(rival)),
        }
    if rival.pairs is not None and len(rival.pairs):
        difference = rival.pairs["difference"]
        document["pairs"] = {
            "pairs": len(rival.pairs),
            "ahead": int(rival.pairs["ahead"].sum()),
            "least_difference": float(difference.min()),
            "greatest_difference": float(difference.max()),
            "rows": plain_rows(rival.pairs),
        }
    return document
