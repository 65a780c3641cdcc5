"""Records and budget buckets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import delphi_core as dc

MACRO = "eval/paloma/macro_loss"


@given(st.floats(1, 1e30))
def test_a_bucket_is_a_power_of_1_1_within_half_a_step(flops):
    bucket = dc.budget_bucket(flops)
    power = np.log(bucket) / np.log(1.1)
    assert power == pytest.approx(round(float(power)), abs=1e-9)
    assert abs(np.log(bucket / flops)) <= np.log(1.1) / 2 * (1 + 1e-9)


@given(st.floats(1, 1e30))
def test_a_bucket_is_in_its_own_bucket(flops):
    bucket = dc.budget_bucket(flops)
    assert dc.budget_bucket(bucket) == bucket


@given(st.lists(st.floats(1e15, 1e25), min_size=2))
def test_buckets_keep_the_order_of_compute(flops):
    ordered = np.sort(flops)
    assert (np.diff(dc.budget_bucket(ordered)) >= 0).all()


def test_no_compute_passes_through_and_shape_is_kept():
    assert dc.budget_bucket([[0.0, -5.0]]).tolist() == [[0.0, -5.0]]


def test_records_hold_the_six_columns_first(snapshot):
    records = snapshot.records("delphi", MACRO)
    assert records.columns.to_list() == [
        *("tokens", "metric", "value", "flops", "params", "label"),
        *("run", "role", "excluded_reason", "status", "progress", "budget", "budget_bucket"),
        *("hidden_dim", "layers", "batch_size", "url"),
    ]
    assert records["role"].value_counts().to_dict() == {"isoflop": 78, "heldout": 7, "excluded": 3}
    assert set(records["metric"]) == {MACRO}


def test_params_are_the_ladders_own_size_column(snapshot):
    runs = snapshot.tables["runs"].set_index("run")
    for ladder, column in (("delphi", "params"), ("moe-v16", "active_params")):
        records = snapshot.records(ladder, MACRO).set_index("run")
        assert (records["params"] == runs.loc[records.index, column]).all()
        assert (records["flops"] == runs.loc[records.index, "flops"]).all()


def test_unknown_names_suggest_the_nearest(snapshot):
    with pytest.raises(dc.DataError, match="no ladder 'dephi'; did you mean 'delphi'"):
        snapshot.records("dephi", MACRO)
    with pytest.raises(dc.DataError, match="did you mean 'eval/paloma/c4_en/bpb'"):
        snapshot.records("delphi", "paloma/c4_en/bpb")
    with pytest.raises(dc.DataError, match="known: eval/paloma/macro_loss"):
        snapshot.records("moe-aug-hero", "accuracy")
