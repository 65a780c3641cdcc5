"""Ladders of one's own beside those of a snapshot: fits of the file, and nothing else changed."""

import gc
import weakref

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import delphi_core as dc
from delphi_core.checks import check_references, check_sizes, check_table
from delphi_core.fits.sampled import sampled_budgets
from delphi_core.own_ladders import parse_own_ladders, template_csv
from delphi_core.snapshot_write import as_text
from delphi_core.tables import TABLES
from delphi_core.web.data_view import data_options
from delphi_core.web.isoflop_view import IsoflopView, isoflop_ladders

MACRO = "eval/paloma/macro_loss"
SETTINGS = [
    {"method": method, "x": x, "include_excluded": excluded}
    for method in ("parabola", "cubic", "marin")
    for x in ("tokens", "params")
    for excluded in (False, True)
]


def points(snapshot, ladder, metric=MACRO):
    """Every record of a ladder, as the Download tab gives it."""
    return snapshot.records(ladder, metric).to_csv(index=False).encode()


@pytest.fixture(scope="module", params=["delphi", "delphi-attempt-1", "moe-aug-hero", "moe-v16"])
def both(request, snapshot, tmp_path_factory):
    """A file, and the snapshot with its ladder."""
    file = tmp_path_factory.mktemp("own") / "points.csv"
    file.write_bytes(points(snapshot, request.param))
    return file, dc.with_own_ladders(snapshot, dc.read_own_ladders(file))


@pytest.mark.parametrize("options", SETTINGS, ids=str)
def test_a_ladder_of_ones_own_is_fitted_as_its_file_to_the_last_bit(both, options):
    file, snapshot = both
    mine = dc.fit_isoflops(snapshot.records("yours", MACRO), **options)
    plain = dc.fit_isoflops(dc.read_records(file), **options)
    assert [(b.flops, b.runs, b.optimal_tokens, b.optimal_params) for b in mine.budgets] == [
        (b.flops, b.runs, b.optimal_tokens, b.optimal_params) for b in plain.budgets
    ]
    assert [b.interval for b in mine.budgets] == [b.interval for b in plain.budgets]
    assert [b.sentences for b in mine.budgets] == [b.sentences for b in plain.budgets]
    assert mine.left_out == plain.left_out


def test_the_law_and_the_held_out_runs_are_those_of_the_file(snapshot, tmp_path):
    file = tmp_path / "points.csv"
    file.write_bytes(points(snapshot, "delphi"))
    beside = dc.with_own_ladders(snapshot, dc.read_own_ladders(file))
    laws, held_out = [], []
    for records in (beside.records("yours", MACRO), dc.read_records(file)):
        isoflop = dc.fit_isoflops(records, method="cubic")
        forecast = dc.fit_loss_law(isoflop).predict(1e23)
        laws.append((forecast.value, forecast.low, forecast.high))
        held_out.append([(run.flops, run.measured) for run in dc.held_out_runs(isoflop.points)])
    assert laws[0] == laws[1]
    assert held_out[0] == held_out[1]
    assert len(held_out[0]) == 3


def test_the_tables_stay_those_of_a_snapshot(both, snapshot):
    _, beside = both
    numbered = {}
    for name, table in TABLES.items():
        numbered[name], mistakes = check_table(as_text(beside.tables[name]), table, name)
        assert mistakes.sentences == []
        old = len(snapshot.tables[name])
        pd.testing.assert_frame_equal(
            beside.tables[name].head(old), snapshot.tables[name], check_dtype=False
        )
    assert check_references(numbered, TABLES) == []
    assert check_sizes(numbered["runs"], numbered["ladders"]) == []


def test_ids_hang_on_the_snapshot_and_on_everything_about_the_file(snapshot):
    one, other = points(snapshot, "delphi"), points(snapshot, "delphi-attempt-1")
    newer = dc.Snapshot("f" * 12, "2030-01-01", snapshot.tables)
    owns = [
        parse_own_ladders(one, "a.csv"),
        parse_own_ladders(one, "b.csv"),
        parse_own_ladders(one, "a.csv", "active_params"),
        parse_own_ladders(other, "a.csv"),
    ]
    ids = {dc.with_own_ladders(s, own).id for s in (snapshot, newer) for own in owns}
    assert len(ids) == 8
    assert snapshot.id not in ids
    again = dc.with_own_ladders(snapshot, parse_own_ladders(one, "a.csv"))
    assert again.id == dc.with_own_ladders(snapshot, owns[0]).id


def test_only_its_own_ladders_are_its_part(snapshot):
    beside = dc.with_own_ladders(snapshot, parse_own_ladders(points(snapshot, "delphi"), "a.csv"))
    assert beside.part("yours") is beside
    assert beside.part("delphi") is snapshot
    assert snapshot.part("delphi") is snapshot


