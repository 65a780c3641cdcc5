"""What is said of a view outside its page: in previews, on cards and in embedded views.

For each page a function from a snapshot and a view to its subject, its method and its headline, as
`page_index.Page` has them. A headline is exactly the page's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from delphi_core.browse import filtered
from delphi_core.fits.law_choice import DEFAULT_METHOD
from delphi_core.tables import TABLES
from delphi_core.trajectories import target_named
from delphi_core.web import (
    about_words,
    data_words,
    isoflop_words,
    planner_fits,
    planner_words,
    recipes_fits,
    recipes_words,
    scaling_words,
    trajectory_fits,
    trajectory_words,
)
from delphi_core.web.isoflop_view import published_shown
from delphi_core.web.loading import fitted
from delphi_core.web.scaling_fits import scaling_fitted
from delphi_core.web.scaling_view import PUBLISHED
from delphi_core.words import AMOUNTS

if TYPE_CHECKING:
    from delphi_core.snapshot import Snapshot
    from delphi_core.web.about_view import AboutView
    from delphi_core.web.data_view import DataView
    from delphi_core.web.isoflop_view import IsoflopView
    from delphi_core.web.planner_view import PlannerView
    from delphi_core.web.recipes_view import RecipesView
    from delphi_core.web.scaling_view import ScalingView
    from delphi_core.web.trajectory_view import TrajectoryView


def ladder_subject(snapshot: Snapshot, view: IsoflopView | ScalingView | PlannerView) -> str:
    """Ladder and metric of a view."""
    return f"{snapshot.title(view.ladder)}, {view.metric}"


def isoflop_method(snapshot: Snapshot, view: IsoflopView) -> str:
    """How IsoFLOP curves are got."""
    if published_shown(snapshot, view) is not None:
        return f"IsoFLOP curves of {ladder_subject(snapshot, view)}, as published."
    return (
        f"IsoFLOP curves of {ladder_subject(snapshot, view)}, by {view.method} against "
        f"{AMOUNTS[view.x]}{_with_excluded(view)}."
    )


def isoflop_headline(snapshot: Snapshot, view: IsoflopView) -> str:
    """Heading of the IsoFLOP page."""
    published = published_shown(snapshot, view)
    isoflop = fitted(snapshot, view.whole)
    return isoflop_words.headline(snapshot.ladder(view.ladder), isoflop, published)


def scaling_method(snapshot: Snapshot, view: ScalingView) -> str:
    """How a law is got."""
    optima = "as published" if view.method == PUBLISHED else f"by {view.method}"
    return (
        f"Scaling law of {ladder_subject(snapshot, view)}: optima {optima}, law by {view.law}, E "
        f"{_pinned(view)}, {scaling_words.percent(view.level)} band by {view.band}"
        f"{_with_excluded(view)}."
    )


def scaling_headline(snapshot: Snapshot, view: ScalingView) -> str:
    """Heading of the Scaling law page."""
    law = scaling_fitted(snapshot, view.fit)
    return scaling_words.headline(snapshot.ladder(view.ladder), law, view.target_flops)


def as_of(snapshot: Snapshot) -> str:
    """From when figures are."""
    return f"Snapshot of {snapshot.created_at[:10]}."


def trajectory_subject(snapshot: Snapshot, view: TrajectoryView) -> str:
    """Run and metric of a view."""
    without = f" without {', '.join(view.without)}" if view.without else ""
    return f"{target_named(snapshot, view.target).run}, {view.metric}{without}"


def trajectory_method(snapshot: Snapshot, view: TrajectoryView) -> str:
    """How a forecast is got."""
    if view.tab == "record":
        return "Published forecasts on record, and how far off them lies what was measured."
    asymptote = "" if view.pinned is None else f", E {view.pinned}"
    return (
        f"Trajectory of {trajectory_subject(snapshot, view)} against the forecast from smaller "
        f"runs, by {view.method}{asymptote}, {trajectory_words.percent(view.level)} band."
    )


def trajectory_headline(snapshot: Snapshot, view: TrajectoryView) -> str:
    """Heading of the Trajectories page."""
    return trajectory_words.headline(trajectory_fits.shown(snapshot, view.choice))


def recipes_subject(snapshot: Snapshot, view: RecipesView) -> str:
    """Base, ladders and metric of a view."""
    ladders = ", ".join(map(snapshot.title, view.ladders)) or "nothing"
    return f"{ladders} against {snapshot.title(view.base)}, {view.metric}"


def recipes_method(snapshot: Snapshot, view: RecipesView) -> str:
    """How recipes are compared."""
    return (
        f"{recipes_subject(snapshot, view)}: compute for the same loss by the law of each, optima "
        f"by {view.method}, E {_pinned(view)}."
    )


def recipes_headline(snapshot: Snapshot, view: RecipesView) -> str:
    """Heading of the Recipes page."""
    found = recipes_fits.recipes_compared(snapshot, view.choice)
    return recipes_words.headline(found, recipes_fits.shown_flops(view, found))


def planner_method(snapshot: Snapshot, view: PlannerView) -> str:
    """How a plan is got."""
    return (
        f"Plan by the laws of {ladder_subject(snapshot, view)}: optima by {view.method}, law by "
        f"{DEFAULT_METHOD.law}, {scaling_words.percent(view.level)} band, other sizes by the "
        "valley that all runs lie in."
    )


def planner_headline(snapshot: Snapshot, view: PlannerView) -> str:
    """Heading of the Planner page."""
    return planner_words.headline(planner_fits.shown(snapshot, view))


def data_subject(_: Snapshot, view: DataView) -> str:
    """Table of a view, and what it is filtered by."""
    filters = [value for name, value in view.filters.items() if name != "sort"]
    return ", ".join([data_words.table_name(view.table), *filters])


def data_method(_: Snapshot, view: DataView) -> str:
    """What a row of a table is."""
    return f"Figures as recorded: one row is one {TABLES[view.table].row}."


def data_headline(snapshot: Snapshot, view: DataView) -> str:
    """Heading of the Data page."""
    everything = snapshot.tables[view.table]
    rows = filtered(everything, **view.filters)
    return data_words.headline(TABLES[view.table], len(rows), len(everything))


def about_method(_: Snapshot, __: AboutView) -> str:
    """What the About page holds."""
    return "Methods with formulas, conventions, sources, licence, and a citation."


def about_headline(_: Snapshot, __: AboutView) -> str:
    """Heading of the About page."""
    return about_words.HEADING


def _pinned(view: ScalingView | RecipesView) -> str:
    return "free" if view.pinned is None else f"pinned at {view.pinned:g}"


def _with_excluded(view: IsoflopView | ScalingView) -> str:
    return ", excluded runs fitted" if view.excluded else ""
