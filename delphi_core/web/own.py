"""A visitor's own ladder: taken from a file, kept in their session only, gone with it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from delphi_core.errors import DataError
from delphi_core.own_ladders import LARGEST_MB, parse_own_ladders, template_csv, with_own_ladders
from delphi_core.own_records import MOST_ROWS
from delphi_core.web import page_url
from delphi_core.web.isoflop_view import isoflop_ladders, isoflop_metrics, only_published
from delphi_core.web.messages import plain
from delphi_core.words import AMOUNTS

if TYPE_CHECKING:
    from delphi_core.own_ladders import OwnLadders, SnapshotWithOwn
    from delphi_core.snapshot import Snapshot

# Names in the session that no widget has.
_OWN = "own ladders"
_BESIDE = "own ladders beside a snapshot"
_REFUSED = "why a file was refused"
_FILE, _SIZE = "own_csv", "own_size"

WHAT = (
    f"A CSV file in UTF-8, separated by commas, of at most {LARGEST_MB} MB and {MOST_ROWS:,} rows: "
    "one row for each run and metric, with the columns tokens, metric, value, flops (FLOP), params "
    "and label. Several labels make several ladders. Also used where they are there: run, role, "
    "excluded_reason, status, progress, budget (FLOP), hidden_dim, layers, batch_size and url. "
    "The file is used in this visit only, on this page, IsoFLOP, Scaling law and Planner: nobody "
    "else sees it, and it is gone when you close the page or remove it."
)


def with_own(snapshot: Snapshot) -> Snapshot:
    """The snapshot with the visitor's own ladders, the same one as long as both are the same."""
    own: OwnLadders | None = st.session_state.get(_OWN)
    if own is None:
        return snapshot
    beside: SnapshotWithOwn | None = st.session_state.get(_BESIDE)
    if beside is None or beside.shared is not snapshot or beside.own is not own:
        beside = with_own_ladders(snapshot, own)
        st.session_state[_BESIDE] = beside
    return beside


def own_ladder(snapshot: Snapshot) -> None:
    """Where a visitor gives a file, or sees what was taken from it and removes it.

    Parameters
    ----------
    snapshot
        Whose first ladder is the template.
    """
    own: OwnLadders | None = st.session_state.get(_OWN)
    if own is None:
        _ask(snapshot)
    else:
        _tell(own)


def _ask(snapshot: Snapshot) -> None:
    st.markdown(plain(WHAT))
    st.segmented_control(
        "The column params holds",
        ["params", "active_params"],
        key=_SIZE,
        default="params",
        format_func=AMOUNTS.__getitem__,
        required=True,
    )
    file = st.file_uploader(
        "Your own ladder (CSV)", "csv", key=_FILE, on_change=_take, max_upload_size=LARGEST_MB
    )
    refused = st.session_state.get(_REFUSED)
    if file is not None and refused:
        st.error("  \n".join(plain(line) for line in refused))
    if template := _template(snapshot):
        ladder, metric = template
        content = partial(template_csv, snapshot.records(ladder, metric))
        st.download_button(
            "Template", content, "template.csv", "text/csv", key="template_csv", on_click="ignore"
        )
        st.markdown(
            plain(f"The template holds runs of {snapshot.title(ladder)}; it can be used as it is.")
        )


def _tell(own: OwnLadders) -> None:
    with st.container(border=True, key="own_taken"):
        st.markdown("\n".join(f"- {plain(sentence)}" for sentence in own.sentences))
        st.markdown("Used in this visit only. Nobody else sees it.")
        with st.container(horizontal=True, vertical_alignment="center"):
            for page, title in (("isoflop", "IsoFLOP"), ("scaling", "Scaling law")):
                query = {"ladder": own.fitted[0]}
                st.page_link(f"pages/{page}.py", label=f"See it on {title}", query_params=query)
            st.button("Remove", key="own_remove", on_click=_remove)


def _take() -> None:
    """Take the file that was given, or note why not. A file is read once, not at every rerun."""
    st.session_state[_REFUSED] = ()
    file = st.session_state[_FILE]
    if file is None:
        return
    try:
        size = st.session_state[_SIZE]
        st.session_state[_OWN] = parse_own_ladders(file.getvalue(), file.name, size)
    except DataError as error:
        st.session_state[_REFUSED] = str(error).splitlines()


def _remove() -> None:
    own: OwnLadders = st.session_state.pop(_OWN)
    st.session_state.pop(_BESIDE, None)
    page_url.forget("ladder", own.ladders)


def _template(snapshot: Snapshot) -> tuple[str, str] | None:
    """Ladder and metric of the first sweep that the snapshot has runs of."""
    for ladder in isoflop_ladders(snapshot):
        for metric in isoflop_metrics(snapshot, ladder):
            if not only_published(snapshot, ladder, metric):
                return ladder, metric
    return None
