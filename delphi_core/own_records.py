"""Records of one's own, checked row by row, and the rows of a snapshot's tables they make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import pandas as pd

from delphi_core.errors import SHOWN_AT_MOST, DataError, quoted
from delphi_core.records import RECORDS, SWEEP_ROLES, budget_bucket
from delphi_core.snapshot_records import Origin, add_records
from delphi_core.snapshot_sources import Gathered
from delphi_core.sources.records_csv import numbered_records
from delphi_core.words import count

if TYPE_CHECKING:
    from collections.abc import Mapping

Size = Literal["params", "active_params"]

MOST_ROWS = 20_000
MOST_COLUMNS = 100
MOST_METRICS = 100
MOST_LABELS = 20
MOST_RUNS = 1000
"""Of one ladder. The slowest view, every method side by side, takes seconds on so many."""
LONGEST_TEXT = 500
"""Characters of a cell that pages show."""
CONFIGURATION = ("label", "tokens", "params", "flops")
"""What tells runs apart that have no name."""
OF_A_RUN = tuple(
    name for name in RECORDS.column_names if name not in ("metric", "value", "run", "budget_bucket")
)
"""Columns that say something of a run: the same in all of its records."""


def checked_records(data: bytes, file: str) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Records of a file that can be used as a ladder, and the columns that are not used.

    Parameters
    ----------
    data
        Content of the file.
    file
        How messages call it.

    Returns
    -------
    records : DataFrame
        Columns of `records.RECORDS` that the file has, indexed by row number; role and status
        filled in.
    ignored : tuple of str
        Further columns.

    Raises
    ------
    DataError
        One sentence a mistake.
    """
    records = numbered_records(data, file, rows_at_most=MOST_ROWS, columns_at_most=MOST_COLUMNS)
    ignored = tuple(str(name) for name in records if name not in RECORDS.column_names)
    records = records.drop(columns=list(ignored))
    for column, instead in (("role", "isoflop"), ("status", "finished")):
        if column not in records:
            records[column] = instead
        records[column] = records[column].fillna(instead).astype("str")
    problems = _too_long(records, file)
    for column, most in (("metric", MOST_METRICS), ("label", MOST_LABELS)):
        if (number := records[column].nunique()) > most:
            problems.append(
                f"{file} has {number:,} {column}s; at most {most} are used. Leave out some."
            )
    problems = problems or _contradictions(records, file) + _repeats(records, file)
    if problems:
        raise DataError(problems)
    return records, ignored


def own_rows(
    records: pd.DataFrame, file: str, ladder: str, size: Size = "params"
) -> tuple[dict[str, pd.DataFrame], dict[str, str]]:
    """Rows that records add to a snapshot's tables, and the ladders they make.

    Parameters
    ----------
    records
        As `checked_records` gives them.
    file
        Name of the file, which is their source.
    ladder
        Id of the first ladder; further ones are numbered from 2.
    size
        What the column params holds.

    Returns
    -------
    tables : dict of str to DataFrame
        Rows of ladders, metrics, runs, evals and sources.
    labels : dict of str to str
        Ladder to its sweep label, in the order of the file.

    Raises
    ------
    DataError
        A ladder has too many runs.
    """
    gathered = Gathered()
    # Written and read again, to the last bit, so that a file makes here what it makes in
    # `snapshot build`.
    text = records.to_csv(index=False, lineterminator="\r\n")
    about = {"title": f"Your {file}", "about": f"Records of {file}.", "params_column": size}
    add_records(gathered, file, text.encode(), Origin(ladder, about=about))
    gathered.raise_any()
    tables = {name: rows.frame for name, rows in gathered.rows.items()}
    labels = _sweep_labels(records)
    ids = {
        label: ladder if place == 1 else f"{ladder}-{place}"
        for place, label in enumerate(labels, start=1)
    }
    if len(ids) > 1:
        tables |= _split(tables, ids, file)
    tables["runs"] = pd.concat(
        [_with_budgets(rows) for _, rows in tables["runs"].groupby("ladder", sort=False)],
        ignore_index=True,
    )
    problems = [
        f"{file} has {count(number, 'run')} of one label; at most {MOST_RUNS:,} are used. "
        "Leave out some, or fit it from a shell: python -m delphi_core fit --file."
        for number in tables["runs"]["ladder"].value_counts()
        if number > MOST_RUNS
    ]
    if problems:
        raise DataError(problems)
    return tables, {own: label for label, own in ids.items()}


