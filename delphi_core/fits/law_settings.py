"""What a law in compute is fitted by, and the defaults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from delphi_core.errors import FitError, did_you_mean, quoted
from delphi_core.fits.bands import BandKind
from delphi_core.fits.law_models import Law

DEFAULT_LAW: Law = "squares"
DEFAULT_BAND: BandKind = "residual bootstrap"
"""Chosen by `law_choice.choose`; `python -m delphi_core walk-forward` does it again."""
MOST_REPLICATES = 100_000
"""Sets of rows that a bootstrap may draw."""


@dataclass(frozen=True)
class LawSettings:
    """What a law in compute is fitted by.

    Attributes
    ----------
    law
        log, squares or huber.
    asymptote
        E where it is pinned, in the metric's unit, not negative; None to fit it.
    band
        profile, delta, jackknife, stratified bootstrap or residual bootstrap (`fits.bands`).
    level
        Of the band and of every interval, 0.5 to 0.99.
    replicates, seed
        How many sets of rows the bootstraps draw, and how.
    """

    law: Law = DEFAULT_LAW
    asymptote: float | None = None
    band: BandKind = DEFAULT_BAND
    level: float = 0.9
    replicates: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse a setting that is none, with the nearest that is.

        Raises
        ------
        FitError
            Law or band is unknown, E is negative or no number, the level is out of range, or
            nothing is to be drawn.
        """
        for name, choice in (("law", Law), ("band", BandKind)):
            given, known = getattr(self, name), get_args(choice)
            if given not in known:
                raise FitError(f"no {name} {quoted(given)}; {did_you_mean(str(given), known)}")
        if not (isinstance(self.level, (int, float)) and 0.5 <= self.level <= 0.99):
            raise FitError(f"level is {quoted(self.level)}; it must be from 0.5 to 0.99.")
        pinned = self.asymptote
        if pinned is not None and not (isinstance(pinned, (int, float)) and 0 <= pinned < 1e6):
            raise FitError(f"E is pinned at {quoted(pinned)}; it must be 0 or a positive number.")
        drawn = self.replicates
        if not (isinstance(drawn, int) and 1 <= drawn <= MOST_REPLICATES):
            raise FitError(
                f"replicates is {quoted(drawn)}; it must be from 1 to {MOST_REPLICATES:,}."
            )
