"""The IsoFLOP figure, as data."""

import html
import json

import numpy as np
import pandas as pd
import pytest

import delphi_core as dc
from delphi_core.figures.isoflop import isoflop_figure
from delphi_core.figures.isoflop_extent import off_chart
from delphi_core.figures.isoflop_words import isoflop_alt

MACRO = "eval/paloma/macro_loss"
VIEWS = [
    ("delphi", "tokens", "parabola"),
    ("delphi-attempt-1", "params", "marin"),
    ("moe-v16", "active_params", "cubic"),
    ("moe-aug-hero", "active_params", "parabola"),
]


def fit_of(snapshot, ladder, x, method="parabola"):
    return dc.fit_isoflops(snapshot.records(ladder, MACRO), x=x, method=method)


def points_of(figure):
    """Run, x and y of every marker that stands for a run."""
    for trace in figure.data:
        if trace.customdata is not None:
            yield from zip(trace.customdata, trace.x, trace.y, strict=True)


@pytest.mark.parametrize(("ladder", "x", "method"), VIEWS)
def test_every_row_is_drawn_once_where_it_lies(snapshot, ladder, x, method):
    fit = fit_of(snapshot, ladder, x, method)
    column = "tokens" if x == "tokens" else "params"
    drawn = sorted(points_of(isoflop_figure(fit, value_title="loss")))
    rows = zip(fit.points["run"], fit.points[column], fit.points["value"], strict=True)
    assert drawn == sorted(rows)


@pytest.mark.parametrize(("ladder", "x", "method"), VIEWS)
def test_curves_are_the_fits_and_optima_lie_on_them(snapshot, ladder, x, method):
    fit = fit_of(snapshot, ladder, x, method)
    figure = isoflop_figure(fit, value_title="loss")
    column = "tokens" if x == "tokens" else "params"
    curves = [trace for trace in figure.data if (trace.name or "").endswith(", fitted")]
    budgets = [budget for budget in fit.budgets if budget.curve]
    assert len(curves) == len(budgets)
    for trace, budget in zip(curves, budgets, strict=True):
        assert trace.y == pytest.approx(budget.curve.predict(np.log10(trace.x)), abs=1e-12)
        assert np.log10(min(trace.x)) <= budget.curve.low + 1e-12
        assert np.log10(max(trace.x)) >= budget.curve.high - 1e-12
    optima = [trace for trace in figure.data if (trace.name or "").endswith(", optimum")]
    assert [trace.y[0] for trace in optima] == [b.loss_at_optimal for b in fit.optima]
    assert [trace.x[0] for trace in optima] == [getattr(b, f"optimal_{column}") for b in fit.optima]
    for trace, budget in zip(optima, fit.optima, strict=True):
        low = trace.x[0] - trace.error_x.arrayminus[0]
        high = trace.x[0] + trace.error_x.array[0]
        assert low >= budget.interval.low * (1 - 1e-12)
        assert high <= budget.interval.high * (1 + 1e-12)
        inside = (fit.points[column].min(), fit.points[column].max())
        if inside[0] <= budget.interval.low and budget.interval.high <= inside[1]:
            assert (low, high) == pytest.approx((budget.interval.low, budget.interval.high))


def test_a_curve_says_at_its_right_end_which_budget_it_is(snapshot):
    figure = isoflop_figure(fit_of(snapshot, "delphi", "tokens"), value_title="loss")
    curves = [trace for trace in figure.data if trace.mode == "lines+text"]
    said = [[text for text in trace.text if text] for trace in curves]
    assert [words[0].strip() for words in said] == [
        trace.legendgroup.removesuffix(" FLOP") for trace in curves
    ]
    assert len(said) == 7
    assert all(trace.text[-1] and trace.x[-1] == max(trace.x) for trace in curves)


def test_points_curve_and_optimum_of_a_budget_hide_together(snapshot):
    figure = isoflop_figure(fit_of(snapshot, "delphi", "tokens"), value_title="loss")
    groups = {}
    for trace in figure.data:
        if trace.legendgroup:
            groups.setdefault(trace.legendgroup, []).append(trace.name.partition(", ")[2])
    assert len(groups) == 7
    assert set(map(tuple, groups.values())) == {("", "fitted", "optimum")}


