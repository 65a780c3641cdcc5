"""What every page looks like beyond what Streamlit's settings reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

_STYLE = """<style>
/* Chosen options of a list are white on the theme's own colour, which has too little contrast on
   dark, and is loud where all of them are chosen. */
[data-testid="stMultiSelect"] [data-tag] {
  background-color: rgba(128, 128, 128, 0.22);
  color: inherit;
}
[data-testid="stMultiSelect"] [data-tag] * { color: inherit; }
/* Streamlit shows captions, and the links in them, in three fifths of their colour. */
[data-testid="stCaptionContainer"] { opacity: 0.85; }
/* The button that copies a text shows only under a mouse, which a keyboard has none of. */
[data-testid="stCode"] button { visibility: visible; }
/* A chart is what a page is for: less room above it, and no line of a title with one word. */
[data-testid="stMainBlockContainer"] { padding-top: 3.5rem; }
[data-testid="stMainBlockContainer"] h1 { text-wrap: pretty; }
/* On a phone the controls would fill the screen before the chart: a row of them is swiped. */
@media (max-width: 640px) {
  [data-testid="stMainBlockContainer"] h1 { font-size: 1.5rem; }
  [class*="st-key-controls_"] {
    flex-wrap: nowrap;
    overflow-x: auto;
    padding: 2px 2px 0.5rem;
    scrollbar-width: thin;
  }
  [class*="st-key-controls_"] > * { flex: none; }
  [class*="st-key-controls_"] > :has([role="combobox"]) { width: 12rem; }
}
</style>"""


def apply_look() -> None:
    """Give the page its look."""
    st.html(_STYLE)


def control_row(name: str) -> DeltaGenerator:
    """A row for a page's controls.

    Parameters
    ----------
    name
        Of the row, one of its own on each page.
    """
    return st.container(horizontal=True, vertical_alignment="bottom", key=f"controls_{name}")
