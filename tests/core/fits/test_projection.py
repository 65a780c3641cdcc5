"""The solvers: no worse than slow general ones, exact without noise, weights as repeated rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import least_squares, minimize, nnls

from delphi_core.fits.approach3 import fit_approach3
from delphi_core.fits.log_law import fit_log_law
from delphi_core.fits.nonnegative import nonnegative_least_squares
from delphi_core.fits.projection import EXPONENTS, fit_power_sums

DELTA = 1e-3


def runs(seed, noise=0.004, rows=24):
    """Centred ln N and ln D of runs over two decades, and noisy losses of a surface."""
    rng = np.random.default_rng(seed)
    log_x = rng.uniform(-2.3, 2.3, (rows, 2))
    log_x -= log_x.mean(axis=0)
    a, b = rng.uniform(0.3, 0.9, 2)
    alpha, beta = rng.uniform(0.2, 0.6, 2)
    loss = 1.8 + a * np.exp(-alpha * log_x[:, 0]) + b * np.exp(-beta * log_x[:, 1])
    return log_x, loss * (1 + noise * rng.standard_t(3, rows))


def huber(residuals):
    """Sum of Huber's losses, written out."""
    size = np.abs(residuals)
    return np.sum(np.where(size <= DELTA, size**2 / 2, DELTA * (size - DELTA / 2)))


@given(seed=st.integers(0, 2**32 - 1), columns=st.integers(1, 3), weighted=st.booleans())
@settings(deadline=None, max_examples=200)
def test_nonnegative_least_squares_is_that_of_lawson_and_hanson(seed, columns, weighted):
    rng = np.random.default_rng(seed)
    design, values = rng.normal(size=(9, columns)), rng.normal(size=9)
    weights = rng.uniform(0.1, 3, 9) if weighted else np.ones(9)
    ours = nonnegative_least_squares(design[None], values[None], weights[None])[0]
    root = np.sqrt(weights)
    theirs, _ = nnls(design * root[:, None], values * root)
    assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-11)
    assert ((ours == 0) == (theirs == 0)).all()


