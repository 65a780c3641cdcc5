"""A snapshot: checked tables of one folder, and what is asked of them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from delphi_core.errors import DataError, did_you_mean
from delphi_core.records import join_records
from delphi_core.snapshot_read import files_version, read_files, read_tables
from delphi_core.sources.places import Place

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from delphi_core.snapshot_read import SnapshotFiles

BUNDLED = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Ladder:
    """One ladder, as ladders.csv describes it.

    Attributes
    ----------
    ladder, title, kind, about
        Id, name, what it is for (isoflop, optima, trajectory), one sentence.
    params_column
        Which column of runs sizes its runs: params, or active_params for mixtures of experts.
    flops_convention
        What its FLOPs count.
    default_metric
        Metric shown first.
    pinned_asymptote
        E that its published laws pin, in the default metric's unit; empty where they do not.
    """

    ladder: str
    title: str
    kind: str
    about: str
    params_column: str
    flops_convention: str
    default_metric: str
    pinned_asymptote: str

    @property
    def default_x(self) -> str:
        """What its IsoFLOP curves are drawn against: tokens if dense, else active parameters."""
        return "tokens" if self.params_column == "params" else self.params_column


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Checked tables of one folder.

    Attributes
    ----------
    id
        First 12 hexadecimal digits of the sha256 over its files' names and checksums; the same
        files have the same id wherever they lie.
    created_at
        When it was made, as its manifest says (ISO 8601, UTC).
    tables
        Table name to DataFrame; to be read, not changed.
    files
        File name to sha256, as its manifest has them; empty where it was not read from files.
    """

    id: str
    created_at: str
    tables: Mapping[str, pd.DataFrame]
    files: Mapping[str, str] = field(default_factory=dict)

    @property
    def named(self) -> str:
        """Its id and its day, as captions name it."""
        return f"Snapshot {self.id} of {self.created_at[:10]}"

    def part(self, ladder: str) -> Snapshot:  # noqa: ARG002 - all its ladders are of one part
        """The snapshot that a ladder's figures come from: this one."""
        return self

    def ladder(self, ladder: str) -> Ladder:
        """Description of a ladder.

        Parameters
        ----------
        ladder
            Its id.

        Raises
        ------
        DataError
            There is no such ladder; the message names near misses.
        """
        if ladder not in self._ladders:
            raise DataError([f"no ladder {ladder!r}; {did_you_mean(ladder, self._ladders)}"])
        return self._ladders[ladder]

    @cached_property
    def _ladders(self) -> dict[str, Ladder]:
        """Descriptions by id."""
        cells = self.tables["ladders"][list(Ladder.__dataclass_fields__)].astype(object)
        rows = cells.where(cells.notna(), "").to_dict("records")
        return {
            str(row["ladder"]): Ladder(**{str(name): str(cell) for name, cell in row.items()})
            for row in rows
        }

    def title(self, ladder: str) -> str:
        """Name of a ladder."""
        return self.ladder(ladder).title

    def value_title(self, metric: str) -> str:
        """Name and unit of a metric."""
        metrics = self.tables["metrics"].set_index("metric")
        title, unit = (str(metrics.loc[metric, column]) for column in ("title", "unit"))
        return f"{title} ({unit})"

    def unit(self, metric: str) -> str:
        """Unit of a metric."""
        metrics = self.tables["metrics"].set_index("metric")
        return str(metrics.loc[metric, "unit"])

    def metrics(self, ladder: str) -> list[str]:
        """Metrics that a ladder's runs have final values of, in the order of metrics.csv."""
        evals = self.tables["evals"]
        own = set(evals.loc[evals["ladder"] == ladder, "metric"])
        return [metric for metric in self.tables["metrics"]["metric"] if metric in own]

    def records(self, ladder: str, metric: str) -> pd.DataFrame:
        """Final values of a metric over a ladder's runs, whatever their role and status.

        Parameters
        ----------
        ladder, metric
            Ids, as in ladders.csv and metrics.csv.

        Returns
        -------
        DataFrame
            Columns of `records.RECORDS`: tokens, metric, value, flops (FLOP), params (the
            ladder's own size column) and label first.

        Raises
        ------
        DataError
            No such ladder, or it has no value of the metric.
        """
        params_column = self.ladder(ladder).params_column
        available = self.metrics(ladder)
        if not available:
            raise DataError([f"ladder {ladder} has no final values of any metric, so no records."])
        if metric not in available:
            remedy = did_you_mean(metric, available)
            raise DataError([f"ladder {ladder} has no metric {metric!r}; {remedy}"])
        own = {
            name: table[table["ladder"] == ladder]
            for name, table in self.tables.items()
            if name in ("runs", "evals")
        }
        return join_records(own["runs"], own["evals"], metric, params_column)


def load_snapshot(place: str | Path | Place | None = None) -> Snapshot:
    """The snapshot of a folder, verified.

    Parameters
    ----------
    place
        The folder: on this machine, or gs://bucket/prefix, which is read anonymously unless it is
        given as a `Place` with other credentials. By default the one the environment variable
        DELPHI_SNAPSHOT names, else the one that comes with the package. Where it holds a pointer
        (latest.json), the folder that the pointer names is read.

    Raises
    ------
    DataError
        The folder is no snapshot, cannot be read, does not match its manifest, or its tables hold
        mistakes.
    """
    return snapshot_of(read_files(_place(place)))


def snapshot_of(files: SnapshotFiles) -> Snapshot:
    """The snapshot that a folder's files make.

    Raises
    ------
    DataError
        Their tables hold mistakes.
    """
    frames = read_tables(files)
    return Snapshot(
        id=files.manifest.id,
        created_at=files.manifest.created_at,
        tables={name: frame.reset_index(drop=True) for name, frame in frames.items()},
        files={name: str(entry.sha256) for name, entry in files.manifest.files.items()},
    )


def current_version(place: str | Path | Place | None = None) -> str:
    """What changes when another snapshot is to be had at a place; one or two cheap calls.

    Parameters
    ----------
    place
        As `load_snapshot` takes it.

    Raises
    ------
    PlaceError
        It holds neither a pointer nor a manifest, or cannot be asked.
    """
    return files_version(_place(place))


def _place(place: str | Path | Place | None) -> Place:
    if isinstance(place, Place):
        return place
    return Place(str(place or os.environ.get("DELPHI_SNAPSHOT") or BUNDLED))
