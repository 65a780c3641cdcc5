"""What the IsoFLOP page says in words: its headline, its caption, its file names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from delphi_core.errors import FitError
from delphi_core.figures.isoflop import off_scale
from delphi_core.fits.power_law import fit_params_law, fit_token_law
from delphi_core.web.messages import plain
from delphi_core.words import AMOUNTS, count

if TYPE_CHECKING:
    import pandas as pd

    from delphi_core.fits.isoflop import IsoflopResult
    from delphi_core.snapshot import Ladder, Snapshot
    from delphi_core.web.view_state import IsoflopView


def headline(ladder: Ladder, isoflop: IsoflopResult, published: pd.DataFrame | None) -> str:
    """The finding of the chart, as a title in Markdown."""
    title = plain(ladder.title)
    if published is not None:
        return f"{title}: IsoFLOP curves as published"
    x = isoflop.settings.x
    try:
        law = fit_token_law(isoflop) if x == "tokens" else fit_params_law(isoflop)
    except FitError:
        return f"{title}: too few budgets have an optimum for a law"
    return f"{title}: the optimal number of {AMOUNTS[x]} grows as $C^{{{law.exponent:.3f}}}$"


def value_title(snapshot: Snapshot, metric: str) -> str:
    """Name and unit of a metric."""
    metrics = snapshot.tables["metrics"].set_index("metric")
    title, unit = (str(metrics.loc[metric, column]) for column in ("title", "unit"))
    return f"{title} ({unit})"


def caption(
    snapshot: Snapshot, ladder: Ladder, isoflop: IsoflopResult, published: pd.DataFrame | None
) -> str:
    """What was fitted on what, by which laws, as of when and from which source, in Markdown."""
    lines = []
    if published is None:
        lines.append(isoflop.describe())
        if len(isoflop.optima) > 1:
            lines += [fit_token_law(isoflop).describe(), fit_params_law(isoflop).describe()]
    else:
        fit_set = published["fit_set"].iloc[0]
        lines.append(
            f"Dashed: parabolas and optima as published ({fit_set}); the snapshot holds no values "
            "of this metric for the ladder's own runs, so nothing was fitted here."
        )
    outside = off_scale(isoflop)
    if len(outside):
        values = ", ".join(f"{value:.2f}" for value in sorted(outside["value"]))
        lines.append(f"{count(len(outside), 'run')} off the chart, at {values}.")
    made = snapshot.created_at[:10]
    lines.append(f"FLOPs: {ladder.flops_convention}. Snapshot {snapshot.id} of {made}.")
    text = "  \n".join(plain(line) for line in lines)
    return f"{text} Sources: {_sources(snapshot, ladder, isoflop, published)}."


def refit_code(view: IsoflopView) -> str:
    """Python that fits the downloaded points again, to the same coefficients."""
    return (
        "import delphi_core as dc\n"
        f"records = dc.read_records({file_stem(view) + '_points.csv'!r})\n"
        f"isoflop = dc.fit_isoflops(records, method={view.method!r}, x={view.x!r})\n"
        "dc.fit_token_law(isoflop).exponent"
    )


def file_stem(view: IsoflopView) -> str:
    """Name of a download of a view, without what it holds and without its ending."""
    parts = (view.ladder, view.metric, view.x, view.method)
    return "_".join(re.sub(r"[^A-Za-z0-9._-]+", "-", part) for part in parts)


def _sources(
    snapshot: Snapshot, ladder: Ladder, isoflop: IsoflopResult, published: pd.DataFrame | None
) -> str:
    runs = snapshot.tables["runs"]
    own = runs[(runs["ladder"] == ladder.ladder) & runs["run"].isin(isoflop.points["run"])]
    keys = set(own["source"]) | (set() if published is None else set(published["source"]))
    urls = snapshot.tables["sources"].set_index("source")["url"]
    return ", ".join(_link(key, str(urls[key])) for key in sorted(keys))


def _link(words: str, url: str) -> str:
    """Markdown link; only web addresses, and nothing that could end it early."""
    if not re.fullmatch(r"https://[^\s()<>\[\]]+", url):
        return plain(words)
    return f"[{plain(words)}]({url})"
