"""Links that were shared once must keep opening: add to this list, never change it."""

import pytest

import delphi_core as dc
from delphi_core.web.isoflop_view import IsoflopView

MACRO = "eval/paloma/macro_loss"
BPB = "eval/paloma/c4_en/bpb"

# (query as shared, view it opened), by release.
LINKS = [
    # 0.1.0
    ({}, ("delphi", MACRO, "tokens", "parabola")),
    ({"x": "params", "method": "marin"}, ("delphi", MACRO, "params", "marin")),
    ({"metric": BPB}, ("delphi", BPB, "tokens", "parabola")),
    ({"ladder": "delphi-attempt-1"}, ("delphi-attempt-1", MACRO, "tokens", "parabola")),
    ({"ladder": "moe-v16"}, ("moe-v16", MACRO, "active_params", "parabola")),
    ({"ladder": "moe-v16", "metric": BPB, "x": "tokens"}, ("moe-v16", BPB, "tokens", "parabola")),
    (
        {"ladder": "moe-aug-hero", "method": "cubic"},
        ("moe-aug-hero", MACRO, "active_params", "cubic"),
    ),
]


def read(query):
    """The view of a query and its notices."""
    return IsoflopView.read({name: [value] for name, value in query.items()}, dc.load_snapshot())


@pytest.mark.parametrize(("query", "view"), LINKS)
def test_old_links_open_the_view_they_opened_then(query, view):
    opened, notices = read(query)
    shown = (opened.ladder, opened.metric, opened.x, opened.method)
    assert (shown, notices) == (view, [])
    assert (opened.excluded, opened.y) == (False, "linear")


BROKEN = [
    {"ladder": "delphi-2"},
    {"metric": "eval/paloma/macro"},
    {"ladder": "moe-v16", "x": "params"},
    {"ladder": "<script>alert(1)</script>"},
    {"metric": "../../etc/passwd"},
    {"method": "https://example.org/x.csv"},
]


@pytest.mark.parametrize("query", BROKEN)
def test_broken_links_open_the_nearest_view_with_one_notice(query):
    view, notices = read(query)
    assert len(notices) == 1
    assert view.ladder in ("delphi", "moe-v16")
