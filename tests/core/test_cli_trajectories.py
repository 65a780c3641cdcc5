"""The trajectories command, and the backfill of extract: folders, buckets, tracking server."""

import json
from pathlib import Path

import pandas as pd
import pytest

from delphi_core.checks import check_table
from delphi_core.cli import main
from delphi_core.csv_text import read_csv_text
from delphi_core.sources.graphql import KEY_VARIABLE
from delphi_core.sources.tracking_server import PROJECTS, SERVER_VARIABLE
from delphi_core.tables import TRAJECTORIES
from tests.graphql_server import Instead, TrackedRun, graphql_server

MACRO = "eval/paloma/macro_loss"
DROPLESS = "eval_dropless/paloma/macro_loss"
LABEL = "adamh_scaling_v6"
RUNG = "rav-ladder-d768-v2"


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    with graphql_server() as server:
        monkeypatch.setenv(SERVER_VARIABLE, server.url)
        yield server


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
    frame, mistakes = check_table(read_csv_text(path.read_bytes(), path.name), TRAJECTORIES, "rows")
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


def test_a_rung_comes_back_from_folder_and_server_alike(run, server, rung, tmp_path):
    server.runs[PROJECTS[0], RUNG] = logged_by(rung)
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
            source[0] if len(source[0]) > 20 else server.url
        ]
        pd.testing.assert_frame_equal(
            rows.drop(columns="source"), rung.drop(columns="source"), check_exact=True
        )
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert not any("sampledHistory" in query for _, query, _ in server.asked)


def test_parts_of_a_run_and_their_source(run, server, tmp_path):
    server.runs[PROJECTS[1], "hero-part"] = TrackedRun(
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


def test_what_is_missing_is_named_and_the_rest_is_written(run, server, rung, tmp_path):
    server.runs[PROJECTS[0], RUNG] = logged_by(rung)
    bare = logged_by(rung)
    bare.config, bare.history = {}, [*bare.history, {"_step": 11500, DROPLESS: "NaN"}]
    server.runs[PROJECTS[0], "bare"] = bare
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
        f"run nobody is not in {' or '.join(PROJECTS)} on {server.url.removeprefix('http://')}",
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
    ],
)
def test_bad_input_is_one_sentence(run, monkeypatch, tmp_path, arguments, words):
    monkeypatch.chdir(tmp_path)
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


def test_the_key_is_sent_by_its_flag_only(run, server, rung, tmp_path, monkeypatch):
    server.runs[PROJECTS[0], RUNG] = logged_by(rung)
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
    assert not any("Authorization" in headers for headers, _, _ in server.asked)
    server.asked.clear()
    assert run(*command, "--run", RUNG, "--server-key")[0] == 0
    assert all("Authorization" in headers for headers, _, _ in server.asked)


@pytest.fixture
def sweep(snapshot):
    """The bundled sweep: runs, and macro losses by run."""
    runs = snapshot.tables["runs"]
    runs = runs[(runs["ladder"] == "delphi") & runs["role"].isin(["isoflop", "excluded"])]
    evals = snapshot.tables["evals"]
    own = evals[(evals["ladder"] == "delphi") & (evals["metric"] == MACRO)]
    return runs.set_index("run").assign(loss=own.set_index("run")["value"])


def tracked(plan):
    """Config and summary as a run of the sweep has them."""
    summary = {
        MACRO: plan["loss"],
        "throughput/total_tokens": plan["tokens"],
        "throughput/total_gflops": plan["flops"] / 1e9,
        "parameter_count": plan["params"],
    }
    return {"model": {"hidden_dim": int(plan["hidden_dim"])}}, summary


def fill(bucket, server, sweep, without):
    """Folders of the sweep's runs in a bucket; those without the file are on the server."""
    for name, plan in sweep.to_dict("index").items():
        config, summary = tracked(plan)
        if name in without:
            bucket.put(f"{name}/.executor_status", "SUCCESS")
            wrapped = {key: {"value": value} for key, value in config.items()}
            server.runs[PROJECTS[0], name] = TrackedRun(wrapped, summary)
        else:
            document = {"config": config, "summary": summary}
            bucket.put(f"{name}/tracker_metrics.jsonl", json.dumps(document) + "\n")


def test_backfilled_runs_sit_in_their_place_to_the_last_bit(run, server, bucket, sweep, tmp_path):
    without = set(sweep.index[::9])
    fill(bucket, server, sweep, without)
    command = ("extract", bucket.url, "--label", LABEL, "--metric", MACRO, "--recorded-flops")
    out, whole = tmp_path / "records.csv", tmp_path / "whole.csv"
    status, said, wrong = run(*command, "--out", out)
    assert status == 3
    assert sum("tracker_metrics.jsonl" in line for line in wrong) == len(without) == 9
    assert not server.asked
    before = bucket.state()
    status, said, wrong = run(*command, "--out", out, "--backfill")
    assert status == 0
    assert said.startswith("records.csv: 81 records")
    assert bucket.state() == before
    assert {variables["run"] for _, _, variables in server.asked} == without
    records = pd.read_csv(out)
    order = sweep.reset_index().sort_values(["flops", "tokens", "run"])
    assert records["value"].tolist() == order["loss"].tolist()
    assert records["tokens"].tolist() == order["tokens"].tolist()
    assert records["params"].tolist() == order["params"].tolist()
    fill(bucket, server, sweep, set())
    assert run(*command, "--out", whole)[0] == 0
    assert out.read_bytes() == whole.read_bytes()


def test_a_run_that_nobody_has_is_named(run, server, bucket, sweep, tmp_path):
    without = set(sweep.index[:3])
    fill(bucket, server, sweep.iloc[:5], without)
    lost = sorted(without)[1]
    del server.runs[PROJECTS[0], lost]
    server.instead = [Instead(status=503), Instead(b"<html>", 503)]
    out = tmp_path / "records.csv"
    command = ("extract", bucket.url, "--label", LABEL, "--metric", MACRO, "--out", out)
    status, said, wrong = run(*command, "--backfill")
    assert status == 3
    assert said.startswith("records.csv: 4 records")
    (line,) = [line for line in wrong if "is not in marin-community/marin" in line]
    assert line.startswith(f"{lost}: ")
    assert "check its name" in line
