"""The plan command: what it writes, exit status, and one sentence for what is wrong."""

import csv
import io
import json
from contextlib import suppress

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import delphi_core as dc
from delphi_core.cli import main
from delphi_core.errors import DataError
from delphi_core.fits.deviations import OVERTRAINING
from delphi_core.plan_input import MOST_BUDGETS, read_budgets, typed_budgets, typed_width
from delphi_core.recipe_check import recipe_check, recipe_verdict


@pytest.fixture
def run(capsys):
    """Run a command: exit status, standard output, standard error."""

    def call(*arguments):
        status = main(arguments)
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


def refused(word):
    """No number of JSON is one."""
    raise AssertionError(word)


def parsed(text):
    """JSON that holds finite numbers only."""
    return json.loads(text, parse_constant=refused)


def test_a_plan_is_that_of_fit_and_of_a_notebook(run, snapshot):
    status, out, err = run("plan", "--flops", "1e22", "--flops", "1e23", "--json")
    assert (status, err) == (0, "")
    document = parsed(out)
    assert [plan["flops"] for plan in document["plans"]] == [1e22, 1e23]
    fit = parsed(run("fit", "--method", "cubic", "--target-flops", "1e22", "--json")[1])
    plan = document["plans"][0]
    (forecast,) = [row for row in fit["forecasts"] if row["flops"] == 1e22]
    for name in ("predicted", "low", "high", "level", "interval", "ratio"):
        assert plan[name] == forecast[name], name
    law = fit["token_law"]
    expected = 10 ** (law["alpha"] * 22 + law["log10_A"])
    assert plan["optimal_tokens"] == pytest.approx(expected, rel=1e-12)
    law = fit["params_law"]
    expected = 10 ** (law["exponent"] * 22 + law["intercept"])
    assert plan["optimal_params"] == pytest.approx(expected, rel=1e-12)
    found = dc.plan(snapshot, [1e22, 1e23])
    assert found.table["params"].tolist() == [plan["params"] for plan in document["plans"]]
    assert document["method"] == "cubic squares"
    assert document["unit"] == "nats/token"
    assert {row["overtraining"] for row in plan["valley"]} == set(OVERTRAINING)
    assert len(plan["nearest"]) == 3
    assert any("two laws, fitted apart" in note for note in plan["notes"])


def test_marins_token_law_is_planned_by(run):
    plan = parsed(run("plan", "--flops", "1e22", "--method", "marin", "--json")[1])["plans"][0]
    assert f"{plan['optimal_tokens']:.3e}" == "1.594e+11"
    assert plan["optimal_params"] == pytest.approx(10 ** (0.38572 * 22 + 1.43587), rel=1e-3)


def test_the_recipe_at_a_width(run):
    arguments = ("plan", "--flops", "1e21", "--hidden-dim", "2560", "--json")
    recipe = parsed(run(*arguments)[1])["plans"][0]["recipe"]
    assert (recipe["layers"], recipe["params"], recipe["batch_size"]) == (26, 3383110656, 256)
    assert (recipe["steps"], recipe["tokens"]) == (44114, 46256881664)
    assert recipe["above"] >= 0
    assert recipe["notes"] == []
    narrow = parsed(run("plan", "--flops", "1e21", "--hidden-dim", "1024", "--json")[1])
    (note,) = narrow["plans"][0]["recipe"]["notes"]
    assert "the suite leaves out sizes with more than 250" in note


def test_the_recipe_takes_the_width_nearest_in_size(run):
    for flops in ("1e20", "1e22", "1e24"):
        plan = parsed(run("plan", "--flops", flops, "--json")[1])["plans"][0]
        recipe = plan["recipe"]
        assert recipe["hidden_dim"] % 256 == 0
        assert recipe["params"] == pytest.approx(plan["params"], rel=0.15)
        assert recipe["flops"] == pytest.approx(float(flops), rel=1e-4)


def test_mixtures_of_experts_are_planned_in_active_parameters_without_a_recipe(run):
    status, out, _ = run("plan", "--flops", "1e22", "--ladder", "moe-v16", "--json")
    document = parsed(out)
    assert (status, document["size"]) == (0, "active_params")
    plan = document["plans"][0]
    assert plan["recipe"] is None
    assert plan["params"] == plan["optimal_params"]
    assert document["no_recipe"].startswith("No recipe here")
    text = run("plan", "--flops", "1e22", "--ladder", "moe-v16")[1]
    assert "active parameters on" in text
    assert document["no_recipe"] in text


