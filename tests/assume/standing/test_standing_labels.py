"""Labels that stand for positives, against sums over rows and borders made one by one."""

import itertools

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, precision_score, recall_score, roc_auc_score

import undercount as uc
from undercount.assume.standing.labels import LabelWeights

RNG = np.random.default_rng(3)
SCORE = np.round(RNG.normal(size=60), 1)
TRUTH = RNG.random(60) < 0.4
LABELS = np.where(TRUTH & (RNG.random(60) < 0.6), 1, -1)


def standing(each, error=None, **more):
    each = np.broadcast_to(np.asarray(each, float), SCORE.shape)
    error = np.zeros(len(SCORE)) if error is None else error
    return LabelWeights(LABELS, SCORE, each, error, ("what is said",), **more)


def test_labels_that_stand_for_themselves_alone_are_the_truth():
    alone, flagged = standing(1.0), SCORE >= 0.3
    found = {
        "recall": recall_score(LABELS == 1, flagged),
        "precision": precision_score(LABELS == 1, flagged),
        "roc_auc": roc_auc_score(LABELS == 1, SCORE),
        "average_precision": average_precision_score(LABELS == 1, SCORE),
    }
    for metric, truth in found.items():
        place = 0.3 if metric in ("recall", "precision") else None
        estimate = alone.estimate(metric, place)
        assert estimate.value == pytest.approx(truth, rel=1e-12)
        assert estimate.needs == ("what is said",)
        # Nothing is left to chance.
        assert alone.influence(metric, place) @ alone.influence(metric, place) == 0


@pytest.mark.parametrize("metric", ["recall", "precision", "roc_auc", "lift_auc"])
@pytest.mark.parametrize("gamma", [1.0, 1.7])
def test_bounds_are_the_extremes_over_all_borders(metric, gamma):
    each = 1 + RNG.random(60)
    found = standing(each)
    place = 0.3 if metric in ("recall", "precision") else None
    labelled, scores, values = LABELS == 1, SCORE[LABELS == 1], []
    extra = each[labelled] - 1
    for border, turned in itertools.product([*np.unique(scores), np.inf], (False, True)):
        high = (scores >= border) != turned
        tilted = np.ones(60)
        tilted[labelled] = 1 + np.where(high, extra / gamma, extra * gamma)
        values.append(standing(tilted, target="population").estimate(metric, place).value)
    bounds = found.bounds(metric, gamma, place)
    # At a threshold the labels that are there rule values out, which a population does not know.
    limits = found.certain_limits(metric, place) if place else (0.0, 1.0)
    least, most = (np.clip(end, *limits) for end in (min(values), max(values)))
    assert (bounds.low, bounds.high) == pytest.approx((least, most), rel=1e-12)


def test_a_part_of_the_rows_keeps_what_its_labels_stand_for():
    each, some = 1 + RNG.random(60), np.arange(0, 60, 2)
    found = standing(each, weight=np.full(60, 2.0), cluster=np.arange(60) // 2).take(some)
    assert found.stands_for == pytest.approx(2 * each[some][LABELS[some] == 1])
    assert found.place.tolist() == some.tolist()
    assert found.take(np.arange(3), "population").place.tolist() == [0, 2, 4]


def test_labels_may_not_stand_for_all_rows():
    with pytest.raises(uc.InputError, match="must stand for more than none and fewer than all"):
        standing(100.0)
