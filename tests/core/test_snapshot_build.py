"""Snapshots built of tables: the bundled one comes out of its own figures, byte by byte."""

import json
import os
import shutil
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import delphi_core as dc
from delphi_core import snapshot_write
from delphi_core.manifest import MANIFEST
from delphi_core.parquet_table import write_parquet
from delphi_core.snapshot import BUNDLED
from delphi_core.snapshot_build import build_snapshot
from delphi_core.snapshot_rows import merged, rows_of
from delphi_core.snapshot_write import write_manifest
from delphi_core.tables import TABLES

MADE = "2026-11-30T16:24:05Z"
RUN = "isoflop-3e+18-d512-L6-B32-adamh_scaling_v6"
HEADER = "ladder,run,metric,value,source\n"


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "README.md"}


@pytest.fixture
def build(tmp_path):
    """Build a snapshot of sources into a new folder."""
    made = iter(range(100))

    def call(*sources, created_at=MADE, **more):
        out = tmp_path / f"built-{next(made)}"
        built = build_snapshot(
            out, [str(source) for source in sources], created_at=created_at, **more
        )
        return out, built

    return call


@pytest.fixture
def tables(tmp_path):
    """The bundled tables in a folder without a manifest, to be changed."""
    folder = shutil.copytree(BUNDLED, tmp_path / "tables")
    (folder / MANIFEST).unlink()
    return folder


def refused(build, *sources):
    with pytest.raises(dc.DataError) as caught:
        build(*sources)
    return caught.value.problems


@pytest.mark.parametrize("source", ["bundled", BUNDLED])
def test_the_bundled_tables_give_the_bundled_snapshot(build, source):
    out, built = build(source)
    assert files(out) == files(BUNDLED)
    assert built.notes == ()


@pytest.mark.skipif(not os.environ.get("DELPHI_DATA_DIR"), reason="DELPHI_DATA_DIR is not set")
def test_the_source_tables_give_the_bundled_snapshot(build):
    out, _ = build(Path(os.environ["DELPHI_DATA_DIR"]))
    assert files(out) == files(BUNDLED)


def test_the_same_sources_give_the_same_bytes(build, tables):
    (tables / "events.csv").unlink()
    one, other = (build("bundled", tables)[0] for _ in range(2))
    assert files(one) == files(other)
    later, _ = build("bundled", tables, created_at="2027-01-01T00:00:00Z")
    assert dc.load_snapshot(later).id == dc.load_snapshot(one).id
    assert dc.load_snapshot(later).created_at == "2027-01-01T00:00:00Z"


def test_how_a_table_is_written_does_not_count(build, tables):
    """Carriage returns, quotes, a mark of the byte order and 6 for 6.0 are the same figures."""
    data = (tables / "evals.csv").read_text(encoding="utf-8")
    quoted = "\r\n".join(",".join(f'"{c}"' for c in line.split(",")) for line in data.splitlines())
    (tables / "evals.csv").write_text("\ufeff" + quoted, encoding="utf-8", newline="")
    assert dc.load_snapshot(build(tables)[0]).id == dc.load_snapshot(BUNDLED).id
    shutil.copy(BUNDLED / "evals.csv", tables)
    runs = (tables / "runs.csv").read_text(encoding="utf-8")
    assert ",6.0,32," in runs
    (tables / "runs.csv").write_text(runs.replace(",6.0,32,", ",6,32,"), encoding="utf-8")
    assert dc.load_snapshot(build("bundled", tables)[0]).id == dc.load_snapshot(BUNDLED).id
    assert dc.load_snapshot(build(tables)[0]).id != dc.load_snapshot(BUNDLED).id


