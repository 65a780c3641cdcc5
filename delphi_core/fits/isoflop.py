"""IsoFLOP fits: loss against tokens or size at each compute budget, and its optimum.

Methods (L the metric's value, x = log10 of tokens or size):

parabola
    L = a x^2 + b x + c by least squares; the optimum is the vertex, x* = -b / 2a.
cubic
    L = d x^3 + a x^2 + b x + c by least squares; the optimum is its local minimum.
marin
    Marin's own analysis: runs below 1e18 FLOP dropped, budgets bucketed to 1.1^k, the parabola
    (its Huber loss with delta 1 never acts on residuals of 0.01, so it equals least squares), and
    the other quantity of the optimum taken from the run nearest to it. One departure: Marin's
    code takes the vertex of a concave parabola, a maximum, for an optimum; here such a budget
    has none, and says so.

For parabola and cubic, the other quantity (N* along tokens, D* along size) comes from the line of
its log10 on x over the budget's runs, at x*.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import pandas as pd

from delphi_core.errors import FitError, did_you_mean, quoted
from delphi_core.fits.budget import BudgetFit, Resampling, fit_budget
from delphi_core.fits.interval import METHOD_WORDS
from delphi_core.fits.left_out import LeftOut, reasons_left_out
from delphi_core.fits.rows import budget_groups, check_used, in_order
from delphi_core.records import run_names
from delphi_core.words import AMOUNTS, COMPUTES, count

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Method = Literal["parabola", "cubic", "marin"]
X = Literal["tokens", "params", "active_params"]
Compute = Literal["recorded", "nominal", "bucket"]

MARIN_FLOPS_MIN = 1e18


@dataclass(frozen=True)
class IsoflopFit:
    """Settings of an IsoFLOP fit; calling it with records gives the result.

    Attributes
    ----------
    method
        parabola, cubic or marin (see the module).
    x
        What loss is fitted against: tokens, or the size column, whichever name the ladder has
        for it.
    compute
        What C of an optimum is: recorded (mean over the budget's runs), nominal or bucket (centre
        of 1.1^k). None: bucket with marin, else recorded. Runs are grouped by bucket if C is
        the bucket or a nominal budget is missing, else by nominal budget.
    include_excluded
        Whether runs that the published fit left out are fitted.
    drop
        (column, values) pairs; rows that hold one of the values are left out.
    level
        Of the optima's intervals, 0.5 to 0.99.
    replicates, seed
        How many sets of rows are resampled in each budget, and how they are drawn.
    """

    method: Method = "parabola"
    x: X = "tokens"
    compute: Compute | None = None
    include_excluded: bool = False
    drop: tuple[tuple[str, tuple[str, ...]], ...] = ()
    level: float = 0.9
    replicates: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse a setting that is none, with the nearest that is.

        Raises
        ------
        FitError
            Method, x or compute is unknown, or the level out of range.
        """
        if not (isinstance(self.level, (int, float)) and 0.5 <= self.level <= 0.99):
            raise FitError(f"level is {quoted(self.level)}; it must be from 0.5 to 0.99.")
        for name, choice in (("method", Method), ("x", X), ("compute", Compute)):
            given, known = getattr(self, name), get_args(choice)
            if given not in known and not (name == "compute" and given is None):
                raise FitError(f"no {name} {quoted(given)}; {did_you_mean(str(given), known)}")

    def __call__(self, records: pd.DataFrame) -> IsoflopResult:
        """Fit every budget of the records.

        Parameters
        ----------
        records
            As `Snapshot.records` or `read_records` gives them: one metric, one label among the
            rows fitted. The order of rows does not matter.

        Returns
        -------
        IsoflopResult
            Budgets with their optima, and every row with what became of it.

        Raises
        ------
        FitError
            A column is missing, several metrics or labels are mixed, a number of a row to be
            fitted is not finite or not positive, a role, a status or what `drop` names is
            unknown, or nominal budgets are asked for and missing.
        """
        points = in_order(records)
        drop: dict[str, list[str]] = {}
        for column, values in self.drop:
            drop.setdefault(column, []).extend(values)
        reasons = reasons_left_out(
            points,
            include_excluded=self.include_excluded,
            drop=drop,
            flops_min=MARIN_FLOPS_MIN if self.method == "marin" else 0.0,
        )
        used = np.array([reason is None for reason in reasons], dtype=bool)
        check_used(points[used])
        compute = self.compute or ("bucket" if self.method == "marin" else "recorded")
        group = budget_groups(points, used, compute)
        budgets = []
        points["budget_flops"] = np.nan
        for key in np.unique(group[used]):
            rows = used & (group == key)
            flops = float(points.loc[rows, "flops"].mean()) if compute == "recorded" else float(key)
            points.loc[rows, "budget_flops"] = flops
            budget = fit_budget(
                points[rows],
                flops=flops,
                x=self.x,
                method=self.method,
                resampling=Resampling(self.level, self.replicates, self.seed),
            )
            budgets.append(budget)
            if budget.curve is None:
                for place in rows.nonzero()[0]:
                    words = budget.sentences[0].removeprefix("few points: ")
                    reasons[place] = f"budget too small: {words}"
        points["used"] = [reason is None for reason in reasons]
        points["left_out_reason"] = pd.Series(reasons, index=points.index, dtype="str")
        return IsoflopResult(self, compute, tuple(budgets), points)


