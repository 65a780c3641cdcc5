"""Held-out runs: what counts as measured, and that they change nothing that is fitted."""

import numpy as np
import pandas as pd
import pytest

import delphi_core as dc
from delphi_core.fits.held_out import HELD_OUT_ROLES
from delphi_core.fits.law_choice import CHOSEN_ON, choose
from delphi_core.fits.law_methods import LawMethod

MACRO = "eval/paloma/macro_loss"
FAR = [1e21, 1e22, 1e23]


def records_of(snapshot, ladder):
    """Records of a ladder's own metric, and its x."""
    own = snapshot.ladder(ladder)
    return snapshot.records(ladder, own.default_metric), own.default_x


def test_seeds_of_delphi_are_averaged(snapshot):
    found = dc.held_out_runs(snapshot.records("delphi", MACRO))
    assert [item.rule for item in found] == ["mean over seeds", "mean over seeds", "the run"]
    assert [round(item.flops / 1e20) for item in found] == [10, 100, 1000]
    assert [item.seeds for item in found] == [3, 3, 1]
    assert [round(item.measured, 4) for item in found] == [2.7594, 2.5321, 2.3546]
    for item in found:
        assert item.measured == pytest.approx(np.mean(item.values))
    # The run without seeds says nothing of their noise.
    assert [round(dc.seed_noise((item,)), 4) for item in found[:2]] == [0.0012, 0.0019]
    assert dc.seed_noise(found[2:]) is None
    assert round(dc.seed_noise(found), 4) == 0.0016


def test_the_better_of_two_sizes_counts_on_moe_v16(snapshot):
    records = snapshot.records("moe-v16", MACRO)
    small, large = dc.held_out_runs(records)
    assert (small.rule, len(small.runs), round(small.measured, 4)) == ("best of 2 sizes", 2, 2.5987)
    assert small.measured == min(small.values)
    assert (large.rule, large.measured) == ("the run", 2.234)
    assert dc.seed_noise((small, large)) is None


def test_a_run_without_a_value_plays_no_part(snapshot):
    records = snapshot.records("delphi", MACRO)
    found = dc.held_out_runs(records)
    held_out = records[records["role"].isin(HELD_OUT_ROLES)]
    more = held_out.iloc[:1].assign(run="one-more", value=np.nan)
    crashed = held_out.iloc[:1].assign(run="crashed", value=9.0, status="crashed")
    assert dc.held_out_runs(pd.concat([records, more, crashed])) == found


def test_error_is_of_the_measured_over_the_predicted(snapshot):
    fit = dc.IsoflopFit(replicates=1)(snapshot.records("delphi", MACRO))
    found = dc.held_out_runs(fit.points)
    law = dc.fit_loss_law(fit, band="delta")
    errors = dc.held_out_table(law, found)["error_pct"]
    for item, error in zip(found, errors, strict=True):
        predicted = float(law.predict(item.flops).value)
        assert predicted * (1 + error / 100) == pytest.approx(item.measured, rel=1e-12)


def test_records_of_few_columns_have_none_or_some():
    six = pd.DataFrame(
        {
            "tokens": [1e9, 1e10],
            "metric": "loss",
            "value": [3.0, 2.5],
            "flops": [1e20, 1e21],
            "params": [1e8, 1e9],
            "label": "made",
        }
    )
    assert dc.held_out_runs(six) == ()
    (one,) = dc.held_out_runs(six.assign(role=["isoflop", "heldout"]))
    assert (one.flops, one.measured, one.rule) == (1e21, 2.5, "the run")


def tampered(records):
    """The records with other held-out values, with more such runs, and with none."""
    outside = records["role"].isin(HELD_OUT_ROLES)
    assert outside.any()
    other = records.copy()
    other.loc[outside, "value"] = np.linspace(1, 9, int(outside.sum()))
    extra = records[outside].iloc[:1].assign(run="extra", value=0.5)
    return other, pd.concat([extra, records]), records[~outside]


def fitted(law):
    """All numbers of a law and its bands."""
    forecast = law.predict(FAR)
    profile = () if law.profile is None else law.profile.excess.tolist()
    return (
        (law.asymptote, law.coefficient, law.exponent, law.doubts, profile),
        (law.asymptote_interval, law.exponent_interval, law.equation),
        [getattr(forecast, end).tolist() for end in ("value", "low", "high")],
    )


@pytest.mark.parametrize("ladder", CHOSEN_ON)
def test_held_out_values_change_no_law_and_no_band_by_a_bit(snapshot, ladder):
    records, x = records_of(snapshot, ladder)
    ways = [
        (method, dc.LossLawFit(law=law, band=band, replicates=30))
        for method, law, band in (
            ("parabola", "log", "profile"),
            ("cubic", "squares", "residual bootstrap"),
            ("marin", "huber", "stratified bootstrap"),
        )
    ]

    def everything(rows):
        laws = [fit(dc.IsoflopFit(method=m, x=x, replicates=20)(rows)) for m, fit in ways]
        runs = dc.IsoflopFit(x=x, replicates=20)(rows)
        surface = dc.SurfaceFit(replicates=10)(runs)
        own = (surface.coefficients, surface.exponents, surface.objective, surface.condition)
        tokens = dc.fit_token_law(runs)
        return [fitted(law) for law in (*laws, surface.loss_law)], own, runs.budgets, tokens

    expected = everything(records)
    for rows in tampered(records):
        assert everything(rows) == expected


@pytest.mark.parametrize("ladder", CHOSEN_ON)
def test_held_out_values_change_no_walk_forward_and_no_choice_by_a_bit(snapshot, ladder):
    records, x = records_of(snapshot, ladder)
    ways = (
        LawMethod("cubic", "squares"),
        LawMethod("parabola", "log"),
        LawMethod("surface", "log"),
    )

    def walk(rows):
        return dc.walk_forward_all(
            rows, dc.IsoflopFit(x=x, replicates=20), methods=ways, replicates=10
        )

    expected = walk(records)
    assert len(expected)
    chosen = choose({ladder: expected})
    for rows in tampered(records):
        table = walk(rows)
        pd.testing.assert_frame_equal(table, expected, check_exact=True)
        again = choose({ladder: table})
        assert (again.method, again.band) == (chosen.method, chosen.band)
        pd.testing.assert_frame_equal(again.scores, chosen.scores, check_exact=True)
