"""IsoFLOP fits: published answers digit by digit, invariances, recovery of known truth."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import delphi_core as dc
from delphi_core.fits.doubts import Flag

MACRO = "eval/paloma/macro_loss"

# Marin's own analysis of the 78 Delphi runs: bucket, runs, D*, L*, a, b, c.
MARIN = [
    (2.891596e18, 5, 1.479420e9, 3.586188, 0.57329534, -10.5143413, 51.794924),
    (9.075066e18, 10, 2.898203e9, 3.385749, 0.52838111, -9.9992203, 50.692705),
    (1.768474e19, 15, 4.202417e9, 3.270510, 0.46493426, -8.9485890, 46.328879),
    (3.132959e19, 9, 5.697236e9, 3.194911, 0.39788052, -7.7631776, 41.062387),
    (8.938698e19, 14, 1.024612e10, 3.041023, 0.33892222, -6.7856021, 37.004860),
    (1.741899e20, 13, 1.588874e10, 2.948809, 0.31528531, -6.4325074, 35.758101),
    (3.085881e20, 12, 2.185757e10, 2.887308, 0.28793720, -5.9543120, 33.669916),
]


def same_digits(value: float, published: float, digits: int) -> bool:
    """Whether a value rounds to a published one at so many significant digits."""
    return f"{value:.{digits - 1}e}" == f"{published:.{digits - 1}e}"


def made_up(tokens, loss, **columns) -> pd.DataFrame:
    """Records of one budget of 1e20 FLOP, with params = C / 6D."""
    tokens = np.asarray(tokens, dtype=float)
    base = {
        "tokens": tokens,
        "metric": "loss",
        "value": loss,
        "flops": 1e20,
        "params": 1e20 / 6 / tokens,
        "label": "made_up",
    }
    return pd.DataFrame(base | columns)


def test_marin_gives_the_published_optima(snapshot):
    fit = dc.fit_isoflops(snapshot.records("delphi", MACRO), method="marin")
    assert fit.runs == 78
    assert len(fit.budgets) == len(MARIN)
    for budget, (bucket, runs, tokens, loss, a, b, c) in zip(fit.budgets, MARIN, strict=True):
        assert same_digits(budget.flops, bucket, 7)
        assert budget.runs == runs
        assert same_digits(budget.optimal_tokens, tokens, 7)
        assert same_digits(budget.loss_at_optimal, loss, 7)
        assert budget.curve.coefficients == pytest.approx((0, a, b, c), rel=1e-8, abs=5e-7)


def test_marin_laws_are_the_published_ones(snapshot):
    records = snapshot.records("delphi", MACRO)
    fit = dc.fit_isoflops(records, method="marin")
    tokens, params = dc.fit_token_law(fit), dc.fit_params_law(fit)
    assert tokens.exponent == pytest.approx(0.57438841, abs=5e-9)
    assert tokens.log10_coefficient == pytest.approx(-1.43415689, abs=5e-9)
    for flops, published in ((1e21, 4.246e10), (1e22, 1.594e11), (1e23, 5.981e11)):
        assert same_digits(float(tokens.predict(flops)), published, 4)
    assert (round(params.exponent, 5), round(params.log10_coefficient, 5)) == (0.38572, 1.43587)
    along_size = dc.fit_params_law(dc.fit_isoflops(records, method="marin", x="params"))
    assert round(along_size.exponent, 5) == 0.39068
    assert round(along_size.log10_coefficient, 5) == 1.36224


def test_excluded_runs_move_the_exponent(snapshot):
    records = snapshot.records("delphi", MACRO)
    fit = dc.fit_isoflops(records, method="marin", include_excluded=True)
    assert fit.runs == 81
    assert round(dc.fit_token_law(fit).exponent, 6) == 0.565473


def test_nominal_parabolas_are_the_released_ones(snapshot):
    fit = dc.fit_isoflops(
        snapshot.records("delphi", MACRO), compute="nominal", include_excluded=True
    )
    released = snapshot.tables["published_optima"]
    released = released[(released["ladder"] == "delphi") & (released["metric"] == MACRO)]
    assert len(released) == len(fit.budgets) == 7
    for budget, row in zip(fit.budgets, released.to_dict("records"), strict=True):
        assert budget.flops == row["flops"]
        assert budget.optimal_tokens == pytest.approx(row["optimal_tokens"], rel=1e-11)
        assert budget.optimal_params == pytest.approx(row["optimal_params"], rel=1e-11)
        assert budget.loss_at_optimal == pytest.approx(row["loss_at_optimal"], rel=1e-13)


@pytest.mark.parametrize(
    ("include_excluded", "published"),
    [
        (False, [3.522, 3.339, 3.154, 3.000, 2.848, 2.725]),
        (True, [3.523, 3.341, 3.153, 2.998, 2.848, 2.725]),
    ],
)
def test_moe_v16_gives_the_published_losses(snapshot, include_excluded, published):
    fit = dc.fit_isoflops(
        snapshot.records("moe-v16", MACRO), x="active_params", include_excluded=include_excluded
    )
    assert [round(budget.loss_at_optimal, 3) for budget in fit.optima] == published


def test_moe_aug_hero_names_six_cells_and_flags_every_budget(snapshot):
    fit = dc.fit_isoflops(snapshot.records("moe-aug-hero", MACRO), x="active_params")
    reasons = {out.run.removeprefix("aug_hero_isoflop-"): out.reason for out in fit.left_out}
    assert reasons == {
        "d1024-3e19": "diverged: its value says nothing about its size",
        "d1280-3e19": "diverged: its value says nothing about its size",
        "d1024-1e20": "stopped early: 98 % of its plan was trained",
        "d1536-1e20": "stopped early: 21 % of its plan was trained",
        "d2048-1e20": "stopped early: 30 % of its plan was trained",
        "d1024-3e20": "stopped early: 6 % of its plan was trained",
    }
    assert [budget.runs for budget in fit.optima] == [3, 4, 5]
    assert all(budget.flags == (Flag.FEW_POINTS,) for budget in fit.budgets)
    sentences = [budget.sentences[0] for budget in fit.budgets]
    assert "3 runs determine the parabola exactly" in sentences[0]
    assert "4 runs leave a parabola 1 degree of freedom" in sentences[1]
    assert "5 runs leave a parabola 2 degrees of freedom" in sentences[2]
    assert [budget.runs for budget in fit.budgets if budget.curve is None] == [2, 1]
    assert (fit.runs, len(fit.left_out), len(fit.in_small_budgets)) == (12, 6, 3)


def test_moe_aug_hero_published_tokens(snapshot):
    fit = dc.fit_isoflops(snapshot.records("moe-aug-hero", MACRO), x="tokens")
    assert [round(b.optimal_tokens / 1e9, 2) for b in fit.optima] == [2.84, 5.08, 9.89]
    assert [round(b.loss_at_optimal, 3) for b in fit.optima] == [3.361, 3.198, 3.033]


@pytest.mark.parametrize("method", ["parabola", "marin"])
@pytest.mark.parametrize("x", ["tokens", "params"])
def test_concave_budget_of_attempt_1_has_no_optimum(snapshot, method, x):
    fit = dc.fit_isoflops(snapshot.records("delphi-attempt-1", MACRO), method=method, x=x)
    concave, *others = fit.budgets
    assert Flag.CONCAVE in concave.flags
    assert any("no optimum" in sentence for sentence in concave.sentences)
    assert concave.runs == 3
    assert concave.curve.coefficients[1] < 0
    assert concave.optimal_tokens is concave.optimal_params is concave.loss_at_optimal is None
    assert all(Flag.CONCAVE not in budget.flags for budget in others)
    assert dc.fit_token_law(fit).optima == len(others) == 7


def test_recorded_compute_is_the_mean_over_a_budget(snapshot):
    records = snapshot.records("delphi", MACRO)
    fit = dc.fit_isoflops(records)
    used = records[records["role"] == "isoflop"]
    means = used.groupby("budget")["flops"].mean()
    assert [budget.flops for budget in fit.budgets] == pytest.approx(means.to_list(), rel=1e-14)
    assert fit.compute == "recorded"


@pytest.mark.parametrize("method", ["parabola", "cubic", "marin"])
def test_order_of_rows_does_not_change_a_bit(snapshot, method):
    records = snapshot.records("delphi", MACRO)
    fit = dc.fit_isoflops(records, method=method)
    for seed in range(5):
        again = dc.fit_isoflops(records.sample(frac=1, random_state=seed), method=method)
        assert [b.curve.coefficients for b in again.budgets] == [
            b.curve.coefficients for b in fit.budgets
        ]
        assert dc.fit_token_law(again) == dc.fit_token_law(fit)
        assert again.left_out == fit.left_out


def test_fitting_does_not_change_the_records(snapshot):
    records = snapshot.records("delphi", MACRO)
    before = records.copy(deep=True)
    dc.fit_isoflops(records)
    pd.testing.assert_frame_equal(records, before)


def test_six_columns_alone_give_the_same_parabolas(snapshot):
    records = snapshot.records("delphi", MACRO)
    six = records.loc[records["role"] == "isoflop", list(records.columns[:6])]
    whole = dc.fit_isoflops(records, method="marin")
    alone = dc.fit_isoflops(six, method="marin")
    assert alone.runs == 78
    assert dc.fit_token_law(alone) == dc.fit_token_law(whole)


@given(
    log_optimum=st.floats(9.3, 10.7),
    curvature=st.floats(0.05, 2),
    loss=st.floats(1, 5),
    seed=st.integers(0, 2**32 - 1),
)
@settings(deadline=None, max_examples=60)
def test_a_made_parabola_is_recovered(log_optimum, curvature, loss, seed):
    x = np.random.default_rng(seed).permutation(np.linspace(9, 11, 9))
    records = made_up(10**x, loss + curvature * (x - log_optimum) ** 2)
    for method, tolerance in (("parabola", 1e-9), ("marin", 1e-9), ("cubic", 1e-6)):
        (budget,) = dc.fit_isoflops(records, method=method).budgets
        assert budget.optimal_tokens == pytest.approx(10**log_optimum, rel=tolerance)
        assert budget.loss_at_optimal == pytest.approx(loss, rel=1e-9)
        assert budget.flags == ()
    # N = C / 6D is exact on the made-up budget, so its line recovers N* from D*.
    (budget,) = dc.fit_isoflops(records).budgets
    assert budget.optimal_params == pytest.approx(1e20 / 6 / 10**log_optimum, rel=1e-8)


@given(scale=st.floats(0.1, 10), shift=st.floats(-2, 2), factor=st.floats(0.5, 2))
@settings(deadline=None, max_examples=40)
def test_optimum_follows_units_and_offsets(scale, shift, factor):
    x = np.linspace(9, 11, 7)
    loss = 3 + 0.3 * (x - 9.9) ** 2 + 0.01 * np.sin(7 * x)
    (base,) = dc.fit_isoflops(made_up(10**x, loss)).budgets
    (other,) = dc.fit_isoflops(made_up(factor * 10**x, scale * loss + shift)).budgets
    assert other.optimal_tokens == pytest.approx(factor * base.optimal_tokens, rel=1e-8)
    assert other.loss_at_optimal == pytest.approx(scale * base.loss_at_optimal + shift, rel=1e-8)


def test_optimum_outside_the_sampled_range_is_flagged():
    x = np.linspace(9, 10, 8)
    (beyond,) = dc.fit_isoflops(made_up(10**x, 3 + 0.2 * (x - 10.5) ** 2)).budgets
    assert beyond.flags == (Flag.EDGE,)
    assert beyond.sentences == ("edge: above the most tokens sampled, so extrapolated.",)
    (before,) = dc.fit_isoflops(made_up(10**x, 3 + 0.2 * (x - 8.5) ** 2)).budgets
    assert before.flags == (Flag.EDGE,)
    assert before.sentences == ("edge: below the fewest tokens sampled, so extrapolated.",)
    # More tokens are a smaller size, as C = 6 N D here.
    (small,) = dc.fit_isoflops(made_up(10**x, 3 + 0.2 * (x - 10.5) ** 2), x="params").budgets
    assert small.sentences == ("edge: below the smallest size sampled, so extrapolated.",)


def test_cubic_that_dips_lower_at_an_end_is_flagged():
    x = np.linspace(9, 11, 9)
    u = x - 10
    (budget,) = dc.fit_isoflops(made_up(10**x, 3 + u**3 - 0.3 * u), method="cubic").budgets
    assert budget.optimal_x == pytest.approx(10 + 0.1**0.5, abs=1e-6)
    assert Flag.EDGE in budget.flags


@pytest.mark.parametrize("method", ["parabola", "cubic"])
@pytest.mark.parametrize("slope", [0.0, 0.1, -3.0])
def test_a_line_or_a_constant_has_no_optimum(slope, method):
    x = np.linspace(9, 11, 9)
    (budget,) = dc.fit_isoflops(made_up(10**x, 3 + slope * x), method=method).budgets
    assert budget.flags == (Flag.NO_MINIMUM,)
    assert budget.optimal_tokens is budget.optimal_params is budget.loss_at_optimal is None


@pytest.mark.parametrize("far", [13.9, 15, 40, 500])
def test_a_minimum_far_from_all_runs_is_no_optimum(far):
    x = np.linspace(9, 11, 9)
    (budget,) = dc.fit_isoflops(made_up(10**x, 3 + 1e-3 * (x - far) ** 2)).budgets
    reached = far <= 11 + 3
    assert budget.flags == ((Flag.EDGE,) if reached else (Flag.NO_MINIMUM,))
    assert (budget.optimal_tokens is None) == (not reached)


def test_monotone_cubic_has_no_minimum():
    x = np.linspace(9, 11, 9)
    (budget,) = dc.fit_isoflops(made_up(10**x, 3 - (x - 10) ** 3 - x), method="cubic").budgets
    assert budget.flags == (Flag.NO_MINIMUM,)
    assert budget.optimal_tokens is None


def test_replicates_are_rows_like_others_but_no_new_sizes():
    tokens = np.repeat([1e9, 1e10], 3)
    loss = [3.0, 3.01, 3.02, 3.1, 3.11, 3.12]
    (budget,) = dc.fit_isoflops(made_up(tokens, loss)).budgets
    assert budget.curve is None
    assert "6 runs at 2 token counts, and a parabola needs 3" in budget.sentences[0]


def test_rows_in_a_budget_too_small_carry_that_as_reason():
    fit = dc.fit_isoflops(made_up([1e9, 1e10], [3.0, 3.1]))
    assert not fit.points["used"].any()
    assert fit.points["left_out_reason"].str.startswith("budget too small").all()
    assert fit.left_out == ()
    assert fit.runs == 0
    reasons = [out.reason for out in fit.in_small_budgets]
    assert reasons == fit.points["left_out_reason"].to_list()


def test_marin_drops_runs_below_1e18():
    records = made_up(np.geomspace(1e9, 1e10, 6), np.arange(6) / 100 + 3)
    records["flops"] = [9.9e17, 1e18, 1e18, 1e18, 1e18, 1e18]
    fit = dc.fit_isoflops(records, method="marin")
    assert [out.reason for out in fit.left_out] == ["below 1e+18 FLOP"]
    assert dc.fit_isoflops(records).left_out == ()


def test_drop_leaves_rows_out_by_value(snapshot):
    records = snapshot.records("moe-v16", MACRO)
    fit = dc.fit_isoflops(
        records, x="active_params", include_excluded=True, drop={"hidden_dim": [640, 896]}
    )
    dropped = [out for out in fit.left_out if out.reason.startswith("dropped")]
    assert {out.reason for out in dropped} == {
        "dropped: hidden_dim is 640",
        "dropped: hidden_dim is 896",
    }
    plain = dc.fit_isoflops(records, x="active_params")
    assert [b.loss_at_optimal for b in fit.optima] == [b.loss_at_optimal for b in plain.optima]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"value": np.nan}, "a value of nan"),
        ({"tokens": -1.0}, "a tokens of -1"),
        ({"flops": np.inf}, "a flops of inf"),
        ({"params": 1e200}, r"a params of 1e\+200"),
        ({"tokens": "many"}, "a tokens that is no number"),
        ({"role": "HELDOUT"}, "a role 'HELDOUT'; did you mean 'heldout'"),
        ({"status": "finish"}, "a status 'finish'; did you mean 'finished'"),
        ({"metric": ["a", "b", "a", "a"]}, "several metrics"),
        ({"label": ["a", "b", "a", "a"]}, "several labels"),
    ],
)
def test_records_that_cannot_be_fitted_say_why(change, sentence):
    records = made_up(np.geomspace(1e9, 1e10, 4), [3.0, 2.9, 2.9, 3.0]).assign(**change)
    with pytest.raises(dc.FitError, match=sentence):
        dc.fit_isoflops(records)


def test_missing_column_and_missing_budgets_say_so():
    records = made_up(np.geomspace(1e9, 1e10, 4), [3.0, 2.9, 2.9, 3.0])
    with pytest.raises(dc.FitError, match="no column flops"):
        dc.fit_isoflops(records.drop(columns="flops"))
    with pytest.raises(dc.FitError, match="lack nominal budgets"):
        dc.fit_isoflops(records, compute="nominal")
    with pytest.raises(dc.FitError, match="did you mean 'tokens'"):
        dc.fit_isoflops(records, drop={"token": ["1"]})
    with pytest.raises(dc.FitError, match="name a column twice"):
        dc.fit_isoflops(pd.concat([records, records[["value"]]], axis=1))


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"method": "Marin"}, "no method 'Marin'; did you mean 'marin'"),
        ({"x": "token"}, "no x 'token'; did you mean 'tokens'"),
        ({"compute": "Bucket"}, "no compute 'Bucket'; did you mean 'bucket'"),
    ],
)
def test_a_setting_that_is_none_is_refused(setting, words):
    with pytest.raises(dc.FitError, match=words):
        dc.IsoflopFit(**setting)


ROLES = ["isoflop", "excluded", "heldout", "validation", "optimum", "rung", "target"]
STATUSES = ["finished", "running", "crashed", "diverged", "stopped"]


@pytest.mark.parametrize("include_excluded", [False, True])
@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("role", ROLES)
def test_only_finished_runs_of_the_sweep_are_fitted(role, status, include_excluded):
    records = made_up(np.geomspace(1e9, 1e10, 4), [3.0, 2.9, 2.9, 3.0])
    records = records.assign(role=role, status=status, progress=0.5, excluded_reason="why")
    fit = dc.fit_isoflops(records, include_excluded=include_excluded)
    sweep = ["isoflop", "excluded"] if include_excluded else ["isoflop"]
    fitted = status == "finished" and role in sweep
    assert fit.runs == (4 if fitted else 0)
    words = {"heldout": "held-out", "stopped": "stopped early"}
    begins = "excluded: why"
    if role not in ("isoflop", "excluded"):
        begins = words.get(role, role)
    elif status != "finished":
        begins = words.get(status, status)
    assert len(fit.left_out) == 4 - fit.runs
    assert all(out.reason.startswith(begins) for out in fit.left_out)


def test_left_out_rows_may_lack_numbers():
    records = made_up(np.geomspace(1e9, 1e10, 4), [3.0, 2.9, 2.9, np.nan])
    records = records.assign(status=["finished", "finished", "finished", "diverged"])
    fit = dc.fit_isoflops(records)
    assert (fit.runs, len(fit.left_out)) == (3, 1)


def test_index_and_missing_names_do_not_matter():
    records = made_up(np.geomspace(1e9, 1e10, 4), [3.0, 2.9, 2.9, 3.0], run=list("abcd"))
    plain = dc.fit_isoflops(records).optima
    again = dc.fit_isoflops(records.set_index("run", drop=False)).optima
    assert [b.optimal_tokens for b in again] == [b.optimal_tokens for b in plain]
    nameless = dc.fit_isoflops(records.drop(columns="run").assign(role="heldout"))
    assert sorted(out.run for out in nameless.left_out) == [f"record {i}" for i in (1, 2, 3, 4)]


def test_marin_takes_the_size_of_the_run_nearest_in_tokens_not_in_their_logarithm():
    # 16 is nearer to 10 than to 23; in logarithms it is nearer to 23.
    tokens = np.array([10.0, 23.0, 40.0, 4.0]) * 1e9
    loss = 3 + (np.log10(tokens) - np.log10(16e9)) ** 2
    (budget,) = dc.fit_isoflops(made_up(tokens, loss), method="marin").budgets
    assert budget.optimal_tokens == pytest.approx(16e9)
    assert budget.optimal_params == 1e20 / 6 / 10e9


@pytest.mark.parametrize(("sizes", "flagged"), [(4, True), (5, True), (6, False), (9, False)])
def test_few_points_counts_different_sizes(sizes, flagged):
    x = np.tile(np.linspace(9, 11, sizes), 3)
    records = made_up(10**x, 3 + 0.2 * (x - 10) ** 2)
    (budget,) = dc.fit_isoflops(records).budgets
    assert (Flag.FEW_POINTS in budget.flags) == flagged
    (cubic,) = dc.fit_isoflops(records, method="cubic").budgets
    assert (Flag.FEW_POINTS in cubic.flags) == (sizes < 7)


def test_rules_say_how_the_optimum_was_got(snapshot):
    records = snapshot.records("delphi", MACRO)
    ours = dc.fit_isoflops(records)
    assert ours.rule("tokens") == "from the parabola in log10 tokens"
    assert ours.rule("params") == "from the line of log10 size on log10 tokens, at the optimum"
    marin = dc.fit_isoflops(records, method="marin", x="params")
    assert marin.rule("tokens") == "of the run nearest in parameters"
    assert marin.rule("params") == "from the parabola in log10 parameters"
    cubic = dc.fit_isoflops(records, method="cubic")
    assert cubic.rule("tokens") == "from the cubic in log10 tokens"


def test_described_in_one_sentence(snapshot):
    fit = dc.fit_isoflops(snapshot.records("delphi", MACRO), method="marin")
    assert fit.describe() == (
        "Marin's method: parabola in log10 tokens by least squares on 78 runs in 7 budgets; "
        "C of a budget is the centre of its 1.1^k bucket; left out: 3 excluded, 7 held-out. "
        "90 % intervals of the optima: Fieller's theorem in 1 budget, bootstrap in 6 budgets "
        "(6,000 sets of rows, 3 of them no use)."
    )


def test_settings_are_hashable_and_compare_by_value():
    assert dc.IsoflopFit(x="params") == dc.IsoflopFit(x="params")
    assert len({dc.IsoflopFit(), dc.IsoflopFit(), dc.IsoflopFit(method="marin")}) == 2
