"""What a data address answers: the table, its bytes, and what is known of it."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import asdict
from threading import Lock
from typing import TYPE_CHECKING, Any

from delphi_core.citation import Citation
from delphi_core.download_columns import described_columns
from delphi_core.errors import DelphiError
from delphi_core.json_text import json_chunks, json_line
from delphi_core.spreadsheet import spreadsheet_chunks
from delphi_core.version import __version__
from delphi_core.web.addresses import data_address, page_link
from delphi_core.web.data_request import ENDINGS, RefusedError
from delphi_core.web.headings import heading_of
from delphi_core.web.sources import source_addresses

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from delphi_core.snapshot import Snapshot
    from delphi_core.web.data_request import DataRequest
    from delphi_core.web.page_index import Page
    from delphi_core.web.view_state import ViewState

KEPT = 64
"""Tables that are kept for the next request of the same."""
LARGE = 20_000
"""Of more rows a table is not kept, and is sent while it is made."""
LICENCE = {
    "code": "Apache-2.0",
    "figures": (
        "Figures of public sources, which are named under sources; the snapshot states no licence "
        "of theirs."
    ),
}

_kept: OrderedDict[tuple[str, ViewState, str], pd.DataFrame] = OrderedDict()
_lock = Lock()


def made_table(request: DataRequest) -> pd.DataFrame:
    """The table that a request asks for; to be read, not changed.

    Raises
    ------
    RefusedError
        The view has no such table, and why (404).
    """
    key = (request.snapshot.id, request.view, request.table)
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    try:
        makers = request.page.tables(request.snapshot, request.view)
        if request.name not in makers:
            missing = request.page.about(request.snapshot, request.view).missing
            sentence = f"This view has no table {request.name}. {missing}"
            raise RefusedError(404, sentence.strip())
        table = makers[request.name]()
    except DelphiError as error:
        raise RefusedError(404, f"This view has no table {request.name}. {error}") from None
    if len(table) <= LARGE:
        with _lock:
            _kept[key] = table
            while len(_kept) > KEPT:
                _kept.popitem(last=False)
    return table


def chunks(request: DataRequest, table: pd.DataFrame, base: str) -> Iterator[str]:
    """The answer in parts, each made when it is asked for.

    Parameters
    ----------
    request
        What is asked for.
    table
        As `made_table` gives it.
    base
        What addresses begin with.
    """
    if request.ending == "csv":
        return spreadsheet_chunks(table)
    found = metadata(request, table, base)
    if request.ending == "json":
        return json_chunks(found, table)
    return iter([json_line(found) + "\n"])


def metadata(request: DataRequest, table: pd.DataFrame, base: str) -> dict[str, Any]:
    """What is known of a table, ready for JSON.

    Returns
    -------
    dict
        table, title, rows, columns, settings (of the view), described (how it was got), snapshot,
        sources, licence, citation, links and version.
    """
    snapshot, page, view = request.snapshot, request.page, request.view
    about = page.about(snapshot, view)
    keys = set(about.sources)
    if "source" in table:
        keys |= set(table["source"].dropna())
    cited = citation(snapshot, page, view, base)
    return {
        "table": request.table,
        "title": cited.title,
        "rows": len(table),
        "columns": described_columns(
            request.table, table.columns, value_unit=about.value_unit, x_unit=about.x_unit
        ),
        "settings": asdict(view),
        "described": list(about.described),
        "snapshot": {"id": snapshot.id, "created_at": snapshot.created_at},
        "sources": [
            {"source": key, "url": url} for key, url in source_addresses(snapshot, keys).items()
        ],
        "licence": LICENCE,
        "citation": {"text": cited.text, "bibtex": cited.bibtex},
        "links": {
            "page": cited.link,
            **{
                ending: data_address(base, request.table, request.query, ending)
                for ending in reversed(ENDINGS)
            },
        },
        "version": __version__,
    }


def citation(
    snapshot: Snapshot, page: Page, view: ViewState, base: str, title: str | None = None
) -> Citation:
    """How to cite a view; its title is the page's heading once somebody has seen that."""
    return Citation(
        title=title or heading_of(snapshot.id, view) or page.title,
        link=page_link(base, page.path, view.to_query(snapshot)),
        snapshot=snapshot.id,
        made=snapshot.created_at,
        version=__version__,
    )
