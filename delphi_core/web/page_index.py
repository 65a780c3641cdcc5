"""Every page with a view: its path, its title, how its links are read, and what it gives away.

A page that is added here has a Share popover, data addresses and lines to paste; what its columns
hold goes into `download_columns.COLUMNS`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from delphi_core.tables import TABLES
from delphi_core.web import (
    data_words,
    downloads,
    isoflop_words,
    planner_words,
    recipes_words,
    scaling_words,
    trajectory_words,
)
from delphi_core.web.data_view import DataView
from delphi_core.web.isoflop_view import IsoflopView
from delphi_core.web.planner_view import PlannerView
from delphi_core.web.recipes_view import RecipesView
from delphi_core.web.scaling_view import ScalingView
from delphi_core.web.trajectory_view import TrajectoryView

if TYPE_CHECKING:
    from collections.abc import Callable

    from delphi_core.snapshot import Snapshot
    from delphi_core.web.downloads import About, Makers
    from delphi_core.web.view_state import ViewState


@dataclass(frozen=True)
class Page:
    """One page.

    Attributes
    ----------
    path
        In its address; empty for the first page.
    title
        In the menu.
    view
        Its view state.
    names
        Of the tables it can give away.
    tables
        From a snapshot and a view to what makes each table that is to be had.
    about
        From a snapshot and a view to how they were got.
    file_stem
        From a view to the name of its downloads, without what they hold.
    prefix
        What table names begin with in data addresses.
    first
        Name of the table whose file is called by the stem alone.
    """

    path: str
    title: str
    view: type[ViewState]
    names: tuple[str, ...]
    tables: Callable[[Snapshot, Any], Makers]
    about: Callable[[Snapshot, Any], About]
    file_stem: Callable[[Any], str]
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


PAGES = (
    Page(
        "",
        "IsoFLOP",
        IsoflopView,
        ("points", "optima"),
        downloads.isoflop_tables,
        downloads.isoflop_about,
        isoflop_words.file_stem,
        "isoflop-",
    ),
    Page(
        "scaling",
        "Scaling law",
        ScalingView,
        ("points", "optima", "forecasts", "law"),
        downloads.scaling_tables,
        downloads.scaling_about,
        scaling_words.file_stem,
        "scaling-",
    ),
    Page(
        "trajectories",
        "Trajectories",
        TrajectoryView,
        ("forecast",),
        downloads.trajectory_tables,
        downloads.trajectory_about,
        trajectory_words.file_stem,
        "trajectories-",
    ),
    Page(
        "recipes",
        "Recipes",
        RecipesView,
        ("optima", "laws", "speed-up", "pairs", "published"),
        downloads.recipes_tables,
        downloads.recipes_about,
        recipes_words.file_stem,
        "recipes-",
    ),
    Page(
        "planner",
        "Planner",
        PlannerView,
        ("plan", "valley"),
        downloads.planner_tables,
        downloads.planner_about,
        planner_words.file_stem,
        "planner-",
        "plan",
    ),
    Page(
        "data",
        "Data",
        DataView,
        tuple(TABLES),
        downloads.data_tables,
        downloads.data_about,
        data_words.file_stem,
    ),
)
"""Every page with a view, in the order of the menu."""


def page_of(view: ViewState) -> Page | None:
    """The page that shows a view; None for a page that is not in the index."""
    return next((page for page in PAGES if isinstance(view, page.view)), None)


def data_names() -> dict[str, tuple[Page, str]]:
    """Name in a data address to the page that gives the table away and its name there."""
    return {f"{page.prefix}{name}": (page, name) for page in PAGES for name in page.names}
