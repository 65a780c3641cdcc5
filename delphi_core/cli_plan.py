"""The plan command."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING

import pandas as pd

from delphi_core.errors import DataError
from delphi_core.fits.law_choice import CHOSEN_ON
from delphi_core.fits.law_methods import CURVES
from delphi_core.fits.recipe import RECIPE_LADDER
from delphi_core.fits.valley_backtest import DEFAULT_VALLEY, valley_scores
from delphi_core.plain_rows import plain_rows
from delphi_core.plan_documents import plan_csv, plan_json, plan_yaml
from delphi_core.plan_input import CHIP_PARTS, typed_budgets, typed_chips, typed_width
from delphi_core.plan_tables import plan, valley_backtest_of
from delphi_core.plan_text import plan_text, valley_scores_text
from delphi_core.snapshot import load_snapshot

if TYPE_CHECKING:
    import argparse

DONE, INCOMPLETE = 0, 3


def add_plan_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add it to the commands of a parser."""
    command = commands.add_parser(
        "plan", help="size, tokens and loss for a budget, and Delphi's recipe for it"
    )
    command.set_defaults(command=_plan)
    # Before version 3.14 Python takes -1e22 for an option, and says nothing of what is wrong.
    command._negative_number_matcher = re.compile(r"^-\.?\d")  # noqa: SLF001
    command.add_argument(
        "--flops",
        action="append",
        default=[],
        metavar="C",
        help="training compute, FLOP; may be given again, or several as 1e22,1e23",
    )
    command.add_argument("--chips", default="", metavar="N", help="how many chips, instead")
    command.add_argument("--chip-flops", default="", metavar="F", help="peak of one, FLOP/s")
    command.add_argument("--utilisation", default="", metavar="U", help="share of it, 0 to 1")
    command.add_argument("--days", default="", metavar="D", help="how many days")
    command.add_argument("--ladder", default=RECIPE_LADDER, help=f"default: {RECIPE_LADDER}")
    command.add_argument("--metric", help="loss to plan for (default: the ladder's own)")
    command.add_argument(
        "--method", choices=CURVES, help="of the optima (default: as on the Scaling law page)"
    )
    command.add_argument(
        "--asymptote", type=float, metavar="E", help="pin E (default: it is fitted)"
    )
    command.add_argument("--level", type=float, default=0.9, help="of the bands (default: 0.9)")
    command.add_argument(
        "--hidden-dim",
        default="",
        metavar="H",
        help="width to give Delphi's recipe for (default: the nearest in size to the plan)",
    )
    command.add_argument("--snapshot", metavar="PATH", help="folder of another snapshot")
    forms = command.add_mutually_exclusive_group()
    for form, content in (("json", "JSON"), ("yaml", "YAML"), ("csv", "CSV, one row a budget,")):
        forms.add_argument(f"--{form}", action="store_true", help=f"print {content} and no more")
    backtest = commands.add_parser(
        "plan-backtest", help="every form of the valley on later budgets, and which is used"
    )
    backtest.set_defaults(command=_backtest)
    backtest.add_argument(
        "--ladder", help=f"only this ladder (default: those of the choice, {', '.join(CHOSEN_ON)})"
    )
    backtest.add_argument("--snapshot", metavar="PATH", help="folder of another snapshot")
    backtest.add_argument("--json", action="store_true", help="print JSON and nothing else")


def _backtest(options: argparse.Namespace) -> int:
    snapshot = load_snapshot(options.snapshot)
    ladders = [options.ladder] if options.ladder else list(CHOSEN_ON)
    tables = {ladder: valley_backtest_of(snapshot, ladder) for ladder in ladders}
    scores = valley_scores(tables)
    if options.json:
        rows = pd.concat([table.assign(ladder=ladder) for ladder, table in tables.items()])
        document = {
            "snapshot": snapshot.id,
            "ladders": ladders,
            "used": DEFAULT_VALLEY,
            "scores": plain_rows(scores),
            "forecasts": plain_rows(rows),
        }
        print(json.dumps(document, indent=2, allow_nan=False))
    else:
        print(valley_scores_text(scores, ladders))
    return DONE


def _plan(options: argparse.Namespace) -> int:
    budgets = typed_budgets(options.flops)
    chips = typed_chips({name: getattr(options, name) for name in CHIP_PARTS})
    if chips is not None:
        budgets.append(chips)
    if not budgets:
        raise DataError(
            ["no budget is given; add --flops C, or --chips, --chip-flops, --utilisation, --days."]
        )
    found = plan(
        load_snapshot(options.snapshot),
        budgets,
        ladder=options.ladder,
        metric=options.metric,
        method=options.method,
        asymptote=options.asymptote,
        level=options.level,
        hidden_dim=typed_width(options.hidden_dim),
    )
    if options.json:
        print(plan_json(found), end="")
    elif options.yaml:
        print(plan_yaml(found), end="")
    elif options.csv:
        print(plan_csv(found), end="")
    else:
        print(plan_text(found))
    if found.missing:
        print("\n".join(found.missing), file=sys.stderr)
    return INCOMPLETE if found.missing else DONE
