"""The snapshot a server shows: refreshed behind the pages, with the last good one to fall back on.

One keeper a process reads for all visitors, in a thread of its own: a page takes what is there and
never waits for a bucket. What cannot be read, or is torn, changes nothing but what is said.
"""

from __future__ import annotations

import contextlib
import logging
import shutil
import threading
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from delphi_core.errors import DataError
from delphi_core.manifest import MANIFEST
from delphi_core.snapshot import BUNDLED, Snapshot, load_snapshot, snapshot_of
from delphi_core.snapshot_diff import diff_snapshots
from delphi_core.snapshot_read import POINTER, Pointer, files_version, read_files
from delphi_core.sources.places import Place
from delphi_core.words import count

if TYPE_CHECKING:
    from pathlib import Path

    from delphi_core.snapshot_read import SnapshotFiles

LOG = logging.getLogger(__name__)
START_SECONDS = 1.5
"""How long the first page waits for a bucket before it shows what is on disk."""
START_SECONDS_LOCAL = 30.0
"""The same for a folder of this machine, which answers at once unless its disk is far away."""

Origin = Literal["bundled", "live", "last good"]


@dataclass(frozen=True)
class Kept:
    """What a server shows now; a new one takes its place, it never changes.

    Attributes
    ----------
    snapshot
        The figures.
    origin
        live: as the place has them; last good: as it had them when this server or one before it
        read it last; bundled: those that come with the package.
    version
        Of the place, when `snapshot` was read from it; empty where it was not.
    checked_at
        When the place was last found to hold nothing newer; None where it has not been asked yet.
    problem
        Why the place cannot be shown as it is now; empty where it can.
    since
        When that began.
    changes
        What was new in `snapshot` against the one this server had before it, in words; empty where
        it had none.
    """

    snapshot: Snapshot
    origin: Origin
    version: str = ""
    checked_at: datetime | None = None
    problem: str = ""
    since: datetime | None = None
    changes: str = ""


@dataclass(eq=False)
class SnapshotKeeper:
    """Keeper of the snapshot at a place; once started, `kept` is what to show.

    Parameters
    ----------
    place
        Where snapshots are published, or a folder that is one; None for the bundled one, which
        never changes.
    folder
        Where the last good snapshot is kept between starts; None to keep none.
    seconds
        Between two looks at the place.
    """

    place: Place | None
    folder: Path | None = None
    seconds: float = 60.0
    _kept: Kept | None = None
    _looked: threading.Event = field(default_factory=threading.Event)
    _stopped: threading.Event = field(default_factory=threading.Event)
    _once: threading.Lock = field(default_factory=threading.Lock)

    def start(self) -> None:
        """Begin to look at the place, and have something to show at the end of this call.

        Raises
        ------
        DataError
            There is nothing to show: the bundled snapshot itself is broken.
        """
        if self.place is None:
            self._kept = Kept(load_snapshot(BUNDLED), "bundled")
            return
        threading.Thread(target=self._watch, name="snapshot keeper", daemon=True).start()
        self._looked.wait(START_SECONDS if self.place.in_bucket else START_SECONDS_LOCAL)
        with self._once:
            if self._kept is None:
                self._kept = self._fallback("It has not answered yet.")

    def stop(self) -> None:
        """End the looking; what is kept stays."""
        self._stopped.set()

    @property
    def kept(self) -> Kept:
        """What to show now; in memory, so that asking costs nothing."""
        if self._kept is None:
            raise RuntimeError("the keeper was not started")
        return self._kept

    def look(self) -> None:
        """Ask the place once, and read what is new there. What is wrong is kept, not raised."""
        if self.place is None:
            return
        now = datetime.now(UTC)
        before = self._kept
        try:
            version = files_version(self.place)
            if before is not None and before.origin == "live" and version == before.version:
                found = replace(before, checked_at=now, problem="", since=None)
            else:
                files = read_files(self.place)
                snapshot = snapshot_of(files)
                earlier = self._last_good() if before is None else before.snapshot
                found = Kept(snapshot, "live", version, now, changes=_changes(earlier, snapshot))
                if before is not None and before.snapshot.id == snapshot.id:
                    found = replace(found, changes=before.changes)
                self._save(files)
        except DataError as error:
            found = self._refused(error.problems[0], now)
        except Exception as error:
            # Whatever it was, the pages go on with what they have, and the next look comes.
            LOG.exception("snapshot at %s", self.place.url)
            found = self._refused(f"It could not be read ({type(error).__name__}).", now)
        with self._once:
            self._kept = found
        self._looked.set()

    def _watch(self) -> None:
        while not self._stopped.is_set():
            self.look()
            self._stopped.wait(self.seconds)

    def _refused(self, problem: str, now: datetime) -> Kept:
        """What is shown where the place cannot be, and since when."""
        kept = self._kept or self._fallback(problem)
        if kept.origin == "live":
            kept = replace(kept, origin="last good")
        return replace(kept, problem=problem, since=kept.since or now)

    def _fallback(self, problem: str) -> Kept:
        """The last good snapshot on disk, else the bundled one."""
        now = datetime.now(UTC)
        if (kept := self._last_good()) is not None:
            return Kept(kept, "last good", problem=problem, since=now)
        return Kept(load_snapshot(BUNDLED), "bundled", problem=problem, since=now)

    def _last_good(self) -> Snapshot | None:
        """What this server or one before it read last, as it lies on disk."""
        if self.folder is None or not (self.folder / POINTER).is_file():
            return None
        try:
            return load_snapshot(self.folder)
        except DataError as error:
            LOG.warning("the last good snapshot is not good: %s", error.problems[0])
            return None

    def _save(self, files: SnapshotFiles) -> None:
        """Keep a snapshot on disk as the last good one; a disk that cannot is only logged."""
        if self.folder is None:
            return
        manifest = files.manifest
        kept = Place(str(self.folder))
        below = kept.below(manifest.id)
        try:
            for name, data in {**files.contents, MANIFEST: manifest.content()}.items():
                below.write(name, data)
            kept.write(POINTER, Pointer(manifest.id, manifest.id).content())
            for folder in kept.folders():
                if folder != manifest.id:
                    shutil.rmtree(self.folder / folder, ignore_errors=True)
        except (DataError, OSError) as error:
            LOG.warning("the last good snapshot cannot be kept on disk: %s", error)
            with contextlib.suppress(OSError):
                if not (self.folder / POINTER).is_file():
                    shutil.rmtree(self.folder / manifest.id, ignore_errors=True)


def _changes(earlier: Snapshot | None, now: Snapshot) -> str:
    """How many rows of which tables are new, changed or gone; empty where nothing was before."""
    if earlier is None or earlier.id == now.id:
        return ""
    parts = []
    for diff in diff_snapshots(earlier, now):
        what = {"new": diff.added, "changed": diff.after, "gone": diff.removed}
        numbers = [f"{len(rows):,} {word}" for word, rows in what.items() if len(rows)]
        if numbers:
            parts.append(f"{diff.table.name}: {', '.join(numbers)}")
    figures = "; ".join(parts) or f"{count(len(now.tables), 'table')} in another order"
    return f"{figures} since the figures of {earlier.created_at[:10]}"
