"""A fitted forecaster of a trajectory, whatever the method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from delphi_core.fits.trajectory import Plan

    Array = npt.NDArray[np.float64]

FIRST_FRACTION = 0.045
"""Earlier evaluations are of the warm-up and just after; no forecaster takes them."""
GRID = np.arange(1, 21) / 20
"""The fractions that Marin's forecast is made at."""


Origin = Literal["pinned", "profiled", "assumed"]


class Line(Protocol):
    """A fitted forecaster: loss of a plan at fractions."""

    def __call__(self, plan: Plan, fractions: Array) -> Array:
        """Loss at each fraction, in the metric's unit."""
        ...


@dataclass(frozen=True)
class Continuation:
    """How a rung that stopped early was continued.

    Attributes
    ----------
    run
        Its name.
    slope, intercept
        Of the line through its last evaluations, loss on fraction.
    offset
        What was added to it.
    """

    run: str
    slope: float
    intercept: float
    offset: float


@dataclass(frozen=True, eq=False)
class FittedLine:
    """A forecaster fitted to rungs.

    Attributes
    ----------
    line
        Loss of a plan at fractions.
    asymptote
        E that it used.
    origin
        Where that is from: pinned, profiled on the rungs, or assumed since they leave it open.
    fractions
        First and last fraction that it can say anything of.
    continuations
        Of rungs that stopped early, where the method continues them.
    """

    line: Line
    asymptote: float
    origin: Origin = "pinned"
    fractions: tuple[float, float] = (FIRST_FRACTION, 1.0)
    continuations: tuple[Continuation, ...] = ()
