"""The jackknife against leaving rows out one by one."""

import numpy as np
import pytest

import undercount as uc
from undercount.assume.mixture import design_of
from undercount.read.intervals.paired import ModelPairs, ModelRows


def precision_error(one, other, labels, shares, target):
    """The error of the difference of two average precisions."""
    models = []
    for score in (one, other):
        counts = uc.ScoreCounts.from_rows(labels, score, unlabeled=-1, compact=True)
        design = design_of(counts, shares, shares.sampling, target)
        kinds = [score[labels == label] for label in (1, -1, 0)]
        models.append(ModelRows(counts, kinds, design))
    return ModelPairs(models).area_error("average_precision", 0, 1)


def average_precision(score, labelled, positives):
    """Mean over labelled rows of [1 + (S1 - 1)(P - 1)/(S - 1)]/M1, row by row."""
    found = [
        (1 + ((labelled & (score >= x)).sum() - 1) * (positives - 1) / (labelled.sum() - 1))
        / (score >= x).sum()
        for x in score[labelled]
    ]
    return np.mean(found)


def rows(seed=3, n_rows=60):
    rng = np.random.default_rng(seed)
    truth = rng.random(n_rows) < 0.5
    labels = np.where(truth & (rng.random(n_rows) < 0.5), 1, -1)
    labels[~truth & (rng.random(n_rows) < 0.2)] = 0
    # Whole numbers, so that rows tie.
    one, other = (np.rint(3 * rng.normal(truth) * scale) for scale in (1.0, 0.5))
    return labels, one, other


def test_error_of_these_rows_by_leaving_labels_out():
    labels, one, other = rows()
    labelled, unlabeled = labels == 1, labels == -1
    shares = uc.Shares(0.3)
    positives = labelled.sum() + 0.3 * unlabeled.sum()
    left = []
    for i in np.flatnonzero(labelled):
        without = labelled.copy()
        without[i] = False
        gaps = [average_precision(score, without, positives) for score in (one, other)]
        left.append(gaps[0] - gaps[1])
    size = labelled.sum()
    variance = (size - 1) / size * np.sum((left - np.mean(left)) ** 2)
    expected = np.sqrt((1 - size / positives) * variance)
    found = precision_error(one, other, labels, shares, "dataset")
    assert found == pytest.approx(expected, rel=1e-12)


def test_error_of_these_rows_if_the_label_frequency_is_known():
    labels, one, other = rows()
    labelled = labels == 1
    frequency = 0.6
    counts = uc.ScoreCounts.from_rows(labels, one, unlabeled=-1)
    shares = uc.Shares.from_label_frequency(counts, frequency)

    def gap(labelled):
        positives = labelled.sum() / frequency
        found = [average_precision(score, labelled, positives) for score in (one, other)]
        return found[0] - found[1]

    # Labels are given one by one, so their number is random: squares around the estimate itself.
    squares = 0.0
    for i in np.flatnonzero(labelled):
        without = labelled.copy()
        without[i] = False
        squares += (gap(without) - gap(labelled)) ** 2
    expected = np.sqrt((1 - frequency) * squares)
    found = precision_error(one, other, labels, shares, "dataset")
    assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("given", ["unlabeled_prevalence", "prevalence", "label_frequency"])
def test_error_of_the_population_by_leaving_rows_out(given):
    labels, one, other = rows()
    labelled, unlabeled = labels == 1, labels == -1
    shares = uc.Shares(0.3, given=given)
    positives = labelled.sum() + 0.3 * unlabeled.sum()
    left = []
    for i in range(len(labels)):
        keep = np.arange(len(labels)) != i
        fewer = labelled[keep].sum() + 0.3 * unlabeled[keep].sum()
        if given == "prevalence":
            fewer = positives / len(labels) * keep.sum()
        if given == "label_frequency":
            fewer = positives / labelled.sum() * labelled[keep].sum()
        gaps = [average_precision(score[keep], labelled[keep], fewer) for score in (one, other)]
        left.append(gaps[0] - gaps[1])
    size = len(labels)
    expected = np.sqrt((size - 1) / size * np.sum((left - np.mean(left)) ** 2))
    found = precision_error(one, other, labels, shares, "population")
    assert found == pytest.approx(expected, rel=1e-12)


def test_two_labels_say_nothing():
    labels, score = np.array([1, 1, -1, -1]), np.arange(4.0)
    assert np.isnan(precision_error(score, -score, labels, uc.Shares(0.1), "dataset"))


def precision_apart(score, labelled, unlabeled, positives):
    """The same if labelled rows were drawn apart: each takes the place of an unlabeled one."""
    found = []
    for x in score[labelled]:
        above = (score[unlabeled] >= x).sum() * (1 - 1 / unlabeled.sum())
        pairs = ((score[labelled] >= x).sum() - 1) * (positives - 1) / (labelled.sum() - 1)
        found.append(1 / (1 + above) + pairs / (2 + above))
    return np.mean(found)


@pytest.mark.parametrize("target", ["dataset", "population"])
def test_error_of_labels_drawn_apart(target):
    labels, one, other = rows()
    labels[labels == 0] = -1
    shares = uc.Shares(0.3, sampling="case-control")

    def gap(labelled, unlabeled):
        positives = 0.3 * unlabeled.sum()
        one_, other_ = (precision_apart(s, labelled, unlabeled, positives) for s in (one, other))
        return one_ - other_

    def variance(kind):
        """Two samples, each left out row by row."""
        kinds = {1: labels == 1, -1: labels == -1}
        left = []
        for i in np.flatnonzero(kinds[kind]):
            keep = np.arange(len(labels)) != i
            left.append(gap(kinds[1] & keep, kinds[-1] & keep))
        return (len(left) - 1) * np.var(left)

    expected = variance(1) + variance(-1)
    if target == "dataset":
        # Labelled rows and the hidden positives of these rows are samples of one population.
        n_labelled, n_unlabeled = (labels == 1).sum(), (labels == -1).sum()
        expected = variance(1) * (1 + n_labelled / (0.3 * n_unlabeled))
    found = precision_error(one, other, labels, shares, target)
    assert found == pytest.approx(np.sqrt(expected), rel=1e-12)
