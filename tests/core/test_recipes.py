"""Recipes compared: optima from wherever they are to be had, defaults, tables and documents."""

import json

import numpy as np
import pytest

import delphi_core as dc
from delphi_core.cli import main
from delphi_core.fits.law_models import Laws
from delphi_core.published import published_loss_laws, published_recipe_laws
from delphi_core.recipe_documents import compare_document
from delphi_core.recipe_fits import recipe_ladders, shared_curve
from delphi_core.recipe_tables import pairs_table, published_speed_ups, speed_up_table

MACRO = "eval/paloma/macro_loss"
BPB = "eval/paloma/c4_en/bpb"


@pytest.fixture(scope="module")
def found(snapshot):
    return dc.compare_recipes(snapshot, "delphi-attempt-1", ["delphi", "moe-v16", "hero"])


def test_ladders_with_optima_come_sweeps_first(snapshot):
    sweeps = ["delphi", "delphi-attempt-1", "moe-v16", "moe-aug-hero"]
    assert recipe_ladders(snapshot) == [*sweeps, "moe-v16-gates", "moe-may-gates"]


def test_a_sweep_is_fitted_as_the_core_fits_it(snapshot):
    recipe = dc.fit_recipe(snapshot, "moe-v16", MACRO)
    records = snapshot.records("moe-v16", MACRO)
    isoflop = dc.fit_isoflops(records, method="cubic", x="active_params")
    law = dc.fit_loss_law(isoflop)
    np.testing.assert_array_equal(recipe.optima.losses, dc.optima_of(isoflop).losses)
    assert recipe.law.equation == law.equation
    assert recipe.law.describe() == law.describe()
    assert [item.flops for item in recipe.held_out] == [1e21, 1e23]


def test_compute_optimal_runs_are_optima_themselves(snapshot):
    recipe = dc.fit_recipe(snapshot, "moe-may-gates", MACRO)
    records = snapshot.records("moe-may-gates", MACRO).sort_values("flops")
    np.testing.assert_array_equal(recipe.optima.losses, records["value"])
    np.testing.assert_array_equal(recipe.optima.flops, records["flops"])
    assert recipe.law.band.method == "profile"
    assert recipe.held_out == ()


def test_published_optima_stand_in_where_no_run_is_public(snapshot):
    recipe = dc.fit_recipe(snapshot, "delphi", BPB)
    published = snapshot.tables["published_optima"]
    own = published[(published["ladder"] == "delphi") & (published["metric"] == BPB)]
    np.testing.assert_array_equal(recipe.optima.losses, own.sort_values("flops")["loss_at_optimal"])
    assert "C as published" in recipe.describe()


def test_unknown_settings_and_metrics_are_named(snapshot):
    with pytest.raises(dc.FitError, match="no method 'spline'; known: parabola"):
        dc.RecipeSettings("spline")
    with pytest.raises(dc.DataError, match="ladder delphi has no optima in 'eval/loss'"):
        dc.fit_recipe(snapshot, "delphi", "eval/loss")
    with pytest.raises(dc.DataError, match="neither a sweep nor compute-optimal runs"):
        dc.compare_recipes(snapshot, "hero", ["delphi"])


@pytest.mark.parametrize(
    ("ladders", "curve"),
    [
        (["delphi", "delphi-attempt-1", "moe-v16"], "cubic"),
        (["delphi", "moe-aug-hero"], "parabola"),
        (["moe-may-gates", "hero"], "cubic"),
    ],
)
def test_the_default_curve_suits_every_sweep(snapshot, ladders, curve):
    assert shared_curve(snapshot, ladders, MACRO) == curve


def test_rivals_stand_in_the_order_asked_for_with_what_each_has(found):
    delphi, moe, hero = found.rivals
    assert [rival.comparison.ladder for rival in found.rivals] == ["delphi", "moe-v16", "hero"]
    assert found.settings.curve == "cubic"
    assert found.shared_flops == pytest.approx(3e20, rel=1e-5)
    assert len(delphi.pairs) == 80
    assert len(moe.pairs) == 0
    assert (hero.recipe, hero.laws, hero.speed_up(1e20), hero.pairs) == (None, None, None, None)
    assert "another kind of evaluation" in hero.problem
    assert [recipe.ladder.ladder for recipe in found.fitted] == [
        "delphi-attempt-1", "delphi", "moe-v16",
    ]  # fmt: skip


