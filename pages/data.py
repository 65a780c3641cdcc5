"""Every table of the snapshot: controls -> rows -> table -> download."""

import streamlit as st

from delphi_core.browse import filtered
from delphi_core.tables import TABLES
from delphi_core.web import data_table as tables
from delphi_core.web import data_view as views
from delphi_core.web import data_words as words
from delphi_core.web import messages, share
from delphi_core.web.code_block import show_code
from delphi_core.web.look import control_row
from delphi_core.web.opening import opened
from delphi_core.web.own import own_ladder
from delphi_core.web.view_state import LONGEST_WORDS

with messages.errors_in_words():
    snapshot, view, headline = opened(views.DataView)
    with control_row("first"):
        st.selectbox("Table", list(TABLES), key="table", format_func=words.table_name)
        for name in views.data_filters(view.table):
            options = ["", *view.options(snapshot, name)]
            st.selectbox(words.FILTERS[name], options, key=name, format_func=words.filter_name)
    with control_row("second"):
        hint = "in any text column"
        st.text_input("Text", key="text", placeholder=hint, max_chars=LONGEST_WORDS)
        orders = ["", *views.sort_options(view.table)]
        st.selectbox("Sort by", orders, key="sort", format_func=words.sort_name)

    table = TABLES[view.table]
    everything = snapshot.tables[view.table]
    rows = filtered(everything, **view.filters)

    headline.title(words.headline(table, len(rows), len(everything)))
    shown, columns, download, own = st.tabs(views.TABS, key="tab", on_change="rerun")
    with shown:
        if len(rows):
            addresses = snapshot.tables["sources"].set_index("source")["url"]
            tables.rows_table(table, rows, addresses)
        else:
            st.info(words.nothing(view))
    with columns:
        tables.columns_table(table)
    with download:
        share.download_buttons(snapshot, view)
        st.markdown("CSV at full precision, FLOPs as they are. The same rows in a notebook:")
        show_code(words.notebook_code(view, snapshot))
        share.address_lines(snapshot, view)
    with own:
        own_ladder(snapshot)
    st.caption(words.caption(snapshot, table))
