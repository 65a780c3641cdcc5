"""Published laws in compute, as a snapshot holds them: to be laid over ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from delphi_core.snapshot import Snapshot

# Formula in published_fits to the coefficients that a law is made of.
_LOSS_FORMULA = "L = E + A*C^-alpha"
_TOKEN_FORMULAS = {
    "D* = A*C^alpha": ("alpha", "A"),
    "log10 D* = alpha*log10 C + c": ("alpha", "c"),
}
_BOTH_FORMULA = "log10 X* = exponent*log10 C + intercept"
_BOTH = {
    "tokens": ("b (D* exponent)", "b intercept (log10)"),
    "params": ("a (N* exponent)", "a intercept (log10)"),
}


def published_loss_laws(snapshot: Snapshot, ladder: str, metric: str) -> pd.DataFrame:
    """Published laws L* = E + A C^-alpha of a ladder's final losses.

    Parameters
    ----------
    snapshot
        Where they are looked up: published_laws, and published_fits with that formula.
    ladder, metric
        Ids.

    Returns
    -------
    DataFrame
        what, status (published, recomputed or derived), E, A (in the metric's unit at C = 1 FLOP),
        alpha, source.
    """
    laws = snapshot.tables["published_laws"]
    final = laws["fraction"].isna()
    rows = laws[(laws["ladder"] == ladder) & (laws["metric"] == metric) & final]
    columns = ["what", "status", "E", "A", "alpha", "source"]
    found: list[dict[Any, Any]] = list(rows[columns].to_dict("records"))
    for fit, coefficients in _fits(snapshot, ladder, metric):
        if str(fit["formula"]).startswith(_LOSS_FORMULA) and {"E", "A", "alpha"} <= set(
            coefficients
        ):
            found.append(fit | {name: coefficients[name] for name in ("E", "A", "alpha")})
    return _named(pd.DataFrame(found, columns=columns))


def published_size_laws(snapshot: Snapshot, ladder: str, metric: str) -> pd.DataFrame:
    """Published laws D*(C) and N*(C) of a ladder.

    Parameters
    ----------
    snapshot
        Where they are looked up: published_fits.
    ladder, metric
        Ids.

    Returns
    -------
    DataFrame
        quantity (tokens or params), what, status, exponent, log10_coefficient (of the amount at
        C = 1 FLOP), source.
    """
    found = []
    for fit, coefficients in _fits(snapshot, ladder, metric):
        pairs: dict[str, tuple[str, str]] = {}
        formula = str(fit["formula"])
        if formula in _TOKEN_FORMULAS:
            pairs["tokens"] = _TOKEN_FORMULAS[formula]
        elif formula == _BOTH_FORMULA:
            pairs = _BOTH
        for quantity, (slope, level) in pairs.items():
            if slope in coefficients and level in coefficients:
                value = coefficients[level]
                found.append(
                    fit
                    | {
                        "quantity": quantity,
                        "exponent": coefficients[slope],
                        "log10_coefficient": float(np.log10(value)) if level == "A" else value,
                    }
                )
    columns = ["quantity", "what", "status", "exponent", "log10_coefficient", "source"]
    return _named(pd.DataFrame(found, columns=columns))


def published_parabolas(snapshot: Snapshot, ladder: str, metric: str) -> pd.DataFrame:
    """Rows of published_optima of a ladder and metric that have a parabola in log10 tokens."""
    optima = snapshot.tables["published_optima"]
    rows = optima[(optima["ladder"] == ladder) & (optima["metric"] == metric)]
    needed = ["optimal_tokens", "optimal_params", "a", "b", "c", "token_min", "token_max"]
    return rows.dropna(subset=needed)


def published_recipe_laws(snapshot: Snapshot, metric: str) -> pd.DataFrame:
    """Published laws of final losses in a metric, of ladders here and of other recipes.

    Parameters
    ----------
    snapshot
        Where they are looked up, as in `published_loss_laws`.
    metric
        Id.

    Returns
    -------
    DataFrame
        id (recipe and A, short and stable), ladder (empty where the recipe is no ladder here),
        recipe, then the columns of `published_loss_laws`.
    """
    laws = snapshot.tables["published_laws"]
    rows = laws[(laws["metric"] == metric) & laws["fraction"].isna()]
    found = [rows]
    for ladder in snapshot.tables["ladders"]["ladder"]:
        own = published_loss_laws(snapshot, ladder, metric)
        known = rows.loc[rows["ladder"] == ladder, "A"]
        found.append(own[~own["A"].isin(known)].assign(ladder=ladder, recipe=ladder))
    columns = ["ladder", "recipe", "what", "status", "E", "A", "alpha", "source"]
    every = pd.concat([part[columns] for part in found if len(part)] or [rows[columns]])
    every = _named(every.astype({"ladder": "str"}).assign(ladder=every["ladder"].fillna("")))
    ids = [f"{recipe}-{a:.6g}" for recipe, a in zip(every["recipe"], every["A"], strict=True)]
    every.insert(0, "id", ids)
    return every.drop_duplicates("id", ignore_index=True)


def _named(laws: pd.DataFrame) -> pd.DataFrame:
    """Laws whose source does not say what they are have an empty text there."""
    return laws.assign(what=laws["what"].fillna(""))


def _fits(
    snapshot: Snapshot, ladder: str, metric: str
) -> Iterator[tuple[dict[str, Any], Mapping[str, float]]]:
    """Each published fit of a ladder and metric, with its coefficients.

    published_fits has no column for the metric: what a fit is of says c4_en where it is not the
    ladder's own metric.
    """
    fits = snapshot.tables["published_fits"]
    rows = fits[fits["ladder"] == ladder]
    own = metric == snapshot.ladder(ladder).default_metric
    for (what, formula), group in rows.groupby(["what", "formula"], sort=False):
        named = "c4_en" in str(what)
        if ("c4_en/bpb" in metric) if named else own:
            fit = {
                "what": what,
                "formula": formula,
                "status": group["status"].iloc[0],
                "source": group["source"].iloc[0],
            }
            values = group["value"].astype("float64")
            yield fit, dict(zip(group["coefficient"], values, strict=True))
