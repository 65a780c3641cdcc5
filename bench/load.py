"""Many visitors at once: how long a changed control takes, and what memory does meanwhile.

A visitor is a websocket that speaks the front end's protocol: it opens a page, then asks for one
view after another (as a used control does: the script runs and the page's parts come back), with a
pause in between in which a person would read. What a browser does with the parts is not counted.
The reference is one visitor alone on the same server, just before.

`python -m bench load` runs for `MINUTES`; DELPHI_LOAD_MINUTES sets another length.
"""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import quantiles
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from bench.first_chart import served
from bench.harness import Aim, Row

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

ROOT = Path(__file__).parents[1]
VISITORS = 50
MINUTES = 10.0
ALONE_SECONDS = 30.0
PAUSES = (2.0, 8.0)
"""Seconds between a visitor's changes, drawn anew each time."""
# Views that visitors ask for, one after another in an order of their own; most have been seen by
# somebody before, as on a server that has been up for a while.
VIEWS: dict[str, list[dict[str, str]]] = {
    "": [
        {},
        {"method": "marin"},
        {"x": "params"},
        {"method": "cubic"},
        {"y": "log"},
        {"ladder": "moe-v16"},
        {"ladder": "delphi-attempt-1"},
        {"excluded": "true"},
    ],
    "scaling": [
        {},
        {"tab": "size"},
        {"law": "log"},
        {"level": "0.95"},
        {"method": "marin"},
        {"ladder": "moe-v16"},
        {"target": "1e22"},
    ],
    "trajectories": [
        {},
        {"x": "tokens"},
        {"rungs": "true"},
        {"target": "67b"},
        {"target": "delphi-1e23"},
        {"method": "per-fraction"},
        {"tab": "evaluations"},
    ],
    "data": [{}, {"table": "evals"}, {"table": "runs", "ladder": "delphi"}],
}


@dataclass
class Answers:
    """What visitors saw.

    Attributes
    ----------
    times
        Seconds from each changed view to the end of its run.
    errors
        Connections that broke and pages that ended in an exception.
    memory
        Megabytes that the server held: before anybody came, a minute after all had, at the end.
    """

    times: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)


def compare() -> list[Row]:
    """Times of a changed view under load, and errors and memory in the rows' names."""
    minutes = float(os.environ.get("DELPHI_LOAD_MINUTES", MINUTES))
    with served(ROOT / "app.py") as address:
        alone, crowd = asyncio.run(_measure(address, 60 * minutes))
    p50, p95 = (quantiles(crowd.times, n=100)[place] for place in (49, 94))
    said = (
        f"{VISITORS} visitors for {minutes:g} min, {len(crowd.times)} changes: p50 {p50:.3f} s, "
        f"p95 {p95:.3f} s, {len(crowd.errors)} errors, memory "
        + " -> ".join(f"{megabytes:.0f}" for megabytes in crowd.memory)
        + " MB"
    )
    print(said, *sorted(set(crowd.errors))[:5], sep="\n", file=sys.stderr)
    rows = [Row(said, "one visitor alone", tuple(crowd.times), tuple(alone.times))]
    rows.append(Row("the same, p95", "", (p95,), (quantiles(alone.times, n=20)[18],), Aim(1.0)))
    return rows


async def _measure(address: str, seconds: float) -> tuple[Answers, Answers]:
    process = _server(address)
    alone, crowd = Answers(), Answers()
    await _visit(address, alone, time.monotonic() + ALONE_SECONDS, 0, pauses=(0.1, 0.5))
    crowd.memory.append(_megabytes(process))
    end = time.monotonic() + seconds
    visitors = [
        asyncio.create_task(_visit(address, crowd, end, number)) for number in range(VISITORS)
    ]
    await asyncio.sleep(min(60.0, seconds / 2))
    crowd.memory.append(_megabytes(process))
    await asyncio.gather(*visitors)
    crowd.memory.append(_megabytes(process))
    return alone, crowd


async def _visit(
    address: str,
    answers: Answers,
    end: float,
    number: int,
    pauses: tuple[float, float] = PAUSES,
) -> None:
    """One visitor, from page to page until the end."""
    draw = random.Random(number)  # noqa: S311 - no secret
    try:
        socket = address.replace("http", "ws", 1) + "/_stcore/stream"
        async with connect(
            socket, max_size=None, ping_interval=None, subprotocols=[Subprotocol("streamlit")]
        ) as connection:
            first = True
            while time.monotonic() < end:
                page = draw.choice(list(VIEWS))
                query = draw.choice(VIEWS[page])
                start = time.monotonic()
                problem = await _run(connection, page, query)
                if problem:
                    answers.errors.append(problem)
                elif not first:
                    answers.times.append(time.monotonic() - start)
                first = False
                await asyncio.sleep(draw.uniform(*pauses))
    except (TimeoutError, OSError, ValueError, ConnectionClosed) as error:
        answers.errors.append(f"{type(error).__name__}: {error}")


async def _run(connection: ClientConnection, page: str, query: dict[str, str]) -> str:
    """Ask for a view, and read what comes until its run has ended; what went wrong, if so."""
    asked = BackMsg()
    asked.rerun_script.query_string = urlencode(query)
    asked.rerun_script.page_name = page
    await connection.send(asked.SerializeToString())
    problem = ""
    while True:
        answer = ForwardMsg()
        answer.ParseFromString(await asyncio.wait_for(connection.recv(decode=False), 60))
        kind = answer.WhichOneof("type")
        if kind == "delta" and answer.delta.new_element.WhichOneof("type") == "exception":
            problem = answer.delta.new_element.exception.message or "an exception"
        if kind == "script_finished" and answer.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
            return problem


def _server(address: str) -> int:
    """Process that listens at an address."""
    port = address.rsplit(":", 1)[1]
    found = subprocess.run(
        ["pgrep", "-f", f"server.port[= ]{port}"],  # noqa: S607 - wherever pgrep is
        capture_output=True,
        text=True,
        check=True,
    )
    return int(found.stdout.split()[0])


def _megabytes(process: int) -> float:
    """Memory that a process holds."""
    status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    (line,) = [line for line in status.splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1]) / 1024
