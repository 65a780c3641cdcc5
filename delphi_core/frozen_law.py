"""A law's forecast that can be frozen: what it follows from, what it says, what came since."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
import pandas as pd

from delphi_core.errors import FitError
from delphi_core.fits.held_out import held_out_runs
from delphi_core.fits.isoflop import IsoflopFit
from delphi_core.fits.law_methods import fit_method, isoflop_settings, method_named
from delphi_core.fits.law_settings import LawSettings
from delphi_core.frozen_rows import Rows, cut, part_of, snapshot_of_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from delphi_core.fits.bands import BandKind
    from delphi_core.fits.isoflop import Compute, IsoflopResult, X
    from delphi_core.frozen_file import Part
    from delphi_core.schema import Table
    from delphi_core.snapshot import Snapshot

NEAR = 0.01
"""Held-out runs count for a forecast whose C theirs is this near to, relative to it."""
MOST_FLOPS = 100
"""Compute that one file may forecast at."""
_MOST_REPLICATES, _LARGEST_SEED = 2_000, 2**32 - 1


@dataclass(frozen=True)
class FrozenLaw:
    """What is forecast, and how; everything that a default had filled in.

    Attributes
    ----------
    ladder, metric
        Ids.
    flops
        C of each forecast, FLOP.
    method
        Name of a `LawMethod`.
    isoflop
        What every method's IsoFLOP fit shares; its curve is the method's.
    settings
        E where the method leaves it open, band, level and so on; the law is the method's.
    """

    ladder: str
    metric: str
    flops: tuple[float, ...]
    method: str
    isoflop: IsoflopFit
    settings: LawSettings

    kind: ClassVar[str] = "law"
    tables: ClassVar[dict[str, Table]] = {
        table.name: table
        for table in (
            part_of("ladders", "ladder", "params_column"),
            part_of("metrics", "metric"),
            part_of(
                "runs", "ladder", "run", "role", "label", "flops", "budget", "params",
                "active_params", "tokens", "status",
            ),
            part_of("evals", "ladder", "run", "metric", "value"),
        )
    }  # fmt: skip

    def asked(self) -> dict[str, Any]:
        """What is forecast, as a file holds it."""
        return {
            "forecast": self.kind,
            "ladder": self.ladder,
            "metric": self.metric,
            "flops": list(self.flops),
        }

    def settings_document(self) -> dict[str, Any]:
        """How it is forecast, as a file holds it."""
        shared = {name: asdict(self.settings)[name] for name in ("asymptote", "band", "level")}
        drawn = {"replicates": self.settings.replicates, "seed": self.settings.seed}
        isoflop = {
            "x": self.isoflop.x,
            "compute": self.isoflop.compute,
            "include_excluded": self.isoflop.include_excluded,
        }
        return {"method": self.method, **shared, **drawn, **isoflop}

    @classmethod
    def read(cls, asked: Part, settings: Part) -> FrozenLaw:
        """What a file says is forecast, and how.

        Raises
        ------
        DataError
            Something is missing or of a wrong kind.
        FitError
            A setting is none.
        """
        method = method_named(settings.text("method"))
        level = settings.number("level")
        flops = asked.numbers("flops")
        if not 1 <= len(flops) <= MOST_FLOPS or not all(value > 0 for value in flops):
            raise asked.wrong(f"must have 1 to {MOST_FLOPS} positive numbers as 'flops'")
        compute = None if settings.any("compute") is None else settings.text("compute")
        return cls(
            asked.text("ladder"),
            asked.text("metric"),
            tuple(flops),
            method.name,
            IsoflopFit(
                x=cast("X", settings.text("x")),
                compute=cast("Compute | None", compute),
                include_excluded=settings.flag("include_excluded"),
                level=level,
            ),
            LawSettings(
                method.law,
                settings.number_or_none("asymptote"),
                cast("BandKind", settings.text("band")),
                level,
                settings.whole("replicates", 1, _MOST_REPLICATES),
                settings.whole("seed", 0, _LARGEST_SEED),
            ),
        )

    def rows(self, snapshot: Snapshot) -> Rows:
        """The rows it follows from: the runs that are fitted, with their values.

        Held-out runs and those that the fit leaves out are none of them.

        Raises
        ------
        DataError, FitError
            There is no such ladder or metric, or its rows cannot be fitted.
        """
        points = self._isoflop(snapshot).points
        # Runs of budgets too small for a curve stay: one more of them could make it one.
        used = set(points.loc[points["budget_flops"].notna(), "run"])
        tables = snapshot.tables
        own = {name: tables[name] for name in self.tables}
        own["metrics"] = own["metrics"][own["metrics"]["metric"] == self.metric]
        for name in ("ladders", "runs", "evals"):
            own[name] = own[name][own[name]["ladder"] == self.ladder]
        for name in ("runs", "evals"):
            own[name] = own[name][own[name]["run"].isin(used)]
        own["evals"] = own["evals"][own["evals"]["metric"] == self.metric]
        return {name: cut(own[name], table) for name, table in self.tables.items()}

    def forecast(self, rows: Rows) -> dict[str, Any]:
        """What follows from rows, and from nothing else, as a file holds it.

        Returns
        -------
        dict
            described, the law's coefficients, and predictions.

        Raises
        ------
        DataError, FitError
            The rows determine no law, or none with a forecast.
        """
        isoflop = self._isoflop(snapshot_of_rows(rows))
        law = fit_method(isoflop, method_named(self.method), self.settings)
        found = law.predict(np.array(self.flops))
        if not np.isfinite(found.value).all():
            raise FitError("a term of the surface is zero, so it has no law in compute.")
        columns = zip(self.flops, found.ratio, found.value, found.low, found.high, strict=True)
        names = ("flops", "ratio", "predicted", "low", "high")
        return {
            "described": law.describe(),
            "E": law.asymptote,
            "A": law.coefficient,
            "alpha": law.exponent,
            "largest_flops": law.largest_flops,
            "predictions": [
                {
                    name: float(cell) if isfinite(cell) else None
                    for name, cell in zip(names, row, strict=True)
                }
                for row in columns
            ],
        }

    def measured(self, snapshot: Snapshot) -> list[list[float | str | None]]:
        """Held-out runs and targets of the ladder: name, C (FLOP) and value of each."""
        points = snapshot.records(self.ladder, self.metric)
        found = held_out_runs(points)
        values = [pair for item in found for pair in zip(item.runs, item.values, strict=True)]
        flops = points.set_index("run")["flops"].to_dict()
        return [[run, float(flops[run]), value] for run, value in values]

    def since(
        self, snapshot: Snapshot, document: Part, before: Sequence[Sequence[Any]]
    ) -> pd.DataFrame:
        """Held-out runs that were not there yet, beside the forecast of their compute.

        Parameters
        ----------
        snapshot
            Where runs are now.
        document
            Of the file.
        before
            As `measured` gave them then.

        Returns
        -------
        DataFrame
            flops, run (names), rule (how actual comes from several), predicted, low, high and
            actual; one row a budget.
        """
        points = snapshot.records(self.ladder, self.metric)
        new = points[~points["run"].isin({row[0] for row in before})]
        rows = []
        for frozen in document.parts("predictions"):
            flops = frozen.number("flops")
            for item in held_out_runs(new):
                if abs(item.flops / flops - 1) > NEAR:
                    continue
                low, high = frozen.number_or_none("low"), frozen.number_or_none("high")
                rows.append(
                    {
                        "flops": flops,
                        "run": " ".join(item.runs),
                        "rule": item.rule,
                        "predicted": frozen.number("predicted"),
                        "low": -np.inf if low is None else low,
                        "high": np.inf if high is None else high,
                        "actual": item.measured,
                    }
                )
        columns = ["flops", "run", "rule", "predicted", "low", "high", "actual"]
        return pd.DataFrame(rows, columns=columns)

    def _isoflop(self, snapshot: Snapshot) -> IsoflopResult:
        own = isoflop_settings(method_named(self.method), self.isoflop)
        return own(snapshot.records(self.ladder, self.metric))
