"""Whether two ladders may be compared in a metric: refused, warned of, or noted, with the reason.

Everything comes from the tables: ladders.csv (architecture, optimizer, params_column,
flops_convention), runs.csv (seq_len) and metrics.csv. The kind of evaluation is the first part of
a metric's id: eval (mixtures of experts drop tokens) or eval_dropless.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from delphi_core.errors import DataError, did_you_mean, quoted
from delphi_core.published import published_parabolas
from delphi_core.tokenizers import LOSS_UNIT, tokenizer_trace
from delphi_core.words import AMOUNTS

if TYPE_CHECKING:
    from delphi_core.snapshot import Snapshot

_FITTED_ROLES = ("isoflop", "excluded", "optimum")


@dataclass(frozen=True)
class Comparison:
    """What stands against comparing a ladder with a base in a metric.

    Attributes
    ----------
    base, ladder, metric
        Ids.
    refusals
        Why it would say nothing; none where they may be compared.
    warnings
        Conventions that differ, so that part of the difference is theirs.
    notes
        What is meant to differ between recipes, and what cannot be known.
    """

    base: str
    ladder: str
    metric: str
    refusals: tuple[str, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]

    @property
    def allowed(self) -> bool:
        """Whether they may be compared."""
        return not self.refusals


def optima_metrics(snapshot: Snapshot, ladder: str) -> list[str]:
    """Metrics of which a ladder has a sweep, compute-optimal runs or published optima.

    Parameters
    ----------
    snapshot
        Where it is looked up.
    ladder
        Id.

    Returns
    -------
    list of str
        In the order of metrics.csv.
    """
    runs, evals, published = (
        snapshot.tables[name] for name in ("runs", "evals", "published_optima")
    )
    own = runs[(runs["ladder"] == ladder) & runs["role"].isin(_FITTED_ROLES)]
    rows = evals[(evals["ladder"] == ladder) & evals["run"].isin(own["run"])]
    optima = published.loc[published["ladder"] == ladder, "metric"].unique()
    known = {*rows["metric"]}
    known |= {m for m in optima if len(published_parabolas(snapshot, ladder, m))}
    return [metric for metric in snapshot.tables["metrics"]["metric"] if metric in known]


def metric_differences(snapshot: Snapshot, first: str, second: str) -> list[str]:
    """In what two metrics differ, one part of a sentence each; none where they are the same.

    Parameters
    ----------
    snapshot
        Where their units are looked up.
    first, second
        Ids.

    Raises
    ------
    DataError
        There is no such metric; the message names near misses.
    """
    known = list(snapshot.tables["metrics"]["metric"])
    for metric in (first, second):
        if metric not in known:
            raise DataError([f"no metric {quoted(metric)}; {did_you_mean(metric, known)}"])
    if first == second:
        return []
    found = []
    units = snapshot.unit(first), snapshot.unit(second)
    if units[0] != units[1]:
        found.append(f"another unit ({units[0]} against {units[1]})")
    kinds = first.partition("/"), second.partition("/")
    if kinds[0][0] != kinds[1][0]:
        found.append(
            f"another kind of evaluation ({kinds[0][0]} against {kinds[1][0]}: whether experts may "
            "drop tokens)"
        )
    if not found or kinds[0][2].rpartition("/")[0] != kinds[1][2].rpartition("/")[0]:
        found.append("another text or mean")
    return found


def comparison(
    snapshot: Snapshot, base: str, ladder: str, metric: str, *, ladder_metric: str | None = None
) -> Comparison:
    """Whether a ladder may be compared with a base in a metric.

    Parameters
    ----------
    snapshot
        Where both are looked up.
    base, ladder
        Ids.
    metric
        Of the base.
    ladder_metric
        Of the ladder, where it is to be another one: that is refused, with the reason.

    Raises
    ------
    DataError
        There is no such ladder or metric.
    """
    ours, theirs = snapshot.ladder(base), snapshot.ladder(ladder)
    other = metric if ladder_metric is None else ladder_metric
    refusals = []
    if differences := metric_differences(snapshot, metric, other):
        refusals.append(f"{metric} and {other} are different metrics: {_and(differences)}.")
    for name, title, own in ((base, ours.title, metric), (ladder, theirs.title, other)):
        if own not in (known := optima_metrics(snapshot, name)):
            refusals.append(_missing(snapshot, name, title, own, known))
    warnings, notes = _conventions(snapshot, base, ladder)
    if ours.params_column != theirs.params_column:
        sizes = AMOUNTS[ours.params_column], AMOUNTS[theirs.params_column]
        warnings.insert(
            0,
            f"{ours.title} is sized by {sizes[0]}, {theirs.title} by {sizes[1]}: compute is that "
            "of the parameters that are active, memory and communication are not counted.",
        )
    if base != ladder and snapshot.unit(metric) == LOSS_UNIT:
        trace = tokenizer_trace(snapshot, base, ladder)
        if trace.same is False:
            refusals.append(
                f"Different tokenizers: {trace.sentence}, and a loss per token is then of "
                "different tokens. Bits per byte can be compared."
            )
        elif trace.same:
            notes.append(f"Tokenizer: {trace.sentence}.")
        else:
            notes.append(
                f"Tokenizer: not known to be the same ({trace.sentence}). A loss per token can be "
                "compared only under one tokenizer."
            )
    if refusals:
        # What else differs no longer matters.
        warnings, notes = [], []
    return Comparison(base, ladder, metric, tuple(refusals), tuple(warnings), tuple(notes))


def _missing(snapshot: Snapshot, ladder: str, title: str, metric: str, known: list[str]) -> str:
    """Why a ladder has no optima of a metric."""
    if known:
        nearest = min(known, key=lambda name: len(metric_differences(snapshot, metric, name)))
        reason = _and(metric_differences(snapshot, metric, nearest))
        return f"{title} has no optima in {metric}; it has {_and(known)}, which is {reason}."
    trajectories = snapshot.tables["trajectories"]
    logged = sorted(trajectories.loc[trajectories["ladder"] == ladder, "metric"].unique())
    sentence = f"{title} has no optimum of any budget, neither a sweep nor compute-optimal runs"
    own = snapshot.ladder(ladder).default_metric
    if logged and own != metric:
        reason = _and(metric_differences(snapshot, metric, own))
        return f"{sentence}; its runs are followed in {own}, which is {reason}."
    return f"{sentence}: its runs can be seen on the Trajectories page."


def _conventions(snapshot: Snapshot, base: str, ladder: str) -> tuple[list[str], list[str]]:
    """Warnings and notes of what ladders.csv and runs.csv say of both."""
    rows = snapshot.tables["ladders"].set_index("ladder")
    titles = snapshot.title(base), snapshot.title(ladder)

    def both(column: str) -> tuple[str, str] | None:
        pair = rows.loc[[base, ladder], column].astype(object)
        words = [str(cell) for cell in pair.where(pair.notna(), "not recorded")]
        return None if words[0] == words[1] else (words[0], words[1])

    warnings, notes = [], []
    if pair := both("flops_convention"):
        known = ["lm_head included" in words for words in pair]
        doubt = "" if all(known) else " Whether both count lm_head alike is not known."
        if any("lm_head excluded" in words for words in pair):
            doubt = " One leaves lm_head out, so its compute reads smaller."
        warnings.append(
            f"FLOPs are counted differently: {titles[0]}, {pair[0]}; {titles[1]}, {pair[1]}.{doubt}"
        )
    lengths = [_sequence_lengths(snapshot, name) for name in (base, ladder)]
    if not all(lengths):
        notes.append("Sequence lengths are not recorded for both.")
    elif lengths[0] != lengths[1]:
        words = [_and([f"{length:,}" for length in found]) for found in lengths]
        warnings.append(
            f"Sequence lengths differ: {titles[0]} {words[0]}, {titles[1]} {words[1]} tokens; a "
            "longer context lowers the loss by itself."
        )
    for column in ("architecture", "optimizer"):
        if pair := both(column):
            each = f"{titles[0]} {pair[0]}, {titles[1]} {pair[1]}"
            notes += [f"{column.capitalize()} differs, as recipes do: {each}."]
    return warnings, notes


def _sequence_lengths(snapshot: Snapshot, ladder: str) -> list[int]:
    runs = snapshot.tables["runs"]
    own = runs[(runs["ladder"] == ladder) & runs["role"].isin(_FITTED_ROLES)]
    return sorted({int(length) for length in own["seq_len"].dropna()})


def _and(parts: list[str]) -> str:
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} and {parts[-1]}"
