"""Tables as Parquet: the same typed table as from CSV, and anything else refused in words."""

import io
import json
import shutil

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import delphi_core as dc
from delphi_core.checks import check_table
from delphi_core.csv_text import read_csv_text
from delphi_core.manifest import MANIFEST, sha256
from delphi_core.parquet_table import read_parquet, write_parquet
from delphi_core.schema import Column, Table
from delphi_core.snapshot import BUNDLED
from delphi_core.snapshot_rows import Rows
from delphi_core.snapshot_write import table_file, write_manifest
from delphi_core.tables import TABLES

EVALS = TABLES["evals"]


@pytest.fixture
def folder(tmp_path):
    """A copy of the bundled snapshot that a test may damage."""
    return shutil.copytree(BUNDLED, tmp_path / "snapshot")


def typed(data, table, rows=None):
    """Typed table of a Parquet file without mistakes."""
    frame, mistakes = check_table(read_parquet(data, table, "x.parquet", rows), table, "x.parquet")
    assert not mistakes, mistakes.sentences
    return frame.reset_index(drop=True)


def as_parquet(folder, name, data=None):
    """Replace a table's CSV by a Parquet file and write the manifest anew."""
    table = dc.load_snapshot(BUNDLED).tables[name]
    (folder / f"{name}.csv").unlink()
    (folder / f"{name}.parquet").write_bytes(data or write_parquet(table, TABLES[name]))


