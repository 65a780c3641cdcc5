"""Walk-forward: scores worked out by hand, no look ahead, and the defaults that it chooses."""

import numpy as np
import pandas as pd
import pytest

import delphi_core as dc
from delphi_core.fits.bands import BANDS
from delphi_core.fits.law_choice import CHOSEN_ON, DEFAULT_METHOD, choose
from delphi_core.fits.law_methods import METHODS, LawMethod, method_named
from delphi_core.fits.law_settings import DEFAULT_BAND, DEFAULT_LAW
from delphi_core.fits.walk_forward import FEWEST_BUDGETS, interval_score, optimum_interval, until

MACRO = "eval/paloma/macro_loss"
WAYS = (LawMethod("cubic", "squares"), LawMethod("marin", "log"), LawMethod("surface", "squares"))


def walk(records, x="tokens", methods=WAYS, replicates=20):
    """Walk-forward, quickly."""
    settings = dc.IsoflopFit(x=x, replicates=1)
    return dc.walk_forward_all(records, settings, methods=methods, replicates=replicates)


@pytest.mark.parametrize(
    ("low", "high", "actual", "level", "score"),
    [
        (1.9, 2.1, 2.0, 0.9, 10.0),  # inside: the width alone, 0.2 of 2
        (1.9, 2.1, 2.2, 0.9, 100.0),  # 0.1 above: 0.2 + 20 x 0.1 of 2.2
        (1.9, 2.1, 1.6, 0.9, 387.5),  # 0.3 below: 0.2 + 20 x 0.3 of 1.6
        (1.9, 2.1, 2.2, 0.5, 100 * 0.6 / 2.2),  # 0.1 above: 0.2 + 4 x 0.1
        (2.0, 2.0, 2.0, 0.9, 0.0),
        (-np.inf, np.inf, 2.0, 0.9, np.inf),
    ],
)
def test_interval_score_by_hand(low, high, actual, level, score):
    assert interval_score(low, high, actual, level) == pytest.approx(score)


def test_every_later_budget_is_forecast_from_four_or_more(snapshot):
    table = walk(snapshot.records("delphi", MACRO))
    # Seven budgets: four forecast three, five two, six one; each by every band.
    for _, own in table.groupby("method"):
        counts = own.groupby("budgets").size().to_dict()
        assert counts == {4: 3 * len(BANDS), 5: 2 * len(BANDS), 6: len(BANDS)}
    assert table["budgets"].min() == FEWEST_BUDGETS
    assert (table["ratio"] == table["flops"] / table["largest_flops"]).all()
    assert (table["flops"] > table["largest_flops"]).all()
    assert table["ratio"].max() == pytest.approx(10, rel=0.01)
    inside = (table["low"] <= table["optimum"]) & (table["optimum"] <= table["high"])
    assert (inside == table["covered"]).all()
    error = 100 * (table["optimum"] - table["predicted"]) / table["predicted"]
    assert table["error_pct"].to_numpy() == pytest.approx(error.to_numpy())
    assert (table["optimum_low"] < table["optimum"]).all()
    assert (table["optimum"] < table["optimum_high"]).all()


def test_a_cut_forecasts_what_a_fit_of_its_budgets_alone_does(snapshot):
    records = snapshot.records("delphi", MACRO)
    table = walk(records, methods=WAYS[:1], replicates=50)
    early = records[~(records["budget"] > 3.1e19)]
    alone = dc.LossLawFit(replicates=50)(dc.IsoflopFit(method="cubic", replicates=20)(early))
    own = table[(table["budgets"] == 4) & (table["band"] == DEFAULT_BAND)]
    forecast = alone.predict(own["flops"].to_numpy())
    for column, values in (("predicted", "value"), ("low", "low"), ("high", "high")):
        assert own[column].to_list() == getattr(forecast, values).tolist()


@pytest.mark.parametrize("ladder", CHOSEN_ON)
def test_no_cut_sees_later_budgets(snapshot, ladder):
    own = snapshot.ladder(ladder)
    records = snapshot.records(ladder, own.default_metric)
    table = walk(records, own.default_x)
    largest = records.loc[records["role"] == "isoflop", "budget"].max()
    last = records["budget"] == largest
    moved = records.assign(value=records["value"].where(~last, 1.01 * records["value"]))
    other = walk(moved, own.default_x)
    met = {"optimum", "optimum_low", "optimum_high", "error_pct", "covered", "score"}
    forecasts = [column for column in table if column not in met]
    pd.testing.assert_frame_equal(table[forecasts], other[forecasts], check_exact=True)
    of_last = table["flops"] > 0.9 * largest
    changed = table["optimum"] != other["optimum"]
    assert (changed == of_last).all()


