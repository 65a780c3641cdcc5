"""A ladder of one's own, headless: taken or refused on the Data page, and fitted as the file is."""

import json
import time

import pandas as pd
import pytest
import streamlit as st

import delphi_core as dc
from delphi_core.cli import main
from delphi_core.own_ladders import parse_own_ladders, template_csv
from delphi_core.web import opening
from delphi_core.web import own as own_panel
from tests.app.snippets import snippets

MACRO = "eval/paloma/macro_loss"
HEADER = "tokens,metric,value,flops,params,label\n"
GOOD = "1e9,loss,3.5,1e18,1e8,a\n"
FILES = {name: f"pages/{name}.py" for name in ("isoflop", "scaling", "planner", "data")}
HOSTILE = "<img src=x onerror=alert(1)> [x](javascript:alert(1)) **b** $z$ :red[y]"


@pytest.fixture
def open_data(open_page):
    """Open the Data page under a query."""

    def call(**query):
        return go(open_page(), "data", **query)

    return call


def go(page, name, **query):
    """Go to another page of the same visit."""
    page.switch_page(FILES[name])
    page.query_params = dict(query)
    page.run()
    assert not page.exception
    return page


def give(page, content, name="mine.csv"):
    """Upload a file."""
    page.file_uploader[0].upload(name, content, "text/csv")
    page.run()
    assert not page.exception
    return page


def words(page):
    """Texts of the page's notices and lines, as they are read."""
    elements = [*page.error, *page.warning, *page.markdown, *page.caption]
    return "\n".join(element.value for element in elements).replace("\\", "")


@pytest.fixture
def delphi(snapshot):
    """The template: finished runs of Delphi's sweep, as a file."""
    return template_csv(snapshot.records("delphi", MACRO)).encode()


def made(label="a", *, budgets=(3e18, 1e19, 3e19, 1e20), sizes=6, metric="loss"):
    """Rows of a made ladder without noise, as a file holds them."""
    rows = []
    for flops in budgets:
        for step in range(sizes):
            params = (flops / 120) ** 0.5 * 1.5 ** (step - (sizes - 1) / 2)
            tokens = flops / 6 / params
            value = 1.7 + 480 * params**-0.34 + 410 * tokens**-0.28
            rows.append(f'{tokens},{metric},{value},{flops},{params},"{label}"\n')
    return "".join(rows)


@pytest.mark.parametrize("method", ["parabola", "cubic", "marin"])
def test_the_isoflop_page_gives_the_numbers_of_the_shell_and_of_python(
    open_data, delphi, capsys, tmp_path, method
):
    page = give(open_data(), delphi)
    assert "Your mine.csv: 78 records of 78 runs and 1 metric" in words(page)
    page = go(page, "isoflop", ladder="yours", method=method)
    assert not page.warning
    file = tmp_path / "mine.csv"
    file.write_bytes(delphi)
    assert main(["fit", "--file", str(file), "--method", method, "--json"]) == 0
    budgets = json.loads(capsys.readouterr().out)["budgets"]
    isoflop = dc.fit_isoflops(dc.read_records(file), method=method)
    (table,) = [t.value for t in page.dataframe if "optimal_tokens" in t.value]
    assert len(table) == len(budgets) == len(isoflop.budgets) == 7
    for row, budget, fitted in zip(table.to_dict("records"), budgets, isoflop.budgets, strict=True):
        for name in ("optimal_tokens", "optimal_params", "loss_at_optimal"):
            assert row[name] == budget[name] == getattr(fitted, name)
        for name in ("low", "high"):
            assert row[name] == budget[name] or (budget[name] is None and pd.isna(row[name]))
        assert row["runs"] == budget["runs"]
    assert "Sources: mine.csv" in words(page)


