"""Run folders to records: which runs carry a label, what they say, and what is missing.

It only reads. Records come in a fixed order: by compute as recorded, then tokens, then the run's
name, and for each run the metrics in the order they were asked for.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import pandas as pd

from delphi_core.errors import DataError, did_you_mean, quoted
from delphi_core.records import RECORD_COLUMNS, budget_bucket
from delphi_core.sources.extract_report import ExtractReport, Skipped
from delphi_core.sources.places import Place, shown
from delphi_core.sources.run_figures import RunFigures, figures_elsewhere, figures_in_folder
from delphi_core.sources.run_folder import read_run_folder
from delphi_core.sources.run_map import threads
from delphi_core.sources.run_names import parse_run_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from delphi_core.sources.run_map import RunMap

A = TypeVar("A")

DEFAULT_SOURCE = "gs://marin-us-central2/checkpoints/isoflop"
WORKERS = 32
"""Folders read at once, so that a network's delays overlap."""

_KINDS = dict.fromkeys(("tokens", "value", "flops", "params"), "float64")


class Progress(Protocol):
    """Passes results on, and shows how many of the total there have been."""

    def __call__(self, results: Iterable[A], total: int, /) -> Iterable[A]:
        """The same results."""


def extract(
    place: Place,
    label: str,
    metrics: Sequence[str],
    *,
    max_tokens_per_param: float | None = None,
    recorded_flops: bool = False,
    backfill: Callable[[str], dict[str, Any]] | None = None,
    run_map: RunMap | None = None,
    progress: Progress = lambda results, _: results,
) -> tuple[pd.DataFrame, ExtractReport]:
    """Records of the runs that carry a label, and what is missing.

    Parameters
    ----------
    place
        Holds a folder for each run.
    label
        Of the sweep; runs with any other label, however near, are set aside.
    metrics
        Which final values to take.
    max_tokens_per_param
        Runs with more tokens per parameter are left out.
    recorded_flops
        Whether compute is given as logged, not as the centre of its 1.1^k bucket.
    backfill
        Gives ``{"config": {...}, "summary": {...}}`` of a run whose folder has no usable file of
        its tracker, or raises a DataError.
    run_map
        Reads the folders; by default 32 threads.
    progress
        Shows how far it is.

    Returns
    -------
    records : DataFrame
        Columns tokens, metric, value, flops (FLOP), params and label, in the module's order.
    report : ExtractReport
        What was written, and what was not and why.

    Raises
    ------
    DataError
        The place cannot be listed, or none of its folders carries the label.
    """
    asked = tuple(dict.fromkeys(metrics))
    run_map = threads(WORKERS) if run_map is None else run_map
    folders = place.folders()
    runs, set_aside = _with_label(folders, label, place)
    found = list(progress(run_map(partial(figures_in_folder, place, asked), runs), len(runs)))
    whole = next((figures.run for figures in found if figures.params > 0), None)
    if backfill is not None:
        without = [figures for figures in found if figures.may_be_elsewhere]
        filled = run_map(partial(figures_elsewhere, backfill, asked), without)
        instead = {figures.run: figures for figures in filled}
        found = [instead.get(figures.run, figures) for figures in found]
    notes = [note for figures in found for note in figures.notes]
    if whole is not None:
        notes += _suggestions(place, whole, asked, found)
    found, left_out = _wanted(found, max_tokens_per_param)
    records, same = _records(found, label, recorded_flops=recorded_flops)
    report = ExtractReport(
        source=place.url,
        label=label,
        metrics=asked,
        flops="recorded" if recorded_flops else "bucket",
        max_tokens_per_param=max_tokens_per_param,
        folders=len(folders),
        runs=len(runs),
        records={metric: int((records["metric"] == metric).sum()) for metric in asked},
        skipped=tuple(item for figures in found for item in figures.skipped),
        left_out=(*left_out, *same),
        set_aside=tuple(set_aside),
        notes=tuple(notes),
    )
    return records, report


def _with_label(folders: list[str], label: str, place: Place) -> tuple[list[str], list[Skipped]]:
    """Names of the runs that carry a label, and all other folders with the reason.

    Raises
    ------
    DataError
        There are no such runs; the message names near misses.
    """
    runs, others, known = [], [], set()
    for folder in folders:
        name = parse_run_name(folder)
        if name is None:
            others.append(Skipped(folder, "no run", "its name is that of no run of a sweep."))
        elif name.label == label:
            runs.append(folder)
        else:
            known.add(name.label)
            others.append(Skipped(folder, "other label", f"its label is {name.label}."))
    if not runs:
        remedy = did_you_mean(label, sorted(known))
        sentence = f"no run in {shown(place.url)} has the label {quoted(label)}; {remedy}"
        raise DataError([sentence])
    return runs, others


def _wanted(
    found: list[RunFigures], max_tokens_per_param: float | None
) -> tuple[list[RunFigures], list[Skipped]]:
    """Runs without those that were trained on too many tokens for their size."""
    if max_tokens_per_param is None:
        return found, []
    kept, left_out = [], []
    for figures in found:
        ratio = figures.tokens / figures.params
        if ratio > max_tokens_per_param:
            words = f"it has {ratio:.4g} tokens per parameter, more than {max_tokens_per_param:g}."
            left_out.append(Skipped(figures.run, "too many tokens", words))
        else:
            kept.append(figures)
    return kept, left_out


def _records(
    found: list[RunFigures], label: str, *, recorded_flops: bool
) -> tuple[pd.DataFrame, list[Skipped]]:
    """Records in order; of records that are the same in every column the first is kept."""
    rows: dict[tuple[object, ...], str] = {}
    same = []
    for figures in sorted(found, key=lambda one: (one.flops, one.tokens, one.run)):
        flops = figures.flops if recorded_flops else float(budget_bucket(figures.flops))
        for metric, value in figures.values:
            row = (figures.tokens, metric, value, flops, figures.params, label)
            if row in rows:
                words = f"it says the same of {metric} as {rows[row]}, which was kept."
                same.append(Skipped(figures.run, "same", words, metric))
            rows.setdefault(row, figures.run)
    frame = pd.DataFrame(list(rows), columns=list(RECORD_COLUMNS))
    return frame.astype({**_KINDS, "metric": "str", "label": "str"}), same


def _suggestions(
    place: Place, whole: str, metrics: tuple[str, ...], found: list[RunFigures]
) -> list[str]:
    """A sentence for each metric that no run has, with the nearest names in one whole folder."""
    had = {metric for figures in found for metric, _ in figures.values}
    lacking = [metric for metric in metrics if metric not in had]
    if not lacking:
        return []
    try:
        known = sorted(read_run_folder(place, whole).summary)
    except DataError:
        return []
    return [f"no run has {quoted(metric)}; {did_you_mean(metric, known)}" for metric in lacking]