def test_a_file_named_as_a_source_of_the_snapshot_is_that_source(snapshot):
    url = snapshot.tables["sources"]["url"][0].rpartition("/")[2]
    renamed = snapshot.tables["sources"].replace(
        {"url": {snapshot.tables["sources"]["url"][0]: url}}
    )
    base = dc.Snapshot("a" * 12, "2030-01-01", {**snapshot.tables, "sources": renamed})
    own = parse_own_ladders(points(snapshot, "delphi"), url)
    twice = dc.with_own_ladders(dc.with_own_ladders(base, own), own)
    for name in ("ladders", "metrics", "sources", "runs", "evals"):
        assert not twice.tables[name].duplicated(list(TABLES[name].key)).any()


def test_what_is_found_of_a_snapshot_is_forgotten_with_it(snapshot):
    beside = dc.with_own_ladders(snapshot, parse_own_ladders(points(snapshot, "delphi"), "a.csv"))
    assert isoflop_ladders(beside)[-1] == "yours"
    assert data_options(beside, "runs", "ladder")[-1] == "yours"
    view, _ = IsoflopView.read({"ladder": ["yours"]}, beside)
    assert view.ladder == "yours"
    gone = weakref.ref(beside)
    del beside
    gc.collect()
    assert gone() is None


def test_buckets_stand_in_where_a_fitted_run_has_no_budget(snapshot):
    records = snapshot.records("delphi", MACRO)
    own = parse_own_ladders(records.to_csv(index=False).encode(), "a.csv")
    assert "grouped by nominal budget" in own.sentences[0]
    partly = records.assign(budget=records["budget"].where(records.index != records.index[0]))
    own = parse_own_ladders(partly.to_csv(index=False).encode(), "a.csv")
    assert "grouped by 1.1^k bucket of FLOPs" in own.sentences[0]
    runs = own.tables["runs"]
    sweep = runs[runs["role"].isin(["isoflop", "excluded"])]
    assert (sweep["budget"] == dc.budget_bucket(sweep["flops"])).all()


def test_a_label_without_a_curve_stays_in_the_tables_only(snapshot):
    records = snapshot.records("delphi", MACRO)
    records = records[records["role"] == "isoflop"][[*records.columns[:6]]]
    few = records.head(2).assign(label="few")
    own = parse_own_ladders(pd.concat([few, records]).to_csv(index=False).encode(), "a.csv")
    assert own.ladders == ("yours", "yours-2")
    assert own.fitted == ("yours-2",)
    assert "nothing to fit, so it is in the tables only" in own.sentences[0]
    assert isoflop_ladders(dc.with_own_ladders(snapshot, own))[-1] == "yours-2"


def test_columns_that_are_not_used_are_named(snapshot):
    text = template_csv(snapshot.records("delphi", MACRO))
    lines = text.splitlines()
    more = "\n".join([lines[0] + ",note", *(f"{line},x" for line in lines[1:])])
    assert parse_own_ladders(more.encode(), "a.csv").sentences[-1] == "Not used: 1 column ('note')."


@pytest.mark.parametrize("ladder", ["delphi", "delphi-attempt-1", "moe-v16", "moe-aug-hero"])
def test_budgets_are_counted_as_they_are_fitted(snapshot, ladder):
    records = snapshot.records(ladder, MACRO)
    found, fitted = sampled_budgets(records), dc.fit_isoflops(records).budgets
    assert [(b.runs, b.has_curve) for b in found] == [(b.runs, b.curve is not None) for b in fitted]


HEADER = "tokens,metric,value,flops,params,label,run\n"
cell = st.sampled_from(["1e9", "1e10", "2e10", "-1", "nan", "a", "=b", "'c", "", "1e300"])


@given(st.lists(st.lists(cell, min_size=7, max_size=7), max_size=12))
@settings(deadline=None, max_examples=60)
def test_no_file_raises_anything_but_sentences(rows):
    text = HEADER + "".join(",".join(row) + "\n" for row in rows)
    try:
        own = parse_own_ladders(text.encode(), "mine.csv")
    except dc.DataError as error:
        assert str(error)  # noqa: PT017 - whether it raises hangs on the rows
    else:
        assert own.fitted


@given(st.permutations(range(12)))
@settings(deadline=None, max_examples=8)
def test_the_order_of_rows_changes_no_fit(order):
    sizes = np.geomspace(1e8, 1e9, 6)
    rows = [
        f"{flops / 6 / n},loss,{3 + (np.log10(n) - 8.5) ** 2 - np.log10(flops) / 10},{flops},{n},a"
        for flops in (1e19, 1e20)
        for n in sizes
    ]
    header = HEADER.replace(",run", "")
    fits = []
    for taken in (range(12), order):
        text = header + "\n".join(rows[place] for place in taken)
        own = parse_own_ladders(text.encode(), "mine.csv")
        frame = own.tables["runs"].merge(own.tables["evals"], on=["ladder", "run", "source"])
        fits.append([b.optimal_tokens for b in dc.fit_isoflops(frame).budgets])
    assert fits[0] == fits[1]
