import numpy as np
import pytest
from scipy.stats import binomtest

import undercount as uc
from undercount.prevalence import RocSlope
from undercount.prevalence.upper_bound import upper_bound


def rows(seed, share=0.3, n_labelled=150, n_unlabeled=1000):
    rng = np.random.default_rng(seed)
    hidden = rng.random(n_unlabeled) < share
    score = np.concatenate([rng.normal(3, 1, n_labelled), rng.normal(3.0 * hidden)])
    y = np.concatenate([np.ones(n_labelled), np.full(n_unlabeled, np.nan)])
    return uc.ScoreCounts.from_rows(y, score, compact=True)


def exact_limits(successes, size, risk):
    return binomtest(successes, size).proportion_ci(1 - 2 * risk, method="exact")


def test_it_is_the_least_ratio_of_exact_limits():
    rng = np.random.default_rng(3)
    positive, other = rng.normal(3, 1, 128), rng.normal(3.0 * (rng.random(1000) < 0.3))
    y = np.repeat([1.0, np.nan], [128, 1000])
    counts = uc.ScoreCounts.from_rows(y, np.concatenate([positive, other]))
    # 128 labels: the thresholds are every fourth of them; one with fewer than two unlabeled rows
    # above moves to the next that has two.
    cuts = np.sort(positive)[::-1][3::4]
    heads = [(4 * (i + 1), int((other >= cut).sum())) for i, cut in enumerate(cuts)]
    assert min(head for _, head in heads) >= 2
    risk = 0.05 / (2 * len(heads))
    expected = min(
        exact_limits(u, 1000, risk).high / exact_limits(k, 128, risk).low for k, u in heads
    )
    assert upper_bound(counts, 0.95) == pytest.approx(expected, rel=1e-9)
    assert RocSlope(n_resamples=0).fit(counts).upper_bound_ == upper_bound(counts, 0.95)


def test_the_truth_is_below_as_often_as_promised():
    # At most one in twenty above; all thresholds share the risk, so it is far fewer.
    assert sum(upper_bound(rows(seed), 0.95) < 0.3 for seed in range(200)) <= 10
    assert np.mean([upper_bound(rows(seed), 0.95) for seed in range(20)]) < 0.5
