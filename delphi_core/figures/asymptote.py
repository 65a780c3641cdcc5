"""The profile of E: how well every irreducible loss fits, and what it makes of the forecast."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots
from scipy.stats import t

from delphi_core.figures.theme import FITTED, GREY, MEASURED, TARGET, escaped, faint, lay_out
from delphi_core.words import flops_words

if TYPE_CHECKING:
    from delphi_core.fits.loss_law import LossLaw
    from delphi_core.fits.profile import Profile


def asymptote_figure(
    law: LossLaw,
    profile: Profile,
    *,
    flops: float,
    measured: float | None = None,
    pinned: float | None = None,
    unit: str = "",
) -> go.Figure:
    """Two panels over E: how much worse than the best it fits, and the forecast it leads to.

    Parameters
    ----------
    law
        The law whose E was profiled.
    profile
        That of E, with E free.
    flops
        Compute of the forecast, FLOP.
    measured
        What was measured there, if anything.
    pinned
        E to mark, where it is pinned; only where it is below every loss.
    unit
        Of the metric.
    """
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.08)
    level = profile.interval.level
    freedom = len(law.model.values) - law.model.parameters
    bound = float(t.ppf(0.5 + level / 2, freedom))
    worse = np.sqrt(profile.excess)
    forecasts = law.model.laws(profile.sums).predict(np.array([flops]))[:, 0]
    near = worse <= 3 * bound
    if pinned is not None:
        # As far as the pinned E, and one place further.
        best = law.band.best.asymptote[0]
        ends = np.searchsorted(profile.asymptotes, sorted((pinned, float(best))))
        near[max(ends[0] - 1, 0) : ends[1] + 1] = True
    near &= np.isfinite(forecasts)
    line = {"color": FITTED, "width": 2}
    x = profile.asymptotes[near]
    figure.add_trace(
        go.Scatter(
            x=x,
            y=worse[near],
            mode="lines",
            name="best law at each E",
            line=line,
            hovertemplate="E %{x:.4f}: %{y:.2f} standard errors<extra></extra>",
        ),
        row=1,
        col=1,
    )
    figure.add_trace(
        go.Scatter(
            x=x,
            y=forecasts[near],
            mode="lines",
            name=f"its forecast at {flops_words(flops)}",
            line=line | {"dash": "dash"},
            hovertemplate="E %{x:.4f}: L* %{y:.4f}<extra></extra>",
        ),
        row=2,
        col=1,
    )
    low, high = profile.interval.low, profile.interval.high
    figure.add_vrect(x0=low, x1=high, fillcolor=faint(FITTED), line_width=0, layer="below")
    figure.add_hline(
        y=bound,
        row=1,
        col=1,
        line={"color": GREY, "dash": "dot", "width": 1},
        annotation={"text": f"{100 * level:g} % interval"},
    )
    if measured is not None:
        figure.add_hline(
            y=measured,
            row=2,
            col=1,
            line={"color": MEASURED, "width": 1.5},
            annotation={"text": f"measured {measured:.4f}"},
        )
    if pinned is not None and pinned <= profile.asymptotes[-1]:
        # Beyond that no law has it, and a line there would press the curve flat.
        figure.add_vline(x=pinned, line={"color": TARGET, "width": 2, "dash": "dash"})
    words = f" ({escaped(unit)})" if unit else ""
    lay_out(figure, height=560, hovermode="closest")
    figure.update_xaxes(title_text=f"Irreducible loss E{words}", row=2, col=1)
    figure.update_xaxes(title_text="", row=1, col=1)
    figure.update_yaxes(title_text="Worse than the best (standard errors)", row=1, col=1)
    figure.update_yaxes(title_text=f"Forecast L*{words}", row=2, col=1)
    return figure
