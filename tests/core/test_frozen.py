"""Frozen forecasts: what they hold, whether they still follow, and how they came out."""

import copy
import json
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import delphi_core as dc
from delphi_core import frozen_check
from delphi_core.fits.law_choice import DEFAULT_METHOD
from delphi_core.frozen_file import (
    LARGEST_FILE,
    checksum,
    frozen_text,
    is_sealed,
    parse_frozen,
    read_frozen,
    sealed,
)
from delphi_core.frozen_law import FrozenLaw
from delphi_core.frozen_rows import held, snapshot_of_rows, taken_up
from delphi_core.frozen_trajectory import FrozenTrajectory

HERO, RUN = "hero", "hero-535b-a23b"
MACRO = "eval_dropless/paloma/macro_loss"
DELPHI = "eval/paloma/macro_loss"
WHEN = datetime(2026, 9, 1, 12, 30, tzinfo=UTC)


@pytest.fixture(scope="module")
def hero(snapshot):
    return dc.freeze_forecast(snapshot, HERO, made_at=WHEN)


@pytest.fixture(scope="module")
def law(snapshot):
    return dc.freeze_forecast(snapshot, ladder="delphi", flops=[1e22, 1e23], made_at=WHEN)


def changed(snapshot, table, change):
    """A snapshot with one table changed: `change` gets a copy of it and gives it back."""
    frame = change(snapshot.tables[table].copy())
    tables = {**snapshot.tables, table: frame.reset_index(drop=True)}
    return dc.Snapshot("c" * 12, "2030-01-01", tables, {**snapshot.files, f"{table}.csv": "0" * 64})


def loss(run, metric=MACRO, number=-1):
    """Place of an evaluation of a run in trajectories, and what adds 0.001 to it."""

    def change(frame):
        places = frame.index[(frame["run"] == run) & (frame["metric"] == metric)]
        frame.loc[places[number], "value"] += 0.001
        return frame

    return change


def without_rows(where):
    return lambda frame: frame[~where(frame)]


def resealed(document, change):
    """A document that was altered, with the checksum made anew."""
    altered = copy.deepcopy(document)
    change(altered)
    return sealed(altered)


# What a file holds.


def test_the_file_says_what_it_was_made_of(snapshot, hero):
    assert hero["made_at"] == "2026-09-01T12:30:00Z"
    assert hero["snapshot"]["id"] == snapshot.id
    assert hero["snapshot"]["files"] == dict(snapshot.files)
    assert len(hero["snapshot"]["files"]) == 13
    assert hero["versions"]["delphi_core"] == dc.__version__
    assert hero["versions"]["numpy"] == np.__version__
    assert hero["settings"] == {
        "method": "surface",
        "asymptote": 1.5,
        "level": 0.9,
        "offset": 0.005,
    }
    rows = hero["rows"]["trajectories"]
    assert {row[rows["columns"].index("metric")] for row in rows["rows"]} == {MACRO}
    assert RUN not in {row[rows["columns"].index("run")] for row in rows["rows"]}
    assert rows["sha256"] == checksum({name: rows[name] for name in ("columns", "rows")})
    assert hero["rows_sha256"] == checksum(hero["rows"])
    assert is_sealed(hero)
    again = dc.freeze_forecast(snapshot, HERO, made_at=WHEN)
    assert frozen_text(again) == frozen_text(hero)
    assert parse_frozen(frozen_text(hero).encode(), "x") == hero


@pytest.mark.parametrize("method", ["per-fraction", "joint", "collapse", "surface"])
@pytest.mark.parametrize(
    ("target", "more"),
    [
        ("hero", {}),
        ("hero", {"asymptote": "fit", "level": 0.8}),
        ("hero", {"metric": "eval_dropless/paloma/c4_en/loss", "asymptote": 1.2}),
        ("delphi-1e23", {}),
    ],
)
def test_a_trajectory_from_its_rows_alone_is_that_of_the_whole_snapshot(
    snapshot, target, more, method
):
    document = dc.freeze_forecast(snapshot, target, method=method, **more)
    table = dc.forecast_trajectory(snapshot, target, method=method, **more)
    assert predicted(document) == at_multiples(table)
    assert dc.check_forecast(snapshot, document)["differences"] == []