def test_chips_give_a_budget(run):
    chips = ("--chips", "1024", "--chip-flops", "9e14", "--utilisation", "0.4", "--days", "30")
    document = parsed(run("plan", *chips, "--json")[1])
    assert [plan["flops"] for plan in document["plans"]] == [pytest.approx(9.5551488e23)]
    both = parsed(run("plan", *chips, "--flops", "1e22", "--json")[1])
    assert len(both["plans"]) == 2


def test_yaml_and_json_hold_the_same(run):
    arguments = ("plan", "--flops", "1e22,1e23")
    status, out, err = run(*arguments, "--yaml")
    assert (status, err) == (0, "")
    assert yaml.safe_load(out) == parsed(run(*arguments, "--json")[1])


def test_csv_holds_one_row_a_budget(run):
    status, out, _ = run("plan", "--flops", "1e22,1e23", "--csv")
    assert status == 0
    rows = list(csv.DictReader(io.StringIO(out)))
    plans = parsed(run("plan", "--flops", "1e22,1e23", "--json")[1])["plans"]
    for row, plan in zip(rows, plans, strict=True):
        for name in ("flops", "params", "tokens", "predicted", "low", "high"):
            assert float(row[name]) == plan[name], name
        for name in ("hidden_dim", "batch_size", "steps", "lr"):
            assert float(row[f"recipe_{name}"]) == plan["recipe"][name], name
        assert row["ladder"] == "delphi"


def test_text_says_the_same(run):
    status, out, _ = run("plan", "--flops", "1e22")
    plan = parsed(run("plan", "--flops", "1e22", "--json")[1])["plans"][0]
    assert status == 0
    assert f"loss {plan['predicted']:.3f} ({plan['low']:.3f} to {plan['high']:.3f}, 90 %" in out
    assert f"{plan['recipe']['steps']:,}" in out
    assert sum(line.strip().endswith("extrapolated") for line in out.splitlines()) == sum(
        row["extrapolated"] for row in plan["valley"]
    )
    assert "nan" not in out.lower()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "no budget is given; add --flops C"),
        (["--flops", "0"], "the budget is '0'; it must be from 1e+15 to 1e+26 FLOP."),
        (["--flops", "1e40"], "the budget is '1e+40'; it must be from"),
        (["--flops", "-1e22"], "the budget is '-1e+22'; it must be from"),
        (["--flops", "-5"], "the budget is '-5'; it must be from"),
        (["--flops", "nan"], "the budget is 'nan'; it must be from"),
        (["--flops", "many"], "the budget is 'many'; it must be a number such as 1e22"),
        (["--flops", "1e22", "--hidden-dim", "1000"], "the width is '1000'; the recipe takes mul"),
        (["--flops", "1e22", "--hidden-dim", "-512"], "the width is '-512'; the recipe takes mul"),
        (["--flops", "1e22", "--hidden-dim", "wide"], "the width is 'wide'; the recipe takes mul"),
        (["--flops", "1e22", "--hidden-dim", "9" * 40], "the recipe takes multiples of 128"),
        (["--flops", "3e18", "--hidden-dim", "1152"], "take a smaller width or more compute."),
        (
            ["--flops", "1e22", "--hidden-dim", "512", "--ladder", "moe-v16"],
            "no recipe of ladder moe-v16 is known",
        ),
        (["--chips", "8"], "a budget in chips needs FLOP/s of a chip, utilisation, days too"),
        (
            ["--chips", "8", "--chip-flops", "9e14", "--utilisation", "40", "--days", "9"],
            "utilisation: '40' is given; it must be a share above 0 and up to 1",
        ),
        (
            ["--chips", "x", "--chip-flops", "9e14", "--utilisation", "0.4", "--days", "9"],
            "chips: 'x' is given; it must be a number.",
        ),
        (["--flops", "1e22", "--ladder", "delfi"], "no ladder 'delfi'; did you mean 'delphi'"),
        (["--flops", "1e22", "--metric", "c4"], "has no metric 'c4'"),
        (["--flops", "1e22", "--level", "2"], "level is '2.0'; it must be from 0.5 to 0.99"),
        (
            ["--flops", "1e22", "--metric", "eval/paloma/c4_en/bpb"],
            "no plan from ladder delphi, eval/paloma/c4_en/bpb",
        ),
    ],
)
def test_bad_input_is_status_1_and_one_sentence(run, arguments, words):
    for form in ([], ["--json"], ["--yaml"], ["--csv"]):
        status, out, err = run("plan", *arguments, *form)
        assert (status, out) == (1, "")
        assert words in err
        assert len(err.strip().splitlines()) == 1


