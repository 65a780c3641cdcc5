"""The same things from a shell: `python -m delphi_core`.

Exit status: 0 done; 1 the input is bad, one sentence a mistake on standard error, at most ten;
2 wrong usage; 3 something that was asked for is missing from what was written.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from typing import TYPE_CHECKING, cast

from delphi_core.cli_compare import add_compare_command, flops_argument
from delphi_core.cli_forecast import add_forecast_commands
from delphi_core.cli_text import fit_text, methods_text, walk_forward_text
from delphi_core.errors import DataError, DelphiError
from delphi_core.export import isoflop_document, plain_rows
from delphi_core.fits.bands import BANDS
from delphi_core.fits.isoflop import IsoflopFit, fit_isoflops
from delphi_core.fits.law_choice import CHOSEN_ON, DEFAULT_METHOD, choose
from delphi_core.fits.law_models import LAWS
from delphi_core.fits.law_settings import DEFAULT_BAND, DEFAULT_LAW, LawSettings
from delphi_core.fits.surface import DEFAULT_SURFACE_LAW, SurfaceFit
from delphi_core.fits.walk_forward import REPLICATES, walk_forward_all
from delphi_core.law_documents import (
    law_document,
    surface_document,
    walk_forward_document,
)
from delphi_core.law_tables import fit_methods, methods_table
from delphi_core.snapshot import load_snapshot
from delphi_core.sources.records_csv import read_records, shown_name
from delphi_core.words import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from delphi_core.fits.isoflop import X
    from delphi_core.snapshot import Ladder

DONE, BAD_INPUT, INCOMPLETE = 0, 1, 3


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status.

    Parameters
    ----------
    arguments
        Those of the command line, by default the process's own.
    """
    options = _parser().parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A name that the terminal cannot show must not end in a traceback.
            stream.reconfigure(errors="backslashreplace")
    try:
        status = int(options.command(options))
        sys.stdout.flush()
    except DelphiError as error:
        print(error, file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:
        # Whoever read the output has seen enough; Python would complain again when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    return status


def _fit(options: argparse.Namespace) -> int:
    snapshot = load_snapshot()
    ladder = snapshot.ladder(options.ladder)
    metric = ladder.default_metric if options.metric is None else options.metric
    drop: dict[str, list[str]] = {}
    for column, values in options.drop:
        drop.setdefault(column, []).extend(values)
    surface = options.method == "surface"
    isoflop = fit_isoflops(
        snapshot.records(ladder.ladder, metric),
        method="parabola" if surface else options.method,
        x=_checked_x(options.x, ladder),
        compute=options.compute,
        include_excluded=options.include_excluded,
        drop=drop,
        level=options.level,
    )
    document, missing = isoflop_document(
        isoflop,
        snapshot=snapshot.id,
        ladder=ladder.ladder,
        metric=metric,
        params_column=ladder.params_column,
    )
    settings = {"asymptote": options.asymptote, "band": options.band, "level": options.level}
    if surface:
        fit = SurfaceFit(law=options.law or DEFAULT_SURFACE_LAW, **settings)
        document, missing = surface_document(fit, isoflop, document, options.target_flops)
    else:
        laws, more = law_document(
            isoflop, LawSettings(law=options.law or DEFAULT_LAW, **settings), options.target_flops
        )
        document |= laws
        missing += more
    if options.json:
        print(json.dumps(document, indent=2, allow_nan=False))
    else:
        print(fit_text(document))
    if missing:
        print("\n".join(missing), file=sys.stderr)
    return INCOMPLETE if missing else DONE


def _validate(options: argparse.Namespace) -> int:
    records = read_records(options.file)
    metrics = count(records["metric"].nunique(), "metric")
    labels = count(records["label"].nunique(), "label")
    rows = count(len(records), "record")
    print(f"{shown_name(options.file)} is good: {rows}, {metrics}, {labels}.")
    return DONE


def _checked_x(x: X | None, ladder: Ladder) -> X:
    if x in (None, "tokens", ladder.params_column):
        return x or cast("X", ladder.default_x)
    raise DataError(
        [f"ladder {ladder.ladder} has no {x}; its sizes are {ladder.params_column}: use that."]
    )


def _methods(options: argparse.Namespace) -> int:
    snapshot = load_snapshot()
    ladder = snapshot.ladder(options.ladder)
    metric = options.metric or ladder.default_metric
    fits = fit_methods(
        snapshot.records(ladder.ladder, metric),
        IsoflopFit(
            x=cast("X", ladder.default_x),
            compute=options.compute,
            include_excluded=options.include_excluded,
            level=options.level,
        ),
        LawSettings(asymptote=options.asymptote, band=options.band, level=options.level),
    )
    table = methods_table(fits, options.target_flops)
    document = {
        "snapshot": snapshot.id,
        "ladder": ladder.ladder,
        "metric": metric,
        "rows": plain_rows(table),
    }
    print(json.dumps(document, indent=2, allow_nan=False) if options.json else methods_text(table))
    if table["E"].isna().all():
        print("no method gives a law here.", file=sys.stderr)
        return INCOMPLETE
    return DONE


def _walk_forward(options: argparse.Namespace) -> int:
    snapshot = load_snapshot()
    ladders = [options.ladder] if options.ladder else list(CHOSEN_ON)
    tables = {}
    for name in ladders:
        ladder = snapshot.ladder(name)
        if sys.stderr.isatty():
            print(f"{ladder.title} ...", file=sys.stderr)
        tables[name] = walk_forward_all(
            snapshot.records(name, ladder.default_metric),
            IsoflopFit(x=cast("X", ladder.default_x)),
            level=options.level,
            replicates=options.replicates,
        )
    choice = choose(tables)
    document = walk_forward_document(
        tables,
        choice,
        snapshot=snapshot.id,
        ladders=ladders,
        level=options.level,
        replicates=options.replicates,
        default={"method": DEFAULT_METHOD.name, "band": DEFAULT_BAND, "chosen_on": CHOSEN_ON},
    )
    if options.json:
        print(json.dumps(document, indent=2, allow_nan=False))
    else:
        print(walk_forward_text(document))
    return DONE


def _drop(text: str) -> tuple[str, list[str]]:
    column, equals, values = text.partition("=")
    if not (column and equals and values):
        raise argparse.ArgumentTypeError(f"{text!r} is not COLUMN=V1,V2")
    return column, values.split(",")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m delphi_core", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    fit = commands.add_parser("fit", help="optima and laws of a ladder")
    fit.set_defaults(command=_fit)
    fit.add_argument("--ladder", default="delphi", help="id of the ladder (default: delphi)")
    fit.add_argument("--metric", help="metric to fit (default: the ladder's own)")
    fit.add_argument(
        "--method", choices=["parabola", "cubic", "marin", "surface"], default="parabola"
    )
    fit.add_argument(
        "--x",
        choices=["tokens", "params", "active_params"],
        help="what loss is fitted against (default: tokens; active_params for MoE ladders)",
    )
    fit.add_argument(
        "--drop",
        type=_drop,
        action="append",
        default=[],
        metavar="COLUMN=V1,V2",
        help="leave out rows with these values; may be given again",
    )
    fit.add_argument(
        "--law",
        choices=LAWS,
        help=f"how the loss law is fitted (default: {DEFAULT_LAW}; {DEFAULT_SURFACE_LAW}, which is "
        "Approach 3, with --method surface)",
    )
    _law_arguments(fit)
    methods = commands.add_parser("methods", help="every method on the same runs, side by side")
    methods.set_defaults(command=_methods)
    methods.add_argument("--ladder", default="delphi", help="id of the ladder (default: delphi)")
    methods.add_argument("--metric", help="metric to fit (default: the ladder's own)")
    _law_arguments(methods)
    walk = commands.add_parser(
        "walk-forward", help="forecast later budgets from earlier ones, by every method"
    )
    walk.set_defaults(command=_walk_forward)
    walk.add_argument(
        "--ladder", help=f"only this ladder (default: those of the choice, {', '.join(CHOSEN_ON)})"
    )
    walk.add_argument("--level", type=float, default=0.9, help="of the bands (default: 0.9)")
    walk.add_argument(
        "--replicates",
        type=int,
        default=REPLICATES,
        help=f"of the bootstraps (default: {REPLICATES})",
    )
    walk.add_argument("--json", action="store_true", help="print JSON and nothing else")
    add_compare_command(commands)
    add_forecast_commands(commands)
    validate = commands.add_parser("validate", help="check a CSV file of records")
    validate.set_defaults(command=_validate)
    validate.add_argument("file", metavar="FILE.csv")
    return parser


def _law_arguments(parser: argparse.ArgumentParser) -> None:
    """What laws are fitted by, whatever the method."""
    parser.add_argument(
        "--compute",
        choices=["recorded", "nominal", "bucket"],
        help="what C of a budget is (default: recorded; always bucket with method marin)",
    )
    parser.add_argument(
        "--include-excluded", action="store_true", help="fit runs the published fit left out"
    )
    parser.add_argument(
        "--asymptote", type=float, metavar="E", help="pin E (default: it is fitted)"
    )
    parser.add_argument(
        "--band",
        choices=BANDS,
        default=DEFAULT_BAND,
        help=f"of forecasts (default: {DEFAULT_BAND})",
    )
    parser.add_argument(
        "--target-flops",
        type=flops_argument,
        action="append",
        default=[],
        metavar="C",
        help="forecast the loss at this compute too; may be given again",
    )
    parser.add_argument("--level", type=float, default=0.9, help="of the intervals (default: 0.9)")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
