"""The trajectory of one run: from its folder, or from the tracking server.

Both only read. What cannot be had is said in sentences beside the rows that can.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from delphi_core.errors import DataError
from delphi_core.sources.eval_metrics import EVAL_FILE, parse_eval_metrics
from delphi_core.sources.histories import (
    TOTAL_TOKENS,
    Logged,
    tokens_per_step,
    trajectory_rows,
    values_by_step,
)
from delphi_core.sources.run_folder import flatten, read_run_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pandas as pd

    from delphi_core.sources.places import Place
    from delphi_core.sources.tracking_server import TrackingServer

    Read = tuple[pd.DataFrame, list[str]]

NOTHING = values_by_step([], [])


@dataclass(frozen=True)
class Wanted:
    """What rows are to hold; may be sent to another process.

    Attributes
    ----------
    ladder
        Id of the ladder they are for.
    metrics
        Which values to take, as logged.
    source
        Key of sources.csv.
    run
        Run of the ladder that what is read is a part of; empty: it is a run of its own.
    segment
        Name of that part; empty: the name it is read under.
    step_tokens
        Tokens of one step; NaN: those of the run's config, where it logged none.
    """

    ladder: str
    metrics: tuple[str, ...]
    source: str
    run: str = ""
    segment: str = ""
    step_tokens: float = math.nan

    @property
    def keys(self) -> tuple[str, ...]:
        """What is read of each evaluation."""
        return (*self.metrics, TOTAL_TOKENS)


def trajectory_in_folder(place: Place, wanted: Wanted, name: str) -> Read:
    """Rows of the trajectories table from a run's folder, and a sentence a thing missing.

    Parameters
    ----------
    place
        Holds the folders of runs.
    wanted
        What to take.
    name
        Of the run's folder.
    """
    try:
        evaluations = parse_eval_metrics(place.read_unchanged(f"{name}/{EVAL_FILE}"))
    except DataError as error:
        return _rows(NOTHING, wanted, name)[0], list(error.problems)
    notes = tuple(f"{name}: {note}" for note in evaluations.notes)
    logged = replace(values_by_step(evaluations.rows, wanted.keys), notes=notes)
    return _rows(logged, wanted, name, config=lambda: read_run_folder(place, name).config)


def trajectory_on_server(server: TrackingServer, wanted: Wanted, name: str) -> Read:
    """The same from the tracking server, of the whole history.

    Parameters
    ----------
    server
        Where the run is tracked.
    wanted
        What to take.
    name
        Id of the run.
    """
    try:
        logged = server.logged(name, wanted.keys)
    except DataError as error:
        return _rows(NOTHING, wanted, name)[0], list(error.problems)
    return _rows(logged, wanted, name, config=lambda: flatten(server.run(name)["config"], "."))


def _rows(
    logged: Logged,
    wanted: Wanted,
    name: str,
    config: Callable[[], Mapping[str, Any]] = dict,
) -> Read:
    """Rows, with tokens by the config where they are not known otherwise."""
    step_tokens = wanted.step_tokens
    if math.isnan(step_tokens) and not np.isfinite(logged.values.get(TOTAL_TOKENS, math.nan)).all():
        try:
            step_tokens = tokens_per_step(config())
        except DataError:
            # The rows that lack tokens are named, with what to do.
            step_tokens = math.nan
    return trajectory_rows(
        logged,
        wanted.metrics,
        ladder=wanted.ladder,
        run=wanted.run or name,
        segment=wanted.segment or name,
        source=wanted.source,
        step_tokens=step_tokens,
    )
