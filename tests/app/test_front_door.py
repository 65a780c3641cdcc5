"""What stands around the pages: answers on the first one, About, and views in a frame."""

import json
from dataclasses import replace

import pytest
import streamlit as st
from streamlit.runtime.context import ContextProxy

from delphi_core import snapshot_keeper
from delphi_core.citation import Citation
from delphi_core.web import footer, loading
from delphi_core.web.embedded import HEIGHT


def links(page):
    """Labels of the links to other pages."""
    return [link.proto.label.replace("\\", "") for link in page.get("page_link")]


def test_three_answers_stand_above_the_first_page_and_no_other(open_page, snapshot):
    page = open_page()
    answers = links(page)[-3:]
    assert answers[0].startswith("Delphi (AdamH): loss 2.376 forecast at 1 × 10²³ FLOP, 2.355")
    assert answers[1].startswith("hero-535b-a23b at 35.4 %: measured")
    assert answers[2] == f"Figures of {snapshot.created_at[:10]}"
    page.switch_page("pages/data.py").run()
    assert not [label for label in links(page) if "measured" in label]


def test_about_states_methods_sources_and_how_to_cite(open_page, snapshot):
    page = open_page().switch_page("pages/about.py").run()
    assert not page.exception
    text = " ".join(part.value for part in page.markdown)
    assert r"L^*(C) = E + A\,C^{-\alpha}" in text
    (sources,) = [table.value for table in page.dataframe]
    assert len(sources) == len(snapshot.tables["sources"])
    assert sources["rows"].notna().all()
    # The first three are of Share: link and citation of the page itself.
    plain, bibtex = (block.value for block in page.code[3:])
    assert snapshot.id in plain
    assert bibtex.startswith("@misc{")
    assert Citation.__name__ not in plain


@pytest.mark.parametrize(
    ("name", "chart"),
    [("isoflop", True), ("scaling", True), ("trajectories", True), ("data", False)],
)
def test_an_embedded_view_is_its_chart_and_one_line(open_page, monkeypatch, name, chart):
    monkeypatch.setattr(ContextProxy, "is_embedded", True)
    page = open_page()
    page.switch_page(f"pages/{name}.py").run()
    assert not page.exception
    assert not page.title
    assert not page.selectbox
    assert not page.get("page_link")
    figures = page.get("plotly_chart")
    if not chart:
        assert "no chart to embed" in page.info[0].value
        return
    (figure,) = figures
    assert json.loads(figure.proto.spec)["layout"]["height"] == HEIGHT
    (line,) = page.caption
    assert "figures of" in line.value
    assert f"/{name}" in line.value or name == "isoflop"


@pytest.mark.parametrize("name", ["isoflop", "about"])
def test_figures_published_meanwhile_draw_a_page_anew_once(open_page, monkeypatch, name):
    page = open_page().switch_page(f"pages/{name}.py").run()
    kept = loading.kept_snapshot()
    newer = replace(kept, snapshot=replace(kept.snapshot, id="b" * 12))
    runs = []
    monkeypatch.setattr(snapshot_keeper.SnapshotKeeper, "kept", newer)
    # Once a run by the front door, and once by the page, which names the browser's tab.
    monkeypatch.setattr(st, "set_page_config", lambda **options: runs.append(set(options)))
    page.run()
    assert not page.exception
    # Figures that are not noted as shown would never be seen to be old, or draw a page anew for as
    # long as it is open.
    assert runs == [{"page_title", "page_icon", "layout"}, {"page_title"}]
    assert page.session_state[footer.SHOWN] == (newer.snapshot.id, newer.problem)
    assert "b" * 12 in page.caption[-1].value
