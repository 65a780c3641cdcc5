"""What goes wrong with one run is said of it, within the time limit, and the rest is written."""

import json
import time

import pandas as pd
import pytest

from delphi_core.cli import main
from tests.faults import CUT, PASS, SILENT

FILE = "tracker_metrics.jsonl"
GOOD = {
    "throughput/total_tokens": 1_000_000_000,
    "throughput/total_gflops": 1.5e9,
    "parameter_count": 100_000_000,
    "loss": 3.25,
    "other": 2,
}
RUNS = [f"isoflop-1e18-d{width}-L6-B8-v6" for width in (1, 2, 3)]
FIRST, BAD, LAST = RUNS
SECONDS = 0.3


def content(summary):
    return json.dumps({"config": {"model": {"hidden_dim": 1}}, "summary": summary}) + "\n"


@pytest.fixture
def extract(bucket, faults, tmp_path, capsys):
    """Run the command on three runs, the second of which is bad: what it gave.

    The bucket must be as it was, whatever happened, and nothing but GET may have been asked of it.
    """
    for place, run in enumerate(RUNS):
        bucket.put(f"isoflop/{run}/checkpoint/x", b"\0")
        bucket.put(f"isoflop/{run}/{FILE}", content(GOOD | {"loss": 3.0 + place, "other": place}))

    def call(*arguments, may_change=False):
        before = bucket.state()
        out, report = tmp_path / "out.csv", tmp_path / "report.json"
        command = ["extract", f"{bucket.url}/isoflop", "--label", "v6", "--metric", "loss"]
        command += ["--seconds", str(SECONDS), "--out", str(out), "--report", str(report)]
        start = time.monotonic()
        status = main([*command, *arguments])
        took = time.monotonic() - start
        assert may_change or bucket.state() == before
        assert {method for method, _ in faults.seen} <= {"GET"}
        said = capsys.readouterr()
        values = pd.read_csv(out)["value"].to_list() if out.exists() else None
        document = json.loads(report.read_text()) if report.exists() else None
        return status, values, document, said.err, took

    return call


def the_bad_run_is_named(found, kind, words):
    """Exit status 3, the other two written, and one sentence on the second."""
    status, values, report, err, _ = found
    assert status == 3
    assert values == [3.0, 5.0]
    assert not report["complete"]
    assert [(item["run"], item["kind"]) for item in report["skipped"]] == [(BAD, kind)]
    assert words in report["skipped"][0]["reason"]
    assert report["kinds"] == {kind: 1}
    assert err == f"{BAD}: {report['skipped'][0]['reason']}\n"


def without(name):
    return content({key: value for key, value in GOOD.items() if key != name})


FILES = {
    "empty": (b"", "unreadable", "tracker_metrics.jsonl is empty"),
    "blank": (b"\n \n", "unreadable", "tracker_metrics.jsonl is empty"),
    "half a line": (content(GOOD)[:60], "unreadable", "has no whole line with a summary"),
    "no JSON": (b"\xff\xfe<html>", "unreadable", "has no whole line with a summary"),
    "a list": (b"[1]\n", "unreadable", "has no whole line with a summary"),
    "no summary": (b'{"config": {}}\n', "unreadable", "has no whole line with a summary"),
    "summary null": (b'{"summary": null}\n', "unreadable", "has no whole line with a summary"),
    "deep": (b'{"summary":' * 100_000, "unreadable", "has no whole line with a summary"),
    "no metric": (without("loss"), "no figure", "it has no loss; see whether"),
    "null": (content(GOOD | {"loss": None}), "no figure", "loss is null; it must be a finite"),
    "NaN as text": (content(GOOD | {"loss": "NaN"}), "no figure", "loss is 'NaN'; it must be"),
    "NaN": (content(GOOD | {"loss": float("nan")}), "no figure", "loss is 'nan'; it must be"),
    "infinity": (content(GOOD | {"loss": float("inf")}), "no figure", "loss is 'inf'; it must"),
    "text": (content(GOOD | {"loss": "low"}), "no figure", "loss is 'low'; it must be"),
    "true": (content(GOOD | {"loss": True}), "no figure", "loss is 'True'; it must be"),
    "huge": (content(GOOD | {"loss": 10**400}), "no figure", "it must be a finite number"),
    "no tokens": (without("throughput/total_tokens"), "no figure", "has no throughput/total_tok"),
    "no compute": (without("throughput/total_gflops"), "no figure", "has no throughput/total_gf"),
    "no size": (without("parameter_count"), "no figure", "it has no parameter_count"),
    "no tokens yet": (
        content(GOOD | {"throughput/total_tokens": 0}),
        "no figure",
        "throughput/total_tokens is 0; it must be positive",
    ),
}


