"""What a data address asks for, read as its page would read it; anything amiss is refused."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from delphi_core.errors import SHOWN_AT_MOST, DataError, did_you_mean, quoted
from delphi_core.version import __version__
from delphi_core.web.data_view import DataView
from delphi_core.web.page_index import data_names
from delphi_core.web.view_state import ZOOM

if TYPE_CHECKING:
    from delphi_core.snapshot import Snapshot
    from delphi_core.web.page_index import Page
    from delphi_core.web.view_state import ViewState

ENDINGS = ("metadata.json", "json", "csv")
LONGEST_QUERY = 4096
"""Bytes of the longest query that is read."""
MOST_FIELDS = 200
"""Parameters, repeated ones counted, that are read."""
_TABLE = "table"
"""Parameter of the Data page that a data address holds in its path."""
_NOT_OF_ROWS = (_TABLE, "tab", ZOOM)
"""Parameters that change no row of a table; in an address they are read all the same."""


class RefusedError(Exception):
    """A request that is not served.

    Parameters
    ----------
    status
        Of the answer.
    sentence
        What is wrong, and what to do.
    """

    def __init__(self, status: int, sentence: str) -> None:
        self.status = status
        self.sentence = sentence
        super().__init__(sentence)


@dataclass(frozen=True)
class DataRequest:
    """A table of a view.

    Attributes
    ----------
    snapshot
        The figures.
    page, view
        The page that gives the table away, and what it would show.
    name
        Of the table, on that page.
    ending
        csv, json or metadata.json.
    """

    snapshot: Snapshot
    page: Page
    view: ViewState
    name: str
    ending: str

    @property
    def table(self) -> str:
        """Name of the table in its address."""
        return f"{self.page.prefix}{self.name}"

    @property
    def file(self) -> str:
        """Name that the answer is saved under."""
        return f"{self.page.file_name(self.view, self.name)}.{self.ending}"

    @property
    def query(self) -> dict[str, list[str]]:
        """The shortest parameters that ask for it, without the table's name."""
        return data_query(self.view, self.snapshot)

    def tag(self, base: str) -> str:
        """What changes when the answer does: with figures, view, table, address and version."""
        within = "" if self.ending == "csv" else base
        parts = (self.snapshot.id, self.view, self.table, self.ending, within)
        words = f"{__version__} {parts!r}".encode()
        # Weak, since it may be compressed on its way.
        return f'W/"{sha256(words).hexdigest()[:32]}"'


def data_query(view: ViewState, snapshot: Snapshot) -> dict[str, list[str]]:
    """The parameters of a data address of a view: those that its rows hang on."""
    query = view.to_query(snapshot)
    return {name: values for name, values in query.items() if name not in _NOT_OF_ROWS}


def read_request(file: str, query: bytes, snapshot: Snapshot) -> DataRequest:
    """What a data address asks for.

    Parameters
    ----------
    file
        The part of the address after /data/.
    query
        Its parameters, as they came.
    snapshot
        The figures.

    Raises
    ------
    RefusedError
        There is no such table (404), its parameters are wrong (400) or too many (414).
    """
    page, name, ending = _named(file)
    if len(query) > LONGEST_QUERY:
        sentence = f"The parameters have {len(query):,} bytes; at most {LONGEST_QUERY:,} are read."
        raise RefusedError(414, sentence)
    try:
        # Bytes that are no UTF-8 become a sign that no option has.
        asked = parse_qs(
            query.decode("latin-1"), keep_blank_values=True, max_num_fields=MOST_FIELDS
        )
    except ValueError:
        raise RefusedError(400, f"More than {MOST_FIELDS} parameters are not read.") from None
    known = list(page.view.__dataclass_fields__)
    asked = {parameter: values for parameter, values in asked.items() if not _ignored(parameter)}
    wrong = [
        f"There is no parameter {quoted(parameter)} here; {did_you_mean(parameter, known)}"
        for parameter in asked
        if parameter not in known
    ]
    if page.view is DataView:
        given = asked.setdefault(_TABLE, [name])[-1]
        if given != name:
            wrong.append(
                f"The address is of table {quoted(name)} and its parameter table of "
                f"{quoted(given)}; leave the parameter out."
            )
            asked[_TABLE] = [name]
    try:
        view, notices = page.view.read(asked, snapshot)
    except DataError as error:
        raise RefusedError(404, str(error)) from None
    wrong += [_refused(notice, "; ") for notice in notices]
    wrong += [_refused(mistake, ". ") for mistake in getattr(view, "mistakes", ())]
    if wrong:
        raise RefusedError(400, str(DataError(wrong[:SHOWN_AT_MOST], len(wrong[SHOWN_AT_MOST:]))))
    return DataRequest(snapshot, page, view, name, ending)


def _named(file: str) -> tuple[Page, str, str]:
    """Page, table and ending that a file's name stands for."""
    names = data_names()
    for ending in ENDINGS:
        table = file.removesuffix(f".{ending}")
        if table == file:
            continue
        if table in names:
            return (*names[table], ending)
        raise RefusedError(404, f"There is no table {quoted(table)}; {did_you_mean(table, names)}")
    endings = " or ".join(f".{ending}" for ending in reversed(ENDINGS))
    raise RefusedError(404, f"{quoted(file)} is no table here; an address ends in {endings}.")


def _ignored(parameter: str) -> bool:
    """Whether a parameter says nothing of what is asked for: of embedding, or a campaign's."""
    return parameter in ("embed", "embed_options") or parameter.startswith("utm_")


def _refused(notice: str, separator: str) -> str:
    """A page's notice without what the page shows instead: here nothing is."""
    problem, found, _ = notice.rpartition(separator)
    return f"{problem}." if found else notice
