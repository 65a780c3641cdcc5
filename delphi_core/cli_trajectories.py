"""The trajectories command: what runs logged during training, as rows of the trajectories table."""

from __future__ import annotations

import math
import sys
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from delphi_core.cli_arguments import DONE, INCOMPLETE, dask_argument
from delphi_core.cli_reading import (
    bar,
    local_file,
    place_of,
    positive,
    read_arguments,
    write_file,
)
from delphi_core.cli_server import server_arguments, server_of
from delphi_core.errors import DataError
from delphi_core.sources.places import shown
from delphi_core.sources.run_map import run_map_on
from delphi_core.sources.run_trajectories import Wanted, trajectory_in_folder, trajectory_on_server
from delphi_core.words import count

if TYPE_CHECKING:
    import argparse

_WORKERS = 8


def add_trajectories_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add it to the commands of a parser."""
    parser = commands.add_parser(
        "trajectories", help="evaluations of runs during training, as a table"
    )
    parser.set_defaults(command=_trajectories)
    read_arguments(parser)
    parser.add_argument(
        "--run",
        required=True,
        action="append",
        metavar="NAME",
        help="name of a run's folder, which is its id on the server; may be given again",
    )
    parser.add_argument(
        "--metric",
        required=True,
        action="append",
        help="value to take, as logged; may be given again",
    )
    parser.add_argument("--ladder", required=True, help="id of the ladder the rows are for")
    parser.add_argument("--out", required=True, metavar="FILE.csv", help="where the rows go")
    parser.add_argument(
        "--lineage",
        metavar="RUN",
        default="",
        help="run of the ladder that these are parts of (default: each is a run of its own)",
    )
    parser.add_argument(
        "--segment", default="", help="name of the part, if there is one (default: the run's)"
    )
    parser.add_argument(
        "--tokens-per-step",
        type=positive,
        default=math.nan,
        metavar="T",
        help="batch size times sequence length, where tokens are not logged (default: those of "
        "the run's config)",
    )
    parser.add_argument(
        "--source-key",
        metavar="KEY",
        help="of sources.csv (default: the address that is read)",
    )
    parser.add_argument(
        "--from-server",
        action="store_true",
        help="read whole histories from the tracking server, and SOURCE not at all",
    )
    dask_argument(parser)
    server_arguments(parser)


def _trajectories(options: argparse.Namespace) -> int:
    out = local_file(options.out)
    names = list(dict.fromkeys(options.run))
    if options.segment and len(names) > 1:
        raise DataError([f"--segment names one part, and there are {len(names)} runs; read one."])
    if options.from_server:
        server = server_of(options)
        address, read = server.endpoint.server, partial(trajectory_on_server, server)
    else:
        place = place_of(options)
        address, read = place.url, partial(trajectory_in_folder, place)
    wanted = Wanted(
        options.ladder,
        tuple(dict.fromkeys(options.metric)),
        options.source_key or address,
        options.lineage,
        options.segment,
        options.tokens_per_step,
    )
    with run_map_on(options.dask, _WORKERS) as run_map:
        found = list(bar(run_map(partial(read, wanted), names), len(names)))
    rows = pd.concat([rows for rows, _ in found], ignore_index=True)
    missing = [sentence for _, sentences in found for sentence in sentences]
    write_file(out, rows.to_csv(index=False))
    runs = count(int(rows["segment"].nunique()), "run")
    print(f"{shown(out.name)}: {count(len(rows), 'row')} of {runs} of {len(names)}.")
    if missing:
        print(DataError(missing), file=sys.stderr)
    return INCOMPLETE if missing else DONE
