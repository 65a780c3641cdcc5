"""Cached fits: of the shared snapshot for all visitors, of a visitor's own ladder for the visit."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import streamlit as st

from delphi_core.own_ladders import SnapshotWithOwn
from delphi_core.snapshot import Snapshot

if TYPE_CHECKING:
    from collections.abc import Callable

R = TypeVar("R")

ENTRIES_OF_A_VISIT = 10
"""How many fits of own ladders one visit keeps, of each kind; they go with the visit."""

BY_ID: dict[str | type[Any], Callable[[Any], Any]] = {Snapshot: lambda snapshot: snapshot.id}
BY_ID[SnapshotWithOwn] = BY_ID[Snapshot]


class OfLadder(Protocol):
    """What a fit is asked for by: it names the ladder."""

    @property
    def ladder(self) -> str:
        """Id of the ladder."""
        ...


V = TypeVar("V", bound=OfLadder)


def cached_fit(
    *, max_entries: int, show_spinner: str | bool
) -> Callable[[Callable[[Snapshot, V], R]], Callable[[Snapshot, V], R]]:
    """Decorator that keeps what a function gives for a snapshot's id and a view.

    A visitor's own ladder takes no room from what is kept for all, and is in no other visitor's
    reach; the ladders beside it are those that all visitors share.

    Parameters
    ----------
    max_entries
        How many results are kept for all visitors.
    show_spinner
        What the page shows meanwhile.
    """

    def decorate(function: Callable[[Snapshot, V], R]) -> Callable[[Snapshot, V], R]:
        options: dict[str, Any] = {"show_spinner": show_spinner, "hash_funcs": BY_ID}
        shared = st.cache_resource(max_entries=max_entries, **options)(function)
        own = st.cache_resource(max_entries=ENTRIES_OF_A_VISIT, scope="session", **options)(
            function
        )

        @wraps(function)
        def call(snapshot: Snapshot, view: V) -> R:
            part = snapshot.part(view.ladder)
            return own(part, view) if isinstance(part, SnapshotWithOwn) else shared(part, view)

        return call

    return decorate
