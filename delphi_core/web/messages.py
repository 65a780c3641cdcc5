"""What pages say to visitors: notices about the data, never a traceback."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

import streamlit as st

from delphi_core.errors import DelphiError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from delphi_core.web.loading import LoadedSnapshot

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")


def plain(text: str) -> str:
    """Text that Streamlit's Markdown shows as it is: links and names may hold anything."""
    return _PUNCTUATION.sub(r"\\\1", " ".join(text.split()))


def snapshot_notice(loaded: LoadedSnapshot) -> None:
    """Say that the figures shown are not the ones the operator named, and why."""
    if loaded.refused:
        st.warning(
            "The snapshot this server was told to show was refused; the bundled one is shown "
            f"instead. {plain(loaded.refused)}"
        )


@contextmanager
def errors_in_words() -> Iterator[None]:
    """Show what is wrong with the data as one message, and end the page there."""
    try:
        yield
    except DelphiError as error:
        st.error("  \n".join(plain(line) for line in str(error).splitlines()))
        st.stop()