def describe(folder, **changes):
    """A manifest that describes what lies in the folder, whatever it is."""
    manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    for name, rows in changes.items():
        entry = manifest["files"].pop(f"{name}.csv")
        data = (folder / f"{name}.parquet").read_bytes()
        manifest["files"][f"{name}.parquet"] = {
            "rows": entry["rows"] if rows is None else rows,
            "sha256": sha256(data),
        }
    (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")


def problems(folder):
    with pytest.raises(dc.DataError) as caught:
        dc.load_snapshot(folder)
    return caught.value.problems


@pytest.mark.parametrize("name", TABLES)
def test_a_parquet_table_is_the_table(snapshot, name):
    table = snapshot.tables[name]
    data = write_parquet(table, TABLES[name])
    pd.testing.assert_frame_equal(typed(data, TABLES[name], len(table)), table, check_exact=True)
    assert write_parquet(table, TABLES[name]) == data
    empty = table.iloc[:0]
    pd.testing.assert_frame_equal(typed(write_parquet(empty, TABLES[name]), TABLES[name]), empty)


MADE = Table(
    "made",
    "row",
    (
        Column("text", "text", "words", required=False),
        Column("number", "number", "a number", required=False),
        Column("integer", "integer", "a whole number", required=False),
        Column("flag", "flag", "yes or no"),
    ),
)
CELLS = st.tuples(
    st.none() | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    st.none() | st.floats(allow_nan=False, allow_infinity=False),
    st.none() | st.integers(1 - 2**53, 2**53 - 1),
    st.booleans(),
)


@settings(deadline=None, max_examples=50)
@given(st.lists(CELLS, min_size=1, max_size=5, unique=True))
def test_both_forms_give_what_was_written(rows):
    frame = pd.DataFrame(rows, columns=list(MADE.column_names))
    frame["text"] = frame["text"].fillna("").astype("str")
    frame["text"] = frame["text"].mask(frame["text"].str.strip() == "")
    frame["number"] = frame["number"].astype("float64")
    frame["integer"] = pd.array(
        frame["integer"].astype(object).where(frame["integer"].notna()).tolist(), dtype="Int64"
    )
    frame = frame.drop_duplicates(ignore_index=True)
    back = typed(write_parquet(frame, MADE), MADE)
    pd.testing.assert_frame_equal(back, frame, check_exact=True)
    file, lines = table_file(Rows(frame, None, frame), MADE)
    text, mistakes = check_table(read_csv_text(lines, file), MADE, file)
    assert not mistakes
    pd.testing.assert_frame_equal(text.reset_index(drop=True), frame, check_exact=True)


def test_a_snapshot_may_hold_both_kinds(folder, snapshot):
    as_parquet(folder, "trajectories")
    as_parquet(folder, "runs")
    write_manifest(folder, snapshot.created_at)
    listed = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["files"]
    assert listed["trajectories.parquet"]["rows"] == 3221
    assert "trajectories.csv" not in listed
    copy = dc.load_snapshot(folder)
    for name, table in snapshot.tables.items():
        pd.testing.assert_frame_equal(copy.tables[name], table, check_exact=True)


def test_two_files_of_a_table_are_refused(folder):
    shutil.copy(folder / "runs.csv", folder / "runs.parquet")
    with pytest.raises(dc.DataError, match=r"snapshot holds runs.csv and runs.parquet; keep one"):
        write_manifest(folder, "2026-01-01T00:00:00Z")


def parquet(**columns):
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return sink.getvalue()


def evals(**changes):
    """A Parquet file of evals with other columns."""
    columns = {name: ["a", "b"] for name in EVALS.column_names} | {"value": [1.0, 2.0]} | changes
    return parquet(**{name: cells for name, cells in columns.items() if cells is not None})


FILES = {
    "CSV": (b"ladder,run\n", "evals.parquet is not a readable Parquet file; write it anew."),
    "nothing": (b"", "evals.parquet is not a readable Parquet file; write it anew."),
    "half": (evals()[:-40], "evals.parquet is not a readable Parquet file; write it anew."),
    "magic": (b"PAR1" + b"\xff" * 60 + b"PAR1", "evals.parquet is not a readable Parquet file;"),
    "text": (evals(value=["1", "2"]), "column 'value' holds string where double is wanted; write"),
    "number": (evals(run=[1, 2]), "evals.parquet: column 'run' holds int64 where string is wanted"),
    "list": (evals(value=[[1.0], []]), "column 'value' holds list<"),
    "time": (evals(value=pa.array([1, 2], pa.timestamp("ns"))), "column 'value' holds timestamp"),
    "bytes": (evals(run=pa.array([b"\xff", b"b"], pa.binary())), "column 'run' holds binary where"),
    "missing": (evals(value=None), "evals.parquet has no column 'value'"),
    "unknown": (evals(values=[1, 2]), "evals.parquet has an unknown column 'values'; did you mean"),
    "infinity": (evals(value=[1.0, np.inf]), "row 2: value is 'inf'; it must be a finite number."),
    "NaN": (evals(value=[np.nan, 1.0]), "evals.parquet row 1: value is empty; it must be a number"),
    "null": (evals(run=["a", None]), "evals.parquet row 2: run is empty; it must be text"),
    "blank": (evals(run=["a", " "]), "evals.parquet row 2: run is empty; it must be text"),
    "twice": (
        evals(run=["a", "a"], ladder=["a", "a"], metric=["m", "m"]),
        "row 2 has the same ladder, run, metric as row 1; remove one of them.",
    ),
    "no run": (evals(), "evals.parquet row 1: run 'a' is not in runs.csv; known:"),
}


@pytest.mark.parametrize("wrong", FILES)
def test_what_is_wrong_is_a_sentence(folder, wrong):
    data, words = FILES[wrong]
    as_parquet(folder, "evals", data=data or b"\0")
    describe(folder, evals=2)
    sentences = problems(folder)
    assert any(words in sentence for sentence in sentences), sentences
    assert all(sentence.startswith("evals.parquet") for sentence in sentences)


def test_rows_that_the_manifest_does_not_promise_are_not_read(folder):
    as_parquet(folder, "trajectories")
    describe(folder, trajectories=7)
    assert problems(folder) == ("trajectories.parquet has 3221 rows where manifest.json says 7.",)


def test_damaged_pages_are_a_sentence(folder):
    """Whoever writes the manifest can give any bytes a right checksum."""
    table = dc.load_snapshot(BUNDLED).tables["trajectories"]
    data = bytearray(write_parquet(table, TABLES["trajectories"]))
    data[100:2000] = b"\xaa" * 1900
    as_parquet(folder, "trajectories", data=bytes(data))
    describe(folder, trajectories=None)
    assert problems(folder) == (
        "trajectories.parquet is not a readable Parquet file; write it anew.",
    )


def test_text_that_is_not_unicode_is_a_sentence(folder):
    broken = pa.array([b"\xff\xfe", b"b"], pa.binary()).view(pa.string())
    as_parquet(folder, "evals", data=evals(run=broken))
    describe(folder, evals=2)
    assert problems(folder) == ("evals.parquet is not a readable Parquet file; write it anew.",)


def test_numbers_may_be_whole_and_texts_encoded():
    run = pa.array(["a", "b"]).dictionary_encode()
    frame = typed(
        evals(value=[1, 2], run=run, metric=pa.array(["x", "y"], pa.large_string())), EVALS
    )
    assert frame["value"].tolist() == [1.0, 2.0]
    assert frame["run"].tolist() == ["a", "b"]
    assert [str(dtype) for dtype in frame.dtypes] == ["str", "str", "str", "float64", "str"]


def test_whole_numbers_that_a_float_cannot_hold_are_refused():
    table = Table("made", "row", (Column("steps", "integer", "steps"),))
    cells = read_parquet(parquet(steps=[2**53 + 1, 5]), table, "made.parquet")
    _, mistakes = check_table(cells, table, "made.parquet")
    assert len(mistakes.sentences) == 1
    assert mistakes.sentences[0].startswith("made.parquet row 1: steps is")
