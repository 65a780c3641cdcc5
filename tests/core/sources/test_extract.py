"""Records out of run folders: the right ones, to the last bit, in one order."""

import json
import pickle
import random

import numpy as np
import pandas as pd
import pytest

import delphi_core as dc
from delphi_core.cli import main
from delphi_core.records import RECORD_COLUMNS, budget_bucket
from delphi_core.sources.extract import extract, threads
from delphi_core.sources.places import Place
from delphi_core.sources.run_figures import figures_in_folder

MACRO, OTHER = "eval/paloma/macro_loss", "test/metric"
LABEL = "adamh_scaling_v6"
FILE = "tracker_metrics.jsonl"


def other_metric(macro):
    """The second metric of these tests, which no run really has."""
    return 2 * macro - 1


def summary_of(row):
    """What a tracker logs of a run; counts are whole numbers."""
    return {
        "throughput/total_tokens": int(row.tokens),
        "throughput/total_gflops": row.flops / 1e9,
        "parameter_count": int(row.params),
        MACRO: row.value,
        OTHER: other_metric(row.value),
        "run_progress": 1,
    }


def nested(summary):
    """The same figures, a level for each slash."""
    levels = {}
    for name, value in summary.items():
        *parts, last = name.split("/")
        level = levels
        for part in parts:
            level = level.setdefault(part, {})
        level[last] = value
    return levels


def tracker_file(summary, config=None):
    return json.dumps({"config": config or {}, "summary": summary}) + "\n"


@pytest.fixture(scope="session")
def suite(snapshot):
    """The label's 81 bundled runs, in the order that records have."""
    rows = snapshot.records("delphi", MACRO)
    rows = rows[rows["role"].isin(["isoflop", "excluded"])]
    assert len(rows) == 81
    return rows.sort_values(["flops", "tokens", "run"], kind="stable").reset_index(drop=True)


@pytest.fixture
def runs(bucket, suite):
    """A bucket with a folder for each of them, half of them nested, among other things."""
    rows = list(suite.itertuples())
    random.Random(0).shuffle(rows)  # noqa: S311 - no secret
    for place, row in enumerate(rows):
        summary = summary_of(row)
        bucket.put(f"isoflop/{row.run}/{FILE}", tracker_file([summary, nested(summary)][place % 2]))
        bucket.put(f"isoflop/{row.run}/checkpoints/step-100/model", b"\0")
    return bucket.place("isoflop")


def test_both_metrics_of_all_runs(runs, suite):
    records, report = extract(runs, LABEL, [MACRO, OTHER])
    assert tuple(records.columns) == RECORD_COLUMNS
    assert len(records) == 162
    macro = records[records["metric"] == MACRO]
    for column in ("tokens", "value", "params"):
        assert macro[column].to_list() == suite[column].to_list()
    assert macro["flops"].to_list() == budget_bucket(suite["flops"]).tolist()
    other = records[records["metric"] == OTHER]
    assert other["value"].to_list() == [other_metric(value) for value in suite["value"]]
    assert set(records["label"]) == {LABEL}
    assert report.complete
    assert report.records == {MACRO: 81, OTHER: 81}
    assert (report.folders, report.runs, report.skipped, report.notes) == (81, 81, (), ())


def test_the_suite_is_the_78_runs_that_the_published_fit_kept(runs, suite):
    records, report = extract(runs, LABEL, [MACRO, OTHER], max_tokens_per_param=250)
    assert len(records) == 156
    assert report.records == {MACRO: 78, OTHER: 78}
    assert report.complete
    dropped = {item.run for item in report.left_out}
    assert dropped == set(suite.loc[suite["role"] == "excluded", "run"])
    assert {item.kind for item in report.left_out} == {"too many tokens"}
    assert all("more than 250." in item.reason for item in report.left_out)


def test_the_order_is_the_same_every_time_and_as_documented(runs, suite):
    texts = {
        extract(runs, LABEL, [OTHER, MACRO], run_map=run_map)[0].to_csv()
        for run_map in (threads(1), threads(3), threads(32), threads(32), map)
    }
    assert len(texts) == 1
    records, _ = extract(runs, LABEL, [OTHER, MACRO])
    assert records["metric"].to_list() == [OTHER, MACRO] * 81
    assert records["tokens"].to_list() == np.repeat(suite["tokens"], 2).to_list()


