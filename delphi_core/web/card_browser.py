"""A browser of the server's own that draws charts as PNG; needs requirements-cards.txt.

It starts when the first picture is asked for, stays for the next ones, and ends with the server. It
lives on an event loop of its own, so that nothing it does or fails to do holds up a page.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import plotly
from kaleido import Kaleido, PageGenerator

from delphi_core.figures.card import HEIGHT, WIDTH
from delphi_core.web.quiet_chromium import QuietChromium, sandboxed

if TYPE_CHECKING:
    from concurrent.futures import Future

    import plotly.graph_objects as go

LOG = logging.getLogger(__name__)
START_SECONDS, DRAW_SECONDS, END_SECONDS = 30, 10, 5
"""Limits; whoever waits for a picture stops waiting sooner, and the next one finds it drawn."""
PLOTLY_JS = Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
"""The chart library as it was installed; the page that draws loads nothing else."""


def drawing_page() -> PageGenerator:
    """The page that charts are drawn in: files of this machine only."""
    return PageGenerator(plotly=(PLOTLY_JS.as_uri(), "utf-8"), mathjax=False)


class CardBrowser:
    """One Chromium, and the event loop it is driven from.

    Parameters
    ----------
    chromium
        Path of the browser.
    """

    def __init__(self, chromium: str) -> None:
        self.chromium = chromium
        self._kaleido: Kaleido | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="card browser", daemon=True
        )
        self._thread.start()

    @property
    def process(self) -> int | None:
        """Id of the browser's process; None while there is none."""
        return None if self._kaleido is None else int(self._kaleido.subprocess.pid)

    def draw(self, figure: go.Figure) -> bytes:
        """A figure as PNG, in the size of a card.

        Parameters
        ----------
        figure
            As `card_figure` lays it out.

        Raises
        ------
        TimeoutError
            The browser did not start within half a minute, or did not draw within ten seconds.
        Exception
            Whatever else went wrong in the browser; the next picture starts a new one.
        """
        drawn: Future[bytes] = asyncio.run_coroutine_threadsafe(self._draw(figure), self._loop)
        return drawn.result(START_SECONDS + DRAW_SECONDS + 2 * END_SECONDS)

    def end(self) -> None:
        """End the browser and its thread."""
        closed = asyncio.run_coroutine_threadsafe(self._close(), self._loop)
        with suppress(FutureTimeoutError):
            closed.result(END_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(END_SECONDS)
        if not self._thread.is_alive():
            self._loop.close()

    async def _draw(self, figure: go.Figure) -> bytes:
        try:
            if self._kaleido is None:
                self._kaleido = Kaleido(
                    path=self.chromium,
                    page_generator=drawing_page(),
                    browser_cls=QuietChromium,
                    enable_sandbox=sandboxed(),
                )
                async with asyncio.timeout(START_SECONDS):
                    await self._kaleido.open()
            size = {"format": "png", "width": WIDTH, "height": HEIGHT}
            async with asyncio.timeout(DRAW_SECONDS):
                return bytes(await self._kaleido.calc_fig(figure, opts=size))
        except BaseException:
            await self._close()
            raise

    async def _close(self) -> None:
        kaleido, self._kaleido = self._kaleido, None
        if kaleido is None:
            return
        try:
            async with asyncio.timeout(END_SECONDS):
                await kaleido.close()
        except Exception as error:  # noqa: BLE001 - a browser that is broken may fail in any way
            LOG.warning("the browser that draws cards ended badly: %r", error)
