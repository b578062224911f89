"""Simulated rows and fitted selection models that several files look at."""

from functools import lru_cache

import pytest
from tests.assume.selection.fitting import Selected

from undercount.theory.simulation import (
    simulate_observed_score,
    simulate_own_score,
    simulate_unobserved,
)


def fit_design(method, n=800, distribution="empirical"):
    """Fit a method to a design of the paper in which its assumptions hold."""
    model = Selected(method, distribution, random_state=0)
    if method == "observed-score":
        data = simulate_observed_score(n, 0.6, random_state=0)
        return model.fit(data.score, data.y, selection_score=data.selection_score)
    if method in ("ipw", "doubly-robust", "unobserved"):
        data = simulate_unobserved(n, 0.6, hidden_correlation=0.0, score_weight=0.7, random_state=0)
    else:
        data = simulate_own_score(n, 0.6, random_state=0)
    return model.fit(data.score, data.y)


@pytest.fixture(scope="session")
def fitted():
    """Fit each design once; nothing that is asked of a model changes it."""
    return lru_cache(fit_design)


@pytest.fixture(scope="session")
def own():
    return simulate_own_score(600, 0.6, latent_threshold=0.3, random_state=1)
