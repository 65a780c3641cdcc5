"""What pages say to visitors: notices about the data, never a traceback."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

import streamlit as st

from delphi_core.errors import DelphiError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from delphi_core.snapshot_keeper import Kept

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")


def plain(text: str) -> str:
    """Text that Streamlit's Markdown shows as it is: links and names may hold anything."""
    return _PUNCTUATION.sub(r"\\\1", " ".join(text.split()))


def snapshot_notice(kept: Kept) -> None:
    """Say that the figures shown are not what the operator named, or not the newest, and why."""
    if not kept.problem:
        return
    since = "" if kept.since is None else f" since {kept.since:%Y-%m-%d %H:%M} UTC"
    instead = "the bundled figures are" if kept.origin == "bundled" else "the last good ones are"
    st.warning(
        f"The figures this server was told to show cannot be had{since}; {instead} shown instead. "
        f"{plain(kept.problem)}"
    )


@contextmanager
def errors_in_words() -> Iterator[None]:
    """Show what is wrong with the data as one message, and end the page there."""
    try:
        yield
    except DelphiError as error:
        st.error("  \n".join(plain(line) for line in str(error).splitlines()))
        st.stop()
