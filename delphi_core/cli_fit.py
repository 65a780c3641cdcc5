"""The fit command: optima and laws of a ladder, or of a file of records."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from delphi_core.cli_arguments import DONE, INCOMPLETE, law_arguments
from delphi_core.cli_text import fit_text
from delphi_core.errors import DataError, did_you_mean, quoted
from delphi_core.export import isoflop_document
from delphi_core.fits.isoflop import fit_isoflops
from delphi_core.fits.law_models import LAWS
from delphi_core.fits.law_settings import DEFAULT_LAW, LawSettings
from delphi_core.fits.surface import DEFAULT_SURFACE_LAW, SurfaceFit
from delphi_core.law_documents import law_document, surface_document
from delphi_core.snapshot import load_snapshot
from delphi_core.sources.records_csv import read_records, shown_name

if TYPE_CHECKING:
    import pandas as pd

    from delphi_core.fits.isoflop import X


DEFAULT_LADDER = "delphi"


def add_fit_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add it to the commands of a parser."""
    fit = commands.add_parser("fit", help="optima and laws of a ladder")
    fit.set_defaults(command=_fit)
    rows = fit.add_mutually_exclusive_group()
    rows.add_argument("--ladder", help="id of the ladder (default: delphi)")
    rows.add_argument("--file", metavar="FILE.csv", help="a file of records instead of a ladder")
    fit.add_argument(
        "--metric", help="metric to fit (default: the ladder's own, or the only one of a file)"
    )
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
    law_arguments(fit)


def _fit(options: argparse.Namespace) -> int:
    rows = _file_rows(options) if options.file else _ladder_rows(options)
    drop: dict[str, list[str]] = {}
    for column, values in options.drop:
        drop.setdefault(column, []).extend(values)
    surface = options.method == "surface"
    isoflop = fit_isoflops(
        rows.records,
        method="parabola" if surface else options.method,
        x=rows.x,
        compute=options.compute,
        include_excluded=options.include_excluded,
        drop=drop,
        level=options.level,
    )
    document, missing = isoflop_document(isoflop, **rows.names)
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
    if options.file:
        document["file"] = shown_name(options.file)
    if options.json:
        print(json.dumps(document, indent=2, allow_nan=False))
    else:
        print(fit_text(document))
    if missing:
        print("\n".join(missing), file=sys.stderr)
    return INCOMPLETE if missing else DONE


@dataclass(frozen=True)
class _Rows:
    """What is fitted.

    Attributes
    ----------
    records
        Of one metric.
    x
        What loss is fitted against.
    names
        What `isoflop_document` calls them; of a file, snapshot and ladder are None.
    """

    records: pd.DataFrame
    x: X
    names: dict[str, Any]


def _ladder_rows(options: argparse.Namespace) -> _Rows:
    snapshot = load_snapshot()
    ladder = snapshot.ladder(DEFAULT_LADDER if options.ladder is None else options.ladder)
    if options.x not in (None, "tokens", ladder.params_column):
        sizes = f"its sizes are {ladder.params_column}: use that."
        raise DataError([f"ladder {ladder.ladder} has no {options.x}; {sizes}"])
    metric = ladder.default_metric if options.metric is None else options.metric
    names = {
        "snapshot": snapshot.id,
        "ladder": ladder.ladder,
        "metric": metric,
        "params_column": ladder.params_column,
    }
    x = options.x or cast("X", ladder.default_x)
    return _Rows(snapshot.records(ladder.ladder, metric), x, names)


def _file_rows(options: argparse.Namespace) -> _Rows:
    records, name = read_records(options.file), shown_name(options.file)
    metrics = sorted(records["metric"].unique())
    metric = options.metric
    if metric is None:
        if len(metrics) > 1:
            listed = ", ".join(map(quoted, metrics[:3])) + (", ..." if len(metrics) > 3 else "")
            words = f"{name} holds {len(metrics)} metrics ({listed}); choose one with --metric."
            raise DataError([words])
        metric = metrics[0]
    if metric not in metrics:
        raise DataError([f"{name} has no metric {quoted(metric)}; {did_you_mean(metric, metrics)}"])
    size = "active_params" if options.x == "active_params" else "params"
    names = {"snapshot": None, "ladder": None, "metric": metric, "params_column": size}
    return _Rows(records[records["metric"] == metric], options.x or "tokens", names)


def _drop(text: str) -> tuple[str, list[str]]:
    column, equals, values = text.partition("=")
    if not (column and equals and values):
        raise argparse.ArgumentTypeError(f"{text!r} is not COLUMN=V1,V2")
    return column, values.split(",")
