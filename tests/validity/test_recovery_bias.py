"""Bias of the recovered area, by way of cleaning: the table in docs/papers/jain2017.md."""

import numpy as np
import pytest
from scipy.special import ndtr

import undercount as uc

REPEATS = 200


def errors(n_labelled, n_unlabeled, share, purity, shift):
    """Errors of the direct area and of the cleaned curves, one row a repetition."""
    rng = np.random.default_rng(2017)
    shares, found = uc.Shares(share, purity, "case-control"), []
    y = np.append(np.ones(n_labelled), np.full(n_unlabeled, np.nan))
    for _ in range(REPEATS):
        positive = np.append(rng.random(n_labelled) < purity, rng.random(n_unlabeled) < share)
        score = rng.normal(shift * positive)
        counts = uc.ScoreCounts.from_rows(y, score, compact=True)
        curves = [
            uc.mixture_curve(counts, shares, monotone=monotone)
            for monotone in (None, "cummax", "isotonic", "hull")
        ]
        # Eq. 4, which is not refused here when chance puts it above 1.
        direct = uc.mixture_curve(counts, shares, clean=False)
        found.append([curve.roc_auc for curve in (direct, *curves)])
    return np.array(found) - ndtr(shift / np.sqrt(2))


@pytest.mark.slow
@pytest.mark.parametrize(("share", "purity"), [(0.3, 1.0), (0.3, 0.8), (0.05, 1.0)])
def test_direct_is_unbiased_and_the_running_maximum_is_not(share, purity):
    error = errors(100, 1000, share, purity, 1.0)
    bias, noise = error.mean(axis=0), error.std(axis=0) / np.sqrt(REPEATS)
    direct, cleaned, cummax, isotonic, hull = range(5)
    for method in (direct, cleaned, isotonic):
        assert abs(bias[method]) < 4 * noise[method]
    # The same data sets: differences are known far better than the values.
    for method in (cummax, hull):
        assert bias[method] > bias[direct] + 0.002
    assert bias[hull] > bias[cummax]


@pytest.mark.slow
def test_near_a_perfect_classifier_the_running_maximum_helps():
    error = errors(200, 2000, 0.3, 1.0, 2.6)
    rmse = np.sqrt((error**2).mean(axis=0))
    assert rmse[2] < rmse[0]
    assert rmse[2] < rmse[1]
