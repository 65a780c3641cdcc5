"""The trajectory chart as data."""

import numpy as np
import pandas as pd
import pytest

from delphi_core.events import events_of
from delphi_core.figures.trajectory import MOST_POINTS, thinned, trajectory_alt, trajectory_figure
from delphi_core.figures.trajectory_grid import REACH_PCT, trajectory_grid, trajectory_grid_alt
from delphi_core.fits.trajectory import Plan, Trajectory
from delphi_core.trajectories import main_line, target_named
from delphi_core.trajectory_tables import forecast_of, rungs_of


@pytest.fixture(scope="module")
def hero(snapshot):
    """Measured line, forecast and rungs of the hero run."""
    target = target_named(snapshot, "hero")
    measured = main_line(snapshot, "hero", target.run, target.metric)
    forecast = forecast_of(snapshot, target, target.metric)
    return measured, forecast, tuple(rungs_of(snapshot, target, target.metric))


def panel(figure, axis):
    return [trace for trace in figure.data if (trace.yaxis or "y") == axis]


def test_measured_points_and_their_errors_stand_one_above_the_other(hero):
    measured, forecast, _ = hero
    figure = trajectory_figure(measured, forecast, value_title="loss")
    (above,) = [t for t in panel(figure, "y") if t.name.startswith("measured")]
    (below,) = [t for t in panel(figure, "y2") if t.name.startswith("measured")]
    np.testing.assert_array_equal(above.x, below.x)
    predicted = forecast.value(np.asarray(above.x) / 100)
    np.testing.assert_allclose(below.y, 100 * (above.y / predicted - 1), rtol=1e-9)
    assert len(above.x) == 40


def test_forecast_and_band_are_the_core_s(hero):
    measured, forecast, _ = hero
    figure = trajectory_figure(measured, forecast, value_title="loss", shown=(0.2, 0.9))
    (line,) = [t for t in panel(figure, "y") if t.name.startswith("forecast")]
    places = np.asarray(line.x) / 100
    np.testing.assert_allclose(line.y, forecast.value(places), rtol=1e-12)
    low, high = (t.y for t in panel(figure, "y") if t.name.endswith("band"))
    for drawn, end in zip((low, high), forecast.band(places), strict=True):
        np.testing.assert_allclose(drawn, end, rtol=1e-9)
    assert (places.min(), places.max()) == pytest.approx((0.2, 0.9))


@pytest.mark.parametrize(
    ("x", "scale"),
    [("fraction", 100), ("steps", 390.251), ("tokens", 18.005), ("flops", 2610.9)],
)
def test_the_x_axis_counts_what_it_says(hero, x, scale):
    measured, forecast, _ = hero
    figure = trajectory_figure(measured, forecast, value_title="loss", x=x)
    (line,) = [t for t in panel(figure, "y") if t.name.startswith("measured")]
    assert line.x[-1] == pytest.approx(scale * measured.fractions[-1], rel=1e-4)


def test_rungs_lie_underneath_at_the_same_fraction(hero):
    measured, forecast, rungs = hero
    figure = trajectory_figure(measured, forecast, value_title="loss", rungs=rungs)
    drawn = [t for t in figure.data if t.name.startswith("rung ")]
    assert len(drawn) == 4
    assert figure.data[: len(drawn)] == tuple(drawn)
    assert max(drawn[0].x) == pytest.approx(100, abs=0.1)


def test_hostile_words_are_escaped(hero):
    measured, forecast, _ = hero
    plan = Plan("<b>run</b>", measured.plan.flops, measured.plan.tokens, 1e9, 1e5)
    own = Trajectory(plan, measured.fractions, measured.steps, measured.tokens, measured.values)
    events = pd.DataFrame({"fraction": 0.3, "kind": "<i>", "text": "<script>", "breaks": True,
                           "planned": [True, False]})  # fmt: skip
    figure = trajectory_figure(
        own, forecast, value_title="<u>", rungs=(own,), events=events, all_events=True
    )
    text = figure.to_json()
    for tag in ("<b>run", "<i>", "<script>", "<u>"):
        assert tag.replace("<", "\\u003c") not in text
        assert tag not in text


