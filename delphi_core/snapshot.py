"""A snapshot is a folder of tables and a manifest: read, verify, and ask for records.

The manifest (manifest.json) holds the schema version, when the snapshot was made, and rows and
sha256 of each file; a folder that does not match it is refused.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from delphi_core.checks import check_references, check_sizes, check_table
from delphi_core.csv_text import read_csv_text
from delphi_core.errors import DataError, did_you_mean, quoted
from delphi_core.records import join_records
from delphi_core.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

SCHEMA_VERSION = 1
MANIFEST = "manifest.json"
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
        figures have the same id wherever they lie.
    created_at
        When it was made, as its manifest says (ISO 8601, UTC).
    tables
        Table name to DataFrame; to be read, not changed.
    """

    id: str
    created_at: str
    tables: Mapping[str, pd.DataFrame]

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


def load_snapshot(place: str | Path | None = None) -> Snapshot:
    """The snapshot of a folder, verified.

    Parameters
    ----------
    place
        The folder; by default the one the environment variable DELPHI_SNAPSHOT names, else the
        one that comes with the package.

    Raises
    ------
    DataError
        The folder is no snapshot, does not match its manifest, or its tables hold mistakes.
    """
    folder = Path(place or os.environ.get("DELPHI_SNAPSHOT") or BUNDLED)
    manifest = _read_manifest(folder)
    contents = {name: _read_file(folder / name, entry) for name, entry in manifest["files"].items()}
    frames: dict[str, pd.DataFrame] = {}
    problems: list[str] = []
    unlisted = 0
    for name, table in TABLES.items():
        file = f"{name}.csv"
        text = read_csv_text(contents[file], file, may_be_empty=True)
        if len(text) != (rows := manifest["files"][file].get("rows")):
            problems.append(f"{file} has {len(text)} rows where {MANIFEST} says {rows}.")
        frames[name], mistakes = check_table(text, table, file)
        problems += mistakes.sentences
        unlisted += mistakes.unlisted
    if not problems:
        problems = check_references(frames, TABLES)
        problems += check_sizes(frames["runs"], frames["ladders"])
    if problems:
        raise DataError(problems, unlisted)
    return Snapshot(
        id=_snapshot_id(manifest["files"]),
        created_at=str(manifest["created_at"]),
        tables={name: frame.reset_index(drop=True) for name, frame in frames.items()},
    )


def write_manifest(folder: Path, created_at: str) -> None:
    """Write manifest.json for the tables that lie in a folder.

    Parameters
    ----------
    folder
        Holds every table as CSV.
    created_at
        ISO 8601, UTC.

    Raises
    ------
    DataError
        A table is missing or unreadable.
    """
    files = {}
    for file in (f"{name}.csv" for name in TABLES):
        data = _read_file(folder / file, None)
        files[file] = {
            "rows": len(read_csv_text(data, file, may_be_empty=True)),
            "sha256": _sha256(data),
        }
    manifest = {"schema_version": SCHEMA_VERSION, "created_at": created_at, "files": files}
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


def _read_manifest(folder: Path) -> dict[str, Any]:
    """Manifest of a folder, known to list every table."""
    if str(folder).startswith("gs:/"):
        raise DataError([f"{folder} is in a bucket; this version reads local folders only."])
    content = _read_file(folder / MANIFEST, None)
    try:
        manifest = json.loads(content)
        version, files = manifest["schema_version"], manifest["files"]
        created_at = manifest["created_at"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise DataError([f"{MANIFEST} is not a manifest of a snapshot; write it anew."]) from None
    if version != SCHEMA_VERSION:
        sentence = f"{MANIFEST} has schema version {version}; this version reads {SCHEMA_VERSION}."
        raise DataError([sentence])
    if not (
        isinstance(created_at, str)
        and isinstance(files, dict)
        and all(isinstance(entry, dict) for entry in files.values())
    ):
        raise DataError([f"{MANIFEST} is not a manifest of a snapshot; write it anew."])
    expected = {f"{name}.csv" for name in TABLES}
    problems = [
        f"{MANIFEST} does not list {file}; add it." for file in sorted(expected - set(files))
    ]
    problems += [
        f"{MANIFEST} lists {file!r}, which no snapshot has; {did_you_mean(file, sorted(expected))}"
        for file in sorted(set(files) - expected)
    ]
    if problems:
        raise DataError(problems)
    return dict(manifest)


def _read_file(path: Path, entry: Mapping[str, Any] | None) -> bytes:
    """Content of a file; with an entry of the manifest, known to match it."""
    try:
        data = path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        name = quoted(f"{path.parent.name}/{path.name}")
        raise DataError([f"{name} cannot be read: {reason}."]) from None
    if entry is not None and _sha256(data) != entry.get("sha256"):
        sentence = (
            f"{path.name} is not the file {MANIFEST} describes (its sha256 differs); "
            "the snapshot is torn: copy it again, whole."
        )
        raise DataError([sentence])
    return data


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _snapshot_id(files: Mapping[str, Mapping[str, Any]]) -> str:
    lines = [f"{name} {files[name]['sha256']}" for name in sorted(files)]
    return _sha256("\n".join(lines).encode())[:12]
