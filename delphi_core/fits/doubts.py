"""What is doubtful about a budget's curve and optimum: typed flags, each with a sentence."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from delphi_core.words import amount_words, count

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from delphi_core.fits.curve import Curve
    from delphi_core.fits.interval import Interval

FEWEST_UNFLAGGED = 3
"""A curve with fewer degrees of freedom in different sizes than this is flagged."""
REACH = 3.0
"""How far outside the sampled range, in decades, a minimum still counts as an optimum."""

_CURVE_NAMES = {2: "parabola", 3: "cubic"}
# What a place along x is called: one, the least, the most.
_PLACES = {
    "tokens": ("token count", "fewest tokens", "most tokens"),
    "params": ("size", "smallest size", "largest size"),
}


class Flag(StrEnum):
    """What is doubtful about a budget."""

    CONCAVE = "concave"
    NO_MINIMUM = "no_minimum"
    EDGE = "edge"
    FLAT = "flat"
    FEW_POINTS = "few_points"


class Doubt(NamedTuple):
    """A flag and a sentence that says what it means here."""

    flag: Flag
    sentence: str


def few_points_doubts(runs: int, sizes: int, degree: int, along: str) -> list[Doubt]:
    """Flag of a budget whose different sizes leave its curve too little to be tested by.

    Replicates of one size say how noisy it is, but nothing about the curve between sizes.
    """
    name, freedom = _CURVE_NAMES[degree], sizes - degree - 1
    if freedom >= FEWEST_UNFLAGGED:
        return []
    noun = _PLACES[along][0]
    have = count(runs, "run") + (f" at {count(sizes, noun)}" if sizes < runs else "")
    if freedom < 0:
        words = f"{have}, and a {name} needs {degree + 1} different {noun}s."
    elif freedom == 0:
        words = f"{have} determine the {name} exactly, so nothing tests it."
    else:
        words = f"{have} leave a {name} {count(freedom, 'degree')} of freedom."
    return [Doubt(Flag.FEW_POINTS, f"few points: {words}")]


def no_optimum_doubt(curve: Curve, optimal_x: float | None) -> Doubt:
    """Why a curve has no optimum; `optimal_x` is its minimum, if it is out of reach."""
    if optimal_x is not None:
        words = (
            f"no minimum within reach: the curve's own lies more than {REACH:g} decades outside "
            "the sampled range, so there is no optimum."
        )
        return Doubt(Flag.NO_MINIMUM, words)
    if curve.opens_downwards:
        words = (
            "concave: the parabola opens downwards, so its vertex is a maximum and there is no "
            "optimum (Marin's own code would take it for one)."
        )
        return Doubt(Flag.CONCAVE, words)
    words = "no minimum: the fitted curve has none, so there is no optimum."
    return Doubt(Flag.NO_MINIMUM, words)


def edge_doubts(curve: Curve, optimal_x: float, loss: float, along: str) -> list[Doubt]:
    """Flag of an optimum at an end of what was sampled, or beyond it."""
    _, least, most = _PLACES[along]
    if optimal_x <= curve.low:
        return [Doubt(Flag.EDGE, f"edge: below the {least} sampled, so extrapolated.")]
    if optimal_x >= curve.high:
        return [Doubt(Flag.EDGE, f"edge: above the {most} sampled, so extrapolated.")]
    if curve.predict([curve.low, curve.high]).min() < loss:
        words = "an end of the sampled range lies lower than the local minimum of the curve."
        return [Doubt(Flag.EDGE, f"edge: {words}")]
    return []


def flat_doubts(interval: Interval, sampled: npt.NDArray[np.float64]) -> list[Doubt]:
    """Flag of a budget whose interval covers all that was sampled."""
    least, most = float(sampled.min()), float(sampled.max())
    if interval.method == "none" or interval.low > least or interval.high < most:
        return []
    words = (
        f"flat: the {interval.level:.0%} interval covers all that was sampled, so the optimum "
        f"could be anywhere from {amount_words(least)} to {amount_words(most)}, or beyond."
    )
    return [Doubt(Flag.FLAT, words.replace("%", " %"))]
