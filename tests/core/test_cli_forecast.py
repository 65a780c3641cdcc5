"""The forecast and backtest commands: keys, published numbers, exit status, one sentence each."""

import json
import shutil

import pytest

from delphi_core.cli import main
from delphi_core.snapshot import BUNDLED
from delphi_core.snapshot_write import write_manifest

HERO = "eval_dropless/paloma/macro_loss"
KEYS = {
    *("snapshot", "target", "metric", "method", "asymptote", "rungs", "continuation", "points"),
    "summary",
}
POINT = {"fraction", "step", "predicted", "low", "high", "actual", "error_pct"}
SUMMARY = {
    *("evaluations", "mean_abs_error_pct", "max_abs_error_pct", "coverage", "interval_score"),
    "as_of_step",
}


@pytest.fixture
def run(capsys):
    """Run a command: exit status, standard output, standard error."""

    def call(*arguments):
        status = main(arguments)
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


def refused(word):
    """No number of JSON is one."""
    raise AssertionError(word)


def parsed(text):
    """JSON that holds finite numbers only."""
    return json.loads(text, parse_constant=refused)


@pytest.fixture
def folder(tmp_path):
    """A copy of the bundled snapshot that a test may change."""
    return shutil.copytree(BUNDLED, tmp_path / "snapshot")


def rewrite(folder, table, change):
    """Change a table line by line; None leaves a line out."""
    file = folder / f"{table}.csv"
    lines = file.read_text(encoding="utf-8").splitlines()
    kept = [new for new in map(change, lines) if new is not None]
    assert kept != lines
    file.write_text("\n".join(kept) + "\n", encoding="utf-8")
    write_manifest(folder, "2026-01-01T00:00:00Z")
    return str(folder)


def test_the_published_forecast_of_the_hero(run):
    command = ("forecast", "--target", "hero", "--method", "per-fraction", "--asymptote", "1.5")
    status, out, err = run(*command, "--json")
    document = parsed(out)
    assert (status, err) == (0, "")
    assert set(document) >= KEYS
    assert (document["target"], document["metric"]) == ("hero", HERO)
    assert (document["method"], document["asymptote"]) == ("per-fraction", 1.5)
    assert len(document["rungs"]) == 4
    (continued,) = document["continuation"]
    assert continued == {
        "run": "rav-ladder-d2048-v3",
        "slope": pytest.approx(-0.350824, abs=5e-7),
        "intercept": pytest.approx(2.754532, abs=5e-7),
        "offset": 0.005,
    }
    points = document["points"]
    assert all(set(point) == POINT for point in points)
    assert [point["fraction"] for point in points] == sorted(point["fraction"] for point in points)
    multiples = [point for point in points if point["step"] is None]
    assert [point["fraction"] for point in multiples] == [k / 20 for k in range(1, 21)]
    assert [round(point["predicted"], 4) for point in multiples] == [
        *(2.3921, 2.3261, 2.2872, 2.2571, 2.2402, 2.2234, 2.2142, 2.1853, 2.1918, 2.1724),
        *(2.1491, 2.1352, 2.1237, 2.1105, 2.0971, 2.0852, 2.0775, 2.0643, 2.0505, 2.0388),
    ]
    judged = [point for point in points if point["error_pct"] is not None]
    assert len(judged) == 40
    for point in judged:
        error = 100 * (point["actual"] - point["predicted"]) / point["predicted"]
        assert point["error_pct"] == pytest.approx(error)
    found = document["summary"]
    assert set(found) == SUMMARY
    assert (found["evaluations"], found["as_of_step"]) == (40, 137999)
    assert round(found["mean_abs_error_pct"], 3) == 1.389
    assert round(found["max_abs_error_pct"], 3) == 3.433


def test_the_default_gives_a_band_at_every_fraction(run):
    status, out, _ = run("forecast", "--target", "hero", "--json")
    document = parsed(out)
    assert status == 0
    assert (document["method"], document["asymptote_pinned"]) == ("surface", True)
    assert document["continuation"] == []
    for point in document["points"]:
        if point["fraction"] >= 0.045:
            assert point["low"] < point["predicted"] < point["high"]
        else:
            assert point["predicted"] is point["low"] is point["high"] is None
    assert run("forecast", "--target", "hero", "--json")[1] == out


def test_67b_and_delphi_1e23(run):
    document = parsed(run("forecast", "--target", "67b", "--json")[1])
    (point,) = [point for point in document["points"] if point["error_pct"] is not None]
    assert (round(point["predicted"], 4), round(point["error_pct"], 2)) == (2.2692, -0.58)
    assert document["summary"]["evaluations"] == 1
    command = ("forecast", "--target", "delphi-1e23", "--method", "per-fraction")
    document = parsed(run(*command, "--asymptote", "1.6", "--json")[1])
    assert document["metric"] == "eval/paloma/c4_en/loss"
    assert round(document["points"][-1]["error_pct"], 2) == -0.03


def test_text_says_the_same(run):
    status, out, _ = run("forecast", "--target", "hero", "--method", "per-fraction")
    assert status == 0
    assert "rav-ladder-d2048-v3 stopped early: continued by 2.754532 -0.350824 x fraction" in out
    assert "40 evaluations from 5 % on: mean absolute error 1.389 %, worst 3.433 %" in out
    assert "nan" not in out.lower()


