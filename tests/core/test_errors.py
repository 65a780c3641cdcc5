"""Messages: at most ten lines, and near misses for unknown names."""

import pytest

from delphi_core.errors import DataError, did_you_mean


@pytest.mark.parametrize(("mistakes", "lines"), [(1, 1), (10, 10), (11, 10), (5000, 10)])
def test_ten_lines_at_most_and_none_forgotten(mistakes, lines):
    shown = str(DataError([f"mistake {number}" for number in range(mistakes)])).splitlines()
    assert len(shown) == lines
    if mistakes > 10:
        assert shown[-1] == f"and {mistakes - 9:,} more mistakes."


def test_unlisted_mistakes_are_counted():
    assert str(DataError(["a", "b"], unlisted=8)) == "a\nb"
    shown = str(DataError([str(i) for i in range(10)], unlisted=1_000_000)).splitlines()
    assert (len(shown), shown[-1]) == (10, "and 1,000,001 more mistakes.")


def test_near_misses():
    known = ["eval/paloma/c4_en/bpb", "eval/paloma/macro_loss"]
    assert did_you_mean("eval/paloma/macro", known) == "did you mean 'eval/paloma/macro_loss'?"
    assert did_you_mean("c4_en", known) == "did you mean 'eval/paloma/c4_en/bpb'?"
    assert did_you_mean("zzz", known) == "known: eval/paloma/c4_en/bpb, eval/paloma/macro_loss"
    assert did_you_mean("", []) == "known: none"
