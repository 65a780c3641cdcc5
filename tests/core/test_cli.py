"""The command line: keys, exit status, and standard output that holds JSON and nothing else."""

import json
import os
import subprocess
import sys

import pytest

import delphi_core as dc
from delphi_core.cli import main
from delphi_core.cli_text import walk_forward_text
from delphi_core.records import RECORD_COLUMNS

MACRO = "eval/paloma/macro_loss"


@pytest.fixture
def run(capsys):
    """Run a command: exit status, standard output, standard error."""

    def call(*arguments):
        status = main(arguments)
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


def test_marin_on_delphi(run):
    command = ("fit", "--ladder", "delphi", "--metric", MACRO, "--method", "marin", "--json")
    status, out, err = run(*command)
    document = json.loads(out)
    assert (status, err) == (0, "")
    assert set(document) >= {
        *("snapshot", "ladder", "metric", "method", "x", "compute", "runs", "left_out", "budgets"),
        *("token_law", "params_law"),
    }
    assert (document["x"], document["compute"], document["runs"]) == ("tokens", "bucket", 78)
    assert len(document["left_out"]) == 10
    assert [f"{b['optimal_tokens']:.5e}" for b in document["budgets"]] == [
        *("1.47942e+09", "2.89820e+09", "4.20242e+09", "5.69724e+09"),
        *("1.02461e+10", "1.58887e+10", "2.18576e+10"),
    ]
    assert round(document["token_law"]["alpha"], 6) == 0.574388
    assert round(document["token_law"]["log10_A"], 6) == -1.434157
    assert round(document["params_law"]["exponent"], 5) == 0.38572
    assert round(document["params_law"]["intercept"], 5) == 1.43587
    document = json.loads(run(*command, "--include-excluded")[1])
    assert document["runs"] == 81
    assert round(document["token_law"]["alpha"], 6) == 0.565473
    document = json.loads(run(*command, "--x", "params")[1])
    assert round(document["params_law"]["exponent"], 5) == 0.39068
    assert round(document["params_law"]["intercept"], 5) == 1.36224


def test_defaults_are_those_of_the_ladder(run):
    dense = json.loads(run("fit", "--json")[1])
    assert (dense["ladder"], dense["metric"], dense["x"]) == ("delphi", MACRO, "tokens")
    assert (dense["method"], dense["compute"]) == ("parabola", "recorded")
    assert json.loads(run("fit", "--ladder", "moe-v16", "--json")[1])["x"] == "active_params"


def test_moe_v16_against_active_params(run):
    command = ("fit", "--ladder", "moe-v16", "--method", "parabola", "--x", "active_params")
    losses = [
        [round(b["loss_at_optimal"], 3) for b in json.loads(out)["budgets"] if b["a"] is not None]
        for _, out, _ in (run(*command, "--json"), run(*command, "--include-excluded", "--json"))
    ]
    assert losses == [
        [3.522, 3.339, 3.154, 3.000, 2.848, 2.725],
        [3.523, 3.341, 3.153, 2.998, 2.848, 2.725],
    ]


@pytest.fixture
def records_file(snapshot, tmp_path):
    """The 81 runs of Delphi's sweep as a file of the six columns."""
    file = tmp_path / "mine.csv"
    rows = snapshot.records("delphi", MACRO)
    rows = rows[rows["role"].isin(["isoflop", "excluded"])]
    rows[list(RECORD_COLUMNS)].to_csv(file, index=False)
    return file


@pytest.mark.parametrize("method", ["marin", "parabola", "cubic", "surface"])
def test_a_file_is_fitted_as_its_ladder_is(run, records_file, method):
    fit = ("fit", "--method", method, "--compute", "bucket", "--json")
    status, out, err = run(*fit, "--file", str(records_file))
    ours = json.loads(run(*fit, "--include-excluded")[1])
    document = json.loads(out)
    assert (status, err) == (0, "")
    assert (document["file"], document["ladder"], document["snapshot"]) == ("mine.csv", None, None)
    assert (document["metric"], document["runs"]) == (MACRO, 81)
    for key in ("budgets", "token_law", "params_law"):
        assert document[key] == ours[key]
    assert document["loss_law"]["E"] == ours["loss_law"]["E"]
    status, out, _ = run("fit", "--method", method, "--file", str(records_file))
    assert (status, out.splitlines()[0]) == (0, f"mine.csv, {MACRO}")


