"""The figures of laws, as data."""

import html
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import delphi_core as dc
from delphi_core.figures import law_words
from delphi_core.figures.asymptote import asymptote_figure
from delphi_core.figures.loss_law import loss_law_figure
from delphi_core.figures.size_law import size_law_figure
from delphi_core.figures.walk_forward import walk_forward_figure
from delphi_core.fits.bands import BANDS
from delphi_core.fits.isoflop import IsoflopFit
from delphi_core.fits.law_methods import LawMethod
from delphi_core.law_tables import held_out_table
from delphi_core.published import published_loss_laws, published_size_laws
from delphi_core.words import amount_words, flops_words

MACRO = "eval/paloma/macro_loss"
BPB = "eval/paloma/c4_en/bpb"
LADDERS = ["delphi", "delphi-attempt-1", "moe-v16"]
CUBIC = LawMethod("cubic", "squares")
HOSTILE = '<img src=x onerror="alert(1)"><a href="javascript:alert(1)">x</a>'
LAW = ("law, fitted", "law, extrapolated")


@pytest.fixture(scope="module")
def fits(snapshot):
    """Ladder to its IsoFLOP fit with cubics."""
    return {
        ladder: dc.fit_isoflops(
            snapshot.records(ladder, MACRO), method="cubic", x=snapshot.ladder(ladder).default_x
        )
        for ladder in LADDERS
    }


def parts(fits, ladder="delphi", **settings):
    """Law, optima and held-out runs of a ladder."""
    isoflop = fits[ladder]
    law = dc.fit_loss_law(isoflop, **settings)
    return law, dc.optima_of(isoflop), dc.held_out_runs(isoflop.points)


def traces(figure, name, *, below=False):
    """Traces of a name in the upper or the lower panel."""
    axis = "y2" if below else "y"
    return [t for t in figure.data if t.name == name and (t.yaxis or "y") == axis]


def texts(figure):
    """Everything in a figure that plotly reads as HTML."""
    found = [figure.layout[axis].title.text for axis in ("xaxis", "yaxis")]
    for trace in figure.data:
        found += [trace.name, trace.hovertemplate]
        for values in (trace.text, trace.customdata):
            found += [] if values is None else list(values)
    return [str(text) for text in found if text is not None]


@pytest.mark.parametrize(
    ("ladder", "band"),
    [
        (ladder, band)
        for ladder in LADDERS
        for band in BANDS
        if (ladder, band) != ("moe-v16", "stratified bootstrap")
    ],
)
def test_law_and_band_are_what_the_law_predicts(fits, ladder, band):
    law, optima, held_out = parts(fits, ladder, band=band)
    figure = loss_law_figure(law, optima, held_out, value_title="loss", target=1e24)
    for name in LAW:
        (trace,) = traces(figure, name)
        assert np.array_equal(trace.y, law.predict(trace.x).value)
    fitted, beyond = (traces(figure, name)[0] for name in LAW)
    assert max(fitted.x) == law.largest_flops == min(beyond.x)
    assert min(fitted.x) < optima.flops.min()
    assert max(beyond.x) > 1e24
    low, high = traces(figure, "90 % band")
    forecast = law.predict(low.x)
    assert np.array_equal(low.x, high.x)
    assert np.array_equal(low.y, forecast.low)
    assert np.array_equal(high.y, forecast.high)
    assert (low.fill, high.fill) == (None, "tonexty")


def test_optima_lie_where_they_were_found(fits):
    for ladder in LADDERS:
        law, optima, held_out = parts(fits, ladder)
        figure = loss_law_figure(law, optima, held_out, value_title="loss")
        (trace,) = traces(figure, "optimum of a budget")
        assert np.array_equal(trace.x, optima.flops)
        assert np.array_equal(trace.y, optima.losses)


