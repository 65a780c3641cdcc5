"""The Scaling law page's tables: every number of the laws, readable, with units."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from delphi_core.export import optima_table
from delphi_core.web.grid import show_table
from delphi_core.words import flops_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from streamlit.elements.lib.column_types import ColumnConfig

    from delphi_core.fits.optima import Optima

_NUMBER = st.column_config.NumberColumn
_TEXT = st.column_config.TextColumn
_COLUMNS = {
    "method": _TEXT("method"),
    "compute_words": _TEXT("C"),
    "ratio": _NUMBER("times the data", format="%.3g"),
    "predicted": _NUMBER("forecast", format="%.4f"),
    "low": _NUMBER("from", format="%.4f"),
    "high": _NUMBER("to", format="%.4f"),
    "level": _NUMBER("level", format="percent"),
    "interval": _TEXT("band by"),
    "counted": _NUMBER("measured", format="%.4f"),
    "rule": _TEXT("which is"),
    "error_pct": _NUMBER("error (%)", format="%+.2f"),
    "covered": st.column_config.CheckboxColumn("in the band"),
    "noise_low": _NUMBER("from, with run noise", format="%.4f"),
    "noise_high": _NUMBER("to, with run noise", format="%.4f"),
    "run": _TEXT("runs", width="large"),
    "E": _NUMBER("E", format="%.4f"),
    "E_low": _NUMBER("E from", format="%.3f"),
    "E_high": _NUMBER("E to", format="%.3f"),
    "A": _NUMBER("A", format="%.5g"),
    "alpha": _NUMBER("alpha", format="%.5f"),
    "runs": _NUMBER("runs"),
    "budgets": _NUMBER("budgets"),
    "compute": _TEXT("C of a budget"),
    "notes": _TEXT("what to know", width="large"),
    "band": _TEXT("band by"),
    "fitted": _TEXT("fitted up to"),
    "optimum": _NUMBER("its own optimum", format="%.4f"),
    "optimum_low": _NUMBER("optimum from", format="%.4f"),
    "optimum_high": _NUMBER("optimum to", format="%.4f"),
    "score": _NUMBER("interval score (%)", format="%.3f"),
    "mean_abs_error_pct": _NUMBER("mean error (%)", format="%.3f"),
    "coverage": _NUMBER("in the band", format="percent"),
    "mean_score": _NUMBER("interval score (%)", format="%.3f"),
    "cuts": _NUMBER("forecasts"),
}


def forecasts(table: pd.DataFrame) -> None:
    """Forecasts of held-out runs and the target."""
    columns = [
        "compute_words", "ratio", "predicted", "low", "high", "level", "interval", "counted",
        "rule", "error_pct", "covered", "noise_low", "noise_high", "run",
    ]  # fmt: skip
    _show(_named(table), columns, "scaling_forecasts", "Forecasts of held-out runs and the target")


def methods(table: pd.DataFrame) -> None:
    """One row a method: its law, then forecast, band and error at each compute."""
    shared = ["method", "E", "E_low", "E_high", "alpha", "A", "runs", "budgets", "compute"]
    wide = table.drop_duplicates("method")[[*shared, "notes"]].set_index("method", drop=False)
    named: dict[str, ColumnConfig] = {}
    places = list(shared)
    for flops in sorted(table["flops"].dropna().unique()):
        # A target may be the very compute of a held-out run, which comes first, or next to it.
        own = table[table["flops"] == flops].drop_duplicates("method").set_index("method")
        at, key = flops_words(flops), str(flops)
        wide[f"forecast {key}"] = own["predicted"]
        wide[f"band {key}"] = _ends(own)
        wide[f"error {key}"] = own["error_pct"]
        named[f"forecast {key}"] = _NUMBER(f"{at}: forecast", format="%.4f")
        named[f"band {key}"] = _TEXT("band")
        named[f"error {key}"] = _NUMBER("error (%)", format="%+.2f")
        places += [f"forecast {key}", f"error {key}", f"band {key}"]
    # First what is asked for, then what the law is made of.
    columns = ["method", *places[len(shared) :], *shared[1:], "notes"]
    _show(wide, columns, "scaling_methods", "Methods side by side", named)


def _ends(rows: pd.DataFrame) -> pd.Series:
    """Ends of each band in words."""
    pairs = zip(rows["low"], rows["high"], strict=True)
    words = ["open" if pd.isna(low) else f"{low:.4f} to {high:.4f}" for low, high in pairs]
    return pd.Series(words, index=rows.index)


def walk_forward(rows: pd.DataFrame) -> None:
    """Walk-forward by method, best score first, then every forecast."""
    grouped = rows.groupby("method", sort=False)
    summary = pd.DataFrame(
        {
            "cuts": grouped.size(),
            "mean_abs_error_pct": grouped["error_pct"].agg(lambda errors: errors.abs().mean()),
            "coverage": grouped["covered"].mean(),
            "mean_score": grouped["score"].mean(),
        }
    ).reset_index()
    summary = summary.sort_values("mean_score", kind="stable")
    columns = ["method", "cuts", "mean_abs_error_pct", "coverage", "mean_score"]
    _show(summary, columns, "scaling_walk_summary", "Walk-forward of each method")
    shown = _named(rows).assign(fitted=[flops_words(flops) for flops in rows["largest_flops"]])
    columns = [
        "method", "fitted", "compute_words", "ratio", "predicted", "low", "high", "optimum",
        "optimum_low", "optimum_high", "error_pct", "covered", "score",
    ]  # fmt: skip
    _show(shown, columns, "scaling_walk", "Every walk-forward forecast")


def optima(given: Optima, size_title: str) -> None:
    """D*, N* and L* of each budget."""
    if given.isoflop is not None:
        table = optima_table(given.isoflop)
    else:
        table = pd.DataFrame(
            {
                "flops": given.flops,
                "optimal_tokens": given.tokens,
                "optimal_params": given.params,
                "loss_at_optimal": given.losses,
            }
        )
    own = {
        "optimal_tokens": _NUMBER("D* (tokens)", format="%.6e"),
        "optimal_params": _NUMBER(f"N* ({size_title})", format="%.6e"),
        "loss_at_optimal": _NUMBER("L*", format="%.6f"),
    }
    columns = ["compute_words", *own]
    _show(_named(table), columns, "scaling_optima", "Optimum of each budget", own)


def _named(table: pd.DataFrame) -> pd.DataFrame:
    """With compute in words: the grid cannot show numbers above 2^53."""
    words = [flops_words(flops) if flops > 0 else "" for flops in table["flops"]]
    return table.assign(compute_words=words)


def _show(
    table: pd.DataFrame,
    columns: list[str],
    key: str,
    alt: str,
    more: Mapping[str, ColumnConfig] | None = None,
) -> None:
    show_table(table, columns, {**_COLUMNS, **(more or {})}, key=key, alt=alt)
