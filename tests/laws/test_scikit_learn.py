"""Without hidden positives every curve and area is scikit-learn's, whatever ties and weights (18).

Metrics at a threshold are compared in `test_metric_laws.py`, which knows all of them.
"""

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


def labelled(y, score, weight):
    return uc.labelled_curve(uc.ScoreCounts.from_rows(y, score, sample_weight=weight))


def nothing_hidden(y, score, weight):
    """All rows without a label are negative, and the curve is recovered at that."""
    counts = uc.ScoreCounts.from_rows(y, score, unlabeled=0, sample_weight=weight)
    return uc.mixture_curve(counts, uc.Shares(0.0), clean=False)


@pytest.mark.parametrize("curve_of", [labelled, nothing_hidden])
@settings(deadline=None, max_examples=40)
@given(rows=labelled_rows())
def test_areas_and_curves(curve_of, rows):
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
    assert labelled(*rows).partial_roc_auc(max_fpr) == pytest.approx(expected, abs=1e-12)
