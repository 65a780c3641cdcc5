"""Snapshots: the bundled one is whole, and a folder with anything wrong is refused in words."""

import json
import shutil

import pytest

import delphi_core as dc
from delphi_core.manifest import MANIFEST
from delphi_core.snapshot import BUNDLED
from delphi_core.snapshot_write import write_manifest
from delphi_core.tables import TABLES


@pytest.fixture
def folder(tmp_path):
    """A copy of the bundled snapshot that a test may damage."""
    return shutil.copytree(BUNDLED, tmp_path / "snapshot")


def edit(folder, table, old, new, count=1):
    """Change a table's text and write the manifest anew, so that only the content is wrong."""
    file = folder / f"{table}.csv"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, count), encoding="utf-8")
    write_manifest(folder, "2026-01-01T00:00:00Z")


def problems(folder):
    with pytest.raises(dc.DataError) as caught:
        dc.load_snapshot(folder)
    return caught.value.problems


def test_the_bundled_snapshot_holds_every_table(snapshot):
    assert set(snapshot.tables) == set(TABLES)
    assert {name: len(table) for name, table in snapshot.tables.items()} == {
        "ladders": 8,
        "metrics": 26,
        "runs": 273,
        "evals": 334,
        "trajectories": 3221,
        "segments": 12,
        "targets": 3,
        "events": 36,
        "published_optima": 23,
        "published_fits": 63,
        "published_laws": 44,
        "published_forecasts": 67,
        "sources": 55,
    }


def test_hero_measurements_end_at_step_138000(snapshot):
    trajectories = snapshot.tables["trajectories"]
    hero = trajectories[trajectories["run"] == "hero-535b-a23b"]
    assert hero["step"].max() <= 138_000


def test_the_manifest_is_the_one_that_would_be_written(folder):
    before = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    write_manifest(folder, before["created_at"])
    assert json.loads((folder / MANIFEST).read_text(encoding="utf-8")) == before


def test_the_id_hangs_on_the_figures_only(folder, snapshot):
    write_manifest(folder, "2030-01-01T00:00:00Z")
    copy = dc.load_snapshot(folder)
    assert copy.id == snapshot.id
    assert copy.created_at == "2030-01-01T00:00:00Z"
    edit(folder, "evals", "3.710956335067749", "3.71")
    assert dc.load_snapshot(folder).id != snapshot.id


def test_the_environment_names_another_folder(folder, monkeypatch):
    write_manifest(folder, "2030-01-01T00:00:00Z")
    monkeypatch.setenv("DELPHI_SNAPSHOT", str(folder))
    assert dc.load_snapshot().created_at == "2030-01-01T00:00:00Z"


def test_a_torn_snapshot_is_refused(folder):
    with (folder / "runs.csv").open("a", encoding="utf-8") as file:
        file.write("one more row\n")
    (sentence,) = problems(folder)
    assert sentence.startswith("runs.csv is not the file manifest.json describes")


def test_every_torn_file_is_named(folder):
    (folder / "evals.csv").unlink()
    with (folder / "runs.csv").open("a", encoding="utf-8") as file:
        file.write("one more row\n")
    data = (folder / "events.csv").read_bytes()
    (folder / "events.csv").write_bytes(data[: len(data) // 2])
    (sources := folder / "sources.csv").write_bytes(sources.read_bytes().replace(b"s001", b"s100"))
    named = [sentence.split()[0] for sentence in problems(folder)]
    assert named == ["runs.csv", "'snapshot/evals.csv'", "events.csv", "sources.csv"]


def test_missing_parts_are_named(folder, tmp_path):
    (folder / "evals.csv").unlink()
    assert problems(folder) == ("'snapshot/evals.csv' cannot be read: No such file or directory.",)
    (folder / MANIFEST).unlink()
    assert problems(folder) == (
        "'snapshot/manifest.json' cannot be read: No such file or directory.",
    )
    assert problems(tmp_path / "nowhere")[0].startswith("'nowhere/manifest.json' cannot be read")
    assert problems(tmp_path / ("x" * 5000))[0].endswith("cannot be read: File name too long.")


@pytest.mark.parametrize(
    "content",
    [
        "",
        "not json",
        "[]",
        "{}",
        "[" * 200_000,
        '{"schema_version": 1, "created_at": "x", "files": []}',
    ],
)
def test_a_broken_manifest_is_refused(folder, content):
    (folder / MANIFEST).write_text(content, encoding="utf-8")
    assert problems(folder) == ("manifest.json is not a manifest of a snapshot; write it anew.",)


def test_manifest_and_files_must_agree(folder):
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))

    def refused(**changes):
        (folder / MANIFEST).write_text(json.dumps(manifest | changes), encoding="utf-8")
        return problems(folder)

    assert refused(schema_version=99) == (
        "manifest.json has schema version 99; this version reads 1.",
    )
    assert refused(schema_version="x\n" * 99)[0].count("\n") == 0
    files = dict(manifest["files"])
    entry = files.pop("runs.csv")
    assert refused(files=files) == ("manifest.json does not list runs.csv; add it.",)
    listed = refused(files=files | {"runs.csv": entry, "run.csv": entry})
    assert "lists 'run.csv', which no snapshot has; did you mean" in listed[0]
    assert "'runs.csv'" in listed[0]
    twice = refused(files=files | {"runs.csv": entry, "runs.parquet": entry})
    assert twice == ("manifest.json lists runs.csv and runs.parquet; keep one of them.",)
    outside = refused(files=files | {"runs.csv": entry, "../runs.csv": entry})
    assert outside[0].startswith("manifest.json lists '../runs.csv', which no snapshot has;")
    rows = refused(files=files | {"runs.csv": entry | {"rows": 1}})
    assert rows == ("runs.csv has 273 rows where manifest.json says 1.",)


