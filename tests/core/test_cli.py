"""The command line: keys, exit status, and standard output that holds JSON and nothing else."""

import json
import os
import subprocess
import sys

import pytest

from delphi_core.cli import main

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
    [[], ["fit", "--method", "spline"], ["fit", "--drop", "x"], ["validate"], ["nonsense"]],
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
