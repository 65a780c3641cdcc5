"""Fits and figures' numbers out: CSV and JSON, every number at full precision."""

from __future__ import annotations

from dataclasses import asdict
from math import isfinite
from typing import TYPE_CHECKING, Any

import pandas as pd

from delphi_core.browse import filtered
from delphi_core.errors import FitError
from delphi_core.fits.power_law import fit_params_law, fit_token_law
from delphi_core.records import RECORD_COLUMNS
from delphi_core.spreadsheet import spreadsheet_csv

if TYPE_CHECKING:
    from delphi_core.fits.interval import Interval
    from delphi_core.fits.isoflop import IsoflopResult
    from delphi_core.fits.power_law import PowerLaw


def points_table(isoflop: IsoflopResult) -> pd.DataFrame:
    """Every row of a fit: the six columns, the run, and whether and why it was left out."""
    others = (str(name) for name in isoflop.points if name not in RECORD_COLUMNS)
    return isoflop.points[[*RECORD_COLUMNS, *others]]


def points_csv(isoflop: IsoflopResult) -> str:
    """`points_table` as CSV.

    Read back and fitted with the same settings it gives the same coefficients, bit by bit.
    """
    return spreadsheet_csv(points_table(isoflop))


def optima_table(isoflop: IsoflopResult) -> pd.DataFrame:
    """One row a budget, in order of compute.

    Returns
    -------
    DataFrame
        flops (C, FLOP), runs, optimal_tokens (D*), optimal_params (N*), loss_at_optimal (L*);
        low and high of the optimum along x (missing where nothing bounds it), with level,
        interval (its method), replicates and how many of them failed; the coefficients of
        L = d x^3 + a x^2 + b x + c in x = log10 of tokens or size; flags (names, separated by
        spaces) and notes (a sentence for each flag).
    """
    rows = []
    for budget in isoflop.budgets:
        d, a, b, c = budget.curve.coefficients if budget.curve else (None,) * 4
        rows.append(
            {
                "flops": budget.flops,
                "runs": budget.runs,
                "optimal_tokens": budget.optimal_tokens,
                "optimal_params": budget.optimal_params,
                "loss_at_optimal": budget.loss_at_optimal,
                **_interval_columns(budget.interval),
                "d": d,
                "a": a,
                "b": b,
                "c": c,
                "flags": " ".join(budget.flags),
                "notes": " ".join(budget.sentences),
            }
        )
    optimum = ["optimal_tokens", "optimal_params", "loss_at_optimal", "low", "high", "level"]
    drawn, curve = ["interval", "replicates", "failed"], ["d", "a", "b", "c"]
    columns = ["flops", "runs", *optimum, *drawn, *curve, "flags", "notes"]
    kinds = dict.fromkeys([*optimum, *curve], "float64") | {"interval": "str"}
    kinds |= dict.fromkeys(["replicates", "failed"], "Int64")
    return pd.DataFrame(rows, columns=columns).astype(kinds)


def _interval_columns(interval: Interval | None) -> dict[str, Any]:
    """Interval of D* or N*, whichever is along x; an end that nothing bounds is missing."""
    if interval is None:
        return {}
    return {
        **interval_columns(interval),
        "low": interval.low if interval.low > 0 else None,
        "replicates": interval.replicates,
        "failed": interval.failed,
    }


def interval_columns(interval: Interval) -> dict[str, Any]:
    """Ends of an interval with its level and method; an end that nothing bounds is None."""
    return {
        "low": interval.low if isfinite(interval.low) else None,
        "high": interval.high if isfinite(interval.high) else None,
        "level": None if interval.method == "none" else interval.level,
        "interval": interval.method,
    }


def optima_with_context(
    isoflop: IsoflopResult, published: pd.DataFrame | None = None, **context: str
) -> pd.DataFrame:
    """`optima_table`, each row with how it was got.

    Parameters
    ----------
    isoflop
        The fit.
    published
        Rows of published_optima to give instead.
    **context
        Further columns: what the fit cannot know, such as snapshot, ladder and metric.
    """
    if published is not None:
        return published
    settings = isoflop.settings
    got = {"method": settings.method, "x": settings.x, "compute": isoflop.compute}
    return optima_table(isoflop).assign(**got, **context)


