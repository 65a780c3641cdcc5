"""Downloads: what was shown, to the last bit."""

import io
import json

import numpy as np
import pandas as pd
import pytest

import delphi_core as dc
from delphi_core import export
from delphi_core.sources.records_csv import parse_records

MACRO = "eval/paloma/macro_loss"
IDS = {"snapshot": "id", "ladder": "l", "metric": MACRO, "params_column": "params"}
VIEWS = [
    ("delphi", "tokens", "parabola"),
    ("delphi", "params", "marin"),
    ("delphi-attempt-1", "tokens", "cubic"),
    ("moe-v16", "active_params", "parabola"),
    ("moe-aug-hero", "tokens", "marin"),
]


def bits(fit):
    """Every coefficient and optimum of a fit, to compare bit by bit."""
    table = export.optima_table(fit).drop(columns=["flags", "notes", "interval"])
    return table.astype("float64").to_numpy().tobytes()


@pytest.mark.parametrize(("ladder", "x", "method"), VIEWS)
def test_downloaded_points_fit_to_the_same_bits(snapshot, ladder, x, method):
    fit = dc.fit_isoflops(snapshot.records(ladder, MACRO), x=x, method=method)
    text = export.points_csv(fit)
    by_project = dc.fit_isoflops(parse_records(text.encode(), "points.csv"), x=x, method=method)
    by_pandas = dc.fit_isoflops(pd.read_csv(io.StringIO(text)), x=x, method=method)
    assert bits(by_project) == bits(by_pandas) == bits(fit)
    assert by_project.left_out == by_pandas.left_out == fit.left_out


@pytest.mark.filterwarnings("ignore:The 'float_precision' argument is deprecated")
def test_read_as_notebooks_read_it(snapshot, tmp_path):
    fit = dc.fit_isoflops(snapshot.records("delphi", MACRO))
    path = tmp_path / "points.csv"
    path.write_text(export.points_csv(fit), encoding="utf-8")
    assert bits(dc.fit_isoflops(pd.read_csv(path, float_precision="round_trip"))) == bits(fit)
    assert bits(dc.fit_isoflops(dc.read_records(path))) == bits(fit)


def test_points_hold_every_row_with_its_reason(snapshot):
    records = snapshot.records("moe-aug-hero", MACRO)
    text = export.points_csv(dc.fit_isoflops(records, x="active_params"))
    points = pd.read_csv(io.StringIO(text))
    assert points.columns.to_list()[:6] == ["tokens", "metric", "value", "flops", "params", "label"]
    assert set(points["run"]) == set(records["run"])
    assert points.loc[~points["used"], "left_out_reason"].notna().all()
    assert points.loc[points["used"], "left_out_reason"].isna().all()
    assert points["used"].sum() == 12


def test_optima_csv_is_the_table(snapshot):
    fit = dc.fit_isoflops(snapshot.records("delphi-attempt-1", MACRO))
    table = pd.read_csv(io.StringIO(export.optima_csv(fit)))
    context = pd.read_csv(io.StringIO(export.optima_csv(fit, ladder="l")))
    got = context[["method", "x", "compute", "ladder"]].drop_duplicates()
    assert got.to_numpy().tolist() == [["parabola", "tokens", "recorded", "l"]]
    assert table["flags"].to_list()[0] == "few_points concave"
    assert np.isnan(table["optimal_tokens"].to_list()[0])
    assert table["optimal_tokens"].to_list()[1:] == [b.optimal_tokens for b in fit.optima]


def test_document_is_valid_json_with_the_numbers(snapshot):
    fit = dc.fit_isoflops(snapshot.records("delphi-attempt-1", MACRO))
    document, missing = export.isoflop_document(fit, **IDS)
    assert missing == []
    again = json.loads(json.dumps(document, allow_nan=False))
    assert again["budgets"][0]["flags"] == ["few_points", "concave"]
    assert again["budgets"][0]["optimal_tokens"] is None
    assert again["budgets"][1]["optimal_tokens"] == fit.optima[0].optimal_tokens
    assert again["token_law"]["alpha"] == dc.fit_token_law(fit).exponent
    others = len(again["left_out"]) + len(again["in_small_budgets"])
    assert again["runs"] + others == len(fit.points)
