"""Evaluations during training: every row counts once, and what cannot be used is said."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import delphi_core as dc
from delphi_core.sources.eval_metrics import parse_eval_metrics
from delphi_core.tables import TRAJECTORIES

WHERE = {"ladder": "delphi", "run": "r", "source": "s003", "tokens_per_step": 64 * 4096}


def lines(*evaluations):
    return "".join(json.dumps(found) + "\n" for found in evaluations).encode()


def pairs(found):
    return list(zip(found.rows["step"], found.rows["metric"], found.rows["value"], strict=True))


def test_rows_are_those_of_the_table():
    data = lines({"step": 0, "eval/loss": 12.5, "eval/b": 2}, {"step": 1000, "eval/loss": 3.5})
    found = parse_eval_metrics(data, **WHERE)
    assert tuple(found.rows.columns) == TRAJECTORIES.column_names
    assert pairs(found) == [(0, "eval/b", 2.0), (0, "eval/loss", 12.5), (1000, "eval/loss", 3.5)]
    assert found.rows["tokens"].to_list() == [64 * 4096, 64 * 4096, 1001 * 64 * 4096]
    assert set(found.rows["segment"]) == {"r"}
    assert found.skipped == ()
    assert set(parse_eval_metrics(data, **WHERE, segment="r-2").rows["segment"]) == {"r-2"}


def test_the_bundled_trajectories_follow_the_same_convention(snapshot):
    """Every step of a run with a constant batch comes back to its own row, bit by bit."""
    runs = snapshot.tables["runs"].dropna(subset=["batch_size", "seq_len"])
    trajectories = snapshot.tables["trajectories"].dropna(subset=["step"])
    compared = 0
    for row in runs.itertuples():
        own = trajectories[trajectories["run"] == row.run]
        for segment, rows in own.groupby("segment"):
            ordered = rows.sort_values(["step", "metric"]).reset_index(drop=True)
            cells = zip(ordered["step"], ordered["metric"], ordered["value"], strict=True)
            found = parse_eval_metrics(
                lines(*({"step": int(step), metric: value} for step, metric, value in cells)),
                ladder=row.ladder,
                run=row.run,
                segment=segment,
                source=ordered["source"].iloc[0],
                tokens_per_step=row.batch_size * row.seq_len,
                metrics=set(ordered["metric"]),
            )
            assert found.rows["value"].to_list() == ordered["value"].to_list()
            assert found.rows["tokens"].to_list() == ordered["tokens"].to_list()
            compared += len(ordered)
    assert compared > 2000


def test_of_a_repeated_step_the_last_counts():
    data = lines(
        {"step": 0, "eval/a": 9.0},
        {"step": 10, "eval/a": 5.0, "eval/b": 1.0},
        {"step": 20, "eval/a": 4.0},
        {"step": 10, "eval/a": 6.0},
        {"step": 20, "eval/a": "NaN"},
    )
    found = parse_eval_metrics(data, **WHERE)
    assert pairs(found) == [(0, "eval/a", 9.0), (10, "eval/a", 6.0), (10, "eval/b", 1.0)]
    assert found.skipped == (
        "eval_metrics.jsonl line 5: eval/a is 'NaN'; it must be a finite number.",
    )


def test_half_a_line_at_the_end_of_a_running_job():
    data = lines({"step": 0, "eval/a": 9.0}) + b'{"step": 1000, "eval/a": 3.'
    found = parse_eval_metrics(data, **WHERE)
    assert pairs(found) == [(0, "eval/a", 9.0)]
    assert found.skipped == (
        "eval_metrics.jsonl line 2 is cut off or no evaluation; it was left out.",
    )


@pytest.mark.parametrize(
    "line",
    [
        '{"eval/a": 1}',
        '{"step": null, "eval/a": 1}',
        '{"step": 1.5, "eval/a": 1}',
        '{"step": -1, "eval/a": 1}',
        '{"step": true, "eval/a": 1}',
        '{"step": NaN, "eval/a": 1}',
        '{"step": Infinity, "eval/a": 1}',
        '{"step": 1e300, "eval/a": 1}',
        '{"step": "1", "eval/a": 1}',
        "[1]",
        "null",
        "\u00ff",
        '{"a":' * 100_000,
    ],
)
def test_a_line_that_is_no_evaluation_is_named(line):
    data = lines({"step": 1, "eval/a": 2.0}) + line.encode("latin-1") + b"\n"
    found = parse_eval_metrics(data, **WHERE)
    assert pairs(found) == [(1, "eval/a", 2.0)]
    assert len(found.skipped) == 1
    assert "line 2 is cut off or no evaluation" in found.skipped[0]


@pytest.mark.parametrize(
    "value", [None, "NaN", float("nan"), float("-inf"), True, "x", 10**400, []]
)
def test_a_value_that_is_none_is_named(value):
    found = parse_eval_metrics(lines({"step": 1, "eval/a": value, "eval/b": 1.0}), **WHERE)
    assert pairs(found) == [(1, "eval/b", 1.0)]
    assert len(found.skipped) == 1
    assert "line 1: eval/a is " in found.skipped[0]


def test_nothing_gives_no_rows_of_the_right_types():
    found = parse_eval_metrics(b"", **WHERE)
    assert (len(found.rows), found.skipped) == (0, ())
    full = parse_eval_metrics(lines({"step": 1, "eval/a": 1}), **WHERE)
    assert found.rows.dtypes.to_dict() == full.rows.dtypes.to_dict()


def test_metrics_may_be_chosen_and_nested():
    data = lines({"step": 3.0, "eval": {"a": 1, "b": 2}, "train/loss": 4, "throughput/mfu": 0.4})
    assert pairs(parse_eval_metrics(data, **WHERE)) == [(3, "eval/a", 1.0), (3, "eval/b", 2.0)]
    chosen = parse_eval_metrics(data, **WHERE, metrics=["train/loss", "eval/b"])
    assert pairs(chosen) == [(3, "eval/b", 2.0), (3, "train/loss", 4.0)]


@pytest.mark.parametrize("tokens", [0, -1, float("nan"), float("inf")])
def test_tokens_per_step_must_be_positive(tokens):
    with pytest.raises(dc.DataError, match="give batch size times sequence length"):
        parse_eval_metrics(b"", **WHERE | {"tokens_per_step": tokens})


evaluations = st.lists(
    st.fixed_dictionaries(
        {"step": st.integers(min_value=0, max_value=50)},
        optional={
            "eval/a": st.floats(allow_nan=False, allow_infinity=False),
            "eval/b": st.integers(min_value=-100, max_value=100),
        },
    ),
    max_size=20,
)


@given(evaluations)
def test_any_made_run_gives_its_last_values_in_order(made):
    found = parse_eval_metrics(lines(*made), **WHERE)
    last = {(e["step"], m): float(v) for e in made for m, v in e.items() if m != "step"}
    assert pairs(found) == [(*key, last[key]) for key in sorted(last)]
    assert found.rows["tokens"].is_monotonic_increasing


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything(data):
    for content in (data, b'{"step": 1, ' + data):
        parse_eval_metrics(content, **WHERE)
