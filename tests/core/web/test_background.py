"""Work outside visits: bounded in number, in rate, and without Streamlit's warnings."""

import logging
from threading import Event

from delphi_core.web.background import Allowance, Workroom
from delphi_core.web.loading import kept_snapshot

STREAMLIT = "streamlit.runtime.scriptrunner_utils.script_run_context"


def test_a_room_takes_so_many_and_no_more():
    room, go_on = Workroom("a test", threads=1, most=2), Event()
    first, second = room.submit(go_on.wait, 60), room.submit(str, 2)
    assert room.submit(str, 3) is None
    go_on.set()
    assert (first.result(60), second.result(60)) == (True, "2")
    while (third := room.submit(int, "4")) is None:
        pass
    assert third.result(60) == 4


def test_what_fails_leaves_its_place():
    room = Workroom("a test", threads=1, most=1)
    for _ in range(5):
        while (failed := room.submit(int, "x")) is None:
            pass
        assert isinstance(failed.exception(60), ValueError)


def test_an_allowance_is_by_the_stretch_of_time(monkeypatch):
    now = [0.0]
    monkeypatch.setattr("delphi_core.web.background.time.monotonic", lambda: now[0])
    allowance = Allowance(2, 60)
    taken = []
    for at in (0, 30, 59, 60, 89, 90, 91):
        now[0] = at
        taken.append(allowance.take())
    assert taken == [True, True, False, True, False, True, False]


def test_streamlit_does_not_warn_of_missing_visits_there_and_does_elsewhere():
    # It is quiet in tests by itself, so the filter is asked as a logger asks it.
    logger = logging.getLogger(STREAMLIT)
    record = logging.LogRecord(STREAMLIT, logging.WARNING, "", 1, "missing", None, None)
    assert logger.filter(record)
    room = Workroom("a test", threads=1, most=1)

    def warned_of():
        own = logging.LogRecord(STREAMLIT, logging.WARNING, "", 1, "missing", None, None)
        return bool(logger.filter(own)), kept_snapshot().snapshot.id

    warned, found = room.submit(warned_of).result(60)
    assert not warned
    assert found == kept_snapshot().snapshot.id
