"""The view a page shows and the URL it shows it under, kept the same.

Widgets have the URL parameters' names as keys. Before they are made, the view is read from
whichever changed last, the URL or a widget, and the other is set to it. So the URL always opens
exactly what is on screen, whichever options or defaults hang on another choice, and the browser's
Back and Forward walk through the views. Streamlit's own `bind="query-params"` does
neither: it leaves a value in the URL that a changed default has made wrong, and Back loses it.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeVar

import streamlit as st

from delphi_core.web.messages import plain
from delphi_core.web.view_state import ZOOM, in_query

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from streamlit.navigation.page import StreamlitPage

    from delphi_core.snapshot import Snapshot
    from delphi_core.web.view_state import ViewState

    View = TypeVar("View", bound=ViewState)

# Names in the session that no widget has.
_PAGE = "page shown"
_VIEW = "view shown"
_LEFT = "queries of the views left on pages"


def menu(pages: Sequence[StreamlitPage]) -> StreamlitPage:
    """Links to all pages, and the page to run.

    The link to a page opens the view that was left there. Streamlit's own menu has links without
    views; setting the address afterwards adds a step to the history that holds one page's
    parameters and another page's path.
    """
    page = st.navigation(list(pages), position="hidden")
    st.session_state[_PAGE] = page.url_path
    left = st.session_state.setdefault(_LEFT, {})
    if st.context.is_embedded:
        return page
    with st.container(horizontal=True, vertical_alignment="center"):
        for other in pages:
            if other is page:
                # A link to it would change its view but not its address.
                st.markdown(f"**{plain(other.title)}**", width="content")
            else:
                st.page_link(other, query_params=left.get(other.url_path, {}))
    return page


def shown_view(kind: type[View], snapshot: Snapshot) -> View:
    """The view to show now; call it before the page makes the widgets it names.

    Shows a notice for each part of the opened link that is not to be had, until a widget is used.

    Parameters
    ----------
    kind
        The page's view state.
    snapshot
        Where its options come from.

    Returns
    -------
    View
        Valid, and what the page's widgets are set to.

    Raises
    ------
    DataError
        The snapshot holds nothing that the page could show.
    """
    state = st.session_state.setdefault(_VIEW, {})
    names = list(kind.__dataclass_fields__)
    query = {name: st.query_params.get_all(name) for name in names if name in st.query_params}
    page = st.session_state.get(_PAGE)
    if not state or page != state["page"] or query != state["query"]:
        # A link, or a step back or forward. It stays in the address as it came: what is not to
        # be had in it would otherwise make one step back lead here again.
        view, state["notices"] = kind.read(query, snapshot)
        state["page"], state["query"] = page, query
    else:
        used = _used(state["view"])
        if used and ZOOM not in used:
            # What was zoomed to is a part of the chart that was shown, and of no other.
            query.pop(ZOOM, None)
        view, _ = kind.read({**query, **used}, snapshot)
        if used:
            state["notices"] = []
            state["query"] = view.to_query(snapshot)
            _write(state["query"], names)
    st.session_state.setdefault(_LEFT, {})[page] = state["query"]
    state["view"] = asdict(view)
    for name, value in state["view"].items():
        st.session_state[name] = list(value) if isinstance(value, tuple) else value
    for notice in state["notices"]:
        st.warning(plain(notice))
    return view


def forget(name: str, values: Collection[str]) -> None:
    """Drop a parameter from the views that were left, where its value is one that is gone.

    Parameters
    ----------
    name
        The parameter.
    values
        What it can no longer be.
    """
    for page, query in st.session_state.get(_LEFT, {}).items():
        if set(query.get(name, ())) & set(values):
            st.session_state[_LEFT][page] = {}
    if set(st.query_params.get_all(name)) & set(values):
        del st.query_params[name]


def _used(view: dict[str, Any]) -> dict[str, list[str]]:
    """Widgets whose value is no longer the view's, as a query would hold them."""
    values = {name: st.session_state[name] for name in view if name in st.session_state}
    return {
        name: in_query(value)
        for name, value in values.items()
        if value is not None and in_query(value) != in_query(view[name])
    }


def _write(query: dict[str, list[str]], names: list[str]) -> None:
    """Set a page's parameters and leave others as they are, in one step of the history."""
    others = {name: st.query_params.get_all(name) for name in st.query_params if name not in names}
    st.query_params.from_dict({**others, **query})
