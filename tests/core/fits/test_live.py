"""Reading a live run: alarms, their false rate, and the end re-forecast from a prefix."""

import numpy as np
import pandas as pd
import pytest

from delphi_core.fits.live import alarms, false_alarm_rate, reforecast
from delphi_core.fits.trajectory import Plan, Trajectory
from delphi_core.fits.trajectory_forecast import TrajectoryFit
from delphi_core.trajectories import main_line, target_named
from delphi_core.trajectory_tables import forecast_of


def raised(*outside):
    """Alarms where evaluations are 1.6 times the band above (1) or below (-1), or inside (0)."""
    actual = np.array(outside, dtype=float)
    levels = (np.full(len(actual), np.exp(value)) for value in (0, -0.1, 0.1))
    return alarms(*levels, np.exp(0.16 * actual)).tolist()


def test_an_alarm_takes_three_of_the_latest_five_on_one_side():
    assert raised(1, 0, 1, 0, 1) == [False] * 4 + [True]
    assert raised(1, -1, 1, -1, 1) == [False] * 4 + [True]
    assert raised(1, -1, 0, -1, 1) == [False] * 5
    assert raised(1, 1, 0, 0, 0, 0, 1, 1) == [False] * 8
    assert raised(1, 1, 1, 0, 0, 0) == [False, False, True, True, True, False]
    assert raised() == []
    # Outside the band, but not so far.
    assert raised(0.7, 0.7, 0.7, 0.7, 0.7) == [False] * 5


def test_the_false_alarm_rate_counts_curves_not_evaluations():
    steps = np.linspace(0.1, 1, 10)
    rows = pd.DataFrame(
        {"fraction": steps, "predicted": 2.0, "low": 1.9, "high": 2.1, "kind": "left out"}
    )
    quiet, loud = rows.assign(run="a", actual=2.0), rows.assign(run="b", actual=2.3)
    assert false_alarm_rate(pd.concat([quiet, loud])) == (1, 2)
    # The order of rows is not that of training.
    late = rows.assign(run="c", actual=[2, 2, 3, 2, 2, 2, 2, 3, 2, 3])
    assert false_alarm_rate(late) == (0, 1)
    assert false_alarm_rate(late.sample(frac=1, random_state=0)) == (0, 1)


def ladder(off):
    """Rungs of one exact law, each off it by a factor of its own from the first evaluation on."""
    g = np.linspace(0.05, 1, 20)
    rungs = []
    for place, share in enumerate(off):
        size = 1e8 * 4**place
        plan = Plan(f"r{place}", 6 * size * 500 * size, 500 * size, size, 1e4)
        values = (1.5 + 0.8 * 4 ** (-0.2 * place) + 0.3 * (g * 4**place) ** -0.2) * share
        rungs.append(Trajectory(plan, g, g * 1e4, g * plan.tokens, values))
    return rungs


def test_an_error_that_rungs_keep_to_their_end_is_kept_in_the_reforecast():
    rungs = ladder([1.004, 0.996, 1.005, 0.997, 1.0])
    *smaller, target = rungs
    forecast = TrajectoryFit("joint", 1.4)(smaller, target.plan)
    begun = target.part(target.fractions <= 0.5)
    again = reforecast(forecast, begun)
    assert again.fraction == pytest.approx(0.5)
    assert 0 <= again.share <= 1
    assert again.low < again.predicted < again.high
    off = again.predicted / float(forecast.value(1.0)) - 1
    assert off == pytest.approx(again.share * again.off_pct / 100, rel=0.02)


def test_the_forecast_made_before_stays_what_it_was(snapshot):
    target = target_named(snapshot, "hero")
    forecast = forecast_of(snapshot, target, target.metric)
    before = forecast.value(np.linspace(0.05, 1, 20)).tobytes()
    measured = main_line(snapshot, "hero", target.run, target.metric)
    assert reforecast(forecast, measured) is not None
    assert forecast.value(np.linspace(0.05, 1, 20)).tobytes() == before


def test_with_too_little_to_learn_from_there_is_no_reforecast(snapshot):
    target = target_named(snapshot, "delphi-1e23")
    forecast = forecast_of(snapshot, target, target.metric)
    measured = main_line(snapshot, "delphi", target.run, target.metric)
    assert reforecast(forecast, measured) is None
    assert reforecast(forecast, measured.part(measured.fractions < 0)) is None