@pytest.mark.parametrize("ladder", LADDERS)
def test_held_out_runs_carry_what_they_measured_and_how_far_off_the_forecast_was(fits, ladder):
    law, optima, held_out = parts(fits, ladder)
    figure = loss_law_figure(law, optima, held_out, value_title="loss")
    (trace,) = traces(figure, "held-out run, never fitted")
    rows = [
        (item, run, value)
        for item in held_out
        for run, value in zip(item.runs, item.values, strict=True)
    ]
    assert len(rows) > 0
    assert list(zip(trace.x, trace.y, strict=True)) == [(item.flops, v) for item, _, v in rows]
    for words, (item, run, value) in zip(trace.customdata, rows, strict=True):
        forecast = float(law.predict(item.flops).value)
        assert f"<b>{run}</b>" in words
        assert f"measured {value:.4f}" in words
        assert f"forecast {forecast:.4f}, {100 * (value / forecast - 1):+.2f} %" in words
    assert trace.hovertemplate == "%{customdata}<extra></extra>"


@pytest.mark.parametrize("ladder", LADDERS)
def test_one_run_of_each_budget_is_labelled_with_the_error_that_counts(fits, ladder):
    law, optima, held_out = parts(fits, ladder)
    figure = loss_law_figure(law, optima, held_out, value_title="loss")
    (trace,) = traces(figure, "held-out run, never fitted")
    labelled = [
        (x, y, text) for x, y, text in zip(trace.x, trace.y, trace.text, strict=True) if text
    ]
    errors = [item.error_pct(float(law.predict(item.flops).value)) for item in held_out]
    assert [text for _, _, text in labelled] == [f"{error:+.2f} %" for error in errors]
    assert [x for x, _, _ in labelled] == [item.flops for item in held_out]
    for (_, y, _), item in zip(labelled, held_out, strict=True):
        # The best of several sizes bears it itself; a mean over seeds is no run's own.
        assert y == (item.measured if item.rule.startswith("best") else max(item.values))


@pytest.mark.parametrize("ladder", LADDERS)
def test_the_lower_panel_is_percent_off_the_law(snapshot, fits, ladder):
    law, optima, held_out = parts(fits, ladder)
    laws = published_loss_laws(snapshot, ladder, MACRO)
    figure = loss_law_figure(
        law, optima, held_out, value_title="loss", target=1e24, published_laws=laws
    )
    upper = [trace for trace in figure.data if trace.yaxis == "y"]
    lower = [trace for trace in figure.data if trace.yaxis == "y2"]
    assert [trace.name for trace in lower] == [trace.name for trace in upper]
    for above, below in zip(upper, lower, strict=True):
        center = law.predict(above.x).value
        assert np.array_equal(below.x, above.x)
        assert below.y == pytest.approx(100 * (np.array(above.y) / center - 1), abs=1e-12)
        assert below.showlegend is False
        if "%{y" in (above.hovertemplate or ""):
            assert "% off the law" in below.hovertemplate
    for name in LAW:
        (trace,) = traces(figure, name, below=True)
        assert np.array_equal(trace.y, np.zeros(len(trace.x)))
    assert figure.layout.yaxis2.title.text == "Off the law (%)"


def test_the_target_is_a_star_with_its_band(fits):
    law, optima, held_out = parts(fits)
    figure = loss_law_figure(law, optima, held_out, value_title="loss", target=1e24)
    (star,) = traces(figure, "forecast at the target")
    forecast = law.predict(1e24)
    assert (star.x, star.y) == ((1e24,), (float(forecast.value),))
    assert star.marker.symbol == "star"
    assert star.y[0] + star.error_y.array[0] == pytest.approx(float(forecast.high))
    assert star.y[0] - star.error_y.arrayminus[0] == pytest.approx(float(forecast.low))
    (below,) = traces(figure, "forecast at the target", below=True)
    assert below.error_y.array[0] == pytest.approx(100 * float(forecast.high / forecast.value - 1))
    low, high = figure.layout.xaxis.range
    assert low < np.log10(optima.flops.min()) < 24 < high
    none = loss_law_figure(law, optima, held_out, value_title="loss")
    assert traces(none, "forecast at the target") == []


