"""Fully labelled data: every number equals scikit-learn's, whatever the order, ties and weights."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

import undercount as uc


@st.composite
def labelled_rows(draw):
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    n_rows = draw(st.integers(4, 200))
    levels = draw(st.sampled_from([2, 5, 1000]))
    y = rng.integers(0, 2, n_rows)
    y[:2] = [0, 1]
    score = np.round(rng.normal(size=n_rows) + y, 6)
    if levels < 1000:
        score = np.floor(score * levels / 3)
    weight = rng.integers(1, 4, n_rows) / 2 if draw(st.booleans()) else None
    return y, score, weight


def curve_of(y, score, weight):
    return uc.labelled_curve(uc.ScoreCounts.from_rows(y, score, sample_weight=weight))


@settings(deadline=None, max_examples=60)
@given(labelled_rows())
def test_areas_and_curves(rows):
    y, score, weight = rows
    curve = curve_of(*rows)
    assert curve.roc_auc == pytest.approx(
        metrics.roc_auc_score(y, score, sample_weight=weight), abs=1e-12
    )
    assert curve.average_precision == pytest.approx(
        metrics.average_precision_score(y, score, sample_weight=weight), abs=1e-12
    )
    fpr, tpr, threshold = metrics.roc_curve(y, score, sample_weight=weight, drop_intermediate=False)
    np.testing.assert_allclose(curve.fpr, fpr, atol=1e-12)
    np.testing.assert_allclose(curve.tpr, tpr, atol=1e-12)
    np.testing.assert_array_equal(curve.threshold, threshold)
    precision, recall, threshold = metrics.precision_recall_curve(y, score, sample_weight=weight)
    np.testing.assert_allclose(curve.precision[1:], precision[:-1][::-1], atol=1e-12)
    np.testing.assert_allclose(curve.recall[1:], recall[:-1][::-1], atol=1e-12)


@settings(deadline=None, max_examples=40)
@given(labelled_rows(), st.sampled_from([0.1, 0.3, 1.0]))
def test_partial_area(rows, max_fpr):
    y, score, weight = rows
    expected = metrics.roc_auc_score(y, score, sample_weight=weight, max_fpr=max_fpr)
    # scikit-learn gives the plain area at max_fpr=1, which McClish's scale leaves unchanged.
    assert curve_of(*rows).partial_roc_auc(max_fpr) == pytest.approx(expected, abs=1e-12)


METRICS = {
    "precision": metrics.precision_score,
    "recall": metrics.recall_score,
    "f1": metrics.f1_score,
    "mcc": metrics.matthews_corrcoef,
    "accuracy": metrics.accuracy_score,
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "kappa": metrics.cohen_kappa_score,
}


@settings(deadline=None, max_examples=40)
@given(labelled_rows(), st.sampled_from(sorted(METRICS)))
def test_threshold_metrics(rows, name):
    y, score, weight = rows
    threshold = float(np.median(score))
    predicted = score >= threshold
    if predicted.all():
        return  # several metrics are 0/0 there and scikit-learn calls them 0
    expected = METRICS[name](y, predicted, sample_weight=weight)
    assert getattr(curve_of(*rows).at(threshold), name) == pytest.approx(expected, abs=1e-12)


@settings(deadline=None, max_examples=30)
@given(labelled_rows())
def test_likelihood_ratios(rows):
    y, score, _ = rows
    threshold = float(np.median(score))
    point = curve_of(y, score, None).at(threshold)
    if 0 < point.fpr < 1:
        expected = metrics.class_likelihood_ratios(y, (score >= threshold).astype(int))
        assert point.positive_likelihood_ratio == pytest.approx(expected[0], abs=1e-12)
        assert point.negative_likelihood_ratio == pytest.approx(expected[1], abs=1e-12)


@settings(deadline=None, max_examples=40)
@given(labelled_rows(), st.randoms(use_true_random=False))
def test_row_order_transform_repetition_and_splitting_change_nothing(rows, random):
    y, score, _ = rows
    expected = uc.ScoreCounts.from_rows(y, score)
    order = np.array(random.sample(range(len(y)), len(y)))
    shuffled = uc.ScoreCounts.from_rows(y[order], score[order])
    transformed = uc.ScoreCounts.from_rows(y, np.exp(score / 50))
    twice = uc.ScoreCounts.from_rows(np.tile(y, 2), np.tile(score, 2))
    weighted = uc.ScoreCounts.from_rows(y, score, sample_weight=np.full(len(y), 2))
    padded = uc.ScoreCounts.from_rows(
        np.append(y, 1), np.append(score, 99), sample_weight=np.append(np.ones(len(y)), 0)
    )
    cut = random.randrange(1, len(y))
    parts = uc.ScoreCounts.from_rows(y[:cut], score[:cut]) + uc.ScoreCounts.from_rows(
        y[cut:], score[cut:]
    )
    for other, factor in (
        (shuffled, 1),
        (transformed, 1),
        (twice, 2),
        (weighted, 2),
        (padded, 1),
        (parts, 1),
    ):
        np.testing.assert_array_equal(other.positive, factor * expected.positive)
        np.testing.assert_array_equal(other.negative, factor * expected.negative)
