"""The compare command."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from delphi_core.cli_arguments import DONE, INCOMPLETE, flops_argument
from delphi_core.fits.law_methods import CURVES
from delphi_core.fits.law_models import LAWS
from delphi_core.fits.law_settings import DEFAULT_LAW, LawSettings
from delphi_core.recipe_documents import compare_document
from delphi_core.recipe_fits import RecipeSettings, shared_curve
from delphi_core.recipe_text import compare_text
from delphi_core.recipes import compare_recipes
from delphi_core.snapshot import load_snapshot

if TYPE_CHECKING:
    import argparse


def add_compare_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add it to the commands of a parser."""
    compare = commands.add_parser(
        "compare", help="which recipe is ahead of a base, and by how much compute"
    )
    compare.set_defaults(command=_compare)
    compare.add_argument("--base", required=True, help="id of the ladder to hold others against")
    compare.add_argument(
        "--ladder",
        required=True,
        action="append",
        help="id of a ladder to compare; may be given again",
    )
    compare.add_argument("--metric", help="metric to compare in (default: the base's own)")
    compare.add_argument(
        "--method",
        choices=CURVES,
        help="how optima come about (default: the curve walk-forward chose if it suits every "
        "ladder, else parabola)",
    )
    compare.add_argument("--law", choices=LAWS, default=DEFAULT_LAW, help=f"default: {DEFAULT_LAW}")
    compare.add_argument(
        "--asymptote", type=float, metavar="E", help="pin E of every law (default: each is fitted)"
    )
    compare.add_argument(
        "--flops",
        type=flops_argument,
        action="append",
        default=[],
        metavar="C",
        help="say the speed-up at this compute (default: the largest that every law was fitted up "
        "to); may be given again",
    )
    compare.add_argument("--level", type=float, default=0.9, help="of intervals (default: 0.9)")
    compare.add_argument("--snapshot", metavar="PATH", help="folder of another snapshot")
    compare.add_argument("--json", action="store_true", help="print JSON and nothing else")


def _compare(options: argparse.Namespace) -> int:
    snapshot = load_snapshot(options.snapshot)
    ladders = list(dict.fromkeys(options.ladder))
    metric = options.metric or snapshot.ladder(options.base).default_metric
    law = LawSettings(law=options.law, asymptote=options.asymptote, level=options.level)
    curve = options.method or shared_curve(snapshot, [options.base, *ladders], metric)
    settings = RecipeSettings(curve, law)
    found = compare_recipes(snapshot, options.base, ladders, metric, settings)
    document, missing = compare_document(snapshot, found, options.flops)
    if options.json:
        print(json.dumps(document, indent=2, allow_nan=False))
    else:
        print(compare_text(document))
    if missing:
        print("\n".join(missing), file=sys.stderr)
    return INCOMPLETE if missing else DONE