@pytest.mark.parametrize("case", FILES)
def test_a_bad_file(extract, bucket, case):
    data, kind, words = FILES[case]
    bucket.put(f"isoflop/{BAD}/{FILE}", data)
    the_bad_run_is_named(extract(), kind, words)


def test_a_missing_file(extract, bucket):
    bucket.server.storage.delete_file(bucket.name, f"isoflop/{BAD}/{FILE}")
    the_bad_run_is_named(extract(), "missing", f"{BAD}/{FILE} is not there; check its name.")


@pytest.mark.parametrize(
    "data",
    [
        content(
            {"throughput": {"total_tokens": 1e9, "total_gflops": 1500000000}} | {"loss": 4}
        ).replace('"loss"', '"parameter_count": 1e8, "loss"'),
        content(GOOD | {"loss": {"last": 9.0}} | {"loss": 4.0}),
        content(GOOD | {"loss": 9.0}) + "\n" + content({"loss": 4}),
    ],
    ids=["nested and whole numbers", "flat", "a later line"],
)
def test_files_that_are_fine(extract, bucket, data):
    bucket.put(f"isoflop/{BAD}/{FILE}", data)
    status, values, report, err, _ = extract()
    assert (status, values, err) == (0, [3.0, 4.0, 5.0], "")
    assert report["complete"]


def test_half_a_line_after_a_whole_one_is_noted(extract, bucket):
    bucket.put(f"isoflop/{BAD}/{FILE}", content(GOOD | {"loss": 4.0}) + content(GOOD)[:50])
    status, values, report, err, _ = extract()
    assert (status, values) == (0, [3.0, 4.0, 5.0])
    note = f"{BAD}: line 2 of {FILE} is cut off or no summary; it was left out."
    assert report["notes"] == [note]
    assert err == note + "\n"


def test_other_labels_and_folders_of_no_run_are_set_aside(extract, bucket):
    other = FIRST.replace("v6", "v5")
    bucket.put(f"isoflop/{other}/{FILE}", content(GOOD | {"loss": 1.0}))
    bucket.put("isoflop/scratch/readme", b"")
    status, values, report, err, _ = extract()
    assert (status, values, err) == (0, [3.0, 4.0, 5.0], "")
    assert [(item["run"], item["kind"]) for item in report["set_aside"]] == [
        (other, "other label"),
        ("scratch", "no run"),
    ]
    assert report["kinds"] == {"no run": 1, "other label": 1}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (401, ("refused", "is refused (401); use credentials that have the right to it.")),
        (403, ("refused", "is refused (403); use credentials that have the right to it.")),
        (404, ("missing", "is not there; check its name.")),
        (400, ("failing", "cannot be had: status 400; try later.")),
        (503, ("failing", "cannot be had: the server is failing (503); try later.")),
        (502, ("failing", "cannot be had: the connection to the server failed; try later.")),
        (429, ("failing", "cannot be had: status 429; try later.")),
        (CUT, ("failing", "cannot be had: the connection to the server failed; try later.")),
        (SILENT, ("silent", "did not answer within 0.3 s, tried 2 times; try later.")),
    ],
)
@pytest.mark.parametrize("call", ["fields=generation", "alt=media"])
def test_a_run_that_the_server_does_not_give(extract, faults, answer, said, call):
    faults.when(BAD, call, do=[answer])
    found = extract()
    the_bad_run_is_named(found, *said)
    assert found[-1] < 2 * SECONDS + 2


@pytest.mark.parametrize("answer", [(200, b"<html>"), (200, b"[]"), (200, b"null"), (200, b"{}")])
def test_a_version_that_is_nonsense(extract, faults, answer):
    faults.when(BAD, "fields=generation", do=[answer])
    the_bad_run_is_named(extract(), "failing", "answer")


@pytest.mark.parametrize("answer", [503, 500, 502, 429, CUT, SILENT])
def test_what_passes_when_tried_again(extract, faults, answer):
    faults.when("alt=media", do=[answer, PASS])
    faults.when("fields=generation", do=[answer, PASS])
    faults.when("delimiter", do=[answer, PASS])
    status, values, report, err, _ = extract()
    assert (status, values, err) == (0, [3.0, 4.0, 5.0], "")
    assert report["complete"]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (403, "isoflop is refused (403)"),
        (404, "isoflop is not there; check its name."),
        (503, "isoflop cannot be had: the server is failing (503); try later."),
        (SILENT, "isoflop did not answer within 0.3 s, tried 2 times; try later."),
        ((200, b"<html>"), "isoflop cannot be had: the server's answer is none; try later."),
        ((200, b'{"items": [1], "prefixes": 2}'), "the server's answer is none; try later."),
    ],
)
def test_a_bucket_that_cannot_be_listed_is_one_sentence(extract, faults, answer, words):
    faults.when("delimiter", do=[answer])
    status, values, report, err, took = extract()
    assert (status, values, report) == (1, None, None)
    assert words in err
    assert len(err.splitlines()) == 1
    assert took < 2 * SECONDS + 2


