"""The snapshot commands: build, verify, diff and publish."""

from __future__ import annotations

import argparse
import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from delphi_core.cli_arguments import DONE
from delphi_core.errors import DataError
from delphi_core.snapshot import BUNDLED, load_snapshot
from delphi_core.snapshot_build import build_snapshot
from delphi_core.snapshot_diff import diff_document, diff_snapshots, diff_text
from delphi_core.snapshot_publish import publish, utc_time
from delphi_core.snapshot_records import NEW_LADDER, Origin
from delphi_core.snapshot_sources import BUNDLED_NAME
from delphi_core.sources.places import Place, shown
from delphi_core.tables import LADDERS
from delphi_core.words import count

if TYPE_CHECKING:
    from delphi_core.snapshot import Snapshot

PUBLISH_SECONDS = 60.0
LINES = 10


def add_snapshot_commands(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
) -> None:
    """Add `snapshot` and what it can do to the commands of a parser."""
    snapshot = commands.add_parser("snapshot", help="build, verify, compare and publish snapshots")
    actions = snapshot.add_subparsers(required=True, metavar="ACTION")
    _add_build(actions)
    verify = actions.add_parser("verify", help="check a snapshot's manifest, files and tables")
    verify.set_defaults(command=_verify)
    verify.add_argument("place", metavar="PLACE", help="folder, gs://bucket/prefix, or bundled")
    _credentials(verify, "anonymous")
    diff = actions.add_parser(
        "diff",
        help="tables and rows that differ between two snapshots",
        description="Tables and rows that differ between two snapshots. Exit status 0 whether or "
        "not anything differs.",
    )
    diff.set_defaults(command=_diff)
    diff.add_argument("first", metavar="A", help="folder, gs://bucket/prefix, or bundled")
    diff.add_argument("second", metavar="B")
    diff.add_argument(
        "--lines",
        type=_lines,
        default=LINES,
        metavar="N",
        help=f"show at most so many rows a table (default: {LINES})",
    )
    diff.add_argument("--json", action="store_true", help="print every row, as JSON")
    _credentials(diff, "anonymous")
    publication = actions.add_parser(
        "publish",
        help="upload a snapshot and switch readers to it",
        description="Upload a snapshot to a new folder, read it back, and switch the pointer "
        "latest.json to it. Readers have the old one whole until then; nothing is deleted.",
    )
    publication.set_defaults(command=_publish)
    publication.add_argument("folder", metavar="FOLDER", help="the snapshot")
    publication.add_argument("destination", metavar="PLACE", help="gs://bucket/prefix or a folder")
    _credentials(publication, "machine")


def _add_build(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    build = actions.add_parser(
        "build",
        help="make a snapshot of tables, snapshots, records and trajectories",
        description="Make a snapshot. Later sources add rows and replace those of the same key; "
        "then records and trajectories do. The same sources and time give the same bytes.",
    )
    build.set_defaults(command=_build, refuse=build.error)
    build.add_argument(
        "sources",
        nargs="*",
        metavar="SOURCE",
        help="folder of tables as CSV or Parquet, gs://bucket/prefix of a snapshot, or bundled",
    )
    build.add_argument("--out", required=True, metavar="FOLDER", help="new folder to write")
    build.add_argument(
        "--created-at",
        type=_time,
        metavar="TIME",
        help="ISO 8601, such as 2026-01-31T12:00:00Z (default: now)",
    )
    build.add_argument(
        "--records",
        action="append",
        default=[],
        metavar="FILE",
        help="add a CSV file of records to --ladder; may be given again",
    )
    build.add_argument(
        "--trajectories",
        action="append",
        default=[],
        metavar="FILE",
        help="add a CSV file with the columns of trajectories.csv; may be given again",
    )
    build.add_argument("--ladder", metavar="ID", help="ladder of the records")
    build.add_argument(
        "--source-url", default="", metavar="URL", help="where they come from (default: file name)"
    )
    _credentials(build, "anonymous")
    about = build.add_argument_group("a ladder that is new")
    for column in LADDERS.columns:
        if column.name in NEW_LADDER:
            default = NEW_LADDER[column.name]
            about.add_argument(
                f"--{column.name.replace('_', '-')}",
                choices=column.choices or None,
                help=column.about + (f" (default: {default})" if default else ""),
            )


def _build(options: argparse.Namespace) -> int:
    if not (options.sources or options.records or options.trajectories):
        options.refuse("nothing to build from; name a source, such as bundled")
    if options.records and not options.ladder:
        options.refuse("records are of a ladder; name it with --ladder")
    about = {column: getattr(options, column) for column in NEW_LADDER}
    built = build_snapshot(
        Path(options.out),
        options.sources,
        created_at=f"{options.created_at or datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        records=options.records,
        trajectories=options.trajectories,
        origin=Origin(options.ladder or "", options.source_url, about),
        credentials=options.credentials,
    )
    for note in built.notes:
        print(f"note: {shown(note)}", file=sys.stderr)
    rows = sum(int(str(entry.rows)) for entry in built.manifest.files.values())
    print(f"{shown(options.out)} is snapshot {built.manifest.id}: {count(rows, 'row')}.")
    return DONE


def _verify(options: argparse.Namespace) -> int:
    snapshot = _snapshot(options.place, options)
    rows = sum(map(len, snapshot.tables.values()))
    tables = count(len(snapshot.tables), "table")
    print(
        f"{shown(options.place)} is whole: snapshot {snapshot.id} of "
        f"{shown(snapshot.created_at)}, {tables}, {count(rows, 'row')}."
    )
    return DONE


def _diff(options: argparse.Namespace) -> int:
    pair = []
    for place in (options.first, options.second):
        try:
            pair.append(_snapshot(place, options))
        except DataError as error:
            raise error.of(shown(place)) from None
    first, second = pair
    diffs = diff_snapshots(first, second)
    if options.json:
        document = {
            "snapshots": [first.id, second.id],
            "same": not diffs,
            "tables": diff_document(diffs),
        }
        print(json.dumps(document, indent=2, allow_nan=False))
    elif diffs:
        print(diff_text(diffs, options.lines))
    elif first.id == second.id:
        print(f"the same: both are snapshot {first.id}.")
    else:
        print(f"the same rows in every table; the files differ ({first.id}, {second.id}).")
    return DONE


def _publish(options: argparse.Namespace) -> int:
    def tell(file: str) -> None:
        if sys.stderr.isatty():
            print(f"{file} ...", file=sys.stderr)

    published = publish(
        Place(options.folder, options.credentials),
        Place(options.destination, options.credentials, PUBLISH_SECONDS),
        tell,
    )
    before, pointer = published.before, published.pointer
    was = "nothing" if before is None else before.folder
    if before == pointer:
        print(f"{shown(options.destination)} has {pointer.folder} already.")
    else:
        print(f"{shown(options.destination)} is {pointer.folder} now; it was {shown(was)}.")
    return DONE


def _snapshot(place: str, options: argparse.Namespace) -> Snapshot:
    if place == BUNDLED_NAME:
        return load_snapshot(BUNDLED)
    return load_snapshot(Place(place, options.credentials))


def _time(text: str) -> datetime:
    try:
        return utc_time(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no time such as 2026-01-31T12:00:00Z"
        ) from None


def _lines(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of rows")
    return int(text)


def _credentials(parser: argparse.ArgumentParser, default: str) -> None:
    """Whose rights to a bucket are used."""
    parser.add_argument(
        "--credentials",
        choices=["anonymous", "machine"],
        default=default,
        help=f"for a bucket: none, or the machine's own (default: {default})",
    )