def test_a_file_with_several_metrics_needs_one_named(run, records_file):
    lines = records_file.read_text().splitlines()
    more = [line.replace(MACRO, "test/metric") for line in lines[1:]]
    records_file.write_text("\n".join([*lines, *more]) + "\n")
    fit = ("fit", "--method", "marin", "--json", "--file", str(records_file))
    status, out, err = run(*fit)
    assert (status, out) == (1, "")
    assert err == (
        f"mine.csv holds 2 metrics ('{MACRO}', 'test/metric'); choose one with --metric.\n"
    )
    assert json.loads(run(*fit, "--metric", "test/metric")[1])["runs"] == 81
    status, _, err = run(*fit, "--metric", "test/metrik")
    assert (status, err) == (
        1,
        "mine.csv has no metric 'test/metrik'; did you mean 'test/metric'?\n",
    )


def test_drop_may_be_given_again(run):
    status, out, _ = run(
        *("fit", "--ladder", "moe-v16", "--include-excluded", "--json"),
        *("--drop", "hidden_dim=640,896", "--drop", "budget=1e21"),
    )
    dropped = [o for o in json.loads(out)["left_out"] if o["reason"].startswith("dropped")]
    assert status == 0
    assert len(dropped) == 8 + 2
    twice = run("fit", "--drop", "hidden_dim=512", "--drop", "hidden_dim=640", "--json")[1]
    once = run("fit", "--drop", "hidden_dim=512,640", "--json")[1]
    assert json.loads(twice)["left_out"] == json.loads(once)["left_out"]
    assert {o["reason"] for o in json.loads(once)["left_out"]} >= {
        "dropped: hidden_dim is 512",
        "dropped: hidden_dim is 640",
    }
    status, out, err = run("fit", "--drop", "hidden_dim=641")
    assert (status, out) == (1, "")
    assert err.startswith("no row has hidden_dim '641'; known: 512, 640, 768, 896")


def test_text_output_says_the_same(run):
    status, out, _ = run("fit", "--ladder", "delphi-attempt-1")
    assert status == 0
    assert "concave" in out
    assert "none" in out
    assert "left out: exp2166-" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--ladder", "delphy"], "no ladder 'delphy'; did you mean 'delphi'"),
        (["--metric", "paloma/c4"], "has no metric 'paloma/c4'; did you mean 'eval/paloma/c4_en"),
        (["--x", "active_params"], "ladder delphi has no active_params; its sizes are params"),
        (["--ladder", "moe-v16", "--x", "params"], "its sizes are active_params: use that"),
        (["--drop", "width=1"], "no column 'width' to drop by"),
        (["--ladder", "hero"], "ladder hero has no final values of any metric"),
        (["--metric", ""], "ladder delphi has no metric ''"),
    ],
)
def test_bad_input_is_status_1_and_one_sentence(run, arguments, words):
    status, out, err = run("fit", *arguments, "--json")
    assert (status, out) == (1, "")
    assert words in err
    assert len(err.strip().splitlines()) == 1


def test_nothing_to_fit_is_status_3_with_what_there_is(run):
    status, out, err = run("fit", "--metric", "eval/paloma/c4_en/bpb", "--json")
    assert status == 3
    assert json.loads(out)["budgets"] == []
    assert len(json.loads(out)["left_out"]) == 8
    assert err.startswith("no law was fitted")


def test_ladders_that_are_no_sweep_have_nothing_to_fit(run):
    status, out, _ = run("fit", "--ladder", "moe-may-gates", "--json")
    assert status == 3
    assert [o["reason"].split(":")[0] for o in json.loads(out)["left_out"]] == ["optimum"] * 4


def test_runs_in_small_budgets_are_named(run):
    document = json.loads(run("fit", "--ladder", "moe-aug-hero", "--json")[1])
    assert (document["runs"], len(document["left_out"])) == (12, 6)
    assert {o["run"] for o in document["in_small_budgets"]} == {
        *("aug_hero_isoflop-d768-3e19", "aug_hero_isoflop-d1536-3e19"),
        "aug_hero_isoflop-d1280-1e20",
    }


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["fit", "--file", "x.csv", "--ladder", "delphi"],
        ["fit", "--method", "spline"],
        ["fit", "--drop", "x"],
        ["validate"],
        ["nonsense"],
    ],
)
def test_wrong_usage_is_status_2(arguments):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2


