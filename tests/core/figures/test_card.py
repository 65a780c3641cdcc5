"""The card figure, as data; tests/browser looks at it as a picture."""

import plotly.graph_objects as go
from hypothesis import given
from hypothesis import strategies as st

import delphi_core as dc
from delphi_core.figures.card import card_figure
from delphi_core.figures.isoflop import isoflop_figure
from delphi_core.figures.picture import FINDING_LETTERS, SOURCE_LETTERS

MACRO = "eval/paloma/macro_loss"


def test_the_chart_is_the_same_and_the_original_untouched(snapshot):
    fit = dc.fit_isoflops(snapshot.records("delphi", MACRO))
    figure = isoflop_figure(fit, value_title="loss")
    before = figure.to_json()
    card = card_figure(figure, title="A finding", source="How it was got.")
    assert figure.to_json() == before
    assert go.Figure(card.data).to_json() == go.Figure(figure.data).to_json()
    assert (card.layout.width, card.layout.height) == (1200, 630)
    assert card.layout.paper_bgcolor == "#ffffff"
    assert card.layout.xaxis.range == figure.layout.xaxis.range
    assert "A finding" in card.layout.title.text
    assert card.layout.title.subtitle.text == "How it was got."


@given(st.text(max_size=2000), st.text(max_size=2000))
def test_any_title_stays_text_and_takes_two_lines_at_most(title, source):
    card = card_figure(go.Figure(), title=title, source=source)
    lines = [line for line in (card.layout.title.text or "").split("<br>") if line]
    assert len(lines) <= 2
    bare = "".join(lines).replace("<b>", "").replace("</b>", "")
    assert not set(bare) & set("<>")
    assert len(lines) < 2 or len(bare) <= 6 * 2 * FINDING_LETTERS
    below = (card.layout.title.subtitle.text or "").split("<br>")
    assert len(below) <= 2
    assert not set("".join(below)) & set("<>")
    assert len("".join(below)) <= 6 * 2 * SOURCE_LETTERS


def test_titles_of_low_panels_are_folded():
    long = "Worse than the best (standard errors)"
    figure = go.Figure(layout={"yaxis": {"title": {"text": long}, "domain": [0.6, 1.0]}})
    figure.add_scatter(y=[1, 2], name="law")
    card = card_figure(figure, title="x", source="y")
    assert "<br>" in card.layout.yaxis.title.text
    assert card.layout.yaxis.title.text.replace("<br>", " ") == long


def test_a_long_legend_gets_the_room_it_needs():
    def room(traces):
        figure = go.Figure([go.Scatter(y=[1], name="a run of some name") for _ in range(traces)])
        return card_figure(figure, title="x", source="y").layout.margin.b

    assert room(2) < room(12) < room(24)
