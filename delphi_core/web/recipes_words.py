"""What the Recipes page says in words: headline, verdicts, warnings, caption, file names."""

from __future__ import annotations

import re
from math import isfinite
from typing import TYPE_CHECKING

from delphi_core.recipe_documents import crossing
from delphi_core.web.messages import plain
from delphi_core.web.sources import links_of, source_keys
from delphi_core.words import count, flops_words, ratio_words

if TYPE_CHECKING:
    import pandas as pd

    from delphi_core.fits.speedup import SpeedUp
    from delphi_core.recipe_fits import FittedRecipe
    from delphi_core.recipes import Recipes, Rival
    from delphi_core.snapshot import Snapshot
    from delphi_core.web.recipes_view import RecipesView

TAB_TITLES = {
    "laws": "Laws",
    "speed-up": "Speed-up",
    "pairs": "Run by run",
    "metrics": "Metrics",
    "table": "Table",
    "download": "Download",
}


def headline(found: Recipes, flops: float | None) -> str:
    """The finding: what share of the base's compute each ladder needs."""
    base = plain(found.base.ladder.title)
    parts: list[str] = []
    for rival in found.rivals:
        own = None if flops is None else rival.speed_up(flops)
        if own is None:
            continue
        parts.append(_share(plain(_title(rival)), own, base, first=not parts))
    if not parts or flops is None:
        return f"{base}: nothing that can be compared with it is chosen"
    return f"At {flops_words(flops)} {'; '.join(parts)}"


def _share(title: str, own: SpeedUp, base: str, *, first: bool) -> str:
    share = float(own.share[0])
    if not isfinite(float(own.value[0])):
        return f"{title} reaches a loss that {base} never does by its law"
    times = "times" if share > 1 else "of"
    words = f"{title} {share:.2f}"
    if first:
        words = f"{title} needs {share:.2f} {times} {base}'s compute"
    return words if own.decided[0] or own.method == "none" else f"{words} (undecided)"


def verdict(found: Recipes, flops: float | None) -> list[str]:
    """Who is ahead, by how much, how far that can be trusted: one sentence a line."""
    lines = []
    for rival in found.rivals:
        if rival.laws is None:
            if rival.recipe is not None:
                lines.append(f"{_title(rival)} has no speed-up: {rival.problem}")
            continue
        if flops is not None and (own := rival.speed_up(flops)) is not None:
            lines.append(_at(rival, own))
        if rival.at_optima is not None:
            lines.append(_at_budgets(rival, rival.at_optima))
        lines += [_crossing(rival, place) for place in crossing(rival)]
    lines += pairs_verdict(found)
    lines += [sentence for recipe in found.fitted if (sentence := _held_out(recipe))]
    for recipe in found.fitted:
        if recipe.law is not None:
            doubts = recipe.law.doubts
            lines += [f"{recipe.ladder.title}: {doubt.sentence}" for doubt in doubts]
    return lines


def pairs_verdict(found: Recipes) -> list[str]:
    """How many pairs of equal runs each ladder is ahead in, one sentence a ladder that has any."""
    return [
        _pairs(rival, rival.pairs)
        for rival in found.rivals
        if rival.pairs is not None and len(rival.pairs)
    ]


def _at(rival: Rival, own: SpeedUp) -> str:
    base, title = rival.base.ladder.title, _title(rival)
    at, loss = flops_words(float(own.flops[0])), float(own.losses[0])
    value = float(own.value[0])
    if not isfinite(value):
        return (
            f"{title} at {at}: its loss of {loss:.4f} lies at or below the E of {base}'s law, "
            "which no compute reaches: the speed-up is open."
        )
    needs = flops_words(float(own.base_flops[0]))
    words = f"{title} at {at}: {base} needs {needs} for its loss of {loss:.4f}, "
    words += f"{ratio_words(value)} times as much{_interval(own)}"
    if own.method == "none":
        words += "; no interval, as one of the laws has no band"
    elif not own.decided[0]:
        words += "; which of the two is ahead is not decided"
    beyond = float(own.beyond[0])
    if beyond > 1.005:
        words += f". That is {ratio_words(beyond)} times beyond what one of them was fitted up to"
    return words + "."


def _interval(own: SpeedUp) -> str:
    low, high = float(own.low[0]), float(own.high[0])
    if low != low or high != high:  # noqa: PLR0124 - not a number
        return ""
    end = ratio_words(high) if isfinite(high) else "open"
    return f" ({100 * own.level:g} % interval {ratio_words(low)} to {end})"


def _at_budgets(rival: Rival, own: SpeedUp) -> str:
    ahead, doubt = int((own.value > 1).sum()), int((~own.decided).sum())
    known = [float(value) for value in own.value if isfinite(value)]
    words = f"{_title(rival)} is ahead at {ahead} of {count(len(own.value), 'budget')} of its own"
    if known:
        words += f": speed-up {ratio_words(min(known))} to {ratio_words(max(known))}"
    words += f" at the measured optima against {rival.base.ladder.title}'s law"
    if own.method != "none":
        words += f"; {doubt or 'none'} of them undecided"
    return f"{words}."


