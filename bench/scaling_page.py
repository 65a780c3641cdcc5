"""Rerun of the Scaling law page for a ladder and metric not seen before, and for a new view.

Headless, as in page_rerun: the script runs and its messages are read back.
"""

from __future__ import annotations

from functools import partial
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from streamlit.testing.v1 import AppTest

from bench.harness import Aim, Row, by_turns, clocked
from bench.page_rerun import APP, LIMIT, ONE_LINE, one_line_rerun
from delphi_core import load_snapshot
from delphi_core.web.isoflop_view import isoflop_ladders, isoflop_metrics

if TYPE_CHECKING:
    from collections.abc import Iterator

TARGETS = ("1e25", "1e24", "3e24", "1e23", "1e22")
SLOW_TABS = ("methods", "walk-forward")


def compare() -> list[Row]:
    """Times of a rerun after the ladder or metric, the target, or the tab is changed."""
    with TemporaryDirectory() as folder:
        script = Path(folder) / "one_line.py"
        script.write_text(ONE_LINE, encoding="utf-8")
        one_line = AppTest.from_file(str(script), default_timeout=LIMIT).run()
        letters = cycle("ba")

        def reference() -> float:
            return one_line_rerun(one_line, letters)

        reference()
        page = AppTest.from_file(str(APP), default_timeout=LIMIT).run()
        page.switch_page("pages/scaling.py").run()
        walk = _new_ladders_and_metrics(page)
        fresh = by_turns(partial(next, walk), reference, _pairs() - 1, warm_up=0)
        targets = _targets(page)
        view = by_turns(partial(next, targets), reference, 4 * len(TARGETS))
        tabs = {}
        for tab in SLOW_TABS:
            tabs[tab] = by_turns(partial(next, _tab(page, tab)), reference, 3, warm_up=0)
    return [
        Row("scaling page, new ladder or metric", "one-line app", *fresh, Aim(seconds=0.3)),
        Row("scaling page, new target only", "one-line app", *view),
        *(
            Row(f"scaling page, {tab} tab for the first time", "one-line app", *times)
            for tab, times in tabs.items()
        ),
    ]


def _offers() -> dict[str, list[str]]:
    snapshot = load_snapshot()
    return {ladder: isoflop_metrics(snapshot, ladder) for ladder in isoflop_ladders(snapshot)}


def _pairs() -> int:
    return sum(len(metrics) for metrics in _offers().values())


def _new_ladders_and_metrics(page: AppTest) -> Iterator[float]:
    """Seconds of a rerun for each ladder and metric but the one that is shown first."""
    for ladder, metrics in _offers().items():
        if page.session_state["ladder"] != ladder:
            page.selectbox(key="ladder").set_value(ladder)
            yield _rerun(page)
        for metric in metrics:
            if page.session_state["metric"] != metric and metric != _first(ladder):
                page.selectbox(key="metric").set_value(metric)
                yield _rerun(page)


def _first(ladder: str) -> str:
    return load_snapshot().ladder(ladder).default_metric


def _targets(page: AppTest) -> Iterator[float]:
    for target in cycle(TARGETS):
        page.text_input(key="target").set_value(target)
        yield _rerun(page)


def _tab(page: AppTest, tab: str) -> Iterator[float]:
    """Seconds of a rerun that opens a tab, of one ladder after another."""
    for ladder in list(_offers())[:3]:
        page.button_group(key="tab").set_value("loss")
        page.selectbox(key="ladder").set_value(ladder)
        _rerun(page)
        page.button_group(key="tab").set_value(tab)
        yield _rerun(page)


def _rerun(page: AppTest) -> float:
    seconds = clocked(page.run)
    if page.exception or page.error:
        raise AssertionError("the page shows an error.")
    return seconds
