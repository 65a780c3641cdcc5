"""Forecast of a whole trajectory with a band: settings, a pure call, a frozen result.

The band is made the same way for every forecaster: each rung is forecast from the others, the
relative errors are divided by how far that was an extrapolation, and their spread at about the
same fraction, times Student's t and the target's own extrapolation, is the half-width. How far an
extrapolation goes is the error of a line through the rungs' ln C (Draper and Smith 1998, section
3.1): sqrt(1 + 1/R + (x - mean x)^2 / sum (x - mean x)^2). Two rungs cannot be left out in turn:
there the spread is twice that of the fit's own residuals. For per-fraction, which
has as many coefficients as points then and no residuals, it is at least the noise of an evaluation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, get_args

import numpy as np
from scipy.stats import t

from delphi_core.errors import FitError, did_you_mean, quoted
from delphi_core.fits.forecast_line import FIRST_FRACTION
from delphi_core.fits.forecasters import ASSUMED_SHARE, LEAST_RUNGS_FOR_E, ForecastMethod, fit_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from delphi_core.fits.forecast_line import FittedLine
    from delphi_core.fits.trajectory import Plan, Trajectory

    Array = npt.NDArray[np.float64]

DEFAULT_FORECAST: ForecastMethod = "surface"
"""Chosen by backtests; `python -m delphi_core backtest` makes the choice again."""
WINDOW = 0.1
"""Fractions so far apart lend each other their errors with a weight of exp(-1/2)."""

NOISE = 3e-3
"""Of one evaluation, in units of the loss: about what the hero's rungs scatter."""


@dataclass(frozen=True)
class TrajectoryFit:
    """Settings of a forecast; calling it with rungs and a plan gives the forecast.

    Attributes
    ----------
    method
        per-fraction, joint, collapse or surface (`fits.forecasters`).
    asymptote
        E where it is pinned, in the metric's unit; None to profile it on the rungs.
    level
        Of the band, 0.5 to 0.99.
    offset
        What a stopped rung's continuation adds (per-fraction); None for the finished rungs' mean.
    """

    method: ForecastMethod = DEFAULT_FORECAST
    asymptote: float | None = None
    level: float = 0.9
    offset: float | None = None

    def __post_init__(self) -> None:
        """Refuse a setting that is none, with the nearest that is.

        Raises
        ------
        FitError
            The method is unknown, E is negative or no number, or the level is out of range.
        """
        if self.method not in get_args(ForecastMethod):
            known = get_args(ForecastMethod)
            raise FitError(f"no method {quoted(self.method)}; {did_you_mean(self.method, known)}")
        if not 0.5 <= self.level <= 0.99:
            raise FitError(f"level is {quoted(self.level)}; it must be from 0.5 to 0.99.")
        if self.asymptote is not None and not 0 <= self.asymptote < 1e6:
            raise FitError(f"E is pinned at {quoted(self.asymptote)}; it must be 0 or positive.")

    def __call__(self, rungs: Sequence[Trajectory], plan: Plan) -> TrajectoryForecast:
        """Forecast a plan from rungs.

        Parameters
        ----------
        rungs
            Smaller runs of the recipe.
        plan
            Of the target; what it measured is no input.

        Raises
        ------
        FitError
            The rungs do not determine a forecast.
        """
        used = [rung for rung in rungs if len(rung.part(rung.fractions >= FIRST_FRACTION))]
        fitted = fit_line(self.method, used, asymptote=self.asymptote, offset=self.offset)
        return TrajectoryForecast(self, fitted, tuple(used), plan)


