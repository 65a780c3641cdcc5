"""What the Scaling law page shows under its controls: one function a tab."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import streamlit as st

from delphi_core import law_tables
from delphi_core.figures import law_words
from delphi_core.figures.asymptote import asymptote_figure
from delphi_core.figures.loss_law import loss_law_figure
from delphi_core.figures.size_law import size_law_figure
from delphi_core.figures.walk_forward import walk_forward_figure
from delphi_core.published import published_loss_laws, published_size_laws
from delphi_core.web import scaling_tables as tables
from delphi_core.web import scaling_words as words
from delphi_core.web import share
from delphi_core.web.charts import show_chart
from delphi_core.web.downloads import published_optima, scaling_forecasts
from delphi_core.web.messages import plain
from delphi_core.web.scaling_fits import (
    law_method,
    methods_fitted,
    profiled,
    walked_forward,
)
from delphi_core.web.scaling_view import PUBLISHED
from delphi_core.words import AMOUNTS

if TYPE_CHECKING:
    import pandas as pd

    from delphi_core.snapshot import Snapshot
    from delphi_core.web.scaling_fits import Fitted
    from delphi_core.web.scaling_view import ScalingView


def loss(snapshot: Snapshot, view: ScalingView, fitted: Fitted) -> None:
    """Loss against compute, the verdict, and the forecasts."""
    laws = published_loss_laws(snapshot, view.ladder, view.metric) if view.published else None
    figure = loss_law_figure(
        fitted.law,
        fitted.optima,
        fitted.held_out,
        value_title=snapshot.value_title(view.metric),
        target=view.target_flops,
        published_laws=laws,
        published_optima=_published_optima(snapshot, view),
        y=view.y,
    )
    alt = law_words.loss_law_alt(fitted.law, fitted.optima, fitted.held_out, view.target_flops)
    show_chart(figure, view, alt=alt, key="loss_chart", zoom=True)
    _lines(words.verdict(fitted, view.target_flops))
    if fitted.law is not None:
        table = scaling_forecasts(view, fitted, fitted.law)
        if len(table):
            tables.forecasts(table)
    if laws is not None and not len(laws):
        st.info("No published loss law of this ladder and metric is in the snapshot.")


def size(snapshot: Snapshot, view: ScalingView, fitted: Fitted) -> None:
    """Optimal tokens and parameters against compute."""
    column = snapshot.ladder(view.ladder).params_column
    laws = published_size_laws(snapshot, view.ladder, view.metric) if view.published else None
    quantities: tuple[Literal["tokens", "params"], ...] = ("tokens", "params")
    for place, quantity in zip(st.columns(2), quantities, strict=True):
        law = fitted.token_law if quantity == "tokens" else fitted.params_law
        figure = size_law_figure(
            law,
            fitted.optima,
            quantity,
            size=column,
            target=view.target_flops,
            published_laws=laws,
            published_optima=_published_optima(snapshot, view),
        )
        alt = law_words.size_law_alt(law, fitted.optima, quantity, column)
        show_chart(figure, view, alt=alt, key=f"{quantity}_chart", place=place)
    _lines(words.size_verdict(fitted, AMOUNTS[column], view.target_flops))
    tables.optima(fitted.optima, AMOUNTS[column])


def asymptote(snapshot: Snapshot, view: ScalingView, fitted: Fitted) -> None:
    """The profile of E."""
    law = profiled(snapshot, view.fit)
    if law is None or law.profile is None:
        st.info(
            "E has no profile here: "
            + plain(" ".join(fitted.problems) or "no degree of freedom is left to tell any E by.")
        )
        return
    last = fitted.held_out[-1] if fitted.held_out else None
    flops = last.flops if last else view.target_flops or 10 * law.largest_flops
    figure = asymptote_figure(
        law,
        law.profile,
        flops=flops,
        measured=last.measured if last else None,
        pinned=view.pinned,
        unit=snapshot.unit(view.metric),
    )
    alt = law_words.asymptote_alt(law, law.profile, flops)
    show_chart(figure, view, alt=alt, key="asymptote_chart")
    _lines(words.asymptote_verdict(snapshot.ladder(view.ladder), view, law, flops))


def methods(snapshot: Snapshot, view: ScalingView, fitted: Fitted) -> None:
    """Every method on the same rows."""
    if _only_published(view):
        return
    del fitted
    targets = [] if view.target_flops is None else [view.target_flops]
    tables.methods(law_tables.methods_table(methods_fitted(snapshot, view.fit), targets))
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
    rows = walked_forward(snapshot, view.fit)
    method = law_method(view.fit).name
    if not len(rows):
        st.info("Walk-forward needs five budgets with an optimum: four to fit and one to meet.")
        return
    # Walk-forward fits E at every cut, so the held-out runs beside it are held against such a law.
    law = profiled(snapshot, view.fit)
    held_out = None
    if law is not None:
        held_out = law_tables.held_out_table(law, fitted.held_out).dropna(subset="error_pct")
    figure = walk_forward_figure(rows, method, held_out)
    alt = law_words.walk_forward_alt(rows, method)
    show_chart(figure, view, alt=alt, key="walk_chart")
    lines = [words.CHOICE]
    if view.pinned is not None:
        lines.append(f"E is fitted at every cut; the pinned E of {view.pinned:g} plays no part.")
    if law is not None and fitted.held_out:
        lines.append(law.beyond_reach(fitted.held_out[-1].flops))
    _lines([line for line in lines if line])
    tables.walk_forward(rows)


def download(snapshot: Snapshot, view: ScalingView, fitted: Fitted) -> None:
    """Rows, optima and forecasts as CSV, and the code that gives the same law."""
    del fitted
    share.download_buttons(snapshot, view)
    st.markdown("CSV at full precision.")
    if view.method != PUBLISHED:
        st.markdown("The points fitted again give the same law, bit by bit:")
        x = snapshot.ladder(view.ladder).default_x
        st.code(words.refit_code(view, x), language="python")
    share.address_lines(snapshot, view)


SHOWN = {
    "loss": loss,
    "size": size,
    "asymptote": asymptote,
    "methods": methods,
    "walk-forward": walk_forward,
    "download": download,
}


def _published_optima(snapshot: Snapshot, view: ScalingView) -> pd.DataFrame | None:
    """Published optima to lay over; not where they are what is fitted."""
    if not view.published or view.method == PUBLISHED:
        return None
    return published_optima(snapshot, view)


def _only_published(view: ScalingView) -> bool:
    if view.method == PUBLISHED:
        st.info("Only optima of this metric are published, no runs: there is one way to fit them.")
    return view.method == PUBLISHED


def _lines(lines: list[str]) -> None:
    if lines:
        words_of = (line[:1].upper() + line[1:] for line in lines)
        st.markdown("\n".join(f"- {plain(line)}" for line in words_of))
