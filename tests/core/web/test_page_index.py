"""What pages give away: every table is made, and every column of it is described."""

import pandas as pd
import pytest

from delphi_core.download_columns import VALUE_UNIT, X_UNIT, described_columns
from delphi_core.tables import TABLES
from delphi_core.web.data_request import data_query
from delphi_core.web.data_view import DataView
from delphi_core.web.page_index import PAGES, data_names, page_of
from delphi_core.web.share import _csv

C4 = "eval/paloma/c4_en/bpb"
QUERIES = {
    "/": [{}, {"ladder": ["moe-v16"], "x": ["active_params"]}, {"metric": [C4]}],
    "/scaling": [{}, {"method": ["surface"]}, {"metric": [C4]}, {"ladder": ["moe-aug-hero"]}],
    "/trajectories": [{}, {"target": ["67b"]}, {"target": ["delphi-1e23"], "method": ["joint"]}],
    "/recipes": [{}, {"base": ["delphi"], "flops": ["1e20"]}, {"base": ["moe-v16"]}],
    "/planner": [{}, {"ladder": ["moe-v16"]}, {"flops": ["1e21, 1e22"], "hidden": ["2560"]}],
    "/data": [{"table": [name]} for name in TABLES],
}
VIEWS = [(PAGES[path], query) for path, queries in QUERIES.items() for query in queries]
NAMED = [f"{page.title} {query}" for page, query in VIEWS]


@pytest.mark.parametrize(("page", "query"), VIEWS, ids=NAMED)
def test_every_column_of_every_table_is_described_with_its_unit(snapshot, page, query):
    view, notices = page.view.read(query, snapshot)
    assert notices == []
    assert page_of(view) is page
    about = page.about(snapshot, view)
    makers = page.tables(snapshot, view)
    assert set(makers) <= set(page.names)
    assert set(page.shown_names(view)) <= set(makers) or about.missing
    for name in set(page.shown_names(view)) & set(makers):
        table = makers[name]()
        assert len(table.columns) > 1
        found = described_columns(
            f"{page.prefix}{name}", table.columns, value_unit="nats", x_unit="tokens"
        )
        assert [entry["name"] for entry in found] == table.columns.to_list()
        assert [entry["name"] for entry in found if not entry["description"]] == []
        assert not {VALUE_UNIT, X_UNIT} & {entry["unit"] for entry in found}
        for entry in found:
            cells = table[entry["name"]].dropna()
            if entry["type"] in ("number", "integer") and len(cells):
                assert pd.api.types.is_numeric_dtype(cells.infer_objects()), entry


def test_a_value_has_its_metrics_unit_and_an_optimum_that_of_its_axis():
    columns = ["loss_at_optimal", "low", "flops", "x"]
    found = described_columns("isoflop-optima", columns, value_unit="bits/byte", x_unit="tokens")
    assert [entry["unit"] for entry in found] == ["bits/byte", "tokens", "FLOP", ""]


def test_data_names_are_one_a_table_and_keep_their_meaning():
    assert len(data_names()) == sum(len(page.names) for page in PAGES.values())
    for table, (page, name) in data_names().items():
        assert table == f"{page.prefix}{name}"


def test_the_data_pages_table_is_a_part_of_the_path_not_of_the_query(snapshot):
    view, _ = DataView.read({"table": ["evals"], "ladder": ["delphi"]}, snapshot)
    assert data_query(view, snapshot) == {"ladder": ["delphi"]}


def test_a_page_outside_the_index_has_none():
    assert page_of(object()) is None


def test_texts_that_a_spreadsheet_would_run_are_marked_in_every_download():
    table = pd.DataFrame({"run": ["=1+1", "plain"], "value": [-1.5, 2.0]})
    assert _csv(lambda: table) == "run,value\r\n'=1+1,-1.5\r\nplain,2.0\r\n"
