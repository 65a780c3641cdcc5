"""Delphi's recipe against the recorded settings of every run of the ladder."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from delphi_core.errors import FitError
from delphi_core.fits.recipe import (
    COARSE_STEP,
    MOST_TOKENS_PER_PARAM,
    NARROWEST,
    SUITE_BUDGETS,
    SUITE_WIDEST,
    UNITS,
    WIDEST,
    Recipe,
    delphi_recipe,
    delphi_suite,
    nearest_width,
    params_of,
)


@pytest.fixture(scope="module")
def runs(snapshot):
    """Delphi's runs."""
    table = snapshot.tables["runs"]
    return table[table["ladder"] == "delphi"]


def sweep(runs):
    """The 81 runs of the sweep."""
    found = runs[runs["role"].isin(["isoflop", "excluded"])]
    assert len(found) == 81
    return found


def test_settings_of_all_81_runs_from_budget_and_width_alone(runs):
    for row in sweep(runs).itertuples():
        recipe = delphi_recipe(row.budget, int(row.hidden_dim))
        for name in ("layers", "params", "batch_size", "steps", "tokens", "flops", "seq_len"):
            assert getattr(recipe, name) == getattr(row, name), (row.run, name)


def test_learning_rates_of_all_81_runs_to_the_last_bit(runs):
    for row in sweep(runs).itertuples():
        recipe = delphi_recipe(row.budget, int(row.hidden_dim))
        assert recipe.lr == row.lr_peak, row.run
        assert (recipe.lr_warmup, row.lr_final) == (row.lr_warmup, 0.0)


def test_the_suite_is_the_78_runs_that_were_fitted(runs):
    fitted = runs[runs["role"] == "isoflop"]
    expected = {(row.budget, row.hidden_dim) for row in fitted.itertuples()}
    suite = [recipe for budget in SUITE_BUDGETS for recipe in delphi_suite(budget)]
    assert len(suite) == 78
    assert {(recipe.budget, recipe.hidden_dim) for recipe in suite} == expected
    # The three that were left out are those of the rule on tokens per parameter.
    excluded = runs[runs["role"] == "excluded"]
    assert (excluded["tokens"] / excluded["params"] > MOST_TOKENS_PER_PARAM).all()


def test_where_the_suite_ends_is_no_rule_of_the_recipe():
    wider = {budget: delphi_suite(budget, widest=WIDEST) for budget in SUITE_BUDGETS}
    ends = {budget: found[-1].hidden_dim for budget, found in wider.items()}
    # Up to 9e19 FLOP the least batch ends the widths, at both larger budgets only the cut does.
    assert [ends[budget] for budget in SUITE_BUDGETS[:5]] == [1024, 1664, 2304, 2816, SUITE_WIDEST]
    assert min(ends[budget] for budget in SUITE_BUDGETS[5:]) > SUITE_WIDEST


@pytest.mark.parametrize(
    ("budget", "width", "batch", "used"),
    [(1e21, 2560, 256, 512), (1e22, 3840, 1024, 1024), (1e23, 5376, 4096, 2048)],
)
def test_batch_of_the_held_out_runs_beside_the_one_used(runs, budget, width, batch, used):
    own = runs[(runs["role"] == "heldout") & (runs["budget"] == budget)]
    recipe = delphi_recipe(budget, width)
    assert set(own["batch_size"]) == {used}
    assert recipe.batch_size == batch
    # What does not hang on the batch is as the runs have it.
    assert set(own["params"]) == {recipe.params}
    assert set(own["layers"]) == {recipe.layers}
    assert set(own["tokens"]) == {recipe.tokens}
    assert set(own["flops"]) == {recipe.flops}


def test_reference_point():
    # At 2.5e9 tokens and 64 sequences the formulas give their own constants; the batch there is 16,
    # half the square root.
    budget = 2.5e9 * 3 * delphi_recipe(3e19, 1024).flops_per_token
    recipe = delphi_recipe(budget, 1024)
    assert recipe.batch_size == 16
    assert recipe.lr == pytest.approx(0.0063 / 2, rel=1e-12)
    assert recipe.adam_lr == pytest.approx(0.000656 / 2, rel=1e-12)
    assert recipe.epsilon == pytest.approx(1.85e-8 * 2, rel=1e-12)
    assert recipe.beta2 == 0.9999
    assert delphi_recipe(1e23, 5376).beta2 == pytest.approx(0.9999**64, rel=1e-12)


@settings(deadline=None, max_examples=100)
@given(st.floats(17, 26), st.integers(4, 128))
def test_whole_steps_spend_the_budget_and_rates_keep_their_limits(log_budget, step):
    budget, width = 10**log_budget, 128 * step
    try:
        recipe = delphi_recipe(budget, width)
    except FitError:
        return
    half_a_step = recipe.batch_size * recipe.seq_len / 2
    assert abs(recipe.tokens - recipe.planned_tokens) <= half_a_step * (1 + 1e-9)
    assert recipe.batch_size.bit_count() == 1
    assert recipe.batch_size >= 8
    if recipe.batch_size > 8:
        assert max(recipe.lr, recipe.adam_lr) < 0.01
        assert recipe.beta2 > 0.9


@settings(deadline=None, max_examples=100)
@given(st.floats(8.2, 12), st.sampled_from([1e19, 1e22]))
def test_no_other_width_is_nearer_in_size(log_params, budget):
    params = 10**log_params
    step = 128 if budget <= 2e19 else COARSE_STEP
    widths = range(NARROWEST, WIDEST + 1, step)
    off = [abs(np.log(params_of(width) / params)) for width in widths]
    found = nearest_width(budget, params)
    assert abs(np.log(params_of(found) / params)) == pytest.approx(min(off), abs=1e-12)


def test_sizes_grow_with_width():
    sizes = [params_of(width) for width in range(NARROWEST, WIDEST + 1, 128)]
    assert all(less < more for less, more in pairwise(sizes))


def test_every_setting_has_a_unit():
    assert set(UNITS) == set(Recipe.__dataclass_fields__)


@pytest.mark.parametrize(
    ("flops", "width", "words"),
    [
        (0.0, 512, "the budget is '0'; it must be from 1e+15 to 1e+26 FLOP."),
        (1e40, 512, "the budget is '1e+40'"),
        (float("nan"), 512, "the budget is 'nan'"),
        (-1e22, 512, "the budget is '-1e+22'"),
        (1e22, 1000, "the width is '1000'; the recipe takes multiples of 128 from 512 to 32768."),
        (1e22, 0, "the width is '0'"),
        (1e22, -512, "the width is '-512'"),
        (1e22, 128 * 10**9, "the width is '128000000000'"),
        (3e18, 1152, "width 1152 at 3 × 10¹⁸ FLOP comes to a batch of 4 sequences; the recipe has"),
        (1e15, 32768, "take a smaller width or more compute."),
    ],
)
def test_what_the_recipe_does_not_allow_is_said_in_one_sentence(flops, width, words):
    with pytest.raises(FitError) as caught:
        delphi_recipe(flops, width)
    assert words in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
