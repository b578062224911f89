"""The low end of a share that scores alone tell allows for the overlap of the classes."""

import numpy as np
import pytest

import undercount as uc
from undercount.prevalence.low_end import lower_end

# Every labelled row above every unlabeled one but 20 of 100 that score as high.
APART = uc.ScoreCounts.from_counts([2, 1], [50, 0], [0, 0], [20, 80])


def test_classes_without_overlap_keep_their_low_end():
    # A = 1 - .2/2, so that 2(1 - A) = .2 is the hidden share itself, if negatives never score 2.
    assert APART.auc("positive", "unlabeled") == pytest.approx(0.9)
    assert lower_end(0.2, APART) == pytest.approx(0.2)
    assert lower_end(0.15, APART) == pytest.approx((0.15 - 0.4 * 0.2) / 0.6)


def test_less_than_one_row_is_none():
    # (.085 - .08)/.6 of 100 unlabeled rows are .83.
    assert lower_end(0.085, APART) == 0
    assert lower_end(0.0875, APART) == pytest.approx(0.0125)


def test_impure_labels_overlap_less_than_their_area_says():
    # With a purity of .9 an AUC of 1 leaves κ - (2A - 1) = .1 of hidden positives at most.
    assert lower_end(0.1, APART, label_purity=0.9) == pytest.approx(0.1)
    assert lower_end(0.1, APART) < 0.1


def test_it_never_rises():
    reversed_scores = uc.ScoreCounts.from_counts([2, 1], [0, 50], [0, 0], [80, 20])
    assert lower_end(0.9, reversed_scores) <= 0.9
    assert lower_end(0.5, APART) <= 0.5


def test_the_truth_of_an_even_overlap_lies_inside():
    """Two tenths of the largest overlap lie evenly under the positives: what every head shows."""
    rng = np.random.default_rng(0)
    held = []
    for _ in range(10):
        truth = rng.random(4000) < 0.15
        alike = ~truth & (rng.random(4000) < 0.06)
        score = rng.normal(np.where(truth | alike, 4.0, 0.0))
        y = np.where(truth & (rng.random(4000) < 0.5), 1, 0)
        found = uc.prevalence.Consensus().fit(y, score, unlabeled=0)
        held.append(truth[y == 0].mean() in found.interval_)
        assert truth[y == 0].mean() < found.unlabeled_prevalence_  # every estimate is too high
    assert np.mean(held) >= 0.9