def test_a_macro_loss_without_subsets_follows_from_the_others(snapshot):
    document = dc.freeze_forecast(snapshot, HERO, without=["ptb", "gab"])
    assert predicted(document) == at_multiples(
        dc.forecast_trajectory(snapshot, HERO, without=("ptb", "gab"))
    )
    rows = document["rows"]["trajectories"]
    metrics = {row[rows["columns"].index("metric")] for row in rows["rows"]}
    assert len(metrics) == 14
    assert not any("ptb" in metric or "gab" in metric for metric in metrics)
    noisy = changed(snapshot, "trajectories", loss("rav-ladder-d1024", MACRO[:-10] + "ptb/loss"))
    assert dc.check_forecast(noisy, document)["follows"]


def test_the_frozen_hero_is_the_published_forecast(snapshot):
    document = dc.freeze_forecast(snapshot, HERO, method="per-fraction", asymptote=1.5)
    assert [round(row["predicted"], 4) for row in document["result"]["predictions"]] == [
        *(2.3921, 2.3261, 2.2872, 2.2571, 2.2402, 2.2234, 2.2142, 2.1853, 2.1918, 2.1724),
        *(2.1491, 2.1352, 2.1237, 2.1105, 2.0971, 2.0852, 2.0775, 2.0643, 2.0505, 2.0388),
    ]


@pytest.fixture(scope="module", params=["delphi", "moe-v16"])
def every_method(request, snapshot):
    """A ladder, and the forecast of every method of the `methods` command at 1e24."""
    ladder = snapshot.ladder(request.param)
    fits = dc.fit_methods(
        snapshot.records(request.param, ladder.default_metric),
        dc.IsoflopFit(x=ladder.default_x),
        dc.LawSettings(),
    )
    table = dc.methods_table(fits, [1e24])
    return ladder.ladder, table[table["flops"] == 1e24].set_index("method")


@pytest.mark.parametrize(
    "name", ["cubic squares", "parabola log", "marin huber", "surface log", "surface squares, E 0"]
)
def test_a_law_from_its_rows_alone_is_that_of_the_whole_ladder(snapshot, every_method, name):
    ladder, table = every_method
    document = dc.freeze_forecast(snapshot, ladder=ladder, flops=[1e24], method=name)
    (found,) = document["result"]["predictions"]
    row = table.loc[name]
    assert {key: row[key] for key in found if key != "flops"} | {"flops": 1e24} == found
    assert document["result"]["E"] == row["E"]


def test_the_default_law_is_that_of_the_methods_command(law):
    assert law["settings"]["method"] == DEFAULT_METHOD.name
    assert [row["flops"] for row in law["result"]["predictions"]] == [1e22, 1e23]
    columns = law["rows"]["runs"]["columns"]
    assert {row[columns.index("role")] for row in law["rows"]["runs"]["rows"]} == {"isoflop"}
    assert len(law["measured_before"]) == 7


@pytest.mark.parametrize("kind", ["hero", "law"])
def test_rows_come_back_out_of_a_file_as_they_were(request, snapshot, kind):
    document = parse_frozen(frozen_text(request.getfixturevalue(kind)).encode(), "x")
    part = frozen_check.Part(document, "x").part("rows")
    own = FrozenTrajectory if kind == "hero" else FrozenLaw
    rows = taken_up(part, own.tables)
    for name, frame in rows.items():
        dtypes = snapshot.tables[name].dtypes
        assert frame.dtypes.to_dict() == {column: dtypes[column] for column in frame}
    assert held(rows) == document["rows"]
    whole = snapshot_of_rows(rows)
    for name, table in snapshot.tables.items():
        assert list(whole.tables[name].columns) == list(table.columns)


def predicted(document):
    """Forecast and band at the multiples, as a file holds them."""
    names = ("fraction", "predicted", "low", "high")
    return [[row[name] for name in names] for row in document["result"]["predictions"]]


def at_multiples(table):
    """The same of a table of `forecast_trajectory`."""
    rows = table.loc[table["step"].isna(), ["fraction", "predicted", "low", "high"]]
    return rows.to_numpy(float).tolist()


