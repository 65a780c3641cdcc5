"""A ladder's optima and law in one metric, whether from a sweep, from runs or as published."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, cast

import numpy as np

from delphi_core.comparable import optima_metrics
from delphi_core.errors import DataError, FitError, did_you_mean, quoted
from delphi_core.fits.held_out import HeldOut, held_out_runs
from delphi_core.fits.isoflop import IsoflopFit, IsoflopResult, fit_isoflops
from delphi_core.fits.law_choice import DEFAULT_METHOD
from delphi_core.fits.law_methods import CURVES, Curve, LawMethod, fit_method, isoflop_settings
from delphi_core.fits.law_settings import LawSettings
from delphi_core.fits.loss_law_fit import LossLawFit
from delphi_core.fits.optima import Optima, optima_of, published_optima_of
from delphi_core.published import published_parabolas

if TYPE_CHECKING:
    from collections.abc import Sequence

    from delphi_core.fits.isoflop import X
    from delphi_core.fits.loss_law import LossLaw
    from delphi_core.snapshot import Ladder, Snapshot

FEWEST_OPTIMA = 4
"""The curve that walk-forward chose is the default where it gives so many optima."""


@dataclass(frozen=True)
class RecipeSettings:
    """What every ladder of a comparison is fitted by.

    Attributes
    ----------
    curve
        How optima come about where a ladder has a sweep: parabola, cubic, marin or surface.
        Compute-optimal runs are optima themselves, published optima are taken as they are.
    law
        How laws are fitted, E, band and level.
    """

    curve: Curve = "cubic"
    law: LawSettings = field(default_factory=LawSettings)

    def __post_init__(self) -> None:
        """Refuse an unknown curve.

        Raises
        ------
        FitError
            The curve is unknown; the message names the nearest.
        """
        if self.curve not in CURVES:
            given = str(self.curve)
            raise FitError(f"no method {quoted(given)}; {did_you_mean(given, CURVES)}")


@dataclass(frozen=True, eq=False)
class FittedRecipe:
    """A ladder's optima and law in one metric.

    Attributes
    ----------
    ladder, metric
        Which.
    optima
        Of its budgets.
    law
        None where they determine none.
    isoflop
        The fit the optima come from; None where they are published or single runs.
    problem
        Why there is no law.
    """

    ladder: Ladder
    metric: str
    optima: Optima
    law: LossLaw | None
    isoflop: IsoflopResult | None
    problem: str

    @property
    def held_out(self) -> tuple[HeldOut, ...]:
        """What was measured beyond its budgets, never fitted; none without a sweep."""
        return () if self.isoflop is None else held_out_runs(self.isoflop.points)

    def describe(self) -> str:
        """One sentence: the law and how it was got, or why there is none."""
        words = self.problem if self.law is None else self.law.describe()
        return f"{self.ladder.title}: {words}"


def recipe_ladders(snapshot: Snapshot) -> list[str]:
    """Ladders with optima in some metric, sweeps first, then in the order of ladders.csv."""
    known = [str(name) for name in snapshot.tables["ladders"]["ladder"]]
    known = [name for name in known if optima_metrics(snapshot, name)]
    return sorted(known, key=lambda name: snapshot.ladder(name).kind != "isoflop")


def shared_curve(snapshot: Snapshot, ladders: Sequence[str], metric: str) -> Curve:
    """The default curve of a comparison: walk-forward's where it suits every sweep, else parabola.

    Parameters
    ----------
    snapshot, ladders, metric
        Which; ladders without a sweep in the metric have no say.
    """
    chosen = DEFAULT_METHOD.curve
    if chosen == "surface":
        return chosen
    for name in ladders:
        ladder = snapshot.ladder(name)
        if metric not in snapshot.metrics(name):
            continue
        records = snapshot.records(name, metric)
        x = cast("X", ladder.default_x)
        try:
            if not any(budget.curve for budget in fit_isoflops(records, x=x).budgets):
                continue
            found = fit_isoflops(records, method=chosen, x=x).optima
        except FitError:
            continue
        if len(found) < FEWEST_OPTIMA:
            return "parabola"
    return chosen


def fit_recipe(
    snapshot: Snapshot, ladder: str, metric: str, settings: RecipeSettings | None = None
) -> FittedRecipe:
    """A ladder's optima and law in one metric.

    Parameters
    ----------
    snapshot, ladder, metric
        Which.
    settings
        What it is fitted by; by default the curve and law that walk-forward chose.

    Raises
    ------
    DataError
        The ladder has no optima in the metric: neither a sweep, nor compute-optimal runs, nor
        published ones.
    """
    own = settings or RecipeSettings()
    found = snapshot.ladder(ladder)
    if metric not in (known := optima_metrics(snapshot, ladder)):
        remedy = did_you_mean(metric, known)
        if not known:
            remedy = "it has neither a sweep nor compute-optimal runs: take another ladder."
        raise DataError([f"ladder {ladder} has no optima in {quoted(metric)}; {remedy}"])
    method = LawMethod(own.curve, own.law.law)
    isoflop = _swept(snapshot, found, metric, method, own.law.level)
    try:
        if isoflop is not None:
            optima = optima_of(isoflop)
            law = fit_method(isoflop, method, own.law)
        else:
            optima = _given_optima(snapshot, found, metric)
            law = LossLawFit(**own.law.__dict__)(optima)
    except FitError as error:
        return FittedRecipe(found, metric, optima, None, isoflop, str(error))
    if not isfinite(law.coefficient):
        problem = " ".join(doubt.sentence for doubt in law.doubts)
        return FittedRecipe(found, metric, optima, None, isoflop, problem)
    return FittedRecipe(found, metric, optima, law, isoflop, "")


def _swept(
    snapshot: Snapshot, ladder: Ladder, metric: str, method: LawMethod, level: float
) -> IsoflopResult | None:
    """The IsoFLOP fit of a ladder; None where no budget of the metric has a curve."""
    if metric not in snapshot.metrics(ladder.ladder):
        return None
    shared = IsoflopFit(x=cast("X", ladder.default_x), level=level)
    isoflop = isoflop_settings(method, shared)(snapshot.records(ladder.ladder, metric))
    return isoflop if any(budget.curve for budget in isoflop.budgets) else None


def _given_optima(snapshot: Snapshot, ladder: Ladder, metric: str) -> Optima:
    """Compute-optimal runs, each the optimum of its budget, or else published optima."""
    if metric in snapshot.metrics(ladder.ladder):
        records = snapshot.records(ladder.ladder, metric)
        kept = (records["role"] == "optimum") & (records["status"] == "finished")
        rows = records[kept].sort_values("flops", kind="stable")
        if len(rows):
            flops, tokens, params, losses = (
                rows[name].to_numpy(dtype=np.float64)
                for name in ("flops", "tokens", "params", "value")
            )
            rules = dict.fromkeys(("tokens", "params"), "of the compute-optimal run")
            return Optima(
                flops, tokens, params, losses, ((),) * len(rows), len(rows), "recorded", rules
            )
    return published_optima_of(published_parabolas(snapshot, ladder.ladder, metric))
