"""Two ladders run by run: pairs of equal width, tokens and batch, and which of each is better."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from delphi_core.errors import FitError, did_you_mean, quoted
from delphi_core.records import SWEEP_ROLES, run_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

PAIRED_ON = ("hidden_dim", "tokens", "batch_size")
"""What must be equal in both: width, tokens and batch."""


def paired_runs(
    base: pd.DataFrame, recipe: pd.DataFrame, on: Sequence[str] = PAIRED_ON
) -> pd.DataFrame:
    """Finished runs of two sweeps that are equal in some columns.

    Parameters
    ----------
    base, recipe
        Records of the same metric, as `Snapshot.records` gives them. Only runs of the sweep count
        (roles isoflop and excluded; without role all), not validation or held-out runs.
    on
        Columns that must be equal, to the last digit. Runs of one ladder that are equal in all of
        them are replicates: their mean counts, and their names stand side by side.

    Returns
    -------
    DataFrame
        The columns of `on`, then flops and base_flops (FLOP), run and base_run (names), value and
        base_value (in the metric's unit), difference (base_value less value: above zero where the
        recipe's run is better) and ahead; by the recipe's compute.

    Raises
    ------
    FitError
        A column is missing, or the metrics differ.
    """
    metrics = sorted({*base["metric"], *recipe["metric"]})
    if len(metrics) > 1:
        raise FitError(
            f"runs of different metrics cannot be paired: {', '.join(map(quoted, metrics[:3]))}; "
            "take one metric."
        )
    pairs = _sweep(recipe, on).merge(
        _sweep(base, on), on=list(on), suffixes=("", "_base"), validate="one_to_one"
    )
    names = {f"{name}_base": f"base_{name}" for name in ("flops", "run", "value")}
    pairs = pairs.rename(columns=names)
    pairs["difference"] = pairs["base_value"] - pairs["value"]
    pairs["ahead"] = pairs["difference"] > 0
    columns = [*on, "flops", "base_flops", "run", "base_run", "value", "base_value"]
    pairs = pairs.sort_values(["flops", *on], kind="stable", ignore_index=True)
    found: pd.DataFrame = pairs[[*columns, "difference", "ahead"]]
    return found


def _sweep(records: pd.DataFrame, on: Sequence[str]) -> pd.DataFrame:
    """A ladder's finished sweep runs, one row for each set of equal columns."""
    for column in on:
        if column not in records:
            remedy = did_you_mean(column, records.columns)
            raise FitError(f"no column {quoted(column)} to pair runs by; {remedy}")
    rows = records.assign(run=run_names(records)).dropna(subset=list(on))
    for column, kept in (("role", SWEEP_ROLES), ("status", ("finished",))):
        if column in rows:
            rows = rows[rows[column].isna() | rows[column].isin(kept)]
    rows = rows[np.isfinite(rows["value"].to_numpy(dtype=np.float64))]
    grouped = rows.groupby(list(on), sort=True)
    found: pd.DataFrame = grouped.agg(
        flops=("flops", "mean"), run=("run", " ".join), value=("value", "mean")
    ).reset_index()
    return found
