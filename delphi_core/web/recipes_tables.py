"""The Recipes page's tables: readable, with units; the CSV has every digit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from delphi_core.fits.interval import METHOD_WORDS
from delphi_core.web.grid import show_table
from delphi_core.words import flops_words

if TYPE_CHECKING:
    from delphi_core.snapshot import Snapshot

_NUMBER, _TEXT = st.column_config.NumberColumn, st.column_config.TextColumn
_COLUMNS = {
    "title": _TEXT("recipe"),
    "metric": _TEXT("metric"),
    "compute": _TEXT("C"),
    "where": _TEXT("at"),
    "loss": _NUMBER("loss", format="%.4f"),
    "needs": _TEXT("base needs"),
    "speed_up": _NUMBER("speed-up", format="%.3f"),
    "low": _NUMBER("from", format="%.3f"),
    "high": _NUMBER("to", format="%.3f"),
    "share": _NUMBER("share of the base's compute", format="%.3f"),
    "level": _NUMBER("level", format="percent"),
    "beyond": _NUMBER("times the data", format="%.3g"),
    "interval": _TEXT("interval by", width="large"),
    "method": _TEXT("interval by"),
    "E": _NUMBER("E", format="%.4f"),
    "E_low": _NUMBER("E from", format="%.3f"),
    "E_high": _NUMBER("E to", format="%.3f"),
    "A": _NUMBER("A", format="%.5g"),
    "alpha": _NUMBER("alpha", format="%.5f"),
    "alpha_low": _NUMBER("alpha from", format="%.4f"),
    "alpha_high": _NUMBER("alpha to", format="%.4f"),
    "budgets": _NUMBER("budgets"),
    "runs": _NUMBER("runs"),
    "notes": _TEXT("what to know", width="large"),
    "optimal_tokens": _NUMBER("D* (tokens)", format="%.6e"),
    "optimal_params": _NUMBER("N*", format="%.6e"),
    "loss_at_optimal": _NUMBER("L*", format="%.6f"),
    "hidden_dim": _NUMBER("width"),
    "batch_size": _NUMBER("batch"),
    "tokens": _NUMBER("tokens", format="%.6e"),
    "value": _NUMBER("loss of the recipe", format="%.4f"),
    "base_value": _NUMBER("loss of the base", format="%.4f"),
    "difference": _NUMBER("lower by", format="%.4f"),
    "ahead": st.column_config.CheckboxColumn("ahead"),
    "run": _TEXT("run", width="large"),
    "base_run": _TEXT("run of the base", width="large"),
    "id": _TEXT("published law"),
    "what": _TEXT("which is"),
    "status": _TEXT("status"),
    "base_id": _TEXT("published law of the base"),
    "published_speed_up": _NUMBER("speed-up over that", format="%.3f"),
    "optimal": st.column_config.CheckboxColumn("compute-optimal runs"),
    "over_fitted": _NUMBER("speed-up over the base's law fitted here", format="%.3f"),
}


def speed_ups(snapshot: Snapshot, table: pd.DataFrame) -> None:
    """Rows of `speed_up_table`."""
    where = table["at"].map({"law": "the law", "optima": "an optimum"})
    shown = _named(snapshot, table).assign(where=where, needs=_compute(table["base_flops"]))
    columns = [
        "title", "compute", "where", "loss", "speed_up", "low", "high", "level", "share", "needs",
        "beyond", "interval",
    ]  # fmt: skip
    _show(shown, columns, "recipes_speed_ups", "Speed-up over the base at budgets and by the laws")


def laws(snapshot: Snapshot, table: pd.DataFrame) -> None:
    """Rows of `recipe_laws_table`."""
    columns = [
        "title", "metric", "budgets", "runs", "E", "E_low", "E_high", "A", "alpha", "alpha_low",
        "alpha_high", "level", "method", "notes",
    ]  # fmt: skip
    titles = [snapshot.title(ladder) for ladder in table["ladder"]]
    methods = [METHOD_WORDS.get(method, "") for method in table["interval"]]
    shown = table.assign(title=titles, method=methods)
    _show(shown, columns, "recipes_laws", "Laws of the ladders")


def optima(snapshot: Snapshot, table: pd.DataFrame) -> None:
    """Rows of `recipe_optima_table`."""
    columns = ["title", "compute", "optimal_tokens", "optimal_params", "loss_at_optimal"]
    _show(_named(snapshot, table), columns, "recipes_optima", "Optima of the ladders")


def pairs(snapshot: Snapshot, table: pd.DataFrame) -> None:
    """Rows of `pairs_table`."""
    columns = [
        "title", "compute", "hidden_dim", "batch_size", "tokens", "value", "base_value",
        "difference", "ahead", "run", "base_run",
    ]  # fmt: skip
    _show(_named(snapshot, table), columns, "recipes_pairs", "Pairs of equal runs")


def published(table: pd.DataFrame, at: float) -> None:
    """Rows of `published_speed_ups`."""
    columns = [
        "id", "what", "status", "E", "A", "alpha", "loss", "over_fitted", "published_speed_up",
        "base_id", "optimal",
    ]  # fmt: skip
    shown = table.assign(over_fitted=table["speed_up"])
    _show(shown, columns, "recipes_published", f"Published laws at {flops_words(at)}")


def _named(snapshot: Snapshot, table: pd.DataFrame) -> pd.DataFrame:
    titles = [snapshot.title(ladder) for ladder in table["ladder"]]
    return table.assign(title=titles, compute=_compute(table["flops"]))


def _compute(cells: pd.Series) -> list[str]:
    """In words: the grid cannot show numbers above 2^53."""
    return [flops_words(flops) if pd.notna(flops) else "" for flops in cells]


def _show(table: pd.DataFrame, columns: list[str], key: str, alt: str) -> None:
    show_table(table, columns, _COLUMNS, key=key, alt=alt)
