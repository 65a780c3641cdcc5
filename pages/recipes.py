"""Recipes compared: controls -> laws against a base -> charts -> tables -> download."""

from functools import partial

import streamlit as st

from delphi_core.fits.law_methods import CURVES
from delphi_core.web import messages
from delphi_core.web import recipes_tabs as tabs
from delphi_core.web import recipes_view as views
from delphi_core.web import recipes_words as words
from delphi_core.web.look import control_row
from delphi_core.web.opening import opened
from delphi_core.web.recipes_fits import recipes_compared, shown_flops

with messages.errors_in_words():
    snapshot, view, headline = opened(views.RecipesView)
    choice = partial(st.segmented_control, required=True)
    with control_row("first"):
        bases = views.offered_bases(snapshot)
        st.selectbox("Base", bases, key="base", format_func=snapshot.title)
        st.multiselect(
            "Recipes",
            views.offered_ladders(snapshot, view.base),
            key="ladders",
            format_func=snapshot.title,
            placeholder="none",
        )
        st.selectbox("Metric", views.offered_metrics(snapshot, view.base), key="metric")
    with control_row("second"):
        choice("Optima by", CURVES, key="method")
        st.text_input(
            "Pin every E at", key="asymptote", placeholder="free", max_chars=30, width=130
        )
        st.text_input("At C (FLOP)", key="flops", placeholder="shared", max_chars=30, width=130)
        ids = list(views.offered_laws(snapshot, view.metric)["id"])
        st.multiselect("Published laws", ids, key="published", placeholder="none")
    for mistake in view.mistakes:
        st.warning(messages.plain(mistake))

    found = recipes_compared(snapshot, view.choice)

    headline.title(words.headline(found, shown_flops(view, found)))
    choice("Show", views.TABS, key="tab", format_func=words.TAB_TITLES.get)
    tabs.SHOWN[view.tab](snapshot, view, found)
    st.caption(words.caption(snapshot, found))
