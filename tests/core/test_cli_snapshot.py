"""The snapshot commands: what they print, exit status, one sentence a mistake."""

import json
import shutil

import pytest

import delphi_core as dc
from delphi_core.cli import main
from delphi_core.manifest import MANIFEST
from delphi_core.snapshot import BUNDLED
from delphi_core.snapshot_write import write_manifest

RUN = "isoflop-3e+18-d512-L6-B32-adamh_scaling_v6"


@pytest.fixture
def run(capsys):
    """Run a snapshot command: exit status, standard output, standard error."""

    def call(*arguments):
        status = main(["snapshot", *map(str, arguments)])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call


@pytest.fixture
def folder(tmp_path):
    """A copy of the bundled snapshot that a test may change."""
    return shutil.copytree(BUNDLED, tmp_path / "snapshot")


@pytest.fixture
def changed(folder):
    """The same with one changed loss and a manifest that says so."""
    text = (folder / "evals.csv").read_text(encoding="utf-8")
    text = text.replace("3.710956335067749", "3.71")
    (folder / "evals.csv").write_text(text, encoding="utf-8")
    write_manifest(folder, "2027-01-01T00:00:00Z")
    return folder


def test_build_then_verify_then_diff(run, tmp_path, snapshot):
    out = tmp_path / "built"
    assert run("build", BUNDLED, "--out", out) == (
        0,
        f"{out} is snapshot {snapshot.id}: 4,165 rows.\n",
        "",
    )
    made = dc.load_snapshot(out).created_at
    assert run("verify", out) == (
        0,
        f"{out} is whole: snapshot {snapshot.id} of {made}, 13 tables, 4,165 rows.\n",
        "",
    )
    assert run("diff", "bundled", out) == (0, f"the same: both are snapshot {snapshot.id}.\n", "")


def test_the_time_is_utc(run, tmp_path):
    arguments = ("build", "bundled", "--created-at", "2026-12-01T01:00:00+02:00")
    assert run(*arguments, "--out", tmp_path / "a")[0] == 0
    assert dc.load_snapshot(tmp_path / "a").created_at == "2026-11-30T23:00:00Z"
    assert run(*arguments, "--out", tmp_path / "b")[0] == 0
    for path in (tmp_path / "a").iterdir():
        assert (tmp_path / "b" / path.name).read_bytes() == path.read_bytes()


def test_one_changed_loss(run, changed, tmp_path):
    out = tmp_path / "built"
    assert run("build", changed, "--out", out)[0] == 0
    status, text, err = run("diff", "bundled", out)
    assert (status, err) == (0, "")
    assert text == (
        "evals: 1 changed\n"
        f"  changed delphi, {RUN}, eval/paloma/macro_loss: value 3.710956335067749 -> 3.71\n"
    )
    status, text, _ = run("diff", "bundled", out, "--json")
    document = json.loads(text)
    assert (status, document["same"]) == (0, False)
    assert document["snapshots"] == [dc.load_snapshot(BUNDLED).id, dc.load_snapshot(out).id]
    assert list(document["tables"]) == ["evals"]
    assert json.loads(run("diff", out, out, "--json")[1])["same"]


def test_the_same_rows_in_other_files(run, folder):
    text = (folder / "runs.csv").read_text(encoding="utf-8")
    (folder / "runs.csv").write_text(text.replace(",6.0,32,", ",6,32,"), encoding="utf-8")
    write_manifest(folder, "2027-01-01T00:00:00Z")
    status, text, _ = run("diff", "bundled", folder)
    assert status == 0
    assert text.startswith("the same rows in every table; the files differ (")


