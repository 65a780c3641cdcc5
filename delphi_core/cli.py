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
from typing import TYPE_CHECKING, Any, cast

from delphi_core.errors import DataError, DelphiError
from delphi_core.export import isoflop_document
from delphi_core.fits.isoflop import fit_isoflops
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
    isoflop = fit_isoflops(
        snapshot.records(ladder.ladder, metric),
        method=options.method,
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
    if options.json:
        print(json.dumps(document, indent=2, allow_nan=False))
    else:
        print(_fit_text(document))
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


def _fit_text(document: dict[str, Any]) -> str:
    size = f"N* ({document['params_column']})"
    ends_of = f"interval of {'D*' if document['x'] == 'tokens' else 'N*'}"
    lines = [
        f"{document['ladder']}, {document['metric']}, snapshot {document['snapshot']}",
        document["described"],
        "",
        f"{'C (FLOP)':>14} {'runs':>4} {'D* (tokens)':>14} {size:>18} {'L*':>9}  {ends_of:>27}",
    ]
    for budget in document["budgets"]:
        optimum = [budget[k] for k in ("optimal_tokens", "optimal_params", "loss_at_optimal")]
        cells = ["none", "", ""]
        if None not in optimum:
            cells = [f"{optimum[0]:.6e}", f"{optimum[1]:.6e}", f"{optimum[2]:.6f}"]
        line = f"{budget['flops']:14.6e} {budget['runs']:4d} {cells[0]:>14} {cells[1]:>18}"
        low, high = (budget[end] for end in ("low", "high"))
        ends = budget["interval"] or ""
        if budget["level"] is not None:
            ends = f"{_end(low)} to {_end(high)}"
        lines.append(f"{line} {cells[2]:>9}  {ends:>27}  {' '.join(budget['notes'])}".rstrip())
    if "token_law" in document:
        tokens, params = document["token_law"], document["params_law"]
        lines += [
            "",
            f"log10 D* = {tokens['alpha']:.6f} log10 C {tokens['log10_A']:+.6f}",
            f"  D* {tokens['rule']}",
            f"log10 N* = {params['exponent']:.6f} log10 C {params['intercept']:+.6f}",
            f"  N* {params['rule']}",
        ]
    lines += ["", *(f"left out: {item['run']}: {item['reason']}" for item in document["left_out"])]
    return "\n".join(lines).rstrip()


def _end(amount: float | None) -> str:
    return "open" if amount is None else f"{amount:.4e}"


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
    fit.add_argument("--method", choices=["parabola", "cubic", "marin"], default="parabola")
    fit.add_argument(
        "--x",
        choices=["tokens", "params", "active_params"],
        help="what loss is fitted against (default: tokens; active_params for MoE ladders)",
    )
    fit.add_argument(
        "--compute",
        choices=["recorded", "nominal", "bucket"],
        help="what C of a budget is (default: recorded; bucket with --method marin)",
    )
    fit.add_argument(
        "--include-excluded", action="store_true", help="fit runs the published fit left out"
    )
    fit.add_argument(
        "--drop",
        type=_drop,
        action="append",
        default=[],
        metavar="COLUMN=V1,V2",
        help="leave out rows with these values; may be given again",
    )
    fit.add_argument("--level", type=float, default=0.9, help="of the intervals (default: 0.9)")
    fit.add_argument("--json", action="store_true", help="print JSON and nothing else")
    validate = commands.add_parser("validate", help="check a CSV file of records")
    validate.set_defaults(command=_validate)
    validate.add_argument("file", metavar="FILE.csv")
    return parser