# Whether it still follows.


@pytest.mark.parametrize("kind", ["hero", "law"])
def test_on_the_same_snapshot_it_follows_to_the_last_bit(request, snapshot, tmp_path, kind):
    file = tmp_path / "frozen.json"
    file.write_text(frozen_text(request.getfixturevalue(kind)), encoding="utf-8")
    found = dc.check_forecast(snapshot, file)
    assert found["follows"]
    assert found["differences"] == []
    assert found["own_rows"] == found["now"]
    assert found["now"] == {"identical": True, "largest_difference": 0.0, "problem": None}
    assert not found["altered"]
    assert found["rows_sha256"]["then"] == found["rows_sha256"]["now"]
    assert found["snapshot"]["files_changed"] == []
    assert found["since"]["summary"] == {"evaluations": 0}


def test_one_changed_loss_of_a_rung_is_named_with_table_and_row(snapshot, hero):
    other = changed(snapshot, "trajectories", loss("rav-ladder-d1024"))
    found = dc.check_forecast(other, hero)
    assert not found["follows"]
    assert not found["altered"]
    assert found["own_rows"]["identical"]
    values = [each.tables["trajectories"]["value"] for each in (snapshot, other)]
    (place,) = np.flatnonzero(values[0] != values[1])
    then, now = (float(column.iloc[place]) for column in values)
    named, forecast = found["differences"]
    assert named.startswith(f"trajectories row {place + 2} (hero, rav-ladder-d1024, ")
    assert named.endswith(f", {MACRO}): value was {then}, is {now}")
    assert forecast.startswith("the snapshot's rows give a forecast that is off by up to ")
    ((key, columns),) = [
        (row["key"], row["columns"]) for row in found["rows_changed"]["trajectories"]["changed"]
    ]
    assert key["run"] == "rav-ladder-d1024"
    assert columns == {"value": [then, now]}
    assert 0 < found["now"]["largest_difference"] < 0.001
    assert found["snapshot"]["files_changed"] == ["trajectories.csv"]


def test_one_changed_loss_of_a_ladder_is_named(snapshot, law):
    run = "isoflop-3e+18-d512-L6-B32-adamh_scaling_v6"

    def change(frame):
        frame.loc[(frame["run"] == run) & (frame["metric"] == DELPHI), "value"] += 0.01
        return frame

    found = dc.check_forecast(changed(snapshot, "evals", change), law)
    assert not found["follows"]
    assert any(
        line.startswith("evals row ") and run in line and "value was " in line
        for line in found["differences"]
    )


@pytest.mark.parametrize(
    ("table", "change", "words"),
    [
        ("targets", lambda frame: frame.assign(pinned_E=1.4), None),
        (
            "runs",
            lambda frame: frame.assign(
                flops=frame["flops"].where(frame["run"] != RUN, 2 * frame["flops"])
            ),
            "flops was 2.6108941613772703e+24, is 5.221788322754541e+24",
        ),
        (
            "trajectories",
            without_rows(
                lambda frame: (frame["run"] == "rav-ladder-d1024") & (frame["step"] > 15_000)
            ),
            "is no longer there",
        ),
        (
            "targets",
            without_rows(lambda frame: frame["target"] == "hero"),
            "the snapshot's rows give no forecast: no target 'hero'",
        ),
        (
            "trajectories",
            without_rows(lambda frame: frame["ladder"] == "hero"),
            "the snapshot's rows give no forecast: a forecast needs two rungs",
        ),
    ],
)
def test_other_rows_are_named(snapshot, hero, table, change, words):
    found = dc.check_forecast(changed(snapshot, table, change), hero)
    assert not found["follows"]
    text = "\n".join(found["differences"])
    assert (words or "pinned_E was 1.5, is 1.4") in text
    assert len(found["differences"]) <= 2 * 11


def test_many_changed_rows_are_counted(snapshot, hero):
    def change(frame):
        return frame.assign(value=frame["value"] + 0.5)

    found = dc.check_forecast(changed(snapshot, "trajectories", change), hero)
    assert "trajectories: and 67 more rows; --json has all" in found["differences"]
    assert len(found["rows_changed"]["trajectories"]["changed"]) == 77


