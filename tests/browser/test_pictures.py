"""Pictures saved from a chart's menu: named after the view, with its finding, large enough."""

import io
import re
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.browser.accessible import contrast

CHARTS = {
    "isoflop_chart": ("/", {"ladder": "moe-v16", "method": "cubic"}),
    "loss_chart": ("/scaling", {}),
    "curve_chart": ("/trajectories", {"target": "67b"}),
    "laws_chart": ("/recipes", {}),
    "valley_chart": ("/planner", {"tab": "valley", "flops": "1e21"}),
}


def saved(page, key, kind, *, keyboard=False):
    """Name and content of a picture from the menu of a chart."""
    chart = page.widget(key).locator(".js-plotly-plot")
    chart.hover()
    button = chart.get_by_role("button", name=f"Save as {kind}", exact=True)
    with page.page.expect_download() as started:
        if keyboard:
            button.focus()
            page.page.keyboard.press("Enter")
        else:
            button.click()
    return started.value.suggested_filename, Path(started.value.path()).read_bytes()


def opened(visit, key, **options):
    path, query = CHARTS[key]
    return visit(**options).open(path, **query).settled()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("key", CHARTS)
def test_a_picture_is_named_after_its_view_and_fills_a_slide(visit, key, scheme):
    page = opened(visit, key, scheme=scheme)
    name, content = saved(page, key, "PNG")
    _, query = CHARTS[key]
    for value in (*query.values(), key.removesuffix("_chart")):
        assert value in name
    assert name.endswith(".png")
    image = Image.open(io.BytesIO(content))
    assert image.width == 1800
    assert 0.5 < image.height / image.width < 0.8
    pixels = np.asarray(image)
    # On the page's own ground, opaque: a slide may have any colour.
    assert (pixels[..., 3] == 255).all()
    ground = pixels[0, 0, :3]
    assert (ground.mean() > 230) == (scheme == "light")
    assert (pixels[..., :3] != ground).any(axis=-1).mean() > 0.01


@pytest.mark.parametrize("key", CHARTS)
def test_the_svg_says_what_the_page_says(visit, key):
    page = opened(visit, key)
    name, content = saved(page, key, "SVG", keyboard=True)
    assert name.endswith(f"{key.removesuffix('_chart')}.svg")
    svg = content.decode()
    texts = [
        unescape(re.sub("<[^>]*>", " ", text))
        for text in re.findall("<text.*?</text>", svg, re.DOTALL)
    ]
    said = " ".join(" ".join(texts).split())
    assert " ".join(page.title.split()) in said
    assert re.search(r"Snapshot of \d{4}-\d\d-\d\d\.", said)
    sizes = [float(size) for size in re.findall(r"font-size: ([\d.]+)px", svg)]
    width = float(re.search(r'viewBox="0 0 ([\d.]+) ', svg).group(1))
    # 22 pixels of a slide that is 1,800 wide.
    assert min(sizes) / width > 0.012


def test_the_page_is_as_it_was_and_so_is_its_menu_after_another_choice(visit):
    page = opened(visit, "curve_chart")
    title = "document.querySelector('.js-plotly-plot').layout.title?.text || ''"
    before = page.page.evaluate(title)
    first, _ = saved(page, "curve_chart", "PNG")
    assert page.page.evaluate(title) == before
    page.widget("x").get_by_role("radio", name="tokens", exact=True).click()
    page.page.wait_for_url(re.compile("x=tokens"))
    page.settled()
    for kind in ("SVG", "PNG"):
        named = f"x-tokens_curve.{kind.lower()}"
        assert saved(page, "curve_chart", kind)[0] == first.replace("curve.png", named)
    buttons = page.page.locator(".modebar-btn").evaluate_all(
        "parts => parts.filter(part => !part.hidden).map(part => part.dataset.title)"
    )
    assert buttons[:2] == ["Save as PNG", "Save as SVG"]
    assert not [title for title in buttons if "Download plot" in title]


# A control used after the first picture, and what then stands above the next.
CHANGES = {
    "isoflop_chart": ("ladder", "Delphi (AdamH)", "Delphi (AdamH)"),
    "loss_chart": ("level", "80 %", "80 % band"),
    "curve_chart": ("target", "hero", "hero-535b-a23b"),
    "valley_chart": ("flops", "1e23", "748 B"),
}


def heading(page, key):
    """What stands above a saved picture."""
    _, content = saved(page, key, "SVG")
    title = re.search('<g class="g-gtitle.*?</g>', content.decode(), re.DOTALL).group()
    return " ".join(unescape(re.sub("<[^>]*>", " ", title)).split())


@pytest.mark.parametrize("key", CHANGES)
def test_the_next_picture_is_headed_by_what_is_shown_then(visit, key):
    page = opened(visit, key)
    before = heading(page, key)
    control, option, said = CHANGES[key]
    assert said not in before
    page.use(control, option)
    page.settled()
    after = heading(page, key)
    assert said in after
    assert " ".join(page.title.split()) in after


def test_a_chart_has_one_listener_however_often_it_changes(visit):
    page = opened(visit, "loss_chart")
    count = "document.querySelector('.js-plotly-plot')._ev._events.plotly_relayout.length ?? 1"
    page.use("level", "80 %")
    once = page.page.evaluate(count)
    for level in ("95 %", "90 %", "80 %"):
        page.use("level", level)
    assert page.settled().page.evaluate(count) == once


def test_contrast_of_known_colours():
    assert contrast((255, 255, 255), (0, 0, 0)) == pytest.approx(21)
    assert contrast((119, 119, 119), (255, 255, 255)) == pytest.approx(4.48, abs=0.005)
