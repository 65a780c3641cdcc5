"""Recipes compared as tables, every number at full precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from delphi_core.fits.law_models import Laws
from delphi_core.fits.needed import speed_up_of_laws
from delphi_core.published import published_recipe_laws

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from delphi_core.fits.speedup import SpeedUp
    from delphi_core.recipe_fits import FittedRecipe
    from delphi_core.recipes import Recipes, Rival
    from delphi_core.snapshot import Snapshot

_SPEED_UP = [
    "ladder", "base", "at", "flops", "loss", "base_flops", "speed_up", "low", "high", "level",
    "interval", "share", "beyond",
]  # fmt: skip
_LAWS = [
    "ladder", "metric", "E", "E_low", "E_high", "A", "alpha", "alpha_low", "alpha_high", "level",
    "interval", "budgets", "runs", "largest_flops", "notes",
]  # fmt: skip
_OPTIMA = ["ladder", "metric", "flops", "optimal_tokens", "optimal_params", "loss_at_optimal"]


def speed_up_table(rival: Rival, flops: Sequence[float]) -> pd.DataFrame:
    """Speed-up of one ladder over the base, at its budgets and at other compute.

    Parameters
    ----------
    rival
        The ladder beside its base.
    flops
        Compute to say it at by the ladder's law, FLOP.

    Returns
    -------
    DataFrame
        ladder, base, at (law, or optima: at the measured optima of its budgets), flops (C, FLOP),
        loss (in the metric's unit), base_flops (what the base needs, FLOP), speed_up (base_flops /
        flops), low, high (missing where open), level, interval (how it was got), share (1 /
        speed_up), beyond (the larger of C and base_flops over what each was fitted up to; above 1
        is extrapolated). base_flops and speed_up are missing where the base's law never gets
        there. Empty without a law of both.
    """
    found = [rival.at_optima, rival.speed_up(flops) if len(flops) else None]
    return joined([_rows(rival, item) for item in found if item is not None])


def joined(tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Rows of `speed_up_table` of several ladders, one table after another."""
    kept = [table for table in tables if len(table)]
    if not kept:
        return pd.DataFrame(columns=_SPEED_UP)
    return pd.concat(kept, ignore_index=True)[_SPEED_UP]


def _rows(rival: Rival, found: SpeedUp) -> pd.DataFrame:
    numbers = {
        "flops": found.flops,
        "loss": found.losses,
        "base_flops": found.base_flops,
        "speed_up": found.value,
        "low": found.low,
        "high": found.high,
        "share": found.share,
        "beyond": found.beyond,
    }
    table = pd.DataFrame({name: np.where(np.isinf(v), np.nan, v) for name, v in numbers.items()})
    table.loc[np.isinf(found.value), "share"] = np.nan
    return table.assign(
        ladder=rival.comparison.ladder,
        base=rival.comparison.base,
        at=found.at,
        level=found.level,
        interval=found.method,
    )


def recipe_laws_table(recipes: Sequence[FittedRecipe]) -> pd.DataFrame:
    """One row a ladder: its law with intervals of E and alpha.

    Returns
    -------
    DataFrame
        ladder, metric, E, E_low, E_high, A (in the metric's unit at C = 1 FLOP), alpha, alpha_low,
        alpha_high (missing where open), level, interval (its method), budgets, runs, largest_flops
        (FLOP), notes (what is doubtful, or why there is no law).
    """
    rows: list[dict[str, Any]] = []
    for recipe in recipes:
        row: dict[str, Any] = {"ladder": recipe.ladder.ladder, "metric": recipe.metric}
        law = recipe.law
        if law is None:
            rows.append(row | {"notes": recipe.problem})
            continue
        asymptote, exponent = law.asymptote_interval, law.exponent_interval
        rows.append(
            row
            | {
                "E": law.asymptote,
                "E_low": asymptote.low,
                "E_high": asymptote.high,
                "A": law.coefficient,
                "alpha": law.exponent,
                "alpha_low": exponent.low,
                "alpha_high": exponent.high,
                "level": asymptote.level,
                "interval": asymptote.method,
                "budgets": law.budgets,
                "runs": law.runs,
                "largest_flops": law.largest_flops,
                "notes": " ".join(doubt.sentence for doubt in law.doubts),
            }
        )
    table = pd.DataFrame(rows, columns=_LAWS)
    ends = ["E_low", "E_high", "alpha_low", "alpha_high"]
    table[ends] = table[ends].astype("float64").replace([np.inf, -np.inf], np.nan)
    return table