@dataclass(frozen=True, eq=False)
class IsoflopResult:
    """Fitted budgets, and every row with what became of it.

    Attributes
    ----------
    settings
        What was asked for.
    compute
        What C of an optimum is: recorded, nominal or bucket.
    budgets
        One a budget, by compute; those without a curve or an optimum say why in their flags.
    points
        The records in a canonical order, then budget_flops (C of the row's budget, FLOP), used
        (whether a curve was fitted to it) and left_out_reason.
    """

    settings: IsoflopFit
    compute: Compute
    budgets: tuple[BudgetFit, ...]
    points: pd.DataFrame

    @property
    def optima(self) -> tuple[BudgetFit, ...]:
        """The budgets that have an optimum."""
        return tuple(budget for budget in self.budgets if budget.optimal_x is not None)

    @property
    def runs(self) -> int:
        """How many runs a curve was fitted to."""
        return int(self.points["used"].sum())

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """Runs that belong to no budget, by compute, with the reason."""
        return _named(self.points[self.points["budget_flops"].isna()])

    @property
    def in_small_budgets(self) -> tuple[LeftOut, ...]:
        """Runs whose budget has too few different sizes for a curve, by compute."""
        return _named(self.points[self.points["budget_flops"].notna() & ~self.points["used"]])

    def rule(self, quantity: Literal["tokens", "params"]) -> str:
        """How D* (tokens) or N* (params) of an optimum was got, in words."""
        x, method = self.settings.x, self.settings.method
        along = AMOUNTS[x]
        if (quantity == "tokens") == (x == "tokens"):
            return f"from the {'cubic' if method == 'cubic' else 'parabola'} in log10 {along}"
        if method == "marin":
            return f"of the run nearest in {along}"
        across = "size" if x == "tokens" else "tokens"
        return f"from the line of log10 {across} on log10 {along}, at the optimum"

    def describe(self) -> str:
        """What was fitted on what, and how the intervals were got."""
        curve = {"parabola": "Parabola", "cubic": "Cubic", "marin": "Marin's method: parabola"}
        curves = sum(budget.curve is not None for budget in self.budgets)
        sentence = (
            f"{curve[self.settings.method]} in log10 {AMOUNTS[self.settings.x]} by least squares "
            f"on {count(self.runs, 'run')} in {count(curves, 'budget')}; C of a budget is the "
            f"{COMPUTES[self.compute]}"
        )
        kinds = pd.Series([item.reason.split(":")[0] for item in self.left_out], dtype="str")
        left = [f"{number} {kind}" for kind, number in kinds.value_counts(sort=False).items()]
        if small := len(self.in_small_budgets):
            left.append(f"{small} in budgets too small to fit")
        sentence += f"; left out: {', '.join(left)}." if left else "."
        return f"{sentence} {self.describe_intervals()}".rstrip()

    def describe_intervals(self) -> str:
        """One sentence on the optima's intervals, empty where there are none."""
        found = [budget.interval for budget in self.optima if budget.interval is not None]
        methods = Counter(interval.method for interval in found)
        if not methods:
            return ""
        drawn = sum(interval.replicates for interval in found)
        failed = sum(interval.failed for interval in found)
        ways = ", ".join(
            f"{METHOD_WORDS[method]} in {count(number, 'budget')}"
            for method, number in methods.items()
        )
        sentence = f"{100 * self.settings.level:g} % intervals of the optima: {ways}"
        if drawn:
            sentence += f" ({drawn:,} sets of rows, {failed:,} of them no use)"
        return sentence + "."


def fit_isoflops(
    records: pd.DataFrame,
    *,
    method: Method = "parabola",
    x: X = "tokens",
    compute: Compute | None = None,
    include_excluded: bool = False,
    drop: Mapping[str, str | Iterable[object]] | None = None,
    level: float = 0.9,
) -> IsoflopResult:
    """Optimum of each budget: `IsoflopFit` with these settings, called with the records.

    Parameters
    ----------
    records
        As `Snapshot.records` or `read_records` gives them.
    method, x, compute, include_excluded
        As `IsoflopFit` has them.
    drop
        Column to a value or values; rows that hold one of them are left out.
    level
        Of the optima's intervals, 0.5 to 0.99.

    Returns
    -------
    IsoflopResult
        Budgets with their optima, and every row with what became of it.

    Raises
    ------
    FitError
        A setting is unknown or the records cannot be fitted, see `IsoflopFit.__call__`.
    """
    pairs = tuple(
        (name, (values,) if isinstance(values, str) else tuple(map(str, values)))
        for name, values in (drop or {}).items()
    )
    return IsoflopFit(method, x, compute, include_excluded, pairs, level)(records)


def _named(rows: pd.DataFrame) -> tuple[LeftOut, ...]:
    rows = rows.sort_values("flops", kind="stable")
    reasons = rows["left_out_reason"]
    return tuple(LeftOut(*pair) for pair in zip(run_names(rows), reasons, strict=True))