def test_runs_of_one_compute_are_ordered_by_tokens_then_name(bucket):
    same = "isoflop-1e+18-d512-L6-B{}-v"
    for batch, tokens in ((8, 2e9), (16, 1e9), (32, 1e9)):
        summary = {"throughput/total_tokens": tokens, "throughput/total_gflops": 1e9}
        summary |= {"parameter_count": 1e8, "loss": float(batch)}
        bucket.put(f"{same.format(batch)}/{FILE}", tracker_file(summary))
    records, _ = extract(bucket.place(), "v", ["loss"])
    assert records["value"].to_list() == [16.0, 32.0, 8.0]


def test_recorded_flops(runs, suite):
    records, report = extract(runs, LABEL, [MACRO], recorded_flops=True)
    assert records["flops"].to_list() == [flops / 1e9 * 1e9 for flops in suite["flops"]]
    assert report.flops == "recorded"


def test_a_local_folder_gives_the_same(runs, suite, tmp_path):
    for row in suite.itertuples():
        (tmp_path / row.run).mkdir()
        (tmp_path / row.run / FILE).write_text(tracker_file(summary_of(row)))
    pd.testing.assert_frame_equal(
        extract(Place(str(tmp_path)), LABEL, [MACRO, OTHER])[0],
        extract(runs, LABEL, [MACRO, OTHER])[0],
    )


