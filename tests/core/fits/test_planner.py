"""Plans: what the laws say, what deviating costs, and what chips give."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import delphi_core as dc
from delphi_core.errors import FitError
from delphi_core.fits.deviations import OVERTRAINING, deviation_at, deviations
from delphi_core.fits.law_methods import LawMethod
from delphi_core.fits.law_settings import LawSettings
from delphi_core.fits.nearest_runs import nearest_runs
from delphi_core.fits.planner import PlannerFit
from delphi_core.fits.recipe import flops_per_token, params_of
from delphi_core.fits.size_cost import size_cost
from delphi_core.fits.training_budget import check_budget, chips_flops

MACRO = "eval/paloma/macro_loss"
QUICK = LawSettings(band="delta")


@pytest.fixture(scope="module")
def planner(snapshot):
    """Delphi's planner."""
    return PlannerFit(settings=QUICK)(snapshot.records("delphi", MACRO))


@pytest.fixture(scope="module")
def moe(snapshot):
    """That of the MoE v16 ladder, along active parameters."""
    fit = PlannerFit(settings=QUICK, x="active_params")
    return fit(snapshot.records("moe-v16", MACRO))


def made_ladder():
    """Records of a ladder whose surface is known: L = 1.7 + 400 N^-.34 + 900 D^-.29, C = 6 N D."""
    rows = []
    for flops in np.geomspace(1e18, 1e20, 6):
        optimum = made_optimum(flops)
        for u in np.linspace(-1, 1, 9):
            n = optimum * np.exp(u)
            rows.append((flops / (6 * n), MACRO, made_loss(flops, n), flops, n, "made"))
    return pd.DataFrame(rows, columns=["tokens", "metric", "value", "flops", "params", "label"])


def made_optimum(flops):
    return (0.34 * 400 / (0.29 * 900)) ** (1 / 0.63) * (flops / 6) ** (0.29 / 0.63)


def made_loss(flops, params):
    return 1.7 + 400 * params**-0.34 + 900 * (flops / (6 * params)) ** -0.29


def test_a_known_ladder_is_planned_and_its_valley_met():
    records = made_ladder()
    for x in ("tokens", "params"):
        planner = PlannerFit(settings=QUICK, x=x)(records)
        plan = planner.plan(1e21)
        optimum = made_optimum(1e21)
        assert plan.params == pytest.approx(optimum, rel=0.02)
        assert plan.optimal_params == pytest.approx(optimum, rel=0.02)
        assert plan.optimal_tokens == pytest.approx(1e21 / 6 / optimum, rel=0.02)
        assert plan.spent == pytest.approx(1, abs=0.02)
        assert plan.predicted == pytest.approx(made_loss(1e21, optimum), abs=0.002)
        rows = deviations(planner, plan)
        expected = [made_loss(1e21, n) - made_loss(1e21, optimum) for n in rows["params"]]
        np.testing.assert_allclose(rows["above"], expected, atol=0.004, rtol=0.05)


@pytest.mark.parametrize("flops", [3e18, 1e22, 1e26])
def test_a_plan_is_what_the_laws_say(snapshot, planner, flops):
    isoflop = dc.fit_isoflops(snapshot.records("delphi", MACRO), method="cubic")
    plan, law = planner.plan(flops), dc.fit_loss_law(isoflop, band="delta").predict(flops)
    tokens, params = dc.fit_token_law(isoflop), dc.fit_params_law(isoflop)
    assert plan.optimal_tokens == plan.tokens == tokens.predict(flops)
    assert plan.optimal_params == params.predict(flops)
    assert (plan.predicted, plan.low, plan.high) == (law.value, law.low, law.high)
    assert (plan.tokens_low, plan.tokens_high) == tokens.band(flops)
    assert plan.ratio == law.ratio
    assert plan.tokens_per_param == plan.tokens / plan.params


def test_a_surface_plans_by_its_own_laws(snapshot):
    fit = PlannerFit(method=LawMethod("surface", "squares"), settings=QUICK)
    planner = fit(snapshot.records("delphi", MACRO))
    isoflop = dc.fit_isoflops(snapshot.records("delphi", MACRO))
    surface = dc.fit_surface(isoflop, law="squares", band="delta")
    plan = planner.plan(1e22)
    assert plan.optimal_params == surface.law("params").predict(1e22)
    assert plan.predicted == surface.loss_law.predict(1e22).value
    assert len(deviations(planner, plan)) == len(OVERTRAINING)


@pytest.mark.parametrize("ladder", ["planner", "moe"])
@pytest.mark.parametrize("flops", [1e20, 1e22, 1e25])
def test_every_deviation_spends_the_budget_and_wastes_what_the_law_says(request, ladder, flops):
    planner = request.getfixturevalue(ladder)
    plan = planner.plan(flops)
    rows = deviations(planner, plan)
    spent = planner.cost.per_token(rows["params"].to_numpy()) * rows["tokens"]
    np.testing.assert_allclose(spent, flops, rtol=1e-9)
    factors = rows["tokens_per_param"] / plan.tokens_per_param
    np.testing.assert_allclose(factors, rows["overtraining"], rtol=1e-4)
    # Deadweight is C - C' with L*(C') = L at the wrong size.
    left = (flops - rows["deadweight_flops"]).to_numpy()
    np.testing.assert_allclose(planner.law.predict(left).value, rows["predicted"], rtol=1e-9)
    np.testing.assert_allclose(rows["deadweight_pct"], 100 * rows["deadweight_flops"] / flops)
    best = rows[rows["overtraining"] == 1].iloc[0]
    assert best["above"] == pytest.approx(0, abs=1e-9)
    assert best["params"] == pytest.approx(plan.params)
    assert (rows.loc[rows["overtraining"] != 1, "above"] > 0).all()
    assert rows["params"].is_monotonic_decreasing


