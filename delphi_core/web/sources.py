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
    return links_of(snapshot, keys | source_keys(snapshot, ladder.ladder, isoflop))


def source_keys(snapshot: Snapshot, ladder: str, isoflop: IsoflopResult) -> set[str]:
    """Keys of the sources of a fit's runs and of their values."""
    runs, metrics = isoflop.points["run"], isoflop.points["metric"]
    keys: set[str] = set()
    for name in ("runs", "evals"):
        table = snapshot.tables[name]
        own = table[(table["ladder"] == ladder) & table["run"].isin(runs)]
        if name == "evals":
            own = own[own["metric"].isin(metrics)]
        keys |= set(own["source"])
    return keys


def links_of(snapshot: Snapshot, keys: set[str]) -> str:
    """Links to sources, as in sources.csv."""
    return ", ".join(_link(url) for url in source_addresses(snapshot, keys).values())


def source_addresses(snapshot: Snapshot, keys: set[str]) -> dict[str, str]:
    """Address of each source, by key, in order of the keys."""
    urls = snapshot.tables["sources"].set_index("source")["url"]
    return {key: str(urls[key]) for key in sorted(keys)}


def _link(url: str) -> str:
    """Markdown link to a source; anything but a plain web address stays text."""
    words = url.removeprefix("https://")
    words = plain(words if len(words) <= LONGEST_LINK else f"{words[:LONGEST_LINK]}...")
    if not re.fullmatch(r"https://[^\s()<>\[\]\\]+", url):
        return words
    return f"[{words}]({url})"
