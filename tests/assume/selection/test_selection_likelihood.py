"""Bivariate normal CDF, probit and eq. 15 against scipy, statsmodels and direct likelihoods."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.special import log_ndtr, ndtr
from scipy.stats import multivariate_normal

from undercount.assume.selection.biprobit import (
    CensoredRows,
    expand_likelihood,
    fit_biprobit,
    fit_given_correlation,
    row_scores,
)
from undercount.assume.selection.bivariate_normal import binormal_cdf, log_binormal_cdf
from undercount.assume.selection.probit import fit_probit, reset_p_value
from undercount.errors import InputError
from undercount.theory.simulation import simulate_unobserved

limits = st.one_of(st.just(0.0), st.floats(-6, 6))


@settings(deadline=None, max_examples=50)
@given(limits, limits, st.floats(-0.999, 0.999))
@example(1e-210, -1e-210, 0.0)
@example(-1e-300, -1e-300, 0.5)
def test_binormal_cdf_is_scipys(x, y, r):
    expected = multivariate_normal.cdf([x, y], cov=[[1, r], [r, 1]])
    found = binormal_cdf(np.array([x]), np.array([y]), r)[0]
    assert found == pytest.approx(expected, abs=1e-10)


def test_binormal_cdf_with_infinite_limits():
    infinite = np.array([np.inf, -np.inf, np.inf])
    found = binormal_cdf(infinite, np.array([1.0, 1.0, np.inf]), 0.5)
    assert found == pytest.approx([ndtr(1.0), 0.0, 1.0])


@pytest.mark.parametrize(
    ("x", "y", "r"),
    [(-3, -4, 0.2), (-6, -5, -0.5), (-10, 3, 0.7), (-5.5, 1, -0.95), (-8, -2, 0.999)],
)
def test_tiny_probabilities_keep_their_digits(x, y, r):
    root = np.sqrt(1 - r * r)

    def integrand(t):
        return np.exp(-t * t / 2) / np.sqrt(2 * np.pi) * ndtr((y - r * t) / root)

    pieces = x - np.concatenate([[0], np.geomspace(0.01, 14, 60)])
    parts = [
        quad(integrand, low, high, epsabs=0, epsrel=1e-10)[0] for high, low in pairwise(pieces)
    ]
    found = log_binormal_cdf(np.array([float(x)]), np.array([float(y)]), np.array([r]))
    assert found[0] == pytest.approx(np.log(sum(parts)), abs=1e-6)


def censored(n, seed, correlation=0.5, **design):
    data = simulate_unobserved(n, correlation, random_state=seed, **design)
    a = (data.score - data.score.mean()) / data.score.std()
    x = np.column_stack([np.ones(n), a])
    looked = data.looked.astype(float)
    return CensoredRows(x, x, np.nan_to_num(data.y), looked, np.ones(n))


def direct_likelihood(rows, parameters):
    """Eq. 15 written out with scipy's own bivariate normal CDF."""
    h, k = rows.selection @ parameters[:2], rows.outcome @ parameters[2:4]
    r = parameters[4]
    total = log_ndtr(-h[rows.looked == 0]).sum()
    for label, sign in ((1, 1.0), (0, -1.0)):
        kept = (rows.looked == 1) & (rows.label == label)
        points = np.column_stack([h[kept], sign * k[kept]])
        covariance = [[1, sign * r], [sign * r, 1]]
        total += np.log(multivariate_normal.cdf(points, cov=covariance)).sum()
    return float(total)


def test_likelihood_is_equation_15():
    rows = censored(80, 0)
    for parameters in ([0.1, 0.9, 0.2, 0.5, 0.3], [-0.4, 0.2, 0.0, 1.5, -0.9], [0, 0, 0, 0, 0.0]):
        point = np.array(parameters, dtype=float)
        found = expand_likelihood(rows, point[:4], point[4]).value
        assert found == pytest.approx(direct_likelihood(rows, point), abs=1e-6)


def test_gradient_and_hessian_are_those_of_the_likelihood():
    rows = censored(80, 1)
    point = np.array([0.1, 0.8, 0.3, 0.4, -0.35])
    here = expand_likelihood(rows, point[:4], point[4])
    for i, step in enumerate(np.eye(5) * 1e-5):
        up, down = (expand_likelihood(rows, p[:4], p[4]) for p in (point + step, point - step))
        assert here.gradient[i] == pytest.approx((up.value - down.value) / 2e-5, abs=1e-6)
        expected = (up.gradient - down.gradient) / 2e-5
        assert here.hessian[i] == pytest.approx(expected, abs=1e-6)
    summed = row_scores(rows, point[:4], point[4]).sum(axis=0)
    assert summed == pytest.approx(here.gradient, abs=1e-9)