def recipe_optima_table(recipes: Sequence[FittedRecipe]) -> pd.DataFrame:
    """One row an optimum: ladder, metric, flops, optimal_tokens, optimal_params, loss_at_optimal.

    flops in FLOP; D* and N* are missing where they are not known.
    """
    tables = [
        pd.DataFrame(
            {
                "ladder": recipe.ladder.ladder,
                "metric": recipe.metric,
                "flops": recipe.optima.flops,
                "optimal_tokens": recipe.optima.tokens,
                "optimal_params": recipe.optima.params,
                "loss_at_optimal": recipe.optima.losses,
            }
        )
        for recipe in recipes
    ]
    return pd.concat(tables, ignore_index=True)[_OPTIMA]


def pairs_table(found: Recipes) -> pd.DataFrame:
    """Rows of `paired_runs` of every ladder with the base, with ladder and base in front."""
    tables = [
        rival.pairs.assign(ladder=rival.comparison.ladder, base=rival.comparison.base)
        for rival in found.rivals
        if rival.pairs is not None and len(rival.pairs)
    ]
    if not tables:
        return pd.DataFrame()
    table = pd.concat(tables, ignore_index=True)
    return table[["ladder", "base", *(c for c in table if c not in ("ladder", "base"))]]


def published_speed_ups(
    snapshot: Snapshot, found: Recipes, flops: float, ids: Collection[str] | None = None
) -> pd.DataFrame:
    """Published laws against the base: its fitted law, and its own published law of the same E.

    Parameters
    ----------
    snapshot, found
        Where laws are looked up, and the base.
    flops
        C to say it at, FLOP.
    ids
        Which laws, as `published_recipe_laws` names them; by default all of the metric.

    Returns
    -------
    DataFrame
        Columns of `published_recipe_laws`, then loss (at `flops`), speed_up (over the base's
        fitted law; missing without one or where it never gets there), base_id and base_what (the
        base's last published law with the same E), published_speed_up (over that), and optimal
        (false for laws of trajectory ladders, whose runs are not compute-optimal).
    """
    laws = published_recipe_laws(snapshot, found.base.metric)
    own = laws[laws["ladder"] == found.base.ladder.ladder]
    rows = []
    for row in laws.to_dict("records"):
        if ids is not None and row["id"] not in ids:
            continue
        law = published_law(row)
        kind = snapshot.ladder(row["ladder"]).kind if row["ladder"] else "optima"
        row["optimal"] = kind != "trajectory"
        row |= {"loss": float(law.predict(np.array([flops]))[0, 0]), "speed_up": np.nan}
        if found.base.law is not None:
            fitted = found.base.law.model.laws(found.base.law.band.best)
            row["speed_up"] = float(speed_up_of_laws(fitted, law, flops)[0, 0])
        same = own[(own["E"] == row["E"]) & (own["id"] != row["id"])]
        if row["ladder"] != found.base.ladder.ladder and len(same):
            printed = same[same["status"] == "published"]
            # The last: a README's law follows the laws of its walk-forward.
            other = (printed if len(printed) else same).to_dict("records")[-1]
            published = speed_up_of_laws(published_law(other), law, flops)
            row |= {"base_id": other["id"], "base_what": other["what"]}
            row["published_speed_up"] = float(published[0, 0])
        rows.append(row)
    columns = [*laws, "loss", "speed_up", "base_id", "base_what", "published_speed_up", "optimal"]
    table = pd.DataFrame(rows, columns=columns)
    numbers = ["loss", "speed_up", "published_speed_up"]
    table[numbers] = table[numbers].astype("float64").replace(np.inf, np.nan)
    return table


def published_law(row: Any) -> Laws:
    """The law of a row of `published_recipe_laws`."""
    numbers = (float(row["E"]), float(np.log(float(row["A"]))), float(row["alpha"]))
    return Laws(*(np.array([number]) for number in numbers))
