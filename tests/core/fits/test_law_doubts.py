"""What cannot be told: a flag and a sentence, and never an absurd number."""

import json

import numpy as np
import pandas as pd
import pytest

import delphi_core as dc
from delphi_core.fits.bands import BANDS
from delphi_core.fits.law_doubts import LawFlag
from delphi_core.fits.law_models import LAWS
from delphi_core.law_documents import law_document

MACRO = "eval/paloma/macro_loss"
BUDGETS = np.geomspace(1e18, 1e21, 7)
TRUE = 1.7 + 150 * BUDGETS**-0.1
QUICK = dc.IsoflopFit(replicates=1)


def optima(losses, flops=BUDGETS):
    """Optima as published ones are."""
    losses = np.asarray(losses, dtype=float)
    number = len(losses)
    nothing = np.full(number, np.nan)
    rules = {"tokens": "as published", "params": "as published"}
    return dc.Optima(
        flops[:number], nothing, nothing, losses, ((),) * number, None, "published", rules
    )


def flags(law):
    """The flags of a law, each of which has a sentence."""
    assert all(doubt.sentence.endswith(".") and " " in doubt.sentence for doubt in law.doubts)
    return {doubt.flag for doubt in law.doubts}


def sentence_of(law, flag):
    """What the flag means here."""
    (sentence,) = (doubt.sentence for doubt in law.doubts if doubt.flag == flag)
    return sentence


@pytest.mark.parametrize("law", LAWS)
def test_a_good_ladder_has_no_doubt(law):
    noise = 1e-4 * np.array([1, -2, 1, 1, -1, 1, -1])
    assert flags(dc.fit_loss_law(optima(TRUE + noise), law=law, band="profile")) == set()


@pytest.mark.parametrize(
    ("budgets", "asymptote", "flag", "sentence"),
    [
        (0, None, LawFlag.ONE_BUDGET, "no budget has an optimum, and a law in compute needs 3"),
        (1, None, LawFlag.ONE_BUDGET, "one budget has an optimum, and a law in compute needs 3"),
        (1, 1.5, LawFlag.ONE_BUDGET, "one budget has an optimum, and a law in compute needs 2"),
        (2, None, LawFlag.FEW_BUDGETS, "2 budgets cannot tell E, A and alpha apart: pin E"),
    ],
)
def test_too_few_budgets_are_refused(budgets, asymptote, flag, sentence):
    for law in LAWS:
        with pytest.raises(dc.UnidentifiedError, match=sentence) as caught:
            dc.fit_loss_law(optima(TRUE[:budgets]), law=law, asymptote=asymptote)
        assert caught.value.flag == flag


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("budgets", "asymptote"), [(3, None), (2, 1.7)])
def test_as_many_budgets_as_parameters_fit_exactly_and_have_no_band(law, budgets, asymptote):
    for band in BANDS:
        found = dc.fit_loss_law(optima(TRUE[:budgets]), law=law, asymptote=asymptote, band=band)
        assert found.exponent == pytest.approx(0.1, rel=1e-4)
        assert found.asymptote == pytest.approx(1.7, rel=1e-4)
        assert flags(found) == {LawFlag.FEW_BUDGETS}
        assert "determine the law exactly" in sentence_of(found, LawFlag.FEW_BUDGETS)
        forecast = found.predict(1e23)
        assert (forecast.low, forecast.high, forecast.method) == (-np.inf, np.inf, "none")
        assert found.profile is None
        assert "no band: no degree of freedom is left" in found.describe()


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("slope", [0.0, 0.1])
def test_a_loss_that_does_not_fall_is_no_gain(law, slope):
    found = dc.fit_loss_law(optima(3 + slope * np.arange(7)), law=law, band="profile")
    assert LawFlag.NO_GAIN in flags(found)
    assert LawFlag.ASYMPTOTE_ZERO not in flags(found)
    assert "the loss does not fall" in sentence_of(found, LawFlag.NO_GAIN)
    if law != "log":
        forecast = found.predict(1e23)
        assert forecast.value == pytest.approx(found.asymptote)
        assert (forecast.low, forecast.high) == (-np.inf, np.inf)


