"""What the name of a run's folder says: budget, size, batch and label."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUMBER = r"\d+(?:\.\d+)?(?:e[+-]?\d+)?"
_NAME = re.compile(
    rf"isoflop-(?P<budget>{_NUMBER})"
    rf"-(?:d(?P<hidden_dim>\d+)-L(?P<layers>\d+)|N(?P<params>{_NUMBER}))"
    r"-B(?P<batch_size>\d+)"
    r"-(?P<label>.+?)"
    r"(?:-(?P<ending>[0-9a-f]{6}))?",
    re.ASCII,
)


@dataclass(frozen=True)
class RunName:
    """Parts of a run's name.

    Attributes
    ----------
    label
        Of the sweep, as it stands in the name.
    budget
        As the name has it, FLOP: rounded, and not what the run recorded.
    batch_size
        Sequences.
    hidden_dim, layers
        Width and depth, where the name has them.
    params
        All parameters, where the name has them instead.
    ending
        The six hexadecimal digits at its end, where there are any.
    """

    label: str
    budget: float
    batch_size: int
    hidden_dim: int | None = None
    layers: int | None = None
    params: float | None = None
    ending: str | None = None


def parse_run_name(name: str) -> RunName | None:
    """Parts of a run's name; None for a name that no run of a sweep has.

    Parameters
    ----------
    name
        ``isoflop-<budget>-d<width>-L<layers>-B<batch>-<label>`` or
        ``isoflop-<budget>-N<params>-B<batch>-<label>``, then perhaps ``-`` and six hexadecimal
        digits, which are no part of the label.
    """
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    hidden_dim, layers, params = found["hidden_dim"], found["layers"], found["params"]
    return RunName(
        label=found["label"],
        budget=float(found["budget"]),
        batch_size=int(found["batch_size"]),
        hidden_dim=None if hidden_dim is None else int(hidden_dim),
        layers=None if layers is None else int(layers),
        params=None if params is None else float(params),
        ending=found["ending"],
    )
