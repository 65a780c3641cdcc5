"""Tables that pages give away: the Download tab and the data address make them by the same call.

For each page a function from a snapshot and a view to what makes each table, and one that says how
they were got.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from delphi_core import export, law_tables, plan_documents, recipe_tables
from delphi_core.browse import filtered
from delphi_core.tables import TABLES
from delphi_core.web.isoflop_view import published_shown
from delphi_core.web.loading import fitted
from delphi_core.web.planner_fits import shown as planned
from delphi_core.web.recipes_fits import recipes_compared, shown_flops, speed_ups
from delphi_core.web.recipes_words import recipe_sources
from delphi_core.web.scaling_fits import scaling_fitted
from delphi_core.web.scaling_view import PUBLISHED
from delphi_core.web.sources import source_keys
from delphi_core.web.trajectory_fits import shown

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from delphi_core.fits.loss_law import LossLaw
    from delphi_core.snapshot import Snapshot
    from delphi_core.web.data_view import DataView
    from delphi_core.web.isoflop_view import IsoflopView
    from delphi_core.web.planner_view import PlannerView
    from delphi_core.web.recipes_view import RecipesView
    from delphi_core.web.scaling_fits import Fitted
    from delphi_core.web.scaling_view import ScalingView
    from delphi_core.web.trajectory_view import TrajectoryView

    Makers = dict[str, Callable[[], pd.DataFrame]]
    """Name of a table to what makes it; one that cannot be had is not there."""


@dataclass(frozen=True)
class About:
    """How the tables of a view were got.

    Attributes
    ----------
    described
        One sentence a fit.
    sources
        Keys of the sources of what was fitted.
    value_unit, x_unit
        Units of values and of what curves are drawn against; empty where there are none.
    missing
        Why a table of the page is not there; empty where all are.
    """

    described: tuple[str, ...] = ()
    sources: frozenset[str] = frozenset()
    value_unit: str = ""
    x_unit: str = ""
    missing: str = ""


def isoflop_tables(snapshot: Snapshot, view: IsoflopView) -> Makers:
    """Points and optima of an IsoFLOP fit."""
    isoflop = fitted(snapshot, view.whole)
    context = _context(snapshot, view)
    published = published_shown(snapshot, view)
    return {
        "points": partial(export.points_table, isoflop),
        "optima": partial(export.optima_with_context, isoflop, published, **context),
    }


def isoflop_about(snapshot: Snapshot, view: IsoflopView) -> About:
    """How an IsoFLOP fit was got."""
    isoflop, published = fitted(snapshot, view.whole), published_shown(snapshot, view)
    sources = source_keys(snapshot, view.ladder, isoflop)
    described = isoflop.describe()
    if published is not None:
        sources |= set(published["source"])
        described = "Optima as published; nothing was fitted here."
    x_unit = "tokens" if view.x == "tokens" else "parameters"
    unit = snapshot.unit(view.metric)
    return About((described,), frozenset(sources), unit, x_unit)


def scaling_tables(snapshot: Snapshot, view: ScalingView) -> Makers:
    """Points, optima, and where there is a law its forecasts and its curve."""
    found = scaling_fitted(snapshot, view.fit)
    context = _context(snapshot, view)
    published = _published_optima(snapshot, view)
    makers: Makers = {
        "points": partial(export.points_table, found.isoflop),
        "optima": partial(export.optima_with_context, found.isoflop, published, **context),
    }
    if found.law is not None:
        makers["forecasts"] = partial(_forecasts, found.law, found, view, context)
        makers["law"] = partial(_law, found.law, context)
    return makers


def scaling_forecasts(view: ScalingView, found: Fitted, law: LossLaw) -> pd.DataFrame:
    """Forecasts of the held-out runs and of a view's target."""
    targets = [] if view.target_flops is None else [view.target_flops]
    return law_tables.held_out_table(law, found.held_out, targets)


def scaling_about(snapshot: Snapshot, view: ScalingView) -> About:
    """How a law was got, and why there is none."""
    found = scaling_fitted(snapshot, view.fit)
    published = _published_optima(snapshot, view)
    fits = [fit.describe() for fit in (found.law, found.surface) if fit is not None]
    sources = source_keys(snapshot, view.ladder, found.isoflop)
    if published is not None:
        sources |= set(published["source"])
        fits.append("Optima as published.")
    else:
        fits.append(found.isoflop.describe())
    x = snapshot.ladder(view.ladder).default_x
    x_unit = "tokens" if x == "tokens" else "parameters"
    missing = " ".join(found.problems)
    return About(tuple(fits), frozenset(sources), snapshot.unit(view.metric), x_unit, missing)


def trajectory_tables(snapshot: Snapshot, view: TrajectoryView) -> Makers:
    """The forecast beside the evaluations, where there is one."""
    found = shown(snapshot, view.choice)
    if found.forecast is None:
        return {}
    context = {
        "snapshot": snapshot.id,
        "target": view.target,
        "metric": view.metric,
        "described": found.forecast.describe(),
    }
    return {"forecast": partial(found.table.assign, **context)}