def test_backtest_of_delphi_1e23(run):
    status, out, err = run("backtest", "--target", "delphi-1e23", "--json")
    document = parsed(out)
    assert (status, err) == (0, "")
    assert document["targets"] == ["delphi-1e23"]
    # Two rungs tell no E, so profiled and pinned are the same forecaster here.
    assert document["default"] == "surface"
    assert {row["forecaster"] for row in document["scores"][:2]} == {
        "surface",
        "surface, E profiled",
    }
    scores = [row["score"] for row in document["scores"]]
    assert scores == sorted(scores)
    curves = [row for row in document["curves"] if row["forecaster"] == document["default"]]
    assert {row["metric"] for row in curves} == {
        *("eval/paloma/c4_en/loss", "eval/loss", "eval/macro_loss"),
    }
    assert {row["kind"] for row in curves} == {"smaller"}
    assert run("backtest", "--target", "delphi-1e23")[1].splitlines()[1] == (
        f"least mean interval score: {document['chosen']}; default: {document['default']}"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--target", "heros"], "no target 'heros'; did you mean 'hero'"),
        (["--target", ""], "no target ''; known: hero, 67b, delphi-1e23"),
        (["--target", "hero", "--metric", "ptb"], "did you mean 'eval_dropless/paloma/ptb/loss'"),
        (["--target", "hero", "--metric", ""], "no metric '' on this target"),
        (["--target", "hero", "--asymptote", "-1"], "E is pinned at '-1.0'; it must be 0 or pos"),
        (["--target", "hero", "--asymptote", "nan"], "E is pinned at 'nan'"),
        (["--target", "hero", "--asymptote", "2.6"], "E is pinned at 2.6, and a rung reaches 2."),
        (["--target", "hero", "--level", "2"], "level is '2.0'; it must be from 0.5 to 0.99"),
        (["--target", "67b", "--method", "surface"], "surface needs whole trajectories"),
        (["--target", "67b", "--metric", "train/loss"], "two rungs with evaluations; no rung has"),
        (["--target", "hero", "--snapshot", "nowhere"], "cannot be read: No such file"),
        (["--target", "hero", "--snapshot", __file__], "cannot be read: Not a directory"),
    ],
)
def test_bad_input_is_status_1_and_one_sentence(run, arguments, words):
    for form in ([], ["--json"]):
        status, out, err = run("forecast", *arguments, *form)
        assert (status, out) == (1, "")
        assert words in err
        assert len(err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--target", "heros"], "no target 'heros'; did you mean 'hero'"),
        (["--level", "2"], "level is '2.0'; it must be from 0.5 to 0.99"),
        (["--snapshot", "nowhere"], "cannot be read: No such file"),
    ],
)
def test_bad_input_of_a_backtest(run, arguments, words):
    status, out, err = run("backtest", *arguments)
    assert (status, out) == (1, "")
    assert words in err
    assert len(err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["forecast"],
        ["forecast", "--target", "hero", "--method", "spline"],
        ["forecast", "--target", "hero", "--asymptote", "low"],
        ["backtest", "--rungs", "3"],
    ],
)
def test_wrong_usage_is_status_2(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "Traceback" not in capsys.readouterr().err


def test_another_snapshot_is_read_where_it_lies(run, folder):
    early = rewrite(
        folder,
        "trajectories",
        lambda line: None if "hero-535b-a23b" in line and ",13" in line else line,
    )
    command = ("forecast", "--target", "hero", "--json")
    ours, other = parsed(run(*command)[1]), parsed(run(*command, "--snapshot", early)[1])
    assert ours["snapshot"] != other["snapshot"]
    assert other["summary"]["evaluations"] < ours["summary"]["evaluations"]
    multiples = [
        [point for point in document["points"] if point["step"] is None]
        for document in (ours, other)
    ]
    assert multiples[0] == multiples[1]


def test_a_target_that_has_not_begun_has_a_forecast(run, folder):
    place = rewrite(folder, "trajectories", lambda line: None if "hero-535b-a23b" in line else line)
    status, out, _ = run("forecast", "--target", "hero", "--snapshot", place, "--json")
    document = parsed(out)
    assert status == 0
    assert len(document["points"]) == 20
    assert document["summary"] == {"evaluations": 0}
    status, out, _ = run("forecast", "--target", "hero", "--snapshot", place)
    assert status == 0
    assert len(out.splitlines()) == 24


@pytest.mark.parametrize(
    ("left", "words"),
    [
        ("", "targets.csv row 2: rungs is empty"),
        ("rav-ladder-d1024", "one rung has"),
    ],
)
def test_fewer_than_two_rungs_are_said(run, folder, left, words):
    place = rewrite(
        folder,
        "targets",
        lambda line: line.replace(
            "rav-ladder-d768-v2 rav-ladder-d1024 rav-ladder-d1536 rav-ladder-d2048-v3", left
        ),
    )
    for command in ("forecast", "backtest"):
        status, out, err = run(command, "--target", "hero", "--snapshot", place, "--json")
        assert (status, out) == (1, "")
        assert len(err.strip().splitlines()) == 1
        if command == "forecast":
            assert words in err


def test_two_rungs_give_a_forecast_with_an_assumed_asymptote(run, folder):
    place = rewrite(
        folder, "targets", lambda line: line.replace("rav-ladder-d768-v2 rav-ladder-d1024 ", "")
    )
    command = ("forecast", "--target", "hero", "--snapshot", place, "--json")
    subset = "eval_dropless/paloma/c4_en/loss"
    document = parsed(run(*command, "--metric", subset)[1])
    assert len(document["rungs"]) == 2
    assert "assumed" in document["described"]
    assert document["summary"]["evaluations"] == 40
    # In its own metric E stays where the target pins it.
    assert parsed(run(*command)[1])["asymptote"] == 1.5
