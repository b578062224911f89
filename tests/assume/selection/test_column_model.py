"""Begg and Greenes, inverse weights and both, against closed forms for a binary score."""

import numpy as np
import pytest
from tests.assume.selection.fitting import Selected, interval_of

from undercount.errors import InputError
from undercount.theory.simulation import simulate_own_score, simulate_unobserved

# Score 1: 80 positive and 20 negative of 100 looked at, 60 not; score 0: 15, 45, and 240 not.
TABLE = [(1.0, 80, 20, 60), (0.0, 15, 45, 240)]
METHODS = ["begg-greenes", "ipw", "doubly-robust"]


def binary_rows():
    score, y = [], []
    for value, positive, negative, missing in TABLE:
        score += [value] * (positive + negative + missing)
        y += [1.0] * positive + [0.0] * negative + [np.nan] * missing
    return np.array(score), np.array(y)


@pytest.mark.parametrize("method", METHODS)
def test_binary_score_has_the_closed_form_of_begg_and_greenes(method):
    # Bayes with P(D|T) from the verified: 160 rows with .8, 300 rows with .25 positive.
    positives = 160 * 0.8 + 300 * 0.25
    negatives = 160 * 0.2 + 300 * 0.75
    model = Selected(method).fit(*binary_rows())
    point = model.curve.at(1.0)
    assert point.recall == pytest.approx(160 * 0.8 / positives, abs=1e-9)
    assert point.specificity == pytest.approx(300 * 0.75 / negatives, abs=1e-9)
    assert model.prevalence == pytest.approx(positives / 460, abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_binary_score_has_the_variance_of_begg_and_greenes(method):
    # Begg and Greenes (1983): with φ = P(T=1), a = P(D|T=1), b = P(D|T=0) independent,
    # logit(sensitivity) = log(φa) - log((1-φ)b).
    phi, a, b = 160 / 460, 0.8, 0.25
    variance = 1 / (460 * phi * (1 - phi)) + (1 - a) / (a * 100) + (1 - b) / (b * 60)
    sensitivity = phi * a / (phi * a + (1 - phi) * b)
    expected = np.sqrt(variance) * sensitivity * (1 - sensitivity)
    estimate = interval_of(Selected(method).fit(*binary_rows()), "recall", 1.0)
    assert estimate.standard_error == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("method", ["ipw", "doubly-robust"])
def test_a_hard_cutoff_is_refused_with_the_reason(method):
    data = simulate_own_score(1000, 0.6, random_state=0)
    with pytest.raises(InputError, match="no chance at all"):
        Selected(method).fit(data.score, data.y)


@pytest.mark.parametrize("method", ["ipw", "doubly-robust"])
def test_a_stretch_that_nobody_looked_at_is_refused_with_its_share(method):
    generator = np.random.default_rng(0)
    score = generator.standard_normal(1000)
    truth = (score + generator.standard_normal(1000) > 0).astype(float)
    y = np.where((score > -0.5) & (generator.random(1000) < 0.5), truth, np.nan)
    with pytest.raises(InputError, match=r"got 3\d% of the rows .* hard cutoff"):
        Selected(method).fit(score, y)
    # Imputation extrapolates instead.
    assert 0.5 < Selected("begg-greenes").fit(score, y).curve.roc_auc < 1


@pytest.mark.parametrize("method", METHODS)
def test_missing_at_random_given_columns_is_repaired(method):
    generator = np.random.default_rng(1)
    n = 30_000
    a, x, noise = generator.standard_normal((3, n))
    truth = (0.8 * a + 0.8 * x + noise > 0).astype(float)
    looked = 0.5 * a + 0.8 * x + generator.standard_normal(n) > 0.5
    y = np.where(looked, truth, np.nan)
    model = Selected(method).fit(a, y, X=x)
    head = a >= 0.5
    expected = truth[head].mean()
    assert model.prevalence == pytest.approx(truth.mean(), abs=0.02)
    assert model.curve.at(0.5).precision == pytest.approx(expected, abs=0.025)
    assert abs(model.naive_curve.at(0.5).precision - expected) > 0.05


def test_two_wrongs_and_one_right_make_doubly_robust_right():
    generator = np.random.default_rng(2)
    n = 40_000
    a, noise = generator.standard_normal((2, n))
    looked = 0.8 * a + generator.standard_normal(n) > 0.3
    # The class bends in the score, so the probit of the class is wrong; that of the choice holds.
    truth = (0.6 * a**2 - 0.5 + 0.5 * noise > 0).astype(float)
    y = np.where(looked, truth, np.nan)
    errors = {method: Selected(method).fit(a, y).prevalence - truth.mean() for method in METHODS}
    assert abs(errors["begg-greenes"]) > 0.02
    assert abs(errors["doubly-robust"]) < 0.015
    assert abs(errors["ipw"]) < 0.015


def test_what_was_not_in_the_columns_only_eq_15_can_see():
    data = simulate_unobserved(6000, 0.7, hidden_correlation=0.5, score_weight=0.0, random_state=1)
    expected = data.truth.mean()
    for method in METHODS:
        assert Selected(method).fit(data.score, data.y).prevalence > expected + 0.1
    hidden = Selected("unobserved").fit(data.score, data.y)
    assert expected in interval_of(hidden, "prevalence").interval


def test_names_of_the_coefficients_follow_the_columns():
    pd = pytest.importorskip("pandas")
    data = simulate_unobserved(500, 0.5, hidden_correlation=0.0, score_weight=0.4, random_state=0)
    frame = pd.DataFrame({"age": np.random.default_rng(0).random(500)})
    model = Selected("doubly-robust").fit(
        data.score, data.y, X=frame, selection_score=-(data.score**3)
    )
    assert list(model.coefficients) == [
        f"{part}: {name}"
        for part in ("outcome", "selection")
        for name in ("intercept", "score", "selection score", "age")
    ]
    assert np.isnan(model.correlation)
