"""Lines to copy, as every page shows them."""

from __future__ import annotations

import streamlit as st


def show_code(text: str, key: str | None = None) -> None:
    """Show a text that can be copied.

    In no colours: some of them are hard to read, and the part of Streamlit that finds them has
    1.5 MB.

    Parameters
    ----------
    text
        The text.
    key
        Of its place on the page.
    """
    with st.container(key=key):
        st.code(text, language=None, wrap_lines=True)
