"""Mean errors of the kernel, matching, tree and divergence methods against known truth."""

import itertools

import numpy as np
import pytest

import undercount as uc
from undercount.prevalence import DistCurve, KernelMean, PenL1, TIcE

pytestmark = pytest.mark.slow

SHARES = (0.1, 0.3, 0.5, 0.8)
SIZES = ((100, 1000), (1000, 1000), (1000, 10_000))
FAMILIES = (1, 2, 4, "uniform")


def problems(seed, n_features):
    """Yield (share, labels, features): normals 1, 2 and 4 apart, and overlapping uniforms."""
    rng = np.random.default_rng(seed)
    for family, share, (m, n) in itertools.product(FAMILIES, SHARES, SIZES):
        positive = np.arange(m + n) < m + round(share * n)
        if family == "uniform":
            X = rng.random((m + n, min(n_features, 2))) - np.where(positive, 0, 0.6)[:, None]
        else:
            centre = positive[:, None] * family / np.sqrt(n_features)
            X = rng.normal(centre, 1, (m + n, n_features))
        yield share, np.where(np.arange(m + n) < m, 1.0, np.nan), X


def mean_error(method, *, n_features, on_scores, seed=5):
    errors = []
    for share, y, X in problems(seed, n_features):
        data = (uc.ScoreCounts.from_rows(y, X[:, 0]),) if on_scores else (y, X)
        errors.append(abs(method.fit(*data).unlabeled_prevalence_ - share))
    return np.mean(errors)


@pytest.mark.filterwarnings("ignore::undercount.MisfitWarning")
@pytest.mark.parametrize(
    ("method", "published"),
    [
        (KernelMean("KM1", n_resamples=0), 0.072),
        (KernelMean("KM2", n_resamples=0), 0.082),
        (DistCurve(n_resamples=0, random_state=0), 0.103),
    ],
)
def test_score_methods_reach_the_published_errors(method, published):
    assert mean_error(method, n_features=1, on_scores=True) <= 1.1 * published


@pytest.mark.parametrize(
    ("method", "published"),
    [
        (TIcE(n_resamples=0, random_state=0), 0.206),
        (PenL1(n_resamples=0, random_state=0), 0.119),
    ],
)
def test_feature_methods_reach_the_published_errors(method, published):
    assert mean_error(method, n_features=5, on_scores=False) <= 1.1 * published
