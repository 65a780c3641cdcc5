"""eval_metrics.jsonl: evaluations in the order of the file, and lines that are none."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delphi_core.sources.eval_metrics import parse_eval_metrics
from delphi_core.sources.histories import values_by_step

LOSS = "eval/loss"


def test_flat_and_nested_evaluations_are_the_same():
    flat = parse_eval_metrics(b'{"step": 7, "eval/loss": 3.25, "eval/paloma/c4_en/bpb": 1e-3}\n')
    nested = parse_eval_metrics(
        b'\n{"step": 7.0, "eval": {"loss": 3.25, "paloma": {"c4_en": {"bpb": 0.001}}}}'
    )
    assert flat == nested
    assert flat.rows == ({"step": 7, LOSS: 3.25, "eval/paloma/c4_en/bpb": 0.001},)
    assert parse_eval_metrics(b"") == parse_eval_metrics(b"\n \n")


def test_a_resumed_run_and_a_torn_end():
    lines = [{"step": step, LOSS: 9.0 - step / 100} for step in (0, 100, 200, 300)]
    lines += [{"step": 200, LOSS: 6.5}, {"step": 300, LOSS: "NaN"}, {"step": 400, LOSS: 5.0}]
    data = "\n".join(json.dumps(line) for line in lines) + '\n{"step": 500, "eval/lo'
    found = parse_eval_metrics(data.encode())
    assert found.notes == (
        "eval_metrics.jsonl line 8 is cut off or no evaluation; it was left out.",
    )
    logged = values_by_step(found.rows, [LOSS])
    assert logged.lost == {LOSS: 1}
    values = logged.values.dropna()
    assert list(zip(values["step"], values[LOSS], strict=True)) == [
        *((0, 9.0), (100, 8.0), (200, 6.5), (400, 5.0))
    ]


@pytest.mark.parametrize(
    "line",
    [
        *(b"{", b"[]", b"3", b"null", b'"text"', b"\xff\xfe", b"[" * 100_000, b'{"a":' * 5000),
        *(b"{}", b'{"step": null}', b'{"step": -1}', b'{"step": 0.5}', b'{"step": "3"}'),
        *(b'{"step": true}', b'{"step": NaN}', b'{"step": Infinity}', b'{"step": 1e300}'),
        *(b'{"step": [1]}', b'{"step": {"at": 1}}', b'{"step": ' + b"9" * 5000 + b"}"),
    ],
)
def test_lines_that_are_no_evaluation_are_counted(line):
    good = b'{"step": 3, "eval/loss": 2.5}'
    found = parse_eval_metrics(good + b"\n" + line + b"\n" + good)
    assert found.rows == ({"step": 3, LOSS: 2.5},) * 2
    assert found.notes == (
        "eval_metrics.jsonl line 2 is cut off or no evaluation; it was left out.",
    )


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything(data):
    for content in (data, b'{"step": 1, ' + data):
        parse_eval_metrics(content)
