"""The IsoFLOP page, headless: what it shows is what the core and the command line give."""

import base64
import io
import json
import runpy
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import streamlit as st

from delphi_core import snapshot as snapshots
from delphi_core.cli import main
from delphi_core.snapshot_write import write_manifest
from delphi_core.web.isoflop_view import METHODS
from tests.app.snippets import snippets

MACRO = "eval/paloma/macro_loss"
BPB = "eval/paloma/c4_en/bpb"

VIEWS = [
    (ladder, metric, x, method)
    for ladder, metric, x in [
        ("delphi", MACRO, "tokens"),
        ("delphi", MACRO, "params"),
        ("delphi-attempt-1", MACRO, "tokens"),
        ("moe-v16", MACRO, "active_params"),
        ("moe-v16", BPB, "tokens"),
        ("moe-aug-hero", MACRO, "active_params"),
    ]
    for method in METHODS
]


def table_with(page, column):
    """The one table with a column, as the page hands it to the browser."""
    (found,) = [table.value for table in page.dataframe if column in table.value]
    return found


def chart(page):
    (element,) = page.get("plotly_chart")
    return element.proto


def test_the_front_door_opens_the_isoflop_page(open_page):
    page = open_page()
    assert not page.exception
    assert page.title[0].value.startswith(r"Delphi \(AdamH\): the optimal number of tokens grows")
    assert page.selectbox(key="ladder").value == "delphi"
    assert page.selectbox(key="metric").value == MACRO
    assert not page.warning
    assert not page.error


@pytest.mark.parametrize("view", VIEWS, ids="-".join)
def test_table_holds_the_numbers_of_the_command_line(open_page, capsys, view):
    ladder, metric, x, method = view
    page = open_page(ladder=ladder, metric=metric, x=x, method=method)
    assert not page.exception
    table = table_with(page, "optimal_tokens")
    command = ["--ladder", ladder, "--metric", metric, "--x", x, "--method", method]
    assert main(["fit", *command, "--json"]) in (0, 3)
    document = json.loads(capsys.readouterr().out)
    assert len(table) == len(document["budgets"])
    for row, budget in zip(table.to_dict("records"), document["budgets"], strict=True):
        assert row["flops"] == budget["flops"] / 1e18
        assert row["runs"] == budget["runs"]
        assert row["notes"] == " ".join(budget["notes"])
        columns = ["optimal_tokens", "optimal_params", "loss_at_optimal", "a", "b", "c"]
        columns += ["d"] if method == "cubic" else []
        for column in columns:
            if budget[column] is None:
                assert pd.isna(row[column])
            else:
                assert row[column] == budget[column]
    left = table_with(page, "left_out_reason").set_index("run")["left_out_reason"]
    for item in document["left_out"]:
        assert left[item["run"]] == item["reason"]
    assert document["described"].split(" in log10")[0] in page.caption[0].value.replace("\\", "")


def test_published_curves_are_named_as_such(open_page):
    page = open_page(metric=BPB)
    assert page.title[0].value.endswith("IsoFLOP curves as published")
    assert "as published" in page.caption[0].value
    assert "nothing was fitted here" in page.caption[0].value
    table = table_with(page, "fit_set")
    assert table["optimal_tokens"].to_list()[0] == 1385734942.0531974
    names = [trace.get("name") for trace in json.loads(chart(page).spec)["data"]]
    assert sum(str(name).endswith(", published") for name in names) == 7
    assert "Published optima" in chart(page).alt
    assert [control.disabled for control in page.button_group] == [True, True, False]


def test_flags_stand_in_words_below_the_chart(open_page):
    page = open_page(ladder="delphi-attempt-1")
    words = " ".join(element.value for element in page.markdown)
    assert "concave" in words
    assert "there is no optimum" in words


