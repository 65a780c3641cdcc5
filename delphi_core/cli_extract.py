"""The extract command: run folders of a bucket to a file of records."""

from __future__ import annotations

import argparse
import json
import sys

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
from delphi_core.errors import SHOWN_AT_MOST
from delphi_core.sources.extract import WORKERS, extract
from delphi_core.sources.places import shown
from delphi_core.sources.run_map import run_map_on


def add_extract_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add it to the commands of a parser."""
    parser = commands.add_parser(
        "extract", help="records out of the run folders of a bucket or of this machine"
    )
    parser.set_defaults(command=_extract)
    read_arguments(parser)
    parser.add_argument("--label", required=True, help="of the sweep, as run names end in it")
    parser.add_argument(
        "--metric",
        required=True,
        action="append",
        help="final value to take, as logged; may be given again",
    )
    parser.add_argument("--out", required=True, metavar="FILE.csv", help="where records go")
    parser.add_argument("--report", metavar="FILE.json", help="where it says what is missing, why")
    parser.add_argument(
        "--max-tokens-per-param",
        type=positive,
        metavar="X",
        help="leave out runs with more tokens per parameter (Delphi's suite: 250)",
    )
    parser.add_argument(
        "--recorded-flops",
        action="store_true",
        help="compute as logged (default: the centre of its 1.1^k bucket)",
    )
    parser.add_argument(
        "--workers",
        type=_whole,
        default=WORKERS,
        help=f"how many folders are read at once (default: {WORKERS})",
    )
    parser.add_argument(
        "--backfill",
        action="store_true",
        help="ask the tracking server for runs whose folder has no usable file; nothing is "
        "written there",
    )
    dask_argument(parser)
    server_arguments(parser)


def _extract(options: argparse.Namespace) -> int:
    place = place_of(options)
    backfill = server_of(options).run if options.backfill else None
    out = local_file(options.out)
    report_file = None if options.report is None else local_file(options.report)
    with run_map_on(options.dask, options.workers) as run_map:
        records, report = extract(
            place,
            options.label,
            options.metric,
            max_tokens_per_param=options.max_tokens_per_param,
            recorded_flops=options.recorded_flops,
            backfill=backfill,
            run_map=run_map,
            progress=bar,
        )
    write_file(out, records.to_csv(index=False))
    if report_file is not None:
        write_file(report_file, json.dumps(report.document(), indent=2, allow_nan=False) + "\n")
    print(f"{shown(out.name)}: {report.text()}")
    sentences = report.sentences()
    if len(sentences) > SHOWN_AT_MOST:
        more = len(sentences) - SHOWN_AT_MOST + 1
        where = "see the report" if options.report else "--report names them"
        sentences = [*sentences[: SHOWN_AT_MOST - 1], f"and {more:,} more; {where}."]
    for sentence in sentences:
        print(sentence, file=sys.stderr)
    return DONE if report.complete else INCOMPLETE


def _whole(text: str) -> int:
    if not (text.isdecimal() and 1 <= int(text) <= 1024):
        raise argparse.ArgumentTypeError(f"{text!r} is not from 1 to 1024")
    return int(text)