def test_deviations_beyond_the_runs_are_flagged(planner):
    least, most = planner.sampled_tokens_per_param
    rows = deviations(planner, planner.plan(1e22))
    far = rows["tokens_per_param"].between(least, most)
    assert not rows.loc[~far, "extrapolated"].empty
    assert rows.loc[~far, "extrapolated"].all()
    assert not rows.loc[rows["overtraining"].between(0.5, 2), "extrapolated"].any()
    assert rows.loc[rows["overtraining"] == 100, "extrapolated"].all()


@settings(deadline=None, max_examples=20)
@given(st.floats(-2, 2))
def test_a_size_has_the_row_of_its_over_training(planner, log_ratio):
    plan = planner.plan(1e22)
    row = deviation_at(planner, plan, plan.params * 10**log_ratio).iloc[0]
    again = deviations(planner, plan, [row["overtraining"]]).iloc[0]
    assert again["params"] == pytest.approx(plan.params * 10**log_ratio, rel=1e-4)
    assert again["predicted"] == pytest.approx(row["predicted"], abs=1e-5)


def test_held_out_runs_change_no_plan(snapshot, planner):
    records = snapshot.records("delphi", MACRO)
    changed = records.assign(value=records["value"].where(records["role"] != "heldout", 1.0))
    other = PlannerFit(settings=QUICK)(changed)
    assert other.plan(1e23) == planner.plan(1e23)
    pd.testing.assert_frame_equal(
        deviations(other, other.plan(1e23)), deviations(planner, planner.plan(1e23))
    )


def test_too_few_budgets_for_a_loss_law_still_plan_size_and_tokens(snapshot):
    records = snapshot.records("delphi", MACRO)
    two = records[records["budget"].isin([3e19, 9e19])]
    planner = PlannerFit(settings=QUICK)(two)
    plan = planner.plan(1e21)
    assert np.isfinite([plan.params, plan.tokens]).all()
    assert np.isnan(plan.predicted)
    assert planner.problems[0].startswith("no loss law: ")
    assert deviations(planner, plan).empty
    assert deviation_at(planner, plan, 1e9).empty


def test_costs_of_delphis_sizes_are_those_of_its_recipe(planner):
    for width in (512, 1024, 2048, 4096):
        expected = 3 * flops_per_token(width)
        assert planner.cost.per_token(params_of(width)) == pytest.approx(expected, rel=1e-12)


@settings(deadline=None, max_examples=20)
@given(st.floats(6, 13))
def test_a_size_is_found_again_from_its_cost(planner, log_params):
    params = 10**log_params
    found = planner.cost.params_for(planner.cost.per_token(params))
    assert found == pytest.approx(params, rel=1e-9)


def test_beyond_the_sizes_the_cost_of_a_parameter_and_token_stays():
    cost = size_cost(pd.DataFrame({"flops": [6e18, 7e18], "params": [1e8, 1e9], "tokens": 1e10}))
    assert cost.ratio(1e7) == pytest.approx(cost.ratio(1e8)) == pytest.approx(6.0)
    assert cost.ratio(1e10) == pytest.approx(0.7)


def test_the_nearest_run_is_the_one_that_was_trained_with_its_seeds(planner):
    rows = nearest_runs(planner.isoflop.points, 1e22, 9.7e9)
    assert len(rows) == 3
    first = rows.iloc[0]
    assert (first["role"], first["seeds"]) == ("heldout", 3)
    assert first["flops_ratio"] == pytest.approx(1, abs=1e-4)
    assert first["params_ratio"] == pytest.approx(1.0015, abs=1e-4)
    points = planner.isoflop.points
    own = points[(points["role"] == "heldout") & (points["budget"] == 1e22)]
    assert first["value"] == pytest.approx(own["value"].mean())
    distance = np.hypot(np.log(rows["flops_ratio"]), np.log(rows["params_ratio"]))
    assert distance.is_monotonic_increasing


def test_records_without_roles_have_nearest_runs_too():
    rows = nearest_runs(made_ladder(), 1e20, made_optimum(1e20))
    assert rows["run"][0].startswith("record ")
    assert rows["params_ratio"][0] == pytest.approx(1)


def test_chips_over_days():
    assert chips_flops(1024, 9e14, 0.4, 30) == pytest.approx(9.555148800e23, rel=1e-12)
    assert chips_flops(1, 1, 1, 1) == 86_400


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((0, 9e14, 0.4, 30), "chips: '0' is given; it must be above 0."),
        ((8, -1, 0.4, 30), "FLOP/s of a chip: '-1' is given"),
        ((8, 9e14, 0.4, float("inf")), "days: 'inf' is given"),
        ((8, 9e14, 40, 30), "utilisation: '40' is given; it must be a share above 0 and up to 1"),
        ((8, 9e14, float("nan"), 30), "utilisation: 'nan' is given"),
    ],
)
def test_chips_that_are_none_are_refused(given, words):
    with pytest.raises(FitError) as caught:
        chips_flops(*given)
    assert words in str(caught.value)


@pytest.mark.parametrize("flops", [0, -1e22, 1e14, 1e40, float("nan"), float("inf")])
def test_a_budget_that_is_none_is_refused(planner, flops):
    for ask in (check_budget, planner.plan):
        with pytest.raises(FitError, match="must be from 1e\\+15 to 1e\\+26 FLOP"):
            ask(flops)
