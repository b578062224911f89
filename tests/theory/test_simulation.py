"""Cook's simulators: the chosen rows, and the correlations they were asked for."""

import numpy as np
import pytest
from scipy.special import ndtr

from undercount.errors import InputError
from undercount.theory.simulation import (
    simulate_observed_score,
    simulate_own_score,
    simulate_unobserved,
)


def correlation(x, y):
    return np.corrcoef(x, y)[0, 1]


def test_own_score_looks_at_the_highest_scores():
    data = simulate_own_score(100_000, 0.7, latent_threshold=0.5, looked_share=0.3, random_state=0)
    assert data.has_label.mean() == pytest.approx(0.3, abs=1e-9)
    assert data.score[data.has_label].min() > data.score[~data.has_label].max()
    assert data.truth.mean() == pytest.approx(ndtr(-0.5), abs=0.005)
    # Share of positives above the median at p* = 0: ½ + asin(ρ)/π.
    half = simulate_own_score(100_000, 0.7, random_state=1)
    expected = 0.5 + np.arcsin(0.7) / np.pi
    assert half.y[half.has_label].mean() == pytest.approx(expected, abs=0.006)


def test_observed_score_has_the_stated_correlations():
    data = simulate_observed_score(
        100_000, 0.7, selector_correlation=0.2, score_correlation=0.5, random_state=0
    )
    assert correlation(data.score, data.selection_score) == pytest.approx(0.5, abs=0.01)
    share = (data.truth[data.selection_score > 0]).mean()
    assert share == pytest.approx(0.5 + np.arcsin(0.2) / np.pi, abs=0.008)
    assert data.selection_score[data.has_label].min() > data.selection_score[~data.has_label].max()


def test_unobserved_correlations_are_the_corrected_ones():
    # Cor(a, b) = γ/√(1+γ²), so that γ = 1 is .707 and not .5 as printed.
    data = simulate_unobserved(100_000, 0.5, score_weight=1.0, random_state=0)
    assert correlation(data.score, data.selection_score) == pytest.approx(np.sqrt(0.5), abs=0.01)
    # Cor(p, b) = (γρ_ap + ρ_εp)/√(1+γ²) = 1.2/√2 sets the share of positives among the chosen.
    share = data.truth[data.selection_score > 0].mean()
    assert share == pytest.approx(0.5 + np.arcsin(1.2 / np.sqrt(2)) / np.pi, abs=0.008)


def test_impossible_correlations_are_refused():
    with pytest.raises(InputError, match="contradict each other"):
        simulate_unobserved(100, 0.9, hidden_correlation=0.9)
    with pytest.raises(InputError, match="looked_share"):
        simulate_own_score(100, 0.5, looked_share=1.0)
