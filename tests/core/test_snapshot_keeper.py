"""What a server shows while the place its figures come from changes, fails or lies."""

import logging
import resource
import shutil
import threading
from dataclasses import replace

import pandas as pd
import pytest

import delphi_core as dc
from delphi_core import snapshot_keeper
from delphi_core.snapshot import BUNDLED
from delphi_core.snapshot_keeper import SnapshotKeeper
from delphi_core.snapshot_publish import publish
from delphi_core.snapshot_write import write_manifest
from delphi_core.sources.places import Place
from tests.faults import SILENT


def changed(folder, made="2030-01-01T00:00:00Z"):
    """A copy of the bundled snapshot with one more evaluation of the hero run."""
    shutil.copytree(BUNDLED, folder)
    rows = pd.read_csv(folder / "trajectories.csv", dtype=str, keep_default_na=False)
    last = rows[rows["metric"] == "eval_dropless/paloma/macro_loss"].iloc[[-1]]
    more = last.assign(step="100000000", tokens="1e15", value="1.9")
    pd.concat([rows, more]).to_csv(folder / "trajectories.csv", index=False, lineterminator="\n")
    write_manifest(folder, made)
    return folder


@pytest.fixture
def published(bucket):
    """A bucket in which the bundled snapshot is published."""
    publish(Place(str(BUNDLED)), bucket.place("live"))
    return bucket


def keeper_of(bucket, folder=None, **limits):
    return SnapshotKeeper(replace(bucket.place("live"), **limits), folder, 3600)


def test_what_is_published_is_shown_at_the_next_look(published, tmp_path, snapshot):
    keeper = keeper_of(published)
    keeper.look()
    first = keeper.kept
    assert (first.origin, first.snapshot.id, first.problem) == ("live", snapshot.id, "")
    keeper.look()
    assert keeper.kept.snapshot is first.snapshot
    assert keeper.kept.checked_at >= first.checked_at
    other = changed(tmp_path / "other")
    publish(Place(str(other)), published.place("live"))
    keeper.look()
    assert keeper.kept.snapshot.id == dc.load_snapshot(other).id != first.snapshot.id
    assert (first.changes, keeper.kept.changes) == (
        "",
        f"trajectories: 1 new since the figures of {snapshot.created_at[:10]}",
    )
    keeper.look()
    assert keeper.kept.changes


def test_what_changed_while_the_server_was_down_is_known(published, tmp_path):
    keeper_of(published, tmp_path / "kept").look()
    publish(Place(str(changed(tmp_path / "other"))), published.place("live"))
    again = keeper_of(published, tmp_path / "kept")
    again.look()
    assert again.kept.changes.startswith("trajectories: 1 new since")


def test_a_look_that_finds_nothing_new_reads_no_table(published, faults):
    keeper = keeper_of(published)
    keeper.look()
    faults.seen.clear()
    keeper.look()
    assert keeper.kept.origin == "live"
    assert len(faults.seen) == 1
    assert all(method == "GET" for method, _ in faults.seen)


def test_fifty_visitors_during_a_refresh_make_one_read(published, faults):
    keeper = keeper_of(published)
    keeper.start()
    assert keeper.kept.origin == "live"
    faults.seen.clear()
    gate, ids = threading.Barrier(51), []

    def visit():
        gate.wait()
        ids.append(keeper.kept.snapshot.id)

    visitors = [threading.Thread(target=visit) for _ in range(50)]
    for visitor in visitors:
        visitor.start()
    gate.wait()
    keeper.look()
    for visitor in visitors:
        visitor.join()
    keeper.stop()
    assert len(set(ids)) == 1
    assert len(ids) == 50
    assert len(faults.seen) == 1


def test_a_bucket_that_does_not_answer_leaves_the_bundled_figures(
    published, faults, monkeypatch, snapshot
):
    monkeypatch.setattr(snapshot_keeper, "START_SECONDS", 0.1)
    faults.when("", do=[SILENT])
    keeper = keeper_of(published, seconds=30.0, attempts=1)
    keeper.start()
    # The read of 30 s is under way, and there is something to show.
    assert (keeper.kept.origin, keeper.kept.snapshot.id) == ("bundled", snapshot.id)
    assert keeper.kept.problem == "It has not answered yet."
    keeper.stop()


