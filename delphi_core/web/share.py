"""What a visitor takes away of a view: its files, its link, its data addresses, how to cite it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from delphi_core.own_ladders import SnapshotWithOwn
from delphi_core.spreadsheet import spreadsheet_csv
from delphi_core.web.addresses import (
    base_address,
    curl_line,
    data_address,
    embed_code,
    pandas_line,
    r_line,
)
from delphi_core.web.code_block import show_code
from delphi_core.web.data_answer import citation
from delphi_core.web.data_request import data_query
from delphi_core.web.headings import plain_heading
from delphi_core.web.page_index import page_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from delphi_core.snapshot import Snapshot
    from delphi_core.web.page_index import Page
    from delphi_core.web.view_state import ViewState

OWN = "Your own ladder is in this visit only: no link, address or embedded view holds it."


def share_popover(snapshot: Snapshot, view: ViewState, heading: str) -> None:
    """How to link to a view, embed it, read its tables and cite it.

    Parameters
    ----------
    snapshot
        What is shown, with the visitor's own ladder where there is one.
    view
        What is shown; a page that is not in the index has nothing to share.
    heading
        What the page is headed by, as Streamlit's Markdown takes it.
    """
    page = page_of(view)
    if page is None:
        return
    with st.popover("Share", key="share"):
        if _is_own(snapshot, view):
            st.markdown(OWN)
            return
        shared = snapshot.shared if isinstance(snapshot, SnapshotWithOwn) else snapshot
        cited = citation(shared, page, view, _base(page), plain_heading(heading))
        _copied("Link", {"share_link": cited.link})
        if page.chart is not None:
            _copied("Embed", {"share_embed": embed_code(cited.link, cited.title)})
        addresses = _addresses(shared, page, view)
        tables = {f"share_{name}": address for name, address in addresses.items()}
        if tables:
            _copied("Tables (CSV; .json and .metadata.json as well)", tables)
        _copied("Cite", {"share_text": cited.text, "share_bibtex": cited.bibtex})


def show_citation(snapshot: Snapshot, view: ViewState, title: str) -> None:
    """How to cite what is shown, as a sentence and as BibTeX, under a title."""
    page = page_of(view)
    if page is not None:
        cited = citation(snapshot, page, view, _base(page), title)
        show_code(cited.text)
        show_code(cited.bibtex)


def download_buttons(snapshot: Snapshot, view: ViewState) -> None:
    """A button for each table of a view."""
    page = page_of(view)
    if page is None:
        return
    with st.container(horizontal=True):
        for name, make in _makers(snapshot, page, view).items():
            title, key = ("Rows", "rows") if page.holds_snapshot else (name.capitalize(), name)
            st.download_button(
                title,
                partial(_csv, make),
                f"{page.file_name(view, name)}.csv",
                mime="text/csv",
                key=f"{key}_csv",
                on_click="ignore",
            )


def address_lines(snapshot: Snapshot, view: ViewState) -> None:
    """Lines to paste that read a view's tables: for Python, R and a shell."""
    page = page_of(view)
    if page is None:
        return
    if _is_own(snapshot, view):
        st.markdown(OWN)
        return
    shared = snapshot.shared if isinstance(snapshot, SnapshotWithOwn) else snapshot
    addresses = _addresses(shared, page, view)
    if not addresses:
        return
    st.markdown("The same tables by their addresses, in Python, in R and in a shell:")
    lines = [pandas_line(address, name) for name, address in addresses.items()]
    show_code("\n".join(["import pandas as pd", *lines]), "lines_pandas")
    show_code("\n".join(r_line(address, name) for name, address in addresses.items()), "lines_r")
    lines = [
        curl_line(address, f"{page.file_name(view, name)}.csv")
        for name, address in addresses.items()
    ]
    show_code("\n".join(lines), "lines_curl")


def _makers(
    snapshot: Snapshot, page: Page, view: ViewState
) -> dict[str, Callable[[], pd.DataFrame]]:
    """What makes each table of a view that is to be had."""
    makers = page.tables(snapshot, view)
    return {name: makers[name] for name in page.shown_names(view) if name in makers}


def _addresses(snapshot: Snapshot, page: Page, view: ViewState) -> dict[str, str]:
    """Data address of each table of a view that is to be had."""
    base, query = _base(page), data_query(view, snapshot)
    return {
        name: data_address(base, f"{page.prefix}{name}", query, "csv")
        for name in _makers(snapshot, page, view)
    }


def _base(page: Page) -> str:
    """What addresses begin with: as the operator says, or as this visit reached the server."""
    return base_address((st.context.url or "").rstrip("/").removesuffix(page.path))


def _is_own(snapshot: Snapshot, view: ViewState) -> bool:
    """Whether a view shows rows of the visitor's own ladder."""
    if not isinstance(snapshot, SnapshotWithOwn):
        return False
    return getattr(view, "ladder", "") in ("", *snapshot.own.ladders)


def _copied(title: str, texts: dict[str, str]) -> None:
    """Texts that can be copied, under a title."""
    st.markdown(f"**{title}**")
    for key, text in texts.items():
        show_code(text, key)


def _csv(make: Callable[[], pd.DataFrame]) -> str:
    return spreadsheet_csv(make())
