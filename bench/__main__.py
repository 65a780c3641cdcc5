"""`python -m bench [NAME ...]`: run all comparisons, or those named, and print one table.

An aim that is missed is printed as such and is no failure of the run.
"""

from __future__ import annotations

import argparse
import sys

from bench import (
    extract,
    first_chart,
    front_end,
    ladder_bootstrap,
    load,
    loss_surface,
    page_rerun,
    previews,
    scaling_page,
    trajectory_page,
)
from bench.harness import NotMeasuredError, machine, table

COMPARISONS = {
    "extract": extract.compare,
    "ladder_bootstrap": ladder_bootstrap.compare,
    "load": load.compare,
    "loss_surface": loss_surface.compare,
    "page_rerun": page_rerun.compare,
    "scaling_page": scaling_page.compare,
    "trajectory_page": trajectory_page.compare,
    "previews": previews.compare,
    "front_end": front_end.compare,
    "first_chart": first_chart.compare,
}


def main() -> None:
    """Run what is asked for and print it."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(COMPARISONS))
    names = parser.parse_args().names or list(COMPARISONS)
    if unknown := [name for name in names if name not in COMPARISONS]:
        parser.error(f"no comparison {', '.join(unknown)}; there are {', '.join(COMPARISONS)}")
    rows, missing = [], []
    for name in names:
        print(f"{name} ...", file=sys.stderr)
        try:
            rows += COMPARISONS[name]()
        except NotMeasuredError as error:
            missing.append(f"not measured: {name}: {error}")
    print(f"\n{machine()}\n")
    if rows:
        print(table(rows))
    if missing:
        print("\n".join(["", *missing]))


if __name__ == "__main__":
    main()
