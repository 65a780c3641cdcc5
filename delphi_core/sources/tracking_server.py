"""The tracking server: what it knows of a run, read over GraphQL and never written.

The queries are those of the server's own client (Weights & Biases): a run by entity, project and
id, and its history page by page. ``sampledHistory`` is not among them: it gives a sample.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from delphi_core.errors import DataError, quoted
from delphi_core.sources.graphql import Endpoint, ServerError
from delphi_core.sources.histories import Logged, finite_number, values_by_step
from delphi_core.sources.places import shown
from delphi_core.sources.run_folder import flatten

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd
    import requests

DEFAULT_SERVER = "https://api.forge.coreweave.com"
"""Where the server's own client asks by default; https://api.wandb.ai is its older name."""

SERVER_VARIABLE = "DELPHI_TRACKING_SERVER"
"""Environment variable that names another one."""

PROJECTS = ("marin-community/marin", "marin-community/marin_moe")
"""Where runs are looked for, in this order."""

STEP = "_step"

_SMALLEST_PAGE = 25
_RUN = """
query Run($entity: String!, $project: String!, $run: String!) {
  project(name: $project, entityName: $entity) {
    run(name: $run) { config summaryMetrics historyKeys historyLineCount }
  }
}
"""
_PAGE = """
query HistoryPage($entity: String!, $project: String!, $run: String!,
                  $minStep: Int64!, $maxStep: Int64!, $pageSize: Int!) {
  project(name: $project, entityName: $entity) {
    run(name: $run) { history(minStep: $minStep, maxStep: $maxStep, samples: $pageSize) }
  }
}
"""


