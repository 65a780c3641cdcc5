"""Cached fits: of the shared snapshot for all visitors, of a visitor's own ladder for the visit."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from delphi_core.own_ladders import SnapshotWithOwn
from delphi_core.snapshot import Snapshot

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
R = TypeVar("R")

ENTRIES_OF_A_VISIT = 10
"""How many fits of own ladders one visit keeps, of each kind; they go with the visit."""

BY_ID: dict[str | type[Any], Callable[[Any], Any]] = {Snapshot: lambda snapshot: snapshot.id}
BY_ID[SnapshotWithOwn] = BY_ID[Snapshot]


def shared_cache(
    *, max_entries: int, show_spinner: str | bool, **options: Any
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorator that keeps what a function gives for all visitors, and for data addresses.

    Parameters
    ----------
    max_entries
        How many results are kept.
    show_spinner
        What a page shows meanwhile.
    **options
        As `st.cache_resource` takes them.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        # Streamlit keeps results by the function, so both share them; without a page the one that
        # shows something there would log a warning.
        own: dict[str, Any] = {"max_entries": max_entries, "hash_funcs": BY_ID} | options
        on_page = st.cache_resource(show_spinner=show_spinner, **own)(function)
        elsewhere = st.cache_resource(show_spinner=False, **own)(function)

        @wraps(function)
        def call(*arguments: P.args, **named: P.kwargs) -> R:
            with_page = get_script_run_ctx(suppress_warning=True) is not None
            return (on_page if with_page else elsewhere)(*arguments, **named)

        return call

    return decorate


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
        shared = shared_cache(max_entries=max_entries, show_spinner=show_spinner)(function)
        options: dict[str, Any] = {"show_spinner": show_spinner, "hash_funcs": BY_ID}
        own = st.cache_resource(max_entries=ENTRIES_OF_A_VISIT, scope="session", **options)(
            function
        )

        @wraps(function)
        def call(snapshot: Snapshot, view: V) -> R:
            part = snapshot.part(view.ladder)
            return own(part, view) if isinstance(part, SnapshotWithOwn) else shared(part, view)

        return call

    return decorate
