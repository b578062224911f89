from types import SimpleNamespace

import numpy as np
import pytest


def two_normals(rng, n_rows, prevalence, shift, scales=(1.0, 1.0), label_frequency=0.3):
    """Draw two normal classes, and labels at random among the positives."""
    truth = np.arange(n_rows) < round(prevalence * n_rows)
    spread = np.where(truth[:, None], *(np.broadcast_to(s, len(shift)) for s in scales))
    X = rng.normal(size=(n_rows, len(shift))) * spread + truth[:, None] * np.asarray(shift)
    labelled = rng.permutation(np.flatnonzero(truth))[: round(label_frequency * truth.sum())]
    y = np.full(n_rows, -1)
    y[labelled] = 1
    return SimpleNamespace(X=X, y=y, truth=truth)


@pytest.fixture(scope="session")
def draw():
    return two_normals


@pytest.fixture(scope="session")
def small():
    """600 rows, 40 % positive, of them three in ten labelled."""
    return two_normals(np.random.default_rng(5), 600, 0.4, (2.0, 1.0))
