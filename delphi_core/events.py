"""What happened to a run, placed on its training, and which of it breaks a forecast's premises."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from delphi_core.fits.trajectory import Trajectory
    from delphi_core.snapshot import Snapshot

PLANNED = "planned"
BREAKS = (
    "mixture swap",
    "mixture change",
    "batch change",
    "cooldown",
    "context extension",
    PLANNED,
)
"""Kinds of events after which a run is no longer trained as its rungs were at that fraction."""


def events_of(snapshot: Snapshot, ladder: str, line: Trajectory) -> pd.DataFrame:
    """Events of a run that have a step, in order.

    Parameters
    ----------
    snapshot, ladder
        Where the run is.
    line
        Any metric of it: it knows at which fraction of training a step was.

    Returns
    -------
    DataFrame
        fraction, step, utc, kind, text, breaks (whether the run was trained as its rungs were up
        to there and no longer is) and planned (whether that is still to come).
    """
    events = snapshot.tables["events"]
    own = events[(events["ladder"] == ladder) & (events["run"] == line.plan.run)]
    own = own[own["step"].notna()]
    placed = own.assign(
        fraction=line.fractions_at(own["step"].to_numpy(dtype="float64")),
        breaks=own["kind"].isin(BREAKS),
        planned=own["kind"] == PLANNED,
    )
    columns = ["fraction", "step", "utc", "kind", "text", "breaks", "planned"]
    placed = placed[placed["fraction"].notna()]
    return placed[columns].sort_values("fraction", kind="stable").reset_index(drop=True)
