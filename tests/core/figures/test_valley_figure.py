"""The valley's chart as data."""

import numpy as np
import pytest

import delphi_core as dc
from delphi_core.figures.valley import valley_alt, valley_figure
from delphi_core.fits.deviations import OVERTRAINING, deviation_at


@pytest.fixture(scope="module")
def found(snapshot):
    """Plans of two budgets."""
    return dc.plan(snapshot, [1e21, 1e23])


@pytest.fixture(scope="module")
def curves(found):
    """Their valleys, as drawn."""
    return [(plan, found.curve(plan)) for plan in found.plans]


def lines(figure, axis):
    """Lines of a panel that hold numbers."""
    return [
        trace
        for trace in figure.data
        if trace.mode == "lines" and trace.yaxis == axis and trace.text
    ]


@pytest.mark.parametrize("x", ["overtraining", "size"])
def test_loss_above_and_waste_below_for_each_budget(curves, x):
    figure = valley_figure(curves, value_title="loss <b>", x=x)
    for axis, column in (("y", "predicted"), ("y2", "deadweight_pct")):
        drawn = lines(figure, axis)
        for place, (_, rows) in enumerate(curves):
            sampled, beyond = drawn[2 * place : 2 * place + 2]
            far = rows["extrapolated"].to_numpy()
            np.testing.assert_array_equal(np.isnan(sampled.y), far)
            np.testing.assert_array_equal(sampled.y[~far], rows.loc[~far, column])
            np.testing.assert_array_equal(beyond.y[far], rows.loc[far, column])
            # The dotted part begins where the full one ends.
            assert np.isfinite(sampled.y).sum() + np.isfinite(beyond.y).sum() == len(rows) + 1
            assert (sampled.line.dash, beyond.line.dash) == ("solid", "dot")
            places = rows["overtraining" if x == "overtraining" else "params"]
            np.testing.assert_array_equal(sampled.x, places)
    assert figure.layout.yaxis.title.text == "loss &lt;b&gt;"
    assert figure.layout.xaxis2.type == "log"
    low, high = 10 ** np.array(figure.layout.xaxis2.range)
    assert low < min(places)
    assert max(places) < high


def test_the_optimum_stands_on_its_curve_with_the_band(curves, found):
    figure = valley_figure(curves, value_title="loss")
    optima = [trace for trace in figure.data if trace.name == "optimum"]
    for trace, plan in zip(optima, found.plans, strict=True):
        assert (trace.x[0], trace.y[0]) == (1.0, plan.predicted)
        assert trace.y[0] + trace.error_y.array[0] == pytest.approx(plan.high)
        assert trace.y[0] - trace.error_y.arrayminus[0] == pytest.approx(plan.low)
        assert f"{plan.predicted:.4f}" in trace.text[0]
    named = [trace.name for trace in figure.data if trace.showlegend]
    assert named[:2] == ["1 × 10²¹ FLOP", "1 × 10²³ FLOP"]
    assert len(named) == len(set(named)) == 4


def test_a_law_without_a_band_has_no_error_bar(snapshot):
    found = dc.plan(snapshot, 1e21, ladder="moe-aug-hero")
    figure = valley_figure(
        [(found.plans[0], found.curve(found.plans[0]))], value_title="loss", size="active_params"
    )
    (optimum,) = [trace for trace in figure.data if trace.name == "optimum"]
    assert optimum.error_y.array is None
    assert "active parameters" in optimum.text[0]


def test_words_for_those_who_cannot_see_it(curves, found):
    alt = valley_alt(curves)
    for plan in found.plans:
        assert f"{plan.predicted:.4f}" in alt
        row = found.valley[
            (found.valley["flops"] == plan.flops) & (found.valley["overtraining"] == 10)
        ].iloc[0]
        assert f"10 times its tokens per parameter {row['predicted']:.4f}" in alt


def test_the_recipes_size_lies_on_the_curve(found):
    plan, recipe = found.plans[0], found.recipes[0]
    row = deviation_at(found.planner, plan, recipe.params).iloc[0]
    curve = found.curve(plan)
    near = np.interp(np.log(row["overtraining"]), np.log(curve["overtraining"]), curve["predicted"])
    assert row["predicted"] == pytest.approx(near, abs=1e-5)
    assert curve["overtraining"].iloc[0] == pytest.approx(OVERTRAINING[0])
