"""The charts of the Scaling law page, as its tabs show them and as cards of links draw them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from delphi_core import law_tables
from delphi_core.figures import law_words
from delphi_core.figures.asymptote import asymptote_figure
from delphi_core.figures.loss_law import loss_law_figure
from delphi_core.figures.size_law import size_law_figure
from delphi_core.figures.walk_forward import walk_forward_figure
from delphi_core.published import published_loss_laws, published_size_laws
from delphi_core.web.downloads import published_optima
from delphi_core.web.fit_cache import cached_fit
from delphi_core.web.scaling_fits import law_method, profiled, scaling_fitted, walked_forward
from delphi_core.web.scaling_view import PUBLISHED

if TYPE_CHECKING:
    import pandas as pd
    import plotly.graph_objects as go

    from delphi_core.fits.loss_law import LossLaw
    from delphi_core.snapshot import Snapshot
    from delphi_core.web.scaling_fits import Fitted
    from delphi_core.web.scaling_view import ScalingView

    Chart = tuple[go.Figure, str]


def chart_of(snapshot: Snapshot, view: ScalingView) -> Chart:
    """The chart of a view's tab and what it says in words; of a tab without one, the loss law."""
    chart = None
    if view.tab == "size":
        chart = size_chart(snapshot, view, "tokens")
    elif view.tab == "asymptote":
        law = profiled(snapshot, view.fit)
        chart = None if law is None else asymptote_chart(snapshot, view, law)
    elif view.tab == "walk-forward" and view.method != PUBLISHED:
        chart = walk_forward_chart(snapshot, view)
    return chart or loss_chart(snapshot, view)


def loss_chart(snapshot: Snapshot, view: ScalingView) -> Chart:
    """Loss against compute, and what it says in words."""
    return _loss_chart(snapshot, replace(view, zoom="", tab="loss"))


# Half the time of a rerun if made anew.
@cached_fit(max_entries=200, show_spinner=False)
def _loss_chart(snapshot: Snapshot, view: ScalingView) -> Chart:
    fitted = scaling_fitted(snapshot, view.fit)
    laws = published_loss_laws(snapshot, view.ladder, view.metric) if view.published else None
    figure = loss_law_figure(
        fitted.law,
        fitted.optima,
        fitted.held_out,
        value_title=snapshot.value_title(view.metric),
        target=view.target_flops,
        published_laws=laws,
        published_optima=_laid_over(snapshot, view),
        y=view.y,
    )
    alt = law_words.loss_law_alt(fitted.law, fitted.optima, fitted.held_out, view.target_flops)
    return figure, alt


def size_chart(
    snapshot: Snapshot, view: ScalingView, quantity: Literal["tokens", "params"]
) -> Chart:
    """Optimal tokens or parameters against compute, and what it says in words."""
    fitted = scaling_fitted(snapshot, view.fit)
    column = snapshot.ladder(view.ladder).params_column
    law = fitted.token_law if quantity == "tokens" else fitted.params_law
    laws = published_size_laws(snapshot, view.ladder, view.metric) if view.published else None
    figure = size_law_figure(
        law,
        fitted.optima,
        quantity,
        size=column,
        target=view.target_flops,
        published_laws=laws,
        published_optima=_laid_over(snapshot, view),
    )
    return figure, law_words.size_law_alt(law, fitted.optima, quantity, column)


def asymptote_flops(view: ScalingView, law: LossLaw, fitted: Fitted) -> float:
    """Compute at which the profile of E says what it makes of the forecast, FLOP."""
    if fitted.held_out:
        return fitted.held_out[-1].flops
    return view.target_flops or 10 * law.largest_flops


def asymptote_chart(snapshot: Snapshot, view: ScalingView, law: LossLaw) -> Chart | None:
    """The profile of E, and what it says in words; None where there is none.

    Parameters
    ----------
    snapshot, view
        What is shown.
    law
        The law of the view's fit with E free.
    """
    if law.profile is None:
        return None
    fitted = scaling_fitted(snapshot, view.fit)
    flops = asymptote_flops(view, law, fitted)
    figure = asymptote_figure(
        law,
        law.profile,
        flops=flops,
        measured=fitted.held_out[-1].measured if fitted.held_out else None,
        pinned=view.pinned,
        unit=snapshot.unit(view.metric),
    )
    return figure, law_words.asymptote_alt(law, law.profile, flops)


def walk_forward_chart(snapshot: Snapshot, view: ScalingView) -> Chart | None:
    """Errors of forecasts from fewer budgets, and what they say in words; None without any."""
    rows = walked_forward(snapshot, view.fit)
    if not len(rows):
        return None
    method = law_method(view.fit).name
    # Walk-forward fits E at every cut, so the held-out runs beside it are held against such a law.
    law = profiled(snapshot, view.fit)
    held_out = None
    if law is not None:
        measured = scaling_fitted(snapshot, view.fit).held_out
        held_out = law_tables.held_out_table(law, measured).dropna(subset="error_pct")
    figure = walk_forward_figure(rows, method, held_out)
    return figure, law_words.walk_forward_alt(rows, method)


def _laid_over(snapshot: Snapshot, view: ScalingView) -> pd.DataFrame | None:
    """Published optima to lay over; not where they are what is fitted."""
    if not view.published or view.method == PUBLISHED:
        return None
    return published_optima(snapshot, view)
