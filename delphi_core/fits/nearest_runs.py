"""Runs of a ladder nearest to what is planned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from delphi_core.records import run_names

if TYPE_CHECKING:
    import pandas as pd

NEAREST = 3


def nearest_runs(
    points: pd.DataFrame, flops: float, params: float, number: int = NEAREST
) -> pd.DataFrame:
    """Finished runs nearest in compute and size, whatever their role.

    Nearest by sqrt(ln(C/C0)^2 + ln(N/N0)^2); seeds of one configuration are one row.

    Parameters
    ----------
    points
        Records.
    flops, params
        C0 (FLOP) and N0 (the ladder's own size).
    number
        How many rows.

    Returns
    -------
    DataFrame
        run (of several seeds the first), seeds, role, flops, params, tokens, value (their mean),
        flops_ratio (C/C0), params_ratio (N/N0).
    """
    points = points.assign(run=run_names(points), seeds=1)
    for name in {"role", "status"} - set(points):
        points[name] = None
    finished = points["status"].isna() | (points["status"] == "finished")
    rows = points[finished & np.isfinite(points["value"].to_numpy(dtype=np.float64))]
    kinds = {"run": "first", "seeds": "sum", "role": "first", "value": "mean"}
    rows = rows.groupby(["flops", "params", "tokens"], as_index=False).agg(kinds)
    rows["flops_ratio"], rows["params_ratio"] = rows["flops"] / flops, rows["params"] / params
    distance = np.hypot(np.log(rows["flops_ratio"]), np.log(rows["params_ratio"]))
    nearest = distance.sort_values(kind="stable").index[:number]
    columns = ["run", "seeds", "role", "flops", "params", "tokens", "value"]
    found: pd.DataFrame = rows.loc[nearest, [*columns, "flops_ratio", "params_ratio"]]
    return found.reset_index(drop=True)
