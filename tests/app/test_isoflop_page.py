"""The IsoFLOP page, headless: what it shows is what the core and the command line give."""

import base64
import json
import shutil

import numpy as np
import pandas as pd
import pytest
import streamlit as st

from delphi_core import snapshot as snapshots
from delphi_core.cli import main
from delphi_core.web.view_state import METHODS

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
    assert [control.disabled for control in page.button_group] == [True, True]


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
    assert page.query_params == {"metric": BPB, "method": "cubic"}
    page.selectbox(key="ladder").set_value("moe-v16").run()
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


def test_downloads_are_offered(open_page):
    page = open_page(ladder="moe-v16", x="tokens")
    points, optima = page.get("download_button")
    assert (points.proto.label, optima.proto.label) == ("Points", "Optima")
    assert "moe-v16_eval-paloma-macro_loss_tokens_parabola_points.csv" in page.code[0].value


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
    assert "was refused" in page.warning[0].value
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
    snapshots.write_manifest(other_snapshot, "2030-01-01T00:00:00Z")
    page = open_page()
    assert not page.exception
    assert page.title[0].value.startswith(r"\<script\>alert\(1\)\<\/script\> \[x\]\(javascript\:")
    assert "](javascript" not in page.caption[0].value
    assert "2030" in page.caption[0].value
