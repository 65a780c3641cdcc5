"""The Planner page's tables: plans, deviations, recipes and runs, with units."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from delphi_core.fits.recipe import UNITS
from delphi_core.plan_text import setting_words
from delphi_core.web.grid import show_table
from delphi_core.words import AMOUNTS, amount_words, flops_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streamlit.elements.lib.column_types import ColumnConfig

    from delphi_core.plan_tables import LadderPlan

_NUMBER, _TEXT = st.column_config.NumberColumn, st.column_config.TextColumn
_COLUMNS = {
    "compute": _TEXT("C"),
    "ratio": _NUMBER("times the data", format="%.3g"),
    "params_words": _TEXT("train: size"),
    "tokens_words": _TEXT("train: tokens"),
    "tokens_per_param": _NUMBER("tokens per parameter", format="%.4g"),
    "predicted": _NUMBER("loss", format="%.4f"),
    "low": _NUMBER("from", format="%.4f"),
    "high": _NUMBER("to", format="%.4f"),
    "level": _NUMBER("level", format="percent"),
    "interval": _TEXT("band by"),
    "optimal_params_words": _TEXT("N* by its law"),
    "params_band": _TEXT("band of N*"),
    "optimal_tokens_words": _TEXT("D* by its law"),
    "tokens_band": _TEXT("band of D*"),
    "spent": _NUMBER("both spend of C", format="%.2f"),
    "factor": _TEXT("over-training"),
    "size_ratio": _NUMBER("times the optimal size", format="%.3g"),
    "above": _NUMBER("above the optimum", format="%.4f"),
    "wasted": _TEXT("compute wasted (FLOP)"),
    "deadweight_pct": _NUMBER("compute wasted (%)", format="%.1f"),
    "extrapolated": st.column_config.CheckboxColumn("extrapolated"),
    "planned": _TEXT("for"),
    "run": _TEXT("run", width="large"),
    "role": _TEXT("role"),
    "seeds": _NUMBER("seeds"),
    "flops_ratio": _NUMBER("of the compute", format="%.3g"),
    "params_ratio": _NUMBER("of the size", format="%.3g"),
    "value": _NUMBER("loss", format="%.4f"),
    "hidden_dim": _NUMBER("width", format="%d"),
    "layers": _NUMBER("layers", format="%d"),
    "batch_size": _NUMBER("batch (sequences)", format="%d"),
    "steps": _NUMBER("steps", format="%d"),
    "seq_len": _NUMBER("sequence", format="%d"),
    "lr_peak": _NUMBER("peak learning rate", format="%.4g"),
    "url": st.column_config.LinkColumn("page", display_text="open"),
    "setting": _TEXT("setting"),
    "unit": _TEXT("unit"),
    "valley": _TEXT("form of the valley"),
    "forecasts": _NUMBER("forecasts"),
    "mean_abs_error": _NUMBER("mean error", format="%.4f"),
    "worst": _NUMBER("worst", format="%.4f"),
    "bias": _NUMBER("mean of measured − forecast", format="%+.4f"),
}


def plans(found: LadderPlan) -> None:
    """One row a budget."""
    table = found.table.assign(compute=[flops_words(c) for c in found.table["flops"]])
    for name in ("params", "tokens", "optimal_params", "optimal_tokens"):
        table[f"{name}_words"] = [amount_words(amount) for amount in table[name]]
    for name in ("params", "tokens"):
        ends = zip(table[f"{name}_low"], table[f"{name}_high"], strict=True)
        table[f"{name}_band"] = [
            None
            if pd.isna(low) or pd.isna(high)
            else f"{amount_words(low)} to {amount_words(high)}"
            for low, high in ends
        ]
    columns = [
        "compute", "params_words", "tokens_words", "tokens_per_param", "predicted", "low", "high",
        "level", "interval", "ratio", "optimal_params_words", "params_band",
        "optimal_tokens_words", "tokens_band", "spent",
    ]  # fmt: skip
    size = AMOUNTS[found.ladder.params_column]
    own = {"params_words": _TEXT(f"train: {size}")}
    _show(table, columns, "plan_table", "What to train with each budget", own)


def deviations(found: LadderPlan) -> None:
    """What other sizes cost, at each budget."""
    table = found.valley.assign(
        compute=[flops_words(c) for c in found.valley["flops"]],
        factor=[f"{factor:g}x" for factor in found.valley["overtraining"]],
        params_words=[amount_words(n) for n in found.valley["params"]],
        tokens_words=[amount_words(d) for d in found.valley["tokens"]],
        wasted=[f"{flops:.3g}" for flops in found.valley["deadweight_flops"]],
    )
    columns = [
        "compute", "factor", "params_words", "tokens_words", "tokens_per_param", "size_ratio",
        "predicted", "above", "wasted", "deadweight_pct", "extrapolated",
    ]  # fmt: skip
    own = {
        "params_words": _TEXT(AMOUNTS[found.ladder.params_column]),
        "tokens_words": _TEXT("tokens"),
    }
    _show(table, columns, "valley_table", "What deviating from the optimum costs", own)


def recipes(found: LadderPlan) -> None:
    """Every setting of Delphi's recipe, one column a budget."""
    settings = pd.DataFrame({"setting": list(UNITS), "unit": list(UNITS.values())})
    columns, own = ["setting"], {}
    for plan, recipe in zip(found.plans, found.recipes, strict=True):
        if recipe is not None:
            name = f"at {plan.flops:g}"
            settings[name] = [setting_words(value) for value in asdict(recipe).values()]
            columns.append(name)
            own[name] = _TEXT(f"at {flops_words(plan.flops)}")
    _show(settings, [*columns, "unit"], "recipe_table", "Delphi's recipe for each budget", own)


