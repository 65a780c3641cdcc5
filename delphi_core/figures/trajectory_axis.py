"""What the x axis of a trajectory counts, for every run on the chart alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import numpy.typing as npt

    from delphi_core.fits.trajectory import Trajectory

    Array = npt.NDArray[np.float64]

TrajectoryX = Literal["fraction", "steps", "tokens", "flops"]
TRAJECTORY_X: tuple[TrajectoryX, ...] = ("fraction", "steps", "tokens", "flops")


@dataclass(frozen=True)
class TrajectoryAxis:
    """An x axis.

    Attributes
    ----------
    title
        With its unit.
    at
        Fractions of training of the target to places on the axis, in the title's unit. Rungs are
        drawn at the same fraction.
    """

    title: str
    at: Callable[[Array], Array]


def trajectory_axis(measured: Trajectory, x: TrajectoryX) -> TrajectoryAxis:
    """The axis that counts the target's fraction, steps, tokens or FLOPs."""
    plan = measured.plan
    if x == "steps":
        known = measured.clock.shape[1] > 0
        title = "Step (10³ steps)" if known else "Step (this run's steps are not known)"
        return TrajectoryAxis(title, lambda fractions: measured.steps_at(fractions) / 1e3)
    title, whole = {
        "fraction": ("Fraction of training (%)", 100.0),
        "tokens": ("Tokens seen (10¹² tokens)", plan.tokens / 1e12),
        "flops": ("Compute spent (10²¹ FLOP)", plan.flops / 1e21),
    }[x]
    return TrajectoryAxis(title, lambda fractions: whole * fractions)
