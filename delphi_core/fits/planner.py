"""What to train with a budget: the optimal size and tokens, and the loss to expect."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING

from delphi_core.errors import FitError
from delphi_core.fits.isoflop import IsoflopFit, X
from delphi_core.fits.law_choice import DEFAULT_METHOD
from delphi_core.fits.law_methods import LawMethod, fit_method, isoflop_settings
from delphi_core.fits.law_settings import LawSettings
from delphi_core.fits.power_law import PowerLaw, fit_params_law, fit_token_law
from delphi_core.fits.size_cost import SizeCost, size_cost
from delphi_core.fits.surface import Surface
from delphi_core.fits.surface_model import SurfaceModel
from delphi_core.fits.training_budget import check_budget
from delphi_core.fits.valley import Valley, fit_valley, offsets_of

if TYPE_CHECKING:
    import pandas as pd

    from delphi_core.fits.interval import IntervalMethod
    from delphi_core.fits.isoflop import IsoflopResult
    from delphi_core.fits.loss_law import LossLaw


@dataclass(frozen=True)
class Plan:
    """What to train with a budget.

    Attributes
    ----------
    flops
        C, FLOP.
    ratio
        Extrapolation ratio: C over the largest budget fitted.
    optimal_params, params_low, params_high
        N* by its law and its band, in the ladder's own size; ends that nothing bounds are 0 and
        infinite.
    optimal_tokens, tokens_low, tokens_high
        D* by its law and its band.
    params, tokens
        What to train, which spends the budget: D* where the curves are drawn against tokens, with
        the size that leaves them; else N*, with the tokens that it leaves.
    spent
        Share of C that N* and D* would spend together, at the cost of N*.
    predicted, low, high
        L*(C) and its band, in the metric's unit; not a number without a loss law.
    level, interval
        Of the bands, and the method of the loss's.
    notes
        What to know, one sentence each.
    """

    flops: float
    ratio: float
    optimal_params: float
    params_low: float
    params_high: float
    optimal_tokens: float
    tokens_low: float
    tokens_high: float
    params: float
    tokens: float
    spent: float
    predicted: float
    low: float
    high: float
    level: float
    interval: IntervalMethod
    notes: tuple[str, ...]

    @property
    def tokens_per_param(self) -> float:
        """Tokens per parameter of what to train."""
        return self.tokens / self.params


@dataclass(frozen=True)
class PlannerFit:
    """Settings of a planner; calling it with records gives it.

    Attributes
    ----------
    method
        Which curve and law; the default is the one walk-forward chose.
    settings
        E, band and level.
    x
        What the curves are drawn against.
    """

    method: LawMethod = DEFAULT_METHOD
    settings: LawSettings = field(default_factory=LawSettings)
    x: X = "tokens"

    def __call__(self, records: pd.DataFrame) -> Planner:
        """Fit the laws and the valley of a ladder.

        Parameters
        ----------
        records
            As `Snapshot.records` gives them.

        Raises
        ------
        FitError
            The records determine no law of the optimal size.
        """
        shared = IsoflopFit(x=self.x, level=self.settings.level)
        isoflop = isoflop_settings(self.method, shared)(records)
        law: LossLaw | None = None
        valley: Valley | None = None
        problems = []
        try:
            law = fit_method(isoflop, self.method, self.settings)
        except FitError as error:
            problems.append(f"no loss law: {error}")
        tokens, params = _size_laws(isoflop, law, self.settings.level)
        if law is not None and not (isfinite(law.coefficient) and law.coefficient > 0):
            problems += [f"no loss law: {doubt.sentence}" for doubt in law.doubts]
            law = None
        if law is not None:
            try:
                valley = fit_valley(offsets_of(isoflop), law.exponent)
            except FitError as error:
                problems.append(f"no valley: {error}")
        points = isoflop.points[isoflop.points["budget_flops"].notna()]
        return Planner(
            self, isoflop, law, tokens, params, valley, size_cost(points), tuple(problems)
        )


@dataclass(frozen=True, eq=False)
class Planner:
    """Laws and valley of a ladder, to be asked for plans.

    Attributes
    ----------
    fit
        Its settings.
    isoflop
        The curves.
    law, valley
        None where the rows determine none.
    token_law, params_law
        D*(C) and N*(C).
    cost
        C/(N D) of a size.
    problems
        One sentence for each part that there is not.
    """

    fit: PlannerFit
    isoflop: IsoflopResult
    law: LossLaw | None
    token_law: PowerLaw
    params_law: PowerLaw
    valley: Valley | None
    cost: SizeCost
    problems: tuple[str, ...]

    @property
    def largest_flops(self) -> float:
        """The largest budget fitted, FLOP."""
        return max(budget.flops for budget in self.isoflop.budgets)

    def plan(self, flops: float) -> Plan:
        """The plan for a budget (FLOP).

        Raises
        ------
        FitError
            That is no compute.
        """
        check_budget(flops)
        tokens, params = (float(law.predict(flops)) for law in (self.token_law, self.params_law))
        tokens_band, params_band = self.token_law.band(flops), self.params_law.band(flops)
        predicted = low = high = float("nan")
        interval: IntervalMethod = "none"
        notes = list(self.problems)
        if self.law is not None:
            forecast = self.law.predict(flops)
            predicted, low, high = (
                float(part) for part in (forecast.value, forecast.low, forecast.high)
            )
            interval = self.law.band.method
            notes += [sentence] if (sentence := self.law.beyond_reach(flops)) else []
            notes += [doubt.sentence for doubt in self.law.doubts]
        along_tokens = self.fit.x == "tokens"
        own_params = float(self.cost.params_for(flops / tokens)) if along_tokens else params
        own_tokens = tokens if along_tokens else flops / float(self.cost.per_token(params))
        ratio = float(self.cost.ratio(params))
        spent = params * tokens * ratio / flops
        kept = "D* and takes the size" if along_tokens else "N* and takes the tokens"
        notes.insert(
            0,
            f"N* and D* are two laws, fitted apart: together they would spend {spent:.2f} of the "
            f"budget, at the {ratio:.2f} FLOP per parameter and token of the runs nearest in size. "
            f"The plan keeps {kept} that spends it all.",
        )
        return Plan(
            flops=float(flops),
            ratio=flops / self.largest_flops,
            optimal_params=params,
            params_low=float(params_band[0]),
            params_high=float(params_band[1]),
            optimal_tokens=tokens,
            tokens_low=float(tokens_band[0]),
            tokens_high=float(tokens_band[1]),
            params=own_params,
            tokens=own_tokens,
            spent=spent,
            predicted=predicted,
            low=low,
            high=high,
            level=self.fit.settings.level,
            interval=interval,
            notes=tuple(notes),
        )

    @property
    def sampled_tokens_per_param(self) -> tuple[float, float]:
        """Fewest and most tokens per parameter of the runs fitted."""
        points = self.isoflop.points[self.isoflop.points["budget_flops"].notna()]
        per_param = points["tokens"] / points["params"]
        return float(per_param.min()), float(per_param.max())

    def describe(self) -> str:
        """What was fitted on what, one sentence each."""
        parts = [self.token_law.describe(), self.params_law.describe()]
        parts += [part.describe() for part in (self.law, self.valley) if part is not None]
        return " ".join(parts)


def _size_laws(
    isoflop: IsoflopResult, law: LossLaw | None, level: float
) -> tuple[PowerLaw, PowerLaw]:
    """D*(C) and N*(C): of the surface where the loss law comes from one, else of the optima."""
    if law is not None and isinstance(law.model, SurfaceModel):
        surface = Surface(law, law.model)
        return surface.law("tokens"), surface.law("params")
    return fit_token_law(isoflop, level=level), fit_params_law(isoflop, level=level)
