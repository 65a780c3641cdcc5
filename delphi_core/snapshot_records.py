"""Files of records and of trajectories to rows of a snapshot's tables.

Records are six columns; what a snapshot holds beside them is taken from further columns where the
file has them, from the run of the same configuration where the ladder has it, or is left empty.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd

from delphi_core.checks import check_table
from delphi_core.csv_text import read_csv_text
from delphi_core.errors import DataError, quoted
from delphi_core.manifest import sha256
from delphi_core.records import RECORDS, budget_bucket
from delphi_core.snapshot_rows import no_rows
from delphi_core.snapshot_write import as_text
from delphi_core.sources.places import shown
from delphi_core.tables import LADDERS, RUNS, TABLES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from delphi_core.snapshot_sources import Gathered

EXACT = 2.0**53
CONFIGURATION = ("label", "tokens", "size", "flops")
"""What makes two records those of one run, where they do not say which run they are of."""

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
    ladders = _table(gathered, "ladders")
    ladder = ladders[ladders["ladder"] == origin.ladder].iloc[0]
    size = str(ladder["params_column"])
    records = records.rename(columns={"params": "size"})
    runs = _table(gathered, "runs")
    runs = runs[runs["ladder"] == origin.ladder]
    try:
        names = _named(records, runs.assign(size=runs[size]), name)
    except DataError as error:
        gathered.refuse(error)
        return
    (source,) = _keys(gathered, [""], origin, name)
    records = records.rename(columns={"size": size})
    records = records.assign(run=names, ladder=origin.ladder, source=source)
    new = records[~records["run"].isin(runs["run"])].drop_duplicates("run")
    new = new.reindex(columns=list(RUNS.column_names))
    new["role"] = new["role"].fillna("isoflop")
    new["status"] = new["status"].fillna("finished")
    gathered.add("runs", as_text(new), name)
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
        "about": f"Records of {name}.",
        **said,
        "ladder": origin.ladder,
    }
    cells = pd.DataFrame([row], index=[1], dtype="str")[list(LADDERS.column_names)]
    gathered.add("ladders", cells, f"ladder {quoted(origin.ladder)}")
    gathered.raise_any()
    kind, size = row["kind"], row["params_column"]
    gathered.notes.append(
        f"ladder {origin.ladder} is new: {kind}, sized by {size}, {row['default_metric']} first."
    )


def _named(records: pd.DataFrame, runs: pd.DataFrame, name: str) -> list[str]:
    """The run of each record: as the file says, of the same configuration, or a name made of it.

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
        for alias in {configuration, configuration.bucketed()}:
            same.setdefault(alias, []).append(run)
    said = records["run"] if "run" in records else pd.Series(pd.NA, index=records.index)
    said = said.astype(object).where(said.notna(), "")
    # Replicates, which the six columns do not tell apart, are numbered in the order of the file.
    turns = records.assign(run=said).groupby([*CONFIGURATION, "metric", "run"]).cumcount()
    names, problems = [], []
    given = records[list(CONFIGURATION)].itertuples(index=False, name=None)
    for row, cells, run, turn in zip(records.index, given, said, turns, strict=True):
        configuration = _Configuration(*cells)
        found = same.get(configuration, [])
        made = configuration.name(turn)
        if run or made in known:
            pass
        elif len(found) > 1:
            which = " or ".join(found[:3])
            problems.append(f"{name} row {row}: it may be of {which}; add a column run.")
        elif found and turn == 0:
            made = found[0]
        names.append(str(run) or made)
        before = known.setdefault(names[-1], configuration)
        if word := before.contradiction(configuration):
            problems.append(
                f"{name} row {row}: run {quoted(names[-1])} has another {word} elsewhere; "
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
        """The same as researchers pass it around."""
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