def test_rows_elsewhere_and_another_order_change_nothing(snapshot, hero, law):
    def elsewhere(frame):
        other = (frame["ladder"] != "hero") | (frame["metric"] != MACRO) | (frame["run"] == RUN)
        return frame.assign(value=frame["value"].where(~other, 9.0))

    for other in (
        changed(snapshot, "trajectories", elsewhere),
        changed(snapshot, "trajectories", lambda frame: frame.sample(frac=1, random_state=1)),
        changed(snapshot, "runs", lambda frame: frame.iloc[::-1]),
        changed(snapshot, "runs", lambda frame: frame.assign(url="elsewhere", seed=pd.NA)),
        changed(snapshot, "events", lambda frame: frame.iloc[:0]),
    ):
        found = dc.check_forecast(other, hero)
        assert found["differences"] == []
        assert found["follows"]
    held_out = changed(
        snapshot, "evals", without_rows(lambda frame: frame["run"].str.contains(r"1e\+2[123]"))
    )
    assert dc.check_forecast(held_out, law)["follows"]


def test_a_further_run_of_the_sweep_is_named(snapshot, law):
    gone = "isoflop-3e+18-d512-L6-B32-adamh_scaling_v6"
    earlier = changed(snapshot, "evals", without_rows(lambda frame: frame["run"] == gone))
    document = dc.freeze_forecast(earlier, ladder="delphi", flops=[1e22])
    found = dc.check_forecast(snapshot, document)
    assert f"evals: the row of delphi, {gone}, {DELPHI} is new" in found["differences"]
    assert f"runs: the row of delphi, {gone} is new" in found["differences"]
    back = dc.check_forecast(earlier, law)
    assert f"runs: the row of delphi, {gone} is no longer there" in back["differences"]


# Whether the file was altered.


def better(document):
    for row in document["result"]["predictions"]:
        row["predicted"] -= 0.01


def other_row(document):
    document["rows"]["trajectories"]["rows"][5][-1] += 0.01


def wider(document):
    document["result"]["line"][100][3] += 0.5


@pytest.mark.parametrize("alter", [better, other_row, wider])
def test_an_altered_file_is_told(snapshot, hero, alter):
    altered = copy.deepcopy(hero)
    alter(altered)
    found = dc.check_forecast(snapshot, altered)
    assert found["altered"]
    assert not found["follows"]
    assert found["differences"][0].startswith("the file was altered after it was made")
    assert not found["own_rows"]["identical"]


@pytest.mark.parametrize("alter", [better, other_row, wider])
def test_a_new_checksum_does_not_hide_it(snapshot, hero, alter):
    found = dc.check_forecast(snapshot, resealed(hero, alter))
    assert not found["follows"]
    assert any(line.startswith("the file's own rows give ") for line in found["differences"])


def test_an_altered_text_is_told_by_the_checksum(snapshot, hero):
    altered = {**hero, "made_at": "2026-01-01T00:00:00Z"}
    found = dc.check_forecast(snapshot, altered)
    assert found["differences"] == [
        "the file was altered after it was made: its checksums are not those of its content."
    ]


def test_other_versions_are_said_and_are_no_difference(snapshot, hero):
    def older(document):
        document["versions"] |= {"numpy": "1.0.0", "scipy": "0.1"}

    found = dc.check_forecast(snapshot, resealed(hero, older))
    assert found["follows"]
    assert found["versions"]["differ"] == ["numpy", "scipy"]
    assert found["versions"]["then"]["numpy"] == "1.0.0"

    def drifted(document):
        older(document)
        document["result"]["predictions"][3]["predicted"] *= 1 + 1e-12

    found = dc.check_forecast(snapshot, resealed(hero, drifted))
    assert found["differences"] == [
        (
            "the file's own rows give a forecast that is off by up to 1e-12 of it "
            "(other versions of numpy, scipy are at work)."
        )
    ]


# How it came out.


