"""A ladder of one's own: a CSV file of records beside the ladders of a snapshot.

Each sweep label of the file is a ladder, as the fits take one label at a time; a file with one
sweep label is one ladder, held-out runs of other labels included. Fits of such a ladder give what
they give of the file itself. Nothing is written anywhere, and the snapshot is not changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pandas as pd

from delphi_core.errors import DataError, FitError, quoted
from delphi_core.fits.sampled import FEWEST_SIZES, sampled_budgets
from delphi_core.manifest import sha256
from delphi_core.own_records import Size, checked_records, own_rows
from delphi_core.records import RECORD_COLUMNS, budget_bucket, join_records
from delphi_core.snapshot import Snapshot
from delphi_core.sources.records_csv import shown_name
from delphi_core.spreadsheet import spreadsheet_csv
from delphi_core.words import count

if TYPE_CHECKING:
    from collections.abc import Mapping

    from delphi_core.fits.sampled import Sampled

LARGEST_MB = 20
"""Of a file, in units of 2^20 bytes."""
OWN = "yours"
"""Id of the ladder, and how the ids of several begin: a link holds it, and nothing of the file."""


@dataclass(frozen=True, eq=False)
class OwnLadders:
    """Ladders of one file.

    Attributes
    ----------
    id
        First 12 hexadecimal digits of the sha256 of the file's content.
    file
        Its name.
    size
        What its column params holds.
    fitted
        Ids of the ladders that curves can be fitted to.
    tables
        The rows that it adds, by table; to be read, not changed.
    sentences
        What was read, one sentence a ladder, and what was not used.
    """

    id: str
    file: str
    size: Size
    fitted: tuple[str, ...]
    tables: Mapping[str, pd.DataFrame]
    sentences: tuple[str, ...]

    @property
    def ladders(self) -> tuple[str, ...]:
        """Ids of the ladders, in the order of the file."""
        return tuple(self.tables["ladders"]["ladder"])


def read_own_ladders(path: str | Path, size: Size = "params") -> OwnLadders:
    """Ladders of a CSV file of records.

    Parameters
    ----------
    path
        The file, as `read_records` takes it.
    size
        What its column params holds: params, or active_params for mixtures of experts. By active
        parameters curves are drawn against size unless asked otherwise, else against tokens.

    Raises
    ------
    DataError
        It cannot be read or used: one sentence a mistake.
    """
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise DataError([f"{shown_name(path)} cannot be read: {reason}."]) from None
    return parse_own_ladders(data, str(path), size)


def parse_own_ladders(data: bytes, name: str, size: Size = "params") -> OwnLadders:
    """Ladders of the content of a CSV file, as `read_own_ladders` gives them.

    Parameters
    ----------
    data
        Content of the file.
    name
        Its name; what cannot be shown of it is replaced.
    size
        What its column params holds.

    Raises
    ------
    DataError
        The content is too large, holds mistakes, or holds nothing that a curve can be fitted to.
    """
    file = shown_name(name)
    if len(data) > LARGEST_MB * 2**20:
        words = f"{file} has {len(data) / 2**20:.1f} MB; at most {LARGEST_MB} MB are read."
        raise DataError([f"{words} Leave out metrics or runs."])
    records, ignored = checked_records(data, file)
    tables, ladders = own_rows(records, file, OWN, size)
    found = {ladder: _curves(tables, ladder, size) for ladder in ladders}
    fitted = tuple(ladder for ladder in ladders if found[ladder].curves)
    if not fitted:
        reasons = [f"{file}: {sentence}" for ladder in ladders for sentence in found[ladder].why]
        raise DataError(list(dict.fromkeys(reasons)))
    sentences = [
        f"{_described(tables, ladder)}; {found[ladder].described()}." for ladder in ladders
    ]
    if ignored:
        listed = ", ".join(map(quoted, ignored[:5])) + (", ..." if len(ignored) > 5 else "")
        sentences.append(f"Not used: {count(len(ignored), 'column')} ({listed}).")
    tables["ladders"] = tables["ladders"].assign(
        default_metric=[
            next(iter(found[ladder].curves), metric)
            for ladder, metric in zip(
                tables["ladders"]["ladder"], tables["ladders"]["default_metric"], strict=True
            )
        ]
    )
    content = sha256(data + f"{file} {size}".encode())
    return OwnLadders(content[:12], file, size, fitted, tables, tuple(sentences))


@dataclass(frozen=True, eq=False, kw_only=True)
class SnapshotWithOwn(Snapshot):
    """A snapshot with ladders of one's own beside its own.

    Attributes
    ----------
    shared
        The snapshot without them.
    own
        The ladders.
    """

    shared: Snapshot
    own: OwnLadders

    def part(self, ladder: str) -> Snapshot:
        """The snapshot alone, except for a ladder of one's own."""
        return self if ladder in self.own.ladders else self.shared

    @property
    def named(self) -> str:
        """The snapshot and the file."""
        return f"{self.shared.named}, and your file {self.own.file}"


