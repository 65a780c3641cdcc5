"""The Trajectories page, headless: what it shows is what the core and the command line give."""

import io
import json
import shutil
from contextlib import redirect_stdout

import numpy as np
import pandas as pd
import pytest
import streamlit as st

import delphi_core as dc
from delphi_core import snapshot as snapshots
from delphi_core.cli import main
from delphi_core.fits import trajectory_forecast
from delphi_core.ledger import ledger_scores
from delphi_core.snapshot_write import write_manifest
from delphi_core.web.trajectory_view import TABS
from tests.app.snippets import snippets

MACRO = "eval_dropless/paloma/macro_loss"
TARGETS = ["hero", "67b", "delphi-1e23"]


@pytest.fixture
def open_trajectories(open_page):
    """Open the Trajectories page under a query."""

    def call(**query):
        page = open_page()
        page.query_params.clear()
        page.query_params.update(query)
        return page.switch_page("pages/trajectories.py").run()

    return call


def words(page):
    """All text of a page, as read rather than as Markdown."""
    parts = [*page.title, *page.markdown, *page.caption, *page.info, *page.warning]
    return " ".join(part.value.replace("\\", "") for part in parts)


def forecast(capsys, *arguments):
    """What the forecast command prints as JSON."""
    assert main(["forecast", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("tab", [tab for tab in TABS if tab not in ("subsets", "backtests")])
@pytest.mark.parametrize("target", TARGETS)
def test_tabs_of_every_target_open(open_trajectories, target, tab):
    page = open_trajectories(target=target, tab=tab, events="true", rungs="true")
    assert not page.exception
    assert not page.error
    assert not page.warning


@pytest.mark.parametrize(
    ("query", "arguments"),
    [
        ({}, ["--target", "hero"]),
        (
            {"method": "per-fraction", "asymptote": "1.5"},
            ["--target", "hero", "--method", "per-fraction", "--asymptote", "1.5"],
        ),
        ({"target": "67b"}, ["--target", "67b"]),
        ({"target": "delphi-1e23", "level": "0.8"}, ["--target", "delphi-1e23", "--level", "0.8"]),
    ],
)
def test_evaluations_are_those_of_the_command_line(open_trajectories, capsys, query, arguments):
    page = open_trajectories(tab="evaluations", **query)
    (shown,) = [table.value for table in page.dataframe]
    document = forecast(capsys, *arguments)
    points = pd.DataFrame(document["points"])
    points = points[points["actual"].notna()].reset_index(drop=True)
    assert len(shown) == len(points)
    for column in ("predicted", "low", "high", "actual", "error_pct"):
        if column in shown:
            np.testing.assert_array_equal(
                shown[column].to_numpy(float), points[column].to_numpy(float), err_msg=column
            )
    assert document["described"] in words(page)


def test_headline_and_verdict_say_how_the_last_evaluation_met_the_forecast(
    open_trajectories, capsys
):
    page = open_trajectories()
    found = forecast(capsys, "--target", "hero")["summary"]
    assert page.title[0].value.replace("\\", "").startswith("hero-535b-a23b at 35.4 %: measured")
    text = words(page)
    assert f"{found['evaluations']} evaluations from 5 % of training on" in text
    assert f"mean absolute error {found['mean_abs_error_pct']:.3f} %" in text
    assert "as of step 137,999" in text


def test_the_67b_run_says_that_one_point_is_all_that_can_be_forecast(open_trajectories):
    text = words(open_trajectories(target="67b"))
    assert "one forecast, not a curve" in text
    assert "Published 2026-06-27: 2.269 forecast at 80 %, 2.256 measured (−0.57 %)" in text
    other = open_trajectories(target="67b", metric="eval/paloma/c4_en/loss")
    assert not other.exception
    assert "No forecast" in words(other)
    assert other.get("plotly_chart")


def test_every_control_changes_what_is_shown(open_trajectories):
    page = open_trajectories()

    def seen():
        return page.caption[0].value, page.get("plotly_chart")[0].proto.spec

    before = seen()
    changes = [
        ("toggle", "rungs", True),
        ("toggle", "events", True),
        ("button_group", "x", "tokens"),
        ("button_group", "start", "0.2"),
        ("button_group", "level", "0.95"),
        ("button_group", "end", "0.6"),
        ("selectbox", "method", "joint"),
        ("text_input", "asymptote", "1.4"),
        ("multiselect", "without", ["ptb"]),
        ("selectbox", "metric", "eval_dropless/paloma/c4_en/loss"),
        ("button_group", "target", "delphi-1e23"),
    ]
    for kind, key, value in changes:
        getattr(page, kind)(key=key).set_value(value).run()
        assert not page.exception
        assert seen() != before, key
        before = seen()


def test_nothing_is_forecast_again_when_only_the_view_changes(open_trajectories, monkeypatch):
    page = open_trajectories()
    calls = []
    monkeypatch.setattr(trajectory_forecast, "fit_line", lambda *_, **__: calls.append(1))
    page.button_group(key="x").set_value("flops").run()
    page.toggle(key="rungs").set_value(True).run()
    page.button_group(key="start").set_value("0").run()
    page.button_group(key="tab").set_value("evaluations").run()
    assert not page.exception
    assert not calls


@pytest.mark.parametrize(("value", "sentence"), [("low", "It is left"), ("9", "E is pinned")])
def test_an_e_that_cannot_be_had_is_said_in_a_sentence(open_trajectories, value, sentence):
    page = open_trajectories(asymptote=value)
    assert not page.exception
    assert sentence in words(page)


def test_a_macro_loss_without_a_subset_is_the_mean_of_the_others(open_trajectories, capsys):
    page = open_trajectories(without="ptb", tab="evaluations")
    (shown,) = [table.value for table in page.dataframe]
    document = forecast(capsys, "--target", "hero", "--without", "ptb")
    points = [point for point in document["points"] if point["actual"] is not None]
    assert list(shown["actual"]) == [point["actual"] for point in points]
    assert "macro_loss without ptb" in words(page)
    assert not open_trajectories(target="67b").multiselect


def test_where_the_run_left_its_rungs_is_said(open_trajectories):
    text = words(open_trajectories())
    assert "Trained as its rungs were up to 27.7 %" in text
    assert "Planned: 50.0 %" in text
    assert "5.0 % (BS 4096 -> 8192" in words(open_trajectories(target="67b"))


def test_methods_stand_side_by_side(open_trajectories):
    (table,) = [frame.value for frame in open_trajectories(tab="methods").dataframe]
    names = ["per-fraction", "joint", "collapse", "surface"]
    assert list(table["method"]) == [*names, *(f"{name}, E fitted" for name in names)]
    assert table["mean_abs_error_pct"].notna().all()


def test_backtests_of_the_metric_are_shown_with_the_default_first(open_trajectories):
    page = open_trajectories(target="delphi-1e23", tab="backtests")
    (table,) = [frame.value for frame in page.dataframe]
    assert table["forecaster"].iloc[0].startswith("surface")
    assert "least interval score in backtests" in words(page)


@pytest.mark.parametrize("target", ["hero", "67b"])
def test_every_published_forecast_is_on_record_whatever_the_target(open_trajectories, target):
    page = open_trajectories(target=target, tab="record")
    ledger = dc.forecast_ledger(dc.load_snapshot())
    scores, rows = [frame.value for frame in page.dataframe]
    pd.testing.assert_frame_equal(scores, ledger_scores(ledger), check_dtype=False)
    assert len(rows) == len(ledger) == 67
    assert sorted(rows["error_pct"].dropna()) == sorted(ledger["error_pct"].dropna())
    first = rows.iloc[:4]
    assert first["preregistered"].all()
    assert first["error_pct"].notna().all()
    chart = page.get("plotly_chart")[0].proto
    assert chart.alt.startswith("Error of 31 published forecasts against extrapolation ratio")
    text = words(page)
    assert "67 published forecasts, 50 with an outcome. 31 of those reach beyond" in text
    assert "Of 3 forecasts only the deviation was printed" in text
    assert page.get("download_button")


def test_a_snapshot_without_published_forecasts_says_so(open_trajectories, monkeypatch, tmp_path):
    folder = shutil.copytree(snapshots.BUNDLED, tmp_path / "snapshot")
    file = folder / "published_forecasts.csv"
    file.write_text(file.read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8")
    write_manifest(folder, "2030-01-01T00:00:00Z")
    monkeypatch.setenv("DELPHI_SNAPSHOT", str(folder))
    st.cache_resource.clear()
    page = open_trajectories(tab="record")
    st.cache_resource.clear()
    assert not page.exception
    assert "holds no published forecasts" in words(page)


def test_the_code_shown_makes_the_same_forecast(open_trajectories):
    page = open_trajectories(tab="download", method="joint", asymptote="1.4")
    (code,) = snippets(page)
    wanted = dc.forecast_trajectory(
        dc.load_snapshot(), "hero", metric=MACRO, method="joint", asymptote=1.4, level=0.9
    )
    with redirect_stdout(io.StringIO()) as printed:
        exec(code, {})  # noqa: S102 - the page's own words, run as a reader would
    assert printed.getvalue() == f"{wanted}\n"


@pytest.mark.parametrize("tab", TABS)
def test_a_target_that_nothing_is_measured_of_yet_is_said_to_have_no_forecast(
    tmp_path, monkeypatch, open_trajectories, tab
):
    folder = shutil.copytree(snapshots.BUNDLED, tmp_path / "snapshot")
    rows = pd.read_csv(folder / "trajectories.csv", dtype=str, keep_default_na=False)
    rows = rows[rows["ladder"] != "moe-67b"]
    rows.to_csv(folder / "trajectories.csv", index=False, lineterminator="\n")
    write_manifest(folder, "2030-01-01T00:00:00Z")
    monkeypatch.setenv("DELPHI_SNAPSHOT", str(folder))
    st.cache_resource.clear()
    page = open_trajectories(target="67b", tab=tab)
    st.cache_resource.clear()
    assert not page.exception
    assert not page.error
    assert "no evaluation meets a forecast here" in page.title[0].value
