"""Runs in pairs: the published 80, and what makes a pair."""

import pandas as pd
import pytest

import delphi_core as dc
from delphi_core.fits.pairs import PAIRED_ON

MACRO = "eval/paloma/macro_loss"


@pytest.fixture(scope="module")
def both(snapshot):
    return [snapshot.records(name, MACRO) for name in ("delphi-attempt-1", "delphi")]


def test_delphi_is_ahead_of_attempt_1_in_all_80_pairs(both):
    pairs = dc.paired_runs(*both)
    assert len(pairs) == 80
    assert pairs["ahead"].all()
    assert round(pairs["difference"].min(), 4) == 0.0141
    assert round(pairs["difference"].max(), 4) == 0.1555
    # Equal width, tokens and batch are equal compute too.
    assert (pairs["flops"] == pairs["base_flops"]).all()
    assert pairs["run"].is_unique
    assert pairs["base_run"].is_unique
    assert pairs["flops"].is_monotonic_increasing


def test_a_pair_is_equal_in_what_it_is_paired_on(both):
    pairs = dc.paired_runs(*both)
    for prefix, records in (("base_", both[0]), ("", both[1])):
        own = records.set_index("run").loc[pairs[f"{prefix}run"]]
        for column in PAIRED_ON:
            assert (own[column].to_numpy() == pairs[column].to_numpy()).all()
        assert (own["value"].to_numpy() == pairs[f"{prefix}value"].to_numpy()).all()
        assert set(own["role"]) <= {"isoflop", "excluded"}


def test_turned_round_the_differences_change_sign(both):
    first, second = dc.paired_runs(*both), dc.paired_runs(*both[::-1])
    assert (second["difference"] == -first["difference"]).all()
    assert not second["ahead"].any()


def test_the_order_of_rows_does_not_matter(both):
    shuffled = [records.sample(frac=1, random_state=3) for records in both]
    pd.testing.assert_frame_equal(dc.paired_runs(*shuffled), dc.paired_runs(*both))


def test_replicates_count_as_their_mean(both):
    base, recipe = both
    again = base[base["run"] == dc.paired_runs(base, recipe)["base_run"].iloc[0]]
    again = again.assign(run="again", value=again["value"] + 0.2)
    pairs = dc.paired_runs(pd.concat([base, again], ignore_index=True), recipe)
    assert len(pairs) == 80
    (moved,) = pairs[pairs["base_run"].str.contains("again")].to_dict("records")
    assert moved["base_value"] == pytest.approx(float(again["value"].iloc[0]) - 0.1)


def test_unfinished_runs_make_no_pair(both):
    base, recipe = both
    pairs = dc.paired_runs(base, recipe.assign(status="running"))
    assert len(pairs) == 0
    assert list(pairs) == list(dc.paired_runs(*both))


def test_other_metrics_and_unknown_columns_are_refused(both):
    base, recipe = both
    with pytest.raises(dc.FitError, match="runs of different metrics cannot be paired"):
        dc.paired_runs(base, recipe.assign(metric="eval/loss"))
    with pytest.raises(dc.FitError, match="no column 'width' to pair runs by"):
        dc.paired_runs(base, recipe, on=("width",))
