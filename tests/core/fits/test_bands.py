"""Bands: coverage on made ladders, agreement with their definitions, determinism."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import curve_fit
from scipy.stats import t

import delphi_core as dc
from delphi_core.fits.bands import BANDS, band_of
from delphi_core.fits.law_models import LAWS
from delphi_core.fits.optima_model import OptimaModel
from delphi_core.fits.surface_model import SurfaceModel

MACRO = "eval/paloma/macro_loss"
BUDGETS = np.array([3e18, 9e18, 1.8e19, 3e19, 9e19, 1.8e20, 3e20])
FAR = 3e20 * np.array([3.0, 30.0, 300.0])


def law(flops, asymptote=1.7):
    """The loss of the made ladders, much like Delphi's."""
    return asymptote + 150 * flops**-0.103


def made_ladder(rng, noise=0.004):
    """Seven budgets of eleven runs, each a curve with some skew around its optimum."""
    u = np.tile(np.linspace(-0.8, 0.8, 11), 7)
    flops = np.repeat(BUDGETS, 11)
    tokens = 10 ** (0.574 * np.log10(flops) - 1.434 + u)
    loss = law(flops) + 0.35 * u**2 + 0.05 * u**3 + noise * rng.normal(size=77)
    return pd.DataFrame(
        {
            "tokens": tokens,
            "metric": "loss",
            "value": loss,
            "flops": flops,
            "params": flops / 6 / tokens,
            "label": "made",
            "budget": flops,
        }
    )


def made_optima(rng, noise=0.0015):
    """Optima of that law, with noise."""
    nothing, losses = np.full(7, np.nan), law(BUDGETS) + noise * rng.normal(size=7)
    rules = {"tokens": "as published", "params": "as published"}
    return dc.Optima(BUDGETS, nothing, nothing, losses, ((),) * 7, None, "published", rules)


def covered(forecast, truth):
    """Whether the band holds the truth, at each compute."""
    return (forecast.low <= truth) & (truth <= forecast.high)


def test_the_default_covers_85_to_95_percent_up_to_a_ratio_of_300():
    rng = np.random.default_rng(0)
    hits = []
    for repeat in range(200):
        fit = dc.IsoflopFit(method="cubic", replicates=1)(made_ladder(rng))
        found = dc.LossLawFit(replicates=200, seed=repeat)(fit)
        hits.append(covered(found.predict(FAR), law(FAR)))
    assert (found.band.method, found.settings.law) == ("residual bootstrap", "squares")
    share = np.mean(hits, axis=0)
    assert (share >= 0.85).all()
    assert (share <= 0.95).all()


@pytest.mark.parametrize("asymptote", [1.6, 1.8])
def test_an_e_that_is_wrong_by_a_tenth_is_not_covered(asymptote):
    # The band knows of noise, not of a wrong form: within the ladder it covers nearly as often as
    # it says (85 and 75 %), at a ratio of 3 hardly ever (10 and 2 %), and far out never.
    rng = np.random.default_rng(1)
    places = np.array([BUDGETS.mean(), *FAR])
    hits = []
    for repeat in range(60):
        fit = dc.IsoflopFit(method="cubic", replicates=1)(made_ladder(rng))
        found = dc.LossLawFit(asymptote=asymptote, replicates=200, seed=repeat)(fit)
        hits.append(covered(found.predict(places), law(places)))
    within, near, _, far = np.mean(hits, axis=0)
    assert within > 0.6
    assert near < 0.3
    assert far == 0.0


@pytest.mark.parametrize("way", ["squares", "log"])
def test_profile_and_delta_cover_85_to_95_percent_on_noisy_optima(way):
    rng = np.random.default_rng(2)
    hits = {"profile": [], "delta": []}
    for _ in range(200):
        model = OptimaModel(made_optima(rng), way)
        best = model.fit(np.ones((1, 7)))
        for kind, own in hits.items():
            low, high = band_of(model, best, kind, level=0.9).ends(
                lambda sums, model=model: model.laws(sums).predict(FAR)
            )
            own.append((low <= law(FAR)) & (law(FAR) <= high))
    for own in hits.values():
        share = np.mean(own, axis=0)
        # Three standard errors of 200 draws around 0.9 are 0.06.
        assert (share >= 0.84).all()
        assert (share <= 0.96).all()


