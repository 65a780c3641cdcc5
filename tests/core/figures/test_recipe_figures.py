"""The figures of recipes, as data."""

from itertools import combinations

import numpy as np
import pytest

import delphi_core as dc
from delphi_core.figures import recipe_words
from delphi_core.figures.metric_panel import MetricPanel, metric_panel
from delphi_core.figures.pairs import pairs_figure
from delphi_core.figures.recipes import (
    RECIPE_COLORS,
    RECIPE_SYMBOLS,
    RecipeLine,
    recipe_style,
    recipes_figure,
)
from delphi_core.figures.speedup import MOST, SpeedUpLine, speed_up_figure
from delphi_core.published import published_recipe_laws

MACRO = "eval/paloma/macro_loss"
HOSTILE = '<img src=x onerror="alert(1)"><a href="javascript:alert(1)">x</a>'
GROUNDS = ("#ffffff", "#181716")  # Streamlit's light and dark ones

# Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB.
SIGHTS = {
    "usual": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def linear(color):
    """Linear RGB of a colour."""
    parts = np.array([int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    """CIELAB of linear RGB, D65."""
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    xyz = to_xyz @ np.clip(rgb, 0, 1) / [0.9505, 1.0, 1.089]
    f = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.fixture(scope="module")
def found(snapshot):
    return dc.compare_recipes(snapshot, "delphi-attempt-1", ["delphi", "moe-v16"])


@pytest.fixture(scope="module")
def lines(found):
    return [RecipeLine(r.ladder.title, r.law, r.optima, r.held_out) for r in found.fitted]


@pytest.fixture(scope="module")
def speed_ups(found):
    flops = np.geomspace(1e18, 1e22, 60)
    return [
        SpeedUpLine(rival.recipe.ladder.title, place + 1, rival.speed_up(flops), rival.at_optima)
        for place, rival in enumerate(found.rivals)
    ]


def texts(figure):
    """Everything in a figure that plotly reads as HTML."""
    words = [figure.layout.xaxis.title.text, figure.layout.yaxis.title.text]
    words.append(figure.layout.title.text)
    for trace in figure.data:
        words += [trace.name, trace.hovertemplate]
        values = trace.text
        words += [values] if isinstance(values, str) else list(values or ())
    return [text for text in words if text]


def marked(figure):
    """Where the line of the headline's compute stands."""
    (line,) = [trace for trace in figure.data if trace.name.startswith("C of the headline")]
    return list(line.x)


@pytest.mark.parametrize("ground", GROUNDS)
def test_colours_stand_out_on_light_and_on_dark(ground):
    back = float(linear(ground) @ [0.2126, 0.7152, 0.0722])
    for color in RECIPE_COLORS:
        front = float(linear(color) @ [0.2126, 0.7152, 0.0722])
        assert (max(front, back) + 0.05) / (min(front, back) + 0.05) >= 3


@pytest.mark.parametrize("sight", SIGHTS)
def test_the_first_four_ladders_differ_in_colour_for_every_sight(sight):
    # Colours that stand out on white and on black are of one lightness, which leaves four to a
    # colour-blind eye; further ladders differ in their symbol.
    seen = [lab(np.array(SIGHTS[sight]) @ linear(color)) for color in RECIPE_COLORS[:4]]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 12


def test_every_ladder_has_a_symbol_of_its_own():
    number = len(RECIPE_COLORS)
    assert len(RECIPE_SYMBOLS) == number
    assert len({recipe_style(place)[1] for place in range(number)}) == number
    assert recipe_style(number) == recipe_style(0)


def test_optima_laws_bands_and_held_out_runs_are_the_core_s(found, lines):
    figure = recipes_figure(lines, value_title="Loss", at=1e20)
    for place, recipe in enumerate(found.fitted):
        color, symbol = recipe_style(place)
        (optima,) = [trace for trace in figure.data if trace.name == recipe.ladder.title]
        np.testing.assert_array_equal(optima.x, recipe.optima.flops)
        np.testing.assert_array_equal(optima.y, recipe.optima.losses)
        assert (optima.marker.color, optima.marker.symbol) == (color, symbol)
        own = [trace for trace in figure.data if trace.legendgroup == f"recipe {place}"]
        assert {trace.line.color for trace in own if trace.mode == "lines"} == {color}
        (fitted,) = [trace for trace in own if trace.name == "law, fitted"]
        np.testing.assert_array_equal(fitted.y, recipe.law.predict(np.array(fitted.x)).value)
        assert fitted.x[0] == recipe.law.budget_flops[0]
        assert fitted.x[-1] == recipe.law.largest_flops
        beyond = [trace for trace in own if trace.name == "law, extrapolated"]
        assert all(trace.line.dash == "dash" for trace in beyond)
        low, high = (np.array(trace.y) for trace in own if trace.name == "90 % band")
        forecast = recipe.law.predict(np.array(own[0].x))
        np.testing.assert_array_equal(low, forecast.low)
        np.testing.assert_array_equal(high, forecast.high)
        (held_out,) = [trace for trace in own if trace.name.endswith("held out")]
        assert list(held_out.y) == [item.measured for item in recipe.held_out]
        assert held_out.marker.symbol == f"{symbol}-open"
    assert marked(figure) == [1e20, 1e20]


def test_published_laws_are_drawn_as_they_are(snapshot, lines):
    rows = published_recipe_laws(snapshot, MACRO)
    rows = rows[rows["id"].isin(["moe-v16-95.18", "moe-may-88.32"])]
    figure = recipes_figure(lines, value_title="Loss", published=rows)
    drawn = {trace.name: trace for trace in figure.data}
    for row in rows.to_dict("records"):
        trace = drawn[row["id"]]
        expected = row["E"] + row["A"] * np.array(trace.x) ** -row["alpha"]
        np.testing.assert_allclose(trace.y, expected, rtol=1e-12)
        low, high = figure.layout.yaxis.range
        assert low < min(trace.y) < max(trace.y) < high
    assert drawn["moe-v16-95.18"].line.dash != drawn["moe-may-88.32"].line.dash


def test_the_speed_up_chart_draws_laws_intervals_and_optima(speed_ups):
    figure = speed_up_figure(speed_ups, base="the base", at=3e20)
    for line in speed_ups:
        (optima,) = [trace for trace in figure.data if trace.name == line.name]
        np.testing.assert_array_equal(optima.y, line.at_optima.value)
        np.testing.assert_allclose(optima.y + optima.error_y.array, line.at_optima.high)
        np.testing.assert_allclose(optima.y - optima.error_y.arrayminus, line.at_optima.low)
        (inside,) = [trace for trace in figure.data if trace.name == f"{line.name}, by the laws"]
        drawn = ~np.isnan(inside.y)
        np.testing.assert_array_equal(drawn, line.by_law.beyond <= 1)
        np.testing.assert_array_equal(inside.y[drawn], line.by_law.value[drawn])
        (beyond,) = [trace for trace in figure.data if trace.name == f"{line.name}, beyond"]
        assert beyond.line.dash == "dash"
        # Nothing is left out between the two.
        assert (drawn | ~np.isnan(beyond.y)).all()
    (even,) = figure.layout.shapes
    assert even.y0 == 1.0
    assert marked(figure) == [3e20, 3e20]
    low, high = 10 ** np.array(figure.layout.yaxis.range)
    assert low < 1 < high


def test_open_speed_ups_are_cut_and_leave_the_chart_readable(snapshot):
    both = dc.compare_recipes(snapshot, "delphi", ["moe-may-gates"], MACRO)
    (rival,) = both.rivals
    along = rival.speed_up(np.geomspace(1e18, 1e26, 80))
    assert np.isinf(along.value).any()
    line = SpeedUpLine("May", 1, along, rival.at_optima)
    figure = speed_up_figure([line], base="Delphi")
    for trace in figure.data:
        assert not np.isinf(np.array(trace.y, dtype=float)).any()
    assert figure.layout.yaxis.range[1] <= np.log10(MOST) * 1.2


def test_without_a_band_there_is_a_line_and_no_interval(snapshot):
    # Three budgets determine August's law exactly.
    both = dc.compare_recipes(snapshot, "moe-aug-hero", ["moe-v16"], MACRO)
    (rival,) = both.rivals
    line = SpeedUpLine("v16", 1, rival.speed_up(np.geomspace(1e18, 1e20, 9)), rival.at_optima)
    figure = speed_up_figure([line], base="August")
    assert not [trace for trace in figure.data if trace.fill]
    (optima,) = [trace for trace in figure.data if trace.name == "v16"]
    assert optima.error_y.visible is False
    words = recipe_words.speed_up_alt([line], "August")
    assert f"{rival.at_optima.value[0]:.3f} at " in words
    assert " to " not in words


def test_pairs_are_drawn_one_by_one(found):
    pairs = found.rivals[0].pairs
    figure = pairs_figure([("Delphi", 1, pairs)], base="attempt 1", unit="nats/token")
    (trace,) = figure.data
    np.testing.assert_array_equal(trace.y, pairs["difference"])
    assert len(trace.text) == 80
    assert figure.layout.shapes[0].y0 == 0.0
    low, high = figure.layout.yaxis.range
    assert low < 0 < pairs["difference"].max() < high


def test_panels_of_metrics_share_their_compute_and_colours(lines):
    panel = MetricPanel("Macro loss", "nats/token", tuple(enumerate(lines[1:], start=1)))
    compute = [1e17, 1e24]
    figure = metric_panel(panel, compute)
    low, high = figure.layout.xaxis.range
    assert low < 17
    assert high > 24
    drawn = {trace.name: trace for trace in figure.data}
    for place, line in panel.lines:
        assert drawn[line.name].marker.color == recipe_style(place)[0]
        assert line.law.equation in recipe_words.metric_panel_alt(panel)


def test_names_are_escaped_wherever_plotly_reads_html(found, lines, speed_ups, snapshot):
    hostile = [line._replace(name=HOSTILE) for line in lines]
    rows = published_recipe_laws(snapshot, MACRO).head(2)
    rows = rows.assign(id=HOSTILE, recipe=HOSTILE, what=HOSTILE, status=HOSTILE)
    pairs = found.rivals[0].pairs.assign(run=HOSTILE, base_run=HOSTILE)
    figures = [
        recipes_figure(hostile, value_title=HOSTILE, published=rows),
        speed_up_figure([line._replace(name=HOSTILE) for line in speed_ups], base=HOSTILE),
        pairs_figure([(HOSTILE, 1, pairs)], base=HOSTILE, unit=HOSTILE),
        metric_panel(MetricPanel(HOSTILE, HOSTILE, ((0, hostile[0]),)), [1e18, 1e20]),
    ]
    for figure in figures:
        found_texts = texts(figure)
        assert any("&lt;img" in text for text in found_texts)
        assert not any("<img" in text or "<a " in text for text in found_texts)


def test_alternatives_state_the_numbers(found, lines, speed_ups, snapshot):
    rows = published_recipe_laws(snapshot, MACRO).head(1)
    words = recipe_words.recipes_alt(lines, rows)
    for line in lines:
        assert line.law.equation in words
        assert f"{line.optima.losses[0]:.4f}" in words
    assert rows["id"].iloc[0] in words
    words = recipe_words.speed_up_alt(speed_ups, "attempt 1")
    assert f"{speed_ups[0].at_optima.value[0]:.3f} (" in words
    words = recipe_words.pairs_alt([("Delphi", 1, found.rivals[0].pairs)], "attempt 1")
    assert "lower in 80 of 80 pairs, differences 0.0141 to 0.1555" in words