def test_every_control_changes_the_chart_and_the_url(open_page):
    page = open_page()
    before = chart(page).spec
    page.button_group(key="x").set_value("params").run()
    assert page.query_params == {"x": "params"}
    assert chart(page).spec != before
    page.button_group(key="method").set_value("cubic").run()
    assert page.query_params == {"x": "params", "method": "cubic"}
    page.selectbox(key="metric").set_value(BPB).run()
    assert page.query_params == {"metric": BPB}
    page.selectbox(key="ladder").set_value("moe-v16").run()
    assert page.query_params == {"ladder": "moe-v16", "metric": BPB}
    page.button_group(key="method").set_value("cubic").run()
    assert page.query_params == {"ladder": "moe-v16", "metric": BPB, "method": "cubic"}
    assert page.button_group(key="x").value == "active_params"
    page.selectbox(key="ladder").set_value("delphi-attempt-1").run()
    assert page.query_params == {"ladder": "delphi-attempt-1", "method": "cubic"}
    assert not page.exception
    assert not page.warning


def test_the_url_of_any_view_opens_that_view(open_page):
    page = open_page()
    for key, value in [("ladder", "moe-v16"), ("metric", BPB), ("ladder", "moe-aug-hero")]:
        page.selectbox(key=key).set_value(value).run()
        again = open_page(**page.query_params)
        assert chart(again).spec == chart(page).spec
        assert again.title[0].value == page.title[0].value


def test_a_link_opened_in_the_same_visit_wins_over_the_widgets(open_page):
    page = open_page(ladder="moe-v16")
    page.query_params = {"ladder": "delphi", "x": "params"}
    page.run()
    assert page.selectbox(key="ladder").value == "delphi"
    assert page.button_group(key="x").value == "params"


def test_foreign_parameters_stay(open_page):
    page = open_page(utm="discord")
    page.button_group(key="x").set_value("params").run()
    assert page.query_params == {"utm": "discord", "x": "params"}


@pytest.fixture
def downloads(monkeypatch):
    """What the page's download buttons would save: file name to content."""
    files = {}

    def button(_label, data, file_name, **_options):
        files[file_name] = data()

    monkeypatch.setattr(st, "download_button", button)
    return files


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder that the test runs in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("view", VIEWS, ids="-".join)
def test_downloads_are_what_is_shown_and_fit_to_the_same_law(
    open_page, downloads, view, folder, capsys
):
    ladder, metric, x, method = view
    page = open_page(ladder=ladder, metric=metric, x=x, method=method)
    stem = f"{ladder}_{metric.replace('/', '-')}_{x}_{method}"
    assert list(downloads) == [f"{stem}_points.csv", f"{stem}_optima.csv"]
    optima = pd.read_csv(io.StringIO(downloads[f"{stem}_optima.csv"]))
    table = table_with(page, "optimal_tokens")
    assert optima["optimal_tokens"].equals(table["optimal_tokens"])
    assert optima["loss_at_optimal"].equals(table["loss_at_optimal"])
    assert set(optima["ladder"]) == {ladder}
    points = pd.read_csv(io.StringIO(downloads[f"{stem}_points.csv"]))
    assert len(points) == drawn_points(page)
    # The snippet on the page, run as it stands, says what the caption says.
    (folder / f"{stem}_points.csv").write_text(downloads[f"{stem}_points.csv"], encoding="utf-8")
    capsys.readouterr()
    exec(snippets(page)[0], {})  # noqa: S102 - the page's own snippet
    assert capsys.readouterr().out.strip() in page.caption[0].value.replace("\\", "")


def drawn_points(page):
    """How many runs the chart draws."""
    data = json.loads(chart(page).spec)["data"]
    return sum(len(trace["text"]) for trace in data if "customdata" in trace)


def test_published_curves_come_without_a_snippet(open_page, downloads):
    page = open_page(metric=BPB)
    assert not snippets(page)
    stem = "delphi_eval-paloma-c4_en-bpb_tokens_parabola"
    optima = pd.read_csv(io.StringIO(downloads[f"{stem}_optima.csv"]))
    shown = table_with(page, "fit_set")["optimal_tokens"]
    assert optima["optimal_tokens"].to_list() == shown.to_list()


def test_sizes_of_mixtures_of_experts_are_said_to_be_active(open_page):
    page = open_page(ladder="moe-v16")
    columns = [json.loads(table.proto.columns) for table in page.dataframe]
    assert columns[0]["optimal_params"]["label"] == "N* (active parameters)"
    assert "active parameters" in chart(page).alt
    assert "tokens per active parameter" in chart(page).spec
    dense = open_page()
    columns = [json.loads(table.proto.columns) for table in dense.dataframe]
    assert columns[0]["optimal_params"]["label"] == "N* (parameters)"