def test_every_mistake_is_named(run):
    status, _, err = run("plan", "--flops", "0,1e40,x")
    assert status == 1
    assert len(err.strip().splitlines()) == 3


@pytest.mark.parametrize(
    "arguments",
    [
        ["--method", "spline"],
        ["--flops"],
        ["--flops", "1e22", "--json", "--yaml"],
        ["--flops", "1e22", "--level", "high"],
    ],
)
def test_wrong_usage_is_status_2(arguments, capsys):
    with pytest.raises(SystemExit) as caught:
        main(["plan", *arguments])
    assert caught.value.code == 2
    assert "Traceback" not in capsys.readouterr().err


def test_what_is_missing_is_said_and_the_rest_written(run):
    status, out, err = run("plan", "--flops", "1e15", "--json")
    document = parsed(out)
    assert status == 3
    assert document["plans"][0]["recipe"] is None
    assert document["plans"][0]["params"] > 0
    assert err.startswith("no recipe: width 512 at 1 × 10¹⁵ FLOP")
    status, out, err = run("plan", "--flops", "1e22", "--asymptote", "3", "--yaml")
    assert status == 3
    assert err.startswith("no loss law: ")
    plan = yaml.safe_load(out)["plans"][0]
    assert plan["predicted"] is plan["low"] is None
    assert plan["valley"] == []
    assert plan["recipe"]["predicted"] is None
    assert run("plan", "--flops", "1e22", "--asymptote", "3")[0] == 3


def test_a_pinned_e_and_the_level_reach_the_law(run):
    free = parsed(run("plan", "--flops", "1e23", "--json")[1])["plans"][0]
    pinned = parsed(run("plan", "--flops", "1e23", "--asymptote", "1.6", "--json")[1])["plans"][0]
    assert pinned["predicted"] < free["predicted"]
    wide = parsed(run("plan", "--flops", "1e23", "--level", "0.95", "--json")[1])["plans"][0]
    assert wide["high"] - wide["low"] > free["high"] - free["low"]


def test_plan_backtest_names_the_form_that_is_used(run):
    status, out, _ = run("plan-backtest", "--ladder", "moe-v16", "--json")
    document = parsed(out)
    assert (status, document["ladders"]) == (0, ["moe-v16"])
    scores = [row["score"] for row in document["scores"]]
    assert scores == sorted(scores)
    assert document["used"] in {row["valley"] for row in document["scores"]}
    own = [row for row in document["forecasts"] if row["valley"] == document["used"]]
    (score,) = [row["score"] for row in document["scores"] if row["valley"] == document["used"]]
    assert score == pytest.approx(np.mean([abs(row["error"]) for row in own]))
    assert document["used"] in run("plan-backtest", "--ladder", "moe-v16")[1]
    assert run("plan-backtest", "--ladder", "moe-v17")[0] == 1


def test_budgets_are_read_as_people_write_them():
    assert typed_budgets(["1e22, 1e23; 1e22", " 3E21\t"]) == [1e22, 1e23, 3e21]
    assert read_budgets(["", " , "]) == ([], [])
    many, problems = read_budgets([" ".join(f"{k}e20" for k in range(1, 30))])
    assert len(many) == MOST_BUDGETS
    assert problems == [f"29 budgets are asked for; give {MOST_BUDGETS} at most."]


@settings(deadline=None)
@given(st.text(max_size=40))
def test_whatever_is_typed_gives_budgets_or_sentences(text):
    found, problems = read_budgets([text])
    assert all(1e15 <= flops <= 1e26 for flops in found)
    assert all(len(sentence.splitlines()) == 1 for sentence in problems)
    assert bool(found or problems) == bool(text.replace(",", " ").replace(";", " ").split())
    # Nothing but a sentence may come out of it.
    with suppress(DataError):
        width = typed_width(text)
        assert width is None or width % 128 == 0


def test_the_recipe_beside_every_recorded_setting(snapshot):
    check = recipe_check(snapshot)
    assert recipe_verdict(check) == (
        "From budget and width alone the recipe gives layers, params, batch size, steps, tokens, "
        "flops, lr peak of 81 of the 81 runs of the sweep to the last bit."
    )
    differing = check[~check["equal"]]
    assert set(differing["role"]) == {"heldout"}
    batches = differing[differing["setting"] == "batch_size"]
    pairs = set(zip(batches["budget"], batches["recorded"], batches["recipe"], strict=True))
    assert pairs == {(1e21, 512, 256), (1e23, 2048, 4096)}
    assert set(differing["setting"]) == {"batch_size", "steps"}
