"""Links to the Scaling law page must keep opening: add to this list, never change it."""

from dataclasses import asdict

import pytest

import delphi_core as dc
from delphi_core.web.scaling_view import ScalingView

MACRO = "eval/paloma/macro_loss"
BPB = "eval/paloma/c4_en/bpb"
# What a link without parameters opened.
DEFAULT = {
    "ladder": "delphi",
    "metric": MACRO,
    "method": "cubic",
    "law": "squares",
    "asymptote": "",
    "band": "residual bootstrap",
    "level": "0.9",
    "compute": "recorded",
    "excluded": False,
    "target": "1e24",
    "published": False,
    "y": "linear",
    "tab": "loss",
}

# (query as shared, what it opened beside DEFAULT), by release.
LINKS = [
    # 0.2.0
    ({}, {}),
    ({"target": "1e23", "tab": "size"}, {"target": "1e23", "tab": "size"}),
    (
        {"method": "parabola", "law": "log", "asymptote": "1.6", "published": "true"},
        {"method": "parabola", "law": "log", "asymptote": "1.6", "published": True},
    ),
    ({"method": "marin"}, {"method": "marin", "compute": "bucket"}),
    (
        {"method": "surface", "law": "huber", "band": "profile", "level": "0.95"},
        {"method": "surface", "law": "huber", "band": "profile", "level": "0.95"},
    ),
    (
        {"metric": BPB, "band": "delta"},
        {"metric": BPB, "method": "published", "band": "delta"},
    ),
    (
        {"ladder": "moe-v16", "metric": BPB, "compute": "nominal", "excluded": "true", "y": "log"},
        {"ladder": "moe-v16", "metric": BPB, "compute": "nominal", "excluded": True, "y": "log"},
    ),
    (
        {"ladder": "moe-aug-hero", "target": ""},
        {"ladder": "moe-aug-hero", "method": "parabola", "target": ""},
    ),
    *(
        ({"ladder": "delphi-attempt-1", "tab": tab}, {"ladder": "delphi-attempt-1", "tab": tab})
        for tab in ("loss", "size", "asymptote", "methods", "walk-forward", "download")
    ),
    *(
        ({"band": band, "level": "0.8"}, {"band": band, "level": "0.8"})
        for band in ("profile", "delta", "jackknife", "stratified bootstrap", "residual bootstrap")
    ),
]


def read(query):
    """The view of a query and its notices."""
    return ScalingView.read({name: [value] for name, value in query.items()}, dc.load_snapshot())


@pytest.mark.parametrize(("query", "view"), LINKS)
def test_old_links_open_the_view_they_opened_then(query, view):
    opened, notices = read(query)
    # Parameters that came later stand at their defaults.
    shown = {name: value for name, value in asdict(opened).items() if name in DEFAULT}
    assert (shown, notices, opened.mistakes) == (DEFAULT | view, [], [])


BROKEN = [
    {"ladder": "delphi-2"},
    {"metric": "eval/paloma/macro"},
    {"method": "spline"},
    {"method": "published"},
    {"law": "<script>alert(1)</script>"},
    {"band": "bootstrap"},
    {"level": "0.99"},
    {"compute": "https://example.org/x.csv"},
    {"excluded": "yes"},
    {"published": "1"},
    {"y": "sqrt"},
    {"tab": "../../etc/passwd"},
    {"zoom": "<b>"},
]


@pytest.mark.parametrize("query", BROKEN)
def test_broken_links_open_the_nearest_view_with_one_notice(query):
    view, notices = read(query)
    assert len(notices) == 1
    assert asdict(view) == DEFAULT | {"zoom": ""}