def test_the_file_gives_the_published_law(runs, tmp_path, capsys):
    out = tmp_path / "records.csv"
    command = ["extract", runs.url, "--label", LABEL, "--metric", MACRO, "--metric", OTHER]
    command += ["--max-tokens-per-param", "250", "--out", str(out)]
    assert main(command) == 0
    said = capsys.readouterr()
    assert said.out == (
        "records.csv: 156 records (78 of eval/paloma/macro_loss, 78 of test/metric) "
        "of 81 runs with the label; 3 left out.\n"
    )
    assert len(said.err.splitlines()) == 3
    records = dc.read_records(out)
    law = dc.fit_token_law(dc.fit_isoflops(records[records["metric"] == MACRO], method="marin"))
    assert round(law.exponent, 6) == 0.574388
    fit = ["fit", "--file", str(out), "--method", "marin", "--json"]
    assert main([*fit, "--metric", MACRO]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["token_law"]["alpha"] == law.exponent
    assert (document["file"], document["snapshot"], document["runs"]) == ("records.csv", None, 78)
    # 2 L - 1 has its minimum where L has it.
    assert main([*fit, "--metric", OTHER]) == 0
    other = json.loads(capsys.readouterr().out)
    assert other["token_law"]["alpha"] == pytest.approx(law.exponent, rel=1e-9)


def test_written_values_are_those_of_the_snapshot_bit_by_bit(runs, suite, tmp_path):
    out = tmp_path / "records.csv"
    assert main(["extract", runs.url, "--label", LABEL, "--metric", MACRO, "--out", str(out)]) == 0
    assert dc.read_records(out)["value"].to_list() == suite["value"].to_list()
    assert out.read_text().splitlines()[0] == "tokens,metric,value,flops,params,label"
    assert [path.name for path in tmp_path.iterdir()] == ["records.csv"]


def test_only_the_label_asked_for_is_taken(runs, bucket, suite):
    row = next(suite.itertuples())
    for label in ("adamh_scaling_v5", "adamh_scaling_v6-v2", "v6", "adamh_scaling_v66"):
        name = row.run.replace(LABEL, label)
        bucket.put(f"isoflop/{name}/{FILE}", tracker_file(summary_of(row) | {MACRO: 1.0}))
    bucket.put("isoflop/notes/readme.txt", "no run")
    records, report = extract(runs, LABEL, [MACRO])
    assert records["value"].to_list() == suite["value"].to_list()
    assert report.complete
    assert (report.folders, report.runs) == (86, 81)
    assert {(item.run.split("-")[-1], item.kind) for item in report.set_aside} == {
        ("adamh_scaling_v5", "other label"),
        ("v2", "other label"),
        ("v6", "other label"),
        ("adamh_scaling_v66", "other label"),
        ("notes", "no run"),
    }
    reasons = [item.reason for item in report.set_aside]
    assert "its label is adamh_scaling_v5." in reasons
    assert "its name is that of no run of a sweep." in reasons


def test_a_label_that_nothing_has_is_refused_with_the_nearest(runs):
    with pytest.raises(dc.DataError, match="has the label 'adamh_scaling_v7'; did you mean") as e:
        extract(runs, "adamh_scaling_v7", [MACRO])
    assert f"'{LABEL}'" in str(e.value)


def test_a_place_without_runs_is_refused(bucket):
    bucket.put("a/b", b"")
    with pytest.raises(dc.DataError, match=r"no run in gs://.* has the label 'x'; known: none"):
        extract(bucket.place(), "x", [MACRO])


def test_a_metric_that_no_run_has_is_named_with_the_nearest(runs):
    records, report = extract(runs, LABEL, [MACRO, "eval/paloma/macro"])
    assert len(records) == 81
    assert not report.complete
    assert report.records == {MACRO: 81, "eval/paloma/macro": 0}
    assert {item.metric for item in report.skipped} == {"eval/paloma/macro"}
    assert report.notes == (
        "no run has 'eval/paloma/macro'; did you mean 'eval/paloma/macro_loss'?",
    )


def test_a_copy_of_a_run_counts_once(runs, bucket, suite):
    row = next(suite.itertuples())
    bucket.put(f"isoflop/{row.run}-0a1b2c/{FILE}", tracker_file(summary_of(row)))
    records, report = extract(runs, LABEL, [MACRO])
    assert len(records) == 81
    assert report.complete
    (same,) = report.left_out
    assert (same.run, same.kind) == (f"{row.run}-0a1b2c", "same")


def test_runs_with_too_many_tokens_are_not_missing_a_metric(bucket):
    name = "isoflop-1e+18-d{}-L6-B8-v"
    base = {"throughput/total_gflops": 1e9, "parameter_count": 1e8}
    bucket.put(f"{name.format(1)}/{FILE}", tracker_file(base | {"throughput/total_tokens": 1e12}))
    bucket.put(
        f"{name.format(2)}/{FILE}",
        tracker_file(base | {"throughput/total_tokens": 1e9, "loss": 3.0}),
    )
    assert extract(bucket.place(), "v", ["loss"], max_tokens_per_param=250)[1].complete
    assert not extract(bucket.place(), "v", ["loss"])[1].complete


def test_folders_may_be_read_in_other_processes(runs, suite):
    # What is mapped, and what it takes and gives, is pickled on the way there and back.
    def by_pickle(function, items):
        function = pickle.loads(pickle.dumps(function))  # noqa: S301 - our own
        return [pickle.loads(pickle.dumps(function(item))) for item in items]  # noqa: S301

    records, _ = extract(runs, LABEL, [MACRO], run_map=by_pickle)
    assert records["value"].to_list() == suite["value"].to_list()
    lost = figures_in_folder(runs, (MACRO,), "none").skipped
    assert pickle.loads(pickle.dumps(lost)) == lost  # noqa: S301 - our own


def test_what_folders_lack_may_come_from_elsewhere(bucket):
    name = "isoflop-1e+18-d{}-L6-B8-v"
    figures = {"throughput/total_tokens": 1e9, "throughput/total_gflops": 1e9}
    figures |= {"parameter_count": 1e8, "loss": 3.0}
    bucket.put(f"{name.format(1)}/{FILE}", tracker_file(figures))
    bucket.put(f"{name.format(2)}/other", b"")
    bucket.put(f"{name.format(3)}/{FILE}", b"")
    bucket.put(f"{name.format(4)}/{FILE}", tracker_file({"loss": None}))
    asked = []

    def backfill(run):
        asked.append(run)
        if run == name.format(3):
            raise dc.DataError(["the server does not know it."])
        return {"config": {}, "summary": nested(figures | {"loss": 4.0})}

    records, report = extract(bucket.place(), "v", ["loss"], backfill=backfill, run_map=threads(1))
    assert asked == [name.format(2), name.format(3)]
    assert records["value"].to_list() == [3.0, 4.0]
    assert [(item.run, item.kind) for item in report.skipped] == [
        (name.format(3), "unreadable"),
        (name.format(4), "no figure"),
    ]
    assert report.skipped[0].reason.endswith("and elsewhere: the server does not know it.")
    assert report.notes == (
        f"{name.format(2)}: its figures are the tracking server's, since its folder has none.",
    )
