"""View state of the About page: it has nothing to choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from delphi_core.web.view_state import ViewState

if TYPE_CHECKING:
    from delphi_core.snapshot import Snapshot
    from delphi_core.web.view_state import Query


@dataclass(frozen=True)
class AboutView(ViewState):
    """What the About page shows: always the same."""

    @classmethod
    def read(cls, query: Query, snapshot: Snapshot) -> tuple[AboutView, list[str]]:
        """The one view, whatever is asked for."""
        del query, snapshot
        return cls(), []
