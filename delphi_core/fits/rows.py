"""Rows of records as a fit takes them: in order, checked, and grouped by budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from delphi_core.errors import FitError
from delphi_core.records import RECORD_COLUMNS, budget_bucket

if TYPE_CHECKING:
    import numpy.typing as npt

_NUMBERS = ("tokens", "value", "flops", "params")
# Far beyond any run; what is smaller cannot overflow in a fit.
_TOO_LARGE = 1e100


def in_order(records: pd.DataFrame) -> pd.DataFrame:
    """Rows in an order of their own, so that a fit is the same to the last bit for any order."""
    if not records.columns.is_unique:
        raise FitError("the records name a column twice; keep one.")
    missing = [column for column in RECORD_COLUMNS if column not in records]
    if missing:
        raise FitError(f"the records have no column {', '.join(missing)}; add it.")
    metrics = records["metric"].unique()
    if len(metrics) > 1:
        names = ", ".join(map(str, metrics))
        raise FitError(f"the records hold several metrics ({names}); fit one at a time.")
    points = records.reset_index(drop=True)
    for column in _NUMBERS:
        try:
            points[column] = points[column].astype("float64")
        except (TypeError, ValueError):
            raise FitError(f"the records hold a {column} that is no number; remove it.") from None
    keys = [column for column in (*RECORD_COLUMNS, "run") if column in points]
    return points.sort_values(keys, kind="stable", ignore_index=True)


def check_used(used: pd.DataFrame) -> None:
    """Refuse rows that cannot be fitted, or not together."""
    for column in _NUMBERS:
        numbers = used[column].to_numpy()
        good = (np.abs(numbers) < _TOO_LARGE) & ((numbers > 0) | (column == "value"))
        if not good.all():
            raise FitError(
                f"the records hold a {column} of {numbers[~good][0]:g}; remove that row."
            )
    labels = used["label"].unique()
    if len(labels) > 1:
        names = " and ".join(map(str, labels[:4]))
        raise FitError(f"the records hold several labels ({names}); drop all but one.")


def budget_groups(
    points: pd.DataFrame,
    used: npt.NDArray[np.bool_],
    compute: Literal["recorded", "nominal", "bucket"],
) -> npt.NDArray[np.float64]:
    """What identifies the budget of each row: its nominal budget or its bucket, FLOP."""
    nominal = points["budget"] if "budget" in points else pd.Series(np.nan, index=points.index)
    complete = bool(nominal[used].notna().all())
    if compute == "nominal" and not complete:
        raise FitError("the records lack nominal budgets; use compute recorded or bucket.")
    if compute == "bucket" or not complete:
        return budget_bucket(points["flops"].to_numpy(dtype=np.float64))
    return np.asarray(nominal.to_numpy(), dtype=np.float64)
