"""Records: the six columns researchers pass around, then what is known of each run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from delphi_core.schema import Column, Table
from delphi_core.tables import ROLES, RUNS, STATUSES

if TYPE_CHECKING:
    from collections.abc import Collection

    import numpy.typing as npt

RECORD_COLUMNS = ("tokens", "metric", "value", "flops", "params", "label")
"""The six columns researchers pass around; records and downloads hold them first."""

SWEEP_ROLES = ("isoflop", "excluded")
"""Roles of the runs that make up a sweep."""

_RUN_COLUMNS = {column.name: column for column in RUNS.columns}

RECORDS = Table(
    "records",
    "final value of a metric of a run, with the run",
    (
        _RUN_COLUMNS["tokens"],
        Column("metric", "text", "metric, as logged"),
        Column("value", "number", "final value, in the metric's unit"),
        _RUN_COLUMNS["flops"],
        Column("params", "number", "size in the ladder's own column", "parameters", above=0),
        Column("label", "text", "sweep label"),
        Column("run", "text", "name of the training run", required=False),
        Column("role", "text", "what the run is for", required=False, choices=ROLES),
        _RUN_COLUMNS["excluded_reason"],
        Column("status", "text", "how the run ended", required=False, choices=STATUSES),
        _RUN_COLUMNS["progress"],
        _RUN_COLUMNS["budget"],
        Column("budget_bucket", "number", "1.1^k bucket", "FLOP", required=False, above=0),
        _RUN_COLUMNS["hidden_dim"],
        _RUN_COLUMNS["layers"],
        _RUN_COLUMNS["batch_size"],
        _RUN_COLUMNS["url"],
    ),
)
"""Records: the six columns, which a file must hold, then what is known of the run."""


def budget_bucket(flops: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Compute rounded to a power of 1.1, the budget that Marin's analysis groups runs by.

    1.1^round(ln C / ln 1.1); C <= 0 passes through.

    Parameters
    ----------
    flops
        Training compute, FLOP; any shape.

    Returns
    -------
    array of float64
        Bucket centres, FLOP, in the same shape.
    """
    compute = np.asarray(flops, dtype=np.float64)
    positive = compute > 0
    power = np.round(np.log(np.where(positive, compute, 1.0)) / np.log(1.1))
    return np.where(positive, 1.1**power, compute)


def join_records(
    runs: pd.DataFrame, evals: pd.DataFrame, metric: str, params_column: str
) -> pd.DataFrame:
    """Records of one metric of one ladder.

    Parameters
    ----------
    runs, evals
        The ladder's rows of the two tables.
    metric
        Which metric's values to take.
    params_column
        The ladder's own size column: params or active_params.

    Returns
    -------
    DataFrame
        One row for each run that has the metric, in the order of `runs`; columns as in
        `RECORDS`. Tokens, flops and params are the run's plan.
    """
    values = evals.loc[evals["metric"] == metric, ["run", "metric", "value"]]
    rows = runs.drop(columns="params").rename(columns={params_column: "params"})
    if params_column == "params":
        rows = runs
    joined = rows.merge(values, on="run", how="inner", validate="one_to_one")
    joined["budget_bucket"] = budget_bucket(joined["flops"])
    return joined[list(RECORDS.column_names)]


def budget_id(flops: float) -> str:
    """A nominal budget (FLOP) as links and command lines hold it: 3e18."""
    return f"{flops:.6g}".replace("e+", "e")


def without_budgets(records: pd.DataFrame, budgets: Collection[str]) -> pd.DataFrame:
    """Records without the sweep's runs of some budgets; held-out and other runs stay.

    Parameters
    ----------
    records
        As `Snapshot.records` gives them.
    budgets
        Nominal budgets to leave out, as `budget_id` writes them.
    """
    sweep = records["role"].isin(SWEEP_ROLES)
    kept: pd.DataFrame = records[~(sweep & records["budget"].map(budget_id).isin(budgets))]
    return kept


def run_names(records: pd.DataFrame) -> list[str]:
    """Name of each record's run, or its place where it has none."""
    if "run" not in records:
        return [f"record {place + 1}" for place in records.index]
    names = zip(records.index, records["run"], strict=True)
    return [str(name) if pd.notna(name) else f"record {place + 1}" for place, name in names]