def test_a_broken_snapshot_is_status_1(run, monkeypatch, tmp_path):
    monkeypatch.setenv("DELPHI_SNAPSHOT", str(tmp_path))
    status, out, err = run("fit", "--json")
    assert (status, out) == (1, "")
    assert err.endswith("/manifest.json' cannot be read: No such file or directory.\n")


def test_as_a_process(tmp_path):
    def process(*arguments, **environment):
        return subprocess.run(  # noqa: S603 - our own command
            [sys.executable, "-m", "delphi_core", *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            env=os.environ | environment,
        )

    good = tmp_path / "good.csv"
    good.write_text("tokens,metric,value,flops,params,label\n1e9,loss,3.5,1e18,1e8,a\n")
    done = process("validate", str(good))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "good.csv is good: 1 record, 1 metric, 1 label.\n"
    bad = tmp_path / "bad.csv"
    bad.write_bytes(b"\xff\xfet\x00")
    refused = process("validate", str(bad))
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == "bad.csv is UTF-16 or UTF-32 text; save it as CSV in UTF-8.\n"
    assert process("validate").returncode == 2
    odd = tmp_path / "goo\u0301\n\x1b[31m.csv"
    odd.write_bytes(good.read_bytes())
    shown = process("validate", str(odd), PYTHONIOENCODING="ascii")
    assert (shown.returncode, len(shown.stdout.splitlines())) == (0, 1)
    assert "\x1b" not in shown.stdout


def numbers_of(document):
    """Every number of a document; none of them is NaN or infinite."""
    if isinstance(document, dict):
        document = list(document.values())
    if isinstance(document, list):
        return [number for part in document for number in numbers_of(part)]
    return [document] if isinstance(document, float) else []


def test_loss_law_as_the_api_gives_it(run, snapshot):
    command = ("fit", "--law", "log", "--band", "profile", "--target-flops", "1e24", "--json")
    status, out, err = run(*command, "--level", "0.8")
    assert (status, err) == (0, "")
    document = json.loads(out, parse_constant=pytest.fail)
    fit = dc.fit_isoflops(snapshot.records("delphi", MACRO), level=0.8)
    law = dc.fit_loss_law(fit, law="log", band="profile", level=0.8)
    own = document["loss_law"]
    assert (own["E"], own["A"], own["alpha"]) == (law.asymptote, law.coefficient, law.exponent)
    assert (own["law"], own["interval"], own["level"]) == ("log", "profile", 0.8)
    assert (own["E_low"], own["E_high"]) == (law.profile.interval.low, law.profile.interval.high)
    assert [f"{row['flops']:.0e}" for row in document["forecasts"]] == [
        *("1e+21", "1e+22", "1e+23", "1e+24")
    ]
    for row in document["forecasts"]:
        forecast = law.predict(row["flops"])
        assert (row["predicted"], row["low"], row["high"]) == (
            forecast.value,
            forecast.low,
            forecast.high,
        )
    assert [row["covered"] for row in document["forecasts"]][-1] is None
    assert len(numbers_of(document)) > 100


def test_pinned_e(run):
    command = ("fit", "--ladder", "moe-v16", "--law", "log", "--asymptote", "1.6", "--json")
    document = json.loads(run(*command)[1])
    law, (small, large) = document["loss_law"], document["forecasts"]
    assert (law["E"], law["E_pinned"]) == (1.6, True)
    assert (round(law["A"], 2), round(law["alpha"], 4)) == (95.17, 0.0941)
    assert (round(small["predicted"], 3), round(large["predicted"], 3)) == (2.606, 2.252)
    assert (round(small["counted"], 4), small["rule"]) == (2.5987, "best of 2 sizes")


def test_surface_as_the_api_gives_it(run, snapshot):
    status, out, err = run("fit", "--method", "surface", "--target-flops", "1e25", "--json")
    assert (status, err) == (0, "")
    document = json.loads(out, parse_constant=pytest.fail)
    surface = dc.fit_surface(dc.fit_isoflops(snapshot.records("delphi", MACRO)))
    own = document["surface"]
    assert (own["law"], own["E"], own["objective"]) == ("log", surface.asymptote, surface.objective)
    assert (own["A"], own["B"]) == surface.coefficients
    assert (own["alpha"], own["beta"]) == surface.exponents
    assert own["condition_number"] == surface.condition
    assert document["token_law"]["alpha"] == surface.law("tokens").exponent
    assert document["forecasts"][-1]["predicted"] == surface.loss_law.predict(1e25).value
    assert len(document["budgets"]) == 7
    squares = json.loads(run("fit", "--method", "surface", "--law", "squares", "--json")[1])
    assert squares["surface"]["law"] == "squares"
    assert round(squares["surface"]["E"], 3) == 2.579


@pytest.mark.parametrize("method", ["parabola", "surface"])
@pytest.mark.parametrize("ladder", ["delphi", "moe-v16", "moe-aug-hero"])
def test_forecasts_as_text(run, ladder, method):
    status, out, err = run("fit", "--ladder", ladder, "--method", method)
    assert (status, err) == (0, "")
    assert "L* = " in out
    assert "forecast" in out
    if ladder != "moe-aug-hero":
        assert "further out the law is a guess" in out
        assert "in the band" in out or "outside" in out


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "--law", "cubic"],
        ["fit", "--band", "wide"],
        ["fit", "--asymptote", "low"],
        ["fit", "--target-flops", "1e27"],
        ["fit", "--target-flops", "nan"],
        ["fit", "--target-flops", "many"],
        ["walk-forward", "--replicates", "few"],
        ["walk-forward", "delphi"],
    ],
)
def test_wrong_values_are_status_2(arguments):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["fit", "--asymptote", "-1"], 1, "E is pinned at '-1.0'; it must be 0 or a positive"),
        (["fit", "--asymptote", "nan"], 1, "E is pinned at 'nan'"),
        (["fit", "--level", "1"], 1, "level is '1.0'"),
        (["fit", "--asymptote", "3"], 3, "no loss law was fitted: 2 of 7 losses lie at or below"),
        (["fit", "--method", "surface", "--asymptote", "5"], 3, "no surface was fitted: 78 of 78"),
        (["walk-forward", "--ladder", "delphy"], 1, "no ladder 'delphy'"),
        (["walk-forward", "--ladder", "moe-aug-hero"], 1, "walk-forward needs 5 budgets"),
        (["walk-forward", "--ladder", "delphi", "--replicates", "0"], 1, "replicates is '0'"),
        (["walk-forward", "--ladder", "delphi", "--level", "2"], 1, "level is '2.0'"),
    ],
)
def test_what_cannot_be_had_is_one_sentence(run, arguments, status, words):
    found, out, err = run(*arguments, "--json")
    assert found == status
    assert words in err
    assert len(err.strip().splitlines()) == 1
    if status == 3:
        document = json.loads(out)
        assert document["unidentified"]["flag"] == "below_asymptote"
        assert document["unidentified"]["sentence"] in err
        assert "loss_law" not in document
    else:
        assert out == ""


