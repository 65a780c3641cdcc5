"""The ledger, forecast-freeze and forecast-check commands: forecasts on record."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from delphi_core.cli_arguments import DONE, INCOMPLETE, flops_argument
from delphi_core.cli_reading import local_file, write_file
from delphi_core.errors import DataError
from delphi_core.fits.backtest import DEFAULT_FORECASTER
from delphi_core.fits.bands import BANDS
from delphi_core.fits.law_choice import DEFAULT_METHOD
from delphi_core.fits.law_settings import DEFAULT_BAND
from delphi_core.freeze import freeze_forecast
from delphi_core.frozen_check import check_forecast
from delphi_core.frozen_file import file_name, frozen_text
from delphi_core.ledger import forecast_ledger, ledger_scores
from delphi_core.plain_rows import plain_rows
from delphi_core.record_text import check_text, ledger_text
from delphi_core.snapshot import load_snapshot
from delphi_core.words import count

if TYPE_CHECKING:
    import argparse


def add_record_commands(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
) -> None:
    """Add them to the commands of a parser."""
    ledger = commands.add_parser("ledger", help="published forecasts and how they came out")
    ledger.set_defaults(command=_ledger)
    _snapshot_arguments(ledger)
    freeze = commands.add_parser(
        "forecast-freeze",
        help="write a forecast with all it follows from to a file",
        description="Write one JSON file: a forecast with its bands, method and settings, the rows "
        "it follows from, and checksums. It is computed from those rows and nothing else.",
    )
    freeze.set_defaults(command=_freeze, refuse=freeze.error)
    of = freeze.add_mutually_exclusive_group(required=True)
    of.add_argument("--target", help="whole trajectory of a target: hero, 67b or delphi-1e23")
    of.add_argument("--ladder", help="a scaling law's forecast on a ladder, at --flops")
    freeze.add_argument(
        "--flops",
        type=flops_argument,
        action="append",
        default=[],
        metavar="C",
        help="compute that a law is to forecast; may be given again",
    )
    freeze.add_argument("--metric", help="default: the target's or the ladder's own")
    freeze.add_argument(
        "--method",
        help=f"default: {DEFAULT_FORECASTER.name} for a target (per-fraction where rungs have one "
        f"point each), {DEFAULT_METHOD.name!r} for a ladder; `methods` and `backtest` list them",
    )
    freeze.add_argument(
        "--asymptote",
        type=lambda text: text if text == "fit" else float(text),
        metavar="E",
        help="pin E, or fit to have it fitted (default: as the target pins it; fitted in a law)",
    )
    freeze.add_argument(
        "--band", choices=BANDS, help=f"of a law's forecast (default: {DEFAULT_BAND})"
    )
    freeze.add_argument(
        "--without",
        type=lambda text: text.split(","),
        action="extend",
        default=[],
        metavar="SUBSET",
        help="leave these subsets out of a target's macro loss: ptb,gab; may be given again",
    )
    freeze.add_argument("--level", type=float, default=0.9, help="of the bands (default: 0.9)")
    freeze.add_argument("--out", required=True, metavar="FILE", help="file to write")
    freeze.add_argument("--force", action="store_true", help="replace the file if it is there")
    freeze.add_argument("--snapshot", metavar="PATH", help="folder of another snapshot")
    check = commands.add_parser(
        "forecast-check",
        help="whether a frozen forecast still follows, and how it came out",
        description="Recompute a frozen forecast from its own rows and from the snapshot's, and "
        "score it against what was measured since. Exit status 0 if it still follows to the last "
        "bit, 3 if anything differs. Whoever alters a file can make its checksum anew: keep the "
        "checksum that forecast-freeze prints where others see it.",
    )
    check.set_defaults(command=_check)
    check.add_argument("file", metavar="FILE", help="as forecast-freeze wrote it")
    _snapshot_arguments(check)


def _ledger(options: argparse.Namespace) -> int:
    snapshot = load_snapshot(options.snapshot)
    table = forecast_ledger(snapshot)
    document = {
        "snapshot": snapshot.id,
        "scores": plain_rows(ledger_scores(table)),
        "forecasts": plain_rows(table),
    }
    _print(document, ledger_text(document), as_json=options.json)
    return DONE


def _freeze(options: argparse.Namespace) -> int:
    if options.ladder is None and (options.flops or options.band):
        options.refuse("--flops and --band are of a law; name its ladder with --ladder")
    if options.ladder is not None and options.without:
        options.refuse("--without is of a target; name it with --target")
    if options.ladder is not None and not options.flops:
        options.refuse("a law forecasts at some compute; name it with --flops")
    file = local_file(options.out)
    _refuse_existing(options)
    document = freeze_forecast(
        load_snapshot(options.snapshot),
        options.target,
        ladder=options.ladder,
        flops=options.flops,
        metric=options.metric,
        method=options.method,
        asymptote=options.asymptote,
        band=options.band,
        level=options.level,
        without=options.without,
    )
    _refuse_existing(options)
    write_file(file, frozen_text(document))
    rows = sum(len(table["rows"]) for table in document["rows"].values())
    predictions = count(len(document["result"]["predictions"]), "prediction")
    print(f"{file_name(file)}: {predictions} from {count(rows, 'row')}.")
    print(document["result"]["described"])
    print(f"checksum {document['checksum']}")
    return DONE


def _refuse_existing(options: argparse.Namespace) -> None:
    """A record is not replaced by accident, nor by a file that came while it was computed."""
    if local_file(options.out).exists() and not options.force:
        name = file_name(options.out)
        raise DataError([f"{name} is there already; name another file, or --force to replace it."])


def _check(options: argparse.Namespace) -> int:
    found = check_forecast(load_snapshot(options.snapshot), options.file)
    _print(found, check_text(found), as_json=options.json)
    return DONE if found["follows"] else INCOMPLETE


def _print(document: dict[str, Any], text: str, *, as_json: bool) -> None:
    print(json.dumps(document, indent=2, allow_nan=False) if as_json else text)


def _snapshot_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--snapshot", metavar="PATH", help="folder of another snapshot")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