def test_where_evaluations_are_missing_nothing_is_drawn(hero):
    measured, forecast, _ = hero
    holed = measured.part((measured.fractions < 0.2) | (measured.fractions > 0.25))
    figure = trajectory_figure(holed, forecast, value_title="loss")
    for axis in ("y", "y2"):
        (line,) = [t for t in panel(figure, axis) if t.name.startswith("measured")]
        (place,) = [i for i, value in enumerate(line.y) if value is None]
        assert line.x[place] is None
        assert line.x[place - 1] < 20
        assert line.x[place + 1] > 25
    assert list(measured.gaps) == []


def test_breaks_are_marked_and_other_events_on_demand(snapshot, hero):
    measured, forecast, _ = hero
    events = events_of(snapshot, "hero", measured)
    few = trajectory_figure(measured, forecast, value_title="loss", events=events)
    marks = [note.text for note in few.layout.annotations]
    assert marks[0] == "mixture swap"
    assert [mark.startswith("planned: ") for mark in marks] == [False, True, True, True]
    assert not [t for t in few.data if t.name in ("event", "planned event", "seam")]
    every = trajectory_figure(
        measured, forecast, value_title="loss", events=events, all_events=True
    )
    drawn = {t.name: t for t in every.data if t.name in ("event", "planned event", "seam")}
    shown = events[events["fraction"] >= 0.05]
    assert len(drawn["event"].x) == (~shown["planned"]).sum()
    assert list(drawn["planned event"].x) == pytest.approx([50, 80, 95], abs=0.01)
    assert list(drawn["seam"].x) == pytest.approx([100 * seam for seam in measured.seams])


def test_a_range_keeps_what_is_inside_it(hero):
    measured, forecast, rungs = hero
    figure = trajectory_figure(measured, forecast, value_title="", shown=(0.1, 0.4), rungs=rungs)
    for trace in figure.data:
        assert min(trace.x) >= 10 - 0.1
        assert max(trace.x) <= 40 + 0.1


def test_without_a_forecast_the_curve_is_drawn_all_the_same(hero):
    measured, _, _ = hero
    figure = trajectory_figure(measured, None, value_title="loss")
    assert [t.name for t in figure.data] == ["measured, hero-535b-a23b"]
    assert "No forecast" in trajectory_alt(measured, None)


def test_a_long_curve_is_thinned_for_drawing_only():
    plan = Plan("long", 1e20, 1e10, 1e8, 1e5)
    x = np.linspace(0, 1, 50_001)
    line = Trajectory(plan, x, x, x, 3 - x)
    few = thinned(line)
    assert len(few) <= MOST_POINTS + 2
    assert few.fractions[-1] == 1.0
    assert len(line) == 50_001


def test_words_state_the_numbers(hero):
    measured, forecast, _ = hero
    words = trajectory_alt(measured, forecast)
    assert f"{measured.values[-1]:.4f}" in words
    assert f"{float(forecast.value(1.0)):.4f} at 100 %" in words


def test_small_multiples_hold_each_metric_s_errors_on_one_scale(snapshot, hero):
    measured, forecast, _ = hero
    target = target_named(snapshot, "hero")
    ptb = "eval_dropless/paloma/ptb/loss"
    line = main_line(snapshot, "hero", target.run, ptb)
    items = [("macro", measured, forecast), ("<b>", line, forecast_of(snapshot, target, ptb))]
    figure = trajectory_grid(items)
    drawn = [trace for trace in figure.data if trace.name]
    assert [trace.name for trace in drawn] == ["macro", "&lt;b&gt;"]
    for trace, (_, own, fitted) in zip(drawn, items, strict=True):
        kept = own.part(own.fractions >= 0.05)
        errors = 100 * (kept.values / fitted.value(kept.fractions) - 1)
        np.testing.assert_allclose(trace.customdata, errors, rtol=1e-9)
        assert np.abs(trace.y).max() <= REACH_PCT
    assert np.abs(drawn[1].customdata).max() > REACH_PCT
    assert f"macro {drawn[0].customdata[-1]:+.2f} %" in trajectory_grid_alt(items)


def test_a_forecast_of_one_point_has_its_band_as_a_bar(snapshot):
    target = target_named(snapshot, "67b")
    measured = main_line(snapshot, target.ladder, target.run, target.metric)
    forecast = forecast_of(snapshot, target, target.metric)
    figure = trajectory_figure(measured, forecast, value_title="loss")
    (point,) = [t for t in panel(figure, "y") if t.name.startswith("forecast")]
    low, high = forecast.band(np.array([0.8]))
    assert point.y[0] - point.error_y.arrayminus[0] == pytest.approx(low[0])
    assert point.y[0] + point.error_y.array[0] == pytest.approx(high[0])
