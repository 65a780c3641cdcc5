"""What the Scaling law page shows under its controls: one function a tab."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import streamlit as st

from delphi_core.law_tables import methods_table
from delphi_core.published import published_loss_laws
from delphi_core.web import scaling_charts as charts
from delphi_core.web import scaling_tables as tables
from delphi_core.web import scaling_words as words
from delphi_core.web import share
from delphi_core.web.charts import show_chart
from delphi_core.web.code_block import show_code
from delphi_core.web.downloads import scaling_forecasts
from delphi_core.web.messages import plain
from delphi_core.web.scaling_fits import (
    methods_fitted,
    profiled,
    walked_forward,
)
from delphi_core.web.scaling_view import PUBLISHED
from delphi_core.words import AMOUNTS

if TYPE_CHECKING:
    from delphi_core.snapshot import Snapshot
    from delphi_core.web.scaling_fits import Fitted
    from delphi_core.web.scaling_view import ScalingView


def loss(snapshot: Snapshot, view: ScalingView, fitted: Fitted) -> None:
    """Loss against compute, the verdict, and the forecasts."""
    figure, alt = charts.loss_chart(snapshot, view)
    show_chart(figure, snapshot, view, alt=alt, key="loss_chart", zoom=True)
    _lines(words.verdict(fitted, view.target_flops))
    if fitted.law is not None:
        table = scaling_forecasts(view, fitted, fitted.law)
        if len(table):
            tables.forecasts(table)
    if view.published and not len(published_loss_laws(snapshot, view.ladder, view.metric)):
        st.info("No published loss law of this ladder and metric is in the snapshot.")


def size(snapshot: Snapshot, view: ScalingView, fitted: Fitted) -> None:
    """Optimal tokens and parameters against compute."""
    ladder = snapshot.ladder(view.ladder)
    quantities: tuple[Literal["tokens", "params"], ...] = ("tokens", "params")
    for place, quantity in zip(st.columns(2), quantities, strict=True):
        figure, alt = charts.size_chart(snapshot, view, quantity)
        amount = AMOUNTS["tokens" if quantity == "tokens" else ladder.params_column]
        finding = f"{ladder.title}: optimal {amount} against compute"
        show_chart(
            figure,
            snapshot,
            view,
            alt=alt,
            key=f"{quantity}_chart",
            place=place,
            # A view has one zoom: that of the chart on its card.
            zoom=quantity == quantities[0],
            finding=finding,
        )
    noun = AMOUNTS[ladder.params_column]
    _lines(words.size_verdict(fitted, noun, view.target_flops))
    tables.optima(fitted.optima, noun)


def asymptote(snapshot: Snapshot, view: ScalingView, fitted: Fitted) -> None:
    """The profile of E."""
    law = profiled(snapshot, view.fit)
    chart = None if law is None else charts.asymptote_chart(snapshot, view, law)
    if law is None or chart is None:
        st.info(
            "E has no profile here: "
            + plain(" ".join(fitted.problems) or "no degree of freedom is left to tell any E by.")
        )
        return
    figure, alt = chart
    finding = f"{snapshot.title(view.ladder)}: irreducible loss, and the forecast that hangs on it"
    show_chart(figure, snapshot, view, alt=alt, key="asymptote_chart", zoom=True, finding=finding)
    flops = charts.asymptote_flops(view, law, fitted)
    _lines(words.asymptote_verdict(snapshot.ladder(view.ladder), view, law, flops))


def methods(snapshot: Snapshot, view: ScalingView, fitted: Fitted) -> None:
    """Every method on the same rows."""
    if _only_published(view):
        return
    del fitted
    targets = [] if view.target_flops is None else [view.target_flops]
    tables.methods(methods_table(methods_fitted(snapshot, view.fit), targets))
    st.markdown(
        plain(
            "The same runs, fitted every way: optima by a curve in each budget or by one surface, "
            "and a law by log, squares or Huber. Errors are (measured - forecast) / forecast on "
            "held-out runs, which no method was chosen by."
        )
    )


def walk_forward(snapshot: Snapshot, view: ScalingView, fitted: Fitted) -> None:
    """Forecasts of later budgets from earlier ones."""
    if _only_published(view):
        return
    chart = charts.walk_forward_chart(snapshot, view)
    if chart is None:
        st.info("Walk-forward needs five budgets with an optimum: four to fit and one to meet.")
        return
    figure, alt = chart
    finding = f"{snapshot.title(view.ladder)}: errors of forecasts from fewer budgets"
    show_chart(figure, snapshot, view, alt=alt, key="walk_chart", zoom=True, finding=finding)
    law = profiled(snapshot, view.fit)
    lines = [words.CHOICE]
    if view.pinned is not None:
        lines.append(f"E is fitted at every cut; the pinned E of {view.pinned:g} plays no part.")
    if law is not None and fitted.held_out:
        lines.append(law.beyond_reach(fitted.held_out[-1].flops))
    _lines([line for line in lines if line])
    tables.walk_forward(walked_forward(snapshot, view.fit))


def download(snapshot: Snapshot, view: ScalingView, fitted: Fitted) -> None:
    """Rows, optima and forecasts as CSV, and the code that gives the same law."""
    del fitted
    share.download_buttons(snapshot, view)
    st.markdown("CSV at full precision.")
    if view.method != PUBLISHED:
        st.markdown("The points fitted again give the same law, bit by bit:")
        x = snapshot.ladder(view.ladder).default_x
        show_code(words.refit_code(view, x))
    share.address_lines(snapshot, view)


SHOWN = {
    "loss": loss,
    "size": size,
    "asymptote": asymptote,
    "methods": methods,
    "walk-forward": walk_forward,
    "download": download,
}


def _only_published(view: ScalingView) -> bool:
    if view.method == PUBLISHED:
        st.info("Only optima of this metric are published, no runs: there is one way to fit them.")
    return view.method == PUBLISHED


def _lines(lines: list[str]) -> None:
    if lines:
        words_of = (line[:1].upper() + line[1:] for line in lines)
        st.markdown("\n".join(f"- {plain(line)}" for line in words_of))
