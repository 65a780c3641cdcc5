"""Publishing: readers have the old snapshot whole or the new one whole, wherever it ends."""

import json
import shutil
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

import delphi_core as dc
from delphi_core.manifest import MANIFEST
from delphi_core.snapshot import BUNDLED
from delphi_core.snapshot_build import build_snapshot
from delphi_core.snapshot_publish import publish
from delphi_core.snapshot_read import POINTER
from delphi_core.snapshot_write import write_manifest
from delphi_core.sources import places
from delphi_core.sources.places import Place, PlaceError
from tests.servers import wait_until

FILES = [*json.loads((BUNDLED / MANIFEST).read_text(encoding="utf-8"))["files"], MANIFEST]
NEW_TIME = "2027-01-01T00:00:00Z"


@pytest.fixture
def new(tmp_path):
    """Another snapshot: the bundled one with a changed loss."""
    tables = shutil.copytree(BUNDLED, tmp_path / "tables")
    text = (tables / "evals.csv").read_text(encoding="utf-8")
    text = text.replace("3.710956335067749", "3.71")
    (tables / "evals.csv").write_text(text, encoding="utf-8")
    build_snapshot(tmp_path / "new", [str(tables)], created_at=NEW_TIME)
    return tmp_path / "new"


@pytest.fixture(params=["bucket", "local"])
def destination(request, tmp_path):
    """An empty place to publish to, in a bucket or on this machine."""
    if request.param == "local":
        return Place(str(tmp_path / "published"))
    return request.getfixturevalue("bucket").place("snapshots")


def test_what_is_published_is_what_is_read(destination, new, snapshot):
    told = []
    first = publish(Place(str(BUNDLED)), destination, told.append)
    assert first.before is None
    assert first.pointer.folder == f"2026-11-30T162405Z-{snapshot.id}"
    assert told == [*FILES, POINTER]
    assert dc.load_snapshot(destination).id == snapshot.id
    for name in FILES:
        data = (BUNDLED / name).read_bytes()
        assert destination.below(first.pointer.folder).read(name) == data
    second = publish(Place(str(new)), destination)
    assert second.before == first.pointer
    assert dc.load_snapshot(destination).id == dc.load_snapshot(new).id
    # The old one is still there, and can be published again without a copy.
    assert destination.folders() == sorted([first.pointer.folder, second.pointer.folder])
    assert dc.load_snapshot(destination.below(first.pointer.folder)).id == snapshot.id
    assert publish(Place(str(BUNDLED)), destination).pointer == first.pointer
    assert dc.load_snapshot(destination).id == snapshot.id


def test_a_reader_meanwhile_has_one_of_both(destination, new, snapshot):
    publish(Place(str(BUNDLED)), destination)
    both = {snapshot.id, dc.load_snapshot(new).id}
    seen = []
    with ThreadPoolExecutor(1) as pool:
        publication = pool.submit(publish, Place(str(new)), destination)
        while not publication.done():
            seen.append(dc.load_snapshot(destination).id)
        publication.result()
    assert seen
    assert set(seen) <= both
    assert dc.load_snapshot(destination).id != snapshot.id


def test_publishing_twice_writes_once(bucket, new):
    publish(Place(str(new)), bucket.place())
    state = bucket.state()
    told = []
    again = publish(Place(str(new)), bucket.place(), told.append)
    assert again.before == again.pointer
    assert (told, bucket.state()) == ([], state)


def test_a_published_snapshot_can_be_published_elsewhere(bucket, new, tmp_path):
    publish(Place(str(new)), bucket.place("a"))
    publish(bucket.place("a"), Place(str(tmp_path / "b")))
    assert dc.load_snapshot(tmp_path / "b").id == dc.load_snapshot(new).id


