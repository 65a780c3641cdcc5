"""A trajectory forecast that can be frozen: what it follows from, what it says, what came since."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
import pandas as pd

from delphi_core.fits.forecast_line import GRID
from delphi_core.fits.trajectory_forecast import TrajectoryFit
from delphi_core.frozen_rows import Rows, cut, part_of, snapshot_of_rows
from delphi_core.macro import line_of, subset_names
from delphi_core.trajectories import plan_of, target_named
from delphi_core.trajectory_tables import JUDGED_FROM, rungs_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from delphi_core.fits.forecasters import ForecastMethod
    from delphi_core.frozen_file import Part
    from delphi_core.schema import Table
    from delphi_core.snapshot import Snapshot

LINE = np.arange(10, 201) / 200
"""Fractions that a frozen line has values at, from 5 % on: evaluations lie between them."""
_NEAR = 1e-9


@dataclass(frozen=True)
class FrozenTrajectory:
    """What is forecast, and how; everything that a default had filled in.

    Attributes
    ----------
    target, metric, without
        As `forecast_of` takes them.
    settings
        Of the forecast.
    """

    target: str
    metric: str
    without: tuple[str, ...]
    settings: TrajectoryFit

    kind: ClassVar[str] = "trajectory"
    tables: ClassVar[dict[str, Table]] = {
        table.name: table
        for table in (
            part_of("ladders", "ladder", "params_column"),
            part_of("metrics", "metric", "kind"),
            part_of("targets", "target", "ladder", "run", "rungs", "metric", "pinned_E"),
            part_of("runs", "ladder", "run", "flops", "params", "active_params", "tokens", "steps"),
            part_of(
                "segments", "ladder", "run", "segment", "first_step", "last_step", "comparable"
            ),
            part_of(
                "trajectories", "ladder", "run", "segment", "step", "tokens", "metric", "value"
            ),
        )
    }

    def asked(self) -> dict[str, Any]:
        """What is forecast, as a file holds it."""
        return {
            "forecast": self.kind,
            "target": self.target,
            "metric": self.metric,
            "without": list(self.without),
        }

    def settings_document(self) -> dict[str, Any]:
        """How it is forecast, as a file holds it."""
        return asdict(self.settings)

    @classmethod
    def read(cls, asked: Part, settings: Part) -> FrozenTrajectory:
        """What a file says is forecast, and how.

        Raises
        ------
        DataError
            Something is missing or of a wrong kind.
        FitError
            A setting is none.
        """
        return cls(
            asked.text("target"),
            asked.text("metric"),
            tuple(asked.texts("without")),
            TrajectoryFit(
                cast("ForecastMethod", settings.text("method")),
                settings.number_or_none("asymptote"),
                settings.number("level"),
                settings.number_or_none("offset"),
            ),
        )

    def rows(self, snapshot: Snapshot) -> Rows:
        """The rows it follows from.

        Those of the target and its rungs, and the rungs' evaluations of the metric (of a macro
        loss without subsets: of the others). What the target measured is none of them.

        Raises
        ------
        DataError
            There is no such target.
        """
        target = target_named(snapshot, self.target)
        names = subset_names(snapshot, self.metric) if self.without else ()
        start = self.metric.removesuffix("macro_loss")
        metrics = {f"{start}{name}/loss" for name in names}
        used = {f"{start}{name}/loss" for name in names if name not in self.without}
        used = used if self.without else {self.metric}
        tables = snapshot.tables
        own = {name: tables[name] for name in self.tables}
        own["ladders"] = own["ladders"][own["ladders"]["ladder"] == target.ladder]
        own["metrics"] = own["metrics"][own["metrics"]["metric"].isin(metrics)]
        own["targets"] = own["targets"][own["targets"]["target"] == target.target]
        for name in ("runs", "segments", "trajectories"):
            runs = {*target.rungs, *([target.run] if name == "runs" else [])}
            of_ladder = own[name]["ladder"] == target.ladder
            own[name] = own[name][of_ladder & own[name]["run"].isin(runs)]
        own["trajectories"] = own["trajectories"][own["trajectories"]["metric"].isin(used)]
        return {name: cut(own[name], table) for name, table in self.tables.items()}

    def forecast(self, rows: Rows) -> dict[str, Any]:
        """What follows from rows, and from nothing else, as a file holds it.

        Returns
        -------
        dict
            described, rungs, asymptote, predictions at the 20 multiples of 5 %, and line, the
            forecast and its band at `LINE`.

        Raises
        ------
        DataError, FitError
            The rows determine no forecast.
        """
        snapshot = snapshot_of_rows(rows)
        target = target_named(snapshot, self.target)
        rungs = rungs_of(snapshot, target, self.metric, self.without)
        found = self.settings(rungs, plan_of(snapshot, target.ladder, target.run))

        def at(fractions: Any) -> list[list[float | None]]:
            columns = (found.value(fractions), *found.band(fractions))
            return [
                [float(cell) if np.isfinite(cell) else None for cell in row]
                for row in zip(*columns, strict=True)
            ]

        names = ("fraction", "flops", "predicted", "low", "high")
        return {
            "described": found.describe(),
            "run": target.run,
            "rungs": [rung.plan.run for rung in found.rungs],
            "asymptote": found.fitted.asymptote,
            "predictions": [
                dict(zip(names, (fraction, found.plan.flops * fraction, *ends), strict=True))
                for fraction, ends in zip(GRID.tolist(), at(GRID), strict=True)
            ],
            "line": [
                [fraction, *ends] for fraction, ends in zip(LINE.tolist(), at(LINE), strict=True)
            ],
        }

    def measured(self, snapshot: Snapshot) -> list[list[float | None]]:
        """The target's evaluations: tokens, step and value of each."""
        target = target_named(snapshot, self.target)
        line = line_of(snapshot, target.ladder, target.run, self.metric, self.without)
        columns = (line.tokens, line.steps, line.values)
        return [
            [float(cell) if np.isfinite(cell) else None for cell in row]
            for row in zip(*columns, strict=True)
        ]

    def since(
        self, snapshot: Snapshot, document: Part, before: Sequence[Sequence[Any]]
    ) -> pd.DataFrame:
        """Evaluations that were not there yet, from 5 % of training on, beside the forecast.

        Parameters
        ----------
        snapshot
            Where the target's evaluations are now.
        document
            Of the file: its line is read off between its values, which are 0.5 % apart.
        before
            As `measured` gave them then.

        Returns
        -------
        DataFrame
            fraction, step, predicted, low, high and actual.
        """
        target = target_named(snapshot, self.target)
        line = line_of(snapshot, target.ladder, target.run, self.metric, self.without)
        known = {(row[0], row[1]) for row in before}
        now = [(row[0], row[1]) for row in self.measured(snapshot)]
        new = np.array([place not in known for place in now], dtype=bool)
        line = line.part(new & (line.fractions >= JUDGED_FROM - _NEAR))
        frozen = document.number_rows("line", 4)
        columns = frozen[np.isfinite(frozen[:, 1])].T
        if not (np.diff(columns[0]) > 0).all():
            raise document.wrong("must have a line of increasing fractions")
        # A line of one place, as of 67B, has a value there and nowhere else.
        ends = (columns[0][0], columns[0][-1]) if columns.size else (1.0, 0.0)
        inside = (line.fractions >= ends[0] - _NEAR) & (line.fractions <= ends[1] + _NEAR)
        line = line.part(inside)
        value, low, high = (
            np.interp(line.fractions, columns[0], column) if len(line) else line.values
            for column in columns[1:]
        )
        return pd.DataFrame(
            {
                "fraction": line.fractions,
                "step": line.steps,
                "predicted": value,
                "low": np.where(np.isnan(low), -np.inf, low),
                "high": np.where(np.isnan(high), np.inf, high),
                "actual": line.values,
            }
        )