@pytest.mark.parametrize("delta", [None, DELTA])
@pytest.mark.parametrize("terms", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_projection_finds_what_many_starts_of_a_general_solver_find(seed, terms, delta):
    log_x, values = runs(seed)
    log_x = log_x[:, :terms]
    found = fit_power_sums(log_x, values[None], np.ones((1, 24)), delta=delta)

    def residuals(theta):
        powers = np.exp(theta[1 : 1 + terms] - theta[1 + terms :] * log_x)
        return theta[0] + powers.sum(axis=1) - values

    # SciPy's Huber cost with f_scale delta is the sum that is minimised here.
    lower = [0.0] + [-20.0] * terms + [EXPONENTS[0]] * terms
    upper = [9.0] + [20.0] * terms + [EXPONENTS[1]] * terms
    rng = np.random.default_rng(seed)
    best = min(
        (
            least_squares(
                residuals,
                [rng.uniform(0, 2), *rng.normal(-1, 1, terms), *rng.uniform(0.1, 1, terms)],
                bounds=(lower, upper),
                loss="linear" if delta is None else "huber",
                f_scale=delta or 1.0,
                xtol=1e-14,
                ftol=1e-14,
                gtol=1e-14,
                max_nfev=400,
            )
            for _ in range(8)
        ),
        key=lambda result: result.cost,
    )
    assert found.objective[0] <= best.cost * (1 + 1e-9)
    if delta is None:
        assert found.objective[0] == pytest.approx(best.cost, rel=1e-7)
        assert found.asymptote[0] == pytest.approx(best.x[0], abs=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_approach_3_is_not_above_a_general_minimiser_from_many_starts(seed):
    log_x, values = runs(seed)
    found = fit_approach3(log_x, values[None], np.ones((1, 24)))

    def objective(theta):
        a, b, e, alpha, beta = theta
        first, second = a - alpha * log_x[:, 0], b - beta * log_x[:, 1]
        return huber(np.logaddexp(np.logaddexp(first, second), e) - np.log(values))

    own = [*np.log(found.coefficients[0]), np.log(found.asymptote[0]), *found.exponents[0]]
    assert objective(own) == pytest.approx(found.objective[0], rel=1e-9)
    rng = np.random.default_rng(seed)
    starts = np.column_stack([rng.normal(-0.5, 1, (15, 3)), rng.uniform(0.1, 1, (15, 2))])
    best = min(minimize(objective, start, method="BFGS", tol=1e-12).fun for start in starts)
    assert found.objective[0] <= best * (1 + 1e-9)


@given(
    asymptote=st.floats(0.5, 3),
    coefficients=st.tuples(st.floats(0.2, 2), st.floats(0.2, 2)),
    exponents=st.tuples(st.floats(0.1, 1.2), st.floats(0.1, 1.2)),
    seed=st.integers(0, 2**32 - 1),
)
@settings(deadline=None, max_examples=15)
def test_every_solver_recovers_what_has_no_noise(asymptote, coefficients, exponents, seed):
    log_x = np.random.default_rng(seed).uniform(-2.5, 2.5, (20, 2))
    values = asymptote + np.exp(-log_x * exponents) @ np.array(coefficients)
    once = np.ones((1, 20))
    for found in (
        fit_power_sums(log_x, values[None], once),
        fit_power_sums(log_x, values[None], once, delta=DELTA),
        fit_approach3(log_x, values[None], once),
    ):
        assert found.exponents[0] == pytest.approx(exponents, rel=1e-6)
        assert found.coefficients[0] == pytest.approx(coefficients, rel=1e-5)
        assert found.asymptote[0] == pytest.approx(asymptote, rel=1e-5)


SOLVERS = {
    "squares": fit_power_sums,
    "huber": lambda *rows, **more: fit_power_sums(*rows, delta=DELTA, **more),
    "log": lambda log_x, *rows, **more: fit_log_law(log_x[:, :1], *rows, **more),
    "approach 3": fit_approach3,
}


@pytest.mark.parametrize("solver", SOLVERS)
def test_weights_stand_for_repeated_and_missing_rows(solver):
    fit = SOLVERS[solver]
    log_x, values = runs(5)
    weights = np.random.default_rng(5).integers(0, 3, 24).astype(float)
    places = np.repeat(np.arange(24), weights.astype(int))
    weighted = fit(log_x, values[None], weights[None])
    repeated = fit(log_x[places], values[None, places], np.ones((1, len(places))))
    assert weighted.objective == pytest.approx(repeated.objective, rel=1e-9)
    assert weighted.exponents == pytest.approx(repeated.exponents, rel=1e-5)
    assert weighted.asymptote == pytest.approx(repeated.asymptote, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_problems_at_once_are_the_problems_one_by_one(solver):
    fit = SOLVERS[solver]
    log_x, values = runs(6)
    rng = np.random.default_rng(6)
    many = values * (1 + 0.004 * rng.normal(size=(7, 24)))
    together = fit(log_x, many, np.ones((7, 24)))
    for place, row in enumerate(many):
        alone = fit(log_x, row[None], np.ones((1, 24)))
        assert together.objective[place] == pytest.approx(alone.objective[0], rel=1e-9)
        assert together.exponents[place] == pytest.approx(alone.exponents[0], rel=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_pinned_asymptote_stays_and_its_own_best_changes_nothing(solver):
    fit = SOLVERS[solver]
    log_x, values = runs(7)
    once = np.ones((1, 24))
    free = fit(log_x, values[None], once)
    same = fit(log_x, values[None], once, asymptote=free.asymptote)
    assert same.objective == pytest.approx(free.objective, rel=1e-9)
    assert same.exponents == pytest.approx(free.exponents, rel=1e-4)
    for level in (0.0, 0.9 * values.min()):
        pinned = fit(log_x, values[None], once, asymptote=np.array([level]))
        assert pinned.asymptote.tolist() == [level]
        assert pinned.objective[0] >= free.objective[0] * (1 - 1e-9)
