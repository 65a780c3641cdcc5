"""Whether everybody can read a page and reach what is on it: by axe-core, by contrast, by Tab."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from axe_playwright_python.sync_playwright import Axe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.browser.browsing import Visit

LEAST_CONTRAST = 4.5
"""What WCAG 2 asks of text, at level AA."""
MOST_TABS = 300
"""Presses of the Tab key after which a page holds the keyboard captive."""
AXE = Axe()

# axe-core does not see the colour of a chart's texts. A canvas turns any notation of a colour into
# bytes, and lays see-through text on the ground.
_CHART_TEXTS = """() => {
  const pen = Object.assign(document.createElement('canvas'), {width: 1, height: 1})
    .getContext('2d', {willReadFrequently: true});
  const laid = (...layers) => {
    for (const layer of layers) { pen.fillStyle = layer; pen.fillRect(0, 0, 1, 1); }
    return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const ground = getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor;
  const texts = [...document.querySelectorAll('.js-plotly-plot .main-svg text')]
    .filter(text => text.textContent.trim() && !text.closest('.hoverlayer'));
  const colours = texts.map(text => laid(ground, getComputedStyle(text).fill));
  return {ground: laid(ground), texts: texts.map((text, i) => [text.textContent, colours[i]])};
}"""
# A control that another part of its widget stands for, such as the cross of a chosen option (Delete
# does the same), need not be reached itself.
_UNREACHED = """() => {
  const controls = 'a[href], button, input, textarea, [role=radio], [role=tab]';
  const widget = part =>
    part.closest('.modebar-btn, [data-testid=stBaseButton-elementToolbar]')
    || part.closest('[data-testid=stElementContainer], [role=tablist]') || part;
  const reached = new Set(window.reached.map(widget));
  return [...document.querySelectorAll(controls)]
    .filter(part => part.checkVisibility({visibilityProperty: true}) && !part.disabled)
    .filter(part => part.getBoundingClientRect().width && !reached.has(widget(part)))
    .map(part => part.outerHTML.slice(0, 200));
}"""
_NOTE = """() => {
  const part = document.activeElement;
  if (part !== document.body) window.reached.push(part);
  return part !== document.body;
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


def violations(visit: Visit) -> list[str]:
    """Serious and critical findings of axe-core; among them low contrast outside charts."""
    found = AXE.run(visit.page).response["violations"]
    return [
        f"{rule['id']}: {node['html'][:200]} {node['failureSummary']}"
        for rule in found
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"]
    ]


def faint_texts(visit: Visit, scheme: str) -> dict[str, float]:
    """Contrasts that are too low, of the texts of a page's charts.

    Fails where the ground is not that of the scheme.
    """
    drawn = visit.page.evaluate(_CHART_TEXTS)
    ground = drawn["ground"]
    assert luminance(ground) > 0.9 if scheme == "light" else luminance(ground) < 0.03
    ratios = {text: contrast(colour, ground) for text, colour in drawn["texts"]}
    return {text: ratio for text, ratio in ratios.items() if ratio < LEAST_CONTRAST}


def unreached(visit: Visit) -> list[str]:
    """Controls that Tab does not lead to, as HTML."""
    visit.page.evaluate("window.reached = []; document.activeElement.blur()")
    for _ in range(MOST_TABS):
        visit.page.keyboard.press("Tab")
        if not visit.page.evaluate(_NOTE):
            return list(visit.page.evaluate(_UNREACHED))
    raise AssertionError(f"after {MOST_TABS} presses of Tab there is still more to come")
