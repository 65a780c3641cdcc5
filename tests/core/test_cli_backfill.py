"""The backfill of extract, and a tracking server at fault: the rest is written."""

import json
import time

import pandas as pd
import pytest

from delphi_core.cli import main
from delphi_core.sources.tracking_server import PROJECTS
from tests.graphql_server import Instead, TrackedRun

MACRO = "eval/paloma/macro_loss"
LABEL = "adamh_scaling_v6"


@pytest.fixture
def run(capsys):
    """Run a command: exit status, standard output, lines of standard error."""

    def call(*arguments):
        status = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return status, captured.out, captured.err.splitlines()

    return call


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


def fill(bucket, tracking_server, sweep, without):
    """Folders of the sweep's runs in a bucket; those without the file are on the server."""
    for name, plan in sweep.to_dict("index").items():
        config, summary = tracked(plan)
        if name in without:
            bucket.put(f"{name}/.executor_status", "SUCCESS")
            wrapped = {key: {"value": value} for key, value in config.items()}
            tracking_server.runs[PROJECTS[0], name] = TrackedRun(wrapped, summary)
        else:
            document = {"config": config, "summary": summary}
            bucket.put(f"{name}/tracker_metrics.jsonl", json.dumps(document) + "\n")


def test_backfilled_runs_sit_in_their_place_to_the_last_bit(
    run, tracking_server, bucket, sweep, tmp_path
):
    without = set(sweep.index[::9])
    fill(bucket, tracking_server, sweep, without)
    command = ("extract", bucket.url, "--label", LABEL, "--metric", MACRO, "--recorded-flops")
    out, whole = tmp_path / "records.csv", tmp_path / "whole.csv"
    status, said, wrong = run(*command, "--out", out)
    assert status == 3
    assert sum("tracker_metrics.jsonl" in line for line in wrong) == len(without) == 9
    assert not tracking_server.asked
    before = bucket.state()
    status, said, wrong = run(*command, "--out", out, "--backfill")
    assert status == 0
    assert said.startswith("records.csv: 81 records")
    assert bucket.state() == before
    assert {variables["run"] for _, _, variables in tracking_server.asked} == without
    records = pd.read_csv(out)
    order = sweep.reset_index().sort_values(["flops", "tokens", "run"])
    assert records["value"].tolist() == order["loss"].tolist()
    assert records["tokens"].tolist() == order["tokens"].tolist()
    assert records["params"].tolist() == order["params"].tolist()
    fill(bucket, tracking_server, sweep, set())
    assert run(*command, "--out", whole)[0] == 0
    assert out.read_bytes() == whole.read_bytes()


def test_a_run_that_nobody_has_is_named(run, tracking_server, bucket, sweep, tmp_path):
    without = set(sweep.index[:3])
    fill(bucket, tracking_server, sweep.iloc[:5], without)
    lost = sorted(without)[1]
    del tracking_server.runs[PROJECTS[0], lost]
    tracking_server.instead = [Instead(status=503), Instead(b"<html>", 503)]
    out = tmp_path / "records.csv"
    command = ("extract", bucket.url, "--label", LABEL, "--metric", MACRO, "--out", out)
    status, said, wrong = run(*command, "--backfill")
    assert status == 3
    assert said.startswith("records.csv: 4 records")
    (line,) = [line for line in wrong if "is not in marin-community/marin" in line]
    assert line.startswith(f"{lost}: ")
    assert "check its name" in line


@pytest.fixture
def five_runs(bucket, tracking_server, sweep):
    """Folders of five runs, two of them without the file."""
    fill(bucket, tracking_server, sweep.iloc[:5], set(sweep.index[:2]))
    return bucket


FAULTS = {
    "slow": ("stalls", "nothing", "gave no whole answer within the limit (0.2 s a step, "),
    "refusing": ("always", lambda *_: Instead(status=403), "(HTTP 403) without a key; a project"),
    "failing": ("always", lambda *_: Instead(status=503), "HTTP 503, also when asked 3 times"),
    "nonsense": ("always", lambda *_: Instead(b"<html>"), "with 'no type' that is no JSON; check"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_server_at_fault_leaves_the_rest(run, tracking_server, five_runs, tmp_path, fault):
    attribute, value, words = FAULTS[fault]
    setattr(tracking_server, attribute, value)
    bucket, before, out = five_runs, five_runs.state(), tmp_path / "records.csv"
    command = ("--seconds", "0.2", "--out", out, "--metric", MACRO)
    begun = time.monotonic()
    status, said, wrong = run("extract", bucket.url, "--label", LABEL, *command, "--backfill")
    assert status == 3
    assert said.startswith("records.csv: 3 records")
    assert [words in line for line in wrong] == [True, True]
    out = tmp_path / "rows.csv"
    options = ("--out", out, "--ladder", "delphi", "--from-server", "--run", "a", "--run", "b")
    status, said, wrong = run("trajectories", *command, *options)
    assert (status, said) == (3, "rows.csv: 0 rows of 0 runs of 2.\n")
    assert [words in line for line in wrong] == [True, True]
    assert len(out.read_text().splitlines()) == 1
    assert time.monotonic() - begun < 20
    assert bucket.state() == before
