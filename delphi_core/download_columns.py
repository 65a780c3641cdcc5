"""What the columns of downloaded tables hold: those of a snapshot, and those that fits make."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from delphi_core.fits.recipe import UNITS
from delphi_core.records import RECORDS
from delphi_core.schema import Column
from delphi_core.tables import PUBLISHED_LAWS, PUBLISHED_OPTIMA, TABLES

if TYPE_CHECKING:
    from collections.abc import Iterable

VALUE_UNIT = "of the metric"
"""Stands for the unit of a metric until it is known which."""
X_UNIT = "of x"
"""Stands for what curves are drawn against, tokens or parameters, until it is known which."""


def _number(name: str, about: str, unit: str = "", *, required: bool = True) -> Column:
    return Column(name, "number", about, unit, required=required)


def _text(name: str, about: str) -> Column:
    return Column(name, "text", about)


def _value(name: str, about: str, *, required: bool = True) -> Column:
    return _number(name, about, VALUE_UNIT, required=required)


_CONTEXT = (
    _text("snapshot", "id of the snapshot it was made from"),
    _text("ladder", "ladder"),
    _text("metric", "metric, as logged"),
)
_POINTS = (
    *(replace(c, unit=VALUE_UNIT) if c.name == "value" else c for c in RECORDS.columns),
    _number("budget_flops", "C of the run's budget", "FLOP", required=False),
    Column("used", "flag", "whether the run was fitted"),
    Column("left_out_reason", "text", "why it was not", required=False),
)
_OPTIMA = (
    _number("flops", "C of the budget", "FLOP"),
    Column("runs", "integer", "runs fitted", "runs"),
    _number("optimal_tokens", "D* of the fitted curve", "tokens", required=False),
    _number("optimal_params", "N* at the optimum", "parameters", required=False),
    _value("loss_at_optimal", "L* of the fitted curve", required=False),
    _number("low", "lower end of the interval of the optimum along x", X_UNIT, required=False),
    _number("high", "upper end of the interval of the optimum along x", X_UNIT, required=False),
    _number("level", "level of the interval", required=False),
    Column("interval", "text", "how the interval was got", required=False),
    Column("replicates", "integer", "sets of rows drawn for it", "sets", required=False),
    Column("failed", "integer", "of them no use", "sets", required=False),
    *(
        _number(name, "of L = d x^3 + a x^2 + b x + c, x = log10", required=False)
        for name in "dabc"
    ),
    Column("flags", "text", "what is doubtful, as names", required=False),
    Column("notes", "text", "what is doubtful, in sentences", required=False),
    _text("method", "curve fitted in each budget"),
    _text("x", "what curves are fitted against"),
    _text("compute", "what C of a budget is"),
    *_CONTEXT,
)
_BAND = (
    _value("predicted", "forecast", required=False),
    _value("low", "lower end of its band", required=False),
    _value("high", "upper end of its band", required=False),
    _number("level", "level of the band", required=False),
    Column("interval", "text", "how the band was got", required=False),
)
_RATIO = (
    _number("flops", "C of the forecast", "FLOP"),
    _number("ratio", "C over the largest that was fitted"),
)
_FORECASTS = (
    *_RATIO,
    Column("beyond_walk_forward", "flag", "whether it is further than walk-forward tests"),
    Column("run", "text", "held-out runs, separated by spaces", required=False),
    *_BAND,
    Column("measured", "text", "every value measured there, in the metric's unit", required=False),
    _value("counted", "the measured value that the error is of", required=False),
    Column("rule", "text", "how it comes from those measured", required=False),
    _number("error_pct", "(counted - predicted) / predicted", "%", required=False),
    Column("covered", "flag", "whether the band holds it", required=False),
    _value("run_noise", "standard deviation between seeds of held-out runs", required=False),
    _value("noise_low", "lower end of the band with that noise", required=False),
    _value("noise_high", "upper end of the band with that noise", required=False),
    *_CONTEXT,
)
_LAW = (
    *_RATIO,
    *_BAND,
    _value("E", "irreducible loss of L* = E + A C^-alpha"),
    _number("A", "of the law, C in FLOP"),
    _number("alpha", "of the law"),
    _text("described", "how the law was got"),
    *_CONTEXT,
)
_FORECAST = (
    _number("fraction", "of training, by tokens; the 20 multiples of 5 % and every evaluation"),
    _number("step", "step of the evaluation, zero-based as logged", "steps", required=False),
    *_BAND[:3],
    _value("actual", "measured value", required=False),
    _number("error_pct", "(actual - predicted) / predicted", "%", required=False),
    Column("covered", "flag", "whether the band holds what was measured", required=False),
    _number("score", "interval score of the band", "%", required=False),
    _text("snapshot", "id of the snapshot it was made from"),
    _text("target", "what is forecast"),
    _text("metric", "metric, as logged"),
    _text("described", "how the forecast was got"),
)
_TOKENS_PER_PARAM = _number("tokens_per_param", "tokens per parameter")
_PLAN = (
    _RATIO[0],
    _RATIO[1],
    _number("params", "size to train", "parameters"),
    _number("tokens", "tokens to train on", "tokens"),
    _TOKENS_PER_PARAM,
    *_BAND,
    _number("optimal_params", "N* by its law", "parameters"),
    _number("params_low", "lower end of its band", "parameters", required=False),
    _number("params_high", "upper end of its band", "parameters", required=False),
    _number("optimal_tokens", "D* by its law", "tokens"),
    _number("tokens_low", "lower end of its band", "tokens", required=False),
    _number("tokens_high", "upper end of its band", "tokens", required=False),
    _number("spent", "share of C that N* and D* would spend together"),
    *_CONTEXT,
    _text("method", "curve of the optima, and how the law is fitted"),
)
_DEVIATIONS = (
    _number("overtraining", "tokens per parameter over those of the optimum"),
    _number("size_ratio", "size over that of the optimum"),
    _value("above", "predicted loss above that of the optimum"),
    _number("deadweight_flops", "C - C' where L*(C') is that loss", "FLOP"),
    _number("deadweight_pct", "the same, of C", "%"),
    Column("extrapolated", "flag", "whether no run fitted was as far off its optimum"),
)
_RECIPE = tuple(
    _number(f"recipe_{name}", f"of Delphi's recipe: {name.replace('_', ' ')}", unit, required=False)
    for name, unit in (UNITS | {"tokens_per_param": "", "predicted": VALUE_UNIT}).items()
) + tuple(
    replace(c, name=f"recipe_{c.name}", about=f"of Delphi's recipe: {c.about}", required=False)
    for c in _DEVIATIONS
)
_LADDERS = (_text("ladder", "ladder"), _text("base", "ladder it is held against"))
_ENDS = (
    _number("low", "lower end of its interval", required=False),
    _number("high", "upper end of its interval", required=False),
    _number("level", "level of the interval", required=False),
    Column("interval", "text", "how the interval was got", required=False),
)
_COMPARED = (
    _text("snapshot", "id of the snapshot it was made from"),
    _text("metric", "metric, as logged"),
    _text("method", "curve of the optima"),
)
_RECIPE_OPTIMA = (_LADDERS[0], *_OPTIMA[:5], *_COMPARED)
_RECIPE_LAWS = (
    _LADDERS[0],
    _value("E", "irreducible loss of L* = E + A C^-alpha", required=False),
    _value("E_low", "lower end of its interval", required=False),
    _value("E_high", "upper end of its interval", required=False),
    _number("A", "of the law, C in FLOP", required=False),
    _number("alpha", "of the law", required=False),
    _number("alpha_low", "lower end of its interval", required=False),
    _number("alpha_high", "upper end of its interval", required=False),
    *_ENDS[2:],
    Column("budgets", "integer", "budgets fitted", required=False),
    Column("runs", "integer", "runs fitted", "runs", required=False),
    _number("largest_flops", "largest C fitted", "FLOP", required=False),
    Column("notes", "text", "what is doubtful, or why there is no law", required=False),
    *_COMPARED,
)
_SPEED_UP = (
    *_LADDERS,
    _text("at", "law, or optima: at the measured optima of its budgets"),
    _number("flops", "C of the ladder", "FLOP"),
    _value("loss", "loss it has there"),
    _number("base_flops", "C that the base needs for that loss", "FLOP", required=False),
    _number("speed_up", "base_flops / flops", required=False),
    *_ENDS,
    _number("share", "flops / base_flops", required=False),
    _number("beyond", "the larger of both C over what each law was fitted up to", required=False),
    *_COMPARED,
)
_PAIRS = (
    *_LADDERS,
    *(c for c in RECORDS.columns if c.name in ("hidden_dim", "tokens", "batch_size", "flops")),
    _number("base_flops", "C of the base's run", "FLOP"),
    _text("run", "run of the ladder"),
    _text("base_run", "run of the base with the same settings"),
    _value("value", "final value of the ladder's run"),
    _value("base_value", "final value of the base's run"),
    _value("difference", "base_value - value"),
    Column("ahead", "flag", "whether the ladder's run is the better one"),
    *_COMPARED,
)
_RECIPE_PUBLISHED = (
    _text("id", "id of the law"),
    *(replace(c, unit=VALUE_UNIT) if c.name == "E" else c for c in PUBLISHED_LAWS.columns),
    _value("loss", "loss by the law at the compute spoken of"),
    _number("speed_up", "over the base's fitted law", required=False),
    Column("base_id", "text", "the base's published law of the same E", required=False),
    Column("base_what", "text", "which fit that is", required=False),
    _number("published_speed_up", "over that law", required=False),
    Column("optimal", "flag", "whether its runs are compute-optimal"),
    *_COMPARED,
)
_PUBLISHED = tuple(
    replace(c, unit=VALUE_UNIT) if c.name == "loss_at_optimal" else c
    for c in PUBLISHED_OPTIMA.columns
)

COLUMNS: dict[str, tuple[Column, ...]] = {
    **{name: table.columns for name, table in TABLES.items()},
    "isoflop-points": _POINTS,
    "isoflop-optima": (*_OPTIMA, *_PUBLISHED),
    "scaling-points": _POINTS,
    "scaling-optima": (*_OPTIMA, *_PUBLISHED),
    "scaling-forecasts": _FORECASTS,
    "scaling-law": _LAW,
    "trajectories-forecast": _FORECAST,
    "recipes-optima": _RECIPE_OPTIMA,
    "recipes-laws": _RECIPE_LAWS,
    "recipes-speed-up": _SPEED_UP,
    "recipes-pairs": _PAIRS,
    "recipes-published": _RECIPE_PUBLISHED,
    "planner-plan": (*_PLAN, *_RECIPE),
    "planner-valley": (*_PLAN, *_DEVIATIONS),
}
"""Columns by the name a table has in its data address; a table may lack some of them."""


def described_columns(
    table: str, names: Iterable[str], *, value_unit: str = "", x_unit: str = ""
) -> list[dict[str, str]]:
    """What the columns of a table hold, in order, ready for JSON.

    Parameters
    ----------
    table
        Its name in its data address.
    names
        Of its columns.
    value_unit
        Unit of the metric, where it is of one.
    x_unit
        Of what curves are drawn against, where there are any.

    Returns
    -------
    list of dict
        name, description, unit (empty where there is none) and type (text, number, integer, flag
        or date); a column that is not known has empty texts.
    """
    units = {VALUE_UNIT: value_unit, X_UNIT: x_unit}
    known: dict[str, Column] = {}
    for column in COLUMNS.get(table, ()):
        known.setdefault(column.name, column)
    found = []
    for name in names:
        own = known.get(name)
        about, unit, kind = (own.about, own.unit, own.kind) if own else ("", "", "")
        entry = {"name": name, "description": about, "unit": units.get(unit, unit), "type": kind}
        found.append(entry)
    return found
