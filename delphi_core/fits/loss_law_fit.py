"""Settings of a loss law, and the pure call that fits it: `LossLawFit` and `fit_loss_law`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from delphi_core.fits.bands import BandKind, band_of
from delphi_core.fits.law_doubts import check_identified
from delphi_core.fits.law_settings import DEFAULT_BAND, DEFAULT_LAW, LawSettings
from delphi_core.fits.loss_law import LossLaw
from delphi_core.fits.optima import Optima, optima_of
from delphi_core.fits.optima_model import OptimaModel
from delphi_core.words import flops_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from delphi_core.fits.isoflop import IsoflopResult
    from delphi_core.fits.law_models import Law, LawModel

    Array = npt.NDArray[np.float64]


class LossLawFit(LawSettings):
    """Settings of a loss law; calling it with optima gives the law."""

    def __call__(self, optima: IsoflopResult | Optima) -> LossLaw:
        """Fit the law.

        Parameters
        ----------
        optima
            Of an IsoFLOP fit, or published ones.

        Raises
        ------
        UnidentifiedError
            There are too few budgets for the parameters, or losses at or below the pinned E.
        """
        found = optima if isinstance(optima, Optima) else optima_of(optima)
        check_identified(len(found), found.losses, self.asymptote)
        if found.isoflop is None and self.band in ("stratified bootstrap", "residual bootstrap"):
            # Published optima have no rows to resample.
            return replace(self, band="profile")(found)
        model = OptimaModel(found, self.law)
        return law_of(
            model,
            self,
            source="optima",
            budget_flops=tuple(float(flops) for flops in found.flops),
            runs=found.runs,
            compute=found.compute,
            uncertain=[
                f"{flops_words(flops)} ({', '.join(flag.replace('_', ' ') for flag in flags)})"
                for flops, flags in zip(found.flops, found.flags, strict=True)
                if flags
            ],
        )


def law_of(
    model: LawModel,
    settings: LawSettings,
    *,
    source: Literal["optima", "surface"],
    budget_flops: tuple[float, ...],
    runs: int | None,
    compute: str,
    optima_flops: tuple[float, ...] | None = None,
    uncertain: Sequence[str] = (),
) -> LossLaw:
    """The loss law of a model's rows, with its band.

    Parameters
    ----------
    model
        Rows and how they are fitted.
    settings
        What is asked for.
    source, budget_flops, runs, compute
        As `LossLaw` has them.
    optima_flops
        As `LossLaw` has them; None where every budget has an optimum.
    uncertain
        The optima that are flagged, in words.
    """
    pinned = settings.asymptote is not None
    once = np.ones((1, len(model.values)))
    best = model.fit(once, asymptote=np.array([settings.asymptote], float) if pinned else None)
    law = model.laws(best)
    band = band_of(
        model,
        best,
        settings.band,
        level=settings.level,
        pinned=pinned,
        replicates=settings.replicates,
        seed=settings.seed,
    )
    return LossLaw(
        settings=settings,
        source=source,
        asymptote=float(best.asymptote[0]),
        coefficient=float(np.exp(law.log_coefficient[0])),
        exponent=float(law.exponent[0]),
        band=band,
        budget_flops=budget_flops,
        optima_flops=budget_flops if optima_flops is None else optima_flops,
        runs=runs,
        compute=compute,
        uncertain=tuple(uncertain),
        model=model,
    )


def fit_loss_law(
    optima: IsoflopResult | Optima,
    *,
    law: Law = DEFAULT_LAW,
    asymptote: float | None = None,
    band: BandKind = DEFAULT_BAND,
    level: float = 0.9,
) -> LossLaw:
    """Loss law of fitted optima: `LossLawFit` with these settings, called with them.

    Parameters
    ----------
    optima
        Of an IsoFLOP fit, or published ones.
    law, asymptote, band, level
        As `LawSettings` has them.

    Raises
    ------
    FitError
        A setting is unknown, or the optima do not determine a law.
    """
    return LossLawFit(law=law, asymptote=asymptote, band=band, level=level)(optima)