@dataclass(frozen=True)
class TrackingServer:
    """Where runs are tracked, and how they are read; may be sent to another process.

    Attributes
    ----------
    endpoint
        The server, and the limits of each question.
    projects
        ENTITY/PROJECT of each project that is looked in, in order.
    page
        Steps of one page of a history; less are asked for where pages are slow or large.
    seconds
        The longest that one history may take, all its pages together.
    """

    endpoint: Endpoint = field(default_factory=lambda: Endpoint(DEFAULT_SERVER))
    projects: tuple[str, ...] = PROJECTS
    page: int = 1000
    seconds: float = 900.0

    def __post_init__(self) -> None:
        for project in self.projects:
            entity, slash, name = project.partition("/")
            if not (entity and slash and name) or "/" in name:
                raise DataError([f"{quoted(project)} is no project; give it as ENTITY/PROJECT."])

    def run(self, name: str) -> dict[str, Any]:
        """What the server holds of a run, as tracker_metrics.jsonl would hold it.

        Parameters
        ----------
        name
            Id of the run, which is the name of its folder.

        Returns
        -------
        dict
            ``config`` without the server's wrappers, and ``summary``.

        Raises
        ------
        ServerError
            It does not know the run, or gives no answer that can be used.
        DataError
            A key was asked for and there is none.
        """
        with self.endpoint.session() as session:
            _, run = self._find(session, name)
        config = self._document(run.get("config"), "config", name)
        summary = self._document(run.get("summaryMetrics"), "summary", name)
        return {"config": {key: _unwrapped(value) for key, value in config.items()}} | {
            "summary": summary
        }

    def logged(self, name: str, keys: Sequence[str]) -> Logged:
        """Everything a run has logged under some keys: all rows, never a sample.

        Parameters
        ----------
        name
            Id of the run.
        keys
            As logged: ``eval/paloma/macro_loss``.

        Returns
        -------
        Logged
            With a note where the server gives fewer rows than it says it has.

        Raises
        ------
        ServerError
            It does not know the run, or gives no answer that can be used.
        DataError
            A key was asked for and there is none.
        """
        notes: list[str] = []
        with self.endpoint.session() as session:
            logged = values_by_step(self._rows(session, name, notes), keys, STEP)
        return replace(logged, notes=tuple(notes))

    def history(self, name: str, keys: Sequence[str]) -> pd.DataFrame:
        """The values of `logged`: ``_step``, then each key, by step.

        Parameters
        ----------
        name
            Id of the run.
        keys
            As logged.

        Raises
        ------
        ServerError
            As `logged` does, or there are fewer rows than the server says it has.
        """
        logged = self.logged(name, keys)
        if logged.notes:
            raise ServerError("nonsense", logged.notes[0])
        return logged.values.rename(columns={"step": STEP})

    def _find(self, session: requests.Session, name: str) -> tuple[dict[str, str], dict[str, Any]]:
        """Variables that name a run, and what the server says of it."""
        what, refusal = f"run {shown(name)}", None
        for place in self.projects:
            entity, _, project = place.partition("/")
            variables = {"entity": entity, "project": project, "run": name}
            try:
                data = self.endpoint.ask(session, _RUN, variables, what=what)
            except ServerError as error:
                # Another project may hold the run, and be public.
                if error.kind != "refused":
                    raise
                refusal = refusal or error
                continue
            run = self._run_of(data, what)
            if run is not None:
                return variables, run
        if refusal is not None:
            raise refusal
        places = " or ".join(self.projects)
        sentence = f"{what} is not in {places} on {self.endpoint.host}; check its name."
        raise ServerError("missing", sentence)

    def _run_of(self, data: dict[str, Any], what: str) -> dict[str, Any] | None:
        """The run in an answer; None where the project or the run is not there."""
        project = data.get("project")
        run = project.get("run") if isinstance(project, dict) else project
        if run is None or isinstance(run, dict):
            return run
        sentence = f"{what}: {self.endpoint.host} answered with {_kind(run)} in place of a run."
        raise ServerError("nonsense", sentence)

    def _document(self, value: object, part: str, name: str) -> dict[str, Any]:
        """An object that the server gives as JSON text."""
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                raise self._nonsense(name, f"its {part} is no JSON") from None
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self._nonsense(name, f"its {part} is {_kind(value)}, not an object")
        return value

    def _nonsense(self, name: str, words: str) -> ServerError:
        sentence = f"run {shown(name)}: {self.endpoint.host} gave no sense: {words}."
        return ServerError("nonsense", sentence)

    def _rows(
        self, session: requests.Session, name: str, notes: list[str]
    ) -> Iterator[dict[str, Any]]:
        """Rows of a history in the order of steps; a note is added where there are too few."""
        end = time.monotonic() + self.seconds
        variables, run = self._find(session, name)
        last, lines = self._extent(run, name)
        first, page, read = 0, self.page, 0
        while last is None or first <= last:
            stop = first + page if last is None else min(first + page, last + 1)
            if time.monotonic() > end:
                sentence = (
                    f"run {shown(name)}: {self.endpoint.host} gave its history only up to step "
                    f"{first:,} within {self.seconds:g} s; try again later."
                )
                raise ServerError("silent", sentence)
            try:
                rows = self._page(session, variables, first, stop, end)
            except ServerError as error:
                if error.kind not in ("silent", "large") or page <= _SMALLEST_PAGE:
                    raise
                page = max(page // 2, _SMALLEST_PAGE)
                continue
            yield from rows
            first, read = stop, read + len(rows)
            if last is None and not rows:
                break
        if read < lines:
            given = f"gave {read:,} of the {lines:,} rows it says it has"
            notes.append(f"run {shown(name)}: {self.endpoint.host} {given}; try again later.")

    def _extent(self, run: dict[str, Any], name: str) -> tuple[int | None, int]:
        """Last step of a run's history, None where it does not say, and how many rows it has."""
        keys = self._document(run.get("historyKeys"), "historyKeys", name)
        summary = self._document(run.get("summaryMetrics"), "summary", name)
        steps = [finite_number(keys.get("lastStep")), finite_number(summary.get(STEP))]
        lines = finite_number(run.get("historyLineCount"))
        last = max((int(step) for step in steps if step >= -1), default=None)
        return last, int(lines) if lines > 0 else 0

    def _page(
        self,
        session: requests.Session,
        variables: dict[str, str],
        first: int,
        stop: int,
        end: float,
    ) -> list[dict[str, Any]]:
        """Rows of the steps from `first` up to, not including, `stop`."""
        name = variables["run"]
        what = f"history of run {shown(name)} from step {first:,}"
        # There is about one row a step. Of more rows than `most` the server gives a sample, which
        # holds at least half as many.
        most = 8 * self.page
        data = self.endpoint.ask(
            session,
            _PAGE,
            {**variables, "minStep": first, "maxStep": stop, "pageSize": most},
            what=what,
            limit=end - time.monotonic(),
        )
        lines = (self._run_of(data, what) or {}).get("history")
        if not isinstance(lines, list):
            raise self._nonsense(name, f"its history is {_kind(lines)}, not a list")
        if len(lines) >= most / 2:
            sentence = f"{what}: {self.endpoint.host} has more rows than it gives at once."
            raise ServerError("large", sentence)
        try:
            rows = [flatten(self._document(line, "history", name), "/") for line in lines]
        except RecursionError:
            raise self._nonsense(name, "a row of its history is nested too deep") from None
        for row in rows:
            step = finite_number(row.get(STEP))
            if not (step >= 0 and step.is_integer()):
                raise self._nonsense(name, f"a row of its history has no {STEP}")
            row[STEP] = int(step)
        return rows


def _unwrapped(value: object) -> object:
    """A value of the config without the wrapper that the server puts around each."""
    return value["value"] if isinstance(value, dict) and "value" in value else value


def _kind(value: object) -> str:
    """What kind of JSON a value is."""
    names = {type(None): "null", str: "text", list: "a list", dict: "an object", bool: "a flag"}
    return names.get(type(value), "a number")
