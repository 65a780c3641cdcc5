"""Forecasters of a whole trajectory: rungs and the target's plan in, loss at any fraction out.

per-fraction
    Marin's: a power law in compute at each of 20 fractions (`fits.per_fraction`).
joint
    The same law with ln A and alpha smooth in the fraction g, all evaluations at once:
    ln(L - E) = a0 + a1 ln g + a2 g + a3 g^2 - (b0 + b1 ln g) ln C.
collapse
    (L(g) - E) / (L(1) - E) is one curve for all rungs (Qiu et al. 2025, arXiv 2507.02119), times
    the power law of the final losses.
surface
    The loss surface along training (`fits.training_surface`).

Nothing here sees what the target measured.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from delphi_core.errors import FitError
from delphi_core.fits.forecast_line import FIRST_FRACTION, GRID, FittedLine
from delphi_core.fits.per_fraction import fit_per_fraction
from delphi_core.fits.training_surface import fit_training_surface

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from delphi_core.fits.forecast_line import Origin
    from delphi_core.fits.trajectory import Plan, Trajectory

    Array = npt.NDArray[np.float64]

ForecastMethod = Literal["per-fraction", "joint", "collapse", "surface"]
FORECAST_METHODS: tuple[ForecastMethod, ...] = ("per-fraction", "joint", "collapse", "surface")
LEAST_RUNGS_FOR_E = 3
"""Two rungs leave E open."""
ASSUMED_SHARE = 0.6
"""E over the least loss of the rungs where it is neither pinned nor to be told: about what the
published laws of the other ladders pin (1.5 of 2.47, 1.6 of 2.72, 1.4 of 2.75)."""


def fit_line(
    method: ForecastMethod,
    rungs: Sequence[Trajectory],
    *,
    asymptote: float | None,
    offset: float | None = None,
) -> FittedLine:
    """Fit a forecaster to rungs.

    Parameters
    ----------
    method
        Which one.
    rungs
        Smaller runs of the recipe; evaluations before 4.5 % of training play no part.
    asymptote
        E where it is pinned; None to profile it, which takes three rungs.
    offset
        What a stopped rung's continuation adds to its line (per-fraction); None for the mean of
        what finished rungs end above theirs.

    Raises
    ------
    FitError
        Fewer than two rungs have evaluations, they are all of one compute or have no common
        fraction, or one lies at or below 0 or the pinned E.
    """
    used = [rung.part(rung.fractions >= FIRST_FRACTION) for rung in rungs]
    used = [rung for rung in used if len(rung)]
    if len(used) < 2:
        have = "one rung has" if used else "no rung has"
        raise FitError(f"a forecast needs two rungs with evaluations; {have}.")
    if len({rung.plan.flops for rung in used}) < 2:
        raise FitError(
            f"the rungs are all of {used[0].plan.flops:.4g} FLOP: a forecast needs two sizes."
        )
    least = min(float(rung.values.min()) for rung in used)
    if least <= 0:
        raise FitError(f"a rung has the value {least:g}; these laws are of positive losses.")
    if asymptote is not None and asymptote >= least:
        raise FitError(
            f"E is pinned at {asymptote:g}, and a rung reaches {least:.4g}: pin it below that."
        )
    level = asymptote
    origin: Origin = "pinned"
    if level is None:
        several = len(used) >= LEAST_RUNGS_FOR_E and sum(map(len, used)) > 8
        origin = "profiled" if several else "assumed"
        level = fit_training_surface(used, None).asymptote if several else ASSUMED_SHARE * least
    if method == "per-fraction":
        return replace(fit_per_fraction(used, level, offset), origin=origin)
    if sum(map(len, used)) <= 2 * len(used):
        raise FitError(
            f"{method} needs whole trajectories, and these rungs have {sum(map(len, used))} "
            "evaluations: use per-fraction."
        )
    fits: dict[str, Callable[[list[Trajectory], float], FittedLine]] = {
        "joint": _joint,
        "collapse": _collapse,
        "surface": fit_training_surface,
    }
    return replace(fits[method](used, level), origin=origin)


def _joint(rungs: Sequence[Trajectory], asymptote: float) -> FittedLine:
    center = float(np.mean([np.log(rung.plan.flops) for rung in rungs]))

    def design(plan: Plan, fractions: Array) -> Array:
        log_g, x = np.log(fractions), np.log(plan.flops) - center
        one = np.ones_like(fractions)
        return np.column_stack([one, log_g, fractions, fractions**2, -x * one, -x * log_g])

    rows = np.vstack([design(rung.plan, rung.fractions) for rung in rungs])
    logs = np.log(np.concatenate([rung.values for rung in rungs]) - asymptote)
    coefficients, *_ = np.linalg.lstsq(rows, logs, rcond=None)

    def predict(plan: Plan, fractions: Array) -> Array:
        return np.asarray(asymptote + np.exp(design(plan, fractions) @ coefficients))

    return FittedLine(predict, asymptote)


def _collapse(rungs: Sequence[Trajectory], asymptote: float) -> FittedLine:
    whole = [rung for rung in rungs if rung.finished]
    if len(whole) < 2:
        raise FitError("collapse needs two rungs that finished.")
    finals = np.array([rung.values[-1] for rung in whole]) - asymptote
    compute = np.log([rung.plan.flops for rung in whole])
    slope, level = np.polyfit(compute, np.log(finals), 1)
    shapes = [
        np.interp(GRID, rung.fractions, (rung.values - asymptote) / final)
        for rung, final in zip(whole, finals, strict=True)
    ]
    shape = np.mean(shapes, axis=0)

    def predict(plan: Plan, fractions: Array) -> Array:
        final = np.exp(level + slope * np.log(plan.flops))
        return np.asarray(asymptote + final * np.interp(fractions, GRID, shape))

    return FittedLine(predict, asymptote)
