"""What a page offers of a snapshot, found once and forgotten with the snapshot.

A cache by arguments would keep the snapshots themselves: old ones, and ladders of visitors who
have left.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from collections.abc import Callable

    from delphi_core.snapshot import Snapshot

P = ParamSpec("P")
R = TypeVar("R")


def per_snapshot(
    function: Callable[Concatenate[Snapshot, P], R],
) -> Callable[Concatenate[Snapshot, P], R]:
    """The function, remembering what it gives for a snapshot as long as that is in use.

    Parameters
    ----------
    function
        Pure; its other arguments are texts, given by place.
    """
    kept: WeakKeyDictionary[Snapshot, dict[tuple[object, ...], R]] = WeakKeyDictionary()

    @wraps(function)
    def call(snapshot: Snapshot, /, *others: P.args, **named: P.kwargs) -> R:
        own = kept.setdefault(snapshot, {})
        key = (*others, *named.items())
        if key not in own:
            own[key] = function(snapshot, *others, **named)
        return own[key]

    return call
