"""Every page: its address, how its links are read, what is said of it, and what it gives away.

A page that is added here has previews and a Share popover, with a chart a card and an embedded
view, and with tables data addresses and lines to paste; what their columns hold goes into
`download_columns.COLUMNS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from delphi_core.tables import TABLES
from delphi_core.web import (
    data_words,
    downloads,
    headings,
    isoflop_words,
    page_words,
    planner_charts,
    planner_words,
    recipes_charts,
    recipes_words,
    scaling_charts,
    scaling_words,
    trajectory_charts,
    trajectory_words,
)
from delphi_core.web.about_view import AboutView
from delphi_core.web.data_view import DataView
from delphi_core.web.isoflop_view import IsoflopView
from delphi_core.web.loading import isoflop_chart
from delphi_core.web.planner_view import PlannerView
from delphi_core.web.recipes_view import RecipesView
from delphi_core.web.scaling_view import ScalingView
from delphi_core.web.trajectory_view import TrajectoryView

if TYPE_CHECKING:
    from collections.abc import Callable

    import plotly.graph_objects as go

    from delphi_core.snapshot import Snapshot
    from delphi_core.web.downloads import About, Makers
    from delphi_core.web.view_state import ViewState

    Chart = tuple[go.Figure, str]


@dataclass(frozen=True, kw_only=True)
class Page:
    """One page.

    Attributes
    ----------
    path
        In its address, such as /scaling.
    title
        In the menu.
    view
        Its view state.
    subject
        What a view is about, in a few words; quick to make. None where the headline is as quick.
    method
        How a view's numbers are got, in one sentence; quick to make.
    headline
        Heading of a view in Markdown, exactly the page's; fits what has not been fitted yet.
    chart
        Chart of a view and what it says in words, exactly the page's, or None where the view has
        none; None where no view has.
    tables
        From a snapshot and a view to what makes each table that is to be had.
    about
        From a snapshot and a view to how they were got.
    file_stem
        From a view to the name of its downloads, without what they hold.
    names
        Of the tables it can give away.
    prefix
        What table names begin with in data addresses.
    first
        Name of the table whose file is called by the stem alone.
    """

    path: str
    title: str
    view: type[ViewState]
    subject: Callable[[Snapshot, Any], str] | None = None
    method: Callable[[Snapshot, Any], str]
    headline: Callable[[Snapshot, Any], str]
    chart: Callable[[Snapshot, Any], Chart | None] | None = None
    tables: Callable[[Snapshot, Any], Makers] = lambda _, __: {}
    about: Callable[[Snapshot, Any], About] = lambda _, __: downloads.About()
    file_stem: Callable[[Any], str] = lambda _: ""
    names: tuple[str, ...] = ()
    prefix: str = ""
    first: str = ""

    @property
    def holds_snapshot(self) -> bool:
        """Whether its tables are those of the snapshot: one a view, and named by it."""
        return not self.prefix

    def shown_names(self, view: ViewState) -> tuple[str, ...]:
        """Names of the tables that a view gives away."""
        return (view.table,) if isinstance(view, DataView) else self.names

    def file_name(self, view: ViewState, name: str) -> str:
        """Name of the file of a table of a view, without its ending."""
        stem = self.file_stem(view)
        return stem if self.holds_snapshot or name == self.first else f"{stem}_{name}"

    def generic_title(self, snapshot: Snapshot, view: ViewState) -> str:
        """Title of a view while nothing of it has been fitted."""
        if self.subject is None:
            return headings.plain_heading(self.headline(snapshot, view))
        return f"{self.title}: {self.subject(snapshot, view)}"

    def source(self, snapshot: Snapshot, view: ViewState) -> str:
        """How a view's numbers are got, and as of when."""
        return f"{self.method(snapshot, view)} {page_words.as_of(snapshot)}"

    def heading(self, snapshot: Snapshot, view: ViewState) -> str:
        """Heading of a view as plain text; made and remembered where nobody has seen it yet."""
        known = headings.heading_of(snapshot.id, view)
        if known is None:
            made = self.headline(snapshot, view)
            headings.remember_heading(snapshot.id, view, made)
            known = headings.plain_heading(made)
        return known


_IN_ORDER = (
    Page(
        path="/",
        title="IsoFLOP",
        view=IsoflopView,
        subject=page_words.ladder_subject,
        method=page_words.isoflop_method,
        headline=page_words.isoflop_headline,
        chart=lambda snapshot, view: isoflop_chart(snapshot, view.whole),
        tables=downloads.isoflop_tables,
        about=downloads.isoflop_about,
        file_stem=isoflop_words.file_stem,
        names=("points", "optima"),
        prefix="isoflop-",
    ),
    Page(
        path="/scaling",
        title="Scaling law",
        view=ScalingView,
        subject=page_words.ladder_subject,
        method=page_words.scaling_method,
        headline=page_words.scaling_headline,
        chart=scaling_charts.chart_of,
        tables=downloads.scaling_tables,
        about=downloads.scaling_about,
        file_stem=scaling_words.file_stem,
        names=("points", "optima", "forecasts", "law"),
        prefix="scaling-",
    ),
    Page(
        path="/trajectories",
        title="Trajectories",
        view=TrajectoryView,
        subject=page_words.trajectory_subject,
        method=page_words.trajectory_method,
        headline=page_words.trajectory_headline,
        chart=trajectory_charts.chart_of,
        tables=downloads.trajectory_tables,
        about=downloads.trajectory_about,
        file_stem=trajectory_words.file_stem,
        names=("forecast",),
        prefix="trajectories-",
    ),
    Page(
        path="/recipes",
        title="Recipes",
        view=RecipesView,
        subject=page_words.recipes_subject,
        method=page_words.recipes_method,
        headline=page_words.recipes_headline,
        chart=recipes_charts.chart_of,
        tables=downloads.recipes_tables,
        about=downloads.recipes_about,
        file_stem=recipes_words.file_stem,
        names=("optima", "laws", "speed-up", "pairs", "published"),
        prefix="recipes-",
    ),
    Page(
        path="/planner",
        title="Planner",
        view=PlannerView,
        subject=page_words.ladder_subject,
        method=page_words.planner_method,
        headline=page_words.planner_headline,
        chart=planner_charts.chart_of,
        tables=downloads.planner_tables,
        about=downloads.planner_about,
        file_stem=planner_words.file_stem,
        names=("plan", "valley"),
        prefix="planner-",
        first="plan",
    ),
    Page(
        path="/data",
        title="Data",
        view=DataView,
        subject=page_words.data_subject,
        method=page_words.data_method,
        headline=page_words.data_headline,
        tables=downloads.data_tables,
        about=downloads.data_about,
        file_stem=data_words.file_stem,
        names=tuple(TABLES),
    ),
    Page(
        path="/about",
        title="About",
        view=AboutView,
        method=page_words.about_method,
        headline=page_words.about_headline,
    ),
)
PAGES = {page.path: page for page in _IN_ORDER}
"""Every page by its path, in the order of the menu."""


def page_of(view: ViewState) -> Page | None:
    """The page that shows a view; None for a view of no page."""
    return next((page for page in PAGES.values() if isinstance(view, page.view)), None)


def data_names() -> dict[str, tuple[Page, str]]:
    """Name in a data address to the page that gives the table away and its name there."""
    return {f"{page.prefix}{name}": (page, name) for page in PAGES.values() for name in page.names}
