"""What a run plans, and what it has measured along the way: the input of every forecaster."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from delphi_core.errors import FitError

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float64]


_GAP = 1.75


@dataclass(frozen=True)
class Plan:
    """What a run is to be: known before it begins.

    Attributes
    ----------
    run
        Its name.
    flops, tokens
        C (FLOP) and D of the whole plan.
    params
        N, in the ladder's own size column; not a number where it is not known.
    steps
        Planned optimizer steps; not a number where they are not known.
    """

    run: str
    flops: float
    tokens: float
    params: float
    steps: float

    def __post_init__(self) -> None:
        """Refuse a plan that nothing can be forecast from.

        Raises
        ------
        FitError
            FLOPs or tokens are missing or not positive.
        """
        for name in ("flops", "tokens"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0):
                raise FitError(f"run {self.run} has no planned {name}; add them to runs.csv.")


@dataclass(frozen=True, eq=False)
class Trajectory:
    """One metric of a run along its main line.

    Attributes
    ----------
    plan
        Of the run.
    fractions : array
        Fraction of training of each evaluation, by tokens; strictly increasing.
    steps, tokens, values : array
        Step (not a number where none is recorded), tokens seen and the metric's value.
    seams : tuple of float
        Fractions at which another segment took over.
    clock : array of two rows
        Steps and the fractions they were at, both increasing, from the run's evaluations of any
        metric: tokens are not in proportion to steps where the batch changes. Without columns
        where no step is known.
    """

    plan: Plan
    fractions: Array
    steps: Array
    tokens: Array
    values: Array
    seams: tuple[float, ...] = ()
    clock: Array = field(default_factory=lambda: np.empty((2, 0)))

    def __post_init__(self) -> None:
        """Refuse what is no line.

        Raises
        ------
        FitError
            A number is missing, or the fractions do not increase.
        """
        if not (np.isfinite(self.fractions).all() and np.isfinite(self.values).all()):
            raise FitError(f"the line of run {self.plan.run} has a missing number: leave it out.")
        if not (np.diff(self.fractions) > 0).all():
            raise FitError(f"the fractions of run {self.plan.run} do not increase: sort them.")

    def __len__(self) -> int:
        """How many evaluations there are."""
        return len(self.values)

    def part(self, keep: npt.NDArray[np.bool_]) -> Trajectory:
        """Some of the evaluations."""
        return replace(
            self,
            fractions=self.fractions[keep],
            steps=self.steps[keep],
            tokens=self.tokens[keep],
            values=self.values[keep],
        )

    def steps_at(self, fractions: npt.ArrayLike) -> Array:
        """Steps at fractions of training (any shape); not a number where no step is known."""
        return _read_off(np.asarray(fractions, dtype=np.float64), self.clock[1], self.clock[0])

    def fractions_at(self, steps: npt.ArrayLike) -> Array:
        """Fractions of training at steps (any shape); not a number beyond the steps known."""
        return _read_off(np.asarray(steps, dtype=np.float64), *self.clock)

    @property
    def gaps(self) -> npt.NDArray[np.intp]:
        """Places of the evaluations before which others are missing.

        Missing are they where two evaluations are further apart than 1.75 times the stretches
        beside them, and 1.75 times the usual one; of fewer than five evaluations none are.
        """
        apart = np.diff(self.fractions)
        if len(apart) < 4:
            return np.empty(0, dtype=np.intp)
        beside = np.maximum(np.append(0.0, apart)[:-1], np.append(apart, 0.0)[1:])
        return np.flatnonzero(apart > _GAP * np.maximum(beside, np.median(apart))) + 1

    @property
    def finished(self) -> bool:
        """Whether it reached its plan, give or take a hundredth."""
        return len(self) > 0 and bool(self.fractions[-1] > 0.99)


def _read_off(places: Array, x: Array, y: Array) -> Array:
    """The line through (x, y) at places; not a number outside it."""
    if not len(x):
        return np.full_like(places, np.nan)
    return np.interp(places, x, y, left=np.nan, right=np.nan)
