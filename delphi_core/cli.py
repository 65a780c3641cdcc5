"""The same things from a shell: `python -m delphi_core`.

Exit status: 0 done; 1 the input is bad, one sentence a mistake on standard error, at most ten;
2 wrong usage; 3 something that was asked for is missing from what was written.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from typing import TYPE_CHECKING

from delphi_core.cli_arguments import BAD_INPUT, DONE
from delphi_core.cli_compare import add_compare_command
from delphi_core.cli_extract import add_extract_command
from delphi_core.cli_fit import add_fit_command
from delphi_core.cli_forecast import add_forecast_commands
from delphi_core.cli_methods import add_methods_commands
from delphi_core.cli_plan import add_plan_command
from delphi_core.cli_record import add_record_commands
from delphi_core.cli_snapshot import add_snapshot_commands
from delphi_core.cli_trajectories import add_trajectories_command
from delphi_core.errors import DelphiError
from delphi_core.sources.records_csv import read_records, shown_name
from delphi_core.words import count

if TYPE_CHECKING:
    from collections.abc import Sequence


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


def _validate(options: argparse.Namespace) -> int:
    records = read_records(options.file)
    metrics = count(records["metric"].nunique(), "metric")
    labels = count(records["label"].nunique(), "label")
    rows = count(len(records), "record")
    print(f"{shown_name(options.file)} is good: {rows}, {metrics}, {labels}.")
    return DONE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m delphi_core", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    add_fit_command(commands)
    add_methods_commands(commands)
    add_extract_command(commands)
    add_trajectories_command(commands)
    add_forecast_commands(commands)
    add_compare_command(commands)
    add_plan_command(commands)
    add_record_commands(commands)
    add_snapshot_commands(commands)
    validate = commands.add_parser("validate", help="check a CSV file of records")
    validate.set_defaults(command=_validate)
    validate.add_argument("file", metavar="FILE.csv")
    return parser
