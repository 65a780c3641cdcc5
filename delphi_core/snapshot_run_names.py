"""Which run of a ladder each record of a file is of.

The six columns that researchers pass around do not name runs: label, tokens, size and compute tell
them apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pandas as pd

from delphi_core.errors import DataError, quoted
from delphi_core.records import budget_bucket

EXACT = 2.0**53
CONFIGURATION = ("label", "tokens", "size", "flops")
"""What makes two records those of one run, where they do not say which run they are of."""


def run_names(records: pd.DataFrame, runs: pd.DataFrame, file: str) -> list[str]:
    """The run of each record: as the file says, of the same configuration, or a name made of it.

    Parameters
    ----------
    records
        Their columns label, tokens, size and flops, metric, and run where the file has it; indexed
        by row number.
    runs
        Those that the ladder has: the same columns, and run.
    file
        How messages call the file.

    Raises
    ------
    DataError
        Several runs of the ladder have the configuration, or a run has another one.
    """
    known = {
        str(run): _Configuration(*cells)
        for run, *cells in runs[["run", *CONFIGURATION]].itertuples(index=False, name=None)
    }
    same: dict[_Configuration, list[str]] = {}
    for run, configuration in known.items():
        same.setdefault(configuration.bucketed(), []).append(run)
    said = records["run"] if "run" in records else pd.Series(pd.NA, index=records.index)
    said = said.astype(object).where(said.notna(), "")
    # Replicates, which the six columns do not tell apart, are numbered in the order of the file.
    turns = records.assign(run=said).groupby([*CONFIGURATION, "metric", "run"]).cumcount()
    names, problems = [], []
    given = records[list(CONFIGURATION)].itertuples(index=False, name=None)
    for row, cells, run, turn in zip(records.index, given, said, turns, strict=True):
        configuration = _Configuration(*cells)
        found = same.get(configuration.bucketed(), [])
        made = configuration.name(turn)
        if run or made in known:
            pass
        elif len(found) > 1:
            which = " or ".join(found[:3])
            problems.append(f"{file} row {row}: it may be of {which}; add a column run.")
        elif found and turn == 0:
            made = found[0]
        names.append(str(run) or made)
        before = known.setdefault(names[-1], configuration)
        if word := before.contradiction(configuration):
            problems.append(
                f"{file} row {row}: run {quoted(names[-1])} has another {word} elsewhere; "
                "correct it, or name another run."
            )
    if problems:
        raise DataError(problems)
    return names


@dataclass(frozen=True)
class _Configuration:
    label: str
    tokens: float
    size: float
    flops: float

    def bucketed(self) -> _Configuration:
        """The same with compute as researchers pass it around: what runs are known by.

        Compute as it was logged would do no better: tokens and size leave it no choice, and the
        way through another unit changes its last bit.
        """
        return replace(self, flops=float(budget_bucket(self.flops)))

    def name(self, turn: int) -> str:
        """A name for its run: the same wherever it is made; later replicates are numbered."""
        numbers = (("C", self.flops), ("N", self.size), ("D", self.tokens))
        parts = [f"{letter}{_digits(number)}" for letter, number in numbers]
        return "-".join([self.label, *parts, *([str(turn + 1)] if turn else [])])

    def contradiction(self, other: _Configuration) -> str | None:
        """What differs between two records of one run, if anything does."""
        for column in CONFIGURATION:
            one, two = getattr(self, column), getattr(other, column)
            if column == "flops" and budget_bucket(one) == budget_bucket(two):
                continue
            if one != two and not pd.isna(one):
                return column if column != "size" else "size (params)"
        return None


def _digits(number: float) -> str:
    """A number with all its digits, whole ones without a point."""
    return str(int(number)) if number.is_integer() and number < EXACT else repr(number)