RUN = "isoflop-3e+18-d512-L6-B32-adamh_scaling_v6"

MISTAKES = {
    "unknown column": ("ladders", "optimizer,", "optimiser,", "has an unknown column 'optimiser'"),
    "missing column": ("ladders", "optimizer,", "optimiser,", "has no column 'optimizer'"),
    "text in a number": ("evals", "3.710956335067749", "loss", "row 2: value is 'loss'"),
    "NaN": ("evals", "3.710956335067749", "NaN", "row 2: value is 'NaN'; it must be a finite"),
    "infinity": ("evals", "3.710956335067749", "1e400", "row 2: value is '1e400'; it must be"),
    "negative tokens": ("runs", "4304928768.0", "-1", "row 2: tokens is '-1'; it must be a pos"),
    "no flops": ("runs", "3.000006086133547e+18", "", "row 2: flops is empty; it must be a pos"),
    "size of a ladder": ("runs", "156508160.0", "", "row 2: params is empty; ladder delphi sizes"),
    "half a layer": (
        "runs",
        ",6.0,32,",
        ",6.5,32,",
        "layers is '6.5'; it must be a positive whole",
    ),
    "unknown role": ("runs", ",isoflop,,", ",isoflops,,", "role is 'isoflops'; it must be one of"),
    "not a date": ("events", "2026-08-19", "19 August", "utc is '19 August'; it must be a date"),
    "not a flag": ("segments", "main,4096,1", "main,4096,maybe", "comparable is 'maybe'; it must"),
    "over one": ("runs", "0.8002690314866481", "80", "progress is '80'; it must be a number"),
    "unknown run": ("evals", RUN, "isoflop-3e+18-d512", "run 'isoflop-3e+18-d512' is not in runs"),
    "unknown metric": ("evals", "eval/paloma/macro_loss", "eval/macro", "metric 'eval/macro' is"),
    "unknown ladder": ("segments", "moe-67b,", "moe-68b,", "is not in ladders.csv; did you mean"),
    "unknown source": ("runs", ",s001\n", ",s999\n", "source 's999' is not in sources.csv"),
    "unknown rung": ("targets", "rav-ladder-d1024", "rav-ladder-d1025", "rungs 'rav-ladder-d1025'"),
    "wrong default": ("ladders", "eval/paloma/macro_loss", "loss", "default_metric 'loss' is not"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_each_mistake_is_a_sentence_with_table_row_and_remedy(folder, mistake):
    table, old, new, words = MISTAKES[mistake]
    edit(folder, table, old, new)
    sentences = problems(folder)
    assert any(sentence.startswith(f"{table}.csv") and words in sentence for sentence in sentences)
    assert all(sentence.endswith((".", "?")) or "known:" in sentence for sentence in sentences)


@pytest.mark.parametrize("table", ["runs", "evals", "trajectories", "sources", "published_laws"])
def test_duplicate_keys_are_refused(folder, table):
    lines = (folder / f"{table}.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    edit(folder, table, lines[3], lines[3] * 2)
    (sentence,) = problems(folder)
    assert sentence.startswith(f"{table}.csv row 5 ")
    assert sentence.endswith("row 4; remove one of them.")


def test_a_thousand_mistakes_are_ten_lines(folder):
    edit(folder, "evals", ",s0", ",t0", count=1000)
    with pytest.raises(dc.DataError) as caught:
        dc.load_snapshot(folder)
    assert len(str(caught.value).splitlines()) == 10
    assert len(caught.value.problems) == 334


def test_a_table_without_rows_is_fine(folder):
    for name in ("events", "segments", "targets"):
        file = folder / f"{name}.csv"
        file.write_text(file.read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8")
    write_manifest(folder, "2026-01-01T00:00:00Z")
    assert len(dc.load_snapshot(folder).tables["events"]) == 0
