"""What the Scaling law page says in words: headline, verdict, caption, file names."""

from __future__ import annotations

import re
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from delphi_core.fits.held_out import seed_noise
from delphi_core.fits.interval import METHOD_WORDS
from delphi_core.fits.law_choice import CHOSEN_ON, DEFAULT_METHOD
from delphi_core.fits.law_settings import DEFAULT_BAND
from delphi_core.web.messages import plain
from delphi_core.web.scaling_view import PUBLISHED
from delphi_core.web.sources import source_links
from delphi_core.words import amount_words, flops_words, ratio_words

if TYPE_CHECKING:
    from delphi_core.fits.loss_law import LossLaw
    from delphi_core.snapshot import Ladder, Snapshot
    from delphi_core.web.scaling_fits import Fitted
    from delphi_core.web.scaling_view import ScalingView

CHOICE = (
    f"The default method and band, {DEFAULT_METHOD.name} with the {METHOD_WORDS[DEFAULT_BAND]}, "
    "have the least interval score (90 % bands) of all methods and bands in walk-forward over "
    f"{', '.join(CHOSEN_ON)} (each ladder counts the same); held-out runs play no part in it. "
    "python -m delphi_core walk-forward makes the choice again and prints every score."
)
LAW_TITLES = {"log": "log(L − E)", "squares": "squares", "huber": "Huber"}
TAB_TITLES = {
    "loss": "Loss",
    "size": "Optimal size",
    "asymptote": "Irreducible loss",
    "methods": "Methods",
    "walk-forward": "Walk-forward",
    "download": "Download",
}


def headline(ladder: Ladder, fitted: Fitted, target: float | None) -> str:
    """The finding: the largest held-out run against its forecast, or else the forecast."""
    title, law = plain(ladder.title), fitted.law
    if law is None:
        return f"{title}: these rows determine no loss law"
    if fitted.held_out:
        last = fitted.held_out[-1]
        predicted = float(law.predict(last.flops).value)
        error = last.error_pct(predicted)
        return (
            f"{title}: loss {predicted:.3f} forecast at {flops_words(last.flops)}, "
            f"{last.measured:.3f} measured ({_signed(error)} %)"
        )
    if target is not None:
        predicted = float(law.predict(target).value)
        return f"{title}: loss {predicted:.3f} forecast at {flops_words(target)}"
    return f"{title}: what the loss law says of larger runs"


def verdict(fitted: Fitted, target: float | None) -> list[str]:
    """How the law met what was measured, and how far to believe it, one sentence a line."""
    law = fitted.law
    if law is None:
        return list(fitted.problems)
    lines = []
    inside = 0
    for item in fitted.held_out:
        forecast = law.predict(item.flops)
        inside += bool(forecast.low <= item.measured <= forecast.high)
        lines.append(
            f"At {flops_words(item.flops)}, {_times(law, item.flops)}: forecast "
            f"{_forecast(law, item.flops)}; measured {item.measured:.4f} ({item.rule}), "
            f"{_signed(item.error_pct(float(forecast.value)))} %, "
            f"{_place(item.measured, float(forecast.low), float(forecast.high))}."
        )
    if target is not None:
        # What was measured within three digits of the target stands above, with its error.
        measured = {flops_words(item.flops) for item in fitted.held_out}
        ending = "." if flops_words(target) in measured else "; not measured."
        lines.append(
            f"At {flops_words(target)}, {_times(law, target)}: forecast {_forecast(law, target)}"
            f"{ending}"
        )
    if fitted.held_out and law.band.method != "none":
        lines.append(f"The band holds {inside} of {len(fitted.held_out)} held-out budgets.")
    furthest = max(
        [item.flops for item in fitted.held_out] + ([target] if target else []), default=0
    )
    lines += [sentence] if (sentence := law.beyond_reach(furthest)) else []
    noise = seed_noise(fitted.held_out)
    if noise is not None:
        lines.append(
            f"Runs of one budget differ by {noise:.4f} between seeds (standard deviation over the "
            "held-out seeds); the band is that of the law and leaves this out, the table has both."
        )
    return lines + [doubt.sentence for doubt in law.doubts] + list(fitted.problems)


def size_verdict(fitted: Fitted, size: str, target: float | None) -> list[str]:
    """The laws of the optimal size, one a line."""
    lines = []
    for law in (fitted.token_law, fitted.params_law):
        if law is None:
            continue
        words = law.describe()
        if law.interval.method != "none":
            words += (
                f" {law.interval.level_words} interval of the exponent "
                f"{law.interval.low:.4f} to {law.interval.high:.4f} "
                f"({METHOD_WORDS[law.interval.method]})."
            )
        lines.append(words)
    if fitted.token_law and fitted.params_law and target is not None:
        tokens = float(fitted.token_law.predict(target))
        params = float(fitted.params_law.predict(target))
        lines.append(
            f"At {flops_words(target)}: {amount_words(tokens)} tokens and {amount_words(params)} "
            f"{size}, {tokens / params:.3g} tokens per parameter. 6 N D would be "
            f"{6 * tokens * params / target:.2f} of that compute: N* and D* are two laws, fitted "
            "apart."
        )
    return lines


