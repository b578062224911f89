"""The lift curve, and its area in units of AUC."""

import itertools

import numpy as np
import pytest

import undercount as uc
from undercount.errors import InputError
from undercount.theory.lift import (
    auc_from_lift,
    expected_labelled_auc,
    lift_curve,
    lift_from_auc,
)


def pairwise(one, other):
    """Share of pairs in which the first is higher, ties one half (the paper's S)."""
    return np.mean([(a > b) + 0.5 * (a == b) for a in one for b in other])


def test_points_by_hand():
    counts = uc.ScoreCounts.from_rows([1, None, 1, 0], [4, 3, 3, 1])
    curve = lift_curve(counts)
    assert curve.threshold.tolist() == [np.inf, 4, 3, 1]
    assert curve.recall.tolist() == [0, 0.5, 1, 1]
    assert curve.predicted_positive_rate.tolist() == [0, 0.25, 0.75, 1]
    assert curve.area == pytest.approx(pairwise([4, 3], [4, 3, 3, 1]))  # a row level with itself


def test_area_with_weights():
    score, weight = np.array([3.0, 2.0, 2.0, 1.0]), np.array([0.5, 2.0, 1.0, 3.0])
    counts = uc.ScoreCounts.from_rows([1, 1, None, None], score, sample_weight=weight)
    higher = (score[:2, None] > score) + 0.5 * (score[:2, None] == score)
    expected = weight[:2] @ higher @ weight / (weight[:2].sum() * weight.sum())
    assert lift_curve(counts).area == pytest.approx(expected, rel=1e-14)


def test_the_area_is_that_of_a_complete_curve_if_all_positives_are_labelled():
    counts = uc.ScoreCounts.from_rows([1, 0, 1, 0, 0], [5, 4, 3, 3, 1])
    assert lift_curve(counts).area == pytest.approx(uc.labelled_curve(counts).lift_auc, rel=1e-14)


def test_conversions_are_inverse():
    for auc, prevalence in itertools.product([0, 0.3, 0.5, 0.97, 1], [0, 0.2, 0.9]):
        area = lift_from_auc(auc, prevalence)
        assert auc_from_lift(area, prevalence) == pytest.approx(auc, abs=1e-12)
    assert lift_from_auc(0.9, 1.0) == 0.5


def test_naive_auc_is_true_only_without_hidden_positives():
    assert expected_labelled_auc(0.8, prevalence=0.3, label_frequency=1) == pytest.approx(0.8)
    assert expected_labelled_auc(0.8, prevalence=0.3, label_frequency=0.1) < 0.8
    assert expected_labelled_auc(0.3, prevalence=0.3, label_frequency=0.1) > 0.3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lift_from_auc(1.2, 0.5), "auc must be between 0 and 1; got 1.2"),
        (lambda: lift_from_auc(0.7, float("nan")), "prevalence must be between 0 and 1; got nan"),
        (lambda: lift_from_auc("0.7", 0.5), "auc must be between 0 and 1; got '0.7'"),
        (lambda: auc_from_lift(0.7, 1.0), "prevalence must be below 1"),
        (
            lambda: auc_from_lift(0.9, 0.5),
            "lies between 0.25 and 0.75; got 0.9. The largest prevalence that fits is 0.2",
        ),
        (
            lambda: expected_labelled_auc(0.7, prevalence=1, label_frequency=1),
            "may not both be 1",
        ),
        (
            lambda: lift_curve(uc.ScoreCounts.from_rows([None, 0], [1, 2])),
            "labelled positive row is needed",
        ),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_compact_counts_have_the_same_area():
    rng = np.random.default_rng(0)
    y, score = np.where(rng.random(300) < 0.1, 1.0, np.nan), rng.normal(size=300)
    full, compact = (uc.ScoreCounts.from_rows(y, score, compact=c) for c in (False, True))
    assert len(compact.score) < len(full.score)
    assert lift_curve(compact).area == pytest.approx(lift_curve(full).area, rel=1e-13)
