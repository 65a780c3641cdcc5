"""The On record tab of the Trajectories page: published forecasts of every ladder, scored."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from delphi_core.figures.ledger import drawn_forecasts
from delphi_core.ledger import AS_PRINTED, BESIDE, ledger_scores
from delphi_core.spreadsheet import spreadsheet_csv
from delphi_core.web.charts import show_chart
from delphi_core.web.messages import plain
from delphi_core.web.trajectory_charts import record_chart
from delphi_core.web.trajectory_fits import ledger
from delphi_core.words import count, flops_words

if TYPE_CHECKING:
    import pandas as pd

    from delphi_core.snapshot import Snapshot
    from delphi_core.web.trajectory_fits import Shown
    from delphi_core.web.trajectory_view import TrajectoryView

_NUMBER, _TEXT = st.column_config.NumberColumn, st.column_config.TextColumn
_CHECK = st.column_config.CheckboxColumn
_SCORES = {
    "preregistered": _CHECK("preregistered"),
    "ratio": _TEXT("extrapolation ratio"),
    "forecasts": _NUMBER("forecasts"),
    "outcomes": _NUMBER("with an outcome"),
    "runs": _NUMBER("of runs or budgets"),
    "mean_abs_error_pct": _NUMBER("mean absolute error (%)", format="%.2f"),
    "max_abs_error_pct": _NUMBER("largest (%)", format="%.2f"),
}
_ROWS = {
    "run": _TEXT("run"),
    "percent": _NUMBER("training (%)", format="%.0f"),
    "compute": _TEXT("compute"),
    "predicted": _NUMBER("forecast", format="%.4f"),
    "actual": _NUMBER("measured", format="%.4f"),
    "error_pct": _NUMBER("error (%)", format="%+.2f"),
    "ratio": _NUMBER("extrapolation ratio", format="%.3g"),
    "preregistered": _CHECK("preregistered"),
    "made": _TEXT("made"),
    "method": _TEXT("method"),
    "fitted_on": _TEXT("fitted on"),
    "error_from": _TEXT("error"),
    "outcome_from": _TEXT("outcome"),
    "ladder": _TEXT("ladder"),
}


def record(snapshot: Snapshot, view: TrajectoryView, shown: Shown) -> None:
    """Every published forecast, its outcome, and scores by extrapolation ratio."""
    del shown
    table = ledger(snapshot)
    if not len(table):
        st.info("This snapshot holds no published forecasts (published_forecasts.csv).")
        return
    figure, alt = record_chart(table)
    finding = "Published forecasts, and how far off them lies what was measured"
    show_chart(figure, snapshot, view, alt=alt, key="record_chart", finding=finding)
    st.markdown("\n".join(f"- {plain(line)}" for line in _lines(table)))
    show = partial(st.dataframe, hide_index=True, placeholder="–")
    scores = "Scores by extrapolation ratio"
    show(ledger_scores(table), key="record_scores", column_config=_SCORES, alt=scores)
    # What reaches furthest, was preregistered and has an outcome stands first.
    first = table.assign(met=table["error_pct"].notna(), about=table["ratio"].round(3)).sort_values(
        ["preregistered", "met", "about", "flops"],
        ascending=[False, False, False, True],
        kind="stable",
    )
    rows = first.assign(
        percent=100 * first["fraction"],
        compute=[flops_words(flops) for flops in first["flops"]],
        run=first["run"].fillna("(optimum of a budget)"),
    ).reindex(columns=list(_ROWS))
    show(rows, key="record_table", column_config=_ROWS, alt="Every published forecast")
    content = partial(_csv, table.assign(snapshot=snapshot.id))
    name = f"forecasts_on_record_{snapshot.id}.csv"
    st.download_button(
        "All of it as CSV", content, name, "text/csv", key="record_csv", on_click="ignore"
    )
    st.markdown(
        plain(
            "The same from a shell: python -m delphi_core ledger; a forecast of one's own goes on "
            "record with forecast-freeze, and forecast-check holds it to that."
        )
    )


def _lines(table: pd.DataFrame) -> list[str]:
    drawn = drawn_forecasts(table)
    met = int(table["error_pct"].notna().sum())
    printed = int((table["error_from"] == AS_PRINTED).sum())
    unknown = int((table["error_pct"].notna() & table["ratio"].isna()).sum())
    published = count(len(table), "published forecast")
    lines = [
        (
            f"All ladders, whatever the target above: {published}, {met} with an outcome. "
            f"{len(drawn)} of those reach beyond what they were fitted on and are drawn, "
            "preregistered ones (made before the run) filled. Error is (measured - forecast) / "
            "forecast."
        ),
        (
            "The ratio is the forecast's compute over the largest that was fitted: of the budgets "
            "or runs its method names, of the target's rungs at the same fraction of training, "
            "or, for a run held out of a sweep, of that sweep."
        ),
        (
            f"Of a live run, measured is read between its evaluations within {100 * BESIDE:g} % "
            "of training on either side. Forecasts of one run are not independent of each other."
        ),
    ]
    if printed:
        lines.append(
            f"Of {count(printed, 'forecast')} only the deviation was printed, to its one digit, "
            "not the forecast itself."
        )
    if unknown:
        lines.append(
            f"Of {count(unknown, 'forecast')} with an outcome the snapshot does not tell what it "
            "was fitted on: in the tables only."
        )
    return lines


def _csv(table: pd.DataFrame) -> str:
    return spreadsheet_csv(table)