def test_until_knows_only_what_was_trained_by_then(snapshot):
    fit = dc.IsoflopFit(replicates=20)(snapshot.records("delphi", MACRO))
    cut = until(fit, fit.budgets[3].flops)
    assert cut.budgets == fit.budgets[:4]
    assert cut.points["budget_flops"].max() == fit.budgets[3].flops
    assert cut.runs == sum(budget.runs for budget in fit.budgets[:4])


def test_interval_of_an_optimum_is_the_spread_of_its_noise():
    rng = np.random.default_rng(0)
    u = np.linspace(-0.8, 0.8, 9)
    tokens = 10 ** (10 + u)
    hits = []
    for _ in range(400):
        records = pd.DataFrame(
            {
                "tokens": tokens,
                "metric": "loss",
                "value": 3 + 0.3 * u**2 + 0.004 * rng.normal(size=9),
                "flops": 1e20,
                "params": 1e20 / 6 / tokens,
                "label": "made",
            }
        )
        fit = dc.IsoflopFit(replicates=1)(records)
        low, high = optimum_interval(fit, fit.budgets[0], 0.9)
        hits.append(low <= 3 <= high)
    assert 0.85 <= np.mean(hits) <= 0.95


def test_names_of_methods_are_their_own():
    assert len({method.name for method in METHODS}) == len(METHODS) == 15
    for method in METHODS:
        assert method_named(method.name) == method
    with pytest.raises(dc.FitError, match="no method 'cubic square'; did you mean 'cubic squares'"):
        method_named("cubic square")


def scores(method, band, score):
    """One row of walk-forward with a given score."""
    return {"method": method, "band": band, "score": score, "error_pct": -1.0, "covered": True}


def test_every_ladder_counts_the_same_and_an_open_band_never_wins():
    few = [scores("cubic squares", "delta", 1.0), scores("parabola log", "delta", 3.0)]
    many = [scores("cubic squares", "delta", 4.0), scores("parabola log", "delta", 1.0)] * 9
    tables = {"few": pd.DataFrame(few), "many": pd.DataFrame(many)}
    choice = choose(tables)
    assert choice.method.name == "parabola log"
    assert choice.scores["score"].to_list() == [2.0, 2.5]
    assert choice.scores["mean_abs_error_pct"].to_list() == [1.0, 1.0]
    # More cuts on one ladder do not outweigh the other.
    tables["few"].loc[0, "score"] = -1.0
    assert choose(tables).method.name == "cubic squares"
    tables["few"].loc[0, "score"] = np.inf
    assert choose(tables).method.name == "parabola log"


def test_a_ladder_too_short_to_walk_says_so(snapshot):
    table = walk(snapshot.records("moe-aug-hero", MACRO), "active_params")
    assert table.empty
    with pytest.raises(dc.FitError, match="moe-aug-hero has nothing to forecast: walk-forward nee"):
        choose({"moe-aug-hero": table})


@pytest.fixture(scope="module")
def whole(snapshot):
    """Walk-forward of every method on every ladder that the defaults are chosen on."""
    tables = {}
    for name in CHOSEN_ON:
        ladder = snapshot.ladder(name)
        tables[name] = dc.walk_forward_all(
            snapshot.records(name, ladder.default_metric),
            dc.IsoflopFit(x=ladder.default_x, replicates=1),
            replicates=300,
        )
    return tables


def test_the_defaults_are_what_walk_forward_chooses(whole):
    choice = choose(whole)
    assert choice.method == DEFAULT_METHOD
    assert choice.method.law == DEFAULT_LAW
    assert choice.band == DEFAULT_BAND
    best, second = choice.scores["score"].iloc[:2]
    assert best < second
    name = choice.method.name
    own = [
        table[(table["method"] == name) & (table["band"] == choice.band)]["score"].mean()
        for table in whole.values()
    ]
    assert best == pytest.approx(np.mean(own), rel=1e-12)
    assert len(choice.scores) == len(METHODS) * len(BANDS)