def test_walk_forward(run):
    command = ("walk-forward", "--ladder", "delphi", "--replicates", "50", "--json")
    status, out, err = run(*command)
    assert (status, err) == (0, "")
    document = json.loads(out, parse_constant=pytest.fail)
    assert document["ladders"] == ["delphi"]
    assert document["default"] == {
        "method": "cubic squares",
        "band": "residual bootstrap",
        "chosen_on": ["delphi", "delphi-attempt-1", "moe-v16"],
    }
    best, *others = document["scores"]
    assert document["chosen"] == {"method": best["method"], "band": best["band"]}
    assert all(best["score"] <= other["score"] for other in others if other["score"] is not None)
    assert len(document["cuts"]) == 15 * 5 * (3 + 2 + 1)
    assert {cut["ladder"] for cut in document["cuts"]} == {"delphi"}
    text = walk_forward_text(document)
    assert "cannot test 333" in text
    assert f"{best['method']}, {best['band']}" in text


def test_methods_are_those_of_the_core(run):
    status, out, err = run("methods", "--ladder", "moe-v16", "--band", "delta", "--json")
    assert (status, err) == (0, "")
    rows = json.loads(out, parse_constant=pytest.fail)["rows"]
    fits = dc.fit_methods(
        dc.load_snapshot().records("moe-v16", "eval/paloma/macro_loss"),
        dc.IsoflopFit(x="active_params"),
        dc.LawSettings(band="delta"),
    )
    table = dc.methods_table(fits)
    assert [row["method"] for row in rows] == list(table["method"])
    assert [row["error_pct"] for row in rows] == list(table["error_pct"])
    status, out, _ = run("methods", "--ladder", "moe-v16", "--band", "delta")
    assert status == 0
    assert len(out.splitlines()) == 1 + len(table)
