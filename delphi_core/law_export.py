"""Laws, forecasts and walk-forward out: tables and JSON, every number at full precision."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from delphi_core.errors import FitError
from delphi_core.export import interval_columns, power_laws
from delphi_core.fits.held_out import held_out_runs, seed_noise
from delphi_core.fits.law_methods import METHODS, fit_method, isoflop_settings
from delphi_core.fits.loss_law import LossLawFit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from delphi_core.fits.held_out import HeldOut
    from delphi_core.fits.isoflop import IsoflopFit, IsoflopResult
    from delphi_core.fits.law_choice import Choice
    from delphi_core.fits.law_settings import LawSettings
    from delphi_core.fits.loss_law import LossLaw
    from delphi_core.fits.surface import SurfaceFit


def law_document(
    isoflop: IsoflopResult, settings: LawSettings, targets: Sequence[float] = ()
) -> tuple[dict[str, Any], list[str]]:
    """Loss law of the optima and its forecasts, ready for JSON.

    Parameters
    ----------
    isoflop
        Fitted budgets.
    settings
        What the law is fitted by.
    targets
        Compute to forecast besides the held-out runs, FLOP.

    Returns
    -------
    document : dict
        loss_law and forecasts; `unidentified` says why there is none.
    missing : list of str
        One sentence a part that could not be had.
    """
    own = LossLawFit(**settings.__dict__)
    try:
        law = own(isoflop)
    except FitError as error:
        flag = getattr(error, "flag", None)
        return (
            {"unidentified": {"flag": flag, "sentence": str(error)}},
            [f"no loss law was fitted: {error}"],
        )
    found = held_out_runs(isoflop.points)
    document = {"loss_law": _loss_law(law), "forecasts": _forecasts(law, found, targets)}
    return document, []


def surface_document(
    fit: SurfaceFit,
    isoflop: IsoflopResult,
    document: dict[str, Any],
    targets: Sequence[float] = (),
) -> tuple[dict[str, Any], list[str]]:
    """A loss surface and what follows from it, ready for JSON.

    Parameters
    ----------
    fit
        Its settings.
    isoflop
        Whose runs it is fitted to.
    document
        That of the IsoFLOP fit: what of it holds for a surface is kept.
    targets
        Compute to forecast besides the held-out runs, FLOP.

    Returns
    -------
    document : dict
        surface, budgets with its optima, its laws and forecasts.
    missing : list of str
        One sentence a part that could not be had.
    """
    kept = ("snapshot", "ladder", "metric", "params_column", "include_excluded", "drop", "left_out")
    document = {name: document[name] for name in kept} | {"method": "surface"}
    document["compute"] = isoflop.compute
    try:
        surface = fit(isoflop)
        tokens, params = surface.law("tokens"), surface.law("params")
    except FitError as error:
        flag = getattr(error, "flag", None)
        document["unidentified"] = {"flag": flag, "sentence": str(error)}
        return document, [f"no surface was fitted: {error}"]
    (a, b), (alpha, beta), law = surface.coefficients, surface.exponents, surface.loss_law
    document |= {
        "described": law.describe(),
        "runs": law.runs,
        "surface": {
            "law": fit.law,
            "E": surface.asymptote,
            "A": a,
            "B": b,
            "alpha": alpha,
            "beta": beta,
            "k": surface.model.k,
            "weights": fit.weights,
            "objective": surface.objective,
            "condition_number": surface.condition,
        },
        "budgets": [
            {
                "flops": budget.flops,
                "runs": budget.runs,
                "optimal_tokens": float(tokens.predict(budget.flops)),
                "optimal_params": float(params.predict(budget.flops)),
                "loss_at_optimal": float(law.predict(budget.flops).value),
            }
            for budget in isoflop.budgets
        ],
        **power_laws(tokens, params),
        "loss_law": _loss_law(law),
        "forecasts": _forecasts(law, held_out_runs(isoflop.points), targets),
    }
    return document, []


def _loss_law(law: LossLaw) -> dict[str, Any]:
    asymptote = interval_columns(law.asymptote_interval)
    exponent = interval_columns(law.exponent_interval)
    return {
        "law": law.settings.law,
        "source": law.source,
        "E": law.asymptote,
        "A": law.coefficient,
        "alpha": law.exponent,
        "E_pinned": law.settings.asymptote is not None,
        "E_low": asymptote["low"],
        "E_high": asymptote["high"],
        "alpha_low": exponent["low"],
        "alpha_high": exponent["high"],
        "level": asymptote["level"],
        "interval": asymptote["interval"],
        "replicates": law.band.replicates,
        "failed": law.band.failed,
        "budgets": law.budgets,
        "runs": law.runs,
        "largest_flops": law.largest_flops,
        "flags": [str(doubt.flag) for doubt in law.doubts],
        "notes": [doubt.sentence for doubt in law.doubts],
        "described": law.describe(),
    }


def _forecasts(
    law: LossLaw, found: Sequence[HeldOut], targets: Sequence[float]
) -> list[dict[str, Any]]:
    table = held_out_table(law, found, targets).astype(object)
    rows = table.where(table.notna(), None).to_dict("records")
    return [{str(name): value for name, value in row.items()} for row in rows]


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
        flops (C, FLOP), ratio (extrapolation ratio), run (names, missing for a target), predicted,
        low, high (missing where nothing bounds them), level, interval (its method), measured (a
        list), counted (what the error is of), rule (how it comes from the list), error_pct
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
            noise_low, noise_high = forecast.with_run_noise(noise, runs)
            row |= {
                "run_noise": noise,
                "noise_low": float(noise_low),
                "noise_high": float(noise_high),
            }
        rows.append(row)
    columns = [
        "flops", "ratio", "run", "predicted", "low", "high", "level", "interval", "measured",
        "counted", "rule", "error_pct", "covered", "run_noise", "noise_low", "noise_high",
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=columns).sort_values(
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


def methods_table(
    records: pd.DataFrame,
    isoflop: IsoflopFit,
    settings: LawSettings,
    targets: Sequence[float] = (),
) -> pd.DataFrame:
    """Every method on the same rows, with its forecast of each held-out run.

    Parameters
    ----------
    records
        As `Snapshot.records` gives them.
    isoflop
        What every method's IsoFLOP fit shares.
    settings
        E, band and level, where a method does not pin E itself.
    targets
        Further compute to forecast, FLOP.

    Returns
    -------
    DataFrame
        One row a method and forecast: method, E, E_low, E_high, A, alpha, runs, budgets, compute
        (what C is), then the columns of `held_out_table`, and flags; a method that cannot be
        fitted has one row with the reason in `notes`.
    """
    fits: dict[IsoflopFit, IsoflopResult] = {}
    tables = []
    for method in METHODS:
        own = isoflop_settings(method, isoflop)
        if own not in fits:
            fits[own] = own(records)
        try:
            law = fit_method(fits[own], method, settings)
        except FitError as error:
            tables.append(pd.DataFrame({"method": [method.name], "notes": [str(error)]}))
            continue
        shared = {"method": method.name} | _coefficients(law)
        found = held_out_runs(fits[own].points)
        forecasts = held_out_table(law, found, targets)
        table = forecasts.assign(**shared)
        if not len(forecasts):
            table = pd.DataFrame([shared]).reindex(columns=[*forecasts.columns, *shared])
        table["notes"] = " ".join(doubt.sentence for doubt in law.doubts)
        tables.append(table[[*shared, *forecasts.columns, "notes"]])
    return pd.concat(tables, ignore_index=True)


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


def walk_forward_document(
    tables: Mapping[str, pd.DataFrame], choice: Choice, **context: Any
) -> dict[str, Any]:
    """Walk-forward and the choice it leads to, ready for JSON; open ends are None.

    Parameters
    ----------
    tables
        Ladder to rows of `walk_forward_all`.
    choice
        What `choose` makes of them.
    **context
        Further keys: snapshot, level and the like.
    """
    cuts = pd.concat([table.assign(ladder=ladder) for ladder, table in tables.items()])
    return {
        **context,
        "chosen": {"method": choice.method.name, "band": choice.band},
        "scores": _plain_rows(choice.scores),
        "cuts": _plain_rows(cuts),
    }


def _plain_rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    cells = table.astype(object)
    finite = cells.map(lambda cell: not isinstance(cell, float) or isfinite(cell))
    rows = cells.where(finite, None).to_dict("records")
    return [{str(name): value for name, value in row.items()} for row in rows]
