"""Scaling law of a ladder: controls -> laws -> charts -> tables -> download."""

from functools import partial

import streamlit as st

from delphi_core.web import messages
from delphi_core.web import scaling_tabs as tabs
from delphi_core.web import scaling_view as views
from delphi_core.web import scaling_words as words
from delphi_core.web.isoflop_view import isoflop_ladders, isoflop_metrics
from delphi_core.web.look import control_row
from delphi_core.web.opening import opened
from delphi_core.web.scaling_fits import scaling_fitted

with messages.errors_in_words():
    snapshot, view, headline = opened(views.ScalingView)
    ladder = snapshot.ladder(view.ladder)
    given = view.method == views.PUBLISHED
    choice = partial(st.segmented_control, required=True)
    with control_row("first"):
        st.selectbox("Ladder", isoflop_ladders(snapshot), key="ladder", format_func=snapshot.title)
        st.selectbox("Metric", isoflop_metrics(snapshot, view.ladder), key="metric")
        curves = views.scaling_methods(snapshot, view.ladder, view.metric)
        choice("Optima by", curves, key="method", disabled=given)
        choice("Law by", views.LAWS, key="law", format_func=words.LAW_TITLES.get)
    with control_row("second"):
        st.text_input("Target C (FLOP)", key="target", placeholder="none", max_chars=30, width=130)
        st.text_input("Pin E at", key="asymptote", placeholder="free", max_chars=30, width=130)
        st.selectbox("Band by", views.scaling_bands(view.method), key="band", width=220)
        choice("Level", views.LEVELS, key="level", format_func=words.percent)
        computes = views.scaling_computes(view.method)
        choice("C of a budget", computes, key="compute", disabled=len(computes) == 1)
        choice("Loss axis", views.SCALES, key="y")
        st.toggle("Fit excluded runs", key="excluded", disabled=given)
        st.toggle("Published laws", key="published")
    for mistake in view.mistakes:
        st.warning(messages.plain(mistake))

    fitted = scaling_fitted(snapshot, view.fit)

    headline.title(words.headline(ladder, fitted, view.target_flops))
    choice("Show", views.TABS, key="tab", format_func=words.TAB_TITLES.get)
    tabs.SHOWN[view.tab](snapshot, view, fitted)
    st.caption(words.caption(snapshot, ladder, view, fitted))
