"""Resampled optima: what is drawn where a budget has hardly any rows to draw from."""

import numpy as np
import pandas as pd
import pytest

import delphi_core as dc

MACRO = "eval/paloma/macro_loss"


def ladder(sizes):
    """Records of parabolas with noise, a budget for each number of sizes."""
    rng = np.random.default_rng(3)
    rows = []
    for place, number in enumerate(sizes):
        flops = 10.0 ** (18 + place / 2)
        optimum = 1.7 + 150 * flops**-0.103
        for u in np.linspace(-0.4, 0.4, number):
            tokens = 10.0 ** (0.5 * np.log10(flops / 6) + u)
            loss = optimum + 0.4 * u**2 + 0.002 * rng.normal()
            rows.append((tokens, "loss", loss, flops, flops / 6 / tokens, "made"))
    columns = ["tokens", "metric", "value", "flops", "params", "label"]
    return pd.DataFrame(rows, columns=columns)


@pytest.mark.parametrize("band", ["stratified bootstrap", "residual bootstrap"])
def test_a_budget_without_residuals_of_its_own_takes_those_of_all(band):
    isoflop = dc.fit_isoflops(ladder([3, 5, 5, 5]))
    drawn = dc.optima_of(isoflop).replicates(band, 200, 0)
    assert np.isfinite(drawn).all()
    assert (drawn.std(axis=0) > 1e-4).all()


@pytest.mark.parametrize("band", ["stratified bootstrap", "residual bootstrap"])
def test_without_any_residual_there_is_no_band(band):
    law = dc.fit_loss_law(dc.fit_isoflops(ladder([3, 3, 3, 3])), band=band)
    assert law.band.method == "none"
    assert law.band.failed == law.band.replicates == 1000
    assert "no band: too few sets of resampled rows give a law" in law.describe()


def test_moe_aug_hero_has_a_bootstrap_band_where_e_is_pinned(snapshot):
    isoflop = dc.fit_isoflops(snapshot.records("moe-aug-hero", MACRO), x="active_params")
    law = dc.fit_loss_law(isoflop, asymptote=1.6, band="stratified bootstrap")
    forecast = law.predict(1e21)
    assert forecast.low < forecast.value < forecast.high


def test_drawn_losses_below_a_pinned_e_have_no_log_law(snapshot):
    isoflop = dc.fit_isoflops(snapshot.records("delphi", MACRO), method="cubic")
    pinned = isoflop.optima[-1].loss_at_optimal - 0.002
    drawn = dc.optima_of(isoflop).replicates("residual bootstrap", 1000, 0)
    below = (np.where(np.isfinite(drawn), drawn, np.inf) <= pinned).any(axis=1)
    law = dc.fit_loss_law(isoflop, law="log", asymptote=pinned)
    assert 0 < law.band.failed == below.sum()
    assert law.predict(1e19).low > 3
    assert f"({1000:,} sets of rows, {law.band.failed} of them give no law" in law.describe()