def trajectory_about(snapshot: Snapshot, view: TrajectoryView) -> About:
    """How a forecast was got, and why there is none."""
    found = shown(snapshot, view.choice)
    curves = snapshot.tables["trajectories"]
    runs = (found.target.run, *found.target.rungs)
    own = curves[(curves["ladder"] == found.target.ladder) & curves["run"].isin(runs)]
    if not view.without:
        own = own[own["metric"] == view.metric]
    unit = snapshot.unit(view.metric)
    if found.forecast is None:
        missing = f"No forecast: {found.problem}"
        return About(sources=frozenset(own["source"]), value_unit=unit, missing=missing)
    return About((found.forecast.describe(),), frozenset(own["source"]), unit)


def recipes_tables(snapshot: Snapshot, view: RecipesView) -> Makers:
    """Optima and laws of every ladder, how they stand to the base, and published laws."""
    found, context = recipes_compared(snapshot, view.choice), _context_of_all(snapshot, view)
    tables: Makers = {
        "optima": partial(recipe_tables.recipe_optima_table, found.fitted),
        "laws": partial(recipe_tables.recipe_laws_table, found.fitted),
        "speed-up": partial(speed_ups, view, found),
    }
    if len(recipe_tables.pairs_table(found)):
        tables["pairs"] = partial(recipe_tables.pairs_table, found)
    if (at := shown_flops(view, found)) is not None:
        tables["published"] = partial(recipe_tables.published_speed_ups, snapshot, found, at)
    return {name: partial(_with_context, make, context) for name, make in tables.items()}


def recipes_about(snapshot: Snapshot, view: RecipesView) -> About:
    """How each ladder's law was got."""
    found = recipes_compared(snapshot, view.choice)
    sources = [recipe_sources(snapshot, recipe) for recipe in found.fitted]
    return About(
        tuple(recipe.describe() for recipe in found.fitted),
        frozenset().union(*sources),
        snapshot.unit(view.metric),
        missing="No run of the base is paired with one of these ladders, or no law is shared.",
    )


def planner_tables(snapshot: Snapshot, view: PlannerView) -> Makers:
    """Plans, and what other sizes cost."""
    found = planned(snapshot, view).plan
    if found is None:
        return {}
    tables: Makers = {"plan": partial(plan_documents.plan_rows, found)}
    if len(found.valley):
        tables["valley"] = partial(plan_documents.valley_rows, found)
    return tables


def planner_about(snapshot: Snapshot, view: PlannerView) -> About:
    """How the laws that plan were got, and why there are none."""
    found = planned(snapshot, view)
    unit, missing = snapshot.unit(view.metric), " ".join(found.problems)
    if found.plan is None:
        return About(value_unit=unit, missing=missing)
    planner = found.plan.planner
    sources = source_keys(snapshot, view.ladder, planner.isoflop)
    missing = missing or "These runs show no valley of loss against size."
    return About((planner.describe(),), frozenset(sources), unit, missing=missing)


def data_tables(snapshot: Snapshot, view: DataView) -> Makers:
    """Every table of the snapshot; of the view's own the rows that are shown."""
    return {
        name: partial(filtered, table, **(view.filters if name == view.table else {}))
        for name, table in snapshot.tables.items()
    }


def data_about(snapshot: Snapshot, view: DataView) -> About:
    """What a row of a table is."""
    del snapshot
    return About((f"One row: one {TABLES[view.table].row}.",))


def _context_of_all(snapshot: Snapshot, view: RecipesView) -> dict[str, str]:
    """What tables of several ladders cannot know of themselves."""
    return {"snapshot": snapshot.id, "metric": view.metric, "method": view.method}


def _with_context(make: Callable[[], pd.DataFrame], context: dict[str, str]) -> pd.DataFrame:
    return make().assign(**context)


def _context(snapshot: Snapshot, view: IsoflopView | ScalingView) -> dict[str, str]:
    """What a fit cannot know of itself."""
    origin = snapshot.part(view.ladder).id
    return {"snapshot": origin, "ladder": view.ladder, "metric": view.metric}


def _forecasts(
    law: LossLaw, found: Fitted, view: ScalingView, context: dict[str, str]
) -> pd.DataFrame:
    return scaling_forecasts(view, found, law).assign(**context)


def _law(law: LossLaw, context: dict[str, str]) -> pd.DataFrame:
    return law_tables.law_table(law).assign(**context)


def _published_optima(snapshot: Snapshot, view: ScalingView) -> pd.DataFrame | None:
    """Published optima, where they are what a law is fitted to."""
    return published_optima(snapshot, view) if view.method == PUBLISHED else None


def published_optima(snapshot: Snapshot, view: ScalingView) -> pd.DataFrame:
    """Published optima of a view's ladder and metric."""
    optima = snapshot.tables["published_optima"]
    rows = optima[(optima["ladder"] == view.ladder) & (optima["metric"] == view.metric)]
    return rows.dropna(subset=["flops", "loss_at_optimal"])
