"""Snapshots from a bucket, and from published folders: a pointer names the current one."""

import json
import time

import pandas as pd
import pytest

import delphi_core as dc
from delphi_core.manifest import MANIFEST
from delphi_core.snapshot import BUNDLED, current_version
from delphi_core.snapshot_read import POINTER
from delphi_core.sources.places import Place, PlaceError

FILES = [MANIFEST, *json.loads((BUNDLED / MANIFEST).read_text(encoding="utf-8"))["files"]]


class Local:
    """A folder of this machine, filled as a bucket is."""

    def __init__(self, folder):
        self.url = str(folder)

    def put(self, name, data):
        """Write a file."""
        Place(self.url).write(name, data.encode() if isinstance(data, str) else data)


@pytest.fixture(params=["bucket", "local"])
def prefix(request, tmp_path):
    """An empty place for snapshots, in a bucket or on this machine."""
    if request.param == "local":
        return Local(tmp_path / "published")
    return request.getfixturevalue("bucket")


def fill(prefix, folder=""):
    """The bundled snapshot, file by file."""
    for name in FILES:
        prefix.put(f"{folder}/{name}" if folder else name, (BUNDLED / name).read_bytes())


def point(prefix, folder, snapshot):
    prefix.put(POINTER, json.dumps({"folder": folder, "id": snapshot}))


def problems(url):
    with pytest.raises(dc.DataError) as caught:
        dc.load_snapshot(url)
    return caught.value.problems


def test_a_plain_folder_is_read_as_it_is(prefix, snapshot):
    fill(prefix)
    copy = dc.load_snapshot(prefix.url)
    assert (copy.id, copy.created_at) == (snapshot.id, snapshot.created_at)
    for name, table in snapshot.tables.items():
        pd.testing.assert_frame_equal(copy.tables[name], table, check_exact=True)


def test_the_pointer_names_the_folder(prefix, snapshot):
    fill(prefix, "new")
    prefix.put(MANIFEST, "what lies beside the pointer does not count")
    point(prefix, "new", snapshot.id)
    assert dc.load_snapshot(prefix.url).id == snapshot.id
    assert dc.load_snapshot(f"{prefix.url}/new").id == snapshot.id


def test_the_environment_names_a_bucket(bucket, snapshot, monkeypatch):
    fill(bucket, "a/b")
    monkeypatch.setenv("DELPHI_SNAPSHOT", f"{bucket.url}/a/b")
    assert dc.load_snapshot().id == snapshot.id
    assert dc.load_snapshot(bucket.place("a/b")).id == snapshot.id
    assert current_version().startswith(MANIFEST)


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "null", "{}", '{"folder": "new"}', '{"folder": 1, "id": "x"}', "[" * 200_000]
    + [json.dumps({"folder": name, "id": "x"}) for name in ("", "a/b", "../new", "/new")],
)
def test_a_pointer_that_names_no_folder_is_refused(prefix, content):
    fill(prefix, "new")
    prefix.put(POINTER, content)
    assert problems(prefix.url) == (
        "latest.json names no folder of a snapshot; publish one again.",
    )


def test_a_pointer_never_leads_out(prefix):
    point(prefix, "..", "x")
    (sentence,) = problems(prefix.url)
    assert "'..' is no name of a file below" in sentence


def test_a_pointer_to_another_snapshot_is_refused(prefix, snapshot):
    fill(prefix, "new")
    point(prefix, "new", "0123456789ab")
    (sentence,) = problems(prefix.url)
    assert sentence.startswith("latest.json names 'new' as snapshot '0123456789ab', and it is ")
    assert sentence.endswith(f"{snapshot.id}; publish it again.")


@pytest.mark.parametrize("folder", ["", "new"])
def test_a_torn_snapshot_is_refused(prefix, snapshot, folder):
    fill(prefix, folder)
    if folder:
        point(prefix, folder, snapshot.id)
    data = (BUNDLED / "runs.csv").read_bytes()
    prefix.put(f"{folder}/runs.csv".lstrip("/"), data[: len(data) // 2])
    prefix.put(f"{folder}/evals.csv".lstrip("/"), b"")
    named = [sentence.split()[0] for sentence in problems(prefix.url)]
    assert named == ["runs.csv", "evals.csv"]


def test_what_is_missing_is_named(prefix, snapshot):
    (sentence,) = problems(prefix.url)
    assert MANIFEST in sentence
    point(prefix, "new", snapshot.id)
    (sentence,) = problems(prefix.url)
    assert f"new/{MANIFEST}" in sentence
    for name in FILES:
        if name != "sources.csv":
            prefix.put(f"new/{name}", (BUNDLED / name).read_bytes())
    (sentence,) = problems(prefix.url)
    assert "new/sources.csv" in sentence


def test_half_a_manifest_is_refused(prefix):
    fill(prefix)
    data = (BUNDLED / MANIFEST).read_bytes()
    prefix.put(MANIFEST, data[: len(data) // 2])
    assert problems(prefix.url) == (
        "manifest.json is not a manifest of a snapshot; write it anew.",
    )


def test_the_version_changes_with_the_pointer(prefix, snapshot):
    with pytest.raises(PlaceError) as caught:
        current_version(prefix.url)
    assert caught.value.kind == "missing"
    fill(prefix)
    plain = current_version(prefix.url)
    assert current_version(prefix.url) == plain
    prefix.put(MANIFEST, (BUNDLED / MANIFEST).read_bytes() + b"\n")
    assert current_version(prefix.url) != plain
    fill(prefix, "new")
    point(prefix, "new", snapshot.id)
    first = current_version(prefix.url)
    assert first != plain
    prefix.put("new/more", b"beside")
    assert current_version(prefix.url) == first
    prefix.put(POINTER, json.dumps({"id": snapshot.id, "folder": "newer"}))
    assert current_version(prefix.url) != first


def test_asking_for_the_version_reads_no_file(faults, bucket, snapshot):
    fill(bucket, "new")
    point(bucket, "new", snapshot.id)
    current_version(bucket.url)
    assert len(faults.seen) == 1


def test_files_are_read_together_and_each_within_its_limit(faults, bucket):
    fill(bucket)
    faults.when("runs.csv", do=["silent"])
    faults.when("evals.csv", do=["silent"])
    begin = time.monotonic()
    with pytest.raises(dc.DataError) as caught:
        dc.load_snapshot(bucket.place(seconds=2.0, attempts=1))
    # After each other the two would take four seconds.
    assert time.monotonic() - begin < 3.8
    assert [s.split()[1:4] for s in caught.value.problems] == [["did", "not", "answer"]] * 2


def test_who_may_not_know_whether_there_is_a_pointer_reads_the_folder(faults, bucket, snapshot):
    """Without the right to list, Google refuses what is not there."""
    fill(bucket)
    faults.when(POINTER, do=[403])
    assert dc.load_snapshot(bucket.url).id == snapshot.id
    assert current_version(bucket.url).startswith(MANIFEST)


def test_a_server_that_fails_is_a_sentence(faults, bucket):
    fill(bucket)
    faults.when("/o/", do=[500])
    with pytest.raises(PlaceError) as caught:
        dc.load_snapshot(bucket.place(seconds=0.5, attempts=1))
    assert caught.value.kind == "failing"
