"""The same results from threads and from a Dask cluster, also when a worker is killed."""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from distributed import Client

from delphi_core.cli import main
from delphi_core.sources.extract import extract
from delphi_core.sources.run_map import run_map_on, threads
from tests.servers import free_port, wait_until

LABEL, MACRO = "adamh_scaling_v6", "eval/paloma/macro_loss"


class Cluster:
    """A scheduler and two workers, each a process of its own."""

    def __init__(self, environment):
        self.address = f"tcp://127.0.0.1:{(port := free_port())}"
        options = ["--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
        self.scheduler = self._start("dask_scheduler", *options, environment=environment)
        self.workers = []
        for _ in range(2):
            options = ["--nthreads", "2", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1"]
            self.workers.append(
                self._start("dask_worker", self.address, *options, environment=environment)
            )

    @staticmethod
    def _start(module, *options, environment):
        command = [sys.executable, "-m", f"distributed.cli.{module}", *options]
        return subprocess.Popen(  # noqa: S603 - our own cluster
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def has_workers(self, count):
        """Whether so many have joined."""
        try:
            with Client(self.address, timeout=1, set_as_default=False) as client:
                return len(client.scheduler_info()["workers"]) == count
        except OSError:
            return False

    def stop(self):
        """End them all."""
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait()


@pytest.fixture
def cluster(faults):  # noqa: ARG001 - its workers read through the proxy
    """A cluster whose workers read through the proxy in front of the emulated bucket."""
    started = Cluster({**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])})
    try:
        wait_until(lambda: started.has_workers(2), started.scheduler)
        yield started
    finally:
        started.stop()


@pytest.fixture
def runs(bucket, snapshot):
    """A bucket with a folder for each of the label's 81 bundled runs."""
    rows = snapshot.records("delphi", MACRO)
    for row in rows[rows["label"] == LABEL].itertuples():
        summary = {
            "throughput/total_tokens": row.tokens,
            "throughput/total_gflops": row.flops / 1e9,
            "parameter_count": row.params,
            MACRO: row.value,
        }
        content = json.dumps({"config": {}, "summary": summary})
        bucket.put(f"runs/{row.run}/tracker_metrics.jsonl", content)
    return bucket.place("runs")


def test_threads_and_a_cluster_give_the_same_records(cluster, runs):
    expected, report = extract(runs, LABEL, [MACRO], run_map=threads(8))
    with run_map_on(cluster.address, 1) as run_map:
        records, found = extract(runs, LABEL, [MACRO], run_map=run_map)
    assert records.equals(expected)
    assert found == report
    assert len(records) == 81


def test_a_worker_killed_in_the_middle_changes_nothing(cluster, runs, faults):
    expected, report = extract(runs, LABEL, [MACRO], run_map=threads(8))
    killed = threading.Event()

    def kill():
        if not killed.is_set():
            killed.set()
            cluster.workers[0].send_signal(signal.SIGKILL)

    # When the fifth file is asked for, whoever asks.
    faults.when("tracker_metrics", do=["pass"] * 4 + [kill, "pass"])
    with run_map_on(cluster.address, 1) as run_map:
        records, found = extract(runs, LABEL, [MACRO], run_map=run_map)
    assert killed.is_set()
    assert cluster.workers[0].wait() == -signal.SIGKILL
    assert records.equals(expected)
    assert found == report


def test_backtests_on_a_cluster_are_the_same(cluster, capsys):
    arguments = ["backtest", "--target", "delphi-1e23", "--json"]
    assert main(arguments) == 0
    expected = capsys.readouterr().out
    assert main([*arguments, "--dask", cluster.address]) == 0
    assert capsys.readouterr().out == expected


@pytest.mark.parametrize(
    ("address", "sentence"),
    [("localhost:8786", "is no address of a Dask scheduler"), ("tcp://127.0.0.1:9", "answers at")],
)
def test_an_address_without_a_scheduler_is_said(address, sentence, capsys, monkeypatch):
    monkeypatch.setattr("delphi_core.sources.run_map.CONNECT_SECONDS", 1.0)
    assert main(["backtest", "--target", "delphi-1e23", "--dask", address]) == 1
    error = capsys.readouterr().err
    assert sentence in error
    assert "Traceback" not in error
