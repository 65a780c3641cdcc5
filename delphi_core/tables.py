"""What a ladder, run, evaluation, trajectory point and event are: columns, types, units.

Every table of a snapshot is declared here; `checks.py` reads text against the declarations.
"""

from __future__ import annotations

from delphi_core.schema import Column, Reference, Table

# Columns and references that several tables share.
_LADDER = Column("ladder", "text", "ladder the row belongs to")
_RUN = Column("run", "text", "name of the training run")
_METRIC = Column("metric", "text", "metric, as logged")
_SOURCE = Column("source", "text", "where the figures come from (sources.csv)")
_TO_LADDER = Reference(("ladder",), "ladders", ("ladder",))
_TO_METRIC = Reference(("metric",), "metrics", ("metric",))
_TO_SOURCE = Reference(("source",), "sources", ("source",))
_TO_RUN = Reference(("ladder", "run"), "runs", ("ladder", "run"))

ROLES = ("isoflop", "excluded", "heldout", "validation", "optimum", "rung", "target")
STATUSES = ("finished", "running", "crashed", "diverged", "stopped")
SIZE_COLUMNS = ("params", "active_params")
SEGMENT_KINDS = ("main", "cooldown branch", "cooldown", "context extension")


def _flops(about: str, *, required: bool = True) -> Column:
    return Column("flops", "number", about, "FLOP", required=required, above=0)


LADDERS = Table(
    "ladders",
    "ladder",
    (
        Column("ladder", "text", "id of the ladder"),
        Column("title", "text", "its name"),
        Column("kind", "text", "what it is for", choices=("isoflop", "optima", "trajectory")),
        Column("architecture", "text", "model architecture"),
        Column("optimizer", "text", "optimizer"),
        Column("params_column", "text", "which column sizes a run", choices=SIZE_COLUMNS),
        Column("flops_convention", "text", "what its FLOPs count"),
        Column("default_metric", "text", "metric shown first"),
        Column("pinned_asymptote", "number", "irreducible loss its authors pin", required=False),
        Column("about", "text", "one sentence on the ladder"),
    ),
    key=("ladder",),
    references=(Reference(("default_metric",), "metrics", ("metric",)),),
)

METRICS = Table(
    "metrics",
    "metric",
    (
        Column("metric", "text", "metric, as logged"),
        Column("title", "text", "its name"),
        Column("unit", "text", "nats/token or bits/byte"),
        Column("kind", "text", "scope", choices=("macro", "subset", "aggregate", "training")),
    ),
    key=("metric",),
)

RUNS = Table(
    "runs",
    "training run",
    (
        _LADDER,
        _RUN,
        Column("role", "text", "what the run is for", choices=ROLES),
        Column("excluded_reason", "text", "why the published fit left it out", required=False),
        Column("label", "text", "sweep label"),
        _flops("planned training FLOPs, as recorded"),
        Column("budget", "number", "nominal budget", "FLOP", required=False, above=0),
        Column("params", "number", "all parameters", "parameters", required=False, above=0),
        Column(
            "active_params", "number", "active parameters", "parameters", required=False, above=0
        ),
        Column("tokens", "number", "planned training tokens", "tokens", above=0),
        Column("hidden_dim", "integer", "width of the model", required=False, above=0),
        Column("layers", "integer", "number of layers", required=False, above=0),
        Column("batch_size", "integer", "batch size", "sequences", required=False, above=0),
        Column("steps", "integer", "planned steps", "steps", required=False, above=0),
        Column("seq_len", "integer", "sequence length", "tokens", required=False, above=0),
        Column("lr_peak", "number", "peak learning rate", required=False, above=0),
        Column(
            "lr_warmup",
            "number",
            "warm-up, as a fraction of training",
            required=False,
            at_least=0,
            at_most=1,
        ),
        Column(
            "lr_final",
            "number",
            "final learning rate, as a fraction of the peak",
            required=False,
            at_least=0,
            at_most=1,
        ),
        Column("seed", "integer", "random seed", required=False, at_least=0),
        Column("status", "text", "how the run ended", choices=STATUSES),
        Column(
            "progress",
            "number",
            "part of the plan that was trained",
            required=False,
            at_least=0,
            at_most=1,
        ),
        Column("url", "text", "page of the run", required=False),
        _SOURCE,
    ),
    key=("ladder", "run"),
    references=(_TO_LADDER, _TO_SOURCE),
)

EVALS = Table(
    "evals",
    "final value of a metric of a run",
    (
        _LADDER,
        _RUN,
        _METRIC,
        Column("value", "number", "final value, in the metric's unit"),
        _SOURCE,
    ),
    key=("ladder", "run", "metric"),
    references=(_TO_LADDER, _TO_RUN, _TO_METRIC, _TO_SOURCE),
)

TRAJECTORIES = Table(
    "trajectories",
    "evaluation during training",
    (
        _LADDER,
        _RUN,
        Column("segment", "text", "part of the run's lineage that logged it"),
        Column(
            "step", "integer", "step, zero-based as logged", "steps", required=False, at_least=0
        ),
        Column("tokens", "number", "tokens trained on by then", "tokens", at_least=0),
        _METRIC,
        Column("value", "number", "value, in the metric's unit"),
        _SOURCE,
    ),
    key=("ladder", "run", "segment", "step", "tokens", "metric"),
    references=(_TO_LADDER, _TO_RUN, _TO_METRIC, _TO_SOURCE),
)