def test_the_scaling_page_gives_the_law_of_the_shell(open_data, delphi, capsys, tmp_path):
    page = go(give(open_data(), delphi), "scaling", ladder="yours", method="parabola")
    file = tmp_path / "mine.csv"
    file.write_bytes(delphi)
    assert main(["fit", "--file", str(file), "--target-flops", "1e24", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    (forecast,) = document["forecasts"]
    (table,) = [t.value for t in page.dataframe if "predicted" in t.value]
    row = table.iloc[0]
    for name in ("predicted", "low", "high"):
        assert row[name] == forecast[name]
    assert f"loss {forecast['predicted']:.3f} forecast" in page.title[0].value


def test_the_planner_plans_by_it(open_data, delphi, snapshot):
    page = go(give(open_data(), delphi), "planner", ladder="yours", method="parabola")
    assert not page.warning
    own = dc.with_own_ladders(snapshot, parse_own_ladders(delphi, "mine.csv"))
    found = dc.plan(own, [1e22], ladder="yours", metric=MACRO, method="parabola")
    (table,) = [t.value for t in page.dataframe if "predicted" in t.value and "level" in t.value]
    assert table["predicted"].to_list() == found.table["predicted"].to_list()
    assert "and your file mine.csv" in words(page)


def test_previews_of_links_know_nothing_of_it(open_data, delphi, monkeypatch):
    kept = {}
    monkeypatch.setattr(
        opening, "remember_heading", lambda _id, view, heading: kept.update({view: heading})
    )
    page = go(give(open_data(), delphi), "isoflop", ladder="yours")
    go(page, "scaling", ladder="yours")
    assert not [heading for heading in kept.values() if "mine" in heading]
    assert not [view for view in kept if view.ladder == "yours"]


def test_it_survives_the_way_through_pages_and_other_visits_never_have_it(
    open_page, open_data, delphi
):
    page = go(give(open_data(), delphi), "isoflop", ladder="yours")
    for name in ("scaling", "data", "isoflop"):
        page = go(page, name, ladder="yours")
        assert not page.warning
    assert "Your mine" in page.title[0].value.replace("\\", "")
    other = open_page(ladder="yours")
    assert "'yours', which is not offered here" in words(other)
    assert other.title[0].value.startswith("Delphi")
    assert "Your mine.csv" not in other.selectbox(key="ladder").options


def test_a_file_that_was_taken_stands_in_the_tables_and_is_removed(open_data, delphi, snapshot):
    runs = len(snapshot.tables["runs"])
    page = give(open_data(table="runs"), delphi)
    assert page.title[0].value == f"All {runs + 78} rows of runs"
    page.selectbox(key="ladder").set_value("yours").run()
    assert page.title[0].value == f"78 of {runs + 78} rows of runs"
    assert not page.file_uploader
    page = go(page, "isoflop", ladder="yours")
    page = go(page, "data", ladder="yours")
    page.button(key="own_remove").click().run()
    assert not page.exception
    assert page.title[0].value == f"All {runs} rows of runs"
    assert not page.query_params
    assert not page.warning
    (link,) = [link for link in page.get("page_link") if link.proto.label == "IsoFLOP"]
    assert link.proto.query_string == ""
    assert page.file_uploader


def test_new_figures_keep_the_upload(open_data, delphi, snapshot, monkeypatch):
    page = give(open_data(), delphi)
    newer = dc.Snapshot("f" * 12, "2030-01-01T00:00:00Z", snapshot.tables)
    keeper = own_panel.with_own
    monkeypatch.setattr("delphi_core.web.opening.with_own", lambda _shared: keeper(newer))
    page = go(page, "isoflop", ladder="yours")
    assert not page.warning
    assert f"Snapshot {newer.id} of 2030-01-01, and your file mine.csv" in words(page)


def test_ladders_of_all_are_cited_and_kept_as_those_of_all(open_data, delphi, snapshot):
    page = go(give(open_data(), delphi), "isoflop")
    assert f"Snapshot {snapshot.id} of" in words(page)
    assert "mine.csv" not in words(page)


def test_the_python_on_the_data_page_gives_the_same_rows(open_data, delphi, tmp_path, monkeypatch):
    page = give(open_data(), delphi)
    page.selectbox(key="ladder").set_value("yours").run()
    (tmp_path / "mine.csv").write_bytes(delphi)
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(snippets(page)[0], names)  # noqa: S102 - the page's own snippet
    assert len(names["rows"]) == 78
    shown = page.dataframe[0].value
    assert shown["run"].to_list() == names["rows"]["run"].to_list()


def test_active_parameters_are_what_a_mixture_is_drawn_against(open_data):
    page = open_data()
    page.button_group(key="own_size").set_value("active_params").run()
    page = go(give(page, (HEADER + made()).encode()), "isoflop", ladder="yours")
    assert page.button_group(key="x").value == "active_params"
    assert "optimal number of active parameters" in page.title[0].value


def test_each_label_is_a_ladder(open_data, capsys, tmp_path):
    text = HEADER + made("a") + made("b", budgets=(1e19, 3e19, 1e20))
    page = give(open_data(), text.encode())
    page = go(page, "isoflop", ladder="yours-2")
    assert not page.warning
    assert page.selectbox(key="ladder").options[-2:] == ["Your mine.csv, a", "Your mine.csv, b"]
    file = tmp_path / "mine.csv"
    file.write_text(text)
    assert main(["fit", "--file", str(file), "--drop", "label=a", "--json"]) == 0
    budgets = json.loads(capsys.readouterr().out)["budgets"]
    (table,) = [t.value for t in page.dataframe if "optimal_tokens" in t.value]
    assert table["optimal_tokens"].to_list() == [b["optimal_tokens"] for b in budgets]


def test_one_budget_has_a_curve_and_no_law(open_data):
    page = give(open_data(), (HEADER + made(budgets=(1e19,))).encode())
    assert not page.error
    page = go(page, "isoflop", ladder="yours")
    assert "too few budgets have an optimum for a law" in page.title[0].value
    page = go(page, "scaling", ladder="yours")
    assert "these rows determine no loss law" in page.title[0].value
    assert "No loss law" in words(page)


def test_a_label_with_markup_is_shown_as_it_is(open_data):
    text = HEADER + made(HOSTILE) + made("b")
    page = give(open_data(), text.encode(), "<b>mine</b>.csv")
    for name in ("data", "isoflop", "scaling", "planner"):
        page = go(page, name, ladder="yours")
        assert not page.warning
        for element in [*page.title, *page.markdown, *page.caption]:
            assert "<img" not in element.value.replace("\\<", "")
            assert "<b>" not in element.value.replace("\\<", "")
            assert "](javascript" not in element.value
        for chart in page.get("plotly_chart"):
            assert [
                text for text in shown_texts(json.loads(chart.proto.spec)) if "<img" in text
            ] == []


def shown_texts(part, key=""):
    """Texts of a chart that the browser could take for markup; customdata is never shown."""
    if isinstance(part, dict):
        for name, value in part.items():
            yield from shown_texts(value, name)
    elif isinstance(part, list):
        for value in part:
            yield from shown_texts(value, key)
    elif isinstance(part, str) and key not in ("customdata", "uirevision"):
        yield part


CASES = {
    "wrong columns": (b"a,b\n1,2\n", "has no column 'tokens'"),
    "text": ((HEADER + GOOD + "many,loss,3,1,1,a\n").encode(), "row 3: tokens is 'many'"),
    "NaN": ((HEADER + GOOD + "1,loss,NaN,1,1,a\n").encode(), "row 3: value is 'NaN'"),
    "1e400": ((HEADER + "1,loss,1e400,1,1,a\n").encode(), "row 2: value is '1e400'"),
    "1e300": (
        (HEADER + made() + "1e300,loss,3,1e19,1,a\n").encode(),
        "a tokens of 1e+300; remove that row",
    ),
    "duplicates": ((HEADER + GOOD + GOOD).encode(), "row 3 is the same in every column as row 2"),
    "no curve": ((HEADER + GOOD).encode(), "has 1 at most; add runs"),
    "200,000 rows": (
        (HEADER + "1e9,loss,3.5,1e18,1e8,a\n" * 200_000).encode(),
        "more than 20,000 rows; no more are read. Leave out metrics or runs.",
    ),
    "a zip": (b"PK\x03\x04" + bytes(200), "is a ZIP archive or an Excel workbook, not text"),
    "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(200), "is a PNG picture, not text"),
    "empty": (b"", "mine.csv is empty"),
    "21 MB": (b"1" * (21 * 2**20), "has 21.0 MB; at most 20 MB are read"),
    "semicolons": (b"tokens;metric;value\n1;loss;3\n", "separates its cells by semicolons"),
    "another run": (
        (HEADER.strip() + ",run\n" + "1,l,3,1,1,a,r\n" + "2,k,3,1,1,a,r\n").encode(),
        "row 3: tokens is '2.0', and another one in an earlier row of the same run",
    ),
    "a run twice": (
        (HEADER.strip() + ",run\n" + "1,l,3,1,1,a,r\n" + "1,l,4,1,1,a,r\n").encode(),
        "row 3: metric 'l' of run 'r' is in an earlier row already",
    ),
    "a long label": ((HEADER + made("x" * 600)).encode(), "label has 600 characters"),
    "many labels": (
        (HEADER + "".join(f"1,l,3,1,1,label-{n}\n" for n in range(30))).encode(),
        "has 30 labels; at most 20 are used",
    ),
    "many metrics": (
        (HEADER + "".join(f"1,m{n},3,1,1,a\n" for n in range(101))).encode(),
        "has 101 metrics; at most 100 are used",
    ),
    "many runs": (
        (HEADER + "".join(f"{n + 1},l,3,1,1,a\n" for n in range(1001))).encode(),
        "has 1,001 runs of one label; at most 1,000 are used",
    ),
    "many columns": (
        (",".join([HEADER.strip(), *(f"c{n}" for n in range(100))]) + "\n").encode(),
        "has 106 columns; at most 100 are read",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_bad_file_is_refused_in_words_and_the_page_stays(open_data, case):
    content, sentence = CASES[case]
    page = open_data()
    began = time.perf_counter()
    give(page, content)
    assert time.perf_counter() - began < 15
    (error,) = page.error
    assert sentence in error.value.replace("\\", "")
    assert page.title[0].value == "All 273 rows of runs"
    assert page.file_uploader
    # Another file takes the place of the bad one.
    give(page, (HEADER + made()).encode())
    assert not page.error
    assert "24 records of 24 runs" in words(page)


@pytest.mark.parametrize(
    "content",
    [
        (HEADER + made()).replace("\n", "\r\n").encode(),
        (HEADER + made()).encode("utf-8-sig"),
        ("\n" + HEADER + made()).encode(),
    ],
    ids=["CRLF", "BOM", "blank line"],
)
def test_files_of_other_programs_are_taken(open_data, content):
    page = give(open_data(), content)
    assert "24 records of 24 runs and 1 metric" in words(page)


def test_a_bad_file_is_said_until_it_is_taken_back(open_data):
    page = give(open_data(), b"")
    page.selectbox(key="table").set_value("evals").run()
    assert "mine.csv is empty" in words(page)
    page.file_uploader[0].clear()
    page.run()
    assert not page.error


def test_the_template_is_taken_and_fits_to_the_published_law(open_data, monkeypatch, tmp_path):
    files = {}

    def button(_label, data, file_name, *_mime, **_options):
        files[file_name] = data

    monkeypatch.setattr(st, "download_button", button)
    page = open_data()
    file = tmp_path / "template.csv"
    file.write_text(files["template.csv"](), newline="")
    assert main(["validate", str(file)]) == 0
    page = go(
        give(page, file.read_bytes(), "template.csv"), "isoflop", ladder="yours", method="marin"
    )
    assert "Your template" in page.title[0].value.replace("\\", "")
    law = dc.fit_token_law(dc.fit_isoflops(dc.read_records(file), method="marin"))
    assert round(law.exponent, 8) == 0.57438841


def test_formulas_in_texts_are_never_run_by_a_spreadsheet(open_data, monkeypatch):
    files = {}

    def button(_label, data, file_name, *_mime, **_options):
        files[file_name] = data

    monkeypatch.setattr(st, "download_button", button)
    text = HEADER + made("=cmd|'/C calc'!A0") + made("@SUM(1)", metric="-loss")
    page = give(open_data(), text.encode())
    page = go(page, "data", ladder="yours")
    # The grid has a download of its own.
    assert set(page.dataframe[0].value["label"]) == {"'=cmd|'/C calc'!A0"}
    table = pd.read_csv(pd.io.common.StringIO(files["runs_yours.csv"]()))
    assert table["label"].unique().tolist() == ["'=cmd|'/C calc'!A0"]
    assert table["tokens"].dtype == "float64"
    page = go(page, "isoflop", ladder="yours-2", metric="-loss")
    (points,) = [data() for name, data in files.items() if name.startswith("yours-2_")][:1]
    assert "'@SUM(1)" in points
    assert "'-loss" in points
    assert "\n@" not in points
    assert ",@" not in points
