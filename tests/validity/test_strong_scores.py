"""Coverage of the ROC AUC's interval where the classifier is so good that the estimate meets 1."""

import warnings

import numpy as np
import pytest
from scipy.special import ndtr
from sklearn.metrics import roc_auc_score

import undercount as uc

SETTINGS = [
    # prevalence, label frequency, separation in standard deviations, rows
    (0.3, 0.2, 4, 4000),
    (0.3, 0.5, 4, 4000),
    (0.3, 0.1, 3, 2000),
    (0.6, 0.2, 3, 4000),
    (0.1, 0.3, 4, 5000),
    (0.05, 0.2, 4, 10_000),
    (0.05, 0.05, 4, 4000),
    (0.6, 0.05, 3, 400),
]


def covered(setting, target, n_draws):
    """Return the share of intervals that hold the truth, and the widths."""
    prevalence, frequency, distance, n = setting
    hits, widths = 0, []
    for draw in range(n_draws):
        rng = np.random.default_rng([draw, n, round(100 * prevalence), round(100 * frequency)])
        truth = rng.random(n) < prevalence
        score = rng.normal(distance * truth)
        y = np.where(truth & (rng.random(n) < frequency), 1, 0)
        mine = target == "dataset"
        known = truth.mean() if mine else prevalence
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # estimates beyond 1 by chance warn
            found = uc.metrics.roc_auc(y, score, unlabeled=0, prevalence=known, target=target)
        right = roc_auc_score(truth, score) if mine else ndtr(distance / np.sqrt(2))
        hits += found.low <= right <= found.high
        widths.append(found.high - found.low)
    return hits / n_draws, np.array(widths)


def test_intervals_near_one_are_neither_empty_nor_everything():
    share, widths = covered(SETTINGS[0], "dataset", 80)
    assert share >= 0.9  # 95 % less two standard errors of 80 draws
    assert widths.min() > 0
    assert widths.max() < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("target", ["dataset", "population"])
@pytest.mark.parametrize("setting", SETTINGS)
def test_intervals_near_one_cover(setting, target):
    # An interval cut at 1 covers whatever lies above it, so there is no upper bar.
    assert covered(setting, target, 600)[0] >= 0.93
