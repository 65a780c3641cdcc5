"""Time a subject and its reference by turns, and print medians beside aims."""

from __future__ import annotations

import os
import platform
import statistics
import sys
import time
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

# orjson is optional: plotly writes figures with it where it is installed.
PACKAGES = ("streamlit", "plotly", "pandas", "numpy", "orjson", "playwright")
COLUMNS = ("what", "median", "low to high", "n", "reference", "median", "ratio", "aim", "met")


class NotMeasuredError(Exception):
    """A comparison could not be made here; its text says why."""


@dataclass(frozen=True)
class Aim:
    """What a row should keep to; a part that is None asks for nothing.

    Attributes
    ----------
    seconds
        The most the median may be.
    ratio
        The most the median may be, in medians of the reference.
    """

    seconds: float | None = None
    ratio: float | None = None

    def words(self) -> str:
        """As the table says it."""
        parts = []
        if self.seconds is not None:
            parts.append(f"at most {_duration(self.seconds)}")
        if self.ratio is not None:
            faster = self.ratio < 1
            parts.append(f"{1 / self.ratio:g}x faster" if faster else f"at most {self.ratio:g}x")
        return " and ".join(parts) or "none"


@dataclass(frozen=True)
class Row:
    """One comparison.

    Attributes
    ----------
    name, reference
        What was timed, and beside what.
    times, reference_times
        Seconds of each run, in order; or megabytes.
    aim
        What the subject should keep to.
    unit
        Of the times: s, or MB where memory is compared.
    """

    name: str
    reference: str
    times: tuple[float, ...]
    reference_times: tuple[float, ...]
    aim: Aim = Aim()
    unit: Literal["s", "MB"] = "s"

    @property
    def median(self) -> float:
        """Of the subject, seconds."""
        return statistics.median(self.times)

    @property
    def reference_median(self) -> float:
        """Of the reference, seconds."""
        return statistics.median(self.reference_times)

    @property
    def ratio(self) -> float:
        """Median of the subject, in medians of the reference."""
        return self.median / self.reference_median

    @property
    def met(self) -> bool | None:
        """Whether the aim was met; None where there is none."""
        kept = [
            value <= most
            for value, most in ((self.median, self.aim.seconds), (self.ratio, self.aim.ratio))
            if most is not None
        ]
        return all(kept) if kept else None


def clocked(call: Callable[[], object]) -> float:
    """Seconds that a call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def by_turns(
    subject: Callable[[], float], reference: Callable[[], float], runs: int, warm_up: int = 1
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Seconds of a subject and of its reference, run by turns so that both see the same machine.

    Parameters
    ----------
    subject, reference
        Each run gives back the seconds it counts, so that what it sets up is not counted.
    runs
        How many of each are kept.
    warm_up
        How many of each go before, and are not kept.
    """
    pairs = [(subject(), reference()) for _ in range(warm_up + runs)][warm_up:]
    times, reference_times = zip(*pairs, strict=True)
    return times, reference_times


def table(rows: Sequence[Row]) -> str:
    """Rows as plain text, in columns."""
    lines = [COLUMNS, *(_cells(row) for row in rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(COLUMNS))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def machine() -> str:
    """What the times hang on: cores, how busy they are, Python and packages."""
    packages = ", ".join(f"{name} {_version(name)}" for name in PACKAGES)
    return (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, "
        f"load {os.getloadavg()[0]:.1f}; Python {sys.version.split()[0]}\n{packages}"
    )


def _cells(row: Row) -> tuple[str, ...]:
    met = {True: "yes", False: "NO", None: "-"}[row.met]
    amount = _duration if row.unit == "s" else _megabytes
    spread = f"{amount(min(row.times))} to {amount(max(row.times))}"
    return (
        row.name,
        amount(row.median),
        spread,
        str(len(row.times)),
        row.reference,
        amount(row.reference_median),
        f"{row.ratio:.3g}",
        row.aim.words(),
        met,
    )


def _duration(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.3g} ms"


def _megabytes(amount: float) -> str:
    return f"{amount:.3g} MB"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
