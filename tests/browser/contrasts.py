"""How well what is written on a page can be told from its ground, as WCAG 2 measures it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.browser.browsing import Visit

CHART_TEXTS = (".xtick text", ".ytick text", ".xtitle", ".ytitle", ".legendtext")
# A canvas turns any notation of a colour into bytes, and lays see-through text on the ground.
COLOURS = """([texts, chartTexts]) => {
  const pen = Object.assign(document.createElement('canvas'), {width: 1, height: 1})
    .getContext('2d', {willReadFrequently: true});
  const laid = (...layers) => {
    for (const layer of layers) { pen.fillStyle = layer; pen.fillRect(0, 0, 1, 1); }
    return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const style = part => getComputedStyle(document.querySelector(part));
  const ground = style('[data-testid=stApp]').backgroundColor;
  const found = {};
  for (const part of texts) found[part] = laid(ground, style(part).color);
  for (const part of chartTexts) found[part] = laid(ground, style(part).fill);
  return {ground: laid(ground), texts: found};
}"""


def luminance(colour: Sequence[int]) -> float:
    """Relative luminance of sRGB, as WCAG 2 defines it."""
    parts = np.array(colour) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(colour: Sequence[int], ground: Sequence[int]) -> float:
    """Contrast ratio of two colours, as WCAG 2 defines it: 1 to 21."""
    low, high = sorted([luminance(colour), luminance(ground)])
    return (high + 0.05) / (low + 0.05)


def unreadable(
    visit: Visit, texts: Sequence[str], scheme: str, chart_texts: Sequence[str] = CHART_TEXTS
) -> dict[str, float]:
    """Contrasts that are too low, of a page's texts and its chart's, by selector.

    Fails where the ground is not that of the scheme.
    """
    colours = visit.page.evaluate(COLOURS, [list(texts), list(chart_texts)])
    ground = colours["ground"]
    assert luminance(ground) > 0.9 if scheme == "light" else luminance(ground) < 0.03
    ratios = {part: contrast(text, ground) for part, text in colours["texts"].items()}
    # Streamlit draws the axes of every chart in one grey of its own, 3.7 on white.
    limits = {part: 3.7 if part in chart_texts else 4.5 for part in ratios}
    return {part: ratio for part, ratio in ratios.items() if ratio < limits[part]}
