"""Arguments that several commands share."""

from __future__ import annotations

import argparse

from delphi_core.fits.bands import BANDS
from delphi_core.fits.forecast import LARGEST_TARGET, SMALLEST_TARGET
from delphi_core.fits.law_settings import DEFAULT_BAND

DONE, BAD_INPUT, INCOMPLETE = 0, 1, 3
"""Exit status; argparse itself ends with 2 where usage is wrong."""


def dask_argument(parser: argparse.ArgumentParser) -> None:
    """Where many things are done at once."""
    parser.add_argument(
        "--dask",
        metavar="tcp://HOST:8786",
        help="do it on this Dask cluster (default: by threads of this process)",
    )


def law_arguments(parser: argparse.ArgumentParser) -> None:
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


def flops_argument(text: str) -> float:
    """Compute (FLOP) that a law can be asked for."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not SMALLEST_TARGET <= value <= LARGEST_TARGET:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not from {SMALLEST_TARGET:g} to {LARGEST_TARGET:g} FLOP"
        )
    return value
