"""What cannot be told from the rows of a law: typed flags, each with a sentence."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from delphi_core.errors import FitError
from delphi_core.fits.projection import EXPONENTS
from delphi_core.words import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from delphi_core.fits.law_models import LawModel
    from delphi_core.fits.profile import Profile
    from delphi_core.fits.projection import PowerSums

    Array = npt.NDArray[np.float64]

WIDE = 0.2
"""An interval of E wider than this share of the least loss leaves alpha open as well."""
NOTHING = 1e-6
"""An E or a term less than this share of the least loss, or an exponent less than this, is none."""
COLLINEAR = 0.999
"""ln N and ln D correlated more than this vary together: their exponents cannot be told apart."""


class LawFlag(StrEnum):
    """What is doubtful about a law, or why there is none."""

    FEW_BUDGETS = "few_budgets"
    ONE_BUDGET = "one_budget"
    BELOW_ASYMPTOTE = "below_asymptote"
    ASYMPTOTE_OPEN = "asymptote_open"
    ASYMPTOTE_ZERO = "asymptote_zero"
    NO_GAIN = "no_gain"
    EXPONENT_BOUND = "exponent_bound"
    SIZES_TIED = "sizes_tied"
    UNCERTAIN_OPTIMA = "uncertain_optima"


class LawDoubt(NamedTuple):
    """A flag and a sentence that says what it means here."""

    flag: LawFlag
    sentence: str


class UnidentifiedError(FitError):
    """The rows do not determine what was asked for.

    Attributes
    ----------
    flag
        Why.
    """

    def __init__(self, flag: LawFlag, sentence: str) -> None:
        super().__init__(sentence)
        self.flag = flag


def check_identified(budgets: int, losses: Array, asymptote: float | None) -> None:
    """Refuse optima that do not determine a loss law.

    Raises
    ------
    UnidentifiedError
        Too few budgets for the parameters, or a loss at or below the pinned E, or zero.
    """
    needed = 3 if asymptote is None else 2
    if budgets <= 1:
        have = "one budget has" if budgets else "no budget has"
        raise UnidentifiedError(
            LawFlag.ONE_BUDGET,
            f"{have} an optimum, and a law in compute needs {needed}: fit more budgets.",
        )
    if budgets < needed:
        raise UnidentifiedError(
            LawFlag.FEW_BUDGETS,
            f"{count(budgets, 'budget')} cannot tell E, A and alpha apart: pin E, or fit "
            f"{needed} budgets.",
        )
    _check_above(losses, asymptote)


def _check_above(losses: Array, asymptote: float | None) -> None:
    """Refuse losses at or below the pinned E, or at or below zero, the least that E can be."""
    if below := int(np.count_nonzero(losses <= 0)):
        what, remedy = "zero", "E is never negative, so this metric has no such law"
    elif asymptote is not None and (below := int(np.count_nonzero(losses <= asymptote))):
        what, remedy = f"the pinned E of {asymptote:g}", f"pin it below {losses.min():.4g}"
    else:
        return
    raise UnidentifiedError(
        LawFlag.BELOW_ASYMPTOTE,
        f"{below} of {len(losses)} losses lie at or below {what}: {remedy}.",
    )


def check_surface(
    params: Array, tokens: Array, losses: Array, asymptote: float | None, *, budgets: int
) -> None:
    """Refuse runs that do not determine a loss surface.

    Raises
    ------
    UnidentifiedError
        Too few runs or budgets, N and D that vary together or not at all, or a loss at or below
        the pinned E, or zero.
    """
    parameters = 5 if asymptote is None else 4
    log_n, log_d = np.log(params), np.log(tokens)
    if len(params) < parameters:
        raise UnidentifiedError(
            LawFlag.FEW_BUDGETS,
            f"{count(len(params), 'run')} cannot determine the {parameters} parameters of a "
            "surface: fit more runs.",
        )
    for name, logs, exponent in (("size N", log_n, "alpha"), ("tokens D", log_d, "beta")):
        if np.ptp(logs) < 1e-3:
            raise UnidentifiedError(
                LawFlag.SIZES_TIED,
                f"all runs have the same {name}, so {exponent} and E cannot be told apart: "
                "fit runs that differ in it.",
            )
    if budgets == 1:
        # C / ND varies a little between runs, which must not pass for knowledge of the surface.
        raise UnidentifiedError(
            LawFlag.ONE_BUDGET,
            "all runs are of one budget, where C ties N to D, so alpha and beta cannot be told "
            "apart: fit more budgets.",
        )
    correlation = float(np.corrcoef(log_n, log_d)[0, 1])
    if abs(correlation) > COLLINEAR:
        raise UnidentifiedError(
            LawFlag.SIZES_TIED,
            "N and D vary together in all runs, so alpha and beta cannot be told apart: fit "
            "runs of several budgets and several sizes in each.",
        )
    _check_above(losses, asymptote)


def law_doubts(
    best: PowerSums,
    model: LawModel,
    profile: Profile | None,
    *,
    freedom: int,
    pinned: bool,
    uncertain: Sequence[str],
) -> list[LawDoubt]:
    """What is doubtful about a fit.

    Parameters
    ----------
    best, model
        The fit and its rows.
    profile
        That of E, if there is one.
    freedom
        Degrees of freedom that are left.
    pinned
        Whether E is pinned.
    uncertain
        The optima it was fitted to that are flagged, in words.
    """
    doubts = []
    if freedom < 1:
        sentence = (
            f"{len(model.values)} rows determine the law exactly, so nothing tests it and there "
            "is no band."
        )
        doubts.append(LawDoubt(LawFlag.FEW_BUDGETS, sentence))
    least = float(model.values.min())
    # Approach 3 and the log law come near zero without reaching it.
    falls = bool(((best.coefficients > NOTHING * least) & (best.exponents > NOTHING)).all())
    if not falls:
        sentence = "the loss does not fall with what the law says it falls with: no forecast."
        doubts.append(LawDoubt(LawFlag.NO_GAIN, sentence))
    elif ((best.exponents <= EXPONENTS[0]) | (best.exponents >= EXPONENTS[1])).any():
        low, high = EXPONENTS
        sentence = f"an exponent is at a bound of the search, {low:g} to {high:g}."
        doubts.append(LawDoubt(LawFlag.EXPONENT_BOUND, sentence))
    if falls and not pinned and best.asymptote[0] <= NOTHING * least:
        sentence = "E is at its bound of zero: the rows show no irreducible loss."
        doubts.append(LawDoubt(LawFlag.ASYMPTOTE_ZERO, sentence))
    if profile is not None:
        low, high = profile.interval.low, profile.interval.high
        if high - low > WIDE * least:
            sentence = (
                f"E and alpha cannot be told apart: any E from {low:.3g} to {high:.3g} fits about "
                f"equally well ({profile.interval.level_words})."
            )
            doubts.append(LawDoubt(LawFlag.ASYMPTOTE_OPEN, sentence))
    if uncertain:
        sentence = f"optima it is fitted to are doubtful themselves: {', '.join(uncertain)}."
        doubts.append(LawDoubt(LawFlag.UNCERTAIN_OPTIMA, sentence))
    return doubts