def test_the_measured_may_gates_agree_with_the_published_ratio(snapshot):
    # Published laws: 2.21. The four compute-optimal runs themselves, E pinned as published.
    settings = dc.RecipeSettings("parabola", dc.LawSettings(asymptote=1.6))
    both = dc.compare_recipes(snapshot, "moe-v16-gates", ["moe-may-gates"], MACRO, settings)
    (may,) = both.rivals
    assert np.median(may.at_optima.value) == pytest.approx(2.21, rel=0.05)


def test_tables_say_what_the_core_says(found):
    delphi = found.rivals[0]
    table = speed_up_table(delphi, [1e19, 1e22])
    own = delphi.speed_up([1e19, 1e22])
    by_law, at_optima = table[table["at"] == "law"], table[table["at"] == "optima"]
    np.testing.assert_array_equal(by_law["speed_up"], own.value)
    np.testing.assert_array_equal(by_law["high"], own.high)
    np.testing.assert_array_equal(at_optima["low"], delphi.at_optima.low)
    np.testing.assert_allclose(table["share"] * table["speed_up"], 1.0, rtol=1e-14)
    np.testing.assert_allclose(table["base_flops"], table["speed_up"] * table["flops"], rtol=1e-14)
    assert list(by_law["beyond"] > 1) == [False, True]
    assert len(speed_up_table(found.rivals[2], [1e20])) == 0
    assert len(pairs_table(found)) == 80


def test_what_the_base_never_reaches_is_missing_and_not_infinite(snapshot):
    settings = dc.RecipeSettings("cubic", dc.LawSettings(asymptote=2.5))
    both = dc.compare_recipes(snapshot, "delphi", ["moe-may-gates"], MACRO, settings)
    free = dc.compare_recipes(snapshot, "delphi", ["moe-may-gates"], MACRO)
    assert np.isfinite(speed_up_table(both.rivals[0], [1e20])["speed_up"]).all()
    (row,) = speed_up_table(free.rivals[0], [1e26]).query("at == 'law'").to_dict("records")
    assert np.isnan(row["speed_up"])
    assert np.isnan(row["share"])
    assert row["loss"] < free.base.law.asymptote
    document, missing = compare_document(snapshot, free, [1e26])
    json.dumps(document, allow_nan=False)
    assert document["ladders"][0]["speed_up"][0]["speed_up"] is None
    assert missing == []


def test_published_laws_have_stable_ids_and_all_are_there(snapshot):
    rows = published_recipe_laws(snapshot, MACRO)
    assert rows["id"].is_unique
    assert {"moe-v16-95.18", "moe-may-88.32", "muonh-nowarmup-5619-81.68"} <= set(rows["id"])
    for ladder in ("moe-v16", "delphi", "moe-67b"):
        own = published_loss_laws(snapshot, ladder, MACRO)
        assert set(own["A"]) == set(rows.loc[rows["ladder"] == ladder, "A"])
    assert len(published_recipe_laws(snapshot, "train/loss")) == 0


def test_published_laws_are_held_against_the_base_s_published_law_of_the_same_e(snapshot):
    base = dc.compare_recipes(snapshot, "moe-v16", [], MACRO)
    table = published_speed_ups(snapshot, base, 1e20).set_index("id")
    may = table.loc["moe-may-88.32"]
    assert may["base_id"] == "moe-v16-95.18"
    assert round(may["published_speed_up"], 2) == 2.21
    for identity, row in table.iterrows():
        assert row["E"] == table.loc[row["base_id"], "E"] if row["base_id"] == row["base_id"] else 1
        law = Laws(*(np.array([v]) for v in (row["E"], np.log(row["A"]), row["alpha"])))
        assert row["loss"] == pytest.approx(float(law.predict(np.array([1e20]))[0, 0])), identity
    # The anchors of the 67B run are over-trained, which its laws say nothing of.
    assert not table.loc["67b-a2b-10t-84.74", "optimal"]
    assert table.loc["moe-may-88.32", "optimal"]
    assert np.isnan(table.loc["moe-v16-95.18", "published_speed_up"])
    some = published_speed_ups(snapshot, base, 1e20, ["moe-may-88.32"])
    assert list(some["id"]) == ["moe-may-88.32"]


