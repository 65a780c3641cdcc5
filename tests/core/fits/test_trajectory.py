"""Measured lines: steps and fractions, and gaps."""

from dataclasses import replace

import numpy as np
import pytest

import delphi_core as dc
from delphi_core.fits.trajectory import Trajectory

HERO = "eval_dropless/paloma/macro_loss"
HERO_RUN = "hero-535b-a23b"


@pytest.fixture(scope="module")
def hero_line(snapshot):
    """The hero's macro loss."""
    return dc.main_line(snapshot, "hero", HERO_RUN, HERO)


def test_steps_and_fractions_are_read_off_each_other(snapshot, hero_line):
    places = np.linspace(0.01, 0.99, 50)
    assert hero_line.fractions_at(hero_line.steps_at(places)) == pytest.approx(places)
    assert hero_line.steps_at(hero_line.fractions) == pytest.approx(hero_line.steps)
    # The batch of the 67B run doubled at step 15,000: tokens are not in proportion to steps.
    line = dc.main_line(snapshot, "moe-67b", "moe-67b-a2b", "eval/paloma/c4_en/loss")
    assert line.fractions_at(15_000) == pytest.approx(0.05, abs=1e-3)
    assert line.fractions_at(127_500) == pytest.approx(0.80, abs=1e-2)
    assert np.isnan(line.fractions_at(-1))
    unknown = replace(line, clock=np.empty((2, 0)))
    assert np.isnan(unknown.steps_at([0.1, 0.2])).all()


def test_gaps_are_where_evaluations_are_missing_and_nowhere_else(snapshot, hero_line):
    assert list(hero_line.gaps) == []
    line = dc.main_line(snapshot, "moe-67b", "moe-67b-a2b", "eval/paloma/c4_en/loss")
    (gap,) = line.gaps
    assert line.fractions[gap - 1] == pytest.approx(0.49, abs=1e-3)
    # Evaluations ever further apart are a plan, not a gap.
    x = np.geomspace(0.01, 1, 12)
    assert list(Trajectory(line.plan, x, x, x, 3 - x).gaps) == []
    assert list(Trajectory(line.plan, x[[0, 11]], x[:2], x[:2], x[:2]).gaps) == []
