"""Events of a run, and which of them break a forecast's premises."""

import pytest

import delphi_core as dc
from delphi_core.events import events_of

HERO = "eval_dropless/paloma/macro_loss"
HERO_RUN = "hero-535b-a23b"


@pytest.fixture(scope="module")
def hero_line(snapshot):
    """The hero's macro loss."""
    return dc.main_line(snapshot, "hero", HERO_RUN, HERO)


def test_events_stand_where_their_step_was(snapshot, hero_line):
    events = events_of(snapshot, "hero", hero_line)
    breaks = events[events["breaks"]]
    assert list(breaks["kind"]) == ["mixture swap", "planned", "planned", "planned"]
    assert list(breaks["fraction"]) == pytest.approx([0.2767, 0.5, 0.8, 0.95], abs=1e-3)
    other = dc.main_line(snapshot, "moe-67b", "moe-67b-a2b", "eval/paloma/c4_en/loss")
    batch = events_of(snapshot, "moe-67b", other).set_index("kind").loc["batch change"]
    assert batch["fraction"] == pytest.approx(0.05, abs=1e-3)
