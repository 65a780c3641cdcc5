"""The loss law L*(C) = E + A C^-alpha: what the best loss is at any compute.

Laws (how E, A and alpha are fitted to the optima):

log
    least squares of ln(L* - E) on ln C, over E.
squares
    least squares of L*, by variable projection over alpha.
huber
    the same with Huber's loss of L*, delta 1e-3 in the metric's unit.

E is free unless it is pinned. The band is that of the law, L* at the optimum: a single run
scatters around it by its own noise as well (`Forecast.with_run_noise`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING, Literal

import numpy as np

from delphi_core.fits.forecast import Forecast
from delphi_core.fits.interval import METHOD_WORDS
from delphi_core.fits.law_doubts import LawDoubt, law_doubts
from delphi_core.fits.profile import Profile, profile_of_asymptote
from delphi_core.words import COMPUTES, count, ratio_words

if TYPE_CHECKING:
    import numpy.typing as npt

    from delphi_core.fits.bands import Band
    from delphi_core.fits.interval import Interval
    from delphi_core.fits.law_models import LawModel
    from delphi_core.fits.law_settings import LawSettings
    from delphi_core.fits.projection import PowerSums

    Array = npt.NDArray[np.float64]

FEWEST_BUDGETS = 4
"""A free E has three parameters, and one budget more tells noise: walk-forward begins there."""

LAW_WORDS: dict[str, str] = {
    "log": "least squares of ln(L* - E)",
    "squares": "least squares of L*",
    "huber": "Huber's loss of L* (delta 0.001)",
}


@dataclass(frozen=True, eq=False)
class LossLaw:
    """A fitted loss law.

    Attributes
    ----------
    settings
        What was asked for.
    source
        optima, or surface where it follows from a whole loss surface.
    asymptote, coefficient, exponent
        E and A in the metric's unit (A at C = 1 FLOP), and alpha.
    band
        How far it can be trusted.
    budget_flops
        C of each budget it was fitted on, ascending, FLOP.
    optima_flops
        C of those that have an optimum of their own, which walk-forward cuts at, ascending, FLOP.
    runs
        How many runs that were; None where it is not known.
    compute
        What C is: recorded, nominal, bucket or published.
    uncertain
        The optima it was fitted to that are flagged, in words.
    model
        Rows and how they are fitted.
    """

    settings: LawSettings
    source: Literal["optima", "surface"]
    asymptote: float
    coefficient: float
    exponent: float
    band: Band
    budget_flops: tuple[float, ...]
    optima_flops: tuple[float, ...]
    runs: int | None
    compute: str
    uncertain: tuple[str, ...]
    model: LawModel

    @property
    def budgets(self) -> int:
        """How many budgets it was fitted on."""
        return len(self.budget_flops)

    @property
    def largest_flops(self) -> float:
        """The largest C it was fitted on, FLOP."""
        return self.budget_flops[-1]

    @property
    def reach(self) -> float | None:
        """The longest extrapolation ratio that walk-forward tests; None with too few budgets."""
        if len(self.optima_flops) <= FEWEST_BUDGETS:
            return None
        return self.optima_flops[-1] / self.optima_flops[FEWEST_BUDGETS - 1]

    def beyond_reach(self, flops: float) -> str:
        """A sentence where a forecast lies further out than anything tests; else empty."""
        ratio = flops / self.largest_flops
        if ratio <= max(self.reach or 1.0, 1.0):
            return ""
        tested = f"walk-forward needs {FEWEST_BUDGETS + 1} budgets, so it cannot test this ladder"
        if self.reach:
            reach = ratio_words(self.reach)
            tested = f"walk-forward on this ladder reaches an extrapolation ratio of {reach}"
        return (
            f"{tested}; nothing it is chosen by tests the law {ratio_words(ratio)} times beyond "
            "its data, where its form or its E may be wrong."
        )

    @property
    def freedom(self) -> int:
        """Degrees of freedom that are left."""
        pinned = self.settings.asymptote is not None
        return len(self.model.values) - self.model.parameters + pinned

    @cached_property
    def profile(self) -> Profile | None:
        """How well every E fits; None where E is pinned or nothing is left to tell by."""
        if self.band.profile is not None:
            return self.band.profile
        if self.settings.asymptote is not None or self.freedom < 1 or not self.coefficient > 0:
            return None
        return profile_of_asymptote(self.model, self.band.best, level=self.settings.level)

    @cached_property
    def doubts(self) -> tuple[LawDoubt, ...]:
        """What is doubtful, with a sentence for each."""
        return tuple(
            law_doubts(
                self.band.best,
                self.model,
                self.profile,
                freedom=self.freedom,
                pinned=self.settings.asymptote is not None,
                uncertain=self.uncertain,
            )
        )

    def predict(self, flops: npt.ArrayLike) -> Forecast:
        """L* with its band at compute `flops` (FLOP; any shape).

        No law falls below its E, so no band does: below E where that is pinned, else below zero.
        """
        compute = np.asarray(flops, dtype=np.float64)
        flat = compute.reshape(-1)

        def losses(sums: PowerSums) -> Array:
            return self.model.laws(sums).predict(flat)

        low, high = self.band.ends(losses)
        low = np.where(np.isfinite(low), np.maximum(low, self.settings.asymptote or 0.0), low)
        value = losses(self.band.best)[0]
        shape = compute.shape
        return Forecast(
            compute,
            value.reshape(shape),
            low.reshape(shape),
            high.reshape(shape),
            self.band.level,
            self.band.method,
            compute / self.largest_flops,
        )

    @property
    def asymptote_interval(self) -> Interval:
        """Interval of E, by the band's method; E is not negative."""
        found = self.band.interval(lambda sums: sums.asymptote)
        return replace(found, low=max(found.low, 0.0)) if isfinite(found.low) else found

    @property
    def exponent_interval(self) -> Interval:
        """Interval of alpha, by the band's method."""
        return self.band.interval(lambda sums: self.model.laws(sums).exponent)

    @property
    def equation(self) -> str:
        """The law with its numbers."""
        return f"L* = {self.asymptote:.4f} + {self.coefficient:.5g} C^-{self.exponent:.5f}"

    def describe(self) -> str:
        """One sentence: the law and how it was got."""
        pinned = "pinned" if self.settings.asymptote is not None else "free"
        on = count(self.budgets, "budget")
        if self.runs is not None:
            on += f" ({count(self.runs, 'run')})"
        way = LAW_WORDS[self.settings.law]
        if self.source == "surface":
            way = {
                "log": "from the loss surface by Approach 3 (Huber's loss of ln L, delta 0.001)",
                "squares": "from the loss surface by least squares (variable projection)",
                "huber": "from the loss surface by Huber's loss of L (delta 0.001)",
            }[self.settings.law]
        meaning = (
            f"the {COMPUTES[self.compute]}" if self.compute in COMPUTES else f"as {self.compute}"
        )
        if self.band.method != "none":
            band = f"{100 * self.band.level:g} % band by the {METHOD_WORDS[self.band.method]}"
            if self.band.failed:
                sets, failed = self.band.replicates, self.band.failed
                band += f" ({sets:,} sets of rows, {failed:,} of them give no law and are left out)"
        elif not isfinite(self.coefficient):
            band = "no band: a term of the surface is zero, so it has no law in compute"
        elif self.band.failed:
            band = "no band: too few sets of resampled rows give a law"
        else:
            band = "no band: no degree of freedom is left"
        return f"{self.equation}, {way}, E {pinned}, on {on}, C {meaning}; {band}."
