"""Extraction from 1,000 run folders: many at once against one after another, time and memory.

The bucket is the tests' emulator, in a process of its own; so is each reading, whose peak memory is
then its own, and which is timed from the listing to the records, without imports. The emulator is
Python too and keeps a core busy with what a real server does in no time: so the readings are also
timed with a network's delay before each of its answers, which costs nobody a core.
"""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bench.extract_reader import RUNS as FOLDERS
from bench.harness import Aim, NotMeasuredError, Row
from delphi_core.sources.extract import WORKERS

if TYPE_CHECKING:
    from collections.abc import Iterator

FASTER = Aim(ratio=1 / 8)
NO_MORE_MEMORY = Aim(ratio=1.5)
# Seconds before each answer, and how often both are read: one after another takes minutes.
NETWORKS = ((0.0, 3), (0.03, 1))
LIMIT = 900


def compare() -> list[Row]:
    """Times and peak memory of both, on a fast network and on one with delays.

    Raises
    ------
    NotMeasuredError
        The emulator or a reading did not end as it should.
    """
    rows = []
    for delay, runs in NETWORKS:
        with served(delay) as address:
            read = [(reading(address, WORKERS), reading(address, 1)) for _ in range(runs)]
        where = f"{delay * 1000:g} ms before each answer" if delay else "emulator without delay"
        many, one = zip(*read, strict=True)
        name, reference = f"extract {FOLDERS:,} runs, {where}", "one after another"
        times, reference_times = (tuple(seconds for seconds, _ in found) for found in (many, one))
        rows.append(Row(name, reference, times, reference_times, FASTER))
        peaks, reference_peaks = (tuple(peak for _, peak in found) for found in (many, one))
        rows.append(
            Row(f"peak memory, {where}", reference, peaks, reference_peaks, NO_MORE_MEMORY, "MB")
        )
    return rows


@contextmanager
def served(delay: float) -> Iterator[str]:
    """Address of an emulator with the folders, which answers after a delay in seconds."""
    command = [sys.executable, "-m", "bench.extract_server", str(delay)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            address = server.stdout.readline().strip() if server.stdout else ""
            if not address:
                raise NotMeasuredError("the emulator did not start")
            yield address
        finally:
            server.terminate()


def reading(address: str, workers: int) -> tuple[float, float]:
    """Seconds and peak memory (MB) of one reading in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.extract_reader", address, str(workers)],
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
    )
    if done.returncode:
        raise NotMeasuredError(done.stderr.strip().splitlines()[-1])
    seconds, peak = json.loads(done.stdout)
    return seconds, peak