def tear(folder, how):
    """Damage a snapshot in one way; the words that say so."""
    evals, manifest = folder / "evals.csv", folder / MANIFEST
    data, described = evals.read_bytes(), json.loads(manifest.read_text(encoding="utf-8"))
    if how == "missing":
        evals.unlink()
        return "snapshot/evals.csv' cannot be read: No such file or directory."
    if how == "truncated":
        evals.write_bytes(data[:1000])
        return "evals.csv is not the file manifest.json describes (its sha256 differs);"
    if how == "changed":
        evals.write_bytes(data.replace(b"3.7109", b"3.7108"))
        return "evals.csv is not the file manifest.json describes (its sha256 differs);"
    if how == "listed":
        described["files"]["more.csv"] = {"rows": 1, "sha256": "0"}
        manifest.write_text(json.dumps(described), encoding="utf-8")
        return "manifest.json lists 'more.csv', which no snapshot has;"
    if how == "half a manifest":
        manifest.write_bytes(manifest.read_bytes()[:500])
        return "manifest.json is not a manifest of a snapshot; write it anew."
    manifest.unlink()
    return "snapshot/manifest.json' cannot be read: No such file or directory."


KINDS = ["missing", "truncated", "changed", "listed", "half a manifest", "no manifest"]


@pytest.mark.parametrize("how", KINDS)
def test_a_torn_folder_is_status_1_and_a_sentence(run, folder, tmp_path, how):
    words = tear(folder, how)
    status, out, err = run("verify", folder)
    assert (status, out) == (1, "")
    assert words in err
    assert len(err.splitlines()) == 1
    status, out, err = run("publish", folder, tmp_path / "published")
    assert (status, out) == (1, "")
    assert words in err
    assert not (tmp_path / "published").exists()
    status, out, err = run("diff", "bundled", folder)
    assert (status, out) == (1, "")
    assert err.startswith(f"{folder}: ")
    assert words in err


@pytest.mark.parametrize("how", KINDS)
def test_a_torn_folder_in_a_bucket_is_as_well(run, folder, bucket, how):
    tear(folder, how)
    for path in folder.iterdir():
        bucket.put(f"a/{path.name}", path.read_bytes())
    status, out, err = run("verify", f"{bucket.url}/a")
    assert (status, out) == (1, "")
    assert len(err.splitlines()) == 1
    name = MANIFEST if "manifest" in how or how == "listed" else "evals.csv"
    assert name in err.split()[0]


def test_publish_says_what_was_and_what_is(run, bucket, changed, snapshot):
    to = (bucket.url, "--credentials", "anonymous")
    first = f"2026-11-30T162405Z-{snapshot.id}"
    second = f"2027-01-01T000000Z-{dc.load_snapshot(changed).id}"
    assert run("publish", BUNDLED, *to) == (
        0,
        f"{bucket.url} is {first} now; it was nothing.\n",
        "",
    )
    assert run("publish", changed, *to) == (
        0,
        f"{bucket.url} is {second} now; it was {first}.\n",
        "",
    )
    assert run("publish", changed, *to) == (0, f"{bucket.url} has {second} already.\n", "")
    assert run("verify", bucket.url)[1].startswith(f"{bucket.url} is whole: snapshot ")
    assert "evals: 1 changed" in run("diff", f"{bucket.url}/{first}", bucket.url)[1]


def test_records_and_trajectories(run, tmp_path):
    records, points = tmp_path / "records.csv", tmp_path / "points.csv"
    records.write_text(
        "tokens,metric,value,flops,params,label,run\n1e9,eval/loss,3.5,1e18,1e8,a,x\n",
        encoding="utf-8",
    )
    points.write_text(
        "run,segment,step,tokens,metric,value\nx,x,0,4096,eval/loss,11.5\n", encoding="utf-8"
    )
    out = tmp_path / "built"
    status, text, err = run(
        *("build", "bundled", "--records", records, "--trajectories", points, "--out", out),
        *("--ladder", "mine", "--title", "Mine", "--optimizer", "Muon"),
        *("--source-url", "https://example.org/mine"),
    )
    assert (status, text.count("\n")) == (0, 1)
    assert err.splitlines() == [
        "note: ladder mine is new: isoflop, sized by params, eval/loss first.",
        f"note: {records} has no nominal budgets; centres of 1.1^k buckets stand in.",
    ]
    tables = dc.load_snapshot(out).tables
    ladder = tables["ladders"].iloc[-1]
    assert ladder[["ladder", "title", "optimizer"]].tolist() == ["mine", "Mine", "Muon"]
    assert tables["trajectories"].iloc[-1]["run"] == "x"
    assert tables["sources"].iloc[-1]["url"] == "https://example.org/mine"
    assert len(set(tables["trajectories"]["source"][-1:]) | set(tables["runs"]["source"][-1:])) == 1


