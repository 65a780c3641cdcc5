"""Macro losses without some of their subsets."""

import numpy as np
import pytest

import delphi_core as dc
from delphi_core.macro import line_of, subsets_of
from delphi_core.trajectories import target_named
from delphi_core.trajectory_tables import forecast_of

HERO = "eval_dropless/paloma/macro_loss"
HERO_RUN = "hero-535b-a23b"
C4 = "eval/paloma/c4_en/loss"


@pytest.fixture(scope="module")
def hero_line(snapshot):
    """The hero's macro loss."""
    return dc.main_line(snapshot, "hero", HERO_RUN, HERO)


def test_a_macro_loss_is_the_mean_of_its_subsets(snapshot, hero_line):
    target = target_named(snapshot, "hero")
    names = subsets_of(snapshot, target, HERO)
    assert len(names) == 16
    lines = [
        dc.main_line(snapshot, "hero", HERO_RUN, f"eval_dropless/paloma/{name}/loss")
        for name in names
    ]
    for without in ((), ("ptb",), ("ptb", "gab"), names[:15]):
        kept = [line.values for name, line in zip(names, lines, strict=True) if name not in without]
        own = line_of(snapshot, "hero", HERO_RUN, HERO, without)
        assert own.values == pytest.approx(np.mean(kept, axis=0), abs=3e-7)
        assert list(own.fractions) == list(hero_line.fractions)


def test_leaving_out_what_is_not_there_is_refused(snapshot):
    target = target_named(snapshot, "hero")
    with pytest.raises(dc.DataError, match=r"no subset 'pbt'; did you mean 'ptb'\?"):
        forecast_of(snapshot, target, HERO, without=("pbt",))
    with pytest.raises(dc.DataError, match=r"no subset of .* is left"):
        forecast_of(snapshot, target, HERO, without=subsets_of(snapshot, target, HERO))
    for name, metric in (("67b", "eval/paloma/macro_loss"), ("hero", C4)):
        with pytest.raises(dc.DataError, match="is no mean of subsets"):
            forecast_of(snapshot, target_named(snapshot, name), metric, without=("c4_en",))


def test_what_is_pinned_for_a_macro_loss_is_not_pinned_without_a_subset(snapshot):
    target = target_named(snapshot, "hero")
    whole, part = (
        forecast_of(snapshot, target, HERO),
        forecast_of(snapshot, target, HERO, without=("ptb",)),
    )
    assert (whole.fitted.origin, part.fitted.origin) == ("pinned", "profiled")
    assert part.settings.offset is None
