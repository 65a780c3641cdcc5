"""Forecasters of trajectories: known truth comes back, and what cannot be fitted says so."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import delphi_core as dc
from delphi_core.fits.forecast_line import GRID
from delphi_core.fits.forecasters import FORECAST_METHODS, fit_line
from delphi_core.fits.trajectory import Plan, Trajectory
from delphi_core.fits.trajectory_forecast import TrajectoryFit, extrapolation

SIZES = (6e7, 1.6e8, 4.8e8, 1.2e9)
TARGET = 2.3e10


def plan(params, run="made", *, steps=None):
    """A plan at 790 tokens per parameter, like the hero's rungs; larger ones take more steps."""
    tokens = 790 * params
    taken = 1e4 * (params / 6e7) ** 0.6 if steps is None else steps
    return Plan(run, 6 * params * tokens, tokens, params, taken)


def trajectory(own, values, fractions=GRID):
    """A run that measured values at fractions."""
    fractions = np.asarray(fractions, dtype=float)
    return Trajectory(
        own, fractions, fractions * own.steps, fractions * own.tokens, np.asarray(values)
    )


def surface(own, g):
    """A loss surface along training, in the words of the literature."""
    size, tokens = (own.params / 4e8) ** -0.2, (g * own.tokens / 4e11) ** -0.24
    late = np.logaddexp(0, (np.append(g, 1.0) - 0.8) / 0.03)
    # The rate comes down all along, and faster after 80 %.
    decay = 0.06 * g + 0.05 * late[:-1] / late[-1]
    return 1.4 + 0.5 * size + 0.55 * tokens - decay + 60 / (g * own.steps)


def power_law(own, g):
    """A power law in compute at every fraction, its logarithms smooth in it."""
    log_a, alpha = 4.2 - 0.1 * g, 0.085 - 0.004 * np.log(g)
    return 1.5 + np.exp(log_a - alpha * np.log(own.flops))


def collapsing(own, g):
    """One curve for all, times the final loss."""
    return 1.5 + 80 * own.flops**-0.09 * (1 + 0.4 * (1 - g))


def made(law, sizes=SIZES, fractions=GRID, noise=0.0):
    """Rungs of a law."""
    rng = np.random.default_rng(0)
    plans = [plan(size, f"d{place}") for place, size in enumerate(sizes)]
    return [
        trajectory(own, law(own, fractions) * np.exp(noise * rng.normal(size=len(fractions))))
        for own in plans
    ]


@pytest.mark.parametrize(
    ("method", "law", "asymptote", "within"),
    [
        ("per-fraction", power_law, 1.5, 1e-9),
        ("joint", power_law, 1.5, 1e-9),
        ("collapse", collapsing, 1.5, 1e-9),
        ("surface", surface, 1.4, 1e-3),
        ("surface", surface, None, 1e-3),
    ],
)
def test_a_forecaster_finds_the_law_that_made_its_rungs(method, law, asymptote, within):
    target = plan(TARGET, "target")
    forecast = TrajectoryFit(method, asymptote)(made(law), target)
    assert forecast.value(GRID) == pytest.approx(law(target, GRID), rel=within)


def test_the_profiled_asymptote_is_near_the_true_one():
    forecast = TrajectoryFit()(made(surface), plan(TARGET))
    assert forecast.fitted.asymptote == pytest.approx(1.4, abs=0.05)
    assert forecast.fitted.origin == "profiled"


def test_noise_of_three_tenths_of_a_percent_moves_the_end_by_less_than_two_percent():
    target = plan(TARGET)
    forecast = TrajectoryFit()(made(surface, noise=3e-3), target)
    low, high = forecast.band(GRID)
    assert forecast.value(GRID) == pytest.approx(surface(target, GRID), rel=0.02)
    assert ((low <= surface(target, GRID)) & (surface(target, GRID) <= high)).mean() > 0.9