def test_what_was_extracted_is_built_in(run, bucket, snapshot, tmp_path, capsys):
    """Run folders to records and trajectories, and both into a snapshot."""
    own = snapshot.records("delphi", "eval/paloma/macro_loss").head(5)
    for row in own.itertuples():
        summary = {
            "throughput/total_tokens": row.tokens,
            "throughput/total_gflops": row.flops / 1e9,
            "parameter_count": row.params,
            "eval/paloma/macro_loss": row.value,
            "test/metric": row.value - 1,
        }
        file = json.dumps({"config": {}, "summary": summary}) + "\n"
        bucket.put(f"isoflop/{row.run}/tracker_metrics.jsonl", file)
    lines = [{"step": s, "throughput/total_tokens": 10.0 * s, "eval/loss": 9.0} for s in range(3)]
    bucket.put(f"isoflop/{RUN}/eval_metrics.jsonl", "\n".join(map(json.dumps, lines)) + "\n")
    runs, records, points = f"{bucket.url}/isoflop", tmp_path / "r.csv", tmp_path / "p.csv"
    metrics = ("--metric", "eval/paloma/macro_loss", "--metric", "test/metric")
    label = ("--label", "adamh_scaling_v6")
    assert main(["extract", runs, *label, *metrics, "--out", str(records)]) == 0
    wanted = ("--run", RUN, "--metric", "eval/loss", "--ladder", "delphi")
    assert main(["trajectories", runs, *wanted, "--out", str(points)]) == 0
    capsys.readouterr()
    out = tmp_path / "built"
    status, _, _ = run(
        *("build", "bundled", "--records", records, "--trajectories", points, "--out", out),
        *("--ladder", "delphi", "--source-url", runs),
    )
    assert status == 0
    status, text, _ = run("diff", "bundled", out)
    assert [line for line in text.splitlines() if not line.startswith(" ")] == [
        "metrics: 1 added",
        "evals: 5 added",
        "trajectories: 3 added",
        "sources: 1 added",
    ]
    assert dc.load_snapshot(out).tables["sources"].iloc[-1]["url"] == runs


def test_mistakes_are_status_1(run, tmp_path):
    out = tmp_path / "out"
    status, text, err = run("build", "bundled", tmp_path / "nowhere", "--out", out)
    assert (status, text) == (1, "")
    assert err == f"{tmp_path}/nowhere is not there; check its name.\n"
    assert not out.exists()
    status, text, err = run("build", "s3://bucket/x", "--out", out)
    assert (status, text) == (1, "")
    assert err == "'s3://bucket/x' is no place; name a folder or gs://bucket/folder.\n"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["build", "bundled"],
        ["build", "--out", "x"],
        ["build", "bundled", "--out", "x", "--created-at", "yesterday"],
        ["build", "bundled", "--out", "x", "--created-at", "2026-12-01T00:00:00"],
        ["build", "bundled", "--out", "x", "--records", "x.csv"],
        ["build", "bundled", "--out", "x", "--kind", "other"],
        ["diff", "bundled"],
        ["diff", "bundled", "bundled", "--lines", "-1"],
        ["publish", "x"],
    ],
)
def test_wrong_usage_is_status_2(arguments):
    with pytest.raises(SystemExit) as caught:
        main(["snapshot", *arguments])
    assert caught.value.code == 2
