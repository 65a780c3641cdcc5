"""Macro losses without some of their subsets: one noisy subset can move the mean by 0.01."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from delphi_core.errors import DataError, did_you_mean
from delphi_core.trajectories import main_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from delphi_core.fits.trajectory import Trajectory
    from delphi_core.snapshot import Snapshot
    from delphi_core.trajectories import Target

_MACRO, _LOSS = "macro_loss", "/loss"
_NEAR = 1e-4
"""Relative to the loss: a macro loss this near to the mean of subsets is that mean."""


def subset_names(snapshot: Snapshot, metric: str) -> tuple[str, ...]:
    """Short names of the subsets a macro loss could be the mean of, as in metrics.csv."""
    if not metric.endswith(_MACRO):
        return ()
    start = metric.removesuffix(_MACRO)
    metrics = snapshot.tables["metrics"]
    subsets = metrics.loc[metrics["kind"] == "subset", "metric"]
    return tuple(
        name.removeprefix(start).removesuffix(_LOSS)
        for name in subsets
        if name.startswith(start) and name.endswith(_LOSS)
    )


def subsets_of(snapshot: Snapshot, target: Target, metric: str) -> tuple[str, ...]:
    """Subsets that a target's macro loss is the unweighted mean of; none where it is not.

    The mean is compared on every evaluation of the rungs: what the target measured is no input.
    """
    names = subset_names(snapshot, metric)
    for run in target.rungs if names else ():
        whole = main_line(snapshot, target.ladder, run, metric)
        mean = _mean(snapshot, target.ladder, run, metric, names)
        if len(mean) != len(whole) or not np.allclose(mean.values, whole.values, rtol=_NEAR):
            return ()
    return names


def line_of(
    snapshot: Snapshot, ladder: str, run: str, metric: str, without: Iterable[str] = ()
) -> Trajectory:
    """Main line of a run's metric; of a macro loss, without some of its subsets.

    Parameters
    ----------
    snapshot, ladder, run, metric
        As for `main_line`.
    without
        Short names of subsets, as `subset_names` gives them. With some, the line is the unweighted
        mean of the others, at the fractions that all of those have.

    Raises
    ------
    DataError
        A subset is none of the metric's, or none is left.
    """
    gone = set(without)
    if not gone:
        return main_line(snapshot, ladder, run, metric)
    names = subset_names(snapshot, metric)
    for name in sorted(gone - set(names)):
        raise DataError([f"metric {metric} has no subset {name!r}; {did_you_mean(name, names)}"])
    kept = [name for name in names if name not in gone]
    if not kept:
        raise DataError([f"no subset of {metric} is left; leave out fewer."])
    return _mean(snapshot, ladder, run, metric, kept)


def _mean(
    snapshot: Snapshot, ladder: str, run: str, metric: str, names: Sequence[str]
) -> Trajectory:
    start = metric.removesuffix(_MACRO)
    lines = [main_line(snapshot, ladder, run, f"{start}{name}{_LOSS}") for name in names]
    common = reduce(np.intersect1d, [line.fractions for line in lines])
    lines = [line.part(np.isin(line.fractions, common)) for line in lines]
    return replace(lines[0], values=np.mean([line.values for line in lines], axis=0))
