"""What one run says of the metrics asked for, and what it does not: the work done on each folder.

The functions and what they take and give may be sent to other processes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from delphi_core.errors import DataError
from delphi_core.sources.extract_report import Skipped
from delphi_core.sources.places import Place, PlaceError
from delphi_core.sources.run_folder import RunFolder, flatten, read_run_folder

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class RunFigures:
    """What a run says of what was asked for.

    Attributes
    ----------
    run
        Its name.
    tokens, flops, params
        As recorded; NaN where the run does not say.
    values
        Metric and final value, of those it has.
    skipped
        What it does not say, and why.
    notes
        A sentence for each part of its file that could not be used.
    """

    run: str
    tokens: float = math.nan
    flops: float = math.nan
    params: float = math.nan
    values: tuple[tuple[str, float], ...] = ()
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def may_be_elsewhere(self) -> bool:
        """Whether its folder has no usable file, so that another source may have its figures."""
        return any(item.kind in ("missing", "unreadable") for item in self.skipped)


def figures_in_folder(place: Place, metrics: tuple[str, ...], run: str) -> RunFigures:
    """Figures of a run's folder.

    Parameters
    ----------
    place
        Holds the folders of runs.
    metrics
        Which final values to take.
    run
        Name of the run.
    """
    try:
        folder = read_run_folder(place, run)
    except PlaceError as error:
        return RunFigures(run, skipped=(Skipped(run, error.kind, error.problems[0]),))
    except DataError as error:
        return RunFigures(run, skipped=(Skipped(run, "unreadable", error.problems[0]),))
    return _figures(folder, metrics, run)


def figures_elsewhere(
    ask: Callable[[str], dict[str, Any]], metrics: tuple[str, ...], before: RunFigures
) -> RunFigures:
    """Figures of a run from another source than its folder.

    Parameters
    ----------
    ask
        Gives ``{"config": {...}, "summary": {...}}`` of a run, or raises a DataError.
    metrics
        Which final values to take.
    before
        What the folder said.

    Returns
    -------
    RunFigures
        Notes say where they come from; those of `before` and the reason if there are none.
    """
    try:
        found = ask(before.run)
    except DataError as error:
        reason = " ".join(error.problems)
        missing = [
            replace(item, reason=f"{item.reason.rstrip('.')}, and elsewhere: {reason}")
            for item in before.skipped
        ]
        return replace(before, skipped=tuple(missing))
    folder = RunFolder(
        config=flatten(found.get("config") or {}, "."),
        summary=flatten(found.get("summary") or {}, "/"),
        notes=("its figures are the tracking server's, since its folder has none.",),
    )
    return _figures(folder, metrics, before.run)


def _figures(folder: RunFolder, metrics: tuple[str, ...], run: str) -> RunFigures:
    notes = tuple(f"{run}: {note}" for note in folder.notes)
    try:
        tokens, flops, params = folder.tokens, folder.flops, folder.params
    except DataError as error:
        missing = Skipped(run, "no figure", error.problems[0])
        return RunFigures(run, skipped=(missing,), notes=notes)
    values, skipped = [], []
    for metric in metrics:
        try:
            values.append((metric, folder.number(metric)))
        except DataError as error:
            skipped.append(Skipped(run, "no figure", error.problems[0], metric))
    return RunFigures(run, tokens, flops, params, tuple(values), tuple(skipped), notes)
