"""What a snapshot tells of a ladder's tokenizer, which no column names.

Two traces: a loss and bits per byte of the same text give the bytes of a token, loss / (bpb ln 2);
and two dense models of equal width and layers have equal parameter counts only where their
vocabularies are of one size.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from delphi_core.snapshot import Snapshot

LOSS_UNIT, BYTES_UNIT = "nats/token", "bits/byte"
SAME_BYTES = 0.01
"""Share by which bytes per token may differ under one tokenizer: a macro mean moves by less."""
_RUN_SHAPE = ["hidden_dim", "layers"]


@dataclass(frozen=True)
class TokenizerTrace:
    """What tells whether two ladders share a tokenizer.

    Attributes
    ----------
    same
        True where something speaks for one tokenizer, False where something rules it out, None
        where the snapshot cannot tell.
    sentence
        Which, and by what.
    """

    same: bool | None
    sentence: str


def bytes_per_token(snapshot: Snapshot, ladder: str) -> dict[str, float]:
    """Bytes of a token by each text that a ladder has both a loss and bits per byte of.

    Parameters
    ----------
    snapshot
        Final values and trajectories are looked up.
    ladder
        Id.

    Returns
    -------
    dict
        Name of the text (c4_en, macro, ...), whatever kind of evaluation it was, to the median of
        loss / (bpb ln 2).
    """
    found: dict[str, list[float]] = {}
    units = snapshot.tables["metrics"].set_index("metric")["unit"]
    for table, keys in (("evals", ["run"]), ("trajectories", ["run", "segment", "step"])):
        rows = snapshot.tables[table]
        rows = rows[rows["ladder"] == ladder]
        rows = rows[rows["value"] > 0]
        kinds = rows["metric"].str.split("/").str[0]
        rows = rows.assign(unit=rows["metric"].map(units), text=rows["metric"].map(_text))
        own, on = rows.assign(kind=kinds), [*keys, "kind", "text"]
        losses, bits = own[own["unit"] == LOSS_UNIT], own[own["unit"] == BYTES_UNIT]
        both = losses[[*on, "value"]].merge(bits[[*on, "value"]], on=on, suffixes=("", "_bits"))
        ratios = both["value"] / both["value_bits"] / log(2)
        for text, own_ratios in ratios.groupby(both["text"]):
            found.setdefault(str(text), []).extend(own_ratios)
    return {text: float(pd.Series(ratios).median()) for text, ratios in found.items()}


def tokenizer_trace(snapshot: Snapshot, base: str, ladder: str) -> TokenizerTrace:
    """Whether two ladders share a tokenizer, as far as the snapshot tells.

    Parameters
    ----------
    snapshot
        Where runs and values are looked up.
    base, ladder
        Ids.
    """
    ours, theirs = (bytes_per_token(snapshot, name) for name in (base, ladder))
    for text in sorted(ours.keys() & theirs.keys()):
        first, second = ours[text], theirs[text]
        same = abs(first / second - 1) <= SAME_BYTES
        verdict = "which one tokenizer gives" if same else "so their tokenizers differ"
        return TokenizerTrace(
            same,
            f"loss and bits per byte of {text} give {first:.3f} and {second:.3f} bytes a token, "
            f"{verdict}",
        )
    shapes, equal = _same_shapes(snapshot, base, ladder)
    if shapes:
        same = equal == shapes
        verdict = (
            "so their vocabularies are of one size, which speaks for one tokenizer"
            if same
            else "so their vocabularies or their architectures differ"
        )
        return TokenizerTrace(
            True if same else None,
            f"{equal} of {shapes} shapes (width and layers) that both have are of equal parameter "
            f"counts, {verdict}",
        )
    return TokenizerTrace(
        None,
        "no column names the tokenizer, and they share neither a text with loss and bits per byte "
        "nor a shape with a parameter count",
    )


def _same_shapes(snapshot: Snapshot, base: str, ladder: str) -> tuple[int, int]:
    """How many shapes two ladders share, and how many of them have equal parameter counts."""
    runs = snapshot.tables["runs"].dropna(subset=[*_RUN_SHAPE, "params"])
    ours, theirs = (
        runs[runs["ladder"] == name].drop_duplicates([*_RUN_SHAPE, "params"])
        for name in (base, ladder)
    )
    both = ours.merge(theirs, on=_RUN_SHAPE, suffixes=("_base", ""))
    both = both.assign(equal=both["params"] == both["params_base"])
    equal = both.groupby(_RUN_SHAPE)["equal"].all()
    return len(equal), int(equal.sum())


def _text(metric: str) -> str:
    """Which text a metric is of: its id without kind of evaluation and unit."""
    _, _, rest = metric.partition("/")
    return (
        rest.removesuffix("/loss").removesuffix("/bpb").removesuffix("_loss").removesuffix("_bpb")
    )
