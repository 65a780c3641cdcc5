"""Three small answers above the first page: what the law, the live run and the figures say now."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from delphi_core.errors import DelphiError
from delphi_core.web import scaling_words, trajectory_words
from delphi_core.web.loading import kept_snapshot
from delphi_core.web.scaling_fits import scaling_fitted
from delphi_core.web.scaling_view import ScalingView
from delphi_core.web.trajectory_fits import shown
from delphi_core.web.trajectory_view import TrajectoryView

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator
    from streamlit.navigation.page import StreamlitPage

    from delphi_core.snapshot import Snapshot
    from delphi_core.snapshot_keeper import Kept


# A link is cut where its line ends, which on a phone is before the number.
_WRAPPED = "<style>.st-key-front_line a * {white-space: normal; overflow: visible;}</style>"


def law_answer(snapshot: Snapshot) -> str:
    """The first ladder's law against its largest held-out run, in Markdown."""
    view, _ = ScalingView.read({}, snapshot)
    found = scaling_fitted(snapshot, view.fit)
    return scaling_words.headline(snapshot.ladder(view.ladder), found, view.target_flops)


def run_answer(snapshot: Snapshot) -> str:
    """The first target's last evaluation against its forecast, in Markdown."""
    view, _ = TrajectoryView.read({}, snapshot)
    return trajectory_words.headline(shown(snapshot, view.choice))


def news_answer(kept: Kept) -> str:
    """What is new in the figures, or of when they are."""
    return kept.changes or f"Figures of {kept.snapshot.created_at[:10]}"


def front_line(
    place: DeltaGenerator, scaling: StreamlitPage, trajectories: StreamlitPage, data: StreamlitPage
) -> None:
    """Fill a place above the first page; done last, so that no chart waits for it.

    Parameters
    ----------
    place
        Where the answers go.
    scaling, trajectories, data
        The pages that say more.
    """
    kept = kept_snapshot()
    with place.container(horizontal=True, key="front_line"):
        st.html(_WRAPPED)
        for page, answer in ((scaling, law_answer), (trajectories, run_answer)):
            try:
                st.page_link(page, label=answer(kept.snapshot))
            except DelphiError:
                # Figures without a ladder or a target have no such answer.
                continue
        st.page_link(data, label=news_answer(kept))