def test_a_law_without_a_band_draws_none(snapshot):
    records = snapshot.records("moe-aug-hero", MACRO)
    isoflop = dc.fit_isoflops(records, x="active_params")
    law, optima = dc.fit_loss_law(isoflop), dc.optima_of(isoflop)
    figure = loss_law_figure(law, optima, (), value_title="loss", target=1e24)
    assert not [trace for trace in figure.data if "band" in trace.name]
    (star,) = traces(figure, "forecast at the target")
    assert star.y[0] == float(law.predict(1e24).value)
    assert star.error_y.visible is False
    assert "band" not in law_words.loss_law_alt(law, optima, (), 1e24)


def test_a_band_that_too_few_resampled_rows_give_is_not_drawn(fits):
    law, optima, held_out = parts(fits)
    law = replace(law, band=replace(law.band, method="none", failed=990))
    figure = loss_law_figure(law, optima, held_out, value_title="loss", target=1e24)
    assert not [trace for trace in figure.data if "band" in trace.name]
    assert law.describe().endswith("no band: too few sets of resampled rows give a law.")


def test_without_a_law_the_figure_is_drawn_all_the_same(fits):
    _, optima, held_out = parts(fits)
    figure = loss_law_figure(None, optima, held_out, value_title="loss", target=1e24)
    names = [trace.name for trace in figure.data]
    assert names == ["optimum of a budget", "held-out run, never fitted"]
    assert set(figure.data[1].text) == {""}
    assert not any("forecast" in words for words in figure.data[1].customdata)
    words = law_words.loss_law_alt(None, optima, held_out, 1e24)
    assert words.endswith("No law is fitted.")
    nothing = loss_law_figure(None, optima.first(0), (), value_title="loss")
    assert [len(trace.x) for trace in nothing.data] == [0]


def test_the_value_axis_may_be_logarithmic(fits):
    made = parts(fits)
    linear = loss_law_figure(*made, value_title="loss").layout
    log = loss_law_figure(*made, value_title="loss", y="log").layout
    assert (linear.yaxis.type, log.yaxis.type) == ("linear", "log")
    assert 10 ** np.array(log.yaxis.range) == pytest.approx(linear.yaxis.range)
    # Percent may be negative: the lower panel stays linear.
    assert log.yaxis2.type in (None, "linear")
    assert linear.xaxis.type == linear.xaxis2.type == "log"


@pytest.mark.parametrize(("ladder", "number"), [("delphi", 2), ("moe-v16", 11)])
def test_published_laws_are_drawn_with_their_own_coefficients(snapshot, fits, ladder, number):
    law, optima, held_out = parts(fits, ladder)
    laws = published_loss_laws(snapshot, ladder, MACRO)
    figure = loss_law_figure(law, optima, held_out, value_title="loss", published_laws=laws)
    drawn = traces(figure, "published or recomputed laws")
    assert len(drawn) == len(laws) == number
    assert [trace.showlegend for trace in drawn] == [True] + [False] * (number - 1)
    for trace, row in zip(drawn, laws.to_dict("records"), strict=True):
        values = row["E"] + row["A"] * np.array(trace.x) ** -row["alpha"]
        assert trace.y == pytest.approx(values, rel=1e-14)
        assert f"{row['status']}: {row['what'] or 'law'}<br>{row['E']:g} + " in trace.text[0]
        assert f"C^-{row['alpha']:g}" in trace.text[0]
    assert not any("nan" in text for text in texts(figure))


def test_published_optima_are_drawn_where_they_were_published(snapshot, fits):
    law, optima, held_out = parts(fits)
    published = snapshot.tables["published_optima"].query("ladder == 'delphi'")
    published = published.dropna(subset=["flops", "loss_at_optimal", "optimal_tokens"])
    figure = loss_law_figure(law, optima, held_out, value_title="l", published_optima=published)
    (trace,) = traces(figure, "published optimum")
    assert list(trace.x) == published["flops"].to_list()
    assert list(trace.y) == published["loss_at_optimal"].to_list()
    sizes = size_law_figure(None, optima, "tokens", published_optima=published)
    (trace,) = traces(sizes, "published optimum")
    assert list(trace.y) == published["optimal_tokens"].to_list()