def test_a_later_source_replaces_and_adds(build, tmp_path):
    more = tmp_path / "more"
    more.mkdir()
    (more / "evals.csv").write_text(
        f"{HEADER}delphi,{RUN},eval/loss,3.5,s001\ndelphi,{RUN},eval/paloma/macro_loss,3.7,s001\n",
        encoding="utf-8",
    )
    out, _ = build("bundled", more)
    before = (BUNDLED / "evals.csv").read_text(encoding="utf-8").splitlines()
    after = (out / "evals.csv").read_text(encoding="utf-8").splitlines()
    assert after[1] == f"delphi,{RUN},eval/paloma/macro_loss,3.7,s001"
    assert after[2:-1] == before[2:]
    assert after[-1] == f"delphi,{RUN},eval/loss,3.5,s001"
    assert dc.load_snapshot(out).records("delphi", "eval/loss")["value"].iloc[0] == 3.5
    assert files(build("bundled", more, "bundled")[0])["runs.csv"] == files(BUNDLED)["runs.csv"]


def test_tables_without_a_key_are_joined(build, tmp_path):
    more = tmp_path / "more"
    more.mkdir()
    lines = (BUNDLED / "events.csv").read_text(encoding="utf-8").splitlines()
    new = lines[1].replace("launch", "restart")
    (more / "events.csv").write_text("\n".join([lines[0], lines[2], new]) + "\n", encoding="utf-8")
    out, _ = build("bundled", more)
    assert (out / "events.csv").read_text(encoding="utf-8").splitlines() == [*lines, new]


def test_a_snapshot_in_a_bucket_is_a_source(build, bucket, tmp_path):
    for name, data in files(BUNDLED).items():
        bucket.put(f"a/{name}", data)
    assert files(build(f"{bucket.url}/a")[0]) == files(BUNDLED)
    bucket.put("a/evals.csv", HEADER)
    sentences = refused(build, f"{bucket.url}/a", tmp_path / "nowhere")
    assert len(sentences) == 2
    assert sentences[0].startswith(f"{bucket.url}/a: evals.csv is not the file manifest.json descr")
    assert sentences[1].endswith("nowhere is not there; check its name.")


def test_large_tables_are_parquet(build, snapshot, monkeypatch):
    monkeypatch.setattr(snapshot_write, "LARGEST_CSV", 333)
    out, _ = build("bundled")
    listed = json.loads((out / MANIFEST).read_text(encoding="utf-8"))["files"]
    assert [name for name in listed if name.endswith(".parquet")] == [
        "evals.parquet",
        "trajectories.parquet",
    ]
    copy = dc.load_snapshot(out)
    for name, table in snapshot.tables.items():
        pd.testing.assert_frame_equal(copy.tables[name], table, check_exact=True)
    assert files(build(out, "bundled")[0]) == files(out)
    monkeypatch.undo()
    back, _ = build(out)
    assert not [path for path in back.iterdir() if path.suffix == ".parquet"]
    for name, table in snapshot.tables.items():
        pd.testing.assert_frame_equal(dc.load_snapshot(back).tables[name], table, check_exact=True)


def test_a_folder_may_hold_parquet(build, tables, snapshot):
    (tables / "runs.csv").unlink()
    (tables / "runs.parquet").write_bytes(write_parquet(snapshot.tables["runs"], TABLES["runs"]))
    out, _ = build(tables)
    pd.testing.assert_frame_equal(dc.load_snapshot(out).tables["runs"], snapshot.tables["runs"])
    assert files(build("bundled", tables)[0]) == files(BUNDLED)


def test_what_a_folder_lacks_has_no_rows(build, tables):
    for name in ("events", "segments"):
        (tables / f"{name}.csv").unlink()
    out, built = build(tables)
    assert built.notes == (
        "no source has segments.csv; it has no rows.",
        "no source has events.csv; it has no rows.",
    )
    assert len(dc.load_snapshot(out).tables["events"]) == 0


def test_tables_that_changed_after_their_manifest_are_noted(build, tables):
    write_manifest(tables, MADE)
    assert build(tables)[1].notes == ()
    data = (tables / "evals.csv").read_text(encoding="utf-8")
    (tables / "evals.csv").write_text(data.replace("3.710956335067749", "3.71"), encoding="utf-8")
    (note,) = build(tables)[1].notes
    assert note.endswith("evals.csv is not as manifest.json says; all are taken as they are now.")
    (tables / MANIFEST).write_text("{", encoding="utf-8")
    assert "is not a manifest of a snapshot" in build(tables)[1].notes[0]


