"""What can go wrong, said so that the reader knows what to do."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SHOWN_AT_MOST = 10
_NAMES_LISTED = 12
_LONGEST_QUOTE = 60


class DelphiError(ValueError):
    """Something is wrong with what was given; the message is meant for the person who gave it."""


class DataError(DelphiError):
    """Figures that cannot be used.

    Parameters
    ----------
    problems
        One sentence each, with file, row and remedy. The message holds ten lines at most, the
        last of which counts the rest.
    unlisted
        How many more there are for which no sentence was made.
    """

    def __init__(self, problems: Sequence[str], unlisted: int = 0) -> None:
        self.problems = tuple(problems)
        self.unlisted = unlisted
        shown = self.problems
        if len(shown) + unlisted > SHOWN_AT_MOST:
            shown = shown[: SHOWN_AT_MOST - 1]
            more = len(self.problems) - len(shown) + unlisted
            shown += (f"and {more:,} more mistakes.",)
        super().__init__("\n".join(shown))

    def of(self, what: str) -> DataError:
        """The same mistakes, each sentence beginning with what they are of."""
        return DataError([f"{what}: {problem}" for problem in self.problems], self.unlisted)


class FitError(DelphiError):
    """A fit that cannot be made of the rows or with the settings given."""


def did_you_mean(given: str, known: Iterable[object]) -> str:
    """Remedy for an unknown name: the nearest known ones, or all of them.

    Parameters
    ----------
    given
        The name that is not known.
    known
        The names that are, in the order they are listed in.

    Returns
    -------
    str
        ``did you mean 'x'?`` or ``known: x, y, ...``, without a leading blank.
    """
    names = [str(name) for name in known]
    # Ids are long paths with a common start, all near to each other: parts of them say more.
    part = given.strip().lower()
    near = [name for name in names if len(part) >= 3 and part in name.lower()]
    near = near or get_close_matches(given, names, n=2, cutoff=0.6)
    if near:
        return "did you mean " + " or ".join(repr(name) for name in near[:3]) + "?"
    listed = ", ".join(names[:_NAMES_LISTED]) + (", ..." if len(names) > _NAMES_LISTED else "")
    return f"known: {listed or 'none'}"


def quoted(value: object) -> str:
    """A cell, name or parameter as a message may show it: escaped, and short."""
    shown = repr(str(value))
    return shown if len(shown) <= _LONGEST_QUOTE else f"{shown[: _LONGEST_QUOTE - 4]}...'"