def run(capsys, *arguments):
    """Status, output and errors of a command."""
    status = main(["compare", *arguments])
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def test_the_command_gives_what_python_gives(capsys, snapshot, found):
    asked = ["--base", "delphi-attempt-1", "--ladder", "delphi", "--ladder", "moe-v16"]
    status, out, err = run(capsys, *asked, "--flops", "1e20", "--flops", "1e22", "--json")
    assert (status, err) == (0, "")
    document = json.loads(out)
    assert document["snapshot"] == snapshot.id
    delphi = document["ladders"][0]
    own = found.rivals[0].speed_up([1e20, 1e22])
    assert [row["speed_up"] for row in delphi["speed_up"]] == list(own.value)
    assert [row["low"] for row in delphi["speed_up"]] == list(own.low)
    assert [row["level"] for row in delphi["speed_up"]] == [0.9, 0.9]
    assert [row["speed_up"] > 1 for row in delphi["at_optima"]] == [True] * 7
    pairs = delphi["pairs"]
    assert (pairs["pairs"], pairs["ahead"], len(pairs["rows"])) == (80, 80, 80)
    assert round(pairs["least_difference"], 4) == 0.0141
    assert round(pairs["greatest_difference"], 4) == 0.1555
    assert document["base"]["held_out"][0]["error_pct"] > 0


def test_the_command_says_it_in_words(capsys):
    asked = ["--base", "delphi-attempt-1", "--ladder", "delphi"]
    status, out, err = run(capsys, *asked)
    assert (status, err) == (0, "")
    assert "ahead in 80 of 80 pairs of equal width, tokens and batch, by 0.0141 to 0.1555" in out
    assert "90 % interval by bootstrap of residuals" in out
    assert "extrapolated" in out
    assert "the laws cross at" in out
    assert "held out at 1e+21 FLOP: measured 2.7655" in out


def test_what_is_refused_is_said_and_the_rest_is_written(capsys):
    asked = ["--base", "delphi", "--ladder", "moe-v16", "--ladder", "hero"]
    status, out, err = run(capsys, *asked)
    assert status == 3
    assert "hero: refused." in out
    assert "MoE v16 iso-FLOP: L* =" in out
    assert err.startswith("hero is not compared: ")
    assert err.count("\n") == 1


def test_without_any_law_it_says_why(capsys):
    asked = ["--base", "delphi", "--ladder", "moe-v16", "--asymptote", "5", "--json"]
    status, out, err = run(capsys, *asked)
    assert status == 3
    assert json.loads(out)["base"]["law"] is None
    assert "losses lie at or below the pinned E of 5" in err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--base", "delphi", "--ladder", "delphi-attempt"], "did you mean 'delphi-attempt-1'?"),
        (["--base", "delfi", "--ladder", "delphi"], "no ladder 'delfi'"),
        (["--base", "hero", "--ladder", "delphi"], "neither a sweep nor compute-optimal runs"),
        (["--base", "delphi", "--ladder", "moe-v16", "--metric", "loss"], "no metric 'loss'"),
        (["--base", "delphi", "--ladder", "moe-v16", "--level", "2"], "level is '2.0'"),
        (["--base", "delphi", "--ladder", "moe-v16", "--asymptote", "-1"], "E is pinned at '-1.0'"),
    ],
)
def test_bad_input_is_one_sentence_and_status_1(capsys, arguments, sentence):
    status, out, err = run(capsys, *arguments)
    assert (status, out) == (1, "")
    assert sentence in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("flops", ["0", "1e40", "many", "-1e20", "nan"])
def test_compute_that_cannot_be_had_is_wrong_usage(capsys, flops):
    with pytest.raises(SystemExit) as stopped:
        main(["compare", "--base", "delphi", "--ladder", "moe-v16", f"--flops={flops}"])
    assert stopped.value.code == 2
    assert "is not from 1e+15 to 1e+26 FLOP" in capsys.readouterr().err
