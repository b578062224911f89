"""Curves of normal scores against closed forms and numerical integration."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr
from tests.assume.selection.fitting import Selected, interval_of

from undercount.assume.selection.gaussian_curve import gaussian_auc, gaussian_rates


@pytest.mark.parametrize("correlation", [-0.4, 0.0, 0.2, 0.5, 0.7, 0.95])
def test_area_at_half_prevalence_has_a_closed_form(correlation):
    expected = 0.5 + 2 / np.pi * np.arcsin(correlation / np.sqrt(2))
    assert gaussian_auc(correlation, 0.0) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize(("correlation", "star"), [(0.7, 0.0), (0.5, -0.8), (-0.3, 1.2)])
def test_rates_are_the_integrals_of_equations_11_and_12(correlation, star):
    root = np.sqrt(1 - correlation**2)

    def positive(a):
        return np.exp(-a * a / 2) / np.sqrt(2 * np.pi) * (1 - ndtr((star - correlation * a) / root))

    def negative(a):
        return np.exp(-a * a / 2) / np.sqrt(2 * np.pi) * ndtr((star - correlation * a) / root)

    for cutoff in (-1.5, 0.0, 0.4):
        tpr, fpr = gaussian_rates(np.array([cutoff]), correlation, star)
        assert tpr[0] == pytest.approx(quad(positive, cutoff, 12)[0] / (1 - ndtr(star)), abs=1e-8)
        specificity = quad(negative, -12, cutoff)[0] / ndtr(star)
        assert 1 - fpr[0] == pytest.approx(specificity, abs=1e-8)


def test_normal_curve_has_the_closed_form_area(own):
    model = Selected("own-score", "normal").fit(own.score, own.y)
    expected = gaussian_auc(model.correlation, model.latent_threshold)
    assert model.curve.roc_auc == pytest.approx(expected, abs=1e-5)
    assert model.prevalence == pytest.approx(ndtr(-model.latent_threshold), abs=1e-12)
    assert np.all(np.diff(model.curve.fpr) >= 0)
    assert np.all(np.diff(model.curve.threshold[1:]) < 0)


def test_copula_does_not_change_under_an_increasing_transform(own):
    plain = Selected("own-score", "copula").fit(own.score, own.y)
    bent = Selected("own-score", "copula").fit(np.exp(own.score), own.y)
    assert bent.curve.roc_auc == pytest.approx(plain.curve.roc_auc, abs=1e-12)
    assert bent.prevalence == pytest.approx(plain.prevalence, abs=1e-12)
    assert interval_of(bent, "roc_auc").high == pytest.approx(
        interval_of(plain, "roc_auc").high, abs=1e-9
    )
