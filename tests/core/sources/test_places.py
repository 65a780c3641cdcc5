"""Places: local folders and buckets read alike, within limits, and say what is wrong."""

import pickle
import subprocess
import sys
import time

import pytest

import delphi_core as dc
from delphi_core.sources.places import Place, PlaceError
from tests.faults import PASS

FILES = {
    "runs/a+b/tracker_metrics.jsonl": b"{}\n",
    "runs/a+b/deep/file": b"\0\xff",
    "runs/\u00e4 b?#%/file": b"odd",
    "runs/empty": b"",
    "runs/x.txt": b"x",
    "other": b"not below",
}


@pytest.fixture(params=["local", "bucket"])
def place(request, tmp_path):
    """The same files on this machine and in a bucket."""
    if request.param == "local":
        for name, data in FILES.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(data)
        return Place(str(tmp_path))
    bucket = request.getfixturevalue("bucket")
    for name, data in FILES.items():
        bucket.put(name, data)
    return bucket.place()


def test_both_kinds_are_read_alike(place):
    runs = place.below("runs")
    assert (place.folders(), place.files()) == (["runs"], ["other"])
    assert runs.folders() == ["a+b", "\u00e4 b?#%"]
    assert runs.files() == ["empty", "x.txt"]
    for name, data in FILES.items():
        assert place.read(name) == data
    assert runs.below("a+b").read("tracker_metrics.jsonl") == b"{}\n"


def test_a_version_changes_with_the_file_only(place):
    before = place.version("runs/x.txt")
    assert place.version("runs/x.txt") == before
    place.write("runs/x.txt", b"longer")
    assert place.version("runs/x.txt") != before
    assert place.read("runs/x.txt") == b"longer"


def test_what_was_written_is_read(place):
    place.below("new/folder").write("file", b"1\n" * 1000)
    assert place.read("new/folder/file") == b"1\n" * 1000
    assert place.below("new/folder").files() == ["file"]
    assert "new" in place.folders()


def test_what_is_not_there_is_missing(place):
    for call in (
        lambda: place.read("none"),
        lambda: place.version("none"),
        lambda: place.below("none").folders(),
        lambda: place.below("none").read("none"),
    ):
        with pytest.raises(PlaceError, match=r"none is not there; check its name\.") as caught:
            call()
        assert caught.value.kind == "missing"


@pytest.mark.parametrize("name", ["", "..", "../x", "a/../../x", "/etc/passwd", "a//b", "a/", "\0"])
def test_a_name_that_leads_out_is_refused(place, name):
    for call in (place.read, place.version, place.below, lambda n: place.write(n, b"")):
        with pytest.raises(dc.DataError, match="is no name of a file below"):
            call(name)


def test_an_empty_bucket_is_there_and_another_is_not(bucket):
    assert bucket.place().folders() == []
    with pytest.raises(PlaceError) as caught:
        Place("gs://no-such-bucket").folders()
    assert caught.value.kind == "missing"


def test_a_folder_marked_by_an_empty_object_is_one(bucket):
    bucket.put("runs/", b"")
    bucket.put("runs/a/", b"")
    assert (bucket.place("runs").folders(), bucket.place("runs").files()) == (["a"], [])


def test_local_files_that_cannot_be_read_or_written(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"")
    for call, words in (
        (lambda: Place(str(tmp_path)).read("folder"), "folder cannot be read: Is a directory."),
        (lambda: Place(str(tmp_path)).write("file/x", b""), "file/x cannot be written: "),
        (lambda: Place(str(tmp_path)).write("folder", b""), "folder cannot be written: "),
    ):
        with pytest.raises(PlaceError, match=words) as caught:
            call()
        assert caught.value.kind == "failing"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


def test_a_written_file_is_readable_as_any_other(tmp_path):
    (tmp_path / "plain").write_bytes(b"")
    Place(str(tmp_path)).write("new", b"")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("", "none was named"),
        ("s3://bucket/x", "'s3://bucket/x' is no place; name a folder or gs://bucket/folder"),
        ("gs://", "is no place"),
        ("gs:/bucket", "is no place"),
        ("gs://a//b", "is no place"),
        ("https://example.org", "is no place"),
    ],
)
def test_an_address_that_is_none_is_refused(url, words):
    with pytest.raises(dc.DataError, match=words):
        Place(url)


@pytest.mark.parametrize("limits", [{"seconds": 0}, {"seconds": float("nan")}, {"attempts": 0}])
def test_limits_that_are_none_are_refused(limits):
    with pytest.raises(dc.DataError, match="allow a positive time and one try"):
        Place(".", **limits)


def test_a_slash_at_the_end_is_the_same_place():
    assert Place("gs://bucket/x/") == Place("gs://bucket/x")
    assert Place("/").address("etc") == "/etc"


def test_places_and_their_errors_go_to_other_processes():
    place = Place("gs://bucket/x", "machine", 2.5, 3)
    error = PlaceError("silent", "x did not answer.")
    back = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    assert pickle.loads(pickle.dumps(place)) == place  # noqa: S301 - our own
    assert (back.kind, str(back), back.problems) == ("silent", str(error), error.problems)


def test_nobody_listening_is_failing_within_the_limit(monkeypatch):
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", "127.0.0.1:1")
    start = time.monotonic()
    with pytest.raises(PlaceError, match="gs://b/x cannot be had: the connection to the") as caught:
        Place("gs://b", seconds=0.5).read("x")
    assert caught.value.kind == "failing"
    assert time.monotonic() - start < 2


@pytest.mark.parametrize("answer", [503, 403])
def test_what_cannot_be_written_is_said(bucket, faults, answer):
    faults.when("upload", do=[answer, answer if answer == 403 else PASS])
    if answer == 403:
        with pytest.raises(PlaceError, match=r"/x is refused \(403\)") as caught:
            bucket.place().write("x", b"new")
        assert caught.value.kind == "refused"
        assert bucket.state() == {}
    else:
        bucket.place().write("x", b"new")
        assert bucket.get("x") == b"new"


def test_a_changed_server_is_seen(bucket, faults, monkeypatch):
    bucket.put("x", b"1")
    assert bucket.place().read("x") == b"1"
    seen = len(faults.seen)
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", bucket.server.url)
    assert bucket.place().read("x") == b"1"
    assert len(faults.seen) == seen == 1


def test_a_machine_without_credentials_is_refused(bucket, monkeypatch, tmp_path):
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "none.json"))
    with pytest.raises(PlaceError, match="needs Google credentials, and this machine") as caught:
        Place(bucket.url, credentials="machine").folders()
    assert caught.value.kind == "refused"


def test_gcsfs_is_imported_by_who_reads_a_bucket_only():
    code = (
        "import sys; import delphi_core; from delphi_core.sources import places\n"
        "places.Place('.').folders(); assert not {'gcsfs', 'fsspec', 'aiohttp'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)  # noqa: S603 - ours
