"""Weights of single rows recovered from sums, and the variance of a mean that they give."""

import itertools

import numpy as np
import pytest

import undercount as uc
from undercount.infer.estimate_metric import estimate_metric
from undercount.infer.variance import RowWeights, row_weights


@pytest.mark.parametrize("scale", [0.01, 1.0, 300.0])
def test_single_rows_and_equal_weights_are_recovered_exactly(scale):
    rng = np.random.default_rng(0)
    single = scale * rng.lognormal(size=40)
    assert row_weights(single, single @ single) == pytest.approx(single, rel=1e-12)
    tied = scale * rng.integers(1, 6, 40)
    assert row_weights(tied, scale * tied.sum()) == pytest.approx(scale, rel=1e-12)


def test_squares_add_up_where_some_rows_share_a_cell():
    rng = np.random.default_rng(1)
    weight, place = rng.lognormal(size=60), rng.integers(0, 30, 60)
    cells = np.bincount(place, weight, 30)
    found = row_weights(cells, weight @ weight)
    assert cells @ found == pytest.approx(weight @ weight, rel=1e-12)
    assert np.all(found <= cells)
    assert np.all(found[cells == 0] == 0)
    # One row of weight 1 and three of weight 1 together: Σ c min(c, 1) = 4.
    assert row_weights(np.array([1.0, 3.0]), 4.0).tolist() == [1.0, 1.0]
    # 0.5² + 2 · 1.5: the heavy cell holds rows of weight 1.5.
    assert row_weights(np.array([0.5, 2.0]), 3.25).tolist() == [0.5, 1.5]


def test_the_variance_is_right_on_average_over_all_orders_of_the_values():
    value, weight = np.array([0.1, 0.5, 0.6, 1.4, 2.0]), np.array([1.0, 2, 2, 3, 8])
    share = weight / weight.sum()
    effective = 1 / (share @ share)
    rows = RowWeights(share, share * effective, float(effective))
    found = []
    for order in itertools.permutations(value):
        spread = share @ (np.array(order) - share @ order) ** 2
        found.append(rows.inflation(np.array(order)) * spread / (effective - 1))
    # Any order is as likely, so the mean with these weights has the variance S² Σ h².
    assert np.mean(found) == pytest.approx(value.var(ddof=1) * (share @ share), rel=1e-12)


def test_equal_weights_leave_everything_as_it_is():
    assert RowWeights.of(np.full(10, 0.1), 50.0, 5.0) is None
    assert RowWeights.of(np.array([0.25, 0.75, 0.0]), 8.0, 2.0) is None


def relative(weight):
    return RowWeights.of(weight / weight.sum(), weight.sum(), weight @ weight / weight.sum())


def test_weights_count_singly_only_if_they_go_with_the_score():
    rng = np.random.default_rng(2)
    score = np.sort(rng.normal(size=400))
    weight = np.exp(0.5 * score)
    kish = weight @ weight / weight.sum()
    assert relative(weight).relative == pytest.approx(weight / kish, rel=0.05)
    shuffled = [np.ptp(relative(rng.permutation(weight)).relative) for _ in range(50)]
    assert np.mean(shuffled) < 0.25 * np.ptp(weight / kish)


@pytest.mark.parametrize("slope", [-0.5, 0.0, 0.5])
def test_the_error_of_an_auc_is_its_spread_whatever_weights_go_with(slope):
    found = []
    for draw in range(250):
        rng = np.random.default_rng(draw)
        truth = rng.random(1_000) < 0.3
        score = rng.normal(1.5 * truth)
        y = (truth & (rng.random(1_000) < 0.3)).astype(float)
        weight = np.exp(slope * score + 0.3 * rng.normal(size=1_000))
        counts = uc.ScoreCounts.from_rows(y, score, unlabeled=0, sample_weight=weight)
        shares = uc.Shares.from_prevalence(counts, (weight @ truth) / weight.sum())
        each = estimate_metric(counts, shares, "roc_auc")
        wins = (score[truth][:, None] > score[~truth]) @ weight[~truth]
        area = weight[truth] @ wins / weight[truth].sum() / weight[~truth].sum()
        found.append((each.value - area, each.standard_error**2))
    error, variance = np.array(found).T
    # 250 draws give a standard deviation to 5 %; at Kish's size it would be .79 or 1.16 of it.
    assert np.sqrt(variance.mean()) == pytest.approx(error.std(), rel=0.13)