def with_own_ladders(snapshot: Snapshot, own: OwnLadders) -> SnapshotWithOwn:
    """The snapshot with ladders of one's own as the last ones; its id is that of both.

    Parameters
    ----------
    snapshot
        It is not changed. What it knows of a metric or a source stands; a ladder of its own that
        has an id of the file's ladders is left out.
    own
        The ladders.
    """
    tables = dict(snapshot.tables)
    for name, rows in own.tables.items():
        table, new = snapshot.tables[name], rows
        if "ladder" in table:
            table = table[~table["ladder"].isin(own.ladders)]
        else:
            key = name.removesuffix("s")
            new = rows[~rows[key].isin(table[key])]
        tables[name] = pd.concat([table, new], ignore_index=True) if len(new) else table
    both = sha256(f"{snapshot.id} {own.id}".encode())[:12]
    return SnapshotWithOwn(both, snapshot.created_at, tables, shared=snapshot, own=own)


def template_csv(records: pd.DataFrame) -> str:
    """Finished runs of a sweep in the six columns: what a file of one's own must look like.

    Parameters
    ----------
    records
        As `Snapshot.records` gives them.
    """
    sweep = records[(records["role"] == "isoflop") & (records["status"] == "finished")]
    return spreadsheet_csv(sweep, RECORD_COLUMNS)


@dataclass(frozen=True)
class _Found:
    """Budgets of the metrics that have curves, and why the others have none, a sentence each."""

    curves: dict[str, tuple[Sampled, ...]]
    why: tuple[str, ...]

    def described(self) -> str:
        """How many budgets and metrics can be fitted, and what of the first that cannot."""
        if not self.curves:
            return f"nothing to fit, so it is in the tables only: {self.why[0].rstrip('.')}"
        budgets = {budget.flops for found in self.curves.values() for budget in found}
        curves = {
            budget.flops for found in self.curves.values() for budget in found if budget.has_curve
        }
        each = "each" if len(curves) == len(budgets) else f"{len(curves)} of them"
        words = f"{count(len(budgets), 'budget')}, {each} with a curve"
        if self.why:
            words += f"; {len(self.curves)} of {len(self.curves) + len(self.why)} metrics have any"
        return words


def _described(tables: Mapping[str, pd.DataFrame], ladder: str) -> str:
    """How much a ladder holds."""
    runs, evals = _rows(tables, "runs", ladder), _rows(tables, "evals", ladder)
    metrics = evals["metric"].nunique()
    title = str(tables["ladders"].set_index("ladder").loc[ladder, "title"])
    sweep = runs[runs["role"] == "isoflop"]
    bucketed = bool((sweep["budget"] == budget_bucket(sweep["flops"])).all())
    return (
        f"{title}: {count(len(evals), 'record')} of {count(len(runs), 'run')} and "
        f"{count(metrics, 'metric')}, grouped by "
        f"{'1.1^k bucket of FLOPs' if bucketed else 'nominal budget'}"
    )


def _curves(tables: Mapping[str, pd.DataFrame], ladder: str, size: Size) -> _Found:
    runs, evals = _rows(tables, "runs", ladder), _rows(tables, "evals", ladder)
    curves: dict[str, tuple[Sampled, ...]] = {}
    why: list[str] = []
    for name, values in evals.groupby("metric", sort=False):
        metric = cast("str", name)
        try:
            budgets = sampled_budgets(join_records(runs, values, metric, size))
        except FitError as error:
            why.append(str(error))
            continue
        if any(budget.has_curve for budget in budgets):
            curves[metric] = budgets
        else:
            most = max((budget.sizes for budget in budgets), default=0)
            why.append(
                f"a curve needs finished runs of {FEWEST_SIZES} different token counts at one "
                f"budget, and metric {quoted(metric)} has {most} at most; add runs."
            )
    return _Found(curves, tuple(why))


def _rows(tables: Mapping[str, pd.DataFrame], name: str, ladder: str) -> pd.DataFrame:
    table = tables[name]
    return table[table["ladder"] == ladder]
