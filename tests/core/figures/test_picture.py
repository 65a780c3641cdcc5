"""What stands above a chart in a picture of it, and how large the picture is."""

import plotly.graph_objects as go
import pytest

from delphi_core.figures.picture import CARD_WIDTH, HEIGHT, WIDTH, Heading, picture_layout

FINDING = "Delphi: loss 2.376 forecast at 1e23 FLOP, 2.355 measured"
SOURCE = "Optima by cubic, law by squares. Snapshot of 2026-11-30."


def figure(height=None):
    return go.Figure(go.Scatter(y=[1, 2]), layout={"height": height})


def test_the_finding_and_its_source_stand_above():
    title = Heading(FINDING, SOURCE).title(630)
    assert title["text"] == f"<b>{FINDING}</b>"
    assert title["subtitle"]["text"] == SOURCE
    assert 0 < title["y"] <= 1


def test_hostile_words_are_text():
    title = Heading("<img src=x>", "a & b <script>").title(630)
    assert title["text"] == "<b>&lt;img src=x&gt;</b>"
    assert title["subtitle"]["text"] == "a &amp; b &lt;script&gt;"


def test_long_words_take_two_lines_and_the_room_for_them():
    short, long = Heading("word", "word"), Heading("word " * 100, "word " * 100)
    title = long.title(630)
    assert title["text"].count("<br>") == title["subtitle"]["text"].count("<br>") == 1
    assert title["text"].endswith("...</b>")
    assert long.height > short.height
    assert Heading("word", "word", scale=0.5).height == short.height / 2


@pytest.mark.parametrize(
    ("height", "charts"), [(None, HEIGHT), (460, 460), (660, HEIGHT), (1400, 1400)]
)
def test_a_picture_has_the_shape_of_a_slide_unless_it_holds_many_charts(height, charts):
    layout = picture_layout(figure(height), FINDING, SOURCE)
    above = Heading(FINDING, SOURCE, WIDTH / CARD_WIDTH).height
    assert layout["width"] == WIDTH
    assert layout["height"] == charts + above
    assert layout["margin"]["t"] == above
    # Plotly takes it as it is.
    go.Figure(figure(height)).update_layout(layout)
