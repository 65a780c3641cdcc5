"""Measured curves and forecasts of targets: published answers, and nothing seen in advance."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import delphi_core as dc
from delphi_core.backtest_tables import backtest_document, backtest_of
from delphi_core.fits.backtest import DEFAULT_FORECASTER
from delphi_core.fits.forecast_line import GRID
from delphi_core.trajectories import plan_of, target_metrics, target_named
from delphi_core.trajectory_tables import (
    forecast_document,
    forecast_of,
    forecast_settings,
    forecast_summary,
    forecast_table,
    rungs_of,
)

HERO = "eval_dropless/paloma/macro_loss"
HERO_RUN = "hero-535b-a23b"
C4 = "eval/paloma/c4_en/loss"
LAST_RUNG = "rav-ladder-d2048-v3"


def with_tables(snapshot, **tables):
    """The snapshot with some tables replaced."""
    return replace(snapshot, tables={**snapshot.tables, **tables})


def with_rows(snapshot, rows, segments=(), **plan):
    """A snapshot in which the hero's measured rows are (segment, step, tokens, value)."""
    trajectories = snapshot.tables["trajectories"]
    own = trajectories["run"] == HERO_RUN
    table = trajectories[own].iloc[[0] * len(rows)].reset_index(drop=True)
    for place, column in enumerate(("segment", "step", "tokens", "value")):
        kind = {"segment": "object", "step": "Int64"}.get(column, "float64")
        table[column] = pd.array([row[place] for row in rows], dtype=kind)
    table["metric"] = HERO
    lineage = snapshot.tables["segments"]
    mine = lineage[lineage["run"] == HERO_RUN].iloc[[0] * len(segments)].reset_index(drop=True)
    for place, column in enumerate(("segment", "first_step", "last_step", "comparable")):
        kind = {"segment": "object", "comparable": "bool"}.get(column, "Int64")
        mine[column] = pd.array([row[place] for row in segments], dtype=kind)
    runs = snapshot.tables["runs"].copy()
    for column, value in plan.items():
        runs.loc[runs["run"] == HERO_RUN, column] = value
    return with_tables(
        snapshot,
        trajectories=pd.concat([trajectories[~own], table], ignore_index=True),
        segments=pd.concat([lineage[lineage["run"] != HERO_RUN], mine], ignore_index=True),
        runs=runs,
    )


def hero_line(snapshot):
    """The hero's macro loss."""
    return dc.main_line(snapshot, "hero", HERO_RUN, HERO)


# What has been published.


def test_the_published_forecast_of_the_hero_to_all_its_digits(snapshot):
    target = target_named(snapshot, "hero")
    forecast = forecast_of(snapshot, target, HERO, method="per-fraction", asymptote=1.5)
    predicted = forecast.value(GRID)
    assert [round(value, 4) for value in predicted.tolist()] == [
        *(2.3921, 2.3261, 2.2872, 2.2571, 2.2402, 2.2234, 2.2142, 2.1853, 2.1918, 2.1724),
        *(2.1491, 2.1352, 2.1237, 2.1105, 2.0971, 2.0852, 2.0775, 2.0643, 2.0505, 2.0388),
    ]
    laws = snapshot.tables["published_laws"]
    laws = laws[(laws["ladder"] == "hero") & laws["fraction"].notna()].sort_values("fraction")
    assert len(laws) == 20
    flops = laws["fraction"] * plan_of(snapshot, "hero", HERO_RUN).flops
    published = laws["E"] + laws["A"] * flops ** -laws["alpha"]
    assert predicted == pytest.approx(published.to_numpy(), rel=1e-6)
    (continued,) = forecast.fitted.continuations
    assert continued.run == LAST_RUNG
    assert (round(continued.slope, 6), round(continued.intercept, 6)) == (-0.350824, 2.754532)
    assert continued.offset == 0.005
    found = forecast_summary(forecast_table(forecast, hero_line(snapshot)))
    assert (found["evaluations"], found["as_of_step"]) == (40, 137999)
    assert round(found["mean_abs_error_pct"], 3) == 1.389
    assert round(found["max_abs_error_pct"], 3) == 3.433


