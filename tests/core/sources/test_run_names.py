"""Names of runs: every bundled one is read as the tables have it, and any made one parses back."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from delphi_core.sources.run_names import RunName, parse_run_name

# How many runs of a sweep there are, and how many times the named budget what they recorded is.
SWEEPS = {"delphi": (81, 1), "delphi-attempt-1": (88, 3)}


@pytest.mark.parametrize("ladder", SWEEPS)
def test_bundled_names_say_what_their_rows_say(snapshot, ladder):
    number, times = SWEEPS[ladder]
    runs = snapshot.tables["runs"]
    own = runs[runs["ladder"] == ladder]
    named = own[own["run"].map(parse_run_name).notna()]
    assert len(named) == number
    assert set(named["role"]) <= {"isoflop", "excluded"}
    assert not own.drop(named.index)["run"].str.startswith("isoflop-").any()
    for row in named.itertuples():
        parts = parse_run_name(row.run)
        assert parts.label == row.label
        assert parts.ending is None
        assert (parts.hidden_dim, parts.layers) == (row.hidden_dim, row.layers)
        assert parts.batch_size == row.batch_size
        # Names have one digit of the budget.
        assert parts.budget == float(f"{row.budget / times:.0e}")


whole = st.integers(min_value=1, max_value=10**6)
flops = st.floats(min_value=1e15, max_value=1e27)
labels = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"], exclude_characters="/"),
    min_size=1,
).filter(lambda label: not re.search(r"-[0-9a-f]{6}$", label) and "\n" not in label)
endings = st.none() | st.from_regex(r"[0-9a-f]{6}", fullmatch=True)


@given(flops, st.tuples(whole, whole) | flops, whole, labels, endings)
def test_a_made_name_parses_back(budget, size, batch, label, ending):
    if isinstance(size, tuple):
        parts = RunName(label, float(f"{budget:.1e}"), batch, *size, ending=ending)
        shape = f"d{size[0]}-L{size[1]}"
    else:
        parts = RunName(label, float(f"{budget:.1e}"), batch, params=size, ending=ending)
        shape = f"N{size!r}"
    name = f"isoflop-{budget:.1e}-{shape}-B{batch}-{label}" + (f"-{ending}" if ending else "")
    assert parse_run_name(name) == parts


@pytest.mark.parametrize(
    "name",
    [
        "",
        "isoflop",
        "isoflop-3e+18-d512-L6-B32",
        "isoflop-3e+18-d512-L6-B32-",
        "isoflop-many-d512-L6-B32-v6",
        "isoflop-3e+18-d512-B32-v6",
        "isoflop-3e+18-N1e8-L6-B32-v6",
        "old-isoflop-3e+18-d512-L6-B32-v6",
        "isoflop-\u0663e18-d512-L6-B32-v6",
        "adamh-scaling-ladder-nemotron-optimal-1e+21-v5-019021",
    ],
)
def test_a_name_of_no_sweep_is_none(name):
    assert parse_run_name(name) is None


def test_six_digits_at_the_end_are_no_part_of_the_label():
    start = "isoflop-3e+18-d512-L6-B32-"
    assert parse_run_name(f"{start}v6-0a1b2c").label == "v6"
    assert parse_run_name(f"{start}v6-0a1b2g").label == "v6-0a1b2g"
    assert parse_run_name(f"{start}v6-0A1B2C").label == "v6-0A1B2C"
    assert parse_run_name(f"{start}v6-v2").label == "v6-v2"
    assert parse_run_name(f"{start}facade").label == "facade"