def test_the_order_of_the_rungs_is_no_matter():
    rungs, target = made(surface, noise=3e-3), plan(TARGET)
    for method in FORECAST_METHODS:
        one, other = (TrajectoryFit(method, 1.3)(own, target) for own in (rungs, rungs[::-1]))
        assert one.value(GRID) == pytest.approx(other.value(GRID), rel=1e-6)
        assert np.stack(one.band(GRID)) == pytest.approx(np.stack(other.band(GRID)), rel=1e-4)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    noise=st.floats(1e-4, 0.05),
    rungs=st.integers(2, 4),
    asymptote=st.sampled_from([None, 0.0, 1.0]),
)
def test_whatever_the_rungs_the_surface_falls_with_the_fraction(seed, noise, rungs, asymptote):
    rng = np.random.default_rng(seed)
    own = [
        trajectory(run.plan, run.values * np.exp(noise * rng.normal(size=20)))
        for run in made(surface)[:rungs]
    ]
    line = TrajectoryFit(asymptote=asymptote)(own, plan(TARGET)).value(np.linspace(0.045, 1, 500))
    assert np.isfinite(line).all()
    assert (np.diff(line) < 1e-12).all()


def test_a_stopped_rung_gives_what_it_has():
    rungs, target = made(power_law), plan(TARGET)
    stopped = rungs[3].part(rungs[3].fractions < 0.82)
    whole, short = (
        TrajectoryFit("per-fraction", 1.5)([*rungs[:3], last], target)
        for last in (rungs[3], stopped)
    )
    assert whole.fitted.continuations == ()
    (continued,) = short.fitted.continuations
    ends = []
    for rung in rungs[:3]:
        slope, intercept = np.polyfit(GRID[11:16], rung.values[11:16], 1)
        ends.append(rung.values[-1] - slope - intercept)
    assert continued.run == "d3"
    assert continued.offset == pytest.approx(np.mean(ends), rel=1e-9)
    early = GRID < 0.82
    assert short.value(GRID[early]).tolist() == whole.value(GRID[early]).tolist()
    # Stopped before 80 %, there is no line to continue it by: the others go on without it.
    shorter = [*rungs[:3], rungs[3].part(rungs[3].fractions < 0.5)]
    forecast = TrajectoryFit("per-fraction", 1.5)(shorter, target)
    assert forecast.fitted.continuations == ()
    assert forecast.value(GRID) == pytest.approx(power_law(target, GRID), rel=1e-9)
    for method in ("joint", "surface"):
        assert np.isfinite(TrajectoryFit(method, 1.3)(shorter, target).value(GRID)).all()


def test_a_later_evaluation_takes_the_place_of_an_earlier_at_the_same_fraction():
    rungs, target = made(power_law), plan(TARGET)
    more = []
    for rung in rungs:
        places = np.sort(np.append(GRID - 0.02, GRID))
        values = np.where(np.isin(places, GRID), power_law(rung.plan, places), 9.0)
        more.append(trajectory(rung.plan, values, places))
    one, other = (TrajectoryFit("per-fraction", 1.5)(own, target) for own in (rungs, more))
    assert one.value(GRID) == pytest.approx(other.value(GRID), rel=1e-12)


def test_a_band_grows_with_the_extrapolation():
    rungs = made(surface, noise=3e-3)
    widths, factors = [], []
    for size in (1e9, 1e10, 1e11):
        forecast = TrajectoryFit()(rungs, plan(size))
        low, high = forecast.band(1.0)
        widths.append(float(np.log(high / low)))
        factors.append(extrapolation(rungs, plan(size)))
    assert widths[0] < widths[1] < widths[2]
    assert np.divide(widths, widths[0]) == pytest.approx(np.divide(factors, factors[0]))
    # At the mean of ln C of four runs: sqrt(1 + 1/4).
    middle = np.exp(np.mean([np.log(rung.plan.flops) for rung in rungs]))
    assert extrapolation(rungs, Plan("x", middle, 1e9, 1e9, 1e3)) == pytest.approx(np.sqrt(1.25))


