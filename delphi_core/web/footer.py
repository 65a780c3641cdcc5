"""The line at the foot of every page: which figures are shown, how old they are, and new ones."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import streamlit as st

from delphi_core.web.loading import kept_snapshot, refresh_seconds
from delphi_core.web.messages import plain

if TYPE_CHECKING:
    from delphi_core.snapshot_keeper import Kept

SHOWN = "snapshot shown"
"""Name in the session, which no widget has, of what a page was last drawn from."""
LONGEST_TICK = 10.0
"""Seconds after which an open page asks for new figures, if they are not looked at more often."""


def remember_shown(kept: Kept) -> None:
    """Note what a run of a page begins with, so that it is drawn anew when that is no longer so.

    Done for every page before it runs: one that did not would be drawn anew without end.
    """
    st.session_state[SHOWN] = (kept.snapshot.id, kept.problem)


def footer() -> None:
    """Say which figures are shown; where they may change, draw the page anew when they do.

    The page asks the process's one keeper, in memory: visitors do not multiply reads.
    """
    kept = kept_snapshot()
    may_change = bool(kept.version or kept.problem)
    tick = min(LONGEST_TICK, refresh_seconds()) if may_change else None
    st.fragment(_line, run_every=tick)()


def _line() -> None:
    kept = kept_snapshot()
    now = (kept.snapshot.id, kept.problem)
    if st.session_state.get(SHOWN, now) != now:
        st.rerun()
    st.caption(plain(footer_words(kept, datetime.now(UTC))))


def footer_words(kept: Kept, now: datetime) -> str:
    """Which figures are shown, and how old they are.

    Parameters
    ----------
    kept
        What is shown.
    now
        The time, UTC.
    """
    snapshot = kept.snapshot
    words = f"Snapshot {snapshot.id}, made {snapshot.created_at}{_age(snapshot.created_at, now)}"
    if kept.origin == "live" and kept.checked_at is not None:
        return f"{words}; live, nothing newer at {kept.checked_at:%H:%M:%S} UTC."
    return f"{words}; {'as it came with the package' if kept.origin == 'bundled' else kept.origin}."


def _age(created_at: str, now: datetime) -> str:
    """How long ago that was, in brackets; nothing where it is no time."""
    try:
        made = datetime.fromisoformat(created_at)
    except ValueError:
        return ""
    made = made if made.tzinfo else made.replace(tzinfo=UTC)
    hours = (now - made).total_seconds() / 3600
    if hours < 0:
        return ""
    words = f"{hours:.0f} h" if hours < 48 else f"{hours / 24:.0f} days"
    return f" ({words} ago)"
