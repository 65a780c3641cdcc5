"""Links to views, read outside the pages: by previews and cards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlencode

from delphi_core.web.loading import kept_snapshot

if TYPE_CHECKING:
    from delphi_core.snapshot import Snapshot
    from delphi_core.web.page_index import Page
    from delphi_core.web.view_state import Query, ViewState

LONGEST_QUERY = 8_000
"""Bytes of a query that are read; no view needs a tenth of it."""
MOST_PARAMETERS = 200
CARD_PATH = "/card.png"
PAGE_PARAMETER, VERSION_PARAMETER = "page", "v"
"""Parameters of a card's address beside those of its page: the page's path, and the snapshot."""


@dataclass(frozen=True)
class Link:
    """A link to a view of a page.

    Attributes
    ----------
    page
        The page.
    snapshot
        What it shows now.
    view
        The nearest valid one to what the link asks for.
    query
        The shortest query that opens the view.
    """

    page: Page
    snapshot: Snapshot
    view: ViewState
    query: Query

    @property
    def address(self) -> str:
        """Path and query."""
        query = urlencode(self.query, doseq=True)
        return f"{self.page.path}?{query}" if query else self.page.path

    @property
    def card(self) -> str:
        """Path and query of its card."""
        own = {PAGE_PARAMETER: [self.page.path], **self.query}
        # Chats keep pictures by their address: other figures want another one.
        own[VERSION_PARAMETER] = [self.snapshot.id]
        return f"{CARD_PATH}?{urlencode(own, doseq=True)}"


def read_query(text: bytes) -> Query:
    """The parameters of a query, which may hold anything; none where it is no query of ours."""
    if len(text) > LONGEST_QUERY:
        return {}
    try:
        return parse_qs(
            text.decode("ascii", "replace"),
            keep_blank_values=True,
            max_num_fields=MOST_PARAMETERS,
            errors="replace",
        )
    except ValueError:
        return {}


def read_link(page: Page, query: Query) -> Link:
    """The link to the view that a query of a page opens.

    Raises
    ------
    DataError
        The snapshot holds nothing that the page could show.
    """
    snapshot = kept_snapshot().snapshot
    view, _ = page.view.read(query, snapshot)
    return Link(page, snapshot, view, view.to_query(snapshot))
