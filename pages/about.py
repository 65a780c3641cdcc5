"""About: methods with formulas, conventions, sources, licence, how to cite."""

import pandas as pd
import streamlit as st

from delphi_core.web import messages
from delphi_core.web.about_view import AboutView
from delphi_core.web.about_words import CONVENTIONS, HEADING, LICENCE, METHODS
from delphi_core.web.opening import opened
from delphi_core.web.share import show_citation

with messages.errors_in_words():
    snapshot, view, headline = opened(AboutView)
    headline.title(HEADING)
    st.markdown(
        "Scaling ladders of the [Marin](https://github.com/marin-community/marin) project: its "
        "public forecasts made checkable, with honest bands, also where they fail."
    )

    st.subheader("Methods")
    st.markdown(METHODS)

    st.subheader("Conventions")
    st.markdown(CONVENTIONS)

    st.subheader("Sources")
    counted = pd.concat(
        [table["source"] for table in snapshot.tables.values() if "source" in table]
    ).value_counts()
    sources = snapshot.tables["sources"].assign(rows=lambda rows: rows["source"].map(counted))
    st.dataframe(
        sources,
        key="sources_table",
        hide_index=True,
        column_config={"url": st.column_config.LinkColumn("address", width="large")},
        alt="Sources of the figures, and how many rows come from each",
    )

    st.subheader("Licence")
    st.markdown(LICENCE)

    st.subheader("How to cite")
    show_citation(snapshot, view, "Scaling ladders of the Marin project")