@pytest.mark.parametrize(("asymptote", "end"), [(1.3, 2.0084), (1.4, 2.0227), (1.6, 2.0571)])
def test_the_assumed_asymptote_moves_the_end(snapshot, asymptote, end):
    target = target_named(snapshot, "hero")
    forecast = forecast_of(snapshot, target, HERO, method="per-fraction", asymptote=asymptote)
    assert round(float(forecast.value(1.0)), 4) == end


def test_between_its_fractions_the_published_forecast_is_linear(snapshot):
    target = target_named(snapshot, "hero")
    forecast = forecast_of(snapshot, target, HERO, method="per-fraction")
    assert forecast.value(0.325) == pytest.approx(np.mean(forecast.value([0.3, 0.35])), rel=1e-12)
    assert np.isnan(forecast.value([0.0, 0.04, 1.01])).all()


def test_the_one_point_of_67b(snapshot):
    target = target_named(snapshot, "67b")
    forecast = forecast_of(snapshot, target, target.metric)
    assert (forecast.settings.method, forecast.settings.asymptote) == ("per-fraction", 1.4)
    assert round(float(forecast.value(0.8)), 4) == 2.2692
    assert np.isnan(forecast.value([0.75, 0.85, 1.0])).all()
    table = forecast_table(forecast, dc.main_line(snapshot, "moe-67b", target.run, target.metric))
    (error,) = table["error_pct"].dropna()
    assert round(error, 2) == -0.58
    laws = snapshot.tables["published_laws"].set_index("what")
    law = laws.loc["preregistered law (RUN_67B_LAW)"]
    published = law["E"] + law["A"] * 1.19e23 ** -law["alpha"]
    assert round(published, 3) == 2.269
    assert round(100 * (2.256 / published - 1), 2) == -0.57


def test_delphi_1e23_from_two_rungs(snapshot):
    target = target_named(snapshot, "delphi-1e23")
    forecast = forecast_of(snapshot, target, C4, method="per-fraction", asymptote=1.6)
    line = dc.main_line(snapshot, target.ladder, target.run, C4)
    snapped = pd.Series(line.values, index=np.round(20 * line.steps / line.plan.steps))
    snapped = snapped[snapped.index > 0].groupby(level=0).last()
    assert snapped.index.to_list() == list(range(1, 21))
    errors = 100 * (snapped.to_numpy() / forecast.value(GRID) - 1)
    assert round(float(np.abs(errors).mean()), 2) == 0.56
    assert round(float(errors[-1]), 2) == -0.03
    assert "from 2 rungs" in forecast.describe()


# Nothing that a target measures is an input.

ASKED = [
    *[("hero", HERO, method) for method in (None, "per-fraction", "joint", "collapse")],
    ("hero", "eval_dropless/paloma/ptb/loss", None),
    ("67b", "eval/paloma/macro_loss", None),
    *[("delphi-1e23", metric, None) for metric in (C4, "eval/loss", "eval/macro_loss")],
]


def noisy(snapshot, run):
    """The snapshot with every measured value of a run replaced."""
    tables = {}
    for name in ("trajectories", "evals"):
        table = snapshot.tables[name].copy()
        own = table["run"] == run
        table.loc[own, "value"] = np.random.default_rng(1).uniform(0.1, 9, int(own.sum()))
        tables[name] = table
    assert (snapshot.tables["trajectories"]["run"] == run).any()
    return with_tables(snapshot, **tables)


@pytest.mark.parametrize(("name", "metric", "method"), ASKED)
def test_measured_values_of_a_target_change_no_forecast_by_a_bit(snapshot, name, metric, method):
    target = target_named(snapshot, name)
    fractions = np.linspace(0, 1, 301)
    bits = []
    for snap in (snapshot, noisy(snapshot, target.run)):
        forecast = forecast_of(snap, target, metric, method=method)
        document = forecast_document(snap, target, metric, forecast)
        kept = ("method", "asymptote", "asymptote_pinned", "level", "described", "rungs")
        numbers = np.stack([forecast.value(fractions), *forecast.band(fractions)])
        own = [document[key] for key in (*kept, "continuation")]
        bits.append((numbers.tobytes(), own, forecast_settings(target, metric, [])))
    assert bits[0] == bits[1]


