"""The Planner page, headless: what it shows is what the core and the command line give."""

import io
import json
import runpy
from contextlib import redirect_stdout

import numpy as np
import pandas as pd
import pytest

import delphi_core as dc
from delphi_core import plan_tables
from delphi_core.cli import main
from delphi_core.fits.law_choice import CHOSEN_ON
from delphi_core.fits.recipe import delphi_recipe
from delphi_core.fits.valley_backtest import DEFAULT_VALLEY
from delphi_core.plan_text import setting_words
from delphi_core.web.planner_view import TABS
from tests.app.snippets import snippets

MACRO = "eval/paloma/macro_loss"
LADDERS = ["delphi", "delphi-attempt-1", "moe-v16", "moe-aug-hero"]
CHIPS = {"chips": "1024", "chip_flops": "9e14", "utilisation": "0.4", "days": "30"}


@pytest.fixture
def open_planner(open_page):
    """Open the Planner page under a query."""

    def call(**query):
        page = open_page()
        page.query_params.clear()
        page.query_params.update(query)
        return page.switch_page("pages/planner.py").run()

    return call


def table_with(page, column):
    """The first table with a column, as the page hands it to the browser."""
    return next(table.value for table in page.dataframe if column in table.value)


def command(capsys, *arguments):
    """What a command prints as JSON."""
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def words(page):
    """All text of a page, as read rather than as Markdown."""
    parts = [*page.title, *page.markdown, *page.caption, *page.info, *page.warning]
    return " ".join(part.value.replace("\\", "") for part in parts)


@pytest.mark.parametrize("tab", TABS)
@pytest.mark.parametrize("ladder", LADDERS)
def test_every_tab_of_every_ladder_opens(open_planner, ladder, tab):
    page = open_planner(ladder=ladder, tab=tab)
    assert not page.exception
    assert not page.error
    assert not page.warning
    assert "nan" not in words(page).lower().split()


def test_headline_is_the_plan_of_the_first_budget(open_planner, snapshot):
    plan = dc.plan(snapshot, 1e22).plans[0]
    title = open_planner().title[0].value.replace("\\", "")
    assert title == (
        f"At 1 × 10²² FLOP: {plan.params / 1e9:.3g} B parameters on {plan.tokens / 1e9:.3g} B "
        f"tokens, loss {plan.predicted:.3f} ({plan.low:.3f} to {plan.high:.3f})"
    )
    assert "active parameters" in open_planner(ladder="moe-v16").title[0].value
    assert "no band" in open_planner(ladder="moe-aug-hero").title[0].value


@pytest.mark.parametrize(
    ("ladder", "method"),
    [
        ("delphi", "cubic"),
        ("delphi", "marin"),
        ("delphi", "surface"),
        ("moe-v16", "parabola"),
        ("delphi-attempt-1", "cubic"),
    ],
)
def test_plans_are_those_of_the_command_line(open_planner, capsys, ladder, method):
    query = {"ladder": ladder, "method": method, "flops": "1e21, 1e23"}
    document = command(
        capsys, "plan", "--flops", "1e21,1e23", "--ladder", ladder, "--method", method
    )
    plans = pd.DataFrame(document["plans"])
    shown = table_with(open_planner(**query), "params_words")
    for column in ("predicted", "low", "high", "tokens_per_param", "ratio", "spent"):
        np.testing.assert_array_equal(shown[column], plans[column], err_msg=column)
    rows = table_with(open_planner(**query, tab="valley"), "deadweight_pct")
    expected = pd.DataFrame([row for plan in document["plans"] for row in plan["valley"]])
    for column in ("predicted", "above", "deadweight_pct", "extrapolated", "size_ratio"):
        np.testing.assert_array_equal(rows[column], expected[column], err_msg=column)


def test_the_recipe_is_shown_with_every_setting_beside_the_nearest_runs(open_planner):
    page = open_planner(tab="recipe", hidden="3840", flops="1e21, 1e22")
    table = table_with(page, "setting")
    for flops in (1e21, 1e22):
        recipe = delphi_recipe(flops, 3840)
        own = dict(zip(table["setting"], table[f"at {flops:g}"], strict=True))
        assert own["layers"] == "37"
        for name, shown in own.items():
            assert shown == setting_words(getattr(recipe, name)), name
    runs = table_with(page, "lr_peak")
    assert {3840, 2560} <= set(runs["hidden_dim"])
    text = words(page)
    assert "81 of the 81 runs of the sweep to the last bit" in text
    differing = table_with(page, "recorded")
    assert {256, 4096} <= set(differing["recipe"])
    assert {512, 2048} <= set(differing["recorded"])


def test_other_ladders_have_no_recipe_and_the_page_says_so(open_planner):
    page = open_planner(ladder="moe-v16", tab="recipe", hidden="3840")
    assert "No recipe here" in words(page)
    assert "no recipe of ladder moe-v16 is known" in words(page).lower()
    assert not page.dataframe
    assert page.text_input(key="hidden").disabled


