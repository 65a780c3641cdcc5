"""Published forecasts and how they came out: error against how far each was extrapolated."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import inf, nan
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from delphi_core.trajectories import main_line, targets
from delphi_core.words import count, flops_words

if TYPE_CHECKING:
    from delphi_core.fits.trajectory import Trajectory
    from delphi_core.snapshot import Snapshot

COLUMNS = [
    "ladder", "run", "metric", "flops", "fraction", "predicted", "actual", "error_pct",
    "error_from", "outcome_from", "made", "preregistered", "method", "fitted_on", "largest_flops",
    "ratio", "source",
]  # fmt: skip
BESIDE = 0.02
"""A live run has an outcome at a fraction where it has evaluations this near on either side."""
GROUPS = {
    "up to 1 (what was fitted)": (0.0, 1.0),
    "1 to 10": (1.0, 10.0),
    "10 to 100": (10.0, 100.0),
    "over 100": (100.0, inf),
}
"""Extrapolation ratios that are scored together: above the first end, up to the second."""
UNKNOWN = "not known"
AS_PRINTED = "as printed"
_BUDGETS = re.compile(r"\bfirst (\d{1,3}) budgets\b")
_RUNS = re.compile(r"\((\d{1,6}) runs\)")
_DEVIATION = re.compile(r"measured (\d+(?:\.\d+)?) % (above|below) forecast")


@dataclass(frozen=True)
class _Sweep:
    """Runs that a ladder's published fits were fitted on, as their roles say.

    Attributes
    ----------
    budgets
        C of each budget, ascending: nominal, or as recorded where that is not known; FLOP.
    sizes
        How many runs there are, without and with those that the published fit left out.
    """

    budgets: tuple[float, ...]
    sizes: tuple[int, int]


@dataclass(frozen=True)
class _Rungs:
    """How many rungs a run was forecast from, and the largest C of their plans, FLOP."""

    number: int
    largest: float


def forecast_ledger(snapshot: Snapshot) -> pd.DataFrame:
    """Published forecasts with their outcomes, in the order of published_forecasts.

    Parameters
    ----------
    snapshot
        Where forecasts, runs, targets and trajectories are.

    Returns
    -------
    DataFrame
        Columns of the table, then error_pct ((measured - predicted) / predicted) and error_from
        (from the values, or the deviation as printed where the forecast itself was not);
        outcome_from (published, or the run's own evaluations: the line between those on either
        side of the fraction); fitted_on and largest_flops (what it was fitted on and the largest C
        of that, FLOP: from the budgets or runs that its method names, from the target's rungs, or,
        for a run held out of a sweep, from the sweep) and ratio (flops over that). What the
        snapshot does not tell is missing.
    """
    table = snapshot.tables["published_forecasts"]
    sweeps, rungs, roles = _sweeps(snapshot), _rungs(snapshot), _roles(snapshot)
    lines: dict[tuple[str, str, str], Trajectory] = {}
    rows = []
    for cells in table.astype(object).where(table.notna(), None).to_dict("records"):
        row: dict[str, Any] = {str(name): cell for name, cell in cells.items()}
        own = (row["ladder"], row["run"])
        row["outcome_from"] = None if row["actual"] is None else "published"
        if row["actual"] is None and row["run"] is not None:
            line = (*own, row["metric"])
            if line not in lines:
                lines[line] = main_line(snapshot, *line)
            row["actual"], row["outcome_from"] = _measured(lines[line], row["fraction"])
        row["error_pct"], row["error_from"] = _error(row)
        words, largest = _fitted_on(row, sweeps.get(row["ladder"]), rungs.get(own), roles.get(own))
        row |= {"fitted_on": words, "largest_flops": largest, "ratio": row["flops"] / largest}
        rows.append(row)
    numbers = ["flops", "fraction", "predicted", "actual", "error_pct", "largest_flops", "ratio"]
    kinds = {name: "float64" if name in numbers else "str" for name in COLUMNS}
    return pd.DataFrame(rows, columns=COLUMNS).astype(kinds | {"preregistered": "bool"})


def ledger_scores(ledger: pd.DataFrame) -> pd.DataFrame:
    """How forecasts came out, by how far they were extrapolated; preregistered ones apart.

    Parameters
    ----------
    ledger
        As `forecast_ledger` gives it.

    Returns
    -------
    DataFrame
        preregistered, ratio (a group of `GROUPS`, or not known), forecasts, outcomes (how many of
        them can be scored), runs (how many different runs or budgets those are of: forecasts of
        one run are not independent), mean_abs_error_pct and max_abs_error_pct. Groups that are
        empty are left out.
    """
    names = [*GROUPS, UNKNOWN]
    group = pd.Series(UNKNOWN, index=ledger.index, dtype="str")
    for name, (above, up_to) in GROUPS.items():
        # Nominal budgets are round numbers: a ratio of 1 may be off it by rounding.
        inside = (ledger["ratio"] > above * (1 + 1e-9)) & (ledger["ratio"] <= up_to * (1 + 1e-9))
        group[inside] = name
    rows = []
    for preregistered in (True, False):
        for name in names:
            own = ledger[(ledger["preregistered"] == preregistered) & (group == name)]
            if not len(own):
                continue
            met = own[own["error_pct"].notna()]
            errors = met["error_pct"].abs()
            of = met["run"].fillna(met["flops"].astype("str"))
            rows.append(
                {
                    "preregistered": preregistered,
                    "ratio": name,
                    "forecasts": len(own),
                    "outcomes": len(met),
                    "runs": len(set(zip(met["ladder"], of, strict=True))),
                    "mean_abs_error_pct": float(errors.mean()) if len(met) else nan,
                    "max_abs_error_pct": float(errors.max()) if len(met) else nan,
                }
            )
    columns = ["preregistered", "ratio", "forecasts", "outcomes", "runs"]
    return pd.DataFrame(rows, columns=[*columns, "mean_abs_error_pct", "max_abs_error_pct"])


def _error(row: dict[str, Any]) -> tuple[float | None, str | None]:
    """Error of a forecast in percent, and what it is from."""
    if row["predicted"] is None:
        printed = _DEVIATION.search(row["method"])
        if printed is None:
            return None, None
        sign = 1 if printed[2] == "above" else -1
        return sign * float(printed[1]), AS_PRINTED
    if row["actual"] is None or row["predicted"] == 0:
        return None, None
    return 100 * (row["actual"] - row["predicted"]) / row["predicted"], "from the values"


def _measured(line: Trajectory, fraction: float) -> tuple[float | None, str | None]:
    """What a run measured at a fraction of training, and from which evaluations."""
    at = line.fractions
    place = int(np.searchsorted(at, fraction - 1e-9))
    if place < len(at) and abs(at[place] - fraction) <= 1e-9:
        return float(line.values[place]), f"its evaluation at {100 * at[place]:.2f} %"
    if not 0 < place < len(at) or max(fraction - at[place - 1], at[place] - fraction) > BESIDE:
        return None, None
    value = float(np.interp(fraction, at, line.values))
    return value, (
        f"between its evaluations at {100 * at[place - 1]:.2f} % and {100 * at[place]:.2f} %"
    )


def _fitted_on(
    row: dict[str, Any], sweep: _Sweep | None, rungs: _Rungs | None, role: str | None
) -> tuple[str | None, float]:
    """What a forecast was fitted on, in words, and the largest C of that; none if not known."""
    if sweep is None:
        if rungs is None:
            return None, nan
        largest = rungs.largest * row["fraction"]
        at = f"{count(rungs.number, 'rung')} at {100 * row['fraction']:g} % of training"
        return f"{at}, up to {flops_words(largest)}", largest
    top = sweep.budgets[-1]
    if named := _BUDGETS.search(row["method"]):
        number = int(named[1])
        if not 1 <= number <= len(sweep.budgets):
            return None, nan
        top = sweep.budgets[number - 1]
        words = f"first {number} of {count(len(sweep.budgets), 'budget')}"
    elif named := _RUNS.search(row["method"]):
        if int(named[1]) not in sweep.sizes:
            return None, nan
        words = f"all {named[1]} runs of the sweep"
    elif role == "heldout":
        words = "the sweep that the run is held out of"
    else:
        return None, nan
    return f"{words}, up to {flops_words(top)}", top


def _sweeps(snapshot: Snapshot) -> dict[str, _Sweep]:
    """Sweep of each ladder that has one."""
    runs = snapshot.tables["runs"]
    found = {}
    for ladder, rows in runs[runs["status"] == "finished"].groupby("ladder"):
        fitted = rows[rows["role"] == "isoflop"]
        if len(fitted):
            excluded = int((rows["role"] == "excluded").sum())
            budgets = sorted(set(fitted["budget"].fillna(fitted["flops"])))
            sizes = (len(fitted), len(fitted) + excluded)
            found[str(ladder)] = _Sweep(tuple(float(flops) for flops in budgets), sizes)
    return found


def _rungs(snapshot: Snapshot) -> dict[tuple[str, str], _Rungs]:
    """Rungs of each run that is a target."""
    runs = snapshot.tables["runs"]
    flops = runs.set_index(["ladder", "run"])["flops"].to_dict()
    return {
        (target.ladder, target.run): _Rungs(
            len(target.rungs), max(float(flops[target.ladder, run]) for run in target.rungs)
        )
        for target in targets(snapshot).values()
        if target.rungs
    }


def _roles(snapshot: Snapshot) -> dict[tuple[str, str], str]:
    runs = snapshot.tables["runs"]
    return dict(zip(zip(runs["ladder"], runs["run"], strict=True), runs["role"], strict=True))
