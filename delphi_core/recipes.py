"""Recipes compared: the optima and laws of ladders in one metric, held against a base."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from delphi_core.comparable import Comparison, comparison
from delphi_core.fits.pairs import paired_runs
from delphi_core.fits.speedup import SpeedUp, speed_up, speed_up_at_optima
from delphi_core.recipe_fits import FittedRecipe, RecipeSettings, fit_recipe, shared_curve

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    import pandas as pd

    from delphi_core.fits.loss_law import LossLaw
    from delphi_core.snapshot import Snapshot


@dataclass(frozen=True, eq=False)
class Rival:
    """A ladder beside the base.

    Attributes
    ----------
    comparison
        Whether they may be compared, and what to know.
    base, recipe
        Fitted; the recipe is None where the comparison is refused.
    at_optima
        Speed-up at the recipe's measured optima; None without a law of both.
    pairs
        Runs of both that are equal in width, tokens and batch; None where runs are not known.
    """

    comparison: Comparison
    base: FittedRecipe
    recipe: FittedRecipe | None
    at_optima: SpeedUp | None
    pairs: pd.DataFrame | None

    @property
    def laws(self) -> tuple[LossLaw, LossLaw] | None:
        """The base's law and the recipe's, where there are both."""
        if self.recipe is None or self.recipe.law is None or self.base.law is None:
            return None
        return self.base.law, self.recipe.law

    def speed_up(self, flops: npt.ArrayLike) -> SpeedUp | None:
        """Speed-up over the base at some compute (FLOP); None without a law of both."""
        return None if self.laws is None else speed_up(*self.laws, flops)

    @property
    def problem(self) -> str:
        """Why there is no speed-up; empty where there is one."""
        if self.recipe is None:
            return " ".join(self.comparison.refusals)
        missing = [part for part in (self.base, self.recipe) if part.law is None]
        return " ".join(f"{part.ladder.title} has no law: {part.problem}" for part in missing)


@dataclass(frozen=True, eq=False)
class Recipes:
    """Ladders held against a base.

    Attributes
    ----------
    base
        Fitted.
    rivals
        In the order asked for.
    settings
        What all are fitted by.
    """

    base: FittedRecipe
    rivals: tuple[Rival, ...]
    settings: RecipeSettings

    @property
    def fitted(self) -> tuple[FittedRecipe, ...]:
        """The base, then every ladder that may be compared with it."""
        return self.base, *(rival.recipe for rival in self.rivals if rival.recipe is not None)

    @property
    def shared_flops(self) -> float | None:
        """The largest C that every law was fitted up to, FLOP; None without laws to compare."""
        tops = [law.largest_flops for rival in self.rivals for law in rival.laws or ()]
        return min(tops, default=None)


def compare_recipes(
    snapshot: Snapshot,
    base: str,
    ladders: Sequence[str],
    metric: str | None = None,
    settings: RecipeSettings | None = None,
) -> Recipes:
    """Ladders held against a base: whether they may be, and by how much compute they are ahead.

    Parameters
    ----------
    snapshot
        Where they are looked up.
    base, ladders
        Ids.
    metric
        By default the base's own.
    settings
        What all are fitted by; by default the law that walk-forward chose, on its curve where that
        suits every ladder, else on parabolas.

    Raises
    ------
    DataError
        A ladder is unknown, or the base has no optima in the metric.
    """
    own_metric = snapshot.ladder(base).default_metric if metric is None else metric
    found = [comparison(snapshot, base, name, own_metric) for name in ladders]
    allowed = [base, *(item.ladder for item in found if item.allowed)]
    own = settings or RecipeSettings(shared_curve(snapshot, allowed, own_metric))
    ours = fit_recipe(snapshot, base, own_metric, own)
    return Recipes(ours, tuple(_rival(snapshot, ours, item, own) for item in found), own)


def _rival(
    snapshot: Snapshot, base: FittedRecipe, item: Comparison, settings: RecipeSettings
) -> Rival:
    if not item.allowed:
        return Rival(item, base, None, None, None)
    recipe = base
    if item.ladder != base.ladder.ladder:
        recipe = fit_recipe(snapshot, item.ladder, item.metric, settings)
    at_optima = None
    if base.law is not None and recipe.law is not None:
        at_optima = speed_up_at_optima(base.law, recipe.law, recipe.optima)
    pairs = None
    if base.isoflop is not None and recipe.isoflop is not None:
        pairs = paired_runs(base.isoflop.points, recipe.isoflop.points)
    return Rival(item, base, recipe, at_optima, pairs)