@pytest.mark.parametrize("wrong", ["torn", "mistaken", "without a time"])
def test_what_is_not_whole_is_not_published(bucket, new, wrong):
    publish(Place(str(BUNDLED)), bucket.place())
    state = bucket.state()
    text = (new / "evals.csv").read_text(encoding="utf-8")
    if wrong == "without a time":
        manifest = json.loads((new / MANIFEST).read_text(encoding="utf-8"))
        manifest["created_at"] = "../yesterday"
        (new / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
        words = "manifest.json says it was made at '../yesterday', which is no time in UTC such as"
    elif wrong == "torn":
        (new / "evals.csv").write_text(text[:1000], encoding="utf-8")
        words = "evals.csv is not the file manifest.json describes"
    else:
        (new / "evals.csv").write_text(text.replace("3.71,", "loss,"), encoding="utf-8")
        write_manifest(new, NEW_TIME)
        words = "evals.csv row 2: value is 'loss'; it must be a number."
    with pytest.raises(dc.DataError) as caught:
        publish(Place(str(new)), bucket.place())
    assert words in caught.value.problems[0]
    assert bucket.state() == state


def test_what_is_read_back_differently_is_not_pointed_to(faults, bucket, new, snapshot):
    publish(Place(str(BUNDLED)), bucket.place())
    faults.when("evals.csv", do=[(200, b"something else")])
    with pytest.raises(dc.DataError, match="is not the file manifest"):
        publish(Place(str(new)), bucket.place())
    faults.rules.clear()
    assert dc.load_snapshot(bucket.url).id == snapshot.id


@pytest.fixture
def short_writes(monkeypatch):
    """A write may last no longer than a read."""
    monkeypatch.setattr(places, "WRITE_SECONDS", 0.0)


@pytest.mark.usefixtures("short_writes")
@pytest.mark.parametrize("ending", [403, 503, "cut"])
def test_an_upload_that_fails_leaves_the_old_one(faults, bucket, new, snapshot, ending):
    publish(Place(str(BUNDLED)), bucket.place())
    faults.when("upload", do=[*["pass"] * 5, ending])
    with pytest.raises(PlaceError):
        publish(Place(str(new)), bucket.place(seconds=2.0, attempts=1))
    assert dc.load_snapshot(bucket.url).id == snapshot.id
    # Once the server works, the same command finishes it.
    faults.rules.clear()
    publish(Place(str(new)), bucket.place())
    assert dc.load_snapshot(bucket.url).id == dc.load_snapshot(new).id


@contextmanager
def publishing(new, url):
    """A process that publishes, killed in the end."""
    arguments = ("snapshot", "publish", str(new), url, "--credentials", "anonymous")
    with subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-m", "delphi_core", *arguments], stdout=subprocess.DEVNULL
    ) as process:
        try:
            yield process
        finally:
            process.kill()


# So many uploads are done, and whether the next one is written when the answer to it stalls.
MOMENTS = [(0, False), (0, True), (6, False), (12, True), (13, False), (13, True), (14, False)]


@pytest.mark.parametrize("moment", [*MOMENTS, (14, True)], ids=str)
def test_killed_at_any_upload_readers_have_one_whole(faults, bucket, new, snapshot, moment):
    assert len(FILES) == 14
    uploads, written = moment
    publish(Place(str(BUNDLED)), bucket.place())
    stalled = threading.Event()

    def stall():
        stalled.set()
        faults.closing.wait()

    faults.when("upload", do=[*["pass"] * uploads, stall if written else "silent"])
    before = len(uploads_of(faults))
    with publishing(new, bucket.url) as process:
        wait_until(lambda: len(uploads_of(faults)) - before > uploads, process)
        if written:
            wait_until(stalled.is_set, process)
        during = dc.load_snapshot(bucket.url).id
    # The fifteenth upload is the pointer: only once it is written there is something new to see.
    expected = dc.load_snapshot(new).id if moment == (14, True) else snapshot.id
    assert process.returncode == -signal.SIGKILL
    assert (during, dc.load_snapshot(bucket.url).id) == (expected, expected)
    assert json.loads(bucket.get(POINTER))["id"] == expected
    # Whatever was left behind, the same command finishes it.
    faults.rules.clear()
    publish(Place(str(new)), bucket.place())
    assert dc.load_snapshot(bucket.url).id == dc.load_snapshot(new).id


def uploads_of(faults):
    return [path for _, path in faults.seen if "upload" in path]
