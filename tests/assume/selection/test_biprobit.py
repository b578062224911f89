"""Eq. 15 against direct likelihoods and optimisers."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import log_ndtr
from scipy.stats import multivariate_normal

from undercount.assume.selection.biprobit import (
    CensoredRows,
    expand_likelihood,
    fit_biprobit,
    fit_given_correlation,
    row_expansion,
)
from undercount.theory.simulation import simulate_unobserved


def censored(n, seed, correlation=0.5, **design):
    data = simulate_unobserved(n, correlation, random_state=seed, **design)
    a = (data.score - data.score.mean()) / data.score.std()
    x = np.column_stack([np.ones(n), a])
    looked = data.has_label.astype(float)
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
    summed = row_expansion(rows, point[:4], point[4])[1].sum(axis=0)
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