@pytest.mark.parametrize("law", LAWS)
def test_an_e_of_zero_is_said(law):
    found = dc.fit_loss_law(optima(100 * BUDGETS**-0.08), law=law, band="profile")
    assert found.asymptote == pytest.approx(0, abs=1e-6)
    assert LawFlag.ASYMPTOTE_ZERO in flags(found)
    assert "no irreducible loss" in sentence_of(found, LawFlag.ASYMPTOTE_ZERO)
    assert found.exponent == pytest.approx(0.08, rel=1e-5)


@pytest.mark.parametrize("law", LAWS)
def test_losses_below_a_pinned_e_say_where_to_pin_it(law):
    with pytest.raises(
        dc.UnidentifiedError,
        match=r"4 of 7 losses lie at or below the pinned E of 3\.5: pin it below 2\.891\.",
    ) as caught:
        dc.fit_loss_law(optima(TRUE), law=law, asymptote=3.5)
    assert caught.value.flag == LawFlag.BELOW_ASYMPTOTE


@pytest.mark.parametrize("asymptote", [None, 0.0, 0.5])
def test_a_metric_that_is_not_positive_has_no_law(asymptote):
    with pytest.raises(dc.UnidentifiedError, match="3 of 7 losses lie at or below zero: E is nev"):
        dc.fit_loss_law(optima(1 - 0.31 * np.arange(7)), asymptote=asymptote)


@pytest.mark.parametrize("law", LAWS)
def test_a_wide_profile_is_a_sentence_with_its_ends(law):
    noise = 0.006 * np.random.default_rng(3).normal(size=7)
    found = dc.fit_loss_law(optima(TRUE + noise), law=law, band="profile")
    low, high = found.profile.interval.low, found.profile.interval.high
    assert high - low > 0.2 * TRUE.min()
    assert LawFlag.ASYMPTOTE_OPEN in flags(found)
    assert sentence_of(found, LawFlag.ASYMPTOTE_OPEN) == (
        f"E and alpha cannot be told apart: any E from {low:.3g} to {high:.3g} fits about equally "
        "well (90 %)."
    )
    assert 0 <= low < found.asymptote < high < TRUE.min() + 0.05


def test_an_exponent_at_its_bound_is_said():
    for law in LAWS:
        found = dc.fit_loss_law(optima(1 + (BUDGETS / 1e18) ** -3.0), law=law, band="delta")
        assert found.exponent <= 2.0
        if law != "log":
            assert LawFlag.EXPONENT_BOUND in flags(found)
            sentence = sentence_of(found, LawFlag.EXPONENT_BOUND)
            assert sentence == "an exponent is at a bound of the search, 0.01 to 2."


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("asymptote", [None, 0.0, 1.0])
@pytest.mark.parametrize(
    "losses",
    [
        np.full(7, 3.0),
        3 + 0.01 * np.random.default_rng(0).normal(size=7),
        np.array([3.0, 3, 3, 3, 3, 3, 2]),
        np.array([4.0, 2, 2, 2, 2, 2, 2]),
        1.001 + (BUDGETS / 1e18) ** -20.0,
        np.linspace(3, 4, 7),
    ],
)
def test_no_absurd_numbers(law, asymptote, losses):
    for number in (3, 4, 7):
        found = dc.fit_loss_law(
            optima(losses[:number]), law=law, asymptote=asymptote, band="profile"
        )
        assert 0 <= found.asymptote <= losses.max()
        assert np.isfinite([found.coefficient, found.exponent]).all()
        assert abs(found.exponent) <= 2
        forecast = found.predict([1e19, 1e23, 1e26])
        assert (np.abs(forecast.value) < 1e6).all()
        bounded = np.isfinite(forecast.low)
        assert (np.abs(forecast.low[bounded]) < 1e6).all()
        assert (np.abs(forecast.high[bounded]) < 1e6).all()
        assert flags(found) or found.band.method != "none"


