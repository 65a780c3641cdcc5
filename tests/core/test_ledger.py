"""Published forecasts with their outcomes: as printed, and scored by extrapolation ratio."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import delphi_core as dc
from delphi_core.figures.ledger import drawn_forecasts, ledger_alt, ledger_figure
from delphi_core.ledger import AS_PRINTED, COLUMNS, GROUPS, UNKNOWN, forecast_ledger, ledger_scores

HERO = "hero-535b-a23b"
MACRO = "eval_dropless/paloma/macro_loss"


@pytest.fixture(scope="module")
def ledger(snapshot):
    return forecast_ledger(snapshot)


def with_forecasts(snapshot, rows):
    """The snapshot with these published forecasts instead of its own."""
    table = snapshot.tables["published_forecasts"]
    made = pd.DataFrame(rows, columns=table.columns).astype(table.dtypes)
    return dc.Snapshot("b" * 12, "2030-01-01", {**snapshot.tables, "published_forecasts": made})


def forecast(**cells):
    """A row of published_forecasts."""
    row = {
        "ladder": "moe-v16",
        "run": "moe-1e23-129b-a16b",
        "metric": "eval/paloma/macro_loss",
        "flops": 1e23,
        "fraction": 1.0,
        "predicted": 2.25,
        "actual": 2.234,
        "made": "2026-04-10",
        "preregistered": True,
        "method": "optima law, E 1.6, first 6 budgets",
        "source": "s055",
    }
    return row | cells


def test_outcomes_are_as_published(ledger):
    own = ledger[ledger["preregistered"]].set_index("run")
    moe, big = own.loc["moe-1e23-129b-a16b"], own.loc["moe-67b-a2b"]
    assert (moe["predicted"], moe["actual"]) == (2.252, 2.234)
    assert (big["predicted"], big["actual"]) == (2.269, 2.256)
    assert [round(row["error_pct"], 2) for row in (moe, big)] == [-0.80, -0.57]
    delphi = own[own["ladder"] == "delphi"]
    assert list(delphi["error_pct"]) == [0.5, 0.2, 0.2]
    assert list(delphi["actual"].round(4)) == [2.7581, 2.5308, 2.3546]
    assert delphi["predicted"].isna().all()
    assert set(delphi["error_from"]) == {AS_PRINTED}


def test_extrapolation_ratios_say_what_they_are_of(ledger):
    own = ledger[ledger["preregistered"] & (ledger["fraction"] == 1.0)]
    ratios = {
        (row["ladder"], row["flops"]): (round(row["ratio"], 1), row["fitted_on"])
        for row in own.to_dict("records")
    }
    assert ratios["moe-v16", 1e23] == (333.3, "first 6 of 6 budgets, up to 3 × 10²⁰ FLOP")
    sweep = "the sweep that the run is held out of, up to 3 × 10²⁰ FLOP"
    assert [ratios["delphi", flops] for flops in (1e21, 1e22, 1e23)] == [
        (3.3, sweep),
        (33.3, sweep),
        (333.3, sweep),
    ]
    (big,) = ledger[ledger["ladder"] == "moe-67b"].to_dict("records")
    assert big["fitted_on"] == "3 rungs at 80 % of training, up to 7.16 × 10²⁰ FLOP"
    assert big["ratio"] == 1.19e23 / (8.95e20 * 0.8)
    hero = ledger[ledger["ladder"] == "hero"]
    np.testing.assert_allclose(hero["ratio"], 2.6108941613772703e24 / 7.741814947656449e21)
    # The surface of 1e23 does not say which rows it was fitted to.
    (surface,) = ledger[ledger["method"].str.startswith("surface")].to_dict("records")
    assert np.isnan(surface["ratio"])
    assert pd.isna(surface["fitted_on"])


def test_a_live_run_has_outcomes_as_far_as_it_is(snapshot, ledger):
    hero = ledger[ledger["ladder"] == "hero"]
    assert list(hero["actual"].notna()) == [True] * 7 + [False] * 13
    line = dc.main_line(snapshot, "hero", HERO, MACRO)
    np.testing.assert_array_equal(
        hero["actual"].iloc[:7], np.interp(hero["fraction"].iloc[:7], line.fractions, line.values)
    )
    assert hero["outcome_from"].iloc[0] == "between its evaluations at 4.61 % and 5.38 %"


def test_scores_by_extrapolation_ratio(ledger):
    scores = ledger_scores(ledger).set_index(["preregistered", "ratio"])
    for (preregistered, name), row in scores.iterrows():
        own = ledger[ledger["preregistered"] == preregistered]
        ends = GROUPS.get(name)
        own = own[own["ratio"].isna()] if ends is None else own[inside(own["ratio"], *ends)]
        errors = [abs(error) for error in own["error_pct"] if not np.isnan(error)]
        assert (row["forecasts"], row["outcomes"]) == (len(own), len(errors))
        assert row["mean_abs_error_pct"] == pytest.approx(sum(errors) / len(errors))
        assert row["max_abs_error_pct"] == max(errors)
    assert scores["forecasts"].sum() == len(ledger)
    # Ten outcomes over 100, of four runs: the hero, 67B, Delphi's 1e23 and the MoE at 1e23.
    assert list(scores.loc[(True, "over 100"), ["forecasts", "outcomes", "runs"]]) == [23, 10, 4]
    assert scores.loc[(False, UNKNOWN), "outcomes"] == 1


def inside(ratio, above, up_to):
    return (ratio.round(6) > above) & (ratio.round(6) <= up_to)


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(
            st.floats(1e17, 1e25), st.floats(0.5, 5), st.none() | st.floats(0.5, 5), st.booleans()
        ),
        max_size=8,
        unique_by=lambda row: row[0],
    )
)
def test_every_forecast_is_scored_once(snapshot, rows):
    made = [
        forecast(flops=flops, predicted=predicted, actual=actual, preregistered=early, run=None)
        for flops, predicted, actual, early in rows
    ]
    own = forecast_ledger(with_forecasts(snapshot, made))
    scores = ledger_scores(own)
    assert scores["forecasts"].sum() == len(rows)
    assert scores["outcomes"].sum() == sum(actual is not None for _, _, actual, _ in rows)
    assert list(own.columns) == COLUMNS
    assert len(drawn_forecasts(own)) <= scores["outcomes"].sum()
    assert ledger_alt(own)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ({"method": "optima law, first 7 budgets"}, None),
        ({"method": "optima law, first 0 budgets"}, None),
        ({"method": "a law (40 runs)"}, None),
        ({"method": "a law (37 runs)"}, 3e20),
        ({"method": "a law (47 runs)"}, 3e20),
        ({"method": "a law"}, None),
        ({"method": "optima law, first 1 budgets"}, 1e18),
        ({"run": "isoflop-moe-v16-1e21-d2560-v2", "method": "a law", "flops": 1e21}, 3e20),
        ({"ladder": "moe-may-gates", "run": None, "method": "first 2 budgets"}, None),
    ],
)
def test_a_ratio_is_missing_where_the_snapshot_does_not_tell(snapshot, cells, expected):
    (row,) = forecast_ledger(with_forecasts(snapshot, [forecast(**cells)])).to_dict("records")
    if expected is None:
        assert np.isnan(row["largest_flops"])
        assert np.isnan(row["ratio"])
    else:
        assert row["largest_flops"] == expected
        assert row["ratio"] == row["flops"] / expected


@pytest.mark.parametrize(
    ("cells", "error"),
    [
        ({"predicted": None, "method": "measured 1.25 % below forecast"}, -1.25),
        ({"predicted": None, "method": "nothing printed"}, None),
        ({"predicted": 0.0}, None),
        ({"actual": None}, None),
        ({"predicted": 2.0, "actual": 2.5}, 25.0),
        ({"predicted": 2.0, "actual": 2.5, "method": "measured 9 % above forecast"}, 25.0),
    ],
)
def test_an_error_is_from_the_values_or_as_printed(snapshot, cells, error):
    (row,) = forecast_ledger(with_forecasts(snapshot, [forecast(**cells)])).to_dict("records")
    assert np.isnan(row["error_pct"]) if error is None else row["error_pct"] == error


def test_a_snapshot_without_forecasts_has_an_empty_ledger(snapshot):
    empty = forecast_ledger(with_forecasts(snapshot, []))
    assert list(empty.columns) == COLUMNS
    assert len(ledger_scores(empty)) == len(ledger_figure(empty).data) == 0
    assert "No published forecast" in ledger_alt(empty)


def test_the_figure_shows_what_reaches_beyond_its_fit(ledger):
    figure = ledger_figure(ledger)
    drawn = drawn_forecasts(ledger)
    assert len(drawn) == 31
    points = [point for trace in figure.data for point in zip(trace.x, trace.y, strict=True)]
    assert sorted(points) == sorted(zip(drawn["ratio"], drawn["error_pct"], strict=True))
    for trace in figure.data:
        filled = trace.marker.symbol == "circle"
        assert filled == trace.name.endswith(", preregistered")
        own = drawn[drawn["ladder"] == trace.name.removesuffix(", preregistered")]
        assert list(own[own["preregistered"] == filled]["error_pct"]) == list(trace.y)
    hero = next(trace for trace in figure.data if trace.name.startswith("hero"))
    assert "5 % of training" in hero.text[0]
    assert "-3.28 %" in hero.text[0]
    assert "31 published forecasts" in ledger_alt(ledger)
    assert "Preregistered, filled: 12" in ledger_alt(ledger)


def test_names_are_text_in_the_figure(snapshot):
    hostile = forecast(method="<b>first 6 budgets</b><img src=x>", made="2026-01")
    figure = ledger_figure(forecast_ledger(with_forecasts(snapshot, [hostile])))
    assert "&lt;img src=x&gt;" in figure.data[0].text[0]
    assert "<img" not in figure.data[0].text[0]