def asymptote_verdict(ladder: Ladder, view: ScalingView, law: LossLaw, flops: float) -> list[str]:
    """What E is, how far it is known, and what it makes of the forecast."""
    profile = law.profile
    if profile is None:
        return []
    low, high = profile.interval.low, profile.interval.high
    best = float(law.band.best.asymptote[0])
    known = (
        f"E {best:.4f}, {profile.interval.level_words} interval {low:.3f} to {high:.3f} by its "
        "profile: every E in it fits these rows about equally well, each with its own A and alpha."
    )
    ends = law.model.laws(profile.allowed).predict(np.array([flops]))[:, 0]
    moves = (
        f"Over that interval the forecast at {flops_words(flops)}, {_times(law, flops)}, goes from "
        f"{ends.min():.4f} to {ends.max():.4f}. Pin E above to see one."
    )
    lines = [known, moves]
    if view.pinned is not None:
        where = f"{'inside' if low <= view.pinned <= high else 'outside'} the interval"
        if view.pinned <= profile.asymptotes[-1]:
            where += " (dashed line)"
        elif view.pinned >= law.model.values.min():
            where = "where no law has it: losses lie at or below it"
        lines.append(f"E is pinned at {view.pinned:g}, {where}.")
    if ladder.pinned_asymptote:
        lines.append(f"Published laws of this ladder pin E at {ladder.pinned_asymptote}.")
    return lines + [doubt.sentence for doubt in law.doubts]


def percent(level: str) -> str:
    """A level as a control shows it."""
    return f"{100 * float(level):g} %"


def caption(snapshot: Snapshot, ladder: Ladder, view: ScalingView, fitted: Fitted) -> str:
    """What was fitted on what, as of when and from which source, in Markdown."""
    lines = [fit.describe() for fit in (fitted.law, fitted.surface) if fit is not None]
    if view.method == PUBLISHED:
        lines.append(
            "Optima as published: the snapshot holds no values of this metric for the ladder's own "
            "runs."
        )
    else:
        lines.append(fitted.isoflop.describe())
    lines.append(f"FLOPs: {ladder.flops_convention}. {snapshot.part(ladder.ladder).named}.")
    text = "  \n".join(plain(line) for line in lines)
    keys: set[str] = set()
    if view.method == PUBLISHED:
        optima = snapshot.tables["published_optima"]
        own = (optima["ladder"] == view.ladder) & (optima["metric"] == view.metric)
        keys = set(optima.loc[own, "source"])
    return f"{text} Sources: {source_links(snapshot, ladder, fitted.isoflop, keys)}."


def refit_code(view: ScalingView, x: str) -> str:
    """Python that fits the downloaded points again, to the same law."""
    fit = view.fit
    excluded = ", include_excluded=True" if fit.excluded else ""
    method = "parabola" if fit.method == "surface" else fit.method
    call = "fit_surface(isoflop" if fit.method == "surface" else "fit_loss_law(isoflop"
    tail = ").loss_law" if fit.method == "surface" else ")"
    pinned = "" if fit.asymptote is None else f", asymptote={fit.asymptote!r}"
    at = view.target_flops or 1e24
    return (
        "import delphi_core as dc\n"
        f"records = dc.read_records({file_stem(view) + '_points.csv'!r})\n"
        f"isoflop = dc.fit_isoflops(records, method={method!r}, x={x!r}, "
        f"compute={fit.compute!r}{excluded})\n"
        f"law = dc.{call}, law={fit.law!r}{pinned}, band={fit.band!r}, level={fit.level!r}{tail}\n"
        f"print(law.describe())\n"
        f"print(law.predict({at!r}))"
    )


def file_stem(view: ScalingView) -> str:
    """Name of a download of a view, without what it holds and without its ending."""
    parts = (view.ladder, view.metric, view.method, view.law)
    return "_".join(re.sub(r"[^A-Za-z0-9._-]+", "-", part) for part in parts)


def _signed(percent: float) -> str:
    return f"{percent:+.2f}".replace("-", "−")


def _times(law: LossLaw, flops: float) -> str:
    ratio = flops / law.largest_flops
    return f"{ratio_words(ratio)} times the largest budget fitted"


def _forecast(law: LossLaw, flops: float) -> str:
    forecast = law.predict(flops)
    low, high = float(forecast.low), float(forecast.high)
    if not isfinite(high):
        return f"{float(forecast.value):.4f} (no band)"
    return (
        f"{float(forecast.value):.4f} ({100 * forecast.level:g} % band {low:.4f} to {high:.4f}, "
        f"{100 * (high - low) / float(forecast.value):.2f} % wide)"
    )


def _place(measured: float, low: float, high: float) -> str:
    if not isfinite(high):
        return "and there is no band to hold it against"
    if measured < low:
        return "below the band"
    return "above the band" if measured > high else "inside the band"
