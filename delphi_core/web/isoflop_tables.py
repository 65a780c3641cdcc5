"""The IsoFLOP page's tables: every number of the fit, readable, with units."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from delphi_core.export import left_out_table, optima_table
from delphi_core.records import run_names
from delphi_core.spreadsheet import marked
from delphi_core.web.messages import plain
from delphi_core.words import AMOUNTS, amount_words, flops_words

if TYPE_CHECKING:
    import pandas as pd

    from delphi_core.fits.isoflop import IsoflopResult

_NUMBER = st.column_config.NumberColumn
# FLOPs are shown in units of 10^18: the grid cannot show numbers above 2^53.
_COLUMNS = {
    "flops": _NUMBER("C (10¹⁸ FLOP)", format="%.4g"),
    "runs": _NUMBER("runs"),
    "optimal_tokens": _NUMBER("D* (tokens)", format="%.6e"),
    "loss_at_optimal": _NUMBER("L*", format="%.6f"),
    "low": _NUMBER("from", format="%.4e"),
    "high": _NUMBER("to", format="%.4e"),
    "level": _NUMBER("level", format="percent"),
    "interval": st.column_config.TextColumn("interval by"),
    "replicates": _NUMBER("sets of rows"),
    "failed": _NUMBER("of no use"),
    "value": _NUMBER("value", format="%.4f"),
    **{name: _NUMBER(name, format="%.8g") for name in ("d", "a", "b", "c")},
    "notes": st.column_config.TextColumn("what to know", width="large"),
    "run": st.column_config.TextColumn("run", width="large"),
    "left_out_reason": st.column_config.TextColumn("left out because", width="large"),
    "fit_set": st.column_config.TextColumn("fitted on"),
}


def optima(isoflop: IsoflopResult, size: str) -> None:
    """Table of the budgets; `size` is what N* counts: params or active_params."""
    table = optima_table(isoflop).drop(columns="flags")
    if isoflop.settings.method != "cubic":
        table = table.drop(columns="d")
    _show(table, "isoflop_optima", "Optimum of each budget", size)


def published_optima(published: pd.DataFrame) -> None:
    """Table of published parabolas and optima."""
    columns = [
        "flops",
        "optimal_tokens",
        "optimal_params",
        "loss_at_optimal",
        "a",
        "b",
        "c",
        "fit_set",
    ]
    _show(published[columns], "isoflop_published", "Published optima")


def left_out(isoflop: IsoflopResult) -> None:
    """Table of the runs that were not fitted, and why."""
    table = left_out_table(isoflop)
    if len(table):
        st.markdown(f"**Not fitted: {len(table)} of {len(isoflop.points)} runs**")
        _show(table, "isoflop_left_out", "Runs that were not fitted, and why")


def flags(isoflop: IsoflopResult) -> None:
    """What is doubtful about the budgets, one line each."""
    lines = [
        f"- **{plain(flops_words(budget.flops))}**: {plain(' '.join(budget.sentences))}"
        for budget in isoflop.budgets
        if budget.sentences
    ]
    if lines:
        st.markdown("\n".join(lines))


def _show(table: pd.DataFrame, key: str, alt: str, size: str = "params") -> None:
    shown = table.assign(flops=table["flops"] / 1e18)
    sizes = {"optimal_params": _NUMBER(f"N* ({AMOUNTS[size]})", format="%.6e")}
    st.dataframe(
        marked(shown),
        key=key,
        hide_index=True,
        column_config=_COLUMNS | sizes,
        placeholder="–",
        alt=alt,
    )


def clicked_run(points: pd.DataFrame, event: object) -> None:
    """The run whose point was clicked, with a link to its page where it has one.

    Parameters
    ----------
    points
        Rows of the fit that is shown.
    event
        What `st.plotly_chart` gives back.
    """
    selected = getattr(getattr(event, "selection", None), "points", None) or []
    names = [point.get("customdata") for point in selected]
    names = [name[0] if isinstance(name, list) else name for name in names]
    rows = points[[name in names for name in run_names(points)]]
    for row in rows.head(1).to_dict("records"):
        facts = [
            f"{amount_words(row['params'])} parameters",
            f"{amount_words(row['tokens'])} tokens",
            flops_words(row["flops"]),
            f"value {row['value']:.5g}",
            str(row["role"]),
            str(row["status"]),
        ]
        with st.container(border=True, key="isoflop_run"):
            st.markdown(f"**{plain(str(row['run']))}**  \n{plain(', '.join(facts))}")
            url = str(row["url"])
            if url.startswith("https://"):
                st.link_button("Open the run's page", url)