def test_flagged_optima_are_named(snapshot):
    fit = QUICK(snapshot.records("moe-aug-hero", MACRO))
    assert len(dc.optima_of(fit)) == 3
    found = dc.fit_loss_law(fit)
    assert flags(found) >= {LawFlag.FEW_BUDGETS, LawFlag.UNCERTAIN_OPTIMA}
    assert sentence_of(found, LawFlag.UNCERTAIN_OPTIMA).count("few points") == 3
    document, missing = law_document(fit, found.settings, [1e23])
    assert missing == []
    text = json.dumps(document, allow_nan=False)
    assert json.loads(text)["forecasts"][-1]["low"] is None


def runs(loss, budgets=(1e18, 1e19, 1e20), sizes=6):
    """Runs of some budgets, with the loss of each size and number of tokens."""
    rows = []
    for flops in budgets:
        for u in np.linspace(-0.6, 0.6, sizes):
            params = 0.3 * (flops / 6) ** 0.5 * 10**u
            tokens = flops / 6 / params
            rows.append((tokens, "loss", loss(params, tokens), flops, params, "made", flops))
    columns = ["tokens", "metric", "value", "flops", "params", "label", "budget"]
    return pd.DataFrame(rows, columns=columns)


def chinchilla(params, tokens):
    """A surface with all its terms."""
    return 1.7 + 400 * params**-0.34 + 1200 * tokens**-0.3


@pytest.mark.parametrize(
    ("change", "flag", "sentence"),
    [
        ({"tokens": 1e9}, LawFlag.SIZES_TIED, "same tokens D, so beta and E cannot be told apart"),
        ({"params": 1e8}, LawFlag.SIZES_TIED, "same size N, so alpha and E cannot be told apart"),
        (
            {"tokens": lambda rows: 20 * rows["params"]},
            LawFlag.SIZES_TIED,
            "N and D vary together in all runs, so alpha and beta cannot be told apart",
        ),
        ({"value": -1.0}, LawFlag.BELOW_ASYMPTOTE, "18 of 18 losses lie at or below zero"),
    ],
)
def test_runs_that_determine_no_surface_are_refused(change, flag, sentence):
    with pytest.raises(dc.UnidentifiedError, match=sentence) as caught:
        dc.fit_surface(QUICK(runs(chinchilla).assign(**change)))
    assert caught.value.flag == flag


def test_a_surface_needs_runs_and_budgets_and_losses_above_e(snapshot):
    with pytest.raises(dc.UnidentifiedError, match="4 runs cannot determine the 5 parameters"):
        dc.fit_surface(QUICK(runs(chinchilla).iloc[[0, 5, 9, 14]]))
    fit = QUICK(runs(chinchilla))
    least = float(fit.points["value"].min())
    with pytest.raises(dc.UnidentifiedError, match=r"1 of 18 losses lie at or below the pinned E"):
        dc.fit_surface(fit, asymptote=least)
    # C / ND of these runs varies, so N and D of one budget are not quite tied.
    records = snapshot.records("moe-v16", MACRO)
    one = records[(records["role"] != "isoflop") | (records["budget"] == 1e19)]
    with pytest.raises(dc.UnidentifiedError, match="all runs are of one budget") as caught:
        dc.fit_surface(dc.IsoflopFit(x="active_params", replicates=1)(one))
    assert caught.value.flag == LawFlag.ONE_BUDGET


@pytest.mark.parametrize("law", LAWS)
def test_a_surface_without_a_term_has_no_optimum(law):
    flat = dc.fit_surface(QUICK(runs(chinchilla).assign(value=3.0)), law=law, band="delta")
    assert LawFlag.NO_GAIN in flags(flat.loss_law)
    assert flat.asymptote == pytest.approx(3)
    if law != "log":
        with pytest.raises(dc.FitError, match="a term of the surface is zero"):
            flat.law("tokens")


@pytest.mark.parametrize("law", LAWS)
def test_a_surface_with_an_e_of_zero_says_so(law):
    found = dc.fit_surface(QUICK(runs(lambda n, d: chinchilla(n, d) - 1.7)), law=law, band="delta")
    assert flags(found.loss_law) == {LawFlag.ASYMPTOTE_ZERO}
    assert found.asymptote == 0.0
