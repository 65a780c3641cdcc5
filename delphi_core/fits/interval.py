"""The one type of interval: a level, a method, and two ends."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isinf
from typing import Literal

from delphi_core.words import amount_words

IntervalMethod = Literal[
    "bootstrap",
    "residual bootstrap",
    "fieller",
    "student t",
    "profile",
    "delta",
    "jackknife",
    "stratified bootstrap",
    "none",
]
METHOD_WORDS: dict[IntervalMethod, str] = {
    "bootstrap": "bootstrap",
    "residual bootstrap": "bootstrap of residuals",
    "fieller": "Fieller's theorem",
    "student t": "Student's t",
    "profile": "profile of E",
    "delta": "delta method",
    "jackknife": "leave-one-budget-out jackknife",
    "stratified bootstrap": "bootstrap within budgets",
    "none": "no interval",
}


@dataclass(frozen=True)
class Interval:
    """An interval with its level and method.

    Attributes
    ----------
    level
        Share of such intervals that are meant to hold the truth, 0..1.
    method
        How it was got, or none where no row is left to tell noise by.
    low, high
        Its ends; infinite where the rows do not bound it.
    replicates, failed
        How many sets of rows were drawn, and how many of them were no use: a set that leaves no
        degree of freedom is left out, and one whose curve has no minimum counts as an optimum
        beyond either end, half and half.
    """

    level: float
    method: IntervalMethod
    low: float
    high: float
    replicates: int = 0
    failed: int = 0

    def describe(self, noun: str) -> str:
        """The interval in words, its ends positive amounts of `noun`: tokens, parameters."""
        if self.method == "none":
            return "no interval: no degree of freedom is left to tell noise by"
        low, high = amount_words(self.low), "" if isinf(self.high) else amount_words(self.high)
        if self.low <= 0 and not high:
            ends = "not bounded"
        elif not high:
            ends = f"from {low} {noun} up"
        elif self.low <= 0:
            ends = f"up to {high} {noun}"
        else:
            ends = f"{low} to {high} {noun}"
        return f"{self.level_words} interval {ends} ({METHOD_WORDS[self.method]})"

    @property
    def level_words(self) -> str:
        """The level in percent."""
        return f"{100 * self.level:g} %"

    @classmethod
    def none(cls, level: float) -> Interval:
        """No interval: nothing bounds it."""
        return cls(level, "none", -inf, inf)