def test_two_rungs_leave_the_asymptote_open_and_say_so():
    rungs = made(surface)[2:]
    for method in FORECAST_METHODS:
        forecast = TrajectoryFit(method)(rungs, plan(TARGET))
        least = min(rung.values.min() for rung in rungs)
        assert forecast.fitted.asymptote == pytest.approx(0.6 * least)
        assert "assumed at 0.6 of the rungs' least loss" in forecast.describe()
        low, high = forecast.band(GRID)
        # Per-fraction goes through both: that it has no residuals makes it no surer.
        assert (high / low > np.exp(2 * 2.9 * 3e-3)).all() or method != "per-fraction"


def test_three_rungs_of_one_point_leave_it_open_too():
    rungs = [trajectory(rung.plan, rung.values[15:16], GRID[15:16]) for rung in made(surface)[1:]]
    forecast = TrajectoryFit("per-fraction")(rungs, plan(TARGET))
    assert forecast.fitted.origin == "assumed"
    assert "profiled" not in forecast.describe()
    assert np.isfinite(forecast.value(0.8))
    for method in ("joint", "collapse", "surface"):
        words = f"{method} needs whole trajectories, and these rungs have 3 evaluations: use per"
        with pytest.raises(dc.FitError, match=words):
            TrajectoryFit(method, 1.0)(rungs, plan(TARGET))


def spread(*parts):
    """Rungs that have evaluations between two fractions only."""
    return [
        rung.part((low <= rung.fractions) & (rung.fractions <= high))
        for rung, (low, high) in zip(made(surface), parts, strict=False)
    ]


def test_rungs_without_a_common_fraction():
    rungs, target = spread((0.0, 0.3), (0.35, 0.6), (0.65, 1.0)), plan(TARGET)
    with pytest.raises(dc.FitError, match="the rungs have no fraction of training in common"):
        TrajectoryFit("per-fraction", 1.0)(rungs, target)
    with pytest.raises(dc.FitError, match="collapse needs two rungs that finished"):
        TrajectoryFit("collapse", 1.0)(rungs, target)
    # The surface is one law of all evaluations: it needs no common fraction.
    forecast = TrajectoryFit(asymptote=1.4)(rungs, target)
    assert forecast.value(GRID) == pytest.approx(surface(target, GRID), rel=0.03)


def test_rungs_of_one_size_at_a_fraction_fit_nothing_there():
    rungs = made(power_law, (6e7, 6e7, 4.8e8))
    rungs[2] = rungs[2].part(rungs[2].fractions < 0.52)
    forecast = TrajectoryFit("per-fraction", 1.5)(rungs, plan(TARGET))
    assert forecast.fitted.fractions == (0.05, 0.5)
    assert np.isnan(forecast.value(0.6))
    low, high = forecast.band(GRID[:10])
    assert (low < high).all()


def test_a_continuation_below_the_asymptote_is_left_out():
    rungs, target = made(power_law), plan(TARGET)
    places = rungs[3].fractions
    steep = np.where(places > 0.58, power_law(rungs[3].plan, places) - 2 * (places - 0.55), 3.0)
    stopped = trajectory(rungs[3].plan, steep).part(places < 0.82)
    forecast = TrajectoryFit("per-fraction", 1.5)([*rungs[:3], stopped], target)
    assert np.isfinite(forecast.value(GRID)).all()
    assert forecast.value(1.0) == pytest.approx(power_law(target, np.array(1.0)), rel=1e-9)


