import numpy as np
import pytest
from scipy.stats import binomtest

import undercount as uc
from undercount.prevalence import RocSlope
from undercount.prevalence.upper_bound import area_bound, upper_bound


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


@pytest.mark.parametrize("purity", [1.0, 0.8])
@pytest.mark.parametrize("separation", [0.0, 0.3, 0.7])
def test_the_area_passes_one_by_so_many_errors_at_its_bound(separation, purity):
    sizes, z = (60, 500), 1.96
    share = area_bound(separation, sizes, z, purity)
    # Every positive above every negative: how A varies with the labels and with the others.
    u = (np.arange(20_000) + 0.5) / 20_000
    labelled = np.concatenate([1 - share + share * u, (1 - share) * u])
    unlabeled = np.concatenate([purity * (1 - u), purity + (1 - purity) * (1 - u)])
    variance = 0.0
    for values, positive, size in ((labelled, purity, 60), (unlabeled, share, 500)):
        weights = np.repeat([positive, 1 - positive], len(u)) / len(u)
        mean = weights @ values
        assert mean == pytest.approx((1 + purity - share) / 2)
        variance += weights @ (values - mean) ** 2 / size
    if share < purity:
        reach = (separation - (purity - share)) / (2 * np.sqrt(variance))
        assert reach == pytest.approx(z, rel=1e-4)
    assert area_bound(separation, sizes, 0.0, purity) == pytest.approx(purity - separation)


@pytest.mark.parametrize(("gap", "n_labelled"), [(9, 12), (9, 100), (3, 100)])
def test_a_true_share_is_ruled_out_by_neither_bound(gap, n_labelled):
    rng, missed = np.random.default_rng(4), 0
    for _ in range(300):
        hidden = rng.random(400) < 0.25
        score = np.concatenate([rng.normal(gap, 1, n_labelled), rng.normal(gap * hidden)])
        y = np.concatenate([np.ones(n_labelled), np.full(400, np.nan)])
        counts = uc.ScoreCounts.from_rows(y, score)
        separation = abs(2 * counts.auc("positive", "unlabeled") - 1)
        bounds = area_bound(separation, (n_labelled, 400), 1.96), upper_bound(counts, 0.95)
        missed += min(bounds) < 0.25
    assert missed <= 18  # 15 expected at most, of 300


def test_few_labels_and_perfect_scores_rule_little_out():
    assert area_bound(1.0, (1, 10), 1.96) == 1.0
    assert 0 < area_bound(1.0, (100, 1000), 1.96) < 0.02