@pytest.mark.parametrize(("ladder", "x", "method"), VIEWS)
def test_axes_show_all_but_diverged_runs(snapshot, ladder, x, method):
    fit = fit_of(snapshot, ladder, x, method)
    figure = isoflop_figure(fit, value_title="loss")
    layout = figure.layout
    low, high = layout.yaxis.range
    hidden = fit.points[(fit.points["value"] < low) | (fit.points["value"] > high)]
    assert hidden["left_out_reason"].str.startswith("diverged").all()
    if ladder == "moe-aug-hero":
        assert off_chart(fit) == ["2 runs off the chart, at 11.76, 11.76."]
        names = [trace.name for trace in figure.data]
        assert "diverged, not fitted (off the chart)" in names
    else:
        assert off_chart(fit) == []
        assert hidden.empty
    assert layout.xaxis.type == "log"
    assert layout.xaxis.dtick is None
    ticks = np.log10(layout.xaxis.tickvals)
    assert 2 <= len(ticks) <= 20
    assert (ticks >= layout.xaxis.range[0]).all()
    assert (ticks <= layout.xaxis.range[1]).all()
    column = "tokens" if x == "tokens" else "params"
    places = np.log10(fit.points[column])
    assert layout.xaxis.range[0] < places.min() < places.max() < layout.xaxis.range[1]


def test_published_curves_run_through_their_optima(snapshot):
    metric = "eval/paloma/c4_en/bpb"
    published = snapshot.tables["published_optima"].query(
        "ladder == 'delphi' and metric == @metric"
    )
    fit = dc.fit_isoflops(snapshot.records("delphi", metric))
    figure = isoflop_figure(fit, value_title="bpb", published=published)
    dashed = [trace for trace in figure.data if (trace.name or "").endswith(", published")]
    assert len(dashed) == 7
    for trace, row in zip(dashed, published.to_dict("records"), strict=True):
        # The original is float32.
        assert min(trace.y) == pytest.approx(row["loss_at_optimal"], abs=1e-4)
        assert trace.x[int(np.argmin(trace.y))] == pytest.approx(row["optimal_tokens"], rel=0.1)
    assert not [trace for trace in figure.data if (trace.name or "").endswith(", optimum")]
    assert "Published optima: at 2.89 × 10¹⁸ FLOP 1.39 B tokens" in isoflop_alt(
        fit, published=published
    )


def test_names_of_runs_cannot_mark_up_the_chart(snapshot):
    records = snapshot.records("delphi", MACRO)
    hostile = '<img src=x onerror="alert(1)"><a href="javascript:alert(1)">x</a>'
    records["run"] = hostile
    records["excluded_reason"] = hostile
    figure = isoflop_figure(dc.fit_isoflops(records), value_title=hostile)
    text = json.dumps([list(trace.text) for trace in figure.data if trace.text is not None])
    assert "<img" not in text
    assert "<a " not in text
    assert html.escape("<img src=x") in text
    assert "<img" not in figure.layout.yaxis.title.text


def test_alt_states_the_numbers(snapshot):
    words = isoflop_alt(fit_of(snapshot, "delphi", "tokens", "marin"))
    assert "at 7 compute budgets" in words
    assert "at 2.89 × 10¹⁸ FLOP 1.48 B tokens, 358 M parameters, value 3.586" in words
    attempt = isoflop_alt(fit_of(snapshot, "delphi-attempt-1", "tokens"))
    assert "at 8 compute budgets" in attempt
    assert attempt.count(", value ") == 7


def test_one_budget_and_nothing_but_left_out_rows_still_make_a_figure(snapshot):
    records = snapshot.records("delphi", MACRO)
    heldout = dc.fit_isoflops(records[records["role"] == "heldout"])
    assert len(list(points_of(isoflop_figure(heldout, value_title="loss")))) == 7
    assert "No budget has an optimum" in isoflop_alt(heldout)
    one = dc.fit_isoflops(records[records["budget"] == 3e18])
    figure = isoflop_figure(one, value_title="loss")
    assert all(trace.showlegend for trace in figure.data if trace.customdata is not None)


