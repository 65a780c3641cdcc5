"""Files of trackers: read tolerantly, to the last bit, and nothing they hold raises a traceback."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import delphi_core as dc
from delphi_core.sources.places import Place, PlaceError
from delphi_core.sources.run_folder import (
    FLOP_PER_GIGAFLOP,
    GIGAFLOPS,
    PARAMS,
    TOKENS,
    flatten,
    parse_tracker_file,
    read_run_folder,
)


def tracker_file(summary, config=None):
    return json.dumps({"config": config, "summary": summary}).encode() + b"\n"


def test_what_a_folder_says(tmp_path):
    (tmp_path / "run").mkdir()
    config = {"model": {"hidden_dim": 512, "num_layers": 6}, "trainer.train_batch_size": 32}
    summary = {TOKENS: 4304928768, GIGAFLOPS: 3.000006086133547e9, PARAMS: 156508160}
    data = tracker_file(summary | {"eval": {"paloma/macro_loss": 3.7}}, config)
    (tmp_path / "run" / "tracker_metrics.jsonl").write_bytes(data)
    folder = read_run_folder(Place(str(tmp_path)), "run")
    assert folder.config == {
        "model.hidden_dim": 512,
        "model.num_layers": 6,
        "trainer.train_batch_size": 32,
    }
    assert (folder.tokens, folder.params) == (4304928768.0, 156508160.0)
    assert folder.flops == 3.000006086133547e9 * FLOP_PER_GIGAFLOP
    assert folder.number("eval/paloma/macro_loss") == 3.7
    with pytest.raises(PlaceError, match=r"tracker_metrics\.jsonl is not there"):
        read_run_folder(Place(str(tmp_path)), "other")


def test_a_config_is_no_must():
    for config in (None, {}):
        assert parse_tracker_file(tracker_file({"loss": 1}, config)).config == {}


def test_a_flat_figure_counts_before_a_nested_one():
    assert flatten({"a": {"b": 1}, "a/b": 2}, "/") == {"a/b": 2}
    assert flatten({"a/b": 2, "a": {"b": 1}}, "/") == {"a/b": 2}


def test_control_characters_in_names_are_not_printed():
    folder = parse_tracker_file(tracker_file({"loss": 1}))
    with pytest.raises(dc.DataError) as caught:
        folder.number("lo\x1b[31m\nss")
    assert str(caught.value).isprintable()


leaves = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53)
names = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=5)
trees = st.recursive(
    leaves, lambda below: st.dictionaries(names, below, min_size=1, max_size=3), max_leaves=8
)


@given(st.dictionaries(names, trees, min_size=1))
def test_nested_figures_are_those_of_the_path_to_the_last_bit(summary):
    folder = parse_tracker_file(tracker_file(summary))

    def paths(levels, start=()):
        for name, value in levels.items():
            if isinstance(value, dict):
                yield from paths(value, (*start, name))
            else:
                yield "/".join((*start, name)), value

    found = dict(paths(summary))
    assert set(folder.summary) == set(found)
    for name, value in found.items():
        assert folder.number(name) == float(value)


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_else(data):
    for content in (data, b'{"summary": {"loss": ' + data, tracker_file({"loss": 1}) + data):
        try:
            folder = parse_tracker_file(content)
        except dc.DataError as error:
            assert str(error)  # noqa: PT017 - whether it raises hangs on the bytes
        else:
            assert folder.summary
