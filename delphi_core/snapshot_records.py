"""Files of records and of trajectories to rows of a snapshot's tables.

Records are six columns; what a snapshot holds beside them is taken from further columns where the
file has them, from the run of the same configuration where the ladder has it, or is left empty.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from delphi_core.checks import check_table
from delphi_core.csv_text import read_csv_text
from delphi_core.errors import DataError, quoted
from delphi_core.manifest import sha256
from delphi_core.records import RECORDS, SWEEP_ROLES, budget_bucket
from delphi_core.snapshot_rows import no_rows
from delphi_core.snapshot_run_names import run_names
from delphi_core.snapshot_write import as_text
from delphi_core.sources.places import shown
from delphi_core.tables import LADDERS, RUNS, TABLES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from delphi_core.snapshot_sources import Gathered

NEW_LADDER = {
    "title": None,
    "kind": "isoflop",
    "architecture": "not stated",
    "optimizer": "not stated",
    "params_column": "params",
    "flops_convention": "as in the file of records",
    "default_metric": None,
    "pinned_asymptote": "",
    "about": None,
}
"""What a new ladder's row holds where nothing else is said: None where it hangs on the records."""


@dataclass(frozen=True)
class Origin:
    """What rows of a file are said to be of.

    Attributes
    ----------
    ladder
        Its id; empty where the file says so in each row.
    url
        Address of the source; empty: the name of the file.
    about
        Cells of a new ladder's row, by column.
    """

    ladder: str = ""
    url: str = ""
    about: Mapping[str, str] | None = None


def add_records(gathered: Gathered, file: str, data: bytes, origin: Origin) -> None:
    """Add runs and final values of a file of records, and what they refer to.

    Parameters
    ----------
    gathered
        What they are added to; its mistakes are noted.
    file
        The file's path.
    data
        Its content.
    origin
        The ladder they are added to, and where they come from.
    """
    name = shown(file)
    try:
        records, mistakes = check_table(read_csv_text(data, name), RECORDS, name, others=True)
        mistakes.raise_any()
        _add_ladder(gathered, records, name, origin)
    except DataError as error:
        gathered.refuse(error)
        return
    ladders = _table(gathered, "ladders").set_index("ladder")
    if origin.ladder not in ladders.index:
        return  # what is wrong with it is noted
    size = str(ladders.loc[origin.ladder, "params_column"])
    records = records.rename(columns={"params": "size"})
    runs = _table(gathered, "runs")
    runs = runs[runs["ladder"] == origin.ladder]
    try:
        names = run_names(records, runs.assign(size=runs[size]), name)
    except DataError as error:
        gathered.refuse(error)
        return
    (source,) = _keys(gathered, [""], origin, name)
    records = records.rename(columns={"size": size})
    records = records.assign(run=names, ladder=origin.ladder, source=source)
    new = records[~records["run"].isin(runs["run"])].drop_duplicates("run")
    gathered.add("runs", _run_cells(new), name)
    if len(new) and new.reindex(columns=["budget"]).isna().all(axis=None):
        gathered.notes.append(f"{name} has no nominal budgets; centres of 1.1^k buckets stand in.")
    _add_metrics(gathered, records["metric"], name)
    evals = records[list(TABLES["evals"].column_names)]
    gathered.add("evals", as_text(evals), name, but=("source",))


def add_trajectories(gathered: Gathered, file: str, data: bytes, origin: Origin) -> None:
    """Add a file of trajectories, and the metrics and sources that it names.

    Parameters
    ----------
    gathered
        What they are added to; its mistakes are noted.
    file
        The file's path.
    data
        Its content: columns of the trajectories table; ladder and source may be missing.
    origin
        What to fill in for them.
    """
    name = shown(file)
    try:
        cells = read_csv_text(data, name)
    except DataError as error:
        gathered.refuse(error)
        return
    for column, instead in (("ladder", origin.ladder), ("source", "")):
        if column not in cells:
            cells[column] = instead
    if "metric" in cells:
        _add_metrics(gathered, cells["metric"], name)
    sources = list(cells["source"].unique())
    keys = dict(zip(sources, _keys(gathered, sources, origin, name), strict=True))
    cells["ladder"] = cells["ladder"].mask(cells["ladder"] == "", origin.ladder)
    cells["source"] = cells["source"].map(keys).astype("str")
    gathered.add("trajectories", cells, name, but=("source",))


