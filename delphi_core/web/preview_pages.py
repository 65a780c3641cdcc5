"""What previews and cards know of each page: one entry a page, by its path.

A page that is to have previews adds an entry, and a chart if it has one to draw.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from delphi_core.browse import filtered
from delphi_core.tables import TABLES
from delphi_core.trajectories import target_named
from delphi_core.web import (
    data_words,
    isoflop_words,
    scaling_charts,
    scaling_words,
    trajectory_charts,
    trajectory_words,
)
from delphi_core.web.data_view import DataView
from delphi_core.web.headings import heading_of, remember_heading
from delphi_core.web.isoflop_view import IsoflopView, published_shown
from delphi_core.web.loading import fitted, isoflop_chart
from delphi_core.web.scaling_fits import scaling_fitted
from delphi_core.web.scaling_view import PUBLISHED, ScalingView
from delphi_core.web.trajectory_fits import shown
from delphi_core.web.trajectory_view import TrajectoryView
from delphi_core.words import AMOUNTS

if TYPE_CHECKING:
    from collections.abc import Callable

    import plotly.graph_objects as go

    from delphi_core.snapshot import Snapshot
    from delphi_core.web.view_state import ViewState


@dataclass(frozen=True)
class PreviewPage:
    """What a preview says of a page.

    Attributes
    ----------
    path
        Its path, such as /scaling.
    name
        As the menu has it.
    view
        Its view state.
    subject
        What a view is about, in a few words; quick to make.
    method
        How a view's numbers are got, in one sentence; quick to make.
    headline
        Heading of a view in Markdown, exactly the page's; fits what has not been fitted yet.
    chart
        Chart of a view and what it says in words, exactly the page's; None where a page has none.
    """

    path: str
    name: str
    view: type[ViewState]
    subject: Callable[[Snapshot, Any], str]
    method: Callable[[Snapshot, Any], str]
    headline: Callable[[Snapshot, Any], str]
    chart: Callable[[Snapshot, Any], tuple[go.Figure, str]] | None = None


def made_heading(page: PreviewPage, snapshot: Snapshot, view: ViewState) -> str:
    """Heading of a view as plain text; made and remembered where nobody has seen it yet."""
    heading = heading_of(snapshot.id, view)
    if heading is None:
        remember_heading(snapshot.id, view, page.headline(snapshot, view))
        heading = heading_of(snapshot.id, view)
    return heading or generic_title(page, snapshot, view)


def generic_title(page: PreviewPage, snapshot: Snapshot, view: ViewState) -> str:
    """Title of a view while nothing of it has been fitted."""
    return f"{page.name}: {page.subject(snapshot, view)}"


def _ladder_metric(snapshot: Snapshot, view: IsoflopView | ScalingView) -> str:
    return f"{snapshot.title(view.ladder)}, {view.metric}"


def _isoflop_method(snapshot: Snapshot, view: IsoflopView) -> str:
    if published_shown(snapshot, view) is not None:
        return f"IsoFLOP curves of {_ladder_metric(snapshot, view)}, as published."
    return (
        f"IsoFLOP curves of {_ladder_metric(snapshot, view)}, by {view.method} against "
        f"{AMOUNTS[view.x]}{_with_excluded(view)}."
    )


def _isoflop_headline(snapshot: Snapshot, view: IsoflopView) -> str:
    published = published_shown(snapshot, view)
    isoflop = fitted(snapshot, view.whole)
    return isoflop_words.headline(snapshot.ladder(view.ladder), isoflop, published)


def _isoflop_chart(snapshot: Snapshot, view: IsoflopView) -> tuple[go.Figure, str]:
    return isoflop_chart(snapshot, view.whole)


def _scaling_method(snapshot: Snapshot, view: ScalingView) -> str:
    optima = "as published" if view.method == PUBLISHED else f"by {view.method}"
    asymptote = "free" if view.pinned is None else f"pinned at {view.pinned:g}"
    return (
        f"Scaling law of {_ladder_metric(snapshot, view)}: optima {optima}, law by {view.law}, E "
        f"{asymptote}, {scaling_words.percent(view.level)} band by {view.band}"
        f"{_with_excluded(view)}."
    )


def _scaling_headline(snapshot: Snapshot, view: ScalingView) -> str:
    law = scaling_fitted(snapshot, view.fit)
    return scaling_words.headline(snapshot.ladder(view.ladder), law, view.target_flops)


def _with_excluded(view: IsoflopView | ScalingView) -> str:
    return ", excluded runs fitted" if view.excluded else ""


def _target_metric(snapshot: Snapshot, view: TrajectoryView) -> str:
    without = f" without {', '.join(view.without)}" if view.without else ""
    return f"{target_named(snapshot, view.target).run}, {view.metric}{without}"


def _trajectory_method(snapshot: Snapshot, view: TrajectoryView) -> str:
    asymptote = "" if view.pinned is None else f", E {view.pinned}"
    return (
        f"Trajectory of {_target_metric(snapshot, view)} against the forecast from smaller runs, "
        f"by {view.method}{asymptote}, {trajectory_words.percent(view.level)} band."
    )


def _trajectory_headline(snapshot: Snapshot, view: TrajectoryView) -> str:
    return trajectory_words.headline(shown(snapshot, view.choice))


def _data_subject(_: Snapshot, view: DataView) -> str:
    filters = [value for name, value in view.filters.items() if name != "sort"]
    return ", ".join([data_words.table_name(view.table), *filters])


def _data_method(_: Snapshot, view: DataView) -> str:
    return f"Figures as recorded: one row is one {TABLES[view.table].row}."


def _data_headline(snapshot: Snapshot, view: DataView) -> str:
    everything = snapshot.tables[view.table]
    rows = filtered(everything, **view.filters)
    return data_words.headline(TABLES[view.table], len(rows), len(everything))


PAGES = {
    page.path: page
    for page in (
        PreviewPage(
            "/",
            "IsoFLOP",
            IsoflopView,
            _ladder_metric,
            _isoflop_method,
            _isoflop_headline,
            _isoflop_chart,
        ),
        PreviewPage(
            "/scaling",
            "Scaling law",
            ScalingView,
            _ladder_metric,
            _scaling_method,
            _scaling_headline,
            scaling_charts.chart_of,
        ),
        PreviewPage(
            "/trajectories",
            "Trajectories",
            TrajectoryView,
            _target_metric,
            _trajectory_method,
            _trajectory_headline,
            trajectory_charts.chart_of,
        ),
        PreviewPage("/data", "Data", DataView, _data_subject, _data_method, _data_headline),
    )
}
"""Pages by path."""
