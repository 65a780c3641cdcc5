"""How every page begins: the snapshot, what to say of it, and the view to show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import streamlit as st

from delphi_core.own_ladders import SnapshotWithOwn
from delphi_core.web.headings import plain_heading, remember_heading
from delphi_core.web.loading import kept_snapshot
from delphi_core.web.messages import snapshot_notice
from delphi_core.web.own import with_own
from delphi_core.web.page_url import shown_view
from delphi_core.web.share import share_popover
from delphi_core.web.tags import SITE

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from delphi_core.snapshot import Snapshot
    from delphi_core.web.view_state import ViewState

    View = TypeVar("View", bound=ViewState)


FINDING = "finding shown"
"""Name in the session, which no widget has, of what the page is headed by."""


@dataclass(frozen=True)
class Headline:
    """The place above a page's controls where its finding will stand."""

    place: DeltaGenerator
    snapshot: Snapshot
    view: ViewState

    def title(self, finding: str) -> None:
        """Head the page, and its link's preview, with what it shows; beside it how to share it."""
        st.session_state[FINDING] = plain_heading(finding)
        if not isinstance(self.snapshot, SnapshotWithOwn):
            # What a visitor's own ladder shows is theirs alone.
            remember_heading(self.snapshot.id, self.view, finding)
        st.set_page_config(page_title=f"{plain_heading(finding)} - {SITE}")
        with self.place.container():
            heading, share = st.columns([7, 1], vertical_alignment="top")
            heading.title(finding)
            with share.container(horizontal=True, horizontal_alignment="right"):
                share_popover(self.snapshot, self.view, finding)


def opened(kind: type[View]) -> tuple[Snapshot, View, Headline]:
    """The snapshot in use, the view to show now, and the place of the headline above it.

    The snapshot holds the visitor's own ladder, if there is one, where the page chooses a ladder.

    Call it before the page makes the widgets that the view names.

    Parameters
    ----------
    kind
        The page's view state.

    Raises
    ------
    DataError
        The snapshot holds nothing that the page could show.
    """
    kept = kept_snapshot()
    place = st.empty()
    snapshot_notice(kept)
    snapshot = kept.snapshot
    if "ladder" in kind.__dataclass_fields__:
        # Pages that choose no ladder have no use for the visitor's own.
        snapshot = with_own(snapshot)
    view = shown_view(kind, snapshot)
    return snapshot, view, Headline(place, snapshot, view)