@dataclass(frozen=True, eq=False)
class TrajectoryForecast:
    """A forecast of a plan.

    Attributes
    ----------
    settings
        What was asked for.
    fitted
        The forecaster.
    rungs
        What it was fitted to.
    plan
        Of the target.
    """

    settings: TrajectoryFit
    fitted: FittedLine
    rungs: tuple[Trajectory, ...]
    plan: Plan

    def value(self, fractions: npt.ArrayLike) -> Array:
        """Loss at fractions of training (any shape); not a number where nothing can be said."""
        places = np.asarray(fractions, dtype=np.float64)
        first, last = self.fitted.fractions
        known = (places >= first - 1e-9) & (places <= last + 1e-9)
        line = self.fitted.line(self.plan, np.clip(places, first, last).reshape(-1))
        return np.where(known, line.reshape(places.shape), np.nan)

    def band(self, fractions: npt.ArrayLike) -> tuple[Array, Array]:
        """Low and high at fractions of training (any shape)."""
        places = np.asarray(fractions, dtype=np.float64)
        value = self.value(places)
        at, errors, freedom = self._errors
        if not len(at):
            return np.full_like(value, -np.inf), np.full_like(value, np.inf)
        weights = np.exp(-0.5 * ((places.reshape(-1, 1) - at) / WINDOW) ** 2)
        spread = np.sqrt((weights @ errors**2) / weights.sum(axis=1)).reshape(places.shape)
        if len(self.rungs) < LEAST_RUNGS_FOR_E and self.settings.method == "per-fraction":
            spread = np.maximum(spread, NOISE)
        quantile = float(t.ppf(0.5 + self.settings.level / 2, freedom))
        half = quantile * spread * extrapolation(self.rungs, self.plan)
        return value * np.exp(-half), value * np.exp(half)

    @cached_property
    def rung_errors(self) -> tuple[tuple[Array, Array], ...]:
        """Fractions and errors of each rung forecast from the others.

        Errors are of ln L, over how far the forecast was extrapolated in compute; of two rungs
        they are those of the fit, doubled.
        """
        found = []
        enough = len(self.rungs) > 2
        for place, rung in enumerate(self.rungs):
            kept = rung.part(rung.fractions >= FIRST_FRACTION)
            others = self.rungs[:place] + self.rungs[place + 1 :] if enough else self.rungs
            try:
                fitted = fit_line(
                    self.settings.method,
                    others,
                    asymptote=self.fitted.asymptote,
                    offset=self.settings.offset,
                )
            except FitError:
                continue
            line = fitted.line(rung.plan, np.clip(kept.fractions, *fitted.fractions))
            scale = extrapolation(others, rung.plan) if enough else 0.5
            found.append((kept.fractions, np.log(kept.values / line) / scale))
        return tuple(found)

    @cached_property
    def _errors(self) -> tuple[Array, Array, int]:
        """Fractions and errors of all rungs, and the number of rungs."""
        if not self.rung_errors:
            return np.empty(0), np.empty(0), 1
        at, errors = zip(*self.rung_errors, strict=True)
        return np.concatenate(at), np.concatenate(errors), len(self.rungs)

    def describe(self) -> str:
        """One sentence: what was forecast from what, and how."""
        origin = {
            "pinned": "pinned",
            "profiled": "profiled on the rungs",
            "assumed": f"assumed at {ASSUMED_SHARE:g} of the rungs' least loss, since they leave "
            "it open",
        }[self.fitted.origin]
        way = "rungs forecast from the others"
        if len(self.rungs) < LEAST_RUNGS_FOR_E:
            way = "residuals of the fit, doubled"
        wider = extrapolation(self.rungs, self.plan)
        return (
            f"Forecast by {self.settings.method} from {len(self.rungs)} rungs, E "
            f"{self.fitted.asymptote:.4g} {origin}; {100 * self.settings.level:g} % band from "
            f"{way}, widened {wider:.2f} times for the extrapolation in compute."
        )


def extrapolation(rungs: Sequence[Trajectory], plan: Plan) -> float:
    """How much further off a plan is than the rungs, as the error of a line in ln C."""
    x = np.log([rung.plan.flops for rung in rungs])
    off = float(np.log(plan.flops) - x.mean())
    return float(np.sqrt(1 + 1 / len(x) + off**2 / max(float(np.sum((x - x.mean()) ** 2)), 1e-12)))
