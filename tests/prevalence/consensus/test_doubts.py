"""Where labelled and unlabeled rows bound the share of hidden positives from above only."""

import numpy as np
import pytest

import undercount as uc
from undercount.prevalence import Consensus, NoisyConsensus
from undercount.prevalence.consensus.doubts import find_doubt, supposes_too_many


def counted(labelled, unlabeled):
    y = np.repeat([1, 0], [len(labelled), len(unlabeled)])
    return uc.ScoreCounts.from_rows(y, np.concatenate([labelled, unlabeled]), unlabeled=0)


def mixture(rng, n_labelled=200, n_hidden=200, n_negative=1800, distance=3.0):
    positive = rng.normal(distance, 1, n_labelled + n_hidden)
    return positive[:n_labelled], np.r_[positive[n_labelled:], rng.normal(0, 1, n_negative)]


def doubt(labelled, unlabeled, share=0.1, sampling="single-sample"):
    return find_doubt(counted(labelled, unlabeled), share, sampling)


def test_hard_predictions_and_saturated_scores_have_no_shape():
    rng = np.random.default_rng(0)
    labelled, unlabeled = mixture(rng)
    assert doubt(labelled, unlabeled) == ""
    assert doubt(labelled > 2, unlabeled > 2) == "ties"
    assert doubt(np.minimum(labelled, 2.5), np.minimum(unlabeled, 2.5)) == "ties"
    assert doubt(np.minimum(labelled, 3.5), np.minimum(unlabeled, 3.5)) == ""


def test_negatives_above_the_positives_are_seen():
    rng = np.random.default_rng(1)
    labelled, unlabeled = mixture(rng)
    above = np.r_[unlabeled, rng.normal(6, 0.5, 150)]
    assert doubt(labelled, above) == "overtaken"


@pytest.mark.parametrize("distance", [1.0, 4.0])
def test_alarms_are_as_rare_as_promised_where_no_negative_stands_above(distance):
    rng = np.random.default_rng(2)
    alarms = [doubt(*mixture(rng, distance=distance)) == "overtaken" for _ in range(400)]
    assert np.mean(alarms) <= 0.01 + 3 * (0.01 * 0.99 / 400) ** 0.5


def test_alarms_do_not_depend_on_the_unit_of_weights():
    rng = np.random.default_rng(3)
    labelled, unlabeled = mixture(rng, 60, 60, 500)
    score = np.r_[labelled, unlabeled, rng.normal(6, 0.5, 60)]
    y = np.repeat([1, 0], [60, score.size - 60])
    for unit in (1.0, 1000.0):
        weight = np.full(score.size, unit)
        counts = uc.ScoreCounts.from_rows(y, score, sample_weight=weight, unlabeled=0)
        assert find_doubt(counts, 0.1, "single-sample") == "overtaken"


@pytest.mark.parametrize(
    ("labels", "share", "expected"),
    [(34, 0.2, True), (34, 0.05, True), (34, 0.0, False), (600, 0.2, False), (150, 0.1, True)],
)
def test_labels_that_would_stand_for_many(labels, share, expected):
    counts = counted(np.ones(labels), np.zeros(10_000))
    assert supposes_too_many(counts, share) == expected


def test_labels_drawn_apart_may_stand_for_many():
    rng = np.random.default_rng(4)
    labelled, unlabeled = mixture(rng, 50, 2_000, 18_000)
    assert doubt(labelled, unlabeled, 0.1) == "many"
    assert doubt(labelled, unlabeled, 0.1, "case-control") == ""


@pytest.mark.parametrize("kind", [Consensus, NoisyConsensus])
def test_a_doubt_opens_the_interval_downward(kind):
    rng = np.random.default_rng(5)
    labelled, unlabeled = mixture(rng, distance=6.0)
    apart = kind().fit(counted(labelled, unlabeled))
    assert apart.interval_.low > 0
    assert apart.diagnostics_["doubt"] == ""
    above = kind().fit(counted(labelled, np.r_[unlabeled, rng.normal(9, 0.5, 150)]))
    assert above.interval_.low == 0
    assert above.diagnostics_["doubt"] == "overtaken"
    assert not above.diagnostics_["identified"]
    tied = kind().fit(counted(labelled > 2, unlabeled > 2))
    assert (tied.interval_.low, tied.interval_.high) == (0.0, tied.upper_bound_)


@pytest.mark.parametrize(("chance", "begins_at_zero"), [(0.9, True), (0.4, False)])
def test_where_most_positives_are_labelled_none_may_be_left(chance, begins_at_zero):
    """Student's t: negatives reach the best scores, so that the estimate is too high."""
    rng = np.random.default_rng(5)
    truth = rng.random(4000) < 0.3
    score = rng.standard_t(4, 4000) + 3 * truth
    labelled = truth & (rng.random(4000) < chance)
    fitted = Consensus().fit(np.where(labelled, 1, -1), score, unlabeled=-1)
    assert (fitted.interval_.low == 0) is begins_at_zero
    assert truth[~labelled].mean() in fitted.interval_


def test_classes_apart_tell_how_few_are_left():
    rng = np.random.default_rng(6)
    truth = rng.random(4000) < 0.3
    labelled = truth & (rng.random(4000) < 0.9)
    y, score = np.where(labelled, 1, -1), rng.normal(size=4000) + 6 * truth
    fitted = Consensus().fit(y, score, unlabeled=-1)
    assert 0 < fitted.interval_.low < truth[~labelled].mean() < fitted.interval_.high
