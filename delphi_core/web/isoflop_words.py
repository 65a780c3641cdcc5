"""What the IsoFLOP page says in words: its headline, its caption, its file names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from delphi_core.errors import FitError
from delphi_core.figures.isoflop_extent import off_chart
from delphi_core.fits.power_law import fit_params_law, fit_token_law
from delphi_core.web.messages import plain
from delphi_core.web.sources import source_links
from delphi_core.words import AMOUNTS, power_words

if TYPE_CHECKING:
    import pandas as pd

    from delphi_core.fits.isoflop import IsoflopResult
    from delphi_core.snapshot import Ladder, Snapshot
    from delphi_core.web.isoflop_view import IsoflopView


FEW_OPTIMA = 3
"""A law on so few optima is said to be one in the headline."""


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
    verb = "seems to grow" if law.optima <= FEW_OPTIMA or law.at_edge else "grows"
    finding = f"the optimal number of {AMOUNTS[x]} {verb} as {power_words(law.exponent)}"
    if law.optima <= FEW_OPTIMA:
        finding += f", on {law.optima} budgets only"
    if law.at_edge:
        finding += f", with {law.at_edge} of {law.optima} optima at an edge"
    return f"{title}: {finding}"


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
        fit_sets = "; ".join(published["fit_set"].unique())
        lines.append(
            f"Dashed: parabolas and optima as published ({fit_sets}); the snapshot holds no values "
            "of this metric for the ladder's own runs, so nothing was fitted here."
        )
    lines += off_chart(isoflop, published)
    lines.append(f"FLOPs: {ladder.flops_convention}. {snapshot.part(ladder.ladder).named}.")
    text = "  \n".join(plain(line) for line in lines)
    keys = set() if published is None else set(published["source"])
    return f"{text} Sources: {source_links(snapshot, ladder, isoflop, keys)}."


def refit_code(view: IsoflopView) -> str:
    """Python that fits the downloaded points again, to the same coefficients and law."""
    law = "fit_token_law" if view.x == "tokens" else "fit_params_law"
    excluded = ", include_excluded=True" if view.excluded else ""
    return (
        "import delphi_core as dc\n"
        f"records = dc.read_records({file_stem(view) + '_points.csv'!r})\n"
        f"isoflop = dc.fit_isoflops(records, method={view.method!r}, x={view.x!r}{excluded})\n"
        f"print(dc.{law}(isoflop).describe())"
    )


def file_stem(view: IsoflopView) -> str:
    """Name of a download of a view, without what it holds and without its ending."""
    parts = (view.ladder, view.metric, view.x, view.method)
    return "_".join(re.sub(r"[^A-Za-z0-9._-]+", "-", part) for part in parts)