def test_the_last_good_snapshot_is_shown_when_the_bucket_is_gone_at_start(
    published, faults, tmp_path
):
    other = changed(tmp_path / "other")
    publish(Place(str(other)), published.place("live"))
    first = keeper_of(published, tmp_path / "kept")
    first.look()
    faults.when("", do=[503])
    second = keeper_of(published, tmp_path / "kept", seconds=0.3, attempts=1)
    second.start()
    second.stop()
    assert (second.kept.origin, second.kept.snapshot.id) == ("last good", first.kept.snapshot.id)
    assert second.kept.problem
    assert second.kept.since is not None


def test_a_bucket_that_dies_in_use_changes_nothing_but_what_is_said(published, faults):
    keeper = keeper_of(published, seconds=0.3, attempts=1)
    keeper.look()
    shown = keeper.kept.snapshot
    faults.when("", do=[403])
    keeper.look()
    stale = keeper.kept
    assert (stale.snapshot, stale.origin) == (shown, "last good")
    assert stale.problem
    keeper.look()
    assert keeper.kept.since == stale.since
    faults.rules.clear()
    keeper.look()
    assert (keeper.kept.origin, keeper.kept.problem, keeper.kept.since) == ("live", "", None)
    assert keeper.kept.snapshot.id == shown.id


def test_a_torn_snapshot_is_refused_and_the_last_good_one_kept(published, tmp_path):
    keeper = keeper_of(published, tmp_path / "kept")
    keeper.look()
    good = keeper.kept.snapshot
    other = changed(tmp_path / "other")
    publish(Place(str(other)), published.place("live"))
    (runs,) = [name for name in published.state() if name.endswith("runs.csv") and "2030" in name]
    published.put(runs, published.get(runs)[:-100])
    keeper.look()
    assert keeper.kept.snapshot is good
    assert "runs.csv is not the file manifest.json describes" in keeper.kept.problem
    # Nor does it become the last good one on disk.
    assert dc.load_snapshot(tmp_path / "kept").id == good.id


def test_only_one_last_good_snapshot_is_kept(published, tmp_path):
    keeper = keeper_of(published, tmp_path / "kept")
    keeper.look()
    publish(Place(str(changed(tmp_path / "other"))), published.place("live"))
    keeper.look()
    assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == sorted(
        [keeper.kept.snapshot.id, "latest.json"]
    )


def test_a_cache_folder_that_cannot_be_written_is_logged_and_no_more(
    published, tmp_path, caplog, snapshot
):
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    keeper = keeper_of(published, tmp_path / "file" / "below")
    with caplog.at_level(logging.WARNING):
        keeper.look()
    assert (keeper.kept.origin, keeper.kept.snapshot.id) == ("live", snapshot.id)
    assert not keeper.kept.problem
    assert "cannot be kept on disk" in caplog.text


def test_a_full_disk_leaves_no_half_snapshot_behind(published, tmp_path, caplog, snapshot):
    keeper = keeper_of(published, tmp_path / "kept")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # No file may grow past this: writing fails as on a full disk.
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    try:
        keeper.look()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (keeper.kept.origin, keeper.kept.snapshot.id) == ("live", snapshot.id)
    assert "cannot be kept on disk" in caplog.text
    assert not (tmp_path / "kept" / "latest.json").exists()
    assert not list((tmp_path / "kept").iterdir())


def test_a_last_good_snapshot_that_is_not_good_any_more_is_passed_over(
    published, faults, tmp_path, snapshot
):
    first = keeper_of(published, tmp_path / "kept")
    first.look()
    (tmp_path / "kept" / first.kept.snapshot.id / "runs.csv").write_text("x", encoding="utf-8")
    faults.when("", do=[404])
    second = keeper_of(published, tmp_path / "kept")
    second.look()
    assert (second.kept.origin, second.kept.snapshot.id) == ("bundled", snapshot.id)


def test_the_bundled_snapshot_is_never_looked_for(snapshot):
    keeper = SnapshotKeeper(None)
    with pytest.raises(RuntimeError):
        _ = keeper.kept
    keeper.start()
    keeper.look()
    assert (keeper.kept.origin, keeper.kept.snapshot.id) == ("bundled", snapshot.id)
    assert not keeper.kept.problem


def test_what_nobody_foresaw_ends_in_a_sentence_too(published, monkeypatch):
    keeper = keeper_of(published)
    keeper.look()

    def broken(_):
        raise MemoryError

    monkeypatch.setattr(snapshot_keeper, "files_version", broken)
    keeper.look()
    assert keeper.kept.problem == "It could not be read (MemoryError)."
    assert keeper.kept.origin == "last good"
