"""Links to the Planner page must keep opening: add to this list, never change it."""

from dataclasses import asdict

import pytest

import delphi_core as dc
from delphi_core.web.planner_view import PlannerView

MACRO = "eval/paloma/macro_loss"
BPB = "eval/paloma/c4_en/bpb"
# What a link without parameters opened.
DEFAULT = {
    "ladder": "delphi",
    "metric": MACRO,
    "method": "cubic",
    "level": "0.9",
    "flops": "1e22",
    "chips": "",
    "chip_flops": "",
    "utilisation": "",
    "days": "",
    "hidden": "",
    "x": "overtraining",
    "tab": "plan",
}
CHIPS = {"chips": "1024", "chip_flops": "9e14", "utilisation": "0.4", "days": "30"}

# (query as shared, what it opened beside DEFAULT), by release.
LINKS = [
    # 0.5.0
    ({}, {}),
    ({"flops": "1e22, 1e23", "tab": "valley"}, {"flops": "1e22, 1e23", "tab": "valley"}),
    ({"flops": "", **CHIPS}, {"flops": "", **CHIPS}),
    ({"hidden": "3840", "tab": "recipe"}, {"hidden": "3840", "tab": "recipe"}),
    ({"method": "marin", "level": "0.95"}, {"method": "marin", "level": "0.95"}),
    (
        {"ladder": "moe-v16", "metric": BPB, "x": "size"},
        {"ladder": "moe-v16", "metric": BPB, "x": "size"},
    ),
    ({"ladder": "moe-aug-hero"}, {"ladder": "moe-aug-hero", "method": "parabola"}),
    *(
        ({"ladder": "delphi-attempt-1", "tab": tab}, {"ladder": "delphi-attempt-1", "tab": tab})
        for tab in ("plan", "valley", "recipe", "backtest", "download")
    ),
    # After 0.5.0
    (
        {"tab": "valley", "zoom": "-0.3,1,2.5,2.7"},
        {"tab": "valley", "zoom": "-0.3,1,2.5,2.7"},
    ),
]
LATER = {"zoom": ""}
"""Parameters that came later, at their defaults."""


def read(query):
    """The view of a query and its notices."""
    return PlannerView.read({name: [value] for name, value in query.items()}, dc.load_snapshot())


@pytest.mark.parametrize(("query", "changed"), LINKS)
def test_old_links_open_the_view_they_opened_then(query, changed):
    view, notices = read(query)
    assert (asdict(view), notices) == (DEFAULT | LATER | changed, [])


@pytest.mark.parametrize(("query", "changed"), LINKS)
def test_the_shortest_query_of_a_view_opens_it_again(query, changed):
    snapshot = dc.load_snapshot()
    view, _ = read(query)
    again, notices = PlannerView.read(view.to_query(snapshot), snapshot)
    assert (asdict(again), notices) == (DEFAULT | LATER | changed, [])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ladder", "delphi-2"),
        ("ladder", "hero"),
        ("metric", "<script>"),
        # Only published optima: no runs to plan from.
        ("metric", BPB),
        ("method", "magic"),
        ("level", "2"),
        ("x", "tokens\x00"),
        ("tab", "y" * 10_000),
        ("zoom", "1,2,3"),
        ("zoom", "1,1,2,3"),
    ],
)
def test_what_is_not_offered_falls_back_with_a_notice(name, value):
    view, notices = read({name: value})
    assert asdict(view) == DEFAULT | LATER
    assert len(notices) == 1
    assert len(notices[0]) < 1000


@pytest.mark.parametrize(
    ("name", "value", "budgets"),
    [
        ("flops", "0", []),
        ("flops", "1e22 1e40", [1e22]),
        ("flops", "<b>1e22</b>", []),
        ("chips", "8", [1e22]),
        ("hidden", "1000", [1e22]),
        ("hidden", "-1", [1e22]),
    ],
)
def test_a_number_that_cannot_be_taken_is_kept_as_typed_and_named(name, value, budgets):
    view, notices = read({name: value})
    assert not notices
    assert asdict(view) == DEFAULT | LATER | {name: value}
    assert len(view.mistakes) == 1
    assert view.budgets == budgets
    assert view.width is None
