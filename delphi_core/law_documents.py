"""Laws, forecasts and walk-forward ready for JSON, every number at full precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from delphi_core.errors import FitError
from delphi_core.export import interval_columns, power_laws
from delphi_core.fits.held_out import held_out_runs
from delphi_core.fits.loss_law_fit import LossLawFit
from delphi_core.law_tables import held_out_table
from delphi_core.plain_rows import plain_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from delphi_core.fits.held_out import HeldOut
    from delphi_core.fits.isoflop import IsoflopResult
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
        "reach": law.reach,
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
        "scores": plain_rows(choice.scores),
        "cuts": plain_rows(cuts),
    }
