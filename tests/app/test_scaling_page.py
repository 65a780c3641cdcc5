"""The Scaling law page, headless: what it shows is what the core and the command line give."""

import io
import json
import runpy
import shutil
from contextlib import redirect_stdout

import numpy as np
import pandas as pd
import pytest
import streamlit as st

import delphi_core as dc
from delphi_core import snapshot as snapshots
from delphi_core.cli import main
from delphi_core.export import points_csv
from delphi_core.fits import loss_law_fit
from delphi_core.fits.law_methods import METHODS
from delphi_core.snapshot_write import write_manifest
from delphi_core.web.scaling_view import TABS
from tests.app.snippets import snippets

MACRO = "eval/paloma/macro_loss"
BPB = "eval/paloma/c4_en/bpb"
LADDERS = ["delphi", "delphi-attempt-1", "moe-v16", "moe-aug-hero"]


@pytest.fixture
def open_scaling(open_page):
    """Open the Scaling law page under a query."""

    def call(**query):
        page = open_page()
        page.query_params.clear()
        page.query_params.update(query)
        return page.switch_page("pages/scaling.py").run()

    return call


def table_with(page, column):
    """The one table with a column, as the page hands it to the browser."""
    (found,) = [table.value for table in page.dataframe if column in table.value]
    return found


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
def test_every_tab_of_every_ladder_opens(open_scaling, ladder, tab):
    page = open_scaling(ladder=ladder, tab=tab)
    assert not page.exception
    assert not page.error
    assert not page.warning


@pytest.mark.parametrize("tab", TABS)
def test_a_metric_that_is_only_published_has_its_law_fitted_to_published_optima(open_scaling, tab):
    page = open_scaling(metric=BPB, tab=tab)
    assert not page.exception
    assert "Optima as published" in words(page)


def test_headline_is_the_largest_held_out_run_against_its_forecast(open_scaling):
    title = open_scaling().title[0].value
    assert "forecast at 1 × 10²³ FLOP, 2.355 measured" in title


@pytest.mark.parametrize(
    ("ladder", "method", "law"),
    [
        ("delphi", "cubic", "squares"),
        ("delphi", "marin", "log"),
        ("delphi", "surface", "huber"),
        ("delphi-attempt-1", "parabola", "huber"),
        ("moe-v16", "cubic", "squares"),
        ("moe-v16", "surface", "log"),
    ],
)
def test_forecasts_are_those_of_the_command_line(open_scaling, capsys, ladder, method, law):
    page = open_scaling(ladder=ladder, method=method, law=law, target="3e24")
    asked = ["--ladder", ladder, "--method", method, "--law", law, "--target-flops", "3e24"]
    if method == "surface":
        # The surface takes no curve, but its axis is the ladder's own.
        asked += ["--x", dc.load_snapshot().ladder(ladder).default_x]
    document = command(capsys, "fit", *asked)
    shown = table_with(page, "predicted")
    expected = pd.DataFrame(document["forecasts"])
    for column in ("predicted", "low", "high", "error_pct", "counted"):
        np.testing.assert_array_equal(
            shown[column].to_numpy(float), expected[column].to_numpy(float), err_msg=column
        )
    assert document["loss_law"]["described"] in words(page)


def test_methods_are_those_of_the_core_with_an_error_on_each_held_out_run(open_scaling):
    page = open_scaling(tab="methods")
    (shown,) = [table.value for table in page.dataframe if "method" in table.value]
    assert list(shown["method"]) == [method.name for method in METHODS]
    records = dc.load_snapshot().records("delphi", MACRO)
    fits = dc.fit_methods(records, dc.IsoflopFit(), dc.LawSettings())
    table = dc.methods_table(fits, [1e24])
    for flops, own in table.groupby("flops"):
        np.testing.assert_array_equal(shown[f"forecast {flops}"], own["predicted"])
        if own["error_pct"].notna().all():
            np.testing.assert_array_equal(shown[f"error {flops}"], own["error_pct"])
    assert {"E", "E_low", "E_high", "alpha", "A", "runs", "compute"} <= set(shown)


def test_walk_forward_is_that_of_the_command_line(open_scaling, capsys):
    page = open_scaling(ladder="moe-v16", tab="walk-forward")
    shown = table_with(page, "optimum")
    document = command(capsys, "walk-forward", "--ladder", "moe-v16")
    cuts = pd.DataFrame(document["cuts"])
    cuts = cuts[cuts["band"] == "residual bootstrap"].reset_index(drop=True)
    for column in ("predicted", "low", "high", "optimum", "error_pct", "score"):
        np.testing.assert_array_equal(shown[column], cuts[column], err_msg=column)
    text = words(page)
    assert "least interval score" in text
    assert "333" in text


