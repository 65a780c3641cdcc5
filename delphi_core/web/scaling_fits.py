"""Cached fits of the Scaling law page: by what a view is fitted by, not by how it is shown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite
from typing import TYPE_CHECKING, cast

from delphi_core.errors import FitError
from delphi_core.fits.held_out import HeldOut, held_out_runs
from delphi_core.fits.isoflop import IsoflopFit, IsoflopResult
from delphi_core.fits.law_methods import METHODS, LawMethod, fit_method, isoflop_settings
from delphi_core.fits.law_settings import LawSettings
from delphi_core.fits.loss_law_fit import LossLawFit
from delphi_core.fits.optima import Optima, optima_of, published_optima_of
from delphi_core.fits.power_law import PowerLaw, fit_params_law, fit_token_law
from delphi_core.fits.surface import Surface
from delphi_core.fits.surface_model import SurfaceModel
from delphi_core.fits.walk_forward import walk_forward_all
from delphi_core.law_tables import MethodFit, fit_methods
from delphi_core.published import published_parabolas
from delphi_core.web.fit_cache import cached_fit
from delphi_core.web.scaling_view import PUBLISHED

if TYPE_CHECKING:
    import pandas as pd

    from delphi_core.fits.isoflop import X
    from delphi_core.fits.loss_law import LossLaw
    from delphi_core.snapshot import Snapshot
    from delphi_core.web.scaling_view import ScalingFit


@dataclass(frozen=True, eq=False)
class Fitted:
    """What the page shows of one fit.

    Attributes
    ----------
    isoflop
        The IsoFLOP fit it starts from; of the surface, whose runs it takes.
    optima
        Of the budgets' own curves, or as published.
    law, token_law, params_law, surface
        None where the rows determine none, or no surface is asked for.
    held_out
        What was measured beyond.
    problems
        One sentence a law that there is not.
    """

    isoflop: IsoflopResult
    optima: Optima
    law: LossLaw | None
    token_law: PowerLaw | None
    params_law: PowerLaw | None
    surface: Surface | None
    held_out: tuple[HeldOut, ...]
    problems: tuple[str, ...]


def law_method(fit: ScalingFit) -> LawMethod:
    """The method of a fit, E left to the settings."""
    return LawMethod("parabola" if fit.method == "published" else fit.method, fit.law)


def law_settings(fit: ScalingFit) -> LawSettings:
    """Settings of the loss law or surface of a fit."""
    return LawSettings(law=fit.law, asymptote=fit.asymptote, band=fit.band, level=fit.level)


def isoflop_fit(snapshot: Snapshot, fit: ScalingFit) -> IsoflopFit:
    """Settings of the IsoFLOP fit that a fit starts from."""
    shared = IsoflopFit(
        x=cast("X", snapshot.ladder(fit.ladder).default_x),
        compute=fit.compute,
        include_excluded=fit.excluded,
        level=fit.level,
    )
    return isoflop_settings(law_method(fit), shared)


@cached_fit(max_entries=500, show_spinner="Fitting ...")
def scaling_fitted(snapshot: Snapshot, fit: ScalingFit) -> Fitted:
    """Optima, laws and held-out runs of a fit."""
    isoflop = isoflop_fit(snapshot, fit)(snapshot.records(fit.ladder, fit.metric))
    held_out = held_out_runs(isoflop.points)
    optima = optima_of(isoflop)
    if fit.method == PUBLISHED:
        optima = published_optima_of(published_parabolas(snapshot, fit.ladder, fit.metric))
    law: LossLaw | None = None
    tokens: PowerLaw | None = None
    params: PowerLaw | None = None
    surface: Surface | None = None
    problems = []
    try:
        if fit.method == PUBLISHED:
            law = LossLawFit(**law_settings(fit).__dict__)(optima)
        else:
            law = fit_method(isoflop, law_method(fit), law_settings(fit))
    except FitError as error:
        problems.append(f"No loss law: {error}")
    try:
        if law is not None and isinstance(law.model, SurfaceModel):
            surface = Surface(law, law.model)
            tokens, params = surface.law("tokens"), surface.law("params")
        else:
            tokens = fit_token_law(optima, level=fit.level)
            params = fit_params_law(optima, level=fit.level)
    except FitError as error:
        problems.append(f"No law of the optimal size: {error}")
    if law is not None and not isfinite(law.coefficient):
        problems += [f"No loss law: {doubt.sentence}" for doubt in law.doubts]
        law = None
    return Fitted(isoflop, optima, law, tokens, params, surface, held_out, tuple(problems))


def profiled(snapshot: Snapshot, fit: ScalingFit) -> LossLaw | None:
    """The law of a fit with E free, which its profile is of."""
    return scaling_fitted(snapshot, replace(fit, asymptote=None)).law


@cached_fit(max_entries=200, show_spinner="Fitting every method ...")
def methods_fitted(snapshot: Snapshot, fit: ScalingFit) -> tuple[MethodFit, ...]:
    """Laws of every method; what they say of a target needs no other fit."""
    return fit_methods(
        snapshot.records(fit.ladder, fit.metric), isoflop_fit(snapshot, fit), law_settings(fit)
    )


@cached_fit(max_entries=200, show_spinner="Walking forward ...")
def walked_forward(snapshot: Snapshot, fit: ScalingFit) -> pd.DataFrame:
    """Rows of `walk_forward_all`, with the view's band; E as each method has it."""
    return walk_forward_all(
        snapshot.records(fit.ladder, fit.metric),
        isoflop_fit(snapshot, fit),
        methods=METHODS,
        bands=(fit.band,),
        level=fit.level,
    )