def test_maximum_is_that_of_a_direct_optimiser():
    generator = np.random.default_rng(5)
    n = 150
    a, x, unseen, noise = generator.standard_normal((4, n))
    z = np.column_stack([np.ones(n), a, x])
    label = (0.6 * a + 0.5 * unseen + 0.6 * noise > 0).astype(float)
    looked = (0.5 * a + 1.2 * x + unseen > 0).astype(float)
    rows = CensoredRows(z, z[:, :2], label * looked, looked, np.ones(n))

    def loss(point):
        h, k, r = z @ point[:3], z[:, :2] @ point[3:5], np.tanh(point[5])
        total = log_ndtr(-h[looked == 0]).sum()
        for sign in (1.0, -1.0):
            kept = (looked == 1) & (label == (sign + 1) / 2)
            points = np.column_stack([h[kept], sign * k[kept]])
            covariance = [[1, sign * r], [sign * r, 1]]
            chances = multivariate_normal.cdf(points, cov=covariance)
            total += np.log(np.maximum(chances, 1e-300)).sum()
        return -total

    found = fit_biprobit(rows)
    rough = minimize(loss, np.zeros(6), method="BFGS", options={"gtol": 1e-3})
    fine = minimize(
        loss,
        rough.x,
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 4000},
    )
    assert found.log_likelihood == pytest.approx(-fine.fun, abs=1e-6)
    expected = np.append(fine.x[:5], np.tanh(fine.x[5]))
    mine = np.append(found.coefficients, found.error_correlation)
    assert mine == pytest.approx(expected, abs=1e-5)


def test_the_stationary_point_without_correlation_is_not_taken_for_the_maximum():
    # With γ = 0 the likelihood is stationary at r = 0, where a single start would stay.
    rows = censored(3000, 2, 0.7, hidden_correlation=0.7, score_weight=0.0)
    fit = fit_biprobit(rows)
    at_zero = fit_given_correlation(rows, 0.0, np.zeros(4))
    assert abs(at_zero.slope) < 0.2 * abs(fit_given_correlation(rows, 0.4, np.zeros(4)).slope)
    assert fit.error_correlation > 0.5
    assert fit.log_likelihood > at_zero.log_likelihood + 1


def test_each_local_maximum_is_reported_and_the_highest_wins():
    rows = censored(1000, 1, hidden_correlation=0.7, score_weight=0.0)
    fit = fit_biprobit(rows)
    grid = np.tanh(np.linspace(-3.5, 3.5, 71))
    values = [fit_given_correlation(rows, r, fit.coefficients).log_likelihood for r in grid]
    assert fit.log_likelihood >= max(values) - 1e-9
    assert fit.error_correlation in fit.modes


def test_probit_is_that_of_statsmodels_with_weights_as_repetitions():
    sm = pytest.importorskip("statsmodels.api")
    generator = np.random.default_rng(0)
    design = np.column_stack([np.ones(200), generator.standard_normal((200, 2))])
    label = (design @ [0.3, 1.0, -0.5] + generator.standard_normal(200) > 0).astype(float)
    weight = generator.integers(1, 5, 200)
    times = np.repeat(np.arange(200), weight)
    expected = sm.Probit(label[times], design[times]).fit(disp=0, method="newton", tol=1e-12)
    found = fit_probit(design, label, weight.astype(float))
    assert found.coefficients == pytest.approx(expected.params, abs=1e-6)
    assert found.covariance == pytest.approx(expected.cov_params(), abs=1e-6)
    assert found.log_likelihood == pytest.approx(expected.llf, abs=1e-6)


def test_separated_classes_are_refused():
    design = np.column_stack([np.ones(6), np.arange(6.0)])
    with pytest.raises(InputError, match="separate the two classes"):
        fit_probit(design, (np.arange(6) > 2).astype(float), np.ones(6))


def test_reset_sees_a_bend_and_not_a_line():
    generator = np.random.default_rng(1)
    a = generator.standard_normal(3000)
    design, weight = np.column_stack([np.ones(3000), a]), np.ones(3000)
    noise = generator.standard_normal(3000)
    straight = (0.2 + 0.8 * a + noise > 0).astype(float)
    bent = (0.2 + 0.8 * a + 0.5 * a**2 + noise > 0).astype(float)
    assert reset_p_value(fit_probit(design, straight, weight), design, straight, weight) > 0.01
    assert reset_p_value(fit_probit(design, bent, weight), design, bent, weight) < 1e-6


def test_reset_is_quiet_as_often_as_promised():
    generator = np.random.default_rng(2)
    small = 0
    for _ in range(300):
        a, noise = generator.standard_normal((2, 300))
        design, weight = np.column_stack([np.ones(300), a]), np.ones(300)
        label = (0.7 * a + noise > 0).astype(float)
        small += reset_p_value(fit_probit(design, label, weight), design, label, weight) < 0.05
    assert 3 <= small <= 32


def test_boundary_is_flagged():
    # The error correlation is .98 here; about 63 % of such samples end at the boundary.
    fits = [
        fit_biprobit(censored(1000, seed, 0.7, hidden_correlation=0.7, score_weight=1.0))
        for seed in range(8)
    ]
    flags = [fit.at_boundary for fit in fits]
    assert flags == [abs(fit.error_correlation) > 0.985 for fit in fits]
    assert any(flags)
    assert not all(flags)
