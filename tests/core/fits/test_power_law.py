"""Power laws of optima: recovery of known truth, and refusals."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import delphi_core as dc


def ladder(exponent: float, log10_coefficient: float, budgets: int) -> pd.DataFrame:
    """Records whose loss is least at D* = 10^log10_coefficient C^exponent in each budget."""
    rows = []
    for flops in np.geomspace(1e18, 1e21, budgets):
        log_optimum = exponent * np.log10(flops) + log10_coefficient
        for u in np.linspace(-0.7, 0.8, 7):
            tokens = 10 ** (log_optimum + u)
            rows.append((tokens, "loss", 3 + 0.4 * u**2, flops, flops / 6 / tokens, "made"))
    return pd.DataFrame(rows, columns=["tokens", "metric", "value", "flops", "params", "label"])


@given(exponent=st.floats(0.3, 0.8), coefficient=st.floats(-3, 1), budgets=st.integers(2, 8))
@settings(deadline=None, max_examples=40)
def test_known_laws_are_recovered(exponent, coefficient, budgets):
    # Nominal budgets keep compute exact: a bucket would move C by up to 5 %.
    records = ladder(exponent, coefficient, budgets)
    fit = dc.fit_isoflops(records.assign(budget=records["flops"]))
    tokens, params = dc.fit_token_law(fit), dc.fit_params_law(fit)
    assert tokens.exponent == pytest.approx(exponent, abs=1e-7)
    assert tokens.log10_coefficient == pytest.approx(coefficient, abs=1e-5)
    # N = C / 6D, so the exponents add up to one.
    assert tokens.exponent + params.exponent == pytest.approx(1, abs=1e-7)
    assert tokens.predict(1e20) * params.predict(1e20) == pytest.approx(1e20 / 6, rel=1e-6)


def test_predictions_keep_their_shape_and_rise():
    law = dc.fit_token_law(dc.fit_isoflops(ladder(0.5, 0.0, 4)))
    tokens = law.predict([[1e19, 1e20], [1e21, 1e22]])
    assert tokens.shape == (2, 2)
    assert (np.diff(tokens.ravel()) > 0).all()
    assert law.predict(1.0) == pytest.approx(law.coefficient)


def test_fewer_than_two_optima_make_no_law():
    one = ladder(0.5, 0.0, 3).query("flops == 1e18")
    with pytest.raises(dc.FitError, match="needs 2 budgets with an optimum; there is 1"):
        dc.fit_token_law(dc.fit_isoflops(one))


def test_two_optima_are_said_to_test_nothing():
    assert "nothing tests it" in dc.fit_token_law(dc.fit_isoflops(ladder(0.5, 0, 2))).describe()
    assert "nothing tests it" not in dc.fit_token_law(dc.fit_isoflops(ladder(0.5, 0, 3))).describe()


def test_optima_at_an_edge_are_counted():
    records = ladder(0.5, 0.0, 3)
    # Without its right half the largest budget has its optimum beyond the most tokens.
    largest = records["flops"] == records["flops"].max()
    optimum = 0.5 * np.log10(records["flops"].max())
    cut = records[~(largest & (np.log10(records["tokens"]) > optimum - 0.1))]
    law = dc.fit_token_law(dc.fit_isoflops(cut))
    assert law.at_edge == 1
    assert "1 of the optima at an edge" in law.describe()
    assert dc.fit_token_law(dc.fit_isoflops(records)).at_edge == 0