def test_measurements_made_since_are_scored_and_earlier_ones_are_not(snapshot):
    def early(frame):
        return frame[(frame["run"] != RUN) | (frame["step"] < 60_000)]

    then = changed(snapshot, "trajectories", early)
    document = dc.freeze_forecast(then, HERO)
    found = dc.check_forecast(snapshot, document)
    assert found["follows"]
    table = dc.forecast_trajectory(snapshot, HERO)
    rows = table[(table["step"] >= 60_000) & table["actual"].notna()]
    since = found["since"]
    summary = since["summary"]
    assert summary["evaluations"] == len(rows) == len(since["points"]) > 10
    assert since["known_before"] == len(document["measured_before"])
    assert since["changed_since"] == 0
    points = pd.DataFrame(since["points"])
    np.testing.assert_array_equal(points["actual"], rows["actual"])
    # Read off a line of values 0.5 % apart, it is the forecast itself to a few millionths.
    np.testing.assert_allclose(points["predicted"], rows["predicted"], rtol=5e-6)
    np.testing.assert_allclose(points["low"], rows["low"], rtol=1e-5)
    errors = 100 * (points["actual"] / points["predicted"] - 1)
    assert summary["mean_abs_error_pct"] == pytest.approx(errors.abs().mean())
    assert summary["coverage"] == np.mean(
        (points["low"] <= points["actual"]) & (points["actual"] <= points["high"])
    )
    missed = np.maximum(points["low"] - points["actual"], 0) + np.maximum(
        points["actual"] - points["high"], 0
    )
    score = 100 * (points["high"] - points["low"] + 20 * missed) / points["actual"]
    assert summary["interval_score"] == pytest.approx(score.mean())


def test_scores_are_of_the_frozen_line_whatever_is_forecast_now(snapshot):
    def early(frame):
        return frame[(frame["run"] != RUN) | (frame["step"] < 60_000)]

    document = dc.freeze_forecast(changed(snapshot, "trajectories", early), HERO)
    frozen = dc.check_forecast(snapshot, document)["since"]
    moved = changed(snapshot, "trajectories", loss("rav-ladder-d1024"))
    found = dc.check_forecast(moved, document)
    assert not found["follows"]
    assert found["since"] == frozen


def test_a_known_evaluation_that_changed_is_counted(snapshot, hero):
    found = dc.check_forecast(changed(snapshot, "trajectories", loss(RUN)), hero)
    assert found["follows"]
    assert found["since"]["changed_since"] == 1
    assert found["since"]["summary"] == {"evaluations": 0}


def test_the_one_forecast_of_67b_is_scored_when_it_is_met(snapshot):
    def unmet(frame):
        return frame[(frame["run"] != "moe-67b-a2b") | (frame["tokens"] < 8e12)]

    document = dc.freeze_forecast(changed(snapshot, "trajectories", unmet), "67b")
    (point,) = dc.check_forecast(snapshot, document)["since"]["points"]
    assert (round(point["predicted"], 4), point["actual"]) == (2.2692, 2.256)
    assert round(point["error_pct"], 2) == -0.58


def test_held_out_runs_trained_since_are_scored(snapshot):
    def before(frame):
        return frame[
            ~((frame["ladder"] == "delphi") & frame["run"].str.contains("1e+23", regex=False))
        ]

    then = changed(snapshot, "evals", before)
    document = dc.freeze_forecast(then, ladder="delphi", flops=[1e22, 1e23])
    found = dc.check_forecast(snapshot, document)
    assert found["follows"]
    (point,) = found["since"]["points"]
    assert point["flops"] == 1e23
    assert point["actual"] == pytest.approx(2.3546, abs=5e-5)
    predicted = document["result"]["predictions"][1]
    assert (point["predicted"], point["low"]) == (predicted["predicted"], predicted["low"])
    assert found["since"]["summary"]["evaluations"] == 1
    assert found["since"]["known_before"] == 6


# Files that are none.


