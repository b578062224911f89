"""Bias and coverage of areas of weighted rows, where weights have nothing to do with the score."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

import undercount as uc
from undercount.infer.estimate_metric import estimate_metric

TRUE_AREA = {"average_precision": average_precision_score, "roc_auc": roc_auc_score}
WEIGHTS = {
    "all 5": lambda _, n: np.full(n, 5.0),
    "all 0.2": lambda _, n: np.full(n, 0.2),
    "1, 2 or 3": lambda rng, n: rng.integers(1, 4, n).astype(float),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "log-normal": lambda rng, n: np.exp(1.2 * rng.normal(size=n)),
}
SETTINGS = [(0.1, 0.3), (0.3, 0.4)]  # prevalence, label frequency
N_ROWS = 3_000


def errors(metric, weights, setting, n_draws):
    """Return errors of the estimate, and which intervals hold the truth."""
    prevalence, frequency = setting
    found, held = [], []
    for draw in range(n_draws):
        rng = np.random.default_rng([draw, round(100 * prevalence)])
        truth = rng.random(N_ROWS) < prevalence
        score = rng.normal(1.5 * truth)
        y = (truth & (rng.random(N_ROWS) < frequency)).astype(float)
        weight = WEIGHTS[weights](rng, N_ROWS)
        counts = uc.ScoreCounts.from_rows(y, score, unlabeled=0, sample_weight=weight, compact=True)
        shares = uc.Shares.from_prevalence(counts, weight @ truth / weight.sum())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # few effective labels, and areas beyond 1 by chance
            each = estimate_metric(counts, shares, metric)
        right = TRUE_AREA[metric](truth, score, sample_weight=weight)
        found.append(each.value - right)
        held.append(each.low <= right <= each.high)
    return np.array(found), np.mean(held)


def test_heavy_weights_neither_bias_average_precision_nor_narrow_it():
    found, held = errors("average_precision", "all 5", SETTINGS[0], 200)
    assert abs(found.mean()) < 3 * found.std() / 200**0.5
    assert held >= 0.91  # 95 % less 2.6 standard errors of 200 draws


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("metric", TRUE_AREA)
def test_weights_neither_bias_nor_miss(metric, weights, setting):
    n_draws = 1_500
    found, held = errors(metric, weights, setting, n_draws)
    assert abs(found.mean()) < 2 * found.std() / n_draws**0.5
    assert 0.93 <= held <= 0.97