def made_surface(way):
    """Runs of a known surface, their losses without noise, and the best loss far out."""
    alpha, beta, k = 0.34, 0.3, 6.0
    log_g = np.log(alpha * 400 / beta / 1200) / (alpha + beta)
    budget = np.repeat(BUDGETS, 8)
    best = np.exp(log_g) * (budget / k) ** (beta / (alpha + beta))
    params = best * 10 ** np.tile(np.linspace(-0.8, 0.8, 8), 7)
    far = np.exp(log_g) * (FAR / k) ** (beta / (alpha + beta))

    def loss(n, d):
        return 1.7 + 400 * n**-alpha + 1200 * d**-beta

    tokens = budget / k / params
    groups = np.unique(budget, return_inverse=True)[1]
    losses = loss(params, tokens)
    model = SurfaceModel(params, tokens, losses, groups, way, k, np.ones(56))
    return model, losses, loss(far, FAR / k / far)


@pytest.mark.parametrize("way", ["log", "squares"])
def test_bands_of_a_surface_cover_85_to_95_percent(way):
    clean, losses, truth = made_surface(way)
    rng = np.random.default_rng(3)
    hits = {"residual bootstrap": [], "delta": [], "profile": []}
    for repeat in range(60):
        model = replace(clean, values=losses + 0.004 * rng.normal(size=56))
        best = model.fit(np.ones((1, 56)))
        for kind, own in hits.items():
            low, high = band_of(model, best, kind, level=0.9, replicates=100, seed=repeat).ends(
                lambda sums, model=model: model.laws(sums).predict(FAR)
            )
            own.append((low <= truth) & (truth <= high))
    # Two standard errors of 60 draws around 0.9 are 0.08.
    for kind, own in hits.items():
        share = np.mean(own, axis=0)
        # The envelope over E is too narrow near the data, where E is not what one gets wrong.
        share = share[1:] if kind == "profile" else share
        assert (share >= 0.85 - 0.08).all()
        assert (share <= 0.95 + 0.08).all()


@pytest.mark.parametrize("way", ["squares", "huber"])
def test_the_error_that_the_delta_method_quotes_is_the_scatter_of_forecasts(way):
    # Huber's error is too small by a fifth without the correction for few rows.
    clean, losses, _ = made_surface(way)
    rng = np.random.default_rng(8)
    values, errors = [], []
    for _ in range(120):
        model = replace(clean, values=losses + 0.004 * rng.normal(size=56))
        best = model.fit(np.ones((1, 56)))
        low, high = band_of(model, best, "delta", level=0.9).ends(
            lambda sums, model=model: model.laws(sums).predict(FAR[1:2])
        )
        values.append((low + high) / 2)
        errors.append((high - low) / 2 / t.ppf(0.95, 51))
    assert np.mean(errors) == pytest.approx(np.std(values), rel=0.12)


def test_sizes_that_are_nearly_the_same_are_one_to_the_bootstrap():
    # Ten runs at five sizes, twice each: exactly, or with tokens rounded to whole steps.
    made = made_ladder(np.random.default_rng(9)).groupby("budget").head(10)
    u = np.tile(np.repeat(np.linspace(-0.2, 0.2, 5), 2), 7)
    off = np.tile([-1, 1], 35) * np.random.default_rng(9).uniform(0.001, 0.004, 70)
    made = made.assign(value=law(made["flops"]) + 0.35 * u**2 + off)
    log_tokens = 0.574 * np.log10(made["flops"]) - 1.434 + u
    apart = np.tile([0.0, 4e-4], 35)
    drawn = [
        dc.optima_of(
            dc.IsoflopFit(replicates=1)(made.assign(tokens=10 ** (log_tokens + shift)))
        ).replicates("stratified bootstrap", 50, 0)
        for shift in (0.0, apart)
    ]
    assert drawn[1] == pytest.approx(drawn[0], abs=1e-3)


@pytest.mark.parametrize("kind", BANDS)
@pytest.mark.parametrize("way", LAWS)
def test_the_same_settings_give_the_same_band_bit_for_bit(snapshot, way, kind):
    fit = dc.IsoflopFit(replicates=1)(snapshot.records("delphi", MACRO))
    settings = dc.LossLawFit(law=way, band=kind, replicates=40, seed=3)
    first, second = (settings(fit).predict(FAR) for _ in range(2))
    assert first.low.tolist() == second.low.tolist()
    assert first.high.tolist() == second.high.tolist()
    assert (first.low <= first.value).all()
    assert (first.value <= first.high).all()


@pytest.mark.parametrize("kind", BANDS)
@pytest.mark.parametrize("fitted", ["optima", "runs"])
def test_a_higher_level_is_a_wider_band(snapshot, kind, fitted):
    fit = dc.IsoflopFit(replicates=1)(snapshot.records("delphi", MACRO))
    settings = dc.LossLawFit if fitted == "optima" else dc.SurfaceFit

    def width(level):
        found = settings(law="squares", band=kind, level=level, replicates=100)(fit)
        forecast = (found if fitted == "optima" else found.loss_law).predict(FAR)
        assert forecast.method == kind
        return forecast.high - forecast.low

    assert (width(0.95) > width(0.8)).all()


