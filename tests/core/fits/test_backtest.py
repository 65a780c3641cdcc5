"""Backtests: scores worked out by hand, nothing seen in advance, and the default they choose."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from delphi_core.fits.backtest import (
    DEFAULT_FORECASTER,
    FORECASTERS,
    Forecaster,
    backtest,
    curve_scores,
    scored,
    summary,
)
from delphi_core.trajectories import target_named
from delphi_core.trajectory_tables import rungs_of

HERO = "eval_dropless/paloma/macro_loss"
SUBSETS = ("c4_en", "dolma_100_programing_languages")
RUNGS = ("rav-ladder-d768-v2", "rav-ladder-d1024", "rav-ladder-d1536", "rav-ladder-d2048-v3")
MADE_BEFORE = ["forecaster", "kind", "fraction", "predicted", "low", "high"]
PER_FRACTION = Forecaster("per-fraction", profiled=False)


def rows(*measured, level=0.9):
    """Scores of a forecast of 2 with a band from 1.9 to 2.1."""
    table = pd.DataFrame({"predicted": 2.0, "low": 1.9, "high": 2.1, "actual": measured})
    return scored(table, level)


def test_scores_by_hand():
    table = rows(2.0, 2.2, 1.6)
    # Inside: the width alone, 0.2 of 2; 0.1 above: 0.2 + 20 x 0.1 of 2.2; 0.3 below.
    assert table["score"].to_list() == pytest.approx([10.0, 100.0, 387.5])
    assert table["error_pct"].to_list() == pytest.approx([0.0, 10.0, -20.0])
    assert table["covered"].to_list() == [True, False, False]
    assert rows(2.2, level=0.5)["score"].to_list() == pytest.approx([100 * 0.6 / 2.2])


def test_every_curve_counts_the_same_in_a_summary():
    long = pd.concat([rows(2.0)] * 9).assign(run="long")
    short = rows(2.2).assign(run="short")
    better = rows(2.02).assign(run="long", forecaster="better")
    table = pd.concat([long, short]).assign(forecaster="first")
    table = pd.concat([table, better]).assign(kind="smaller", metric="m", target="t")
    curves = curve_scores([table])
    assert len(curves) == 3
    found = summary([table]).set_index("forecaster")
    assert found.index.to_list() == ["better", "first"]
    assert found.loc["first", ["curves", "evaluations"]].to_list() == [2, 10]
    assert found.loc["first", "mean_abs_error_pct"] == pytest.approx(5.0)
    assert found.loc["first", "max_abs_error_pct"] == pytest.approx(10.0)
    assert found.loc["first", "coverage"] == pytest.approx(0.5)
    assert found.loc["first", "score"] == pytest.approx(55.0)


@pytest.fixture(scope="module")
def ladder(snapshot):
    """The hero's rungs in its macro loss."""
    return rungs_of(snapshot, target_named(snapshot, "hero"), HERO)


def test_each_rung_is_forecast_from_smaller_ones_and_from_all_others(ladder):
    table = backtest(ladder, asymptote=1.5, forecasters=[PER_FRACTION])
    cases = table.groupby(["kind", "run"], sort=False).size()
    assert cases.to_dict() == {
        ("smaller", RUNGS[2]): 20,
        ("smaller", RUNGS[3]): 16,
        ("left out", RUNGS[0]): 20,
        ("left out", RUNGS[1]): 20,
        ("left out", RUNGS[2]): 20,
    }
    assert table["fraction"].min() >= 0.045
    # Published: d2048 from the three smaller rungs misses by -0.024 to +0.003 at its fractions.
    own = table[(table["kind"] == "smaller") & (table["run"] == RUNGS[3])]
    missed = own["actual"] - own["predicted"]
    assert (round(missed.min(), 3), round(missed.max(), 3)) == (-0.024, 0.003)


def test_no_forecast_and_no_band_of_a_rung_sees_it(ladder):
    ways = [DEFAULT_FORECASTER, PER_FRACTION, Forecaster("joint", profiled=False)]
    expected = backtest(ladder, asymptote=1.5, forecasters=ways)
    rng = np.random.default_rng(3)
    for place, name in enumerate(RUNGS):
        values = np.asarray(ladder[place].values) * rng.uniform(0.99, 1.01, len(ladder[place]))
        noise = replace(ladder[place], values=values)
        moved = [*ladder[:place], noise, *ladder[place + 1 :]]
        table = backtest(moved, asymptote=1.5, forecasters=ways)
        before, after = (
            frame.loc[frame["run"] == name, MADE_BEFORE].reset_index(drop=True)
            for frame in (expected, table)
        )
        assert len(before)
        pd.testing.assert_frame_equal(before, after, check_exact=True)
        if place == 3:
            # Nor does one from smaller rungs see larger ones.
            kept = ["run", *MADE_BEFORE]
            smaller = [frame.loc[frame["kind"] == "smaller", kept] for frame in (expected, table)]
            pd.testing.assert_frame_equal(*smaller, check_exact=True)


def test_the_default_beats_the_published_method(snapshot):
    target = target_named(snapshot, "hero")
    metrics = [HERO, *(f"eval_dropless/paloma/{name}/loss" for name in SUBSETS)]
    tables = []
    for metric in metrics:
        table = backtest(
            rungs_of(snapshot, target, metric),
            asymptote=1.5 if metric == HERO else None,
            forecasters=[PER_FRACTION, DEFAULT_FORECASTER],
        )
        tables.append(table.assign(target="hero", metric=metric))
    found = summary(tables).set_index("forecaster")
    ours, published = found.loc[DEFAULT_FORECASTER.name], found.loc[PER_FRACTION.name]
    assert found.index[0] == DEFAULT_FORECASTER.name
    assert ours["curves"] == published["curves"] == 5 * len(metrics)
    assert ours["score"] < published["score"]
    assert ours["mean_abs_error_pct"] <= published["mean_abs_error_pct"]
    assert ours["coverage"] >= 0.85


def test_two_rungs_or_none_have_nothing_to_forecast(ladder):
    columns = [*MADE_BEFORE, "run", "actual", "error_pct", "covered", "score"]
    for few in (ladder[:2], ladder[:1], []):
        table = backtest(few, asymptote=1.5)
        assert table.empty
        assert set(table) == set(columns)


def test_forecasters_that_cannot_are_left_out_and_the_others_scored(ladder):
    near = [rung.part(np.abs(rung.fractions - 0.8) < 0.02) for rung in ladder]
    points = [replace(rung, fractions=np.array([0.8])) for rung in near]
    table = backtest(points, asymptote=1.5)
    assert set(table["forecaster"]) == {"per-fraction", "per-fraction, E profiled"}
    assert np.isfinite(table[["predicted", "low", "high", "score"]].to_numpy()).all()
    # Two points give a line without residuals, not a band without width.
    widths = table["high"] / table["low"] - 1
    assert widths[(table["kind"] == "smaller") & (table["run"] == RUNGS[2])].min() > 0.03


def test_names_of_forecasters_are_their_own():
    assert len({forecaster.name for forecaster in FORECASTERS}) == len(FORECASTERS) == 8
    assert DEFAULT_FORECASTER in FORECASTERS
