"""The lift curve, its area in units of AUC, and how far that can err over all labellings."""

import itertools
import math

import numpy as np
import pytest

import undercount as uc
from undercount.errors import InputError
from undercount.theory.lift import (
    auc_from_lift,
    expected_labelled_auc,
    lift_curve,
    lift_from_auc,
    lift_tail_bound,
    lift_variance,
    required_labels,
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


# Figure 1a of the AUL paper: ten positives and ten negatives by falling score.
FIGURE_1 = [1, 1, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1, 0, 0]


def areas(y, score, labelled):
    """AUL^PU of every choice of `labelled` positives, straight from the paper's eq. 4."""
    score = np.asarray(score, dtype=float)
    below = np.array([np.mean((s > score) + 0.5 * (s == score)) for s in score])
    positives = np.flatnonzero(y)
    return np.array([below[list(c)].mean() for c in itertools.combinations(positives, labelled)])


@pytest.mark.parametrize("labelled", [1, 2, 4, 5])
@pytest.mark.parametrize("score", [[9, 8, 7, 6, 5, 4, 3, 2], [3, 3, 3, 2, 2, 1, 1, 1]])
def test_variance_equals_enumeration(score, labelled):
    y = [1, 0, 1, 1, 0, 0, 1, 1]
    counts = uc.ScoreCounts.from_rows(y, score)
    expected = areas(y, score, labelled).var()
    assert lift_variance(counts, labelled=labelled) == pytest.approx(expected, rel=1e-12, abs=1e-16)


@pytest.mark.parametrize("method", ["serfling", "chebyshev"])
@pytest.mark.parametrize("labelled", [1, 3, 5, 9, 10])
def test_bounds_hold_on_the_papers_example(method, labelled):
    found = areas(FIGURE_1, range(20, 0, -1), labelled)
    truth = areas(FIGURE_1, range(20, 0, -1), 10)[0]
    for error in (0.02, 0.05, 0.1, 0.2, 0.3):
        probability = np.mean(np.abs(found - truth) >= error - 1e-12)
        for prevalence in (None, 0.5):
            bound = lift_tail_bound(
                error, labelled=labelled, positives=10, prevalence=prevalence, method=method
            )
            assert probability <= bound <= 1


def test_the_printed_bound_fails_where_ours_holds():
    found = areas(FIGURE_1, range(20, 0, -1), 5)
    error = 0.1
    probability = np.mean(np.abs(found - 0.62) >= error - 1e-12)
    counts = uc.ScoreCounts.from_rows(FIGURE_1, range(20, 0, -1))
    variance = lift_variance(counts, labelled=5)
    assert probability == pytest.approx(0.286, abs=5e-4)
    assert variance / error == pytest.approx(0.079, abs=5e-4)  # as printed: below the probability
    assert variance / error**2 >= probability


def test_the_widest_variance_is_reached_with_half_on_top_and_half_at_the_bottom():
    n, half = 4000, 500
    y = np.zeros(n)
    y[:half] = y[-half:] = 1
    counts = uc.ScoreCounts.from_rows(y, np.arange(n, 0, -1))
    widest = lift_tail_bound(
        0.5, labelled=7, positives=2 * half, prevalence=0.25, method="chebyshev"
    )
    assert lift_variance(counts, labelled=7) / 0.25 == pytest.approx(widest, rel=1e-5)
    assert lift_variance(counts, labelled=7) / 0.25 <= widest


def test_bounds_by_hand():
    assert lift_tail_bound(0.1, labelled=100) == pytest.approx(2 * math.exp(-2), rel=1e-12)
    found = lift_tail_bound(0.1, labelled=50, positives=101)
    assert found == pytest.approx(2 * math.exp(-2 * 50 * 0.01 / (1 - 49 / 101)), rel=1e-12)
    assert lift_tail_bound(0.1, labelled=50, method="chebyshev") == pytest.approx(0.5)
    found = lift_tail_bound(0.1, labelled=50, positives=101, method="chebyshev")
    assert found == pytest.approx(51 / 100 * 0.25 / 50 / 0.01)
    assert lift_tail_bound(1e-6, labelled=10, positives=10) == 0
    assert lift_tail_bound(1e-6, labelled=1) == 1


@pytest.mark.parametrize("method", ["serfling", "chebyshev"])
@pytest.mark.parametrize("positives", [None, 3, 40, 1000, 10**6])
@pytest.mark.parametrize("prevalence", [None, 0.3])
@pytest.mark.parametrize("error", [0.5, 0.1, 0.02])
def test_required_labels_is_the_smallest_number_that_keeps_the_bound(
    method, positives, prevalence, error
):
    settings = {"positives": positives, "prevalence": prevalence, "method": method}
    number = required_labels(error, confidence_level=0.9, **settings)
    assert lift_tail_bound(error, labelled=number, **settings) <= 0.1 * (1 + 1e-9)
    if number > 1:
        assert lift_tail_bound(error, labelled=number - 1, **settings) > 0.1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lift_tail_bound(0, labelled=5), "error must be above 0; got 0"),
        (lambda: lift_tail_bound(0.1, labelled=0), "labelled must be a whole number of at least 1"),
        (
            lambda: lift_tail_bound(0.1, labelled=9, positives=8),
            "from 1 to 8 .all positives.; got 9",
        ),
        (lambda: lift_tail_bound(0.1, labelled=2.5), "labelled must be a whole number"),
        (lambda: lift_tail_bound(0.1, labelled=2, method="normal"), "method must be 'serfling'"),
        (
            lambda: lift_tail_bound(0.1, labelled=2, prevalence=2, method="chebyshev"),
            "prevalence must be between 0 and 1; got 2",
        ),
        (lambda: required_labels(-0.1), "error must be above 0"),
        (lambda: required_labels(float("nan")), "error must be above 0"),
        (lambda: required_labels(0.1, confidence_level=1), "confidence_level must be in"),
        (lambda: required_labels("small"), "error must be above 0; got 'small'"),
        (lambda: required_labels(0.1, positives=0), "positives must be a whole number of at least"),
        (lambda: lift_tail_bound(0.1, labelled=float("nan")), "labelled must be a whole number"),
        (lambda: lift_tail_bound(0.1, labelled="2"), "labelled must be a whole number"),
    ],
)
def test_bad_bounds(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_weights_have_no_subsets():
    counts = uc.ScoreCounts.from_rows([1, 1, 0], [3, 2, 1], sample_weight=[1, 2, 1])
    with pytest.raises(InputError, match="may not carry weights"):
        lift_variance(counts, labelled=1)
