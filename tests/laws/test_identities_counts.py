"""Identities of the table: without hidden positives it is scikit-learn (18), and it adds (29)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

import undercount as uc

EXACT = {"rel": 1e-12, "abs": 1e-12}
law = settings(deadline=None, max_examples=40)
EMPTY = uc.ScoreCounts.from_counts([], [], [], [])


@st.composite
def rows(draw, labels=(1.0, 0.0, np.nan), weighted=st.booleans()):  # noqa: B008 - a strategy has no state
    n_rows = draw(st.integers(1, 25))
    y = draw(st.lists(st.sampled_from(labels), min_size=n_rows, max_size=n_rows))
    tied = st.lists(st.integers(0, 4), min_size=n_rows, max_size=n_rows)
    score = draw(tied | st.permutations(range(n_rows)))
    weight = None
    if draw(weighted):
        weight = np.array(draw(st.lists(st.floats(0.1, 3), min_size=n_rows, max_size=n_rows)))
    return np.array(y), np.array(score, dtype=float), weight


def count(y, score, weight):
    return uc.ScoreCounts.from_rows(y, score, sample_weight=weight)


def same(one, other):
    assert np.array_equal(one.score, other.score)
    for name in ("positive", "negative", "unlabeled"):
        assert getattr(one, name) == pytest.approx(getattr(other, name), **EXACT)
    assert one.squared_weight == pytest.approx(other.squared_weight, **EXACT)


@law
@given(rows(labels=(1.0, np.nan)), st.integers(0, 4))
def test_18_no_hidden_positives_gives_scikit_learns_values(data, threshold):
    # One positive above and one unlabeled row below every threshold, so that no metric is 0/0.
    y, score = np.append([1.0, np.nan], data[0]), np.append([4.0, 0.0], data[1])
    weight = None if data[2] is None else np.append([1.0, 1.0], data[2])
    threshold = max(threshold, score.min() + 1)
    truth, predicted = y == 1, score >= threshold
    curve = uc.mixture_curve(count(y, score, weight), uc.Shares(0.0), clean=False)
    area = metrics.roc_auc_score(truth, score, sample_weight=weight)
    assert curve.roc_auc == pytest.approx(area, rel=1e-9)
    area = metrics.average_precision_score(truth, score, sample_weight=weight)
    assert curve.average_precision == pytest.approx(area, rel=1e-9)
    point = curve.at(threshold)
    for name, function in {
        "precision": metrics.precision_score,
        "recall": metrics.recall_score,
        "f1": metrics.f1_score,
        "accuracy": metrics.accuracy_score,
        "balanced_accuracy": metrics.balanced_accuracy_score,
        "mcc": metrics.matthews_corrcoef,
        "kappa": metrics.cohen_kappa_score,
    }.items():
        expected = function(truth, predicted, sample_weight=weight)
        assert getattr(point, name) == pytest.approx(expected, **EXACT), name


@law
@given(rows(), rows(), rows())
def test_29_counts_are_a_commutative_monoid(first, second, third):
    a, b, c = count(*first), count(*second), count(*third)
    same(a + b, b + a)
    same((a + b) + c, a + (b + c))
    same(a + EMPTY, a)
    same(EMPTY + a, a)


@law
@given(rows(), st.integers(2, 4), st.randoms(use_true_random=False))
def test_29_counting_parts_and_adding_is_counting_all(data, n_parts, random):
    part = np.array([random.randrange(n_parts) for _ in data[0]])
    total = EMPTY
    for k in range(n_parts):
        if (part == k).any():
            total = total + count(
                *(None if column is None else column[part == k] for column in data)
            )
    same(total, count(*data))