def refused(snapshot, data, tmp_path):
    file = tmp_path / "bad.json"
    file.write_bytes(data)
    with pytest.raises(dc.DelphiError) as caught:
        dc.check_forecast(snapshot, file)
    message = str(caught.value)
    assert len(message) < 3000
    assert message.isprintable() or "\n" in message
    return message


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "it is not JSON as written"),
        (b"{", "it is not JSON as written"),
        (b"\xff\xfe\x00", "it is not JSON as written"),
        (b"[" * 100_000, "it is not JSON as written"),
        (b"[]", "is no frozen forecast"),
        (b"3", "is no frozen forecast"),
        (b'{"kind": "other"}', "is no frozen forecast"),
        (b'{"a": NaN}', "it holds NaN, which is no number"),
        (b'{"a": 1e999}', "it is not JSON as written"),
        (b'{"a": ' + b"9" * 5000 + b"}", "it is not JSON as written"),
        (b'{"a": 1, "a": 2}', "it names something twice"),
        (b" " * (LARGEST_FILE + 1), "is larger than 8 MB"),
    ],
)
def test_content_that_is_no_frozen_forecast_is_a_sentence(snapshot, tmp_path, data, words):
    assert words in refused(snapshot, data, tmp_path)


def test_places_that_hold_no_file_are_a_sentence(snapshot, tmp_path):
    for path, words in (
        (tmp_path, "is no file"),
        (tmp_path / "none.json", "cannot be read: No such file"),
        ("/dev/zero", "is no file"),
        ("a\0b", "cannot be read: not a path"),
    ):
        with pytest.raises(dc.DataError, match=words):
            dc.check_forecast(snapshot, path)


BREAKS = {
    "format": (lambda d: d.update(format=2), "has format '2'; this version reads 1"),
    "no checksum": (lambda d: d.pop("checksum"), "has no checksum"),
    "no rows": (lambda d: d.pop("rows"), "must have 'rows'"),
    "rows of other tables": (lambda d: d["rows"].pop("runs"), "must hold the tables ladders"),
    "columns": (lambda d: d["rows"]["runs"]["columns"].pop(), "must have the columns ladder"),
    "ragged": (lambda d: d["rows"]["runs"]["rows"][0].pop(), "rows of 7 cells"),
    "text for a number": (
        lambda d: d["rows"]["trajectories"]["rows"][0].__setitem__(-1, "2.5"),
        "must have numbers as value",
    ),
    "negative": (
        lambda d: d["rows"]["runs"]["rows"][0].__setitem__(2, -1.0),
        "rows, runs row 1: flops is '-1.0'; it must be",
    ),
    "duplicate": (
        lambda d: d["rows"]["runs"]["rows"].append(d["rows"]["runs"]["rows"][0]),
        "runs row 6",
    ),
    "too many rows": (
        lambda d: d["rows"]["metrics"].update(rows=[["a", "subset"]] * 10_001),
        "no more than 10,000 rows",
    ),
    "kind of forecast": (lambda d: d["forecast"].update(forecast="oracle"), "is of 'oracle'"),
    "long text": (lambda d: d["forecast"].update(target="x" * 301), "300 characters at most"),
    "no target": (lambda d: d["forecast"].update(target="\x1b[31mhero"), "no target"),
    "method": (lambda d: d["settings"].update(method="magic"), "no method 'magic'"),
    "level": (lambda d: d["settings"].update(level=2), "level is '2.0'"),
    "level no number": (lambda d: d["settings"].update(level=True), "a number as 'level'"),
    "result": (lambda d: d.update(result=[]), "must be an object"),
    "rungs gone": (
        lambda d: d["rows"]["trajectories"].update(rows=[]),
        "its own rows give no forecast: a forecast needs two rungs",
    ),
}


@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_file_is_a_sentence(snapshot, hero, tmp_path, name):
    change, words = BREAKS[name]
    broken = copy.deepcopy(hero)
    change(broken)
    data = json.dumps(broken).encode()
    assert words in refused(snapshot, data, tmp_path)