def test_names_cannot_mark_up_the_charts(snapshot):
    records = snapshot.records("delphi", MACRO)
    records["run"] = HOSTILE
    isoflop = dc.fit_isoflops(records, method="cubic")
    law, optima = dc.fit_loss_law(isoflop), dc.optima_of(isoflop)
    laws = published_loss_laws(snapshot, "delphi", MACRO).assign(what=HOSTILE, status=HOSTILE)
    sizes = published_size_laws(snapshot, "delphi", MACRO).assign(what=HOSTILE)
    published = snapshot.tables["published_optima"].query("ladder == 'delphi'")
    published = published.dropna(subset=["flops", "loss_at_optimal", "optimal_tokens"])
    laid = {"published_optima": published.assign(fit_set=HOSTILE), "target": 1e24}
    figures = [
        loss_law_figure(
            law,
            optima,
            dc.held_out_runs(isoflop.points),
            value_title=HOSTILE,
            published_laws=laws,
            **laid,
        ),
        size_law_figure(dc.fit_token_law(optima), optima, "tokens", published_laws=sizes, **laid),
        asymptote_figure(law, law.profile, flops=1e23, unit=HOSTILE),
    ]
    for figure, shown in zip(figures, (7 + 1, 3, 0), strict=True):
        found = texts(figure)
        assert not any("<img" in text or "<a " in text for text in found)
        assert sum(html.escape("<img src=x") in text for text in found) >= shown
    assert html.escape("<img") in figures[0].layout.yaxis.title.text
    for axis in ("xaxis2", "yaxis2"):
        title = figures[2].layout[axis].title.text
        assert "<img" not in title
        assert html.escape("<img") in title


def test_the_alt_text_of_a_loss_law_states_the_numbers(fits):
    law, optima, held_out = parts(fits)
    words = law_words.loss_law_alt(law, optima, held_out, 1e24)
    assert "against compute at 7 budgets: " in words
    for flops, loss in zip(optima.flops, optima.losses, strict=True):
        assert f"{loss:.4f} at {flops_words(flops)}" in words
    assert law.equation in words
    for item in held_out:
        forecast = law.predict(item.flops)
        assert (
            f"Forecast at {flops_words(item.flops)} {float(forecast.value):.4f}, 90 % band "
            f"{forecast.low:.4f} to {forecast.high:.4f}, measured {item.measured:.4f}."
        ) in words
    assert f"Forecast at 1 × 10²⁴ FLOP {float(law.predict(1e24).value):.4f}" in words


@pytest.mark.parametrize("ladder", LADDERS)
@pytest.mark.parametrize("law_by", ["log", "squares", "huber"])
def test_the_profile_of_e_is_least_at_e_and_shades_its_interval(fits, ladder, law_by):
    law, _, held_out = parts(fits, ladder, law=law_by)
    last = held_out[-1]
    figure = asymptote_figure(law, law.profile, flops=last.flops, measured=last.measured)
    worse, forecasts = figure.data
    assert worse.x[int(np.argmin(worse.y))] == law.asymptote
    assert min(worse.y) == pytest.approx(0, abs=1e-5)
    best = list(worse.x).index(law.asymptote)
    assert forecasts.y[best] == pytest.approx(float(law.predict(last.flops).value), rel=1e-8)
    assert np.array_equal(worse.x, forecasts.x)
    interval = law.profile.interval
    shaded = [shape for shape in figure.layout.shapes if shape.type == "rect"]
    assert {(shape.x0, shape.x1) for shape in shaded} == {(interval.low, interval.high)}
    assert {shape.xref for shape in shaded} == {"x", "x2"}
    # The interval ends where the curve crosses the dotted line.
    bound, measured = (shape.y0 for shape in figure.layout.shapes if shape.type == "line")
    assert measured == last.measured
    for end in (interval.low, interval.high):
        assert worse.y[list(worse.x).index(end)] == pytest.approx(bound, rel=0.02)
    inside = (np.array(worse.x) > interval.low) & (np.array(worse.x) < interval.high)
    assert (np.array(worse.y)[inside] <= bound * 1.02).all()


