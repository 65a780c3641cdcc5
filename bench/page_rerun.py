"""Rerun of the page after a control changes, headless, against a rerun of a one-line app.

Walks through all views of the IsoFLOP page, one control at a time: each for the first time, then
again with warm caches. Headless: the script runs and its messages are read back, without a server
or a browser.
"""

from __future__ import annotations

from functools import partial
from itertools import cycle, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from streamlit.testing.v1 import AppTest

from bench.harness import Aim, Row, by_turns, clocked
from delphi_core import load_snapshot
from delphi_core.web import isoflop_view as views

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    # Ladder to metric to what it can be drawn against, and how it can be fitted.
    Offers = dict[str, dict[str, tuple[Sequence[str], Sequence[str]]]]

APP = Path(__file__).parents[1] / "app.py"
ONE_LINE = 'import streamlit as st; st.selectbox("Letter", ["a", "b"], key="letter")\n'
ROUNDS = 2
LIMIT = 60


def compare() -> list[Row]:
    """Times of a rerun that shows a view again, and of one that shows it for the first time."""
    # Read before the page is opened, so that nothing but the page's own runs touches its caches.
    offers = _offers()
    with TemporaryDirectory() as folder:
        script = Path(folder) / "one_line.py"
        script.write_text(ONE_LINE, encoding="utf-8")
        one_line = AppTest.from_file(str(script), default_timeout=LIMIT).run()
        letters = cycle("ba")
        reference = partial(one_line_rerun, one_line, letters)
        reference()
        page = AppTest.from_file(str(APP), default_timeout=LIMIT).run()
        rerun = partial(next, _walk(page, offers))
        steps = len(_all_views(offers)) - 1
        first = by_turns(rerun, reference, steps, warm_up=0)
        again = by_turns(rerun, reference, ROUNDS * steps)
    return [
        Row("page rerun, view seen before", "one-line app", *again, Aim(seconds=0.060)),
        Row("page rerun, view not seen before", "one-line app", *first),
    ]


def _offers() -> Offers:
    snapshot = load_snapshot()
    return {
        ladder: {
            metric: (
                views.isoflop_axes(snapshot, ladder, metric),
                views.isoflop_methods(snapshot, ladder, metric),
            )
            for metric in views.isoflop_metrics(snapshot, ladder)
        }
        for ladder in views.isoflop_ladders(snapshot)
    }


def _all_views(offers: Offers) -> set[tuple[str, ...]]:
    return {
        (ladder, metric, x, method)
        for ladder, metrics in offers.items()
        for metric, (axes, methods) in metrics.items()
        for x, method in product(axes, methods)
    }


def _walk(page: AppTest, offers: Offers) -> Iterator[float]:
    """Seconds of one rerun after another: round after round through all views."""
    while True:
        seen = {_view(page)}
        for ladder in _from(_view(page)[0], offers):
            yield from _change(page, "ladder", ladder)
            for metric in _from(_view(page)[1], offers[ladder]):
                yield from _change(page, "metric", metric)
                axes, methods = offers[ladder][metric]
                for x in _from(_view(page)[2], axes):
                    yield from _change(page, "x", x)
                    for method in _from(_view(page)[3], methods):
                        yield from _change(page, "method", method)
                        seen.add(_view(page))
        if seen != _all_views(offers):
            raise AssertionError("the walk does not lead through all views.")


def _change(page: AppTest, control: str, value: str) -> Iterator[float]:
    """Seconds of the rerun after a control is set; nothing where it is set already."""
    if page.session_state[control] == value:
        return
    if control in ("ladder", "metric"):
        page.selectbox(key=control).set_value(value)
    else:
        page.button_group(key=control).set_value(value)
    yield clocked(page.run)
    if page.exception or page.error or page.session_state[control] != value:
        raise AssertionError(f"the page does not show {control} {value}.")


def _from(first: str, options: Iterable[str]) -> list[str]:
    """Options with one of them, which is shown already, put first."""
    return sorted(options, key=lambda option: option != first)


def _view(page: AppTest) -> tuple[str, ...]:
    return tuple(page.session_state[control] for control in ("ladder", "metric", "x", "method"))


def one_line_rerun(one_line: AppTest, letters: Iterator[str]) -> float:
    """Seconds of a rerun of the one-line app with the next letter."""
    one_line.selectbox(key="letter").set_value(next(letters))
    return clocked(one_line.run)
