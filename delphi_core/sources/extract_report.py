"""What an extraction wrote, and what it did not and why."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from delphi_core.sources.places import shown
from delphi_core.words import count


@dataclass(frozen=True)
class Skipped:
    """A run, or a metric of a run, that is not among the records.

    Attributes
    ----------
    run
        Name of its folder.
    kind
        ``missing``, ``refused``, ``silent``, ``failing`` or ``replaced``: its file could not be
        had; ``unreadable``: the file holds no figures; ``no figure``: it holds no such one.
        Not missing: ``too many tokens``, ``same``, ``other label``, ``no run``.
    reason
        One sentence.
    metric
        Which one; empty for all of them.
    """

    run: str
    kind: str
    reason: str
    metric: str = ""


@dataclass(frozen=True)
class ExtractReport:
    """What an extraction wrote, and what it did not and why.

    Attributes
    ----------
    source, label, metrics
        What was asked for.
    flops
        ``bucket`` for the centres of 1.1^k, or ``recorded``.
    max_tokens_per_param
        Runs with more were left out, where given.
    folders
        How many there are.
    runs
        How many of them carry the label.
    records
        How many were written, by metric.
    skipped
        What was asked for and is missing.
    left_out
        Runs with the label that were not wanted, or say what another one says.
    set_aside
        Folders with another label, or of no run.
    notes
        Sentences on what was written all the same.
    """

    source: str
    label: str
    metrics: tuple[str, ...]
    flops: str
    max_tokens_per_param: float | None
    folders: int
    runs: int
    records: dict[str, int]
    skipped: tuple[Skipped, ...] = ()
    left_out: tuple[Skipped, ...] = ()
    set_aside: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether all that was asked for is there."""
        return not self.skipped

    def document(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        groups = (self.skipped, self.left_out, self.set_aside)
        kinds = Counter(item.kind for group in groups for item in group)
        return {**asdict(self), "complete": self.complete, "kinds": dict(sorted(kinds.items()))}

    def text(self) -> str:
        """What was written, in one line."""
        written = sum(self.records.values())
        each = ", ".join(f"{number} of {metric}" for metric, number in self.records.items())
        words = f"{count(written, 'record')} ({each}) of {count(self.runs, 'run')} with the label"
        for group, what in (
            (self.skipped, "missing"),
            (self.left_out, "left out"),
            (self.set_aside, "set aside"),
        ):
            if group:
                words += f"; {len(group)} {what}"
        return f"{words}."

    def sentences(self) -> list[str]:
        """What is missing, what was left out, and notes: one sentence each."""
        named = [f"{shown(item.run)}: {item.reason}" for item in (*self.skipped, *self.left_out)]
        return [*named, *self.notes]
