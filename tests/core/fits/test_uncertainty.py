"""Intervals of optima: coverage on made ladders, and what they say where rows say little."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import delphi_core as dc
from delphi_core import export
from delphi_core.fits.doubts import Flag
from delphi_core.fits.minimum import local_minimum
from delphi_core.fits.uncertainty import (
    bootstrap_replicates,
    fieller_interval,
    minimum_interval,
    residual_replicates,
    size_groups,
)

MACRO = "eval/paloma/macro_loss"


def made_up(log_tokens, loss, flops=1e20):
    """Records of one budget, with params = C / 6D."""
    tokens = 10 ** np.asarray(log_tokens)
    return pd.DataFrame(
        {
            "tokens": tokens,
            "metric": "loss",
            "value": loss,
            "flops": flops,
            "params": flops / 6 / tokens,
            "label": "made_up",
        }
    )


@pytest.mark.parametrize("points", [5, 9, 15])
@pytest.mark.parametrize(("noise", "best"), [(0.004, 10.0), (0.012, 10.3)])
def test_ninety_percent_intervals_cover_85_to_95_percent(points, noise, best):
    rng = np.random.default_rng(points)
    x = np.linspace(9, 11, points)
    hits = 0
    for repeat in range(400):
        loss = 3 + 0.3 * (x - best) ** 2 + noise * rng.normal(size=points)
        fit = dc.IsoflopFit(seed=repeat)(made_up(x, loss))
        interval = fit.budgets[0].interval
        hits += interval.low <= 10**best <= interval.high
    assert 0.85 <= hits / 400 <= 0.95
    assert interval.level == 0.9
    assert interval.method == ("fieller" if points < 6 else "bootstrap")


def test_six_and_seven_points_do_not_cover_too_little():
    rng = np.random.default_rng(1)
    for points in (6, 7):
        u = np.linspace(-1, 1, points)
        hits = 0
        for repeat in range(300):
            loss = 0.3 * u**2 + 0.01 * rng.normal(size=points)
            options = {"degree": 2, "level": 0.9, "replicates": 500, "seed": (repeat,)}
            interval = minimum_interval(u, loss, size_groups(u), **options)
            hits += interval.low <= 0 <= interval.high
        assert hits / 300 >= 0.82


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95])
def test_wider_levels_hold_narrower_ones(level, snapshot):
    records = snapshot.records("delphi", MACRO)
    wide = dc.fit_isoflops(records, level=0.99)
    narrow = dc.fit_isoflops(records, level=level)
    for outer, inner in zip(wide.budgets, narrow.budgets, strict=True):
        assert outer.interval.low <= inner.interval.low <= inner.interval.high
        assert inner.interval.high <= outer.interval.high
        assert inner.interval.level == level
        # The optimum itself hangs on no level.
        assert inner.optimal_tokens == outer.optimal_tokens


def test_the_same_seed_gives_the_same_bits_and_budgets_do_not_share_draws(snapshot):
    records = snapshot.records("delphi", MACRO)
    fit, again = dc.fit_isoflops(records), dc.fit_isoflops(records.sample(frac=1, random_state=3))
    assert [b.interval for b in again.budgets] == [b.interval for b in fit.budgets]
    other = dc.IsoflopFit(seed=1)(records)
    assert [b.interval for b in other.budgets] != [b.interval for b in fit.budgets]
    # A budget's interval is the same whichever others are fitted beside it.
    alone = dc.fit_isoflops(records[records["budget"] == 9e18])
    assert alone.budgets[0].interval == fit.budgets[1].interval


@given(factor=st.floats(0.1, 10), scale=st.floats(0.1, 10), shift=st.floats(-1, 1))
@settings(deadline=None, max_examples=20)
def test_intervals_follow_units_and_offsets(factor, scale, shift):
    x = np.linspace(9, 11, 9)
    loss = 3 + 0.3 * (x - 9.9) ** 2 + 0.02 * np.sin(9 * x)
    base = dc.fit_isoflops(made_up(x, loss)).budgets[0].interval
    moved = made_up(x + np.log10(factor), scale * loss + shift)
    other = dc.fit_isoflops(moved).budgets[0].interval
    assert other.low == pytest.approx(factor * base.low, rel=1e-6)
    assert other.high == pytest.approx(factor * base.high, rel=1e-6)


def test_vectorised_replicates_are_the_plain_ones():
    rng = np.random.default_rng(0)
    u = np.sort(rng.uniform(-1, 1, 12))
    values = 0.4 * u**2 - 0.1 * u + 0.05 * rng.normal(size=12)
    for degree in (2, 3):
        options = {"degree": degree, "replicates": 200, "seed": (5,)}
        fast = bootstrap_replicates(u, values, size_groups(u), **options)
        drawn = np.random.default_rng((5,)).multinomial(12, np.full(12, 1 / 12), size=200)
        for powers, weights in zip(fast, drawn, strict=True):
            rows = np.repeat(np.arange(12), weights)
            if len(np.unique(rows)) <= degree + 1:
                assert np.isnan(powers).all()
            else:
                plain = np.polyfit(u[rows], values[rows], degree)[::-1]
                assert powers == pytest.approx(plain, rel=1e-6, abs=1e-8)


def test_residual_replicates_vary_as_the_noise_does():
    u = np.linspace(-1, 1, 7)
    rng = np.random.default_rng(2)
    noise = 0.1
    spread = []
    for repeat in range(200):
        values = u**2 + noise * rng.normal(size=7)
        spread.append(residual_replicates(u, values, 2, 200, (repeat,)).var(axis=0))
    design = np.vander(u, 3, increasing=True)
    expected = noise**2 * np.diag(np.linalg.inv(design.T @ design))
    assert np.mean(spread, axis=0) == pytest.approx(expected, rel=0.25)


def test_fieller_agrees_with_a_scan_of_its_definition():
    u = np.array([-1.0, -0.4, 0.1, 0.6, 1.0])
    values = 0.5 * u**2 + 0.03 * np.array([1, -2, 1, 1, -1])
    interval = fieller_interval(u, values, level=0.9)
    design = np.vander(u, 3, increasing=True)
    powers = np.linalg.lstsq(design, values, rcond=None)[0]
    residuals = values - design @ powers
    covariance = residuals @ residuals / 2 * np.linalg.inv(design.T @ design)
    z = np.linspace(-2, 2, 400_001)
    slope = powers[1] + 2 * powers[2] * z
    variance = covariance[1, 1] + 4 * z * covariance[1, 2] + 4 * z**2 * covariance[2, 2]
    inside = z[slope**2 <= 2.919986**2 * variance]
    assert (interval.low, interval.high) == pytest.approx((inside[0], inside[-1]), abs=2e-5)


def test_no_degree_of_freedom_gives_no_interval():
    x = np.array([9.0, 10, 11])
    (budget,) = dc.fit_isoflops(made_up(x, 3 + 0.1 * (x - 10) ** 2)).budgets
    assert budget.interval.method == "none"
    assert (budget.interval.low, budget.interval.high) == (0.0, np.inf)
    row = export.optima_table(dc.fit_isoflops(made_up(x, 3 + 0.1 * (x - 10) ** 2))).iloc[0]
    assert row[["low", "high", "level"]].isna().all()
    assert budget.flags == (Flag.FEW_POINTS,)
    assert "no degree of freedom" in budget.interval.describe("tokens")


@pytest.mark.parametrize("points", [5, 9, 15])
def test_flat_budgets_are_flagged_and_have_no_narrow_interval(points):
    rng = np.random.default_rng(points)
    x = np.linspace(9, 11, points)
    optima = narrow = 0
    for repeat in range(200):
        loss = 3 + 0.1 * rng.normal(size=points)
        (budget,) = dc.IsoflopFit(seed=repeat)(made_up(x, loss)).budgets
        if budget.optimal_x is None:
            assert {Flag.CONCAVE, Flag.NO_MINIMUM} & set(budget.flags)
            continue
        optima += 1
        bounded = budget.interval.low > 10**9 and budget.interval.high < 10**11
        narrow += bounded
        assert bounded or budget.interval.high / max(budget.interval.low, 1e-300) > 10
        if budget.interval.low <= 10**9 and budget.interval.high >= 10**11:
            assert Flag.FLAT in budget.flags
    assert optima > 50
    # Noise alone looks curved upwards in one of twenty budgets, one in ten of those with optima.
    assert narrow / optima <= 0.17


@pytest.mark.parametrize("points", [5, 9, 15])
@pytest.mark.parametrize("best", [8.6, 11.4])
def test_edge_optima_are_open_on_the_far_side(points, best):
    x = np.linspace(9, 11, points)
    noise = 1e-3 * np.random.default_rng(points).normal(size=points)
    (budget,) = dc.fit_isoflops(made_up(x, 3 + 0.3 * (x - best) ** 2 + noise)).budgets
    assert Flag.EDGE in budget.flags
    if best > 11:
        assert budget.interval.high == np.inf
        assert budget.interval.low <= 10**11
        assert "up" in budget.interval.describe("tokens")
    else:
        assert budget.interval.low == 0.0
        assert budget.interval.high >= 10**9
        assert "up to" in budget.interval.describe("tokens")


@pytest.mark.parametrize("points", [5, 9, 15])
def test_concave_budgets_have_neither_optimum_nor_interval(points):
    x = np.linspace(9, 11, points)
    noise = 1e-3 * np.random.default_rng(points).normal(size=points)
    (budget,) = dc.fit_isoflops(made_up(x, 3 - 0.3 * (x - 10) ** 2 + noise)).budgets
    assert Flag.CONCAVE in budget.flags
    assert budget.optimal_tokens is None
    assert budget.interval is None


def test_sets_of_rows_of_no_use_are_counted(snapshot):
    fit = dc.fit_isoflops(snapshot.records("moe-v16", MACRO), x="active_params")
    failed = {b.runs: b.interval.failed for b in fit.budgets if b.interval.method == "bootstrap"}
    assert failed[6] > failed[7] > 0
    assert f"{sum(b.interval.failed for b in fit.budgets):,} of them no use" in fit.describe()


def test_level_out_of_range_is_refused():
    for level in (0.0, 0.4, 1.0, 90.0):
        with pytest.raises(dc.FitError, match=r"it must be from 0\.5 to 0\.99"):
            dc.IsoflopFit(level=level)


@given(
    st.lists(st.floats(-5, 5), min_size=4, max_size=4).filter(
        lambda powers: max(abs(power) for power in powers[1:]) > 1e-3
    )
)
@settings(deadline=None)
def test_local_minimum_is_one(powers):
    _, b, a, d = powers
    u = float(local_minimum(np.array(powers)))
    if np.isnan(u) or abs(u) > 1e4:
        return
    assert b + 2 * a * u + 3 * d * u**2 == pytest.approx(0, abs=1e-6 * (1 + abs(u) ** 2))
    assert 2 * a + 6 * d * u >= -1e-6 * (1 + abs(u))


@pytest.mark.parametrize("apart", [0.0, 1e-14, 1e-10, 1e-8, 1e-6, 2e-4])
@pytest.mark.parametrize("method", ["parabola", "cubic"])
def test_sizes_that_are_nearly_the_same_are_replicates(apart, method):
    rng = np.random.default_rng(4)
    x = np.array([9.0, 9.0 + apart, 9.0 + 2 * apart, 9.3, 9.3 + apart, 9.3 + 2 * apart])
    loss = 3 + 0.1 * (x - 9.2) ** 2 + 0.01 * rng.normal(size=6)
    (budget,) = dc.fit_isoflops(made_up(x, loss), method=method).budgets
    assert budget.curve is None
    assert "at 2 token counts" in budget.sentences[0]


def test_dense_sampling_is_not_one_size():
    assert size_groups(np.linspace(9, 10, 5000)).max() > 500
    assert size_groups(np.array([9.0, 8.0, 9.0002, 8.5])).tolist() == [2, 0, 2, 1]


@pytest.mark.parametrize("best", [9.1, 9.25, 9.3, 9.4])
def test_points_without_noise_have_the_narrowest_interval(best):
    x = np.linspace(8.5, 10, 5)
    (budget,) = dc.fit_isoflops(made_up(x, 3 + 0.1 * (x - best) ** 2)).budgets
    assert budget.interval.low == pytest.approx(10**best, rel=1e-4)
    assert budget.interval.high == pytest.approx(10**best, rel=1e-4)
    assert Flag.FLAT not in budget.flags
