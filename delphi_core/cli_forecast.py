"""The forecast and backtest commands."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from delphi_core.backtest_tables import backtest_document, backtest_of
from delphi_core.cli_arguments import dask_argument
from delphi_core.errors import DataError, did_you_mean
from delphi_core.fits.backtest import DEFAULT_FORECASTER
from delphi_core.fits.forecasters import FORECAST_METHODS
from delphi_core.snapshot import load_snapshot
from delphi_core.sources.run_map import run_map_on
from delphi_core.trajectories import target_metrics, target_named, targets
from delphi_core.trajectory_tables import forecast_document, forecast_of
from delphi_core.trajectory_text import backtest_text, forecast_text

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable


def add_forecast_commands(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
) -> None:
    """Add both to the commands of a parser."""
    forecast = commands.add_parser("forecast", help="a target's whole trajectory")
    forecast.set_defaults(command=_forecast)
    forecast.add_argument("--target", required=True, help="hero, 67b or delphi-1e23")
    forecast.add_argument("--metric", help="metric to forecast (default: the target's own)")
    forecast.add_argument(
        "--method",
        choices=FORECAST_METHODS,
        help=f"default: {DEFAULT_FORECASTER.name}; per-fraction where rungs have one point each",
    )
    forecast.add_argument(
        "--asymptote",
        type=_asymptote,
        metavar="E",
        help="pin E, or fit to profile it on the rungs (default: as the target pins it)",
    )
    forecast.add_argument(
        "--without",
        type=lambda text: text.split(","),
        action="extend",
        default=[],
        metavar="SUBSET",
        help="leave these subsets out of a macro loss: ptb,gab; may be given again",
    )
    _snapshot_arguments(forecast)
    backtest = commands.add_parser(
        "backtest", help="every forecaster on every rung, and which is the default"
    )
    backtest.set_defaults(command=_backtest)
    backtest.add_argument("--target", help="only the rungs of this target (default: all)")
    dask_argument(backtest)
    _snapshot_arguments(backtest)


def _forecast(options: argparse.Namespace) -> int:
    snapshot = load_snapshot(options.snapshot)
    target = target_named(snapshot, options.target)
    metric = _known_metric(options.metric, target_metrics(snapshot, target), target.metric)
    without = tuple(dict.fromkeys(options.without))
    forecast = forecast_of(
        snapshot,
        target,
        metric,
        method=options.method,
        asymptote=options.asymptote,
        level=options.level,
        without=without,
    )
    document = forecast_document(snapshot, target, metric, forecast, without)
    _print(document, forecast_text, options)
    return 0


def _backtest(options: argparse.Namespace) -> int:
    snapshot = load_snapshot(options.snapshot)
    names = [options.target] if options.target else list(targets(snapshot))
    tables = []
    with run_map_on(options.dask, 1) as run_map:
        for name in names:
            if sys.stderr.isatty():
                print(f"{name} ...", file=sys.stderr)
            target = target_named(snapshot, name)
            tables.append(backtest_of(snapshot, target, level=options.level, run_map=run_map))
    document = backtest_document(tables, snapshot=snapshot.id, targets=names, level=options.level)
    _print(document, backtest_text, options)
    return 0


def _known_metric(asked: str | None, offered: list[str], default: str) -> str:
    if asked is None or asked in offered:
        return asked or default
    raise DataError([f"no metric {asked!r} on this target; {did_you_mean(asked, offered)}"])


def _print(
    document: dict[str, Any], as_text: Callable[[dict[str, Any]], str], options: argparse.Namespace
) -> None:
    print(json.dumps(document, indent=2, allow_nan=False) if options.json else as_text(document))


def _asymptote(text: str) -> float | str:
    return "fit" if text == "fit" else float(text)


def _snapshot_arguments(parser: argparse.ArgumentParser) -> None:
    """Where figures come from, how wide bands are, and what is printed."""
    parser.add_argument("--snapshot", metavar="PATH", help="folder of another snapshot")
    parser.add_argument("--level", type=float, default=0.9, help="of the bands (default: 0.9)")
    parser.add_argument("--json", action="store_true", help="print JSON and nothing else")
