"""What can go wrong, said so that the reader knows what to do."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SHOWN_AT_MOST = 10


class DelphiError(ValueError):
    """Something is wrong with what was given; the message is meant for the person who gave it."""


class DataError(DelphiError):
    """Figures that cannot be used.

    Parameters
    ----------
    problems
        One sentence each, with file, row and remedy. The message holds the first ten lines at
        most, the last of which counts the rest.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        shown = self.problems
        if len(shown) > SHOWN_AT_MOST:
            shown = shown[: SHOWN_AT_MOST - 1]
            shown += (f"and {len(self.problems) - len(shown)} more mistakes of this kind.",)
        super().__init__("\n".join(shown))


class FitError(DelphiError):
    """A fit that cannot be made of the rows given."""


def did_you_mean(given: str, known: Iterable[str]) -> str:
    """Remedy for an unknown name: the nearest known ones, or all of them.

    Parameters
    ----------
    given
        The name that is not known.
    known
        The names that are.

    Returns
    -------
    str
        ``did you mean 'x'?`` or ``known: x, y, ...``, without a leading blank.
    """
    names = list(known)
    # Ids are long paths with a common start, all near to each other: parts of them say more.
    near = [name for name in names if given and given.lower() in name.lower()]
    near = near or get_close_matches(given, names, n=2, cutoff=0.6)
    if near:
        return "did you mean " + " or ".join(repr(name) for name in near[:3]) + "?"
    listed = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return f"known: {listed or 'none'}"
