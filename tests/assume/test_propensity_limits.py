"""Labelling bias cannot take a metric out of its range."""

import numpy as np
import pytest

import undercount as uc
from undercount.assume.propensity import biased_points
from undercount.read.sensitivity import sweep


@pytest.fixture
def ends():
    # Labelled first and last of four rows, whose positions are 7/8 and 1/8.
    return uc.ScoreCounts.from_rows([1, None, None, 1], [4, 3, 2, 1])


def test_biased_area_stays_between_0_and_1(ends):
    # Half a positive among two unlabeled rows: the prevalence is 2.5/4, and the mean position m of
    # the positives is an area of (m - 0.3125)/0.375.
    shares = uc.Shares(0.25)
    for ratio in (1.0, 1.2, 1.5, 2.0, 20.0):
        high = (7 / 8 * ratio + 1 / 8) / (ratio + 1)
        expected = [(mean - 0.3125) / 0.375 for mean in (1 - high, high)]
        found = uc.biased_auc(ends, shares, ratio)
        assert (found.low, found.high) == pytest.approx(np.clip(expected, 0, 1))
    assert max(expected) > 1
    swept = sweep(ends, shares, "roc_auc", over="gamma")
    assert (swept["roc_auc_low"][-1], swept["roc_auc_high"][-1]) == (0, 1)


def test_an_area_that_no_bias_makes_possible_is_left_outside():
    counts = uc.ScoreCounts.from_rows([1, None, None, None], [4, 3, 2, 1])
    # All labels first: the area is 1 without hidden positives and (7/8 - 0.3125)/0.375 with these.
    found = uc.biased_auc(counts, uc.Shares(0.5), 3.0)
    assert found.low == found.high == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("tpr", "fpr", "prevalence"), [(0.5, 0.02, 0.3), (0.5, 0.97, 0.3), (0.5, 0.5, 0.3)]
)
def test_no_more_positives_are_flagged_than_rows(tpr, fpr, prevalence):
    point = uc.OperatingPoint(0.0, tpr, fpr, prevalence)
    flagged = prevalence * tpr + (1 - prevalence) * fpr
    # Recall is 1/(1 + Γ) to Γ/(1 + Γ) at one half; flagged negatives are none or all at the limits.
    low, high = biased_points(point, 9.0)
    assert low.recall == pytest.approx(max(0.1, (flagged - (1 - prevalence)) / prevalence))
    assert high.recall == pytest.approx(min(0.9, flagged / prevalence))
    for end in (low, high):
        assert -1e-12 <= end.fpr <= 1 + 1e-12
        assert end.precision <= 1 + 1e-12
        assert end.predicted_positive_rate == pytest.approx(flagged)


def test_a_point_outside_its_range_stays_without_bias():
    point = uc.OperatingPoint(0.0, 0.5, -0.1, 0.3)
    for end in biased_points(point, 1.0):
        assert (end.tpr, end.fpr) == pytest.approx((0.5, -0.1))
