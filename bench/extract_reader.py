"""`python -m bench.extract_reader ADDRESS WORKERS`: read the runs; prints seconds and peak MB."""

from __future__ import annotations

import json
import os
import resource
import sys
import time

import delphi_core.sources.buckets  # noqa: F401 - imports gcsfs before the clock starts
from delphi_core.sources.extract import extract
from delphi_core.sources.places import Place
from delphi_core.sources.run_map import threads

BUCKET, LABEL, METRIC, RUNS = "bench", "bench_v1", "eval/paloma/macro_loss", 1000


def main() -> None:
    """Read, check that all is there, and print."""
    os.environ["STORAGE_EMULATOR_HOST"] = sys.argv[1]
    start = time.perf_counter()
    records, report = extract(
        Place(f"gs://{BUCKET}"), LABEL, [METRIC], run_map=threads(int(sys.argv[2]))
    )
    seconds = time.perf_counter() - start
    if len(records) != RUNS or not report.complete:
        sys.exit(f"{len(records)} records of {RUNS} runs")
    # Linux counts kilobytes, macOS bytes.
    unit = 1e6 if sys.platform == "darwin" else 1e3
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    print(json.dumps([seconds, peak]))


if __name__ == "__main__":
    main()