@pytest.mark.parametrize(
    ("pinned", "marked"), [(1.6, True), (0.0, True), (1.8, True), (3.5, False), (9e5, False)]
)
def test_a_pinned_e_is_marked_where_a_law_can_have_it(fits, pinned, marked):
    law, optima, _ = parts(fits)
    figure = asymptote_figure(law, law.profile, flops=1e23, pinned=pinned)
    lines = {shape.x0 for shape in figure.layout.shapes if shape.line.dash == "dash"}
    assert lines == ({pinned} if marked else set())
    # A line that no law reaches would stretch the axis until the curve is flat.
    places = [shape.x1 for shape in figure.layout.shapes if shape.xref in ("x", "x2")]
    assert max(places + list(figure.data[0].x)) < optima.losses.min()
    if marked:
        assert min(figure.data[0].x) <= pinned <= max(figure.data[0].x)


def test_the_alt_text_of_a_profile_states_the_numbers(fits):
    law, _, _ = parts(fits)
    words = law_words.asymptote_alt(law, law.profile, 1e23)
    interval = law.profile.interval
    assert f"best at {law.asymptote:.4f}" in words
    assert f"90 % interval {interval.low:.3f} to {interval.high:.3f}" in words
    ends = law.model.laws(law.profile.allowed).predict(np.array([1e23]))
    assert f"at 1 × 10²³ FLOP goes from {ends.min():.4f} to {ends.max():.4f}." in words


@pytest.fixture(scope="module")
def walked(snapshot):
    """Walk-forward of Delphi by two methods, a band each."""
    tables = [
        dc.walk_forward_all(
            snapshot.records("delphi", MACRO),
            IsoflopFit(),
            methods=[CUBIC, LawMethod("parabola", "log")],
            bands=[band],
        )
        for band in ("profile", "delta")
    ]
    return dict(zip(("profile", "delta"), tables, strict=True))


def test_error_bars_span_zero_exactly_where_the_band_held_the_optimum(walked):
    seen = set()
    for rows in walked.values():
        for method in rows["method"].unique():
            figure = walk_forward_figure(rows, method)
            own = rows[rows["method"] == method]
            (trace,) = traces(figure, f"{method}, with its band")
            assert list(trace.x) == own["ratio"].to_list()
            assert list(trace.y) == own["error_pct"].to_list()
            low = np.array(trace.y) - np.array(trace.error_y.arrayminus)
            high = np.array(trace.y) + np.array(trace.error_y.array)
            spans = ((low <= 0) & (high >= 0)).tolist()
            assert spans == own["covered"].to_list()
            seen |= set(spans)
    assert seen == {True, False}


def test_other_methods_stand_beside_and_held_out_runs_beyond(fits, walked):
    rows = walked["profile"]
    law, _, held_out = parts(fits)
    table = held_out_table(law, held_out, [1e24]).dropna(subset="error_pct")
    figure = walk_forward_figure(rows, CUBIC.name, table)
    others, own, beyond = figure.data
    assert len(own.x) == (rows["method"] == CUBIC.name).sum() == 6
    assert len(others.x) == len(rows) - len(own.x)
    assert list(beyond.y) == table["error_pct"].to_list()
    assert list(beyond.x) == table["ratio"].to_list()
    assert min(beyond.x) == pytest.approx(3.33, rel=0.01)
    forecasts = rows[rows["method"] == CUBIC.name].to_dict("records")
    for words, row in zip(own.text, forecasts, strict=True):
        assert f"forecast {row['predicted']:.4f}, optimum {row['optimum']:.4f}" in words
    shown = figure.layout.xaxis.tickvals
    assert (min(shown), max(shown)) == (1, 200)
    assert figure.layout.xaxis.type == "log"
    alone = walk_forward_figure(rows[rows["method"] == CUBIC.name], CUBIC.name)
    assert [trace.name for trace in alone.data] == [f"{CUBIC.name}, with its band"]


def test_the_alt_text_of_a_walk_forward_states_the_numbers(walked):
    rows = walked["profile"]
    words = law_words.walk_forward_alt(rows, CUBIC.name)
    own = rows[rows["method"] == CUBIC.name]
    for error in own["error_pct"]:
        assert f"{error:+.3f} % at ratio " in words
    assert words.count(" at ratio ") == len(own)
    assert law_words.walk_forward_alt(rows, "surface log").endswith("surface log: none.")


