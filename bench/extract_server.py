"""`python -m bench.extract_server DELAY`: an emulated bucket of run folders; prints its address."""

from __future__ import annotations

import json
import sys
import time

from gcp_storage_emulator.handlers.buckets import create_bucket

from bench.extract_reader import BUCKET, LABEL, METRIC, RUNS
from delphi_core.sources.run_folder import GIGAFLOPS, PARAMS, TOKENS, TRACKER_FILE
from tests.buckets import EmulatedBucket, StorageHandler, StorageServer

# As many figures as a tracker logs: some 20 kB a run.
METRICS = 400


class DelayedHandler(StorageHandler):
    """The emulator's answers, a network's delay later."""

    delay = 0.0

    def do_GET(self) -> None:  # noqa: N802 - the standard library's name
        """Answer later."""
        time.sleep(self.delay)
        super().do_GET()


class DelayedServer(StorageServer):
    """The emulator behind such a network."""

    handler = DelayedHandler


def tracker_file(number: int) -> str:
    """What a run's tracker logged."""
    figures = {f"eval/made/subset_{place}/bpb": 1 + place / 1000 for place in range(METRICS)}
    figures |= {TOKENS: 1e9 + number, GIGAFLOPS: 3e9, PARAMS: 1e8, METRIC: 3 + number / 1000}
    return json.dumps({"config": {"model": {"hidden_dim": number}}, "summary": figures}) + "\n"


def main() -> None:
    """Serve until told to end."""
    DelayedHandler.delay = float(sys.argv[1])
    with DelayedServer() as server:
        create_bucket(BUCKET, server.storage)
        bucket = EmulatedBucket(BUCKET, server)
        for number in range(1, RUNS + 1):
            run = f"isoflop-3e+18-d{number}-L6-B8-{LABEL}"
            bucket.put(f"{run}/{TRACKER_FILE}", tracker_file(number))
        print(server.url, flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