def test_sizes_of_mixtures_of_experts_are_said_to_be_active(snapshot):
    fit = fit_of(snapshot, "moe-v16", "tokens")
    figure = isoflop_figure(fit, value_title="loss", size="active_params")
    texts = [text for trace in figure.data if trace.customdata is not None for text in trace.text]
    assert all("active parameters" in text for text in texts)
    assert "tokens per active parameter<br>" in texts[0]
    assert "122 M active parameters" in isoflop_alt(
        fit_of(snapshot, "moe-v16", "active_params"), "active_params"
    )


def test_left_out_runs_look_different_by_reason(snapshot):
    for ladder, kinds in (("moe-v16", 3), ("moe-aug-hero", 2), ("delphi-attempt-1", 2)):
        fit = fit_of(snapshot, ladder, "tokens")
        figure = isoflop_figure(fit, value_title="loss")
        left = [trace for trace in figure.data if "not fitted" in (trace.name or "")]
        assert len({trace.marker.symbol for trace in left}) == len(left) == kinds


def test_optima_have_the_colour_of_their_budget(snapshot):
    fit = fit_of(snapshot, "delphi-attempt-1", "tokens")
    figure = isoflop_figure(fit, value_title="loss")
    optima = [trace for trace in figure.data if (trace.name or "").endswith(", optimum")]
    curves = [trace for trace in figure.data if (trace.name or "").endswith(", fitted")]
    colors = [trace.line.color for trace in curves[1:]]
    assert [trace.marker.color for trace in optima] == colors
    assert [trace.error_x.color for trace in optima] == colors


@pytest.mark.parametrize(("ladder", "x", "method"), VIEWS)
def test_log_and_linear_axes_show_the_same_range(snapshot, ladder, x, method):
    fit = fit_of(snapshot, ladder, x, method)
    linear = isoflop_figure(fit, value_title="loss").layout.yaxis
    log = isoflop_figure(fit, value_title="loss", y="log").layout.yaxis
    assert (linear.type, log.type) == ("linear", "log")
    assert 10 ** np.array(log.range) == pytest.approx(linear.range)
    # A step of ticks that fits one scale can freeze the browser on the other.
    assert linear.dtick is log.dtick is None


def test_values_that_reach_zero_stay_on_a_linear_axis():
    records = made_up(10)
    records["value"] -= 3
    axis = isoflop_figure(dc.fit_isoflops(records), value_title="loss", y="log").layout.yaxis
    assert axis.type == "linear"


def made_up(far):
    """Two budgets of which one has its minimum at 10^far tokens."""
    x = np.linspace(9, 11, 9)
    rows = [
        pd.DataFrame(
            {"tokens": 10**x, "metric": "l", "value": 3 + 0.1 * (x - best) ** 2, "flops": flops}
        )
        for flops, best in ((1e19, 10), (1e20, far))
    ]
    records = pd.concat(rows, ignore_index=True)
    return records.assign(params=records["flops"] / 6 / records["tokens"], label="a")


@pytest.mark.parametrize(("far", "on_chart"), [(11.5, True), (13.5, False), (16, None)])
def test_an_optimum_far_from_the_runs_does_not_squash_them(far, on_chart):
    fit = dc.fit_isoflops(made_up(far))
    axis = isoflop_figure(fit, value_title="loss").layout.xaxis
    assert axis.range[0] > 8.5
    assert axis.range[1] < 12.2
    words = " ".join(off_chart(fit))
    assert ("Optima off the chart: 31.6 T at 1 × 10²⁰ FLOP." in words) == (on_chart is False)


def test_rows_without_numbers_are_said_not_to_be_drawn():
    records = made_up(10).assign(status="finished")
    records.loc[0, ["value", "status"]] = [np.nan, "diverged"]
    records.loc[1, ["tokens", "status"]] = [np.nan, "diverged"]
    fit = dc.fit_isoflops(records)
    assert len(list(points_of(isoflop_figure(fit, value_title="loss")))) == 16
    assert off_chart(fit) == ["2 runs not drawn: a number is missing."]


def test_no_rows_at_all_make_an_empty_figure():
    fit = dc.fit_isoflops(made_up(10).iloc[:0])
    assert fit.budgets == ()
    figure = isoflop_figure(fit, value_title="loss")
    assert len(figure.data) == 0
    assert off_chart(fit) == []
