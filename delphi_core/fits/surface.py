"""The loss surface L(N, D) = E + A N^-alpha + B D^-beta over all runs, and what follows from it.

Laws (how the five parameters are fitted):

log
    Approach 3: Huber's loss of ln L, delta 1e-3 (Hoffmann et al. 2022, arXiv 2203.15556).
squares, huber
    least squares or Huber's loss of L, by variable projection over the two exponents.

With C = k N D the optimum is N* = G (C/k)^(beta/(alpha+beta)), D* = (C/k)^(alpha/(alpha+beta)) / G,
G = (alpha A / beta B)^(1/(alpha+beta)). k is the geometric mean of C/(N D) over the runs fitted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from delphi_core.errors import FitError
from delphi_core.fits.law_doubts import check_surface
from delphi_core.fits.law_settings import DEFAULT_BAND, LawSettings
from delphi_core.fits.loss_law_fit import law_of
from delphi_core.fits.power_law import PowerLaw
from delphi_core.fits.surface_model import SurfaceModel

if TYPE_CHECKING:
    import numpy.typing as npt

    from delphi_core.fits.bands import BandKind
    from delphi_core.fits.isoflop import IsoflopResult
    from delphi_core.fits.law_models import Law
    from delphi_core.fits.loss_law import LossLaw
    from delphi_core.fits.projection import PowerSums

    Array = npt.NDArray[np.float64]

Weights = Literal["runs", "budgets"]
DEFAULT_SURFACE_LAW: Law = "log"
"""Approach 3, the best known; not chosen by walk-forward, which prefers laws of optima."""


@dataclass(frozen=True)
class SurfaceFit(LawSettings):
    """Settings of a loss surface; calling it with an IsoFLOP fit gives the surface.

    Attributes
    ----------
    weights
        Whether each run counts the same (runs), or each budget (budgets).
    """

    law: Law = DEFAULT_SURFACE_LAW
    weights: Weights = "runs"

    def __call__(self, isoflop: IsoflopResult) -> Surface:
        """Fit the surface to the runs of every budget.

        Parameters
        ----------
        isoflop
            Whose runs to take: those of all its budgets, also of budgets too small for a curve.

        Raises
        ------
        UnidentifiedError
            The runs do not determine a surface.
        """
        points = isoflop.points
        rows = points[points["budget_flops"].notna()]
        params, tokens, values, flops = (
            rows[name].to_numpy(dtype=np.float64) for name in ("params", "tokens", "value", "flops")
        )
        budgets, groups = np.unique(rows["budget_flops"], return_inverse=True)
        check_surface(params, tokens, values, self.asymptote, budgets=len(budgets))
        sizes = np.bincount(groups)
        model = SurfaceModel(
            params=params,
            tokens=tokens,
            values=values,
            groups=groups,
            law=self.law,
            k=float(np.exp(np.mean(np.log(flops / params / tokens)))),
            row_weights=(
                np.ones(len(rows))
                if self.weights == "runs"
                else len(rows) / len(budgets) / sizes[groups]
            ),
        )
        loss_law = law_of(
            model,
            self,
            source="surface",
            budget_flops=tuple(float(flops) for flops in budgets),
            optima_flops=tuple(budget.flops for budget in isoflop.optima),
            runs=len(rows),
            compute=isoflop.compute,
        )
        return Surface(loss_law, model)


@dataclass(frozen=True, eq=False)
class Surface:
    """A fitted loss surface.

    Attributes
    ----------
    loss_law
        L*(C), with its band and the settings.
    model
        The rows.
    """

    loss_law: LossLaw
    model: SurfaceModel

    @property
    def _sums(self) -> PowerSums:
        return self.loss_law.band.best

    @property
    def asymptote(self) -> float:
        """E, in the metric's unit."""
        return float(self._sums.asymptote[0])

    @property
    def coefficients(self) -> tuple[float, float]:
        """A and B, in the metric's unit at N = 1 and D = 1."""
        a, b = np.exp(self.model.log_coefficients(self._sums)[0])
        return float(a), float(b)

    @property
    def exponents(self) -> tuple[float, float]:
        """Alpha and beta."""
        alpha, beta = self._sums.exponents[0]
        return float(alpha), float(beta)

    @property
    def objective(self) -> float:
        """What was minimised: half the sum of squares, or the sum of Huber's losses."""
        return float(self._sums.objective[0])

    @property
    def condition(self) -> float:
        """Condition number of the design [1, N^-alpha, D^-beta], its columns of unit length.

        How much relative noise in L may be magnified in E, A and B.
        """
        powers = np.exp(-self._sums.exponents[0] * self.model.log_x)
        columns = [powers[:, 0], powers[:, 1]]
        if self.loss_law.settings.asymptote is None:
            columns.insert(0, np.ones(len(powers)))
        design = np.column_stack(columns)
        return float(np.linalg.cond(design / np.linalg.norm(design, axis=0)))

    def predict(self, params: npt.ArrayLike, tokens: npt.ArrayLike) -> Array:
        """L at sizes N and tokens D (any shapes that go together), in the metric's unit."""
        n, d = np.asarray(params, dtype=np.float64), np.asarray(tokens, dtype=np.float64)
        (log_a, log_b), (alpha, beta) = self.model.log_coefficients(self._sums)[0], self.exponents
        powers = np.exp(log_a - alpha * np.log(n)) + np.exp(log_b - beta * np.log(d))
        losses: Array = np.asarray(self.asymptote + powers)
        return losses

    def describe(self) -> str:
        """One sentence: the surface with its numbers."""
        (a, b), (alpha, beta) = self.coefficients, self.exponents
        return (
            f"L = {self.asymptote:.4f} + {a:.5g} N^-{alpha:.4f} + {b:.5g} D^-{beta:.4f} on "
            f"{len(self.model.values)} runs, C = {self.model.k:.3f} N D; condition number "
            f"{self.condition:.3g}, which is how much noise of L may be magnified in E, A and B."
        )

    def law(self, quantity: Literal["tokens", "params"]) -> PowerLaw:
        """D*(C) or N*(C), in closed form.

        Raises
        ------
        FitError
            A or B is zero, so there is no optimum.
        """
        if min(self.coefficients) <= 0:
            raise FitError("a term of the surface is zero, so it has no optimum at any compute.")
        model = self.model

        def exponent(sums: PowerSums) -> Array:
            alpha, beta = sums.exponents.T
            return np.asarray((alpha if quantity == "tokens" else beta) / (alpha + beta))

        own = float(exponent(self._sums)[0])
        log_g = float(model.log_ratio(self._sums)[0]) * (1 if quantity == "params" else -1)
        return PowerLaw(
            quantity=quantity,
            exponent=own,
            log10_coefficient=(log_g - own * float(np.log(model.k))) / float(np.log(10)),
            optima=self.loss_law.budgets,
            at_edge=0,
            rule="from the loss surface, in closed form",
            compute=self.loss_law.compute,
            interval=self.loss_law.band.interval(exponent),
        )


def fit_surface(
    isoflop: IsoflopResult,
    *,
    law: Law = DEFAULT_SURFACE_LAW,
    asymptote: float | None = None,
    weights: Weights = "runs",
    band: BandKind = DEFAULT_BAND,
    level: float = 0.9,
) -> Surface:
    """Loss surface of a fit's runs: `SurfaceFit` with these settings, called with it.

    Parameters
    ----------
    isoflop
        Whose runs to take.
    law, asymptote, weights, band, level
        As `SurfaceFit` has them.

    Raises
    ------
    FitError
        A setting is unknown, or the runs do not determine a surface.
    """
    settings = SurfaceFit(law=law, asymptote=asymptote, weights=weights, band=band, level=level)
    return settings(isoflop)