@pytest.mark.parametrize("ladder", LADDERS)
@pytest.mark.parametrize("quantity", ["tokens", "params"])
def test_size_laws_bands_and_optima_are_what_was_fitted(snapshot, fits, ladder, quantity):
    optima = dc.optima_of(fits[ladder])
    fit = dc.fit_token_law if quantity == "tokens" else dc.fit_params_law
    law, size = fit(optima), snapshot.ladder(ladder).params_column
    figure = size_law_figure(law, optima, quantity, size=size, target=1e24)
    (line,) = traces(figure, "law")
    assert np.array_equal(line.y, law.predict(line.x))
    low, high = traces(figure, "90 % band")
    assert np.array_equal(np.array([low.y, high.y]), np.array(law.band(low.x)))
    (points,) = traces(figure, "optimum of a budget")
    amounts = optima.tokens if quantity == "tokens" else optima.params
    assert np.array_equal(points.x, optima.flops)
    assert np.array_equal(points.y, amounts)
    (star,) = traces(figure, "at the target")
    assert (star.x, star.y) == ((1e24,), (float(law.predict(1e24)),))
    assert star.text == (amount_words(star.y[0]),)
    noun = "tokens" if quantity == "tokens" else size.replace("_", " ").replace("params", "param")
    assert noun in figure.layout.yaxis.title.text
    ends = 10 ** np.array(figure.layout.yaxis.range)
    assert ends[0] < amounts.min() < star.y[0] < ends[1]
    words = law_words.size_law_alt(law, optima, quantity, size)
    assert law.describe() in words
    for amount, flops in zip(amounts, optima.flops, strict=True):
        assert f"{amount_words(amount)} at {flops_words(flops)}" in words


@pytest.mark.parametrize(("quantity", "exponents"), [("tokens", [0.5744]), ("params", [0.3907])])
def test_published_size_laws_are_drawn(snapshot, fits, quantity, exponents):
    optima = dc.optima_of(fits["delphi"])
    laws = published_size_laws(snapshot, "delphi", MACRO)
    figure = size_law_figure(None, optima, quantity, published_laws=laws)
    drawn = traces(figure, "published law")
    own = laws[laws["quantity"] == quantity]
    assert len(drawn) == len(own)
    for trace, row in zip(drawn, own.to_dict("records"), strict=True):
        x = np.log10(trace.x)
        assert np.log10(trace.y) == pytest.approx(row["exponent"] * x + row["log10_coefficient"])
        assert trace.text[0] == f"{row['what']}<br>exponent {row['exponent']:.4f}"
    assert own["exponent"].to_list()[:1] == exponents


def test_without_a_size_law_or_sizes_the_figure_is_drawn_all_the_same(fits):
    optima = dc.optima_of(fits["delphi"])
    figure = size_law_figure(None, optima, "params", target=1e24)
    assert [trace.name for trace in figure.data] == ["optimum of a budget"]
    words = law_words.size_law_alt(None, optima, "params", "params")
    assert words.startswith("Optimal parameters against compute: ")
    unknown = replace(optima, params=np.full(len(optima), np.nan))
    assert [len(trace.x) for trace in size_law_figure(None, unknown, "params").data] == [0]


def test_two_optima_make_a_size_law_without_a_band(fits):
    optima = dc.optima_of(fits["delphi"]).first(2)
    figure = size_law_figure(dc.fit_token_law(optima), optima, "tokens", target=1e24)
    assert [trace.name for trace in figure.data] == ["law", "optimum of a budget", "at the target"]


def test_published_optima_alone_make_a_law_and_its_figure(snapshot):
    rows = snapshot.tables["published_optima"]
    rows = rows[(rows["ladder"] == "delphi") & (rows["metric"] == BPB)]
    optima = dc.published_optima_of(rows)
    law = dc.fit_loss_law(optima)
    figure = loss_law_figure(law, optima, (), value_title="bpb")
    (trace,) = traces(figure, "optimum of a budget")
    assert list(trace.x) == sorted(rows["flops"])
    assert len(traces(figure, "90 % band")) == 2
    assert pd.Series(trace.y).is_monotonic_decreasing
