"""IsoFLOP curves of a ladder: controls -> fit -> chart -> table -> download."""

from functools import partial

import streamlit as st

from delphi_core.web import isoflop_tables as tables
from delphi_core.web import isoflop_view as views
from delphi_core.web import isoflop_words as words
from delphi_core.web import messages, share
from delphi_core.web.charts import show_chart
from delphi_core.web.code_block import show_code
from delphi_core.web.loading import fitted, isoflop_chart
from delphi_core.web.look import control_row
from delphi_core.web.opening import opened
from delphi_core.words import AMOUNTS

with messages.errors_in_words():
    snapshot, view, headline = opened(views.IsoflopView)
    ladder = snapshot.ladder(view.ladder)
    size = ladder.params_column
    with control_row("first"):
        st.selectbox(
            "Ladder", views.isoflop_ladders(snapshot), key="ladder", format_func=snapshot.title
        )
        st.selectbox("Metric", views.isoflop_metrics(snapshot, view.ladder), key="metric")
        # Curves that are only published cannot be fitted any other way.
        given = views.only_published(snapshot, view.ladder, view.metric)
        axes = views.isoflop_axes(snapshot, view.ladder, view.metric)
        methods = views.isoflop_methods(snapshot, view.ladder, view.metric)
        choice = partial(st.segmented_control, required=True, disabled=given)
        choice("Value against", axes, key="x", format_func=AMOUNTS.get)
        choice("Method", methods, key="method")
    with control_row("second"):
        budgets = view.offered_budgets(snapshot)
        st.multiselect("Budgets (FLOP)", budgets, key="budgets", disabled=given)
        st.segmented_control("Value axis", views.SCALES, key="y", required=True)
        st.toggle("Fit excluded runs", key="excluded", disabled=given)

    isoflop = fitted(snapshot, view.whole)
    published = views.published_shown(snapshot, view)

    headline.title(words.headline(ladder, isoflop, published))
    chart, table, download = st.tabs(views.TABS, key="tab", on_change="rerun")
    with chart:
        figure, alt = isoflop_chart(snapshot, view.whole)
        options = {"on_select": "rerun", "selection_mode": "points", "key": "isoflop_chart"}
        event = show_chart(figure, snapshot, view, alt=alt, zoom=True, **options)
        if not view.budgets and published is None:
            st.info("No budget is chosen, so nothing is fitted. Choose one above.")
        tables.clicked_run(isoflop.points, event)
        tables.flags(isoflop)
    with table:
        if published is None:
            tables.optima(isoflop, size)
        else:
            tables.published_optima(published)
        tables.left_out(isoflop)
    with download:
        share.download_buttons(snapshot, view)
        st.markdown("CSV at full precision.")
        if published is None:
            st.markdown("The points fitted again give the same coefficients, bit by bit:")
            show_code(words.refit_code(view))
        share.address_lines(snapshot, view)
    st.caption(words.caption(snapshot, ladder, isoflop, published))