def test_a_listing_in_pages(extract, faults):
    def page(run, **more):
        return (200, json.dumps({"prefixes": [f"isoflop/{run}/"], **more}).encode())

    faults.when("pageToken=two", do=[(200, b'{"nextPageToken": "three"}')])
    faults.when("pageToken=three", do=[page(LAST)])
    faults.when("delimiter", do=[page(FIRST, nextPageToken="two")])
    status, values, *_ = extract()
    assert (status, values) == (0, [3.0, 5.0])


def test_a_file_replaced_before_it_is_read_is_read_again(extract, bucket, faults):
    def replace():
        bucket.put(f"isoflop/{BAD}/{FILE}", content(GOOD | {"loss": 4.5}))

    faults.when(BAD, "fields=generation", do=[replace, PASS])
    status, values, report, err, _ = extract(may_change=True)
    assert (status, values, err) == (0, [3.0, 4.5, 5.0], "")
    assert sum(BAD in path and "alt=media" in path for _, path in faults.seen) == 2
    assert report["complete"]


def test_a_file_replaced_all_the_time_is_named(extract, bucket, faults):
    def replace():
        bucket.put(f"isoflop/{BAD}/{FILE}", content(GOOD))

    faults.when(BAD, "alt=media", do=[replace])
    found = extract(may_change=True)
    the_bad_run_is_named(found, "replaced", "was replaced while it was read, twice; read it later.")


def test_a_file_that_goes_while_it_is_read_is_missing(extract, bucket, faults):
    def remove():
        bucket.server.storage.delete_file(bucket.name, f"isoflop/{BAD}/{FILE}")

    faults.when(BAD, "alt=media", do=[remove])
    the_bad_run_is_named(extract(may_change=True), "missing", "is not there; check its name.")


def test_a_server_that_gives_no_run_ends_in_time_with_what_there_is(extract, faults):
    faults.when("/o/", do=[SILENT])
    status, values, report, err, took = extract("--metric", "other", "--workers", "3")
    assert (status, len(report["skipped"]), len(err.splitlines())) == (3, 3, 3)
    assert values == []
    assert took < 2 * SECONDS + 2


def test_every_missing_metric_is_named(extract, bucket):
    bucket.put(f"isoflop/{BAD}/{FILE}", content(GOOD | {"loss": "NaN", "other": None}))
    status, values, report, err, _ = extract("--metric", "other")
    assert (status, sorted(values)) == (3, [0.0, 2.0, 3.0, 5.0])
    assert [(item["run"], item["metric"]) for item in report["skipped"]] == [
        (BAD, "loss"),
        (BAD, "other"),
    ]
    assert len(err.splitlines()) == 2


def test_many_missing_are_ten_lines_and_all_in_the_report(extract, bucket):
    for width in range(10, 40):
        bucket.put(f"isoflop/isoflop-1e18-d{width}-L6-B8-v6/{FILE}", b"")
    status, values, report, err, _ = extract()
    assert (status, len(values), len(report["skipped"])) == (3, 3, 30)
    assert (len(err.splitlines()), err.splitlines()[-1]) == (10, "and 21 more; see the report.")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--out", "gs://bucket/x.csv"], "is in a bucket; name a file of this machine."),
        (["--out", "none/x.csv"], "none is no folder; make it, or name another."),
        (["--out", "."], ". is a folder; name a file."),
        (["--report", "none/x.json"], "none is no folder"),
        (["--label", "v7"], "has the label 'v7'; known: v6"),
    ],
)
def test_bad_input_is_one_sentence(extract, arguments, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, values, report, err, _ = extract(*arguments)
    assert (status, values, report) == (1, None, None)
    assert words in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["--seconds", "0"],
        ["--seconds", "nan"],
        ["--workers", "0"],
        ["--workers", "many"],
        ["--max-tokens-per-param", "-1"],
        ["--credentials", "mine"],
    ],
)
def test_wrong_usage(arguments):
    command = ["extract", "--label", "v6", "--metric", "loss", "--out", "x.csv"]
    with pytest.raises(SystemExit) as caught:
        main([*command, *arguments])
    assert caught.value.code == 2
