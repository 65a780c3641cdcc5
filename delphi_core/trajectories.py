"""Measured curves and forecasts of a snapshot's targets, for page, shell and notebook alike."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from delphi_core.errors import DataError, did_you_mean
from delphi_core.fits.trajectory import Plan, Trajectory

if TYPE_CHECKING:
    import numpy.typing as npt

    from delphi_core.snapshot import Snapshot

    Array = npt.NDArray[np.float64]

DIVERGED = 3.0
"""A value this many times the least of its run is no part of a line, once training is under way."""
UNDER_WAY = 0.05


@dataclass(frozen=True)
class Target:
    """Something to forecast, as targets.csv describes it.

    Attributes
    ----------
    target, ladder, run
        Ids.
    rungs
        Names of the runs it is forecast from.
    metric
        The metric it is forecast in first.
    asymptote
        E where it is pinned for that metric; None elsewhere.
    note
        What to know.
    """

    target: str
    ladder: str
    run: str
    rungs: tuple[str, ...]
    metric: str
    asymptote: float | None
    note: str


def targets(snapshot: Snapshot) -> dict[str, Target]:
    """Targets by id, in the order of targets.csv."""
    rows = snapshot.tables["targets"]
    cells = rows.astype(object).where(rows.notna(), None).to_dict("records")
    return {
        str(row["target"]): Target(
            target=str(row["target"]),
            ladder=str(row["ladder"]),
            run=str(row["run"]),
            rungs=tuple(str(row["rungs"] or "").split()),
            metric=str(row["metric"]),
            asymptote=None if row["pinned_E"] is None else float(row["pinned_E"]),
            note=str(row["note"] or ""),
        )
        for row in cells
    }


def target_named(snapshot: Snapshot, name: str) -> Target:
    """A target by its id.

    Raises
    ------
    DataError
        There is none; the message names near misses.
    """
    known = targets(snapshot)
    if name not in known:
        raise DataError([f"no target {name!r}; {did_you_mean(name, known)}"])
    return known[name]


def target_metrics(snapshot: Snapshot, target: Target) -> list[str]:
    """The target's own metric, measured yet or not, then others that it or its rungs have."""
    table = snapshot.tables["trajectories"]
    runs = {target.run, *target.rungs}
    own = table[(table["ladder"] == target.ladder) & table["run"].isin(runs)]
    there = {target.metric, *own["metric"]}
    order = [metric for metric in snapshot.tables["metrics"]["metric"] if metric in there]
    return sorted(order, key=lambda metric: metric != target.metric)


def plan_of(snapshot: Snapshot, ladder: str, run: str) -> Plan:
    """What a run plans.

    Raises
    ------
    DataError
        The snapshot has no such run.
    FitError
        It has no planned FLOPs or tokens.
    """
    runs = snapshot.tables["runs"]
    rows = runs[(runs["ladder"] == ladder) & (runs["run"] == run)]
    if not len(rows):
        raise DataError([f"ladder {ladder} has no run {run!r}."])
    row = rows.iloc[0]
    size = snapshot.ladder(ladder).params_column
    cells = (row[name] for name in ("flops", "tokens", size, "steps"))
    return Plan(run, *(float("nan") if pd.isna(cell) else float(cell) for cell in cells))


def main_line(snapshot: Snapshot, ladder: str, run: str, metric: str) -> Trajectory:
    """One metric of a run along its main line.

    Each step has one owner: the segment that segments.csv gives it to. Steps that were trained
    again count as they came last; cooldown branches and context extensions, which are not
    comparable, are left out, and so are values that are missing or diverged.

    Parameters
    ----------
    snapshot
        Where runs, segments and trajectories are.
    ladder, run, metric
        Ids.

    Returns
    -------
    Trajectory
        Without evaluations where the run has none of the metric.
    """
    plan = plan_of(snapshot, ladder, run)
    table = snapshot.tables["trajectories"]
    own = table[(table["ladder"] == ladder) & (table["run"] == run)]
    owned, seams = _owned(own, snapshot.tables["segments"], ladder, run)
    rows = owned[(owned["metric"] == metric) & np.isfinite(owned["value"].astype("float64"))]
    # A step that was trained again counts as it came last, whatever tokens it was logged with.
    rows = rows[~(rows["step"].notna() & rows["step"].duplicated(keep="last"))]
    steps, tokens, fractions = _progress(rows, plan)
    values = rows["value"].to_numpy(dtype=np.float64)
    order = np.argsort(fractions, kind="stable")
    order = order[np.isfinite(fractions[order])]
    # The same of two evaluations at one fraction: the stable sort keeps the later one last.
    order = order[np.append(np.diff(fractions[order]) > 0, True)[: len(order)]]
    line = Trajectory(plan, *(part[order] for part in (fractions, steps, tokens, values)))
    if len(line):
        losses = np.asarray(line.values)
        late = line.fractions > UNDER_WAY
        line = line.part(~(late & (losses > DIVERGED * losses.min())))
    line = replace(line, clock=_clock(owned, plan))
    at = line.fractions_at(seams)
    return replace(line, seams=tuple(float(fraction) for fraction in at[np.isfinite(at)]))


def _progress(rows: pd.DataFrame, plan: Plan) -> tuple[Array, Array, Array]:
    """Steps, tokens and fractions (by tokens; by steps where none are recorded) of rows."""
    steps = rows["step"].to_numpy(dtype=np.float64, na_value=np.nan)
    tokens = rows["tokens"].to_numpy(dtype=np.float64, na_value=np.nan)
    return steps, tokens, np.where(np.isfinite(tokens), tokens / plan.tokens, steps / plan.steps)


def _clock(rows: pd.DataFrame, plan: Plan) -> Array:
    """Steps and fractions of a run's rows, whatever their metric, from its start to its plan."""
    at, _, there = _progress(rows, plan)
    known = np.isfinite(at) & np.isfinite(there)
    at, there = np.append(at[known], 0.0), np.append(there[known], 0.0)
    if plan.steps > at.max() and there.max() < 1:
        at, there = np.append(at, plan.steps), np.append(there, 1.0)
    if at.max() == 0:
        return np.empty((2, 0))
    order = np.lexsort((there, at))
    at, there = at[order], np.maximum.accumulate(there[order])
    # To be read off both ways both must increase.
    last_of_step = np.append(np.diff(at) > 0, True)
    at, there = at[last_of_step], there[last_of_step]
    first_of_fraction = np.append(True, np.diff(there) > 0)
    return np.vstack([at[first_of_fraction], there[first_of_fraction]])


def _owned(
    rows: pd.DataFrame, segments: pd.DataFrame, ladder: str, run: str
) -> tuple[pd.DataFrame, list[float]]:
    """Rows whose segment owns their step on the main line, and where segments took over.

    Of segments that overlap the one that began last owns a step.
    """
    own = segments[(segments["ladder"] == ladder) & (segments["run"] == run)]
    if not len(own):
        return rows, []
    main = own[own["comparable"] == 1].sort_values("first_step", kind="stable")
    owner = pd.Series(None, index=rows.index, dtype="object")
    for segment in main.to_dict("records"):
        last = np.inf if pd.isna(segment["last_step"]) else segment["last_step"]
        held = rows["step"].between(segment["first_step"], last).fillna(value=False)
        owner[held.astype("bool")] = segment["segment"]
    return rows[owner == rows["segment"]], [float(step) for step in main["first_step"].iloc[1:]]
