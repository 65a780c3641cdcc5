"""The extract command: run folders of a bucket to a file of records."""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from delphi_core.cli_arguments import DONE, INCOMPLETE
from delphi_core.errors import SHOWN_AT_MOST, DataError
from delphi_core.sources.extract import DEFAULT_SOURCE, WORKERS, extract, threads
from delphi_core.sources.places import Place, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from delphi_core.sources.extract import A


def add_extract_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add it to the commands of a parser."""
    parser = commands.add_parser(
        "extract", help="records out of the run folders of a bucket or of this machine"
    )
    parser.set_defaults(command=_extract)
    parser.add_argument(
        "source",
        nargs="?",
        default=DEFAULT_SOURCE,
        metavar="SOURCE",
        help=f"gs://bucket/folder or a folder of run folders (default: {DEFAULT_SOURCE})",
    )
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
        type=_positive,
        metavar="X",
        help="leave out runs with more tokens per parameter (Delphi's suite: 250)",
    )
    parser.add_argument(
        "--recorded-flops",
        action="store_true",
        help="compute as logged (default: the centre of its 1.1^k bucket)",
    )
    parser.add_argument(
        "--credentials",
        choices=["anonymous", "machine"],
        default="anonymous",
        help="machine: the Google credentials this machine has (default: anonymous)",
    )
    parser.add_argument(
        "--seconds", type=_positive, default=5.0, help="the longest one read may take (default: 5)"
    )
    parser.add_argument(
        "--workers",
        type=_whole,
        default=WORKERS,
        help=f"how many folders are read at once (default: {WORKERS})",
    )


def _extract(options: argparse.Namespace) -> int:
    place = Place(options.source, options.credentials, options.seconds)
    out = _local_file(options.out)
    report_file = None if options.report is None else _local_file(options.report)
    records, report = extract(
        place,
        options.label,
        options.metric,
        max_tokens_per_param=options.max_tokens_per_param,
        recorded_flops=options.recorded_flops,
        run_map=threads(options.workers),
        progress=_bar,
    )
    _write(out, records.to_csv(index=False))
    if report_file is not None:
        _write(report_file, json.dumps(report.document(), indent=2, allow_nan=False) + "\n")
    print(f"{shown(out.name)}: {report.text()}")
    sentences = report.sentences()
    if len(sentences) > SHOWN_AT_MOST:
        more = len(sentences) - SHOWN_AT_MOST + 1
        where = "see the report" if options.report else "--report names them"
        sentences = [*sentences[: SHOWN_AT_MOST - 1], f"and {more:,} more; {where}."]
    for sentence in sentences:
        print(sentence, file=sys.stderr)
    return DONE if report.complete else INCOMPLETE


def _bar(results: Iterable[A], total: int) -> Iterable[A]:
    """The same results, with a bar where a person watches."""
    bar: Iterable[A] = tqdm(
        results, total=total, unit="run", leave=False, disable=not sys.stderr.isatty()
    )
    return bar


def _local_file(path: str) -> Path:
    """A file of this machine that can be written.

    Raises
    ------
    DataError
        It cannot: better said before minutes of reading than after.
    """
    if path.startswith("gs:"):
        raise DataError([f"{shown(path)} is in a bucket; extract writes on this machine only."])
    file = Path(path)
    if not file.parent.is_dir():
        raise DataError([f"{shown(str(file.parent))} is no folder; make it, or name another."])
    if file.is_dir():
        raise DataError([f"{shown(path)} is a folder; name a file."])
    return file


def _write(file: Path, text: str) -> None:
    Place(str(file.parent)).write(file.name, text.encode())


def _positive(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return number


def _whole(text: str) -> int:
    if not (text.isdecimal() and 1 <= int(text) <= 1024):
        raise argparse.ArgumentTypeError(f"{text!r} is not from 1 to 1024")
    return int(text)
