"""What one run's folder says: the final figures and settings that its tracker wrote there."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from delphi_core.errors import DataError, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from delphi_core.sources.places import Place

TRACKER_FILE = "tracker_metrics.jsonl"
TOKENS, GIGAFLOPS, PARAMS = (
    "throughput/total_tokens",
    "throughput/total_gflops",
    "parameter_count",
)
FLOP_PER_GIGAFLOP = 1e9


class RunFileError(DataError):
    """A file that is there and holds no figures: empty, cut off, or something else."""


@dataclass(frozen=True)
class RunFolder:
    """Figures and settings of one run, as its tracker wrote them.

    Attributes
    ----------
    config
        Settings by name, the levels joined by points: ``model.hidden_dim``.
    summary
        Final figures by name, the levels joined by slashes: ``eval/paloma/macro_loss``.
    notes
        A sentence for each line that could not be used.
    """

    config: Mapping[str, Any]
    summary: Mapping[str, Any]
    notes: tuple[str, ...] = ()

    def number(self, name: str) -> float:
        """A final figure, to the last bit.

        Parameters
        ----------
        name
            Of the figure.

        Raises
        ------
        DataError
            There is none, or it is null, not finite, or no number.
        """
        if name not in self.summary:
            raise DataError([f"it has no {shown_figure(name)}; see whether the run logged it."])
        value = self.summary[name]
        number = math.nan
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            try:
                number = float(value)
            except OverflowError:
                number = math.inf
        if not math.isfinite(number):
            given = "null" if value is None else quoted(value)
            raise DataError([f"{shown_figure(name)} is {given}; it must be a finite number."])
        return number

    def amount(self, name: str) -> float:
        """A final figure that counts something.

        Parameters
        ----------
        name
            Of the figure.

        Raises
        ------
        DataError
            As `number` does, or it is not positive.
        """
        number = self.number(name)
        if number <= 0:
            raise DataError([f"{name} is {number:g}; it must be positive."])
        return number

    @property
    def tokens(self) -> float:
        """Tokens it was trained on."""
        return self.amount(TOKENS)

    @property
    def flops(self) -> float:
        """Compute it recorded, FLOP."""
        return self.amount(GIGAFLOPS) * FLOP_PER_GIGAFLOP

    @property
    def params(self) -> float:
        """All its parameters."""
        return self.amount(PARAMS)


def read_run_folder(place: Place, run: str) -> RunFolder:
    """What a run's folder says.

    Parameters
    ----------
    place
        Holds the folders of runs.
    run
        Name of the run's.

    Raises
    ------
    PlaceError
        The folder has no file of its tracker, or it cannot be read.
    RunFileError
        The file holds no figures.
    """
    return parse_tracker_file(place.read_unchanged(f"{run}/{TRACKER_FILE}"))


def parse_tracker_file(data: bytes) -> RunFolder:
    """What the content of a tracker's file says; of several lines the later ones count.

    Parameters
    ----------
    data
        One JSON object a line, ``{"config": {...}, "summary": {...}}``, flat or nested. Where a
        figure is both, the flat one counts.

    Raises
    ------
    RunFileError
        No line has a summary.
    """
    lines = [line for line in data.split(b"\n") if line.strip()]
    if not lines:
        raise RunFileError([f"{TRACKER_FILE} is empty; see whether the run ended."])
    config: dict[str, Any] = {}
    summary: dict[str, Any] = {}
    notes = []
    for row, line in enumerate(lines, 1):
        try:
            found = json.loads(line)
            settings, figures = found.get("config") or {}, found["summary"]
            config |= flatten(settings, ".")
            summary |= flatten(figures, "/")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            notes.append(f"line {row} of {TRACKER_FILE} is cut off or no summary; it was left out.")
    if not summary:
        sentence = f"{TRACKER_FILE} has no whole line with a summary; see whether the run ended."
        raise RunFileError([sentence])
    return RunFolder(config, summary, tuple(notes))


def flatten(levels: Mapping[str, Any], joint: str) -> dict[str, Any]:
    """Names and values of nested mappings, names joined; a flat name counts before a nested one.

    Parameters
    ----------
    levels
        Names to values or to further mappings.
    joint
        What joins the names.
    """
    flat: dict[str, Any] = {}
    for name, value in levels.items():
        if isinstance(value, dict):
            for below, its_value in flatten(value, joint).items():
                flat.setdefault(f"{name}{joint}{below}", its_value)
        else:
            flat[name] = value
    return flat


def shown_figure(name: str) -> str:
    """A figure's name as messages call it."""
    return name if name.isprintable() else quoted(name)
