"""Probit against statsmodels, and the test of its shape."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from undercount.assume.selection.binary_regression import LOGIT, fit_binary, reset_p_value
from undercount.errors import InputError


def test_probit_is_that_of_statsmodels_with_weights_as_repetitions():
    sm = pytest.importorskip("statsmodels.api")
    generator = np.random.default_rng(0)
    design = np.column_stack([np.ones(200), generator.standard_normal((200, 2))])
    label = (design @ [0.3, 1.0, -0.5] + generator.standard_normal(200) > 0).astype(float)
    weight = generator.integers(1, 5, 200)
    times = np.repeat(np.arange(200), weight)
    expected = sm.Probit(label[times], design[times]).fit(disp=0, method="newton", tol=1e-12)
    found = fit_binary(design, label, weight.astype(float))
    assert found.coefficients == pytest.approx(expected.params, abs=1e-6)
    assert found.covariance == pytest.approx(expected.cov_params(), abs=1e-6)
    assert found.log_likelihood == pytest.approx(expected.llf, abs=1e-6)


def test_separated_classes_are_refused():
    design = np.column_stack([np.ones(6), np.arange(6.0)])
    with pytest.raises(InputError, match="separate the two classes"):
        fit_binary(design, (np.arange(6) > 2).astype(float), np.ones(6))


def test_reset_sees_a_bend_and_not_a_line():
    generator = np.random.default_rng(1)
    a = generator.standard_normal(3000)
    design, weight = np.column_stack([np.ones(3000), a]), np.ones(3000)
    noise = generator.standard_normal(3000)
    straight = (0.2 + 0.8 * a + noise > 0).astype(float)
    bent = (0.2 + 0.8 * a + 0.5 * a**2 + noise > 0).astype(float)
    assert reset_p_value(fit_binary(design, straight, weight), design, straight, weight) > 0.01
    assert reset_p_value(fit_binary(design, bent, weight), design, bent, weight) < 1e-6


def test_reset_is_quiet_as_often_as_promised():
    generator = np.random.default_rng(2)
    small = 0
    for _ in range(300):
        a, noise = generator.standard_normal((2, 300))
        design, weight = np.column_stack([np.ones(300), a]), np.ones(300)
        label = (0.7 * a + noise > 0).astype(float)
        small += reset_p_value(fit_binary(design, label, weight), design, label, weight) < 0.05
    assert 3 <= small <= 32


def test_logit_agrees_with_scikit_learn():
    rng = np.random.default_rng(4)
    x = rng.normal(size=(400, 2))
    y = (x @ [1.0, -0.5] + rng.logistic(size=400) > 0.3).astype(float)
    weight = rng.integers(1, 4, 400).astype(float)
    fit = fit_binary(np.column_stack([np.ones(400), x]), y, weight, link=LOGIT)
    other = LogisticRegression(C=np.inf, tol=1e-10, max_iter=1000).fit(x, y, weight)
    assert fit.coefficients == pytest.approx([*other.intercept_, *other.coef_[0]], abs=1e-5)
    chance = other.predict_proba(x)[:, 1]
    bend = weight * chance * (1 - chance)
    design = np.column_stack([np.ones(400), x])
    assert -fit.hessian == pytest.approx((design.T * bend) @ design, rel=1e-4)


def test_reset_of_a_logit_sees_a_bend_and_lets_a_line_pass():
    rng = np.random.default_rng(5)
    x = rng.normal(size=4000)
    design = np.column_stack([np.ones(4000), x])
    weight = np.ones(4000)
    straight = (1.5 * x + rng.logistic(size=4000) > 0).astype(float)
    bent = (1.5 * x**2 + rng.logistic(size=4000) > 1).astype(float)
    values = [
        reset_p_value(fit_binary(design, y, weight, link=LOGIT), design, y, weight)
        for y in (straight, bent)
    ]
    assert values[0] > 0.001
    assert values[1] < 1e-6
