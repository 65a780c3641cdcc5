"""The valley around the optimum: known truth is recovered, its form chosen by backtests."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import delphi_core as dc
from delphi_core.errors import FitError
from delphi_core.fits.law_choice import CHOSEN_ON, default_curve
from delphi_core.fits.valley import Offsets, fit_valley, offsets_of, shape
from delphi_core.fits.valley_backtest import (
    DEFAULT_VALLEY,
    VALLEYS,
    valley_backtest,
    valley_scores,
)
from delphi_core.plan_tables import valley_backtest_of

MACRO = "eval/paloma/macro_loss"


def made(a, b, log_scale, alpha, *, noise=0.0):
    """Runs of five budgets in a valley that is known."""
    flops = np.repeat(np.geomspace(1e18, 1e20, 5), 9)
    u = np.tile(np.linspace(-1.5, 1.8, 9), 5)
    above = np.exp(log_scale - alpha * np.log(flops)) * shape(u, a, b)
    above += noise * np.random.default_rng(0).normal(size=len(u))
    return Offsets(flops, u, above, 5, "params")


@settings(deadline=None, max_examples=20)
@given(st.floats(0.1, 1.5), st.floats(0.1, 1.5), st.floats(0.03, 0.15))
def test_a_valley_without_noise_is_recovered(a, b, alpha):
    offsets = made(a, b, 6.0, alpha)
    for known in (alpha, None):
        found = fit_valley(offsets, known)
        np.testing.assert_allclose(found.exponents, (a, b), rtol=1e-4)
        np.testing.assert_allclose(found.compute_exponent, alpha, rtol=1e-4)
        np.testing.assert_allclose(
            found.rise(offsets.flops, offsets.u), offsets.above, atol=1e-6 * offsets.above.max()
        )
        # Beyond the runs, and at another compute.
        expected = np.exp(6.0 - alpha * np.log(1e22)) * shape(np.array([-3.0, 3.0]), a, b)
        np.testing.assert_allclose(found.rise(1e22, [-3.0, 3.0]), expected, rtol=2e-3)


def test_the_optimum_is_the_floor():
    valley = fit_valley(made(0.3, 0.6, 6.0, 0.1, noise=0.003), 0.1)
    u = np.linspace(-4, 4, 401)
    rise = valley.rise(1e22, u)
    assert rise[200] == 0
    assert (np.diff(rise[:201]) < 0).all()
    assert (np.diff(rise[200:]) > 0).all()
    assert abs(valley.rise(1e22, 1e-6) / 1e-6) < 1e-6


def test_it_is_what_a_loss_surface_leaves_on_an_isoflop_curve():
    e, a, b, alpha, beta, k = 1.7, 400.0, 900.0, 0.34, 0.29, 6.0
    rows = []
    for flops in np.geomspace(1e18, 1e20, 5):
        g = (alpha * a / (beta * b)) ** (1 / (alpha + beta))
        optimum = g * (flops / k) ** (beta / (alpha + beta))
        for u in np.linspace(-1.2, 1.4, 7):
            n = optimum * np.exp(u)
            loss = e + a * n**-alpha + b * (flops / (k * n)) ** -beta
            best = e + a * optimum**-alpha + b * (flops / (k * optimum)) ** -beta
            rows.append((flops, u, loss - best))
    flops, u, above = np.array(rows).T
    valley = fit_valley(Offsets(flops, u, above, 5, "params"), alpha * beta / (alpha + beta))
    np.testing.assert_allclose(valley.exponents, (alpha, beta), rtol=1e-5)
    assert valley.error < 1e-8


@settings(deadline=None, max_examples=20)
@given(st.floats(0.01, 100.0))
def test_the_unit_of_the_loss_and_the_order_of_runs_change_nothing(unit):
    offsets = made(0.3, 0.6, 6.0, 0.1, noise=0.003)
    own = fit_valley(offsets, 0.1)
    scaled = fit_valley(replace(offsets, above=unit * offsets.above), 0.1)
    np.testing.assert_allclose(scaled.exponents, own.exponents, rtol=1e-4)
    np.testing.assert_allclose(scaled.rise(1e22, 1.0), unit * own.rise(1e22, 1.0), rtol=1e-4)
    order = np.random.default_rng(1).permutation(len(offsets))
    mixed = Offsets(offsets.flops[order], offsets.u[order], offsets.above[order], 5, "params")
    np.testing.assert_allclose(fit_valley(mixed, 0.1).exponents, own.exponents, rtol=1e-5)


def test_offsets_are_those_of_each_budgets_own_optimum(snapshot):
    isoflop = dc.fit_isoflops(snapshot.records("delphi", MACRO), method="cubic")
    offsets = offsets_of(isoflop)
    assert (len(offsets), offsets.budgets, offsets.along) == (78, 7, "tokens")
    budget = isoflop.optima[2]
    own = offsets_of(isoflop, slice(2, 3))
    rows = isoflop.points[isoflop.points["budget_flops"] == budget.flops]
    np.testing.assert_allclose(np.exp(-own.u) * budget.optimal_tokens, rows["tokens"])
    np.testing.assert_allclose(own.above + budget.loss_at_optimal, rows["value"])
    moe = dc.fit_isoflops(snapshot.records("moe-v16", MACRO), x="active_params", method="cubic")
    own, budget = offsets_of(moe, slice(1, 2)), moe.optima[1]
    rows = moe.points[moe.points["used"] & (moe.points["budget_flops"] == budget.flops)]
    np.testing.assert_allclose(np.exp(own.u) * budget.optimal_params, rows["params"])


def test_too_few_runs_and_no_rise_are_refused():
    few = Offsets(np.full(5, 1e18), np.arange(5.0), np.arange(5.0), 1, "params")
    with pytest.raises(FitError, match="a valley needs 6 runs in budgets that have an optimum"):
        fit_valley(few, 0.1)
    down = made(0.3, 0.6, 6.0, 0.1)
    with pytest.raises(FitError, match="do not rise"):
        fit_valley(replace(down, above=-down.above), 0.1)


@pytest.fixture(scope="module")
def backtests(snapshot):
    """Backtests of the ladders the choice is made on."""
    return {ladder: valley_backtest_of(snapshot, ladder) for ladder in CHOSEN_ON}


def test_the_form_that_is_used_is_the_one_backtests_prefer(backtests):
    scores = valley_scores(backtests)
    assert set(scores["valley"]) == set(VALLEYS)
    assert scores["valley"][0] == DEFAULT_VALLEY
    nothing = scores[scores["valley"] == "none: no rise"].iloc[0]
    for ladder in CHOSEN_ON:
        # Far better than taking the optimum's loss for every size.
        assert scores[ladder][0] < 0.3 * nothing[ladder]


def test_a_backtest_sees_later_budgets_only(backtests, snapshot):
    rows = backtests["delphi"]
    assert (rows["flops"] > rows["cut_flops"]).all()
    assert rows["cut_flops"].nunique() == 3
    records = snapshot.records("delphi", MACRO)
    changed = records.assign(
        value=records["value"].where(~records["role"].isin(["heldout", "target"]), 9.0)
    )
    fit = dc.IsoflopFit(method=default_curve(records, "tokens"))
    pd.testing.assert_frame_equal(valley_backtest(changed, fit), rows)


def test_later_budgets_change_no_forecast_of_an_earlier_cut(backtests, snapshot):
    records = snapshot.records("delphi", MACRO)
    fit = dc.IsoflopFit(method="cubic")
    last = records["budget"] == records["budget"].where(records["role"] == "isoflop").max()
    changed = records.assign(value=records["value"] + 0.1 * last)
    rows, other = backtests["delphi"], valley_backtest(changed, fit)
    np.testing.assert_array_equal(rows["forecast"], other["forecast"])


def test_fewer_than_five_budgets_cannot_be_backtested(snapshot):
    rows = valley_backtest_of(snapshot, "moe-aug-hero")
    assert rows.empty
    assert "error" in rows