LAW_BREAKS = [
    ({"method": "cubic"}, {}, "no method 'cubic'"),
    ({"band": "wide"}, {}, "no band 'wide'"),
    ({"replicates": 10**9}, {}, "a whole number from 1 to 2,000 as 'replicates'"),
    ({"seed": 1.5}, {}, "a whole number from 0"),
    ({"x": "width"}, {}, "no x 'width'"),
    ({"include_excluded": 1}, {}, "true or false as 'include_excluded'"),
    ({}, {"flops": []}, "1 to 100 positive numbers"),
    ({}, {"flops": [1e22] * 101}, "1 to 100 positive numbers"),
    ({}, {"flops": [-1]}, "1 to 100 positive numbers"),
    ({}, {"flops": ["1e22"]}, "a list of numbers as 'flops'"),
    ({}, {"ladder": "nowhere"}, "no ladder 'nowhere'"),
]


@pytest.mark.parametrize("broken_by", LAW_BREAKS)
def test_a_broken_file_of_a_law_is_a_sentence(snapshot, law, tmp_path, broken_by):
    own, asked, words = broken_by
    broken = copy.deepcopy(law)
    broken["settings"] |= own
    broken["forecast"] |= asked
    assert words in refused(snapshot, json.dumps(broken).encode(), tmp_path)


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(["hero", "67b"]),
    st.lists(st.integers(0, 400), max_size=6),
    SCALARS | st.just([]),
)
def test_whatever_is_put_into_a_file_ends_in_a_sentence_or_a_finding(snapshot, target, path, put):
    document = copy.deepcopy(_frozen(snapshot, target))
    place, last = document, None
    for step in path:
        inner = place[last] if last is not None else place
        if isinstance(inner, dict) and inner:
            place, last = inner, sorted(inner)[step % len(inner)]
        elif isinstance(inner, list) and inner:
            place, last = inner, step % len(inner)
    if last is not None:
        place[last] = put
    try:
        text = json.dumps(document, allow_nan=False)
    except ValueError:
        return
    try:
        found = dc.check_forecast(snapshot, parse_frozen(text.encode(), "x"))
    except dc.DelphiError as error:
        assert str(error)  # noqa: PT017 - either a sentence or a finding
    else:
        json.dumps(found, allow_nan=False)
        assert found["follows"] == (parse_frozen(text.encode(), "x") == _frozen(snapshot, target))


_MADE = {}


def _frozen(snapshot, target):
    if target not in _MADE:
        _MADE[target] = dc.freeze_forecast(snapshot, target, made_at=WHEN)
    return _MADE[target]


# What cannot be asked for.


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "of a target or of a ladder"),
        ({"target": "hero", "ladder": "delphi"}, "of a target or of a ladder"),
        ({"target": "heros"}, "did you mean 'hero'"),
        ({"target": "hero", "metric": "ptb"}, "no metric 'ptb' on this target"),
        ({"target": "hero", "flops": [1e22]}, "neither band nor flops"),
        ({"target": "hero", "method": "magic"}, "no method 'magic'"),
        ({"target": "67b", "without": ["ptb"]}, "no mean of subsets"),
        ({"ladder": "delphi"}, "1 to 100 different FLOP; 0 given"),
        ({"ladder": "delphi", "flops": [1e40]}, "compute is 1e+40 FLOP; it must be from"),
        ({"ladder": "delphi", "flops": [0]}, "compute is 0 FLOP"),
        ({"ladder": "delphi", "flops": [float("nan")]}, "compute is nan FLOP"),
        ({"ladder": "hero", "flops": [1e22]}, "no final values of any metric"),
        ({"ladder": "delphi", "flops": [1e22], "without": ["ptb"]}, "of a target's metric only"),
        ({"ladder": "delphi", "flops": [1e22], "method": "joint"}, "no method 'joint'"),
        (
            {"ladder": "delphi", "flops": [1e22], "method": "surface log, E 0", "asymptote": 1.0},
            "pins E itself",
        ),
    ],
)
def test_what_cannot_be_frozen_is_a_sentence(snapshot, arguments, words):
    with pytest.raises(dc.DelphiError) as caught:
        dc.freeze_forecast(snapshot, **arguments)
    assert words in str(caught.value)


def test_a_file_is_read_as_it_was_written(tmp_path, hero):
    file = tmp_path / "f.json"
    file.write_text(frozen_text(hero), encoding="utf-8")
    assert read_frozen(file) == hero
    assert max(map(len, file.read_text(encoding="utf-8").splitlines())) < 1000
