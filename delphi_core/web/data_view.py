"""View state of the Data page, and what the page offers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from delphi_core.browse import FILTERS, filter_values, filtered
from delphi_core.tables import ROLES, TABLES
from delphi_core.web.per_snapshot import per_snapshot
from delphi_core.web.view_state import Asked, ViewState

if TYPE_CHECKING:
    from delphi_core.snapshot import Snapshot
    from delphi_core.web.view_state import Query

FIRST = "runs"
TABS = ("Table", "Columns", "Download", "Your own ladder")
"""The table that is shown first."""


@dataclass(frozen=True)
class DataView(ViewState):
    """What the Data page shows.

    Attributes
    ----------
    table
        Name of the table; runs by default.
    ladder, role, metric, budget
        What rows are filtered by, as `browse.filtered` takes it; empty, the default, for no
        filter. A table without such a column has no such filter.
    text
        What some text column must hold; empty, the default, for anything.
    sort
        Column to sort by, largest first after a minus; empty, the default, for the table's order.
    tab
        Which tab is open: Table (default), Columns, Download or Your own ladder.
    """

    table: str
    ladder: str
    role: str
    metric: str
    budget: str
    text: str
    sort: str
    tab: str = "Table"

    @property
    def filters(self) -> dict[str, str]:
        """The filters in use and the order, as `browse.filtered` takes them."""
        return {
            name: value
            for name, value in asdict(self).items()
            if value and name not in ("table", "tab")
        }

    @classmethod
    def read(cls, query: Query, snapshot: Snapshot) -> tuple[DataView, list[str]]:
        """The nearest valid view to a query, and a notice for each part that is not to be had.

        Parameters
        ----------
        query
            Values of the URL's parameters by name; those of other names are ignored.
        snapshot
            Where tables and their values are looked up.

        Returns
        -------
        view : DataView
            With every part to be had.
        notices : list of str
            One sentence a part that is not.
        """
        asked = Asked(query)
        table = asked.one("table", list(TABLES), FIRST)
        chosen: dict[str, str] = {}
        for name in FILTERS:
            options = data_options(snapshot, table, name, *chosen.values())
            chosen[name] = asked.filter(name, options)
        text = asked.words("text")
        sort = asked.filter("sort", sort_options(table))
        tab = asked.one("tab", TABS, TABS[0])
        return cls(table, **chosen, text=text, sort=sort, tab=tab), asked.notices

    def options(self, snapshot: Snapshot, name: str) -> tuple[str, ...]:
        """What a filter offers in this view, besides no filter."""
        before = [getattr(self, earlier) for earlier in FILTERS[: FILTERS.index(name)]]
        return data_options(snapshot, self.table, name, *before)


def data_filters(table: str) -> list[str]:
    """Filters that a table has columns for."""
    return [name for name in FILTERS if name in TABLES[table].column_names]


@per_snapshot
def data_options(snapshot: Snapshot, table: str, name: str, *before: str) -> tuple[str, ...]:
    """What a filter offers: the values in the rows that pass the filters before it.

    Parameters
    ----------
    snapshot
        Where the rows and the order of ladders and metrics come from.
    table
        Name of the table.
    name
        One of `browse.FILTERS`; a table without the column offers nothing.
    *before
        Values of the filters that stand before it.
    """
    if name not in data_filters(table):
        return ()
    earlier = dict(zip(FILTERS, before, strict=False))
    values = filter_values(filtered(snapshot.tables[table], **earlier), name)
    if name == "budget":
        return tuple(values)
    known = ROLES if name == "role" else snapshot.tables[f"{name}s"][name]
    return tuple(value for value in known if value in values)


def sort_options(table: str) -> list[str]:
    """What a table can be sorted by: each column, upwards and downwards."""
    return [sign + name for name in TABLES[table].column_names for sign in ("", "-")]
