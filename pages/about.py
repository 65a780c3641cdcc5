"""About: methods with formulas, conventions, sources, licence, how to cite."""

import pandas as pd
import streamlit as st

import delphi_core as dc
from delphi_core.citation import Citation
from delphi_core.web import messages
from delphi_core.web.about_view import AboutView
from delphi_core.web.about_words import CONVENTIONS, HEADING, LICENCE, METHODS
from delphi_core.web.code_block import show_code
from delphi_core.web.opening import opened

with messages.errors_in_words():
    snapshot, _, headline = opened(AboutView)
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
    cited = Citation(
        title="Scaling ladders of the Marin project",
        link=st.context.url or "",
        snapshot=snapshot.id,
        made=snapshot.created_at,
        version=dc.__version__,
    )
    show_code(cited.text)
    show_code(cited.bibtex)