def test_caption_names_sources_and_what_is_off_the_chart(open_page):
    page = open_page(ladder="moe-aug-hero")
    words = page.caption[0].value
    assert "2 runs off the chart" in words
    assert "](https://github.com/marin-community/marin/issues/8003" in words
    # Runs, their values of this metric and the published curves come from different sources.
    words = open_page(metric=BPB).caption[0].value
    for end in ("delphi-blog-data)", "delphi_midtraining.md)", "marin-community/marin)"):
        assert end in words


def test_few_optima_are_said_in_the_headline(open_page):
    page = open_page(ladder="moe-aug-hero", method="cubic")
    assert "seems to grow" in page.title[0].value
    assert page.title[0].value.endswith("on 2 budgets only")
    assert "only" not in open_page().title[0].value


def test_a_notice_stays_until_a_control_is_used(open_page):
    page = open_page(method="spline", ladder="moe-v16")
    assert "'spline'" in page.warning[0].value.replace("\\", "")
    page.run()
    assert len(page.warning) == 1
    page.button_group(key="x").set_value("tokens").run()
    assert not page.warning
    assert page.query_params == {"ladder": "moe-v16", "x": "tokens"}


def test_a_link_stays_in_the_address_as_it_came(open_page):
    page = open_page(ladder="delphi", method="spline")
    assert page.query_params == {"ladder": "delphi", "method": "spline"}


def test_the_server_gets_an_app_with_compression():
    module = runpy.run_path(str(Path(__file__).parents[2] / "app.py"))
    assert isinstance(module["app"], st.App)


def test_chart_data_are_the_points(open_page, snapshot):
    page = open_page(ladder="moe-aug-hero", x="tokens")
    records = snapshot.records("moe-aug-hero", MACRO)
    drawn = []
    for trace in json.loads(chart(page).spec)["data"]:
        if "customdata" in trace:
            data = trace["x"]
            drawn += np.frombuffer(base64.b64decode(data["bdata"]), data["dtype"]).tolist()
    assert sorted(drawn) == sorted(records["tokens"])


@pytest.fixture
def other_snapshot(tmp_path, monkeypatch):
    """A folder that DELPHI_SNAPSHOT names, read anew by the next page."""
    folder = shutil.copytree(snapshots.BUNDLED, tmp_path / "snapshot")
    monkeypatch.setenv("DELPHI_SNAPSHOT", str(folder))
    st.cache_resource.clear()
    yield folder
    st.cache_resource.clear()


def test_a_refused_snapshot_leaves_the_page_up_with_a_notice(other_snapshot, open_page):
    (other_snapshot / "runs.csv").write_text("torn", encoding="utf-8")
    page = open_page()
    assert not page.exception
    assert "the bundled figures are shown instead" in page.warning[0].value
    assert "the snapshot is torn" in page.warning[0].value
    assert len(table_with(page, "optimal_tokens")) == 7


def test_hostile_names_are_shown_as_text(other_snapshot, open_page):
    file = other_snapshot / "ladders.csv"
    text = file.read_text(encoding="utf-8")
    hostile = "<script>alert(1)</script> [x](javascript:alert(1))"
    file.write_text(text.replace("Delphi (AdamH)", hostile), encoding="utf-8")
    file = other_snapshot / "sources.csv"
    text = file.read_text(encoding="utf-8")
    text = text.replace("https://huggingface.co", "javascript:alert(1)//", 1)
    file.write_text(text, encoding="utf-8")
    write_manifest(other_snapshot, "2030-01-01T00:00:00Z")
    page = open_page()
    assert not page.exception
    assert page.title[0].value.startswith(r"\<script\>alert\(1\)\<\/script\> \[x\]\(javascript\:")
    assert "](javascript" not in page.caption[0].value
    assert "2030" in page.caption[0].value


