"""View state: a page's URL parameters, their defaults, and how to read them from a query.

The readers know no streamlit, so that a page, a route and a test read a link alike. Parameter
names and values are a public contract: old links must keep opening (tests/links). A parameter
that is missing has its default; one that cannot be had falls back to it, with a notice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from delphi_core.errors import did_you_mean, quoted

if TYPE_CHECKING:
    from delphi_core.snapshot import Snapshot

Query = Mapping[str, Sequence[str]]
"""Values of URL parameters by name."""

ZOOM = "zoom"
"""Field of a view, and parameter, that holds what its chart is zoomed to."""
LONGEST_WORDS = 100
"""How many characters a parameter that holds free text may have."""


def parse_zoom(text: str) -> tuple[float, float, float, float] | None:
    """Ends of the x and the y axis, in the axes' own numbers; None where the text holds none."""
    parts = text.split(",")
    try:
        x_from, x_to, y_from, y_to = (float(part) for part in parts)
    except ValueError:
        return None
    ends = (x_from, x_to, y_from, y_to)
    if not all(isfinite(end) and abs(end) < 1e30 for end in ends) or x_from == x_to:
        return None
    return None if y_from == y_to else ends


class ViewState(Protocol):
    """What a page shows: a frozen dataclass with the URL's parameters as fields.

    A field is a text, a flag, or a tuple of texts. Fields stand in order of dependence: what a
    field may be hangs on those before it only.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @classmethod
    def read(cls, query: Query, snapshot: Snapshot) -> tuple[Self, list[str]]:
        """The nearest valid view to a query, and a notice for each part that is not to be had."""
        ...

    def to_query(self, snapshot: Snapshot) -> dict[str, list[str]]:
        """The shortest query that `read` gives this view for."""
        query: dict[str, list[str]] = {}
        for name, value in asdict(self).items():
            nearest, _ = self.read(query, snapshot)
            if getattr(nearest, name) != value:
                query[name] = in_query(value)
        return query


def in_query(value: str | bool | Sequence[str]) -> list[str]:  # noqa: FBT001 - a field's value
    """A field as the URL holds it: flags as true or false, no choice as one empty text."""
    if isinstance(value, bool):
        return ["true" if value else "false"]
    if isinstance(value, str):
        return [value]
    return list(value) or [""]


@dataclass
class Asked:
    """A query being read: what it asks for, and notices on what is not offered.

    Attributes
    ----------
    query
        Values of the URL's parameters by name; hostile until checked. Where one value is wanted
        the last counts.
    notices
        One sentence for each value that was not to be had.
    """

    query: Query
    notices: list[str] = field(default_factory=list)

    def one(self, name: str, options: Sequence[str], default: str) -> str:
        """The option a parameter asks for; else the default, or the first if that is none."""
        fallback = default if default in options else options[0]
        values = self.query.get(name)
        if not values or values[-1] in options:
            return values[-1] if values else fallback
        self._notice(name, values[-1], options, f"{fallback!r} is shown")
        return fallback

    def many(self, name: str, options: Sequence[str]) -> tuple[str, ...]:
        """The options a parameter asks for, in their own order; all where it is missing."""
        values = self.query.get(name)
        if values is None:
            return tuple(options)
        chosen = self.some(name, options)
        return chosen if chosen or not any(values) else tuple(options)

    def some(self, name: str, options: Sequence[str]) -> tuple[str, ...]:
        """The options a parameter asks for, in their own order; none where it is missing."""
        values = self.query.get(name, ())
        wrong = [value for value in values if value and value not in options]
        for value in wrong[:3]:
            self._notice(name, value, options, "it is left out")
        return tuple(option for option in options if option in values)

    def filter(self, name: str, options: Sequence[str]) -> str:
        """The option a parameter filters by; an empty text, no filter, where it is missing."""
        value = self.query.get(name, ("",))[-1]
        if not value or value in options:
            return value
        self._notice(name, value, options, "it is left out")
        return ""

    def words(self, name: str, default: str = "") -> str:
        """What a parameter holds, whatever it is, without blanks around it; of limited length."""
        words = self.query.get(name, (default,))[-1].strip()
        if len(words) > LONGEST_WORDS:
            self.notices.append(
                f"The link asks for {name} of {len(words):,} characters; the first "
                f"{LONGEST_WORDS} are taken."
            )
        return words[:LONGEST_WORDS].rstrip()

    def zoom(self) -> str:
        """What a chart is zoomed to, as the parameter zoom holds it; empty where it is no range."""
        typed = self.query.get(ZOOM, ("",))[-1].strip()
        if typed and (len(typed) > LONGEST_WORDS or parse_zoom(typed) is None):
            self.notices.append(
                f"The link asks for zoom {quoted(typed)}, which is not four numbers (x from, x to, "
                "y from, y to); all is shown."
            )
            return ""
        return typed

    def flag(self, name: str, *, default: bool) -> bool:
        """The flag a parameter asks for."""
        words = "true" if default else "false"
        return self.one(name, ("true", "false"), words) == "true"

    def _notice(self, name: str, value: str, options: Sequence[str], instead: str) -> None:
        remedy = did_you_mean(value, options) if options else "nothing is"
        self.notices.append(
            f"The link asks for {name} {quoted(value)}, which is not offered here ({remedy}); "
            f"{instead}."
        )
