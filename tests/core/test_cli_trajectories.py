"""The trajectories command: from run folders and from the tracking tracking_server."""

import json
from pathlib import Path

import pandas as pd
import pytest

from delphi_core.checks import check_table
from delphi_core.cli import main
from delphi_core.csv_text import read_csv_text
from delphi_core.sources.graphql import KEY_VARIABLE
from delphi_core.sources.tracking_server import PROJECTS
from delphi_core.tables import TRAJECTORIES
from tests.graphql_server import TrackedRun

DROPLESS = "eval_dropless/paloma/macro_loss"
RUNG = "rav-ladder-d768-v2"


@pytest.fixture
def run(capsys):
    """Run a command: exit status, standard output, lines of standard error."""

    def call(*arguments):
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err.splitlines()

    return call


def rows_of(path):
    """The rows of a file, known to be those of a trajectories table."""
    frame, mistakes = check_table(
        read_csv_text(path.read_bytes(), path.name, may_be_empty=True), TRAJECTORIES, "rows"
    )
    assert not mistakes.sentences
    return frame.reset_index(drop=True)


@pytest.fixture
def rung(snapshot):
    """The bundled rows of a rung."""
    rows = snapshot.tables["trajectories"]
    return rows[rows["run"] == RUNG].sort_values(["metric", "step"], ignore_index=True)


def evaluations(rows, step="step"):
    """What a run that gave the rows would have logged, one evaluation a step."""
    return [
        {step: int(at), **dict(zip(own["metric"], own["value"], strict=True))}
        for at, own in rows.groupby("step")
    ]


CONFIG = {"trainer": {"train_batch_size": 1024}, "model": {"seq_len": 4096}}


def logged_by(rows):
    """The rung on the server: evaluations among many steps of training, config wrapped."""
    history = [{"_step": step, "train/loss": 3.0} for step in range(0, 11420, 3)]
    history += evaluations(rows, "_step")
    return TrackedRun(
        config={name: {"value": value} for name, value in CONFIG.items()},
        history=sorted(history, key=lambda row: row["_step"]),
    )


def put_folder(place, rows):
    folder = place / RUNG
    folder.mkdir()
    lines = [json.dumps(row) for row in evaluations(rows)]
    (folder / "eval_metrics.jsonl").write_text("\n".join(lines) + "\n")
    tracked = json.dumps({"config": CONFIG, "summary": {DROPLESS: 3.0}})
    (folder / "tracker_metrics.jsonl").write_text(tracked + "\n")
    return folder


def test_a_rung_comes_back_from_folder_and_server_alike(run, tracking_server, rung, tmp_path):
    tracking_server.runs[PROJECTS[0], RUNG] = logged_by(rung)
    folder = put_folder(tmp_path, rung)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    metrics = [part for metric in dict.fromkeys(rung["metric"]) for part in ("--metric", metric)]
    command = ("trajectories", "--run", RUNG, "--ladder", "hero", *metrics)
    for name, source in (("folder.csv", [str(tmp_path)]), ("server.csv", ["--from-server"])):
        out = tmp_path / name
        status, said, wrong = run(*command, *source, "--out", out)
        assert (status, wrong) == (0, [])
        assert said == f"{name}: 340 rows of 1 run of 1.\n"
        rows = rows_of(out)
        assert rows["source"].unique().tolist() == [
            source[0] if len(source[0]) > 20 else tracking_server.url
        ]
        pd.testing.assert_frame_equal(
            rows.drop(columns="source"), rung.drop(columns="source"), check_exact=True
        )
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert not any("sampledHistory" in query for _, query, _ in tracking_server.asked)


def test_parts_of_a_run_and_their_source(run, tracking_server, tmp_path):
    tracking_server.runs[PROJECTS[1], "hero-part"] = TrackedRun(
        history=[{"_step": 5, DROPLESS: 2.5, "throughput/total_tokens": 600}]
    )
    out = tmp_path / "rows.csv"
    command = (
        "trajectories",
        "--from-server",
        "--ladder",
        "hero",
        "--metric",
        DROPLESS,
        "--out",
        out,
    )
    named = ("--lineage", "hero-535b-a23b", "--source-key", "s009")
    status, _, wrong = run(*command, "--run", "hero-part", *named)
    assert (status, wrong) == (0, [])
    (row,) = rows_of(out).to_dict("records")
    assert (row["run"], row["segment"], row["source"]) == ("hero-535b-a23b", "hero-part", "s009")
    assert (row["step"], row["tokens"], row["value"]) == (5, 600.0, 2.5)
    run(*command, "--run", "hero-part", *named, "--segment", "last")
    assert rows_of(out)["segment"].tolist() == ["last"]
    status, _, wrong = run(*command, "--run", "hero-part", "--run", "b", "--segment", "last")
    assert (status, wrong) == (1, ["--segment names one part, and there are 2 runs; read one."])


