"""What stands above a chart in a picture of it: its finding, and where that is from."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from delphi_core.figures.theme import escaped
from delphi_core.words import unbroken

if TYPE_CHECKING:
    import plotly.graph_objects as go

WIDTH, HEIGHT = 900, 520
"""Pixels of a picture that is saved from a page and, at most, of its chart.

What is written takes the same part of its width as 24 pixels of a slide of 1,800.
"""
SMALL_MULTIPLES = 700
"""Pixels of height from which on a chart is many small ones, which need it."""
FONT = "sans-serif"
"""Pictures know none of a page's own fonts: letters of another width would run into each other."""
EDGE = 16
CARD_WIDTH = 1200
"""Pixels of a picture with scale 1, for the links of a chat."""
FINDING_LETTERS, SOURCE_LETTERS = 62, 132
"""How many letters a line of each has room for, in the widest fonts that browsers fall back to."""
_FINDING_SIZE, _SOURCE_SIZE = 28, 16
_FINDING_LINE, _SOURCE_LINE, _ROOM = 38, 22, 62


@dataclass(frozen=True)
class Heading:
    """A finding and its source above a chart.

    Attributes
    ----------
    finding
        What the chart shows, plain text; two lines of it at most are shown.
    source
        How it was got and as of when, plain text; two lines of it at most are shown.
    scale
        Width of the picture over `CARD_WIDTH`.
    """

    finding: str
    source: str
    scale: float = 1.0

    @property
    def height(self) -> float:
        """Pixels that it takes above the chart."""
        lines = _FINDING_LINE * len(self._findings) + _SOURCE_LINE * len(self._sources)
        return self.scale * (_ROOM + lines)

    def title(self, height: float) -> dict[str, Any]:
        """Title of the layout of a picture of a height, pixels."""
        return {
            "text": "<br>".join(f"<b>{escaped(line)}</b>" for line in self._findings),
            "font": {"family": FONT, "size": self.scale * _FINDING_SIZE},
            "x": 0,
            "xanchor": "left",
            "pad": {"l": self.scale * 32},
            # A title of two lines is hung up by its second.
            "y": 1 - self.scale * (30 + 21 * (len(self._findings) - 1)) / height,
            "yanchor": "top",
            "subtitle": {
                "text": "<br>".join(escaped(line) for line in self._sources),
                "font": {"size": self.scale * _SOURCE_SIZE},
            },
        }

    @property
    def _findings(self) -> list[str]:
        return wrap(unbroken(self.finding), FINDING_LETTERS, max_lines=2, placeholder=" ...")

    @property
    def _sources(self) -> list[str]:
        return wrap(self.source, SOURCE_LETTERS, max_lines=2, placeholder=" ...")


def picture_layout(figure: go.Figure, finding: str, source: str) -> dict[str, Any]:
    """What the layout of a picture saved from a page has besides its chart's own.

    Parameters
    ----------
    figure
        The chart.
    finding, source
        Of its heading.
    """
    heading = Heading(finding, source, WIDTH / CARD_WIDTH)
    own = figure.layout.height or HEIGHT
    height = heading.height + (own if own >= SMALL_MULTIPLES else min(own, HEIGHT))
    return {
        "title": heading.title(height),
        "font": {"family": FONT},
        "margin": {"t": heading.height, "l": EDGE, "r": EDGE, "b": EDGE},
        "width": WIDTH,
        "height": height,
    }