def test_a_width_that_a_budget_cannot_have_falls_to_the_nearest(open_planner):
    page = open_planner(tab="recipe", hidden="1152", flops="3e18")
    assert not page.exception
    assert not page.error
    text = words(page)
    assert "comes to a batch of 4 sequences" in text
    assert "The recipe of the nearest size is shown." in text
    assert "at 3e+18" in table_with(page, "setting")


def test_chips_give_one_more_budget(open_planner):
    shown = table_with(open_planner(**CHIPS), "params_words")
    assert list(shown["compute"]) == ["1 × 10²² FLOP", "9.56 × 10²³ FLOP"]
    page = open_planner(flops="", **CHIPS)
    assert page.title[0].value.startswith("At 9\\.56 × 10²³ FLOP")


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("flops", "0", "The budget is '0'; it must be from 1e+15 to 1e+26 FLOP."),
        ("flops", "1e40", "The budget is '1e+40'; it must be from"),
        ("flops", "-1e22", "The budget is '-1e+22'; it must be from"),
        ("flops", "much", "The budget is 'much'; it must be a number such as 1e22"),
        ("hidden", "1000", "The width is '1000'; the recipe takes multiples of 128"),
        ("chips", "8", "A budget in chips needs FLOP/s of a chip, utilisation, days too"),
    ],
)
def test_a_number_that_cannot_be_taken_is_named_and_kept(open_planner, key, value, sentence):
    page = open_planner()
    page.text_input(key=key).set_value(value).run()
    assert not page.exception
    assert not page.error
    assert len(page.warning) == 1
    assert sentence in words(page)
    assert page.text_input(key=key).value == value


@pytest.mark.parametrize("tab", TABS)
def test_without_a_budget_the_page_asks_for_one(open_planner, tab):
    page = open_planner(flops="", tab=tab)
    assert not page.exception
    assert not page.error
    assert page.title[0].value == "What should a budget be spent on?"
    if tab != "backtest":
        assert "no budget is typed; give one in FLOP" in words(page).replace("No", "no")


def test_every_control_changes_what_is_shown(open_planner):
    page = open_planner(tab="download")
    before = snippets(page)[0]
    changes = [
        ("text_input", "flops", "1e23"),
        ("button_group", "method", "parabola"),
        ("button_group", "level", "0.95"),
        ("text_input", "hidden", "5376"),
        ("selectbox", "ladder", "moe-v16"),
        ("selectbox", "metric", "eval/paloma/c4_en/bpb"),
    ]
    for kind, key, value in changes:
        getattr(page, kind)(key=key).set_value(value).run()
        assert not page.exception
        assert snippets(page)[0] != before, key
        before = snippets(page)[0]
    for key, value in CHIPS.items():
        page.text_input(key=key).set_value(value).run()
        assert not page.exception
    assert snippets(page)[0] != before
    page = open_planner(tab="valley")
    before = page.get("plotly_chart")[0].proto.spec
    page.button_group(key="x").set_value("size").run()
    assert page.get("plotly_chart")[0].proto.spec != before


def test_nothing_is_fitted_again_for_another_budget(open_planner, monkeypatch):
    page = open_planner(ladder="moe-v16", level="0.8")
    calls = []
    monkeypatch.setattr(plan_tables, "PlannerFit", lambda **_: calls.append(1))
    page.text_input(key="flops").set_value("1e24").run()
    page.button_group(key="tab").set_value("valley").run()
    assert not page.exception
    assert "At 1 × 10²⁴ FLOP" in page.title[0].value
    assert not calls


def test_the_backtest_says_how_far_off_the_valley_is(open_planner, snapshot):
    page = open_planner(tab="backtest")
    shown = table_with(page, "mean_abs_error").set_index("valley")
    rows = plan_tables.valley_backtest_of(snapshot, "delphi")
    errors = rows[rows["valley"] == DEFAULT_VALLEY]["error"].abs()
    assert shown.loc[DEFAULT_VALLEY, "mean_abs_error"] == errors.mean()
    assert shown["mean_abs_error"].is_monotonic_increasing
    text = words(page)
    assert f"mean error {errors.mean():.4f}, worst {errors.max():.4f}" in text
    assert all(ladder in text for ladder in CHOSEN_ON)
    assert "needs five budgets" in words(open_planner(ladder="moe-aug-hero", tab="backtest"))


def test_the_code_shown_makes_the_same_plans(open_planner, snapshot, tmp_path, monkeypatch):
    page = open_planner(tab="download", flops="1e21, 1e22", hidden="2560", level="0.8")
    (code,) = snippets(page)
    (tmp_path / "again.py").write_text(code, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with redirect_stdout(io.StringIO()):
        found = runpy.run_path("again.py")["plan"]
    expected = dc.plan(snapshot, [1e21, 1e22], level=0.8, hidden_dim=2560)
    pd.testing.assert_frame_equal(found.table, expected.table)
    assert (
        found.recipes == expected.recipes == (delphi_recipe(1e21, 2560), delphi_recipe(1e22, 2560))
    )