def _sweep_labels(records: pd.DataFrame) -> list[str]:
    """Labels that are ladders of their own: all, if more than one label has runs to be fitted."""
    sweep = records.loc[records["role"] == "isoflop", "label"].unique()
    labels = list(sweep) if len(sweep) == 1 else list(records["label"].unique())
    return [str(label) for label in labels]


def _split(
    tables: Mapping[str, pd.DataFrame], ids: Mapping[str, str], file: str
) -> dict[str, pd.DataFrame]:
    """Rows of ladders, runs and evals with a ladder for each label."""
    runs = tables["runs"].assign(ladder=tables["runs"]["label"].map(ids).astype("str"))
    of_run = runs.set_index("run")["ladder"]
    evals = tables["evals"].assign(ladder=tables["evals"]["run"].map(of_run).astype("str"))
    first = evals.drop_duplicates("ladder").set_index("ladder")["metric"]
    rows = [
        tables["ladders"].assign(
            ladder=own,
            title=f"Your {file}, {_short(label)}",
            about=f"Records of {file} with the label {_short(label)}.",
            default_metric=first[own],
        )
        for label, own in ids.items()
    ]
    return {"ladders": pd.concat(rows, ignore_index=True), "runs": runs, "evals": evals}


def _with_budgets(runs: pd.DataFrame) -> pd.DataFrame:
    """Runs of a ladder; where nominal budgets are missing, buckets stand in, as fits group them."""
    fitted = (runs["role"] == "isoflop") & (runs["status"] == "finished")
    if runs.loc[fitted, "budget"].notna().all():
        return runs
    bucket = pd.Series(budget_bucket(runs["flops"]), index=runs.index)
    return runs.assign(budget=bucket.where(runs["role"].isin(SWEEP_ROLES), runs["budget"]))


def _short(label: str) -> str:
    return label if len(label) <= 40 else f"{label[:37]}..."


def _too_long(records: pd.DataFrame, file: str) -> list[str]:
    texts = [name for name in records if pd.api.types.is_string_dtype(records[name].dtype)]
    return [
        f"{file} row {row}: {name} has {int(length):,} characters; at most {LONGEST_TEXT} are "
        "shown. Shorten it."
        for name in texts
        for row, length in records[name].str.len().items()
        if length > LONGEST_TEXT
    ][:SHOWN_AT_MOST]


def _contradictions(records: pd.DataFrame, file: str) -> list[str]:
    """Rows that say something else of a run than an earlier row of it does."""
    run = records["run"] if "run" in records else pd.Series(pd.NA, index=records.index)
    named = run.notna()
    # Replicates that have no name are told apart by their order, as `snapshot build` does it.
    turn = records.assign(run=run.fillna("")).groupby([*CONFIGURATION, "metric", "run"]).cumcount()
    unnamed = records.groupby(list(CONFIGURATION), sort=False).ngroup().astype("str")
    key = run.astype(object).where(named, unnamed + " " + turn.astype("str"))
    key = key.where(named, "\0" + key)
    code, keys = pd.factorize(key)
    earliest = pd.Series(range(len(code))).groupby(code).min().to_numpy()[code]
    problems = []
    for column in (name for name in OF_A_RUN if name in records and len(keys) < len(records)):
        cells = records[column].astype(object).where(records[column].notna(), None)
        differs = [a != b for a, b in zip(cells, cells.iloc[earliest], strict=True)]
        problems += [
            f"{file} row {row}: {column} is {quoted(cell)}, and another one in an earlier row of "
            "the same run; correct it, or name its run in a column run."
            for row, cell in cells[differs].items()
        ]
    return problems


def _repeats(records: pd.DataFrame, file: str) -> list[str]:
    """Rows with a metric that an earlier row has of the same run."""
    if "run" not in records:
        return []
    named = records[records["run"].notna()]
    again = named[named.duplicated(["run", "metric"])]
    return [
        f"{file} row {row}: metric {quoted(metric)} of run {quoted(run)} is in an earlier row "
        "already; remove one of them."
        for row, run, metric in zip(again.index, again["run"], again["metric"], strict=True)
    ]
