"""Links to where figures come from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from delphi_core.web.messages import plain

if TYPE_CHECKING:
    from delphi_core.fits.isoflop import IsoflopResult
    from delphi_core.snapshot import Ladder, Snapshot

LONGEST_LINK = 60


def source_links(snapshot: Snapshot, ladder: Ladder, isoflop: IsoflopResult, keys: set[str]) -> str:
    """Links to where a fit's runs and their values come from, and to further sources.

    Parameters
    ----------
    snapshot, ladder
        Where the runs are.
    isoflop
        The fit.
    keys
        Further sources, as in sources.csv.
    """
    runs, metrics = isoflop.points["run"], isoflop.points["metric"]
    for name in ("runs", "evals"):
        table = snapshot.tables[name]
        own = table[(table["ladder"] == ladder.ladder) & table["run"].isin(runs)]
        if name == "evals":
            own = own[own["metric"].isin(metrics)]
        keys = keys | set(own["source"])
    return links_of(snapshot, keys)


def links_of(snapshot: Snapshot, keys: set[str]) -> str:
    """Links to sources, as in sources.csv."""
    urls = snapshot.tables["sources"].set_index("source")["url"]
    return ", ".join(_link(str(urls[key])) for key in sorted(keys))


def _link(url: str) -> str:
    """Markdown link to a source; anything but a plain web address stays text."""
    words = url.removeprefix("https://")
    words = plain(words if len(words) <= LONGEST_LINK else f"{words[:LONGEST_LINK]}...")
    if not re.fullmatch(r"https://[^\s()<>\[\]\\]+", url):
        return words
    return f"[{words}]({url})"
