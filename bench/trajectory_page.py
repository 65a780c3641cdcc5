"""Rerun of the Trajectories page: a new view of a large snapshot, and a new target or metric.

The large snapshot is the bundled one and `RUNS` made-up runs of `EVALUATIONS` evaluations each. One
of them is forecast from four others. Headless, as in page_rerun: the script runs and its messages
are read back.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from functools import partial
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.testing.v1 import AppTest

from bench.harness import Aim, Row, by_turns, clocked
from bench.page_rerun import APP, LIMIT, ONE_LINE, one_line_rerun
from delphi_core import load_snapshot
from delphi_core.snapshot import BUNDLED
from delphi_core.snapshot_write import write_manifest
from delphi_core.trajectories import target_metrics, targets

if TYPE_CHECKING:
    from collections.abc import Iterator

RUNS, EVALUATIONS, STEPS = 200, 1000, 10_000
RUNGS = (40, 80, 120, 160)
LADDER, TARGET, METRIC = "hero", "made-up", "eval/made-up/loss"
# Controls and what they are set to, one after another: each is a view that was not there before.
VIEWS: tuple[tuple[str, str | bool], ...] = (
    ("x", "tokens"),
    ("start", "0.1"),
    ("rungs", True),
    ("events", True),
    ("tab", "evaluations"),
    ("tab", "curve"),
    ("x", "flops"),
    ("start", "0"),
    ("rungs", False),
    ("events", False),
    ("x", "fraction"),
    ("start", "0.05"),
)


def compare() -> list[Row]:
    """Times of a rerun after the view, or after the target or metric, is changed."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        script = folder / "one_line.py"
        script.write_text(ONE_LINE, encoding="utf-8")
        one_line = AppTest.from_file(str(script), default_timeout=LIMIT).run()
        reference = partial(one_line_rerun, one_line, cycle("ba"))
        reference()
        offers = _offers()
        with _page() as page:
            walk = _new_targets_and_metrics(page, offers)
            pairs = sum(len(metrics) for metrics in offers.values())
            fresh = by_turns(partial(next, walk), reference, pairs - 1, warm_up=0)
        _write_large(large := folder / "large")
        with _page(large, target=TARGET) as page:
            shown = page.title[0].value
            if "measured" not in shown:
                raise AssertionError(f"the made-up run is not forecast: {shown}")
            views = _views(page)
            view = by_turns(partial(next, views), reference, 2 * len(VIEWS))
    return [
        Row("trajectories page, 200,000 points, new view", "one-line app", *view, Aim(seconds=0.5)),
        Row("trajectories page, new target or metric", "one-line app", *fresh),
    ]


@contextmanager
def _page(snapshot: Path | None = None, **query: str) -> Iterator[AppTest]:
    """The page on a snapshot, by default the bundled one, with nothing cached before or after."""
    before = os.environ.pop("DELPHI_SNAPSHOT", None)
    if snapshot is not None:
        os.environ["DELPHI_SNAPSHOT"] = str(snapshot)
    st.cache_resource.clear()
    try:
        page = AppTest.from_file(str(APP), default_timeout=LIMIT).run()
        page.query_params.update(query)
        page.switch_page("pages/trajectories.py")
        _rerun(page)
        yield page
    finally:
        os.environ.pop("DELPHI_SNAPSHOT", None)
        if before is not None:
            os.environ["DELPHI_SNAPSHOT"] = before
        st.cache_resource.clear()


def _offers() -> dict[str, list[str]]:
    snapshot = load_snapshot(BUNDLED)
    known = targets(snapshot)
    return {name: target_metrics(snapshot, target) for name, target in known.items()}


def _new_targets_and_metrics(page: AppTest, offers: dict[str, list[str]]) -> Iterator[float]:
    """Seconds of a rerun for each target and metric but the one that is shown first."""
    for target, metrics in offers.items():
        seen = set()
        if page.session_state["target"] != target:
            page.button_group(key="target").set_value(target)
            yield _rerun(page)
        seen.add(page.session_state["metric"])
        for metric in metrics:
            if metric not in seen:
                page.selectbox(key="metric").set_value(metric)
                yield _rerun(page)


def _views(page: AppTest) -> Iterator[float]:
    """Seconds of a rerun for one view after another of the same forecast."""
    for key, value in cycle(VIEWS):
        if isinstance(value, bool):
            page.toggle(key=key).set_value(value)
        else:
            page.button_group(key=key).set_value(value)
        yield _rerun(page)
        if page.session_state[key] != value:
            raise AssertionError(f"the page does not show {key} {value}.")


def _rerun(page: AppTest) -> float:
    seconds = clocked(page.run)
    if page.exception or page.error or page.warning:
        raise AssertionError("the page shows an error.")
    return seconds


def _write_large(folder: Path) -> None:
    """The bundled snapshot and the made-up runs, in a new folder."""
    folder.mkdir()
    for file in BUNDLED.glob("*.csv"):
        shutil.copy(file, folder)
    random = np.random.default_rng(0)
    flops = np.geomspace(1e18, 1e23, RUNS)
    tokens = 2.0 * np.sqrt(flops)
    names = [f"made-up-{place:03}" for place in range(RUNS)]
    source = load_snapshot(BUNDLED).tables["sources"]["source"].iloc[0]
    common = {"ladder": LADDER, "source": source}
    steps = np.arange(1, EVALUATIONS + 1) * (STEPS // EVALUATIONS)
    fractions = steps / STEPS
    shape = 1 + 0.3 * (1 - fractions) + 0.05 * fractions**-0.5
    losses = 1.5 + np.outer(8.0 * (flops / 1e18) ** -0.1, shape)
    losses *= 1 + 0.002 * random.standard_normal(losses.shape)
    added: dict[str, dict[str, Any]] = {
        "metrics": {"metric": [METRIC], "title": "Made up", "unit": "nats/token", "kind": "subset"},
        "runs": {
            **common,
            "run": names,
            "role": ["target" if place == RUNS - 1 else "rung" for place in range(RUNS)],
            "label": "made up",
            "flops": flops,
            "active_params": flops / tokens / 6,
            "tokens": tokens,
            "steps": STEPS,
            "status": "finished",
            "progress": 1.0,
        },
        "trajectories": {
            **common,
            "run": np.repeat(names, EVALUATIONS),
            "segment": np.repeat(names, EVALUATIONS),
            "step": np.tile(steps, RUNS),
            "tokens": np.outer(tokens, fractions).ravel(),
            "metric": METRIC,
            "value": losses.ravel(),
        },
        "targets": {
            "target": [TARGET],
            "ladder": LADDER,
            "run": names[-1],
            "rungs": " ".join(names[place] for place in RUNGS),
            "metric": METRIC,
        },
        "events": {
            **common,
            "run": [names[-1]],
            "segment": names[-1],
            "step": STEPS // 2,
            "kind": "restart",
            "text": "made up",
        },
    }
    for name, columns in added.items():
        path = folder / f"{name}.csv"
        held = pd.read_csv(path, dtype=str, keep_default_na=False)
        rows = pd.DataFrame(columns).reindex(columns=held.columns)
        rows.to_csv(path, mode="a", header=False, index=False)
    write_manifest(folder, "2026-01-01T00:00:00Z")
