"""Trajectories of large runs: controls -> forecast -> chart -> tables -> download."""

from functools import partial

import streamlit as st

from delphi_core.trajectories import target_metrics, target_named, targets
from delphi_core.web import messages
from delphi_core.web import trajectory_tabs as tabs
from delphi_core.web import trajectory_view as views
from delphi_core.web import trajectory_words as words
from delphi_core.web.look import control_row
from delphi_core.web.opening import opened
from delphi_core.web.trajectory_fits import shown

with messages.errors_in_words():
    snapshot, view, headline = opened(views.TrajectoryView)
    target = target_named(snapshot, view.target)
    choice = partial(st.segmented_control, required=True)
    with control_row("first"):
        choice("Target", list(targets(snapshot)), key="target")
        st.selectbox("Metric", target_metrics(snapshot, target), key="metric")
        st.selectbox(
            "Forecast by", views.FORECAST_METHODS, key="method", format_func=views.method_words
        )
        st.text_input("E", key="asymptote", placeholder="default", max_chars=30, width=110)
    with control_row("second"):
        choice("Level", views.LEVELS, key="level", format_func=words.percent)
        choice("X axis", views.TRAJECTORY_X, key="x")
        choice("From", views.STARTS, key="start", format_func=words.percent)
        choice("To", views.ENDS, key="end", format_func=words.percent)
        st.toggle("Rungs", key="rungs")
        st.toggle("All events", key="events")
        if subsets := views.offered_subsets(snapshot, target, view.metric):
            st.multiselect("Macro loss without", subsets, key="without", placeholder="none")
    for mistake in view.mistakes:
        st.warning(messages.plain(mistake))

    found = shown(snapshot, view.choice)

    headline.title(words.headline(found))
    choice("Show", views.TABS, key="tab", format_func=words.TAB_TITLES.get)
    tabs.SHOWN[view.tab](snapshot, view, found)
    st.caption(words.caption(snapshot, view, found))
