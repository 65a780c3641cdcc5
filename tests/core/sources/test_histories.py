"""Rows of the trajectories table: as the bundled ones, to the last bit."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from delphi_core.checks import check_table
from delphi_core.csv_text import read_csv_text
from delphi_core.sources.histories import (
    TOTAL_TOKENS,
    finite_number,
    tokens_per_step,
    trajectory_rows,
    values_by_step,
)
from delphi_core.tables import TRAJECTORIES

NAMES = {"ladder": "hero", "run": "r", "segment": "s", "source": "s001"}


def rows_of(values, metrics, **others):
    return trajectory_rows(values, metrics, **{**NAMES, **others})


def test_tokens_as_the_bundled_rows_have_them(snapshot):
    """Every segment of a run with a constant batch comes back, to the last bit."""
    bundled = snapshot.tables["trajectories"].dropna(subset="step")
    plans = snapshot.tables["runs"].dropna(subset=["batch_size", "seq_len"]).set_index("run")
    bundled = bundled[bundled["run"].isin(plans.index)].assign(source="s001")
    key, names, compared = ["metric", "step"], ["ladder", "run", "segment", "source"], 0
    for name, own in bundled.groupby(names):
        evaluations = [
            {"step": row.step, row.metric: row.value} for row in own.itertuples(index=False)
        ]
        metrics = list(dict.fromkeys(own["metric"]))
        plan = plans.loc[name[1]]
        rows, missing = trajectory_rows(
            values_by_step(evaluations, metrics),
            metrics,
            **dict(zip(names, name, strict=True)),
            step_tokens=float(plan["batch_size"] * plan["seq_len"]),
        )
        assert missing == []
        pd.testing.assert_frame_equal(
            rows.sort_values(key, ignore_index=True),
            own.sort_values(key, ignore_index=True),
            check_exact=True,
        )
        text = read_csv_text(rows.to_csv(index=False).encode(), "rows.csv")
        assert not check_table(text, TRAJECTORIES, "rows.csv")[1]
        compared += len(rows)
    assert compared > 2000


def test_logged_tokens_come_before_reckoned_ones():
    values = values_by_step(
        [{"at": 1, "loss": 3.0, TOTAL_TOKENS: 70}, {"at": 2, "loss": 2.0}],
        ["loss", TOTAL_TOKENS],
        "at",
    )
    rows, missing = rows_of(values, ["loss"], step_tokens=10.0)
    assert (rows["tokens"].to_list(), missing) == ([70.0, 30.0], [])
    rows, missing = rows_of(values, ["loss"])
    assert rows["tokens"].to_list() == [70.0]
    assert missing == ["s has 1 value of loss without tokens; give --tokens-per-step."]


def test_a_metric_that_is_not_there_is_named_and_the_others_are_given():
    values = values_by_step([{"step": 0, "loss": 3.0, "bpb": "NaN"}], ["loss", "bpb"])
    rows, missing = rows_of(values, ["bpb", "loss", "acc"], step_tokens=1.0)
    assert rows["metric"].to_list() == ["loss"]
    assert missing == [
        "s has 1 value of bpb that cannot be used (NaN, infinite or no number); left out.",
        "s has no value of acc; check its name.",
    ]
    rows, missing = rows_of(values_by_step([], ["loss"]), ["loss"], step_tokens=1.0)
    assert (len(rows), len(missing), list(rows)) == (0, 1, list(TRAJECTORIES.column_names))


@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from("abc"), st.floats()), max_size=40))
def test_what_came_last_counts(logged):
    frame = values_by_step([{"step": at, key: value} for at, key, value in logged], "abc").values
    last = {(at, key): value for at, key, value in logged}
    assert frame["step"].to_list() == sorted({at for at, _ in last})
    for (at, key), value in last.items():
        held = frame.set_index("step").loc[at, key]
        assert held == value if math.isfinite(value) else math.isnan(held)
    assert int(frame[["a", "b", "c"]].notna().sum().sum()) == np.isfinite(list(last.values())).sum()


@pytest.mark.parametrize(
    "value", [None, "NaN", "Infinity", "-Infinity", "3.5", "", True, [], {}, math.nan, 10**400]
)
def test_what_is_no_finite_number_is_missing(value):
    assert math.isnan(finite_number(value))


def test_tokens_of_a_step():
    batch, length = {"trainer.train_batch_size": 32}, {"model.seq_len": 4096}
    assert tokens_per_step(batch | length) == 131072.0
    assert tokens_per_step(batch | length | {"train_seq_len": 2048}) == 65536.0
    schedule = [{"start": 0, "value": 32}, {"start": 1000, "value": 64}]
    for config in (batch, length, {}, {"trainer.train_batch_size": schedule} | length):
        assert math.isnan(tokens_per_step(config))