def test_pinning_e_moves_the_forecast_and_says_whether_the_rows_allow_it(open_scaling):
    page = open_scaling(tab="asymptote", asymptote="1.6")
    assert "E is pinned at 1.6, outside the interval" in words(page)
    free = table_with(open_scaling(), "predicted")["predicted"]
    pinned = table_with(open_scaling(asymptote="1.6"), "predicted")["predicted"]
    assert (pinned[2:].to_numpy() < free[2:].to_numpy()).all()


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("target", "1e40", "from 1e+15 to 1e+26 FLOP"),
        ("target", "many", "from 1e+15 to 1e+26 FLOP"),
        ("asymptote", "-1", "a number from 0 up"),
        ("asymptote", "nan", "a number from 0 up"),
    ],
)
def test_a_number_that_cannot_be_taken_is_named_and_kept(open_scaling, key, value, sentence):
    page = open_scaling()
    page.text_input(key=key).set_value(value).run()
    assert not page.exception
    assert sentence in words(page)
    assert page.text_input(key=key).value == value


def test_an_e_above_the_losses_is_refused_in_a_sentence(open_scaling):
    page = open_scaling(asymptote="3")
    assert not page.exception
    assert "at or below the pinned E of 3" in words(page)


def test_every_control_changes_what_is_shown(open_scaling):
    page = open_scaling()
    before = page.caption[0].value
    changes = [
        ("button_group", "method", "parabola"),
        ("button_group", "law", "log"),
        ("selectbox", "band", "profile"),
        ("button_group", "level", "0.95"),
        ("button_group", "compute", "nominal"),
        ("toggle", "excluded", True),
        ("text_input", "asymptote", "1.7"),
        ("selectbox", "ladder", "moe-v16"),
    ]
    for kind, key, value in changes:
        getattr(page, kind)(key=key).set_value(value).run()
        assert not page.exception
        assert page.caption[0].value != before, key
        before = page.caption[0].value


def test_nothing_is_fitted_again_when_only_the_view_changes(open_scaling, monkeypatch):
    page = open_scaling(band="delta")
    calls = []
    monkeypatch.setattr(loss_law_fit, "band_of", lambda *_, **__: calls.append(1))
    page.text_input(key="target").set_value("1e25").run()
    page.button_group(key="y").set_value("log").run()
    page.toggle(key="published").set_value(True).run()
    page.button_group(key="tab").set_value("size").run()
    assert not page.exception
    assert not calls


def test_another_target_fits_no_method_again(open_scaling, monkeypatch):
    page = open_scaling(band="delta", tab="methods", target="1e25")
    calls = []
    monkeypatch.setattr(loss_law_fit, "band_of", lambda *_, **__: calls.append(1))
    page.text_input(key="target").set_value("3e25").run()
    assert not page.exception
    assert "forecast 3e+25" in table_with(page, "E_low")
    assert not calls


def test_published_laws_can_be_laid_over(open_scaling):
    plain = open_scaling(ladder="moe-v16").get("plotly_chart")[0].proto.spec
    laid = open_scaling(ladder="moe-v16", published="true").get("plotly_chart")[0].proto.spec
    assert "published or recomputed laws" not in plain
    assert "published or recomputed laws" in laid
    assert "published optimum" in laid