@pytest.mark.parametrize("name", ["hero", "67b"])
def test_measured_values_of_a_target_change_no_choice(snapshot, name):
    target = target_named(snapshot, name)
    documents = [
        backtest_document([backtest_of(snap, target, [target.metric])], targets=[name])
        for snap in (snapshot, noisy(snapshot, target.run))
    ]
    assert documents[0] == documents[1]


def test_what_delphi_1e23_measured_changes_how_it_is_scored_but_no_forecast(snapshot):
    target = target_named(snapshot, "delphi-1e23")
    first, second = (
        backtest_of(snap, target, [C4])[["fraction", "predicted", "low", "high", "actual"]]
        for snap in (snapshot, noisy(snapshot, target.run))
    )
    made = ["predicted", "low", "high"]
    key = ["fraction", *made]
    # Noise that looks diverged is left out of the line: what is there must be the same.
    both = first.merge(second.drop_duplicates(), on="fraction", suffixes=("", " after"))
    assert len(both) > 100
    assert set(map(tuple, second[key].to_numpy())) <= set(map(tuple, first[key].to_numpy()))


# The default.


@pytest.fixture(scope="module")
def defaults(snapshot):
    """Default forecast of the hero in its macro loss and 16 subsets."""
    target = target_named(snapshot, "hero")
    metrics = [
        name for name in target_metrics(snapshot, target) if rungs_of(snapshot, target, name)
    ]
    assert len(metrics) == 17
    return {metric: forecast_of(snapshot, target, metric) for metric in metrics}


def test_the_default_is_the_surface_with_e_as_the_target_pins_it(snapshot, defaults):
    for metric, forecast in defaults.items():
        assert forecast.settings.method == DEFAULT_FORECASTER.method == "surface"
        assert forecast.settings.asymptote == (1.5 if metric == HERO else None)
        assert ("profiled on the rungs" in forecast.describe()) == (metric != HERO)
    target = target_named(snapshot, "hero")
    fitted = forecast_of(snapshot, target, HERO, asymptote="fit").fitted
    assert (fitted.origin, round(fitted.asymptote, 1)) == ("profiled", 1.3)


def test_the_default_falls_with_the_fraction(defaults):
    for forecast in defaults.values():
        value = forecast.value(np.linspace(0.045, 1, 5000))
        assert (np.diff(value) < 0).all()
        low, high = forecast.band(np.linspace(0.045, 1, 500))
        assert (low < high).all()
        assert (low > 0).all()


def test_the_default_has_no_kink_beyond_the_noise_of_the_rungs(defaults):
    # From 15 % on, second differences over 5 % (earlier ones are the curve's own), against what
    # the rungs' evaluations scatter about their own lines.
    for forecast in defaults.values():
        bends = np.diff(np.log(forecast.value(GRID[1:])), 2)
        scatter = [
            np.log(forecast.fitted.line(rung.plan, rung.fractions) / np.asarray(rung.values))
            for rung in forecast.rungs
        ]
        noise = np.sqrt(np.mean(np.concatenate(scatter) ** 2))
        assert np.abs(bends[1:]).max() < noise


def test_bands_widen_with_the_level_and_the_same_call_gives_the_same_bits(snapshot, defaults):
    target = target_named(snapshot, "hero")
    widths = []
    for level in (0.5, 0.8, 0.9, 0.99):
        low, high = forecast_of(snapshot, target, HERO, level=level).band(GRID)
        widths.append(high - low)
    assert (np.diff(widths, axis=0) > 0).all()
    again = forecast_of(snapshot, target, HERO)
    assert again.value(GRID).tobytes() == defaults[HERO].value(GRID).tobytes()
    assert np.stack(again.band(GRID)).tobytes() == np.stack(defaults[HERO].band(GRID)).tobytes()