def test_what_is_missing_is_named_and_the_rest_is_written(run, tracking_server, rung, tmp_path):
    tracking_server.runs[PROJECTS[0], RUNG] = logged_by(rung)
    bare = logged_by(rung)
    bare.config, bare.history = {}, [*bare.history, {"_step": 11500, DROPLESS: "NaN"}]
    tracking_server.runs[PROJECTS[0], "bare"] = bare
    out = tmp_path / "rows.csv"
    command = (
        "trajectories",
        "--from-server",
        "--ladder",
        "hero",
        "--metric",
        DROPLESS,
        "--out",
        out,
    )
    others = ("--metric", "eval/paloma/c4", "--run", "nobody", "--run", "bare")
    status, said, wrong = run(*command, "--run", RUNG, *others)
    assert status == 3
    assert said == "rows.csv: 20 rows of 1 run of 3.\n"
    assert [line.split(";")[0] for line in wrong] == [
        f"{RUNG} has no value of eval/paloma/c4",
        f"run nobody is not in {' or '.join(PROJECTS)} on {tracking_server.url.removeprefix('http://')}",
        f"bare has 1 value of {DROPLESS} that cannot be used (NaN, infinite or no number)",
        f"bare has 20 values of {DROPLESS} without tokens",
        "bare has no value of eval/paloma/c4",
    ]
    status, said, wrong = run(*command, "--run", "bare", "--tokens-per-step", 1024 * 4096)
    assert (status, len(wrong)) == (3, 1)
    assert rows_of(out)["tokens"].tolist() == rung[rung["metric"] == DROPLESS]["tokens"].tolist()


def test_faults_of_folders_are_named(run, rung, tmp_path):
    folder = put_folder(tmp_path, rung)
    (tmp_path / "empty").mkdir()
    with (folder / "eval_metrics.jsonl").open("a") as file:
        file.write('{"step": 12000, "eval/pal')
    out = tmp_path / "rows.csv"
    command = ("trajectories", tmp_path, "--ladder", "hero", "--metric", DROPLESS, "--out", out)
    status, said, wrong = run(*command, "--run", "empty", "--run", RUNG)
    assert (status, said) == (3, "rows.csv: 20 rows of 1 run of 2.\n")
    assert "empty/eval_metrics.jsonl" in wrong[0]
    assert "eval_metrics.jsonl line 21 is cut off or no evaluation" in wrong[1]
    assert len(wrong) == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--server", "wandb.ai"], "'wandb.ai' is no address of a server; give it as https://"),
        (["--project", "marin"], "'marin' is no project; give it as ENTITY/PROJECT"),
        (["--out", "nowhere/rows.csv"], "nowhere"),
        (["--server-key"], "WANDB_API_KEY is not set; set it, or read without one"),
    ],
)
def test_bad_input_is_one_sentence(run, monkeypatch, tmp_path, arguments, words):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    command = ("trajectories", "--from-server", "--ladder", "x", "--metric", DROPLESS, "--run", "a")
    status, out, wrong = run(*command, "--out", "rows.csv", *arguments)
    assert (status, out, len(wrong)) == (1, "", 1)
    assert words in wrong[0]
    assert not Path("rows.csv").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ["--metric", "m", "--out", "o.csv"],
        ["--run", "a", "--out", "o.csv"],
        ["--run", "a", "--metric", "m"],
        ["--run", "a", "--metric", "m", "--out", "o.csv", "--tokens-per-step", "0"],
        ["--run", "a", "--metric", "m", "--out", "o.csv", "--tokens-per-step", "nan"],
    ],
)
def test_wrong_usage_is_status_2(arguments):
    with pytest.raises(SystemExit) as caught:
        main(["trajectories", "--ladder", "x", *arguments])
    assert caught.value.code == 2


def test_the_key_is_sent_by_its_flag_only(run, tracking_server, rung, tmp_path, monkeypatch):
    tracking_server.runs[PROJECTS[0], RUNG] = logged_by(rung)
    monkeypatch.setenv(KEY_VARIABLE, "secret")
    out = tmp_path / "rows.csv"
    command = (
        "trajectories",
        "--from-server",
        "--ladder",
        "hero",
        "--metric",
        DROPLESS,
        "--out",
        out,
    )
    assert run(*command, "--run", RUNG)[0] == 0
    assert not any("Authorization" in headers for headers, _, _ in tracking_server.asked)
    tracking_server.asked.clear()
    assert run(*command, "--run", RUNG, "--server-key")[0] == 0
    assert all("Authorization" in headers for headers, _, _ in tracking_server.asked)
