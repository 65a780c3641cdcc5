"""The view a page shows and the URL it shows it under, kept the same.

Widgets have the URL parameters' names as keys. Before they are made, the view is read from
whichever changed last, the URL or a widget, and the other is set to it. So the URL always opens
exactly what is on screen, whichever options or defaults hang on another choice, and the browser's
Back and Forward walk through the views. Streamlit's own `bind="query-params"` does
neither: it leaves a value in the URL that a changed default has made wrong, and Back loses it.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, TypeVar

import streamlit as st

from delphi_core.web.messages import plain

if TYPE_CHECKING:
    from delphi_core.snapshot import Snapshot
    from delphi_core.web.view_state import ViewState

    View = TypeVar("View", bound=ViewState)


def shown_view(kind: type[View], snapshot: Snapshot) -> View:
    """The view to show now; call it before the page makes the widgets it names.

    Shows a notice for each part of the opened link that is not to be had, until a widget is used.

    Parameters
    ----------
    kind
        The page's view state.
    snapshot
        Where its options come from.
    """
    state = st.session_state.setdefault(f"{kind.__name__} state", {})
    names = list(kind.__dataclass_fields__)
    query = {name: st.query_params[name] for name in names if name in st.query_params}
    used = {
        name: st.session_state[name]
        for name, value in state.get("view", {}).items()
        if name in st.session_state and st.session_state[name] != value
    }
    if query != state.get("query"):
        # A link, or a step back or forward. It stays in the address as it came: what is not to
        # be had in it would otherwise make one step back lead here again.
        view, state["notices"] = kind.read(query, snapshot)
        state["query"] = query
    else:
        view, _ = kind.read({**query, **used}, snapshot)
        if used:
            state["notices"] = []
            state["query"] = view.to_query(snapshot)
            _write(state["query"], names)
    state["view"] = asdict(view)
    st.session_state.update(state["view"])
    for notice in state["notices"]:
        st.warning(plain(notice))
    return view


def _write(query: dict[str, str], names: list[str]) -> None:
    """Set a page's parameters and leave others as they are, in one step of the history."""
    others = {name: st.query_params.get_all(name) for name in st.query_params if name not in names}
    st.query_params.from_dict({**others, **query})
