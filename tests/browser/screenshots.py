"""The README's screenshots: `make screenshots` takes them anew into docs/screenshots."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

from PIL import Image

from tests.browser.browsing import (
    NO_CHROMIUM,
    ROOT,
    WIDE,
    begin_visit,
    chromium,
    find_chromium,
    serving,
)

if TYPE_CHECKING:
    from tests.browser.browsing import Visit

FOLDER = ROOT / "docs" / "screenshots"
TALL_PHONE = (390, 1230)
"""As wide as a phone, and so high that nothing needs scrolling."""
# File name to page, size and scheme.
SHOTS = {
    "isoflop-light": ("/", {"size": WIDE, "scheme": "light"}),
    "isoflop-dark": ("/", {"size": WIDE, "scheme": "dark"}),
    "isoflop-phone": ("/", {"size": TALL_PHONE, "scheme": "light"}),
    "scaling-light": ("/scaling", {"size": WIDE, "scheme": "light"}),
    "trajectories-light": ("/trajectories", {"size": WIDE, "scheme": "light"}),
}
COLOURS = 128
"""As many as a chart needs; with fewer colours a PNG is a third of the size."""


def picture(visit: Visit) -> Image.Image:
    """What a visitor sees without scrolling, in few colours."""
    visit.page.evaluate("() => document.fonts.ready.then(() => null)")
    taken = visit.page.screenshot(animations="disabled")
    with Image.open(io.BytesIO(taken)) as image:
        return image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)


def main() -> int:
    """Take every screenshot; the exit status."""
    path = find_chromium()
    if path is None:
        sys.stderr.write(f"{NO_CHROMIUM}\n")
        return 1
    FOLDER.mkdir(parents=True, exist_ok=True)
    with serving() as address, chromium(path) as browser:
        for name, (path, options) in SHOTS.items():
            with browser.new_context() as context:
                visit = begin_visit(context.new_page(), address, **options).open(path)
                picture(visit.settled()).save(FOLDER / f"{name}.png", optimize=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
