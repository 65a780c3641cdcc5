"""What pages were headed by: link previews say the same, once a page has been shown."""

from __future__ import annotations

import re
from collections import OrderedDict
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

from delphi_core.web.view_state import ZOOM

if TYPE_CHECKING:
    from delphi_core.web.view_state import ViewState

MOST = 2000
"""Headings kept; the one that was asked for longest ago goes first."""
NOT_OF_HEADING = ("tab", ZOOM)
"""Fields of views that no heading hangs on."""
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")

_kept: OrderedDict[tuple[str, ViewState], str] = OrderedDict()
_lock = Lock()


def remember_heading(snapshot_id: str, view: ViewState, heading: str) -> None:
    """Note the heading of a view.

    Parameters
    ----------
    snapshot_id
        Of the figures.
    view
        What is shown; its type is the page's.
    heading
        As Streamlit's Markdown takes it.
    """
    key = (snapshot_id, _headed(view))
    with _lock:
        _kept[key] = plain_heading(heading)
        _kept.move_to_end(key)
        while len(_kept) > MOST:
            _kept.popitem(last=False)


def plain_heading(heading: str) -> str:
    """A heading as plain text, of what Streamlit's Markdown takes."""
    return _ESCAPED.sub(r"\1", heading)


def heading_of(snapshot_id: str, view: ViewState) -> str | None:
    """The heading of a view as plain text; None where nobody has seen it yet."""
    key = (snapshot_id, _headed(view))
    with _lock:
        if key not in _kept:
            return None
        _kept.move_to_end(key)
        return _kept[key]


def _headed(view: ViewState) -> ViewState:
    """A view as far as its heading hangs on it."""
    without = [name for name in NOT_OF_HEADING if name in view.__dataclass_fields__]
    return replace(view, **dict.fromkeys(without, ""))