def _table(gathered: Gathered, name: str) -> pd.DataFrame:
    """Typed rows gathered so far."""
    rows = gathered.rows.get(name)
    return (rows or no_rows(TABLES[name])).frame


def _add_ladder(gathered: Gathered, records: pd.DataFrame, name: str, origin: Origin) -> None:
    """Add a row for the ladder, if it is new."""
    said = {column: cell for column, cell in (origin.about or {}).items() if cell is not None}
    if (_table(gathered, "ladders")["ladder"] == origin.ladder).any():
        if said:
            sentence = f"ladder {quoted(origin.ladder)} is there already; describe only a new one."
            raise DataError([sentence])
        return
    row = {
        **NEW_LADDER,
        "title": origin.ladder,
        "default_metric": records["metric"].iloc[0],
        "about": f"Records of {name.rpartition('/')[2]}.",
        **said,
        "ladder": origin.ladder,
    }
    cells = pd.DataFrame([row], index=[1], dtype="str")[list(LADDERS.column_names)]
    gathered.add("ladders", cells, f"ladder {quoted(origin.ladder)}")
    kind, size = row["kind"], row["params_column"]
    gathered.notes.append(
        f"ladder {origin.ladder} is new: {kind}, sized by {size}, {row['default_metric']} first."
    )


def _run_cells(records: pd.DataFrame) -> pd.DataFrame:
    """Rows of runs.csv as text, of one record a run; what is not said is filled in."""
    new = records.reindex(columns=list(RUNS.column_names))
    cells = as_text(new)
    for column, instead in (("role", "isoflop"), ("status", "finished")):
        cells[column] = cells[column].mask(cells[column] == "", instead)
    if new["budget"].isna().all():
        # Pages and fits group a sweep by budget; Marin groups by these where none is said.
        buckets = as_text(pd.DataFrame({"budget": budget_bucket(new["flops"])}, index=new.index))
        cells["budget"] = buckets["budget"].where(cells["role"].isin(SWEEP_ROLES), "")
    return cells


def _keys(gathered: Gathered, cells: Sequence[str], origin: Origin, name: str) -> list[str]:
    """Keys of sources: a cell may hold a key, an address, or nothing; what is new is added."""
    keys = []
    for cell in cells:
        sources = _table(gathered, "sources")
        url = cell or origin.url or name.rpartition("/")[2]
        by_url = sources.loc[sources["url"] == url, "source"]
        if (sources["source"] == cell).any():
            keys.append(cell)
        elif len(by_url):
            keys.append(str(by_url.iloc[0]))
        else:
            keys.append(f"s-{sha256(url.encode())[:8]}")
            row = pd.DataFrame({"source": [keys[-1]], "url": [url]}, index=[1], dtype="str")
            gathered.add("sources", row, f"source {quoted(url)}")
            gathered.new_sources.add(keys[-1])
    return keys


def _add_metrics(gathered: Gathered, metrics: pd.Series, name: str) -> None:
    """Add rows for metrics that no source describes."""
    known = set(_table(gathered, "metrics")["metric"]) | {""}
    rows = []
    for metric in metrics.unique():
        if metric in known:
            continue
        unit = "bits/byte" if "bpb" in metric else "nats/token"
        kind = "macro" if "macro" in metric else "subset" if metric.count("/") > 1 else "aggregate"
        if metric.startswith("train"):
            kind = "training"
        rows.append({"metric": metric, "title": metric, "unit": unit, "kind": kind})
        gathered.notes.append(
            f"{name}: metric {metric} is new, taken as {kind} in {unit}; "
            "a source with a metrics.csv can describe it."
        )
    if rows:
        gathered.add("metrics", pd.DataFrame(rows, dtype="str"), f"metrics of {name}")
