"""What the server does when it starts and when it ends, besides serving."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from delphi_core.web.cards import cards
from delphi_core.web.links import read_link
from delphi_core.web.page_index import PAGES
from delphi_core.web.previews import READING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import streamlit as st


@asynccontextmanager
async def server_life(_: st.App) -> AsyncIterator[None]:
    """Read the figures before the first link is asked for; end the browser that draws cards."""
    READING.submit(read_link, PAGES["/"], {})
    yield
    if (browser := cards().browser) is not None:
        await asyncio.to_thread(browser.end)