# Lines of runs as they come.


def test_the_hero_has_one_line_of_47_evaluations(snapshot):
    line = hero_line(snapshot)
    assert (len(line), line.steps[-1]) == (47, 137999)
    assert (np.diff(line.fractions) > 0).all()
    assert line.fractions == pytest.approx((line.steps + 1) / 390251, abs=1e-5)
    assert line.seams == pytest.approx(
        [step / 390251 for step in (58014, 81716, 108000, 108778, 121638)], abs=1e-5
    )
    assert not line.finished


def test_seams_stand_where_the_tokens_are(snapshot):
    # 67B doubled its batch at step 15,000 of 157,500: a tenth of the steps, 5 % of the tokens.
    for metric in ("eval/paloma/macro_loss", "train/loss"):
        line = dc.main_line(snapshot, "moe-67b", "moe-67b-a2b", metric)
        assert line.seams == pytest.approx([0.05], abs=1e-3)
        assert line.steps.max() <= 141_000


TOKENS = 18005144633344.0
PER_STEP = TOKENS / 390251


def at(segment, step, value, tokens=None):
    """A row of the hero's."""
    return segment, step, PER_STEP * step if tokens is None else tokens, value


def test_of_overlapping_segments_the_later_one_owns_its_steps(snapshot):
    rows = [at("a", 60_000, 2.5), at("a", 80_000, 9.0), at("a", 90_000, 9.0)]
    rows += [at("b", 70_000, 2.4), at("b", 90_000, 2.3), at("b", 50_000, 9.0), at("c", 85_000, 9.0)]
    segments = [("a", 0, 100_000, True), ("b", 70_000, None, True), ("c", 80_000, None, False)]
    line = hero_line(with_rows(snapshot, rows, segments))
    assert line.steps.tolist() == [60_000, 70_000, 90_000]
    assert list(line.values) == [2.5, 2.4, 2.3]
    assert line.seams == pytest.approx([70_000 / 390251])


def test_steps_trained_again_count_as_they_came_last(snapshot):
    rows = [at("a", 40_000, 2.6), at("a", 60_000, 9.0), at("a", 50_000, 2.5), at("a", 60_000, 2.4)]
    # The same step, logged with a few more tokens.
    rows += [at("a", 40_000, 2.55, PER_STEP * 40_000 + 4096)]
    for segments in ([("a", 0, None, True)], []):
        line = hero_line(with_rows(snapshot, rows, segments))
        assert line.steps.tolist() == [40_000, 50_000, 60_000]
        assert list(line.values) == [2.55, 2.5, 2.4]


def test_missing_and_diverged_values_are_no_part_of_a_line(snapshot):
    nothing, infinite = float("nan"), float("inf")
    rows = [at("a", 0, 11.8), at("a", 40_000, 2.5), at("a", 60_000, nothing)]
    rows += [at("a", 80_000, infinite), at("a", 90_000, 11.7), at("a", 99_000, 2.3)]
    rows += [at("a", 120_000, 2.2), at("a", 120_000, nothing)]
    line = hero_line(with_rows(snapshot, rows, [("a", 0, None, True)]))
    assert list(line.values) == [11.8, 2.5, 2.3, 2.2]
    # What is there is shown beside a forecast that stays what it was.
    made = with_rows(snapshot, rows, [("a", 0, None, True)])
    table = dc.forecast_trajectory(made, "hero", method="per-fraction")
    assert table["error_pct"].notna().sum() == 3
    expected = dc.forecast_trajectory(snapshot, "hero", method="per-fraction")
    same = [frame.loc[frame["step"].isna(), "predicted"].to_list() for frame in (table, expected)]
    assert same[0] == same[1]