@pytest.mark.parametrize(
    ("ladder", "method"), [("delphi", "cubic"), ("moe-v16", "parabola"), ("delphi", "surface")]
)
def test_points_fitted_again_by_the_code_shown_give_the_same_law(
    open_scaling, tmp_path, monkeypatch, ladder, method
):
    page = open_scaling(ladder=ladder, method=method, tab="download")
    (code,) = snippets(page)
    snapshot = dc.load_snapshot()
    curve = "parabola" if method == "surface" else method
    x = snapshot.ladder(ladder).default_x
    isoflop = dc.fit_isoflops(snapshot.records(ladder, MACRO), method=curve, x=x)
    name = f"{ladder}_eval-paloma-macro_loss_{method}_squares_points.csv"
    (tmp_path / name).write_text(points_csv(isoflop), encoding="utf-8")
    (tmp_path / "again.py").write_text(code, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with redirect_stdout(io.StringIO()) as printed:
        runpy.run_path("again.py")
    described, forecast = printed.getvalue().splitlines()[:2]
    assert described in words(page)
    assert forecast.startswith("Forecast(")


@pytest.mark.parametrize(
    ("ladder", "target"),
    [("moe-v16", "1e23"), ("moe-v16", "1e21"), ("delphi", "1.00001e23"), ("delphi", "1e23")],
)
def test_the_compute_of_a_held_out_run_may_be_the_target(open_scaling, ladder, target):
    page = open_scaling(ladder=ladder, target=target, tab="methods")
    assert not page.exception
    (shown,) = [table.value for table in page.dataframe if "method" in table.value]
    errors = [name for name in shown if name.startswith("error")]
    held_out = dc.held_out_runs(dc.load_snapshot().records(ladder, MACRO))
    assert errors == [f"error {item.flops}" for item in held_out]
    page = open_scaling(ladder=ladder, target=target)
    assert not page.exception
    assert "not measured" not in words(page)


def test_an_e_close_below_the_losses_is_not_said_to_have_no_law(open_scaling):
    text = words(open_scaling(tab="asymptote", asymptote="2.88"))
    assert "L* = 2.8800" in text
    assert "E is pinned at 2.88, outside the interval." in text
    text = words(open_scaling(tab="asymptote", asymptote="3"))
    assert "E is pinned at 3, where no law has it" in text


def test_walk_forward_shows_laws_whose_e_is_fitted_and_says_so(open_scaling):
    page = open_scaling(tab="walk-forward", asymptote="1.6")
    free = open_scaling(tab="walk-forward")
    drawn, drawn_free = (
        json.loads(shown.get("plotly_chart")[0].proto.spec)["data"] for shown in (page, free)
    )
    assert drawn == drawn_free
    assert "the pinned E of 1.6 plays no part" in words(page)
    assert "plays no part." not in words(free).replace("play no part in it", "")


@pytest.mark.parametrize("band", ["delta", "jackknife"])
def test_no_band_falls_below_the_pinned_e(open_scaling, band):
    page = open_scaling(asymptote="2.88", law="log", band=band, target="1e15")
    shown = table_with(page, "predicted")
    assert (shown["low"] >= 2.88).all()
    assert (shown["low"] <= shown["predicted"]).all()


def test_bootstraps_where_a_curve_passes_through_all_rows_of_a_budget(open_scaling):
    page = open_scaling(ladder="moe-aug-hero", asymptote="1.6", band="stratified bootstrap")
    assert not page.exception
    assert "90 % band by the bootstrap within budgets" in words(page)


@pytest.mark.parametrize("tab", ["loss", "size", "asymptote", "methods"])
def test_a_surface_with_a_term_of_zero_has_no_forecast_and_the_page_says_so(
    tmp_path, monkeypatch, open_scaling, tab
):
    folder = shutil.copytree(snapshots.BUNDLED, tmp_path / "snapshot")
    runs = pd.read_csv(folder / "runs.csv", dtype=str, keep_default_na=False)
    evals = pd.read_csv(folder / "evals.csv", dtype=str, keep_default_na=False)
    keys = pd.MultiIndex.from_frame(evals[["ladder", "run"]])
    own = (evals["ladder"] == "delphi") & (evals["metric"] == MACRO)
    sizes = runs.set_index(["ladder", "run"]).loc[keys[own], ["tokens", "params"]].astype(float)
    # Larger models are no better, whatever their tokens.
    losses = 2 + 300 * sizes["tokens"] ** -0.3 + 0.02 * np.log(sizes["params"] / 1e9)
    losses += 0.003 * np.random.default_rng(0).normal(size=len(losses))
    evals.loc[own, "value"] = [repr(float(loss)) for loss in losses]
    evals.to_csv(folder / "evals.csv", index=False, lineterminator="\n")
    write_manifest(folder, "2030-01-01T00:00:00Z")
    monkeypatch.setenv("DELPHI_SNAPSHOT", str(folder))
    st.cache_resource.clear()
    page = open_scaling(method="surface", tab=tab)
    st.cache_resource.clear()
    assert not page.exception
    assert "nan" not in words(page).lower().split()
    assert "these rows determine no loss law" in page.title[0].value
    if tab == "loss":
        assert "the loss does not fall with what the law says it falls with" in words(page)