@pytest.mark.parametrize("method", FORECAST_METHODS)
def test_what_cannot_be_forecast_is_one_sentence(method):
    rungs, target = made(surface), plan(TARGET)
    fit = TrajectoryFit(method, 1.0)
    early = [rung.part(rung.fractions < 0) for rung in rungs]
    below = [*rungs[:3], trajectory(rungs[3].plan, rungs[3].values - 2)]
    cases = [
        ([], "a forecast needs two rungs with evaluations; no rung has"),
        (early, "a forecast needs two rungs with evaluations; no rung has"),
        ([*early[:3], rungs[3]], "a forecast needs two rungs with evaluations; one rung has"),
        (made(surface, [6e7] * 3), "the rungs are all of 1.706e.19 FLOP: a forecast needs two"),
        (below, "E is pinned at 1, and a rung reaches 0"),
    ]
    for own, words in cases:
        with pytest.raises(dc.FitError, match=words) as caught:
            fit(own, target)
        assert len(str(caught.value).splitlines()) == 1
    negative = [*rungs[:3], trajectory(rungs[3].plan, rungs[3].values - 9)]
    for asymptote in (None, 0.0):
        with pytest.raises(dc.FitError, match=r"a rung has the value -.*; these laws are of pos"):
            TrajectoryFit(method, asymptote)(negative, target)


def test_a_rung_without_a_size_is_named():
    own = plan(6e7, "d0")
    unknown = Plan("d0", own.flops, own.tokens, float("nan"), own.steps)
    rungs = made(surface)
    rungs[0] = trajectory(unknown, rungs[0].values)
    with pytest.raises(dc.FitError, match="run d0 has no planned size; the surface needs it"):
        TrajectoryFit(asymptote=1.4)(rungs, plan(TARGET))
    assert np.isfinite(TrajectoryFit("joint", 1.4)(rungs, plan(TARGET)).value(GRID)).all()


def test_without_planned_steps_tokens_tell_the_fraction():
    target = plan(TARGET)
    with_steps = made(power_law)
    without = [
        Trajectory(
            plan(rung.plan.params, rung.plan.run, steps=float("nan")),
            rung.fractions,
            np.full(20, np.nan),
            rung.tokens,
            rung.values,
        )
        for rung in with_steps
    ]
    one, other = (TrajectoryFit("per-fraction", 1.5)(own, target) for own in (with_steps, without))
    assert one.value(GRID).tolist() == other.value(GRID).tolist()
    assert np.isfinite(TrajectoryFit()(without, target).value(GRID)).all()


def test_a_rung_whose_steps_are_near_no_twentieth_plays_no_part():
    rungs = made(power_law)
    first = rungs[0].part(rungs[0].fractions < 0.06)
    # Its batch grew: 5 % of the tokens in 1 % of the steps.
    slow = Trajectory(first.plan, first.fractions, first.steps / 5, first.tokens, first.values)
    one, other = (
        fit_line("per-fraction", own, asymptote=1.5).line(plan(TARGET), GRID)
        for own in (rungs[1:], [slow, *rungs[1:]])
    )
    assert one.tolist() == other.tolist()


def test_plans_and_lines_that_are_none_are_refused():
    for flops, tokens, name in ((float("nan"), 1e9, "flops"), (1e20, 0.0, "tokens")):
        with pytest.raises(dc.FitError, match=f"run d0 has no planned {name}; add them to runs"):
            Plan("d0", flops, tokens, 1e9, 1e4)
    own = plan(6e7, "d0")
    with pytest.raises(dc.FitError, match="the fractions of run d0 do not increase"):
        trajectory(own, [3.0, 2.9, 2.8], [0.1, 0.3, 0.2])
    with pytest.raises(dc.FitError, match="the line of run d0 has a missing number"):
        trajectory(own, [3.0, np.nan, 2.8], [0.1, 0.2, 0.3])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "surfaces"}, "no method 'surfaces'; did you mean 'surface'"),
        ({"level": 2}, "level is '2'; it must be from 0.5 to 0.99"),
        ({"level": float("nan")}, "level is 'nan'"),
        ({"asymptote": -1}, "E is pinned at '-1'; it must be 0 or positive"),
        ({"asymptote": float("inf")}, "E is pinned at 'inf'"),
    ],
)
def test_settings_that_are_none_are_refused(options, words):
    with pytest.raises(dc.FitError, match=words):
        TrajectoryFit(**options)