def _crossing(rival: Rival, place: float) -> str:
    largest = max(law.largest_flops for law in rival.laws or ())
    words = f"By the laws {_title(rival)} and {rival.base.ladder.title} are level at "
    words += flops_words(place)
    if place > largest:
        words += (
            f", {ratio_words(place / largest)} times beyond the data: out there each law's own E "
            "decides, so see what happens when E is pinned for all"
        )
    return words + "."


def _pairs(rival: Rival, pairs: pd.DataFrame) -> str:
    low, high = pairs["difference"].min(), pairs["difference"].max()
    return (
        f"Run by run {_title(rival)} has the lower loss in {int(pairs['ahead'].sum())} of "
        f"{count(len(pairs), 'pair')} of equal width, tokens and batch; differences {low:.4f} to "
        f"{high:.4f}."
    )


def _held_out(recipe: FittedRecipe) -> str:
    """How a law met what was measured beyond it."""
    if recipe.law is None or not recipe.held_out:
        return ""
    law = recipe.law
    errors = [item.error_pct(float(law.predict(item.flops).value)) for item in recipe.held_out]
    met = [
        f"{error:+.2f} % at {flops_words(item.flops)}"
        for error, item in zip(errors, recipe.held_out, strict=True)
    ]
    return (
        f"{recipe.ladder.title}: held-out runs, never fitted (open symbols), lie "
        f"{', '.join(met).replace('-', '−')} off its law."
    )


def refusals(found: Recipes) -> list[str]:
    """Ladders that are not compared, with the reason."""
    return [
        f"{_title(rival)} is not compared. {' '.join(rival.comparison.refusals)}"
        for rival in found.rivals
        if not rival.comparison.allowed
    ]


def warnings(found: Recipes) -> list[str]:
    """Conventions that differ, each sentence once."""
    every = [words for rival in found.rivals for words in rival.comparison.warnings]
    return list(dict.fromkeys(every))


def notes(found: Recipes) -> list[str]:
    """What differs as recipes do, and what cannot be known, each with its ladder."""
    return [
        f"{_title(rival)}: {words}" for rival in found.rivals for words in rival.comparison.notes
    ]


def caption(snapshot: Snapshot, found: Recipes) -> str:
    """What was fitted on what, as of when and from which source, in Markdown."""
    lines = [recipe.describe() for recipe in found.fitted]
    described = [rival.speed_up(1e20) for rival in found.rivals]
    lines += dict.fromkeys(own.describe() for own in described if own is not None)
    lines.append(f"Snapshot {snapshot.id} of {snapshot.created_at[:10]}.")
    text = "  \n".join(plain(line) for line in lines)
    links = [links_of(snapshot, recipe_sources(snapshot, recipe)) for recipe in found.fitted]
    every = dict.fromkeys(link for part in links for link in part.split(", "))
    return f"{text} Sources: {', '.join(every)}."


def recipe_sources(snapshot: Snapshot, recipe: FittedRecipe) -> set[str]:
    """Keys of the sources of a ladder's optima."""
    if recipe.isoflop is not None:
        return source_keys(snapshot, recipe.ladder.ladder, recipe.isoflop)
    name = "published_optima" if recipe.optima.runs is None else "evals"
    rows = snapshot.tables[name]
    own = (rows["ladder"] == recipe.ladder.ladder) & (rows["metric"] == recipe.metric)
    return set(rows.loc[own, "source"])


def code(view: RecipesView, flops: float | None) -> str:
    """Python that makes the same comparison."""
    pinned = "" if view.pinned is None else f"asymptote={view.pinned!r}"
    at = 1e20 if flops is None else flops
    return (
        "import delphi_core as dc\n"
        "snapshot = dc.load_snapshot()\n"
        f"settings = dc.RecipeSettings({view.method!r}, dc.LawSettings({pinned}))\n"
        f"found = dc.compare_recipes(snapshot, {view.base!r}, {list(view.ladders)!r},\n"
        f"                           {view.metric!r}, settings)\n"
        f"for rival in found.rivals:\n"
        f"    print(rival.comparison, rival.speed_up({at!r}), rival.at_optima)"
    )


def command(view: RecipesView) -> str:
    """The shell command that makes the same comparison."""
    parts = ["python -m delphi_core compare", f"--base {view.base}"]
    parts += [f"--ladder {name}" for name in view.ladders]
    parts += [f"--metric {view.metric}", f"--method {view.method}"]
    parts += [] if view.pinned is None else [f"--asymptote {view.pinned!r}"]
    parts += [] if view.at is None else [f"--flops {view.at!r}"]
    return " ".join(parts)


def file_stem(view: RecipesView) -> str:
    """Name of a download of a view, without what it holds and without its ending."""
    parts = (view.base, view.metric, view.method)
    return "_".join(re.sub(r"[^A-Za-z0-9._-]+", "-", part) for part in parts)


def _title(rival: Rival) -> str:
    return rival.recipe.ladder.title if rival.recipe else rival.comparison.ladder
