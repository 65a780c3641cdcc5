"""What every page looks like beyond what Streamlit's settings reach."""

from __future__ import annotations

import streamlit as st

_STYLE = """<style>
/* Chosen options of a list are white on the theme's own colour, which has too little contrast on
   dark, and is loud where all of them are chosen. */
[data-testid="stMultiSelect"] [data-tag] {
  background-color: rgba(128, 128, 128, 0.22);
  color: inherit;
}
[data-testid="stMultiSelect"] [data-tag] * { color: inherit; }
/* The button that copies a text shows only under a mouse, which a keyboard has none of. */
[data-testid="stCode"] button { visibility: visible; }
/* A chart is what a page is for: less room above it. */
[data-testid="stMainBlockContainer"] { padding-top: 3.5rem; }
</style>"""


def apply_look() -> None:
    """Give the page its look."""
    st.html(_STYLE)
