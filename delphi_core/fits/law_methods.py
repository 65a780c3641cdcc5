"""Ways from runs to a loss law, side by side: how optima come about, and how a law is fitted."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Literal

from delphi_core.errors import FitError, did_you_mean
from delphi_core.fits.law_models import LAWS, Law
from delphi_core.fits.law_settings import LawSettings
from delphi_core.fits.loss_law_fit import LossLawFit
from delphi_core.fits.surface import SurfaceFit

if TYPE_CHECKING:
    from delphi_core.fits.isoflop import IsoflopFit, IsoflopResult
    from delphi_core.fits.loss_law import LossLaw

Curve = Literal["parabola", "cubic", "marin", "surface"]
CURVES: tuple[Curve, ...] = ("parabola", "cubic", "marin", "surface")


@dataclass(frozen=True)
class LawMethod:
    """One way from runs to a loss law.

    Attributes
    ----------
    curve
        How optima come about: parabola, cubic or marin in each budget, or one surface over all.
    law
        How the law or the surface is fitted.
    asymptote
        E where the method pins it; None leaves it to the settings.
    """

    curve: Curve
    law: Law
    asymptote: float | None = None

    @property
    def name(self) -> str:
        """As tables and commands write it."""
        pinned = "" if self.asymptote is None else f", E {self.asymptote:g}"
        return f"{self.curve} {self.law}{pinned}"


METHODS: tuple[LawMethod, ...] = (
    *(LawMethod(curve, law) for curve in CURVES for law in LAWS),
    *(LawMethod("surface", law, 0.0) for law in LAWS),
)


def method_named(name: str) -> LawMethod:
    """The method of a name.

    Raises
    ------
    FitError
        There is none; the message names near misses.
    """
    known = {method.name: method for method in METHODS}
    if name not in known:
        raise FitError(f"no method {name!r}; {did_you_mean(name, known)}")
    return known[name]


def fit_method(isoflop: IsoflopResult, method: LawMethod, settings: LawSettings) -> LossLaw:
    """The loss law of a method.

    Parameters
    ----------
    isoflop
        A fit with the method's curve; the surface takes its runs.
    method
        Which law.
    settings
        E where the method leaves it open, band, level and so on.

    Raises
    ------
    FitError
        The rows do not determine it.
    """
    own = {field.name: getattr(settings, field.name) for field in fields(LawSettings)}
    own["law"] = method.law
    if method.asymptote is not None:
        own["asymptote"] = method.asymptote
    if method.curve == "surface":
        return SurfaceFit(**own)(isoflop).loss_law
    return LossLawFit(**own)(isoflop)


def isoflop_settings(method: LawMethod, settings: IsoflopFit) -> IsoflopFit:
    """Settings of the IsoFLOP fit that a method starts from; the surface needs its runs only."""
    if method.curve == "surface":
        return replace(settings, method="parabola")
    compute = None if method.curve == "marin" else settings.compute
    return replace(settings, method=method.curve, compute=compute)
