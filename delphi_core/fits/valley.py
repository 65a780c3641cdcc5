"""The valley around the optimum of a budget: what a size off the optimum costs in loss.

On an IsoFLOP curve a loss surface E + A N^-a + B D^-b with C = k N D leaves
L - L* = S C^-alpha (b e^(-a u) + a e^(b u) - a - b), u = ln(N/N*) = ln(D*/D): it is that, with
alpha of the loss law and S, a and b fitted to how far all runs lie above the optimum of their own
budget. So the valley's floor is the loss law, whatever fitted that. The form is the one that
`valley_backtest` prefers.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.optimize import least_squares

from delphi_core.errors import FitError
from delphi_core.fits.projection import EXPONENTS
from delphi_core.words import count

if TYPE_CHECKING:
    import numpy.typing as npt

    from delphi_core.fits.isoflop import IsoflopResult

    Array = npt.NDArray[np.float64]

FEWEST_RUNS = 6
"""Three parameters, and as many degrees of freedom."""
_STARTS = (0.1, 0.3, 0.8)


@dataclass(frozen=True, eq=False)
class Offsets:
    """Runs beside the optimum of their own budget.

    Attributes
    ----------
    flops : array
        C of each run's budget, FLOP.
    u : array
        Along the axis of the curves: ln(D*/D) of tokens, ln(N/N*) of sizes.
    above : array
        L - L*, in the metric's unit.
    budgets
        How many budgets they are of.
    along
        tokens or params.
    """

    flops: Array
    u: Array
    above: Array
    budgets: int
    along: Literal["tokens", "params"]

    def __len__(self) -> int:
        """How many runs there are."""
        return len(self.u)


@dataclass(frozen=True, eq=False)
class Valley:
    """How loss rises off the optimum.

    Attributes
    ----------
    exponents
        a of smaller models and b of larger ones.
    log_scale
        ln S, S in the metric's unit at C = 1 FLOP.
    compute_exponent
        alpha, as S C^-alpha falls with compute.
    along
        What u is along: ln(D*/D) of tokens, ln(N/N*) of params.
    sampled
        Least and greatest u of the runs it is fitted on.
    runs, budgets
        How many those are.
    error
        Root mean square of what is left, in the metric's unit.
    """

    exponents: tuple[float, float]
    log_scale: float
    compute_exponent: float
    along: Literal["tokens", "params"]
    sampled: tuple[float, float]
    runs: int
    budgets: int
    error: float

    def rise(self, flops: npt.ArrayLike, u: npt.ArrayLike) -> Array:
        """L - L* at compute `flops` (FLOP) and u; shapes that go together."""
        logs = self.log_scale - self.compute_exponent * np.log(np.asarray(flops, np.float64))
        return np.asarray(np.exp(logs) * shape(np.asarray(u, np.float64), *self.exponents))

    def describe(self) -> str:
        """One sentence: its form and how it was got."""
        a, b = self.exponents
        low, high = np.exp(self.sampled)
        ratio = "D*/D" if self.along == "tokens" else "N/N*"
        return (
            f"Off the optimum L - L* = S C^-{self.compute_exponent:.4f} (b e^(-a u) + a e^(b u) - "
            f"a - b), u = ln({ratio}), a {a:.3f}, b {b:.3f}, by least squares on how far "
            f"{count(self.runs, 'run')} in {count(self.budgets, 'budget')} lie above the optimum "
            f"of their own budget (root mean square {self.error:.4f}); {ratio} of these runs goes "
            f"from {low:.2g} to {high:.2g}."
        )


def shape(u: Array, a: float | Array, b: float | Array) -> Array:
    """Rise b e^(-a u) + a e^(b u) - a - b: zero with slope zero at u = 0."""
    return np.asarray(b * np.expm1(-a * u) + a * np.expm1(b * u))


def offsets_of(isoflop: IsoflopResult, budgets: slice = slice(None)) -> Offsets:
    """How far runs lie beside and above the optimum of their own budget's curve.

    Parameters
    ----------
    isoflop
        The curves.
    budgets
        Which of its optima to take, by compute.
    """
    along: Literal["tokens", "params"] = "tokens" if isoflop.settings.x == "tokens" else "params"
    sign = -1.0 if along == "tokens" else 1.0
    points = isoflop.points[isoflop.points["used"]]
    flops, u, above = [], [], []
    chosen = isoflop.optima[budgets]
    for budget in chosen:
        rows = points[points["budget_flops"] == budget.flops]
        optimum = budget.optimal_tokens if along == "tokens" else budget.optimal_params
        amounts = rows[along].to_numpy(dtype=np.float64)
        u.append(sign * np.log(amounts / optimum))
        above.append(rows["value"].to_numpy(dtype=np.float64) - budget.loss_at_optimal)
        flops.append(np.full(len(rows), budget.flops))
    columns = [np.concatenate([np.array([]), *parts]) for parts in (flops, u, above)]
    return Offsets(columns[0], columns[1], columns[2], len(chosen), along)


def fit_valley(offsets: Offsets, compute_exponent: float | None) -> Valley:
    """The valley of runs around their optima.

    Parameters
    ----------
    offsets
        Runs beside the optimum of their budget.
    compute_exponent
        alpha of the loss law; None to fit how the valley flattens with compute as well.

    Raises
    ------
    FitError
        There are too few runs, or they do not rise on both sides of their optima.
    """
    if len(offsets) < FEWEST_RUNS:
        raise FitError(
            f"a valley needs {FEWEST_RUNS} runs in budgets that have an optimum; there are "
            f"{len(offsets)}."
        )
    log_c = np.log(offsets.flops)
    center, fitted = float(log_c.mean()), compute_exponent is None
    unit = float(np.abs(offsets.above).max()) or 1.0

    def rise(theta: Array) -> Array:
        a, b, scale = np.exp(theta[:3])
        alpha = theta[3] if compute_exponent is None else compute_exponent
        powers = np.exp(-alpha * (log_c - center))
        return np.asarray(unit * scale / (a * b) * powers * shape(offsets.u, a, b))

    # S a b (a + b) / 2 is the curvature: in this form it hardly moves with a and b.
    low, high = np.log(EXPONENTS)
    ends = [np.array([end, end, other, *([far] * fitted)]) for end, other, far in (
        (low, -20.0, -2.0), (high, 20.0, 2.0))]  # fmt: skip
    found = [
        least_squares(
            lambda theta: (rise(theta) - offsets.above) / unit,
            np.array([np.log(a), np.log(b), 0.0, *([0.1] * fitted)]),
            bounds=tuple(ends),
            xtol=1e-12,
            ftol=1e-12,
            gtol=1e-12,
        )
        for a, b in product(_STARTS, repeat=2)
    ]
    best = min(found, key=lambda fit: fit.cost)
    a, b, scale = np.exp(best.x[:3])
    alpha = float(best.x[3]) if compute_exponent is None else compute_exponent
    if not best.x[2] > -19.0:
        raise FitError("the runs do not rise beside the optima of their budgets: no valley.")
    return Valley(
        exponents=(float(a), float(b)),
        log_scale=float(np.log(unit * scale / (a * b)) + alpha * center),
        compute_exponent=alpha,
        along=offsets.along,
        sampled=(float(offsets.u.min()), float(offsets.u.max())),
        runs=len(offsets),
        budgets=offsets.budgets,
        error=float(np.sqrt(np.mean((rise(best.x) - offsets.above) ** 2))),
    )
