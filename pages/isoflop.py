"""IsoFLOP curves of a ladder: controls -> fit -> chart -> table -> download."""

from functools import partial

import streamlit as st

from delphi_core import export
from delphi_core.figures.isoflop import isoflop_alt, isoflop_figure
from delphi_core.fits.isoflop import IsoflopFit
from delphi_core.web import isoflop_tables as tables
from delphi_core.web import isoflop_words as words
from delphi_core.web import messages
from delphi_core.web import view_state as views
from delphi_core.web.loading import current_snapshot, fitted
from delphi_core.web.page_url import shown_view
from delphi_core.words import AMOUNTS

with messages.errors_in_words():
    loaded = current_snapshot()
    snapshot = loaded.snapshot
    headline = st.empty()
    messages.snapshot_notice(loaded)
    view = shown_view(views.IsoflopView, snapshot)
    ladder = snapshot.ladder(view.ladder)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Ladder", views.isoflop_ladders(snapshot), key="ladder", format_func=snapshot.title
        )
        st.selectbox("Metric", views.isoflop_metrics(snapshot, view.ladder), key="metric")
        # Curves that are only published cannot be fitted any other way.
        fixed = not views.has_curve(snapshot, view.ladder, view.metric)
        axes = views.isoflop_axes(snapshot, view.ladder, view.metric)
        choice = partial(st.segmented_control, required=True, disabled=fixed)
        choice("Value against", axes, key="x", format_func=AMOUNTS.get)
        choice("Method", views.METHODS, key="method")

    settings = IsoflopFit(method=view.method, x=view.x)
    isoflop = fitted(snapshot, view.ladder, view.metric, settings)
    published = views.published_parabolas(snapshot, view.ladder, view.metric)
    published = None if isoflop.budgets or published.empty else published

    headline.title(words.headline(ladder, isoflop, published))
    chart, table, download = st.tabs(["Chart", "Table", "Download"])
    with chart:
        title = words.value_title(snapshot, view.metric)
        figure = isoflop_figure(
            isoflop, value_title=title, size=ladder.params_column, published=published
        )
        st.plotly_chart(figure, key="isoflop_chart", alt=isoflop_alt(isoflop, published))
        tables.flags(isoflop)
    with table:
        if published is None:
            tables.optima(isoflop, ladder.params_column)
        else:
            tables.published_optima(published)
        tables.left_out(isoflop)
    with download:
        points = partial(export.points_csv, isoflop)
        optima = partial(export.optima_csv, isoflop, published)
        stem = words.file_stem(view)
        csv = {"mime": "text/csv", "on_click": "ignore"}
        with st.container(horizontal=True):
            st.download_button("Points", points, f"{stem}_points.csv", key="points_csv", **csv)
            st.download_button("Optima", optima, f"{stem}_optima.csv", key="optima_csv", **csv)
        st.markdown("CSV at full precision. The points fitted again give the same coefficients:")
        st.code(words.refit_code(view), language="python")
    st.caption(words.caption(snapshot, ladder, isoflop, published))