def test_each_mistake_is_a_sentence_that_names_its_file(build, tables, tmp_path):
    def edit(name, old, new):
        text = (BUNDLED / name).read_text(encoding="utf-8")
        assert old in text
        (tables / name).write_text(text.replace(old, new, 1), encoding="utf-8")

    edit("evals.csv", "3.710956335067749", "loss")
    edit("runs.csv", ",isoflop,,", ",isoflops,,")
    sentences = refused(build, "bundled", tables)
    assert len(sentences) == 2
    assert sentences[0].startswith(f"{tables}/runs.csv row 2: role is 'isoflops'; it must be one")
    assert sentences[1].startswith(f"{tables}/evals.csv row 2: value is 'loss'; it must be a num")
    shutil.copy(BUNDLED / "runs.csv", tables)
    edit("evals.csv", RUN, "isoflop-3e+18-d512")
    (sentence,) = refused(build, "bundled", tables)
    assert sentence.startswith(f"{tables}/evals.csv row 2: run 'isoflop-3e+18-d512' is not in runs")
    shutil.copy(BUNDLED / "evals.csv", tables)
    edit("runs.csv", "156508160.0", "")
    (sentence,) = refused(build, "bundled", tables)
    assert sentence.startswith(f"{tables}/runs.csv row 2: params is empty; ladder delphi sizes")
    (tables / "runs.parquet").write_bytes(b"x")
    (tables / "event.csv").write_bytes(b"x")
    sentences = refused(build, tables)
    assert sentences[0].startswith(f"{tables} holds 'event.csv', which no snapshot has; did you")
    assert sentences[1] == f"{tables} holds runs.csv and runs.parquet; keep one of them."
    empty = tmp_path / "empty"
    empty.mkdir()
    assert refused(build, empty) == (
        f"{empty} holds no table, such as runs.csv; name another folder.",
    )


def test_nothing_is_written_over_or_left_half(tmp_path, monkeypatch):
    def call(out):
        build_snapshot(out, ["bundled"], created_at=MADE)

    taken = tmp_path / "taken"
    taken.mkdir()
    call(taken)
    (tmp_path / "file").touch()
    for out, words in (
        (taken, "is there already; name a new folder."),
        (tmp_path / "file", "is there already; name a new folder."),
        (tmp_path / "file" / "below", "is below a file; name another folder."),
        (tmp_path / ("x" * 300), "cannot be written: File name too long."),
    ):
        with pytest.raises(dc.DataError) as caught:
            call(out)
        assert caught.value.problems[0].endswith(words)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(dc.DataError, match="cannot be written: No space left on device"):
        call(tmp_path / "new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "taken"]


EVALS = TABLES["evals"]
ROWS = st.dictionaries(
    st.sampled_from("abcdefgh"), st.sampled_from(["1", "1.0", "2.5", "-3e-5"]), max_size=8
)


def rows(values):
    cells = [["l", run, "m", value, "s"] for run, value in values.items()]
    frame = pd.DataFrame(cells, columns=list(EVALS.column_names), dtype="str")
    found, mistakes = rows_of(frame, EVALS, "evals.csv")
    assert not mistakes
    return found


@settings(deadline=None, max_examples=50)
@given(ROWS, ROWS)
def test_merging_is_what_a_dictionary_does(base, new):
    both = merged(rows(base), rows(new), EVALS)
    expected = {run: float(value) for run, value in (base | new).items()}
    assert dict(zip(both.frame["run"], both.frame["value"], strict=True)) == expected
    assert both.frame["run"].tolist() == list(base | new)
    # Numbers that are the same stay as they were written first.
    written = dict(zip(both.as_text()["run"], both.as_text()["value"], strict=True))
    kept = {run: v for run, v in base.items() if run not in new or float(new[run]) == float(v)}
    assert written == new | kept