SEGMENTS = Table(
    "segments",
    "part of a run's lineage",
    (
        _LADDER,
        _RUN,
        Column("segment", "text", "id of the part"),
        Column("first_step", "integer", "first step it owns", "steps", at_least=0),
        Column("last_step", "integer", "last step it owns", "steps", required=False, at_least=0),
        Column("kind", "text", "what it is", choices=SEGMENT_KINDS),
        Column("seq_len", "integer", "sequence length", "tokens", above=0),
        Column("comparable", "flag", "whether it is on the main line"),
    ),
    key=("ladder", "run", "segment"),
    references=(_TO_LADDER, _TO_RUN),
)

TARGETS = Table(
    "targets",
    "thing to forecast",
    (
        Column("target", "text", "id of the target"),
        _LADDER,
        _RUN,
        Column("rungs", "text", "runs it is forecast from, separated by spaces"),
        _METRIC,
        Column("pinned_E", "number", "irreducible loss its authors pin", required=False),
        Column("note", "text", "what to know", required=False),
    ),
    key=("target",),
    references=(
        _TO_LADDER,
        _TO_RUN,
        Reference(("ladder", "rungs"), "runs", ("ladder", "run"), listed=True),
        _TO_METRIC,
    ),
)

EVENTS = Table(
    "events",
    "thing that happened in a live run",
    (
        _LADDER,
        _RUN,
        Column("segment", "text", "part of the lineage", required=False),
        Column("step", "integer", "step it happened at", "steps", required=False, at_least=0),
        Column("utc", "date", "date or month", required=False),
        Column("kind", "text", "what kind of thing"),
        Column("text", "text", "what happened"),
        _SOURCE,
    ),
    references=(_TO_LADDER, _TO_RUN, _TO_SOURCE),
)

PUBLISHED_OPTIMA = Table(
    "published_optima",
    "published parabola and optimum",
    (
        _LADDER,
        _METRIC,
        Column("fit_set", "text", "what was fitted, and how"),
        _flops("budget of the optimum"),
        Column("optimal_tokens", "number", "D*", "tokens", required=False, above=0),
        Column("optimal_params", "number", "N*", "parameters", required=False, above=0),
        Column("loss_at_optimal", "number", "L*, in the metric's unit"),
        Column("a", "number", "of L = a x^2 + b x + c, x = log10 tokens", required=False),
        Column("b", "number", "of the same parabola", required=False),
        Column("c", "number", "of the same parabola", required=False),
        Column("token_min", "number", "fewest tokens fitted", "tokens", required=False, above=0),
        Column("token_max", "number", "most tokens fitted", "tokens", required=False, above=0),
        Column("params_rule", "text", "how N* was got", required=False),
        Column("a_under", "number", "curvature left of the optimum", required=False),
        Column("a_over", "number", "curvature right of the optimum", required=False),
        _SOURCE,
    ),
    key=("ladder", "metric", "fit_set", "flops"),
    references=(_TO_LADDER, _TO_METRIC, _TO_SOURCE),
)

PUBLISHED_FITS = Table(
    "published_fits",
    "published or derived coefficient",
    (
        _LADDER,
        Column("what", "text", "which fit"),
        Column("formula", "text", "its formula"),
        Column("coefficient", "text", "which coefficient"),
        Column("value", "number", "its value"),
        Column("status", "text", "published or derived"),
        _SOURCE,
    ),
    key=("ladder", "what", "formula", "coefficient"),
    references=(_TO_LADDER, _TO_SOURCE),
)

PUBLISHED_LAWS = Table(
    "published_laws",
    "law L = E + A C^-alpha",
    (
        Column("ladder", "text", "ladder, where the recipe has one here", required=False),
        Column("recipe", "text", "recipe the law is of"),
        _METRIC,
        Column("fraction", "number", "of training", required=False, above=0, at_most=1),
        Column("E", "number", "irreducible loss"),
        Column("A", "number", "of the law"),
        Column("alpha", "number", "of the law"),
        Column("status", "text", "published or recomputed"),
        Column("what", "text", "which fit", required=False),
        _SOURCE,
    ),
    references=(_TO_LADDER, _TO_METRIC, _TO_SOURCE),
)

PUBLISHED_FORECASTS = Table(
    "published_forecasts",
    "published forecast and how it came out",
    (
        _LADDER,
        Column("run", "text", "run that was forecast, where there is one", required=False),
        _METRIC,
        _flops("compute of the forecast"),
        Column("fraction", "number", "of training", above=0, at_most=1),
        Column("predicted", "number", "forecast value, where printed", required=False),
        Column("actual", "number", "measured value, where there is one", required=False),
        Column("made", "date", "date or month it was made"),
        Column("preregistered", "flag", "whether it was made before the run"),
        Column("method", "text", "how it was made"),
        _SOURCE,
    ),
    key=("ladder", "run", "metric", "flops", "fraction", "method"),
    references=(_TO_LADDER, _TO_RUN, _TO_METRIC, _TO_SOURCE),
)

SOURCES = Table(
    "sources",
    "source",
    (Column("source", "text", "key used by the other tables"), Column("url", "text", "address")),
    key=("source",),
)

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        LADDERS,
        METRICS,
        RUNS,
        EVALS,
        TRAJECTORIES,
        SEGMENTS,
        TARGETS,
        EVENTS,
        PUBLISHED_OPTIMA,
        PUBLISHED_FITS,
        PUBLISHED_LAWS,
        PUBLISHED_FORECASTS,
        SOURCES,
    )
}
"""Every table of a snapshot, by name."""