def test_without_tokens_steps_tell_the_fraction(snapshot):
    nothing = float("nan")
    rows = [("a", 195_125, nothing, 2.2), ("a", 97_563, nothing, 2.3), at("a", 39_025, 2.4)]
    made = with_rows(snapshot, rows)
    assert hero_line(made).fractions == pytest.approx([0.1, 0.25, 0.5], abs=1e-5)
    rows = [("a", None, 0.5 * TOKENS, 2.2), ("a", None, 0.25 * TOKENS, 2.3), ("a", 3, nothing, 2.1)]
    line = hero_line(with_rows(snapshot, rows, steps=None))
    assert line.fractions.tolist() == [0.25, 0.5]
    assert np.isnan(line.steps).all()


def test_a_run_of_branches_only_has_no_line(snapshot):
    line = hero_line(with_rows(snapshot, [at("a", 9, 2.5)], [("a", 0, None, False)]))
    assert (len(line), line.seams, line.finished) == (0, (), False)


numbers = st.one_of(st.floats(0.1, 20), st.just(float("nan")), st.just(float("inf")))
steps = st.integers(0, 400_000)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    rows=st.lists(st.tuples(st.sampled_from("abc"), steps, st.integers(0, 99), numbers)),
    segments=st.lists(
        st.tuples(st.sampled_from("abc"), steps, st.none() | steps, st.booleans()),
        max_size=3,
        unique_by=lambda row: row[0],
    ),
)
def test_fractions_always_increase(snapshot, rows, segments):
    placed = [(name, step, PER_STEP * step + extra, value) for name, step, extra, value in rows]
    line = hero_line(with_rows(snapshot, placed, segments))
    assert (np.diff(line.fractions) > 0).all()
    assert len(set(line.steps)) == len(line)
    assert np.isfinite(line.values).all()
    assert (np.diff(line.steps) > 0).all()


def test_a_plan_that_is_missing_is_named(snapshot):
    for column in ("flops", "tokens"):
        made = with_rows(snapshot, [], **{column: None})
        with pytest.raises(dc.FitError, match=f"run {HERO_RUN} has no planned {column}; add them"):
            dc.forecast_trajectory(made, "hero")
    with pytest.raises(dc.DataError, match="ladder hero has no run 'hero-2'"):
        plan_of(snapshot, "hero", "hero-2")


@pytest.mark.parametrize(
    ("rungs", "words"),
    [
        ("", "a forecast needs two rungs with evaluations; no rung has"),
        (LAST_RUNG, "a forecast needs two rungs with evaluations; one rung has"),
        (f"{LAST_RUNG} {LAST_RUNG}", "the rungs are all of 7.742e+21 FLOP"),
        ("rav-ladder-d9", "ladder hero has no run 'rav-ladder-d9'"),
    ],
)
def test_too_few_rungs_are_said_in_a_sentence(snapshot, rungs, words):
    table = snapshot.tables["targets"].copy()
    table.loc[table["target"] == "hero", "rungs"] = rungs
    with pytest.raises(dc.DelphiError, match=words.replace("+", r"\+")) as caught:
        dc.forecast_trajectory(with_tables(snapshot, targets=table), "hero")
    assert len(str(caught.value).splitlines()) == 1


def test_a_metric_that_no_rung_has_is_said_in_a_sentence(snapshot):
    with pytest.raises(dc.FitError, match="no rung has"):
        dc.forecast_trajectory(snapshot, "hero", metric="eval_dropless/paloma/micro_loss")


def test_a_subset_below_the_published_asymptote_is_forecast_with_its_own(snapshot):
    code = "eval_dropless/paloma/dolma_100_programing_languages/loss"
    with pytest.raises(
        dc.FitError, match=r"E is pinned at 1.5, and a rung reaches 0\.96\d+: pin it"
    ):
        dc.forecast_trajectory(snapshot, "hero", metric=code, asymptote=1.5)
    forecast = forecast_of(snapshot, target_named(snapshot, "hero"), code, method="per-fraction")
    assert forecast.fitted.asymptote < 1
    (continued,) = forecast.fitted.continuations
    # The 0.005 of the macro loss is a constant of that metric alone.
    assert continued.offset != 0.005
