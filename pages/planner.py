"""What to train with a budget: controls -> plan -> chart -> tables -> download."""

from functools import partial

import streamlit as st

from delphi_core.web import messages
from delphi_core.web import planner_tabs as tabs
from delphi_core.web import planner_view as views
from delphi_core.web import planner_words as words
from delphi_core.web.look import control_row
from delphi_core.web.opening import opened
from delphi_core.web.planner_fits import shown
from delphi_core.web.scaling_words import percent
from delphi_core.web.view_state import LONGEST_WORDS

with messages.errors_in_words():
    snapshot, view, headline = opened(views.PlannerView)
    choice = partial(st.segmented_control, required=True)
    typed = partial(st.text_input, max_chars=30, width=130)
    with control_row("first"):
        st.text_input(
            "Budgets (FLOP)",
            key="flops",
            placeholder="1e22, 1e23",
            max_chars=LONGEST_WORDS,
            width=220,
        )
        typed("Chips", key="chips", placeholder="none")
        typed("FLOP/s of a chip", key="chip_flops", placeholder="9e14")
        typed("Utilisation", key="utilisation", placeholder="0.4")
        typed("Days", key="days", placeholder="30")
    with control_row("second"):
        ladders, metrics = views.planner_ladders(snapshot), views.planner_metrics
        st.selectbox("Ladder", ladders, key="ladder", format_func=snapshot.title)
        st.selectbox("Metric", metrics(snapshot, view.ladder), key="metric")
        choice("Optima by", views.CURVES, key="method")
        choice("Level", views.LEVELS, key="level", format_func=percent)
        no_recipe = view.ladder != views.RECIPE_LADDER
        typed("Width", key="hidden", placeholder="nearest", disabled=no_recipe)
        choice("Valley against", views.VALLEY_X, key="x", format_func=words.X_TITLES.get)
    for mistake in view.mistakes:
        st.warning(messages.plain(mistake[:1].upper() + mistake[1:]))

    found = shown(snapshot, view)

    headline.title(words.headline(found))
    choice("Show", views.TABS, key="tab", format_func=words.TAB_TITLES.get)
    tabs.SHOWN[view.tab](snapshot, view, found)
    st.caption(words.caption(snapshot, view, found))