def optima_csv(
    isoflop: IsoflopResult, published: pd.DataFrame | None = None, **context: str
) -> str:
    """`optima_with_context` as CSV."""
    return spreadsheet_csv(optima_with_context(isoflop, published, **context))


def left_out_table(isoflop: IsoflopResult) -> pd.DataFrame:
    """Runs that were not fitted, by compute.

    Returns
    -------
    DataFrame
        run, left_out_reason, value (in the metric's unit), flops (FLOP).
    """
    rows = isoflop.points[~isoflop.points["used"]].sort_values("flops", kind="stable")
    columns = ["run", "left_out_reason", "value", "flops"]
    return rows.reindex(columns=columns)


def rows_csv(table: pd.DataFrame, **filters: str) -> str:
    """Rows of a table as CSV, every number at full precision.

    Parameters
    ----------
    table
        Any table of a snapshot.
    **filters
        As `browse.filtered` takes them.
    """
    return spreadsheet_csv(filtered(table, **filters))


def isoflop_document(
    isoflop: IsoflopResult,
    *,
    snapshot: str | None,
    ladder: str | None,
    metric: str,
    params_column: str,
) -> tuple[dict[str, Any], list[str]]:
    """Everything a fit says, ready for JSON, and a sentence for each part that is missing.

    Parameters
    ----------
    isoflop
        The fit.
    snapshot, ladder, metric
        Ids of what it was made of; a file of records has neither snapshot nor ladder.
    params_column
        What N* counts: params or active_params.

    Returns
    -------
    document : dict
        Texts, numbers, None, and lists and dicts of them.
    missing : list of str
        One sentence a part that could not be had.
    """
    document: dict[str, Any] = {
        "snapshot": snapshot,
        "ladder": ladder,
        "metric": metric,
        "method": isoflop.settings.method,
        "x": isoflop.settings.x,
        "compute": isoflop.compute,
        "params_column": params_column,
        "include_excluded": isoflop.settings.include_excluded,
        "drop": [list(pair) for pair in isoflop.settings.drop],
        "described": isoflop.describe(),
        "runs": isoflop.runs,
        "left_out": [asdict(out) for out in isoflop.left_out],
        "in_small_budgets": [asdict(out) for out in isoflop.in_small_budgets],
        "budgets": _budgets(isoflop),
    }
    try:
        level = isoflop.settings.level
        tokens = fit_token_law(isoflop, level=level)
        params = fit_params_law(isoflop, level=level)
    except FitError as error:
        return document, [f"no law was fitted: {error}"]
    return document | power_laws(tokens, params), []


def power_laws(tokens: PowerLaw, params: PowerLaw) -> dict[str, Any]:
    """D*(C) and N*(C), ready for JSON; low and high are those of the exponent."""
    return {
        "token_law": {
            "alpha": tokens.exponent,
            "A": tokens.coefficient,
            "log10_A": tokens.log10_coefficient,
            **interval_columns(tokens.interval),
            "rule": tokens.rule,
        },
        "params_law": {
            "exponent": params.exponent,
            "intercept": params.log10_coefficient,
            **interval_columns(params.interval),
            "rule": params.rule,
        },
    }


def _budgets(isoflop: IsoflopResult) -> list[dict[str, Any]]:
    """Rows of `optima_table`, with flags and their sentences as lists and missing as None."""
    table = optima_table(isoflop).drop(columns=["flags", "notes"]).astype(object)
    rows = table.where(table.notna(), None).to_dict("records")
    return [
        {
            **{str(name): value for name, value in row.items()},
            "flags": [str(flag) for flag in budget.flags],
            "notes": list(budget.sentences),
        }
        for row, budget in zip(rows, isoflop.budgets, strict=True)
    ]
