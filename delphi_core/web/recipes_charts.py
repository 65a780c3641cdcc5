"""The charts of the Recipes page, as its tabs show them and as cards of links draw them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from delphi_core import recipe_tables
from delphi_core.figures import recipe_words
from delphi_core.figures.pairs import pairs_figure
from delphi_core.figures.recipes import recipes_figure
from delphi_core.figures.speedup import speed_up_figure
from delphi_core.web.fit_cache import shared_cache
from delphi_core.web.recipes_fits import law_lines, recipes_compared, shown_flops, speed_up_lines
from delphi_core.web.recipes_view import published_laws

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from delphi_core.snapshot import Snapshot
    from delphi_core.web.recipes_view import RecipesView

    Chart = tuple[go.Figure, str]


def chart_of(snapshot: Snapshot, view: RecipesView) -> Chart:
    """The chart of a view's tab and what it says in words; of a tab without one, the laws."""
    chart = None
    if view.tab == "speed-up":
        chart = speed_up_chart(snapshot, view)
    elif view.tab == "pairs":
        chart = pairs_chart(snapshot, view)
    return chart or laws_chart(snapshot, view)


def laws_chart(snapshot: Snapshot, view: RecipesView) -> Chart:
    """Optima and laws of all, and what they say in words."""
    return _laws_chart(snapshot, replace(view, tab="laws", zoom=""))


@shared_cache(max_entries=200, show_spinner=False)
def _laws_chart(snapshot: Snapshot, view: RecipesView) -> Chart:
    found = recipes_compared(snapshot, view.choice)
    lines, published = law_lines(found), published_laws(snapshot, view)
    figure = recipes_figure(
        lines,
        value_title=snapshot.value_title(view.metric),
        published=published,
        at=shown_flops(view, found),
    )
    return figure, recipe_words.recipes_alt(lines, published)


def speed_up_chart(snapshot: Snapshot, view: RecipesView) -> Chart | None:
    """Speed-up over the base, and what it says in words; None where there is nothing to compare."""
    lines = speed_up_lines(snapshot, view.choice)
    if not lines:
        return None
    found = recipes_compared(snapshot, view.choice)
    base = found.base.ladder.title
    figure = speed_up_figure(lines, base=base, at=shown_flops(view, found))
    return figure, recipe_words.speed_up_alt(lines, base)


def pairs_chart(snapshot: Snapshot, view: RecipesView) -> Chart | None:
    """Runs of equal width, tokens and batch, and what they say in words; None without any."""
    found = recipes_compared(snapshot, view.choice)
    table = recipe_tables.pairs_table(found)
    if not len(table):
        return None
    lines = []
    for place, recipe in enumerate(found.fitted):
        own = table[table["ladder"] == recipe.ladder.ladder]
        if len(own):
            lines.append((recipe.ladder.title, place, own))
    base = found.base.ladder.title
    figure = pairs_figure(lines, base=base, unit=snapshot.unit(view.metric))
    return figure, recipe_words.pairs_alt(lines, base)
