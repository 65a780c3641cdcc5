"""Laws, forecasts and methods as tables, every number at full precision."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from delphi_core.errors import FitError
from delphi_core.fits.held_out import held_out_runs, seed_freedom, seed_noise
from delphi_core.fits.law_methods import METHODS, fit_method, isoflop_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from delphi_core.fits.held_out import HeldOut
    from delphi_core.fits.isoflop import IsoflopFit, IsoflopResult
    from delphi_core.fits.law_methods import LawMethod
    from delphi_core.fits.law_settings import LawSettings
    from delphi_core.fits.loss_law import LossLaw

_LAW_COLUMNS = ["E", "E_low", "E_high", "A", "alpha", "runs", "budgets", "compute"]
_FORECAST_COLUMNS = [
    "flops", "ratio", "beyond_walk_forward", "run", "predicted", "low", "high", "level",
    "interval", "measured", "counted", "rule", "error_pct", "covered", "run_noise",
    "noise_low", "noise_high",
]  # fmt: skip


def held_out_table(
    law: LossLaw, found: Sequence[HeldOut], targets: Sequence[float] = ()
) -> pd.DataFrame:
    """Forecasts of held-out runs and of other compute, by compute.

    Parameters
    ----------
    law
        What forecasts.
    found
        As `held_out_runs` gives them.
    targets
        Further compute, FLOP.

    Returns
    -------
    DataFrame
        flops (C, FLOP), ratio (extrapolation ratio), beyond_walk_forward (whether that is further
        than walk-forward on this ladder tests), run (names, missing for a target), predicted, low,
        high (missing where nothing bounds them), level, interval (its method), measured (a list),
        counted (what the error is of), rule (how it comes from the list), error_pct
        ((measured - predicted) / predicted), covered, run_noise (standard deviation between seeds
        of the held-out runs), noise_low, noise_high (interval with that noise).
    """
    noise = seed_noise(tuple(found))
    rows: list[dict[str, Any]] = []
    wanted: list[tuple[float, HeldOut | None]] = [(item.flops, item) for item in found]
    wanted += [(flops, None) for flops in set(targets)]
    for flops, held_out in wanted:
        forecast = law.predict(flops)
        value, low, high = (float(part) for part in (forecast.value, forecast.low, forecast.high))
        row: dict[str, Any] = {
            "flops": flops,
            "ratio": float(forecast.ratio),
            "beyond_walk_forward": bool(law.beyond_reach(flops)),
            "predicted": value,
            "low": low if isfinite(low) else None,
            "high": high if isfinite(high) else None,
            "level": forecast.level if isfinite(high) else None,
            "interval": forecast.method,
            "measured": [] if held_out is None else list(held_out.values),
        }
        if held_out is not None:
            row |= {
                "run": " ".join(held_out.runs),
                "counted": held_out.measured,
                "rule": held_out.rule,
                "error_pct": held_out.error_pct(value),
                "covered": low <= held_out.measured <= high,
            }
        if noise is not None and isfinite(high):
            runs = 1 if held_out is None else held_out.seeds
            noise_low, noise_high = forecast.with_run_noise(noise, runs, seed_freedom(tuple(found)))
            row |= {
                "run_noise": noise,
                "noise_low": float(noise_low),
                "noise_high": float(noise_high),
            }
        rows.append(row)
    return pd.DataFrame(rows, columns=_FORECAST_COLUMNS).sort_values(
        "flops", kind="stable", ignore_index=True
    )


def law_table(law: LossLaw) -> pd.DataFrame:
    """A loss law as a curve, at ten places a decade around the largest compute fitted.

    Returns
    -------
    DataFrame
        flops (C, FLOP), ratio, predicted, low, high (missing where nothing bounds them), level,
        interval, E, A, alpha and described (how it was got).
    """
    top = float(np.log10(law.largest_flops))
    flops = 10 ** np.linspace(top - 4, top + 3, 71)
    forecast = law.predict(flops)
    table = pd.DataFrame(
        {
            "flops": flops,
            "ratio": forecast.ratio,
            "predicted": forecast.value,
            "low": np.where(np.isfinite(forecast.low), forecast.low, np.nan),
            "high": np.where(np.isfinite(forecast.high), forecast.high, np.nan),
        }
    )
    return table.assign(
        level=law.band.level,
        interval=law.band.method,
        E=law.asymptote,
        A=law.coefficient,
        alpha=law.exponent,
        described=law.describe(),
    )


class MethodFit(NamedTuple):
    """What a method makes of a ladder: its law and the held-out runs, or why there is none."""

    method: LawMethod
    law: LossLaw | None
    held_out: tuple[HeldOut, ...]
    problem: str


def fit_methods(
    records: pd.DataFrame, isoflop: IsoflopFit, settings: LawSettings
) -> tuple[MethodFit, ...]:
    """Every method on the same rows.

    Parameters
    ----------
    records
        As `Snapshot.records` gives them.
    isoflop
        What every method's IsoFLOP fit shares.
    settings
        E, band and level, where a method does not pin E itself.
    """
    fits: dict[IsoflopFit, IsoflopResult] = {}
    found = []
    for method in METHODS:
        own = isoflop_settings(method, isoflop)
        if own not in fits:
            fits[own] = own(records)
        held_out = held_out_runs(fits[own].points)
        try:
            found.append(MethodFit(method, fit_method(fits[own], method, settings), held_out, ""))
        except FitError as error:
            found.append(MethodFit(method, None, held_out, str(error)))
    return tuple(found)


def methods_table(fits: Sequence[MethodFit], targets: Sequence[float] = ()) -> pd.DataFrame:
    """Every method side by side, with its forecast of each held-out run.

    Parameters
    ----------
    fits
        As `fit_methods` gives them.
    targets
        Further compute to forecast, FLOP.

    Returns
    -------
    DataFrame
        One row a method and forecast: method, E, E_low, E_high, A, alpha, runs, budgets, compute
        (what C is), then the columns of `held_out_table`, and notes (a sentence for each flag); a
        method that cannot be fitted has one row with the reason in notes.
    """
    tables = []
    for method, law, held_out, problem in fits:
        if law is None:
            tables.append(pd.DataFrame({"method": [method.name], "notes": [problem]}))
            continue
        shared = {"method": method.name} | _coefficients(law)
        forecasts = held_out_table(law, held_out, targets)
        table = forecasts.assign(**shared)
        if not len(forecasts):
            table = pd.DataFrame([shared]).reindex(columns=[*forecasts.columns, *shared])
        table["notes"] = " ".join(doubt.sentence for doubt in law.doubts)
        tables.append(table)
    columns = ["method", *_LAW_COLUMNS, *_FORECAST_COLUMNS, "notes"]
    return pd.concat(tables, ignore_index=True).reindex(columns=columns)


def _coefficients(law: LossLaw) -> dict[str, Any]:
    interval = law.asymptote_interval
    return {
        "E": law.asymptote,
        "E_low": interval.low if isfinite(interval.low) else None,
        "E_high": interval.high if isfinite(interval.high) else None,
        "A": law.coefficient,
        "alpha": law.exponent,
        "runs": law.runs,
        "budgets": law.budgets,
        "compute": law.compute,
    }