def recipe_sizes(found: LadderPlan) -> None:
    """What the valley says of the recipe's sizes."""
    rows = found.recipe_table
    table = rows.assign(
        compute=[flops_words(c) for c in rows["budget"]],
        params_words=[amount_words(n) for n in rows["params"]],
        tokens_words=[amount_words(d) for d in rows["tokens"]],
    )
    columns = [
        "compute", "hidden_dim", "params_words", "tokens_words", "tokens_per_param", "predicted",
        "above", "deadweight_pct", "extrapolated",
    ]  # fmt: skip
    own = {"params_words": _TEXT("parameters"), "tokens_words": _TEXT("tokens")}
    _show(table, columns, "recipe_sizes", "Loss to expect of the recipe's sizes", own)


def nearest(found: LadderPlan, key: str) -> None:
    """Runs already trained that are nearest to each plan."""
    rows = found.nearest
    table = rows.assign(
        planned=[flops_words(c) for c in rows["flops_planned"]],
        params_words=[amount_words(n) for n in rows["params"]],
        tokens_words=[amount_words(d) for d in rows["tokens"]],
    )
    columns = [
        "planned", "run", "role", "seeds", "flops_ratio", "params_ratio", "params_words",
        "tokens_words", "value", "hidden_dim", "layers", "batch_size", "steps", "seq_len",
        "lr_peak", "url",
    ]  # fmt: skip
    own = {
        "params_words": _TEXT(AMOUNTS[found.ladder.params_column]),
        "tokens_words": _TEXT("tokens"),
    }
    _show(table, columns, key, "Nearest runs already trained", own)


def differing(rows: pd.DataFrame) -> None:
    """Settings of runs that are not the recipe's."""
    table = rows.assign(
        compute=[flops_words(c) for c in rows["budget"]],
        setting=rows["setting"].str.replace("_", " "),
    )
    columns = ["run", "role", "compute", "setting", "recorded", "recipe"]
    own = {
        "recorded": _NUMBER("recorded", format="%.8g"),
        "recipe": _NUMBER("by the recipe", format="%.8g"),
    }
    _show(table, columns, "differing_table", "Settings of runs that are not the recipe's", own)


def backtest(rows: pd.DataFrame) -> None:
    """Every form of the valley, least error first."""
    grouped = rows.groupby("valley", sort=False)["error"]
    table = pd.DataFrame(
        {
            "forecasts": grouped.size(),
            "mean_abs_error": grouped.agg(lambda errors: errors.abs().mean(skipna=False)),
            "worst": grouped.agg(lambda errors: errors.abs().max(skipna=False)),
            "bias": grouped.agg(lambda errors: errors.mean(skipna=False)),
        }
    )
    table = table.sort_values("mean_abs_error", kind="stable").reset_index()
    columns = ["valley", "forecasts", "mean_abs_error", "worst", "bias"]
    _show(table, columns, "backtest_table", "Backtest of every form of the valley")


def _show(
    table: pd.DataFrame,
    columns: list[str],
    key: str,
    alt: str,
    more: Mapping[str, ColumnConfig] | None = None,
) -> None:
    show_table(table, columns, {**_COLUMNS, **(more or {})}, key=key, alt=alt, height="content")
