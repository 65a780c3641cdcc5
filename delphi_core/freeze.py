"""Forecasts that cannot be rewritten afterwards: frozen with the rows they follow from."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd
import scipy

from delphi_core.errors import DataError, FitError, did_you_mean
from delphi_core.fits.forecast import LARGEST_TARGET, SMALLEST_TARGET
from delphi_core.fits.isoflop import IsoflopFit
from delphi_core.fits.law_choice import DEFAULT_METHOD
from delphi_core.fits.law_methods import method_named
from delphi_core.fits.law_settings import DEFAULT_BAND, LawSettings
from delphi_core.frozen_file import FORMAT, KIND, checksum, sealed
from delphi_core.frozen_law import MOST_FLOPS, FrozenLaw
from delphi_core.frozen_rows import held
from delphi_core.frozen_trajectory import FrozenTrajectory
from delphi_core.trajectories import target_metrics, target_named
from delphi_core.trajectory_tables import forecast_of
from delphi_core.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    from delphi_core.fits.bands import BandKind
    from delphi_core.fits.forecasters import ForecastMethod
    from delphi_core.fits.isoflop import X
    from delphi_core.snapshot import Snapshot
    from delphi_core.trajectory_tables import Asymptote

Frozen = FrozenTrajectory | FrozenLaw


def freeze_forecast(
    snapshot: Snapshot,
    target: str | None = None,
    *,
    ladder: str | None = None,
    flops: Sequence[float] = (),
    metric: str | None = None,
    method: str | None = None,
    asymptote: Asymptote = None,
    band: BandKind | None = None,
    level: float = 0.9,
    without: Sequence[str] = (),
    made_at: datetime | None = None,
) -> dict[str, Any]:
    """A forecast with all that it follows from, to be written as JSON and never changed.

    It is computed from the rows it holds and from nothing else.

    Parameters
    ----------
    snapshot
        What it is made of.
    target
        Of a trajectory forecast: its id.
    ladder, flops
        Of a scaling law's forecast instead: the ladder, and C of each forecast (FLOP).
    metric
        None for the target's or the ladder's own.
    method, asymptote
        As `forecast_of` takes them, or of a law: name of a `LawMethod` and E, where either is
        None the default.
    band
        Of a law; None for the default.
    level
        Of the band.
    without
        Subsets to leave out of a macro loss; of a trajectory only.
    made_at
        When it was made; by default now.

    Returns
    -------
    dict
        kind and format of the file; made_at (ISO 8601, UTC); versions; forecast (what is
        forecast); settings; result (predictions with bands, and how they were got);
        measured_before (what was measured already: no input, and not to be scored); snapshot (its
        id and the sha256 of each of its files); rows (those used, with their sha256); checksum
        (over everything else).

    Raises
    ------
    DataError, FitError
        What is asked for is not there, or the rows determine no forecast.
    """
    if (target is None) == (ladder is None):
        raise DataError(["a forecast is of a target or of a ladder; name one of them."])
    if target is not None:
        if band is not None or len(flops):
            raise DataError(["a target's forecast has neither band nor flops to choose."])
        frozen: Frozen = _trajectory(
            snapshot,
            target,
            metric,
            method=cast("ForecastMethod | None", method),
            asymptote=asymptote,
            level=level,
            without=tuple(dict.fromkeys(without)),
        )
    else:
        if without:
            raise DataError(["subsets can be left out of a target's metric only."])
        pinned = None if asymptote == "fit" else asymptote
        settings = LawSettings(asymptote=pinned, band=band or DEFAULT_BAND, level=level)
        frozen = _law(snapshot, str(ladder), metric, flops, method=method, settings=settings)
    rows = frozen.rows(snapshot)
    return sealed(
        {
            "kind": KIND,
            "format": FORMAT,
            "made_at": f"{made_at or datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
            "versions": versions(),
            "forecast": frozen.asked(),
            "settings": frozen.settings_document(),
            "result": frozen.forecast(rows),
            "measured_before": frozen.measured(snapshot),
            "snapshot": {
                "id": snapshot.id,
                "created_at": snapshot.created_at,
                "files": dict(snapshot.files),
            },
            "rows_sha256": checksum(held(rows)),
            "rows": held(rows),
        }
    )


def versions() -> dict[str, str]:
    """Versions of what computes a forecast."""
    return {
        "delphi_core": __version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "pandas": pd.__version__,
    }


def _trajectory(
    snapshot: Snapshot,
    name: str,
    asked: str | None,
    *,
    method: ForecastMethod | None,
    asymptote: Asymptote,
    level: float,
    without: tuple[str, ...],
) -> FrozenTrajectory:
    target = target_named(snapshot, name)
    offered = target_metrics(snapshot, target)
    metric = target.metric if asked is None else asked
    if metric not in offered:
        raise DataError([f"no metric {metric!r} on this target; {did_you_mean(metric, offered)}"])
    found = forecast_of(
        snapshot,
        target,
        metric,
        method=method,
        asymptote=asymptote,
        level=level,
        without=without,
    )
    return FrozenTrajectory(target.target, metric, without, found.settings)


def _law(
    snapshot: Snapshot,
    name: str,
    asked: str | None,
    flops: Sequence[float],
    *,
    method: str | None,
    settings: LawSettings,
) -> FrozenLaw:
    ladder = snapshot.ladder(name)
    chosen = DEFAULT_METHOD if method is None else method_named(method)
    wanted = tuple(dict.fromkeys(float(value) for value in flops))
    if not 1 <= len(wanted) <= MOST_FLOPS:
        sentence = f"a law's forecast is at 1 to {MOST_FLOPS} different FLOP; {len(wanted)} given."
        raise DataError([sentence])
    for value in wanted:
        if not SMALLEST_TARGET <= value <= LARGEST_TARGET:
            limits = f"{SMALLEST_TARGET:g} to {LARGEST_TARGET:g} FLOP"
            raise DataError([f"compute is {value:g} FLOP; it must be from {limits}."])
    if chosen.asymptote is not None and settings.asymptote is not None:
        raise FitError(f"method {chosen.name} pins E itself; leave the asymptote out.")
    return FrozenLaw(
        ladder.ladder,
        ladder.default_metric if asked is None else asked,
        wanted,
        chosen.name,
        IsoflopFit(x=cast("X", ladder.default_x), level=settings.level),
        LawSettings(
            chosen.law,
            settings.asymptote if chosen.asymptote is None else chosen.asymptote,
            settings.band,
            settings.level,
            settings.replicates,
            settings.seed,
        ),
    )
