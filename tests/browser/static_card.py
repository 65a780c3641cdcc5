"""The picture for links where none is drawn: `make static-card` draws it anew into the package.

The curves of the bundled snapshot without a number, so that it says nothing of any view.
"""

from __future__ import annotations

import io
import sys

from PIL import Image

import delphi_core as dc
from delphi_core.figures.card import TITLE_SIZE, card_figure
from delphi_core.figures.isoflop import isoflop_figure
from delphi_core.web.card_browser import CardBrowser
from delphi_core.web.cards import STATIC, find_chromium
from tests.browser.browsing import NO_CHROMIUM

TITLE = "Delphi Dashboard"
ABOUT = "Scaling ladders of the Marin project: IsoFLOP curves, laws and forecasts"
COLOURS = 48


def main() -> int:
    """Draw it; the exit status."""
    path = find_chromium()
    if path is None:
        sys.stderr.write(f"{NO_CHROMIUM}\n")
        return 1
    snapshot = dc.load_snapshot()
    ladder = snapshot.ladder("delphi")
    isoflop = dc.fit_isoflops(snapshot.records(ladder.ladder, ladder.default_metric))
    chart = isoflop_figure(isoflop, value_title="")
    chart.data = [trace for trace in chart.data if not trace.name.endswith("not fitted")]
    figure = card_figure(chart, title=TITLE, source=ABOUT)
    figure.update_layout(showlegend=False, title_font_size=1.5 * TITLE_SIZE)
    figure.update_layout(title_subtitle_font_size=26, margin_t=150)
    for axes in (figure.update_xaxes, figure.update_yaxes):
        axes(showticklabels=False, title_text="", ticks="", showgrid=False, showline=False)
    browser = CardBrowser(path)
    try:
        picture = browser.draw(figure)
    finally:
        browser.end()
    with Image.open(io.BytesIO(picture)) as image:
        image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(STATIC, optimize=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
