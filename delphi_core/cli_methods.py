"""The methods and walk-forward commands: fits side by side, and how the default was chosen."""

from __future__ import annotations

import json
import sys
from functools import partial
from typing import TYPE_CHECKING, cast

from delphi_core.cli_arguments import DONE, INCOMPLETE, dask_argument, law_arguments
from delphi_core.cli_reading import bar
from delphi_core.cli_text import methods_text, walk_forward_text
from delphi_core.fits.isoflop import IsoflopFit
from delphi_core.fits.law_choice import CHOSEN_ON, DEFAULT_METHOD, choose
from delphi_core.fits.law_settings import DEFAULT_BAND, LawSettings
from delphi_core.fits.walk_forward import REPLICATES, walk_forward_all
from delphi_core.law_documents import walk_forward_document
from delphi_core.law_tables import fit_methods, methods_table
from delphi_core.plain_rows import plain_rows
from delphi_core.snapshot import load_snapshot
from delphi_core.sources.run_map import run_map_on

if TYPE_CHECKING:
    import argparse

    import pandas as pd

    from delphi_core.fits.isoflop import X


def add_methods_commands(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
) -> None:
    """Add both to the commands of a parser."""
    methods = commands.add_parser("methods", help="every method on the same runs, side by side")
    methods.set_defaults(command=_methods)
    methods.add_argument("--ladder", default="delphi", help="id of the ladder (default: delphi)")
    methods.add_argument("--metric", help="metric to fit (default: the ladder's own)")
    law_arguments(methods)
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
    dask_argument(walk)
    walk.add_argument("--json", action="store_true", help="print JSON and nothing else")


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


def _walked(level: float, replicates: int, task: tuple[pd.DataFrame, X]) -> pd.DataFrame:
    records, x = task
    return walk_forward_all(records, IsoflopFit(x=x), level=level, replicates=replicates)


def _walk_forward(options: argparse.Namespace) -> int:
    snapshot = load_snapshot()
    ladders = [options.ladder] if options.ladder else list(CHOSEN_ON)
    found = [snapshot.ladder(name) for name in ladders]
    tasks = [
        (snapshot.records(ladder.ladder, ladder.default_metric), cast("X", ladder.default_x))
        for ladder in found
    ]
    walk = partial(_walked, options.level, options.replicates)
    with run_map_on(options.dask, 1) as run_map:
        tables = dict(zip(ladders, bar(run_map(walk, tasks), len(tasks), "ladder"), strict=True))
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
