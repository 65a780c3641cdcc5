"""What commands share that read run folders and write a file: arguments, progress, output."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tqdm import tqdm

from delphi_core.errors import DataError
from delphi_core.sources.extract import DEFAULT_SOURCE
from delphi_core.sources.places import Place, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from delphi_core.sources.extract import A


def read_arguments(parser: argparse.ArgumentParser) -> None:
    """Where run folders are, and how they are read."""
    parser.add_argument(
        "source",
        nargs="?",
        default=DEFAULT_SOURCE,
        metavar="SOURCE",
        help=f"gs://bucket/folder or a folder of run folders (default: {DEFAULT_SOURCE})",
    )
    parser.add_argument(
        "--credentials",
        choices=["anonymous", "machine"],
        default="anonymous",
        help="machine: the Google credentials this machine has (default: anonymous)",
    )
    parser.add_argument(
        "--seconds", type=positive, default=5.0, help="the longest one read may take (default: 5)"
    )


def place_of(options: argparse.Namespace) -> Place:
    """Where run folders are, as a command was told."""
    return Place(options.source, options.credentials, options.seconds)


def bar(results: Iterable[A], total: int, unit: str = "run") -> Iterable[A]:
    """The same results, with a bar where a person watches."""
    shown_results: Iterable[A] = tqdm(
        results, total=total, unit=unit, leave=False, disable=not sys.stderr.isatty()
    )
    return shown_results


def local_file(path: str) -> Path:
    """A file of this machine that can be written.

    Raises
    ------
    DataError
        It cannot: better said before minutes of reading than after.
    """
    if path.startswith("gs:"):
        raise DataError([f"{shown(path)} is in a bucket; name a file of this machine."])
    file = Path(path)
    if not file.parent.is_dir():
        raise DataError([f"{shown(str(file.parent))} is no folder; make it, or name another."])
    if file.is_dir():
        raise DataError([f"{shown(path)} is a folder; name a file."])
    return file


def write_file(file: Path, text: str) -> None:
    """Write a file whole, or not at all."""
    Place(str(file.parent)).write(file.name, text.encode())


def positive(text: str) -> float:
    """A positive number of a command line."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return number