@pytest.mark.parametrize("keep", [0, 2])
def test_a_ladder_without_curves_is_not_offered(other_snapshot, open_page, keep):
    for table in ("runs", "evals"):
        file = other_snapshot / f"{table}.csv"
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        own = [line for line in lines if line.startswith("moe-aug-hero,")]
        others = [line for line in lines if not line.startswith("moe-aug-hero,")]
        file.write_text("".join(others + own[:keep]), encoding="utf-8")
    write_manifest(other_snapshot, "2030-01-01T00:00:00Z")
    page = open_page(ladder="moe-aug-hero")
    assert not page.exception
    assert len(page.selectbox(key="ladder").options) == 3
    assert "moe-aug-hero" in page.warning[0].value.replace("\\", "")


def test_a_sweep_with_two_labels_does_not_take_other_ladders_down(other_snapshot, open_page):
    file = other_snapshot / "runs.csv"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(",adamh_scaling_v6,", ",another,", 1), encoding="utf-8")
    write_manifest(other_snapshot, "2030-01-01T00:00:00Z")
    page = open_page(ladder="moe-v16")
    assert not page.exception
    assert not page.error
    assert len(table_with(page, "optimal_tokens")) == 6


def test_a_snapshot_without_sweeps_says_so(other_snapshot, open_page):
    file = other_snapshot / "ladders.csv"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(",isoflop,", ",optima,"), encoding="utf-8")
    write_manifest(other_snapshot, "2030-01-01T00:00:00Z")
    page = open_page()
    assert not page.exception
    assert "no ladder with IsoFLOP curves" in page.error[0].value


def test_budgets_that_are_not_chosen_are_neither_shown_nor_fitted(open_page, downloads, capsys):
    page = open_page()
    page.multiselect(key="budgets").set_value(["3e18", "3e19", "3e20"]).run()
    assert page.query_params == {"budgets": ["3e18", "3e19", "3e20"]}
    assert page.title[0].value.endswith("on 3 budgets only")
    table = table_with(page, "optimal_tokens")
    assert main(["fit", "--drop", "budget=9e18,1.8e19,9e19,1.8e20", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert table["optimal_tokens"].to_list() == [b["optimal_tokens"] for b in document["budgets"]]
    points = pd.read_csv(io.StringIO(list(downloads.values())[-2]))
    sweep = points[points["role"] == "isoflop"]
    assert set(sweep["budget"]) == {3e18, 3e19, 3e20}
    assert (points["role"] == "heldout").sum() == 7
    assert len(points) == drawn_points(page)


def test_no_budget_at_all_says_what_to_do(open_page):
    page = open_page(budgets="")
    assert not page.exception
    assert "Choose one above" in page.info[0].value
    page.multiselect(key="budgets").set_value(["3e18"]).run()
    assert not page.info
    assert page.query_params == {"budgets": "3e18"}


def test_excluded_runs_are_fitted_when_asked(open_page, capsys):
    page = open_page()
    page.toggle(key="excluded").set_value(True).run()
    assert page.query_params == {"excluded": "true"}
    assert main(["fit", "--include-excluded", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    table = table_with(page, "optimal_tokens")
    assert table["optimal_tokens"].to_list() == [b["optimal_tokens"] for b in document["budgets"]]
    assert table["runs"].sum() == 81
    assert "include_excluded=True" in snippets(page)[0]


def test_value_axis_may_be_logarithmic(open_page):
    page = open_page(ladder="moe-v16")
    page.button_group(key="y").set_value("log").run()
    assert page.query_params == {"ladder": "moe-v16", "y": "log"}
    assert json.loads(chart(page).spec)["layout"]["yaxis"]["type"] == "log"


def test_intervals_stand_in_the_table_with_level_and_method(open_page, capsys):
    for ladder in ("delphi", "delphi-attempt-1", "moe-aug-hero"):
        table = table_with(open_page(ladder=ladder), "optimal_tokens")
        main(["fit", "--ladder", ladder, "--json"])
        budgets = json.loads(capsys.readouterr().out)["budgets"]
        for row, budget in zip(table.to_dict("records"), budgets, strict=True):
            for column in ("low", "high", "level", "interval", "replicates", "failed"):
                shown = None if pd.isna(row[column]) else row[column]
                assert shown == budget[column]