def test_residual_draws_hang_on_the_seed(snapshot):
    fit = dc.IsoflopFit(replicates=1)(snapshot.records("delphi", MACRO))
    one, two = (dc.LossLawFit(replicates=40, seed=seed)(fit).predict(1e23) for seed in (0, 1))
    assert one.value == two.value
    assert one.low != two.low


def test_delta_method_is_that_of_an_independent_least_squares():
    optima = made_optima(np.random.default_rng(4))
    found = dc.fit_loss_law(optima, law="squares", band="delta")
    log_c = np.log(BUDGETS / 3e19)

    def model(x, asymptote, a, alpha):
        return asymptote + a * np.exp(-alpha * x)

    best, covariance = curve_fit(model, log_c, optima.losses, p0=[1.7, 1.4, 0.1], xtol=1e-14)
    x = np.log(1e23 / 3e19)
    power = np.exp(-best[2] * x)
    slopes = np.array([1, power, -best[1] * x * power])
    half = t.ppf(0.95, 4) * np.sqrt(slopes @ covariance @ slopes)
    forecast = found.predict(1e23)
    assert forecast.value == pytest.approx(model(x, *best), rel=1e-6)
    assert forecast.high - forecast.value == pytest.approx(half, rel=1e-3)
    width = found.asymptote_interval.high - found.asymptote
    assert width == pytest.approx(t.ppf(0.95, 4) * np.sqrt(covariance[0, 0]), rel=1e-3)


@pytest.mark.parametrize("way", ["log", "squares"])
def test_profile_holds_every_e_that_fits_about_as_well(way):
    optima = made_optima(np.random.default_rng(5))
    found = dc.fit_loss_law(optima, law=way, band="profile")
    bound = found.band.best.objective[0] * (1 + t.ppf(0.95, 4) ** 2 / 4)
    ends = found.profile.interval
    for inside, level in (
        (True, ends.low + 1e-4),
        (False, ends.low - 1e-3),
        (True, ends.high - 1e-4),
        (False, ends.high + 1e-3),
    ):
        pinned = dc.fit_loss_law(optima, law=way, asymptote=level, band="delta")
        assert (pinned.band.best.objective[0] <= bound) == inside
        forecast = found.predict(1e23)
        value = pinned.predict(1e23).value
        assert (forecast.low - 1e-4 <= value <= forecast.high + 1e-4) == inside
    assert (found.asymptote_interval.low, found.asymptote_interval.high) == (ends.low, ends.high)


def test_jackknife_is_the_spread_of_fits_without_one_budget():
    optima = made_optima(np.random.default_rng(6))
    found = dc.fit_loss_law(optima, law="squares", band="jackknife").predict(1e22)
    without = []
    for place in range(7):
        kept = np.arange(7) != place
        own = replace(
            optima,
            flops=optima.flops[kept],
            tokens=optima.tokens[kept],
            params=optima.params[kept],
            losses=optima.losses[kept],
            flags=((),) * 6,
        )
        without.append(float(dc.fit_loss_law(own, law="squares", band="delta").predict(1e22).value))
    error = np.sqrt(6 / 7 * np.sum((without - np.mean(without)) ** 2))
    assert found.high - found.value == pytest.approx(t.ppf(0.95, 6) * error, rel=1e-6)


def test_a_pinned_e_has_no_interval_and_its_profile_is_the_delta_method(snapshot):
    fit = dc.IsoflopFit(replicates=1)(snapshot.records("delphi", MACRO))
    found = dc.fit_loss_law(fit, asymptote=1.7, band="profile")
    assert found.profile is None
    assert found.band.method == "delta"
    assert found.asymptote_interval.low == found.asymptote_interval.high == 1.7
    free = dc.fit_loss_law(fit, band="profile").predict(1e23)
    pinned = found.predict(1e23)
    assert pinned.high - pinned.low < (free.high - free.low) / 3


def test_five_runs_and_a_pinned_e_still_have_every_band():
    rng = np.random.default_rng(7)
    records = made_ladder(rng).query("budget in (3e18, 3e20)").iloc[[1, 5, 9, 13, 19]]
    fit = dc.IsoflopFit(replicates=1)(records)
    for kind in BANDS:
        found = dc.fit_surface(fit, law="squares", asymptote=1.0, band=kind)
        assert found.loss_law.predict(1e21).value > 1
