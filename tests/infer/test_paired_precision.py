"""The jackknife against leaving rows out one by one."""

import numpy as np
import pytest

import undercount as uc
from undercount.infer.flagged_rows import KindScores
from undercount.infer.mixture import design_of
from undercount.infer.paired import ModelPairs, ModelRows


def pairs(one, other, labels, shares, target):
    """Two models on the same rows."""
    models = []
    for score in (one, other):
        counts = uc.ScoreCounts.from_rows(labels, score, unlabeled=-1, compact=True)
        design = design_of(counts, shares, shares.sampling, target)
        kinds = [np.flatnonzero(labels == label) for label in (1, -1, 0)]
        models.append(ModelRows(counts, KindScores(score, kinds), design))
    return ModelPairs(models)


def precision_error(*rows):
    """The error of the difference of two average precisions."""
    return pairs(*rows).area_error("average_precision", 0, 1)


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


def test_skewness_of_these_rows_by_leaving_labels_out():
    labels, one, other = rows()
    labelled = labels == 1
    positives = labelled.sum() + 0.3 * (labels == -1).sum()
    left = []
    for i in np.flatnonzero(labelled):
        without = labelled.copy()
        without[i] = False
        left.append(np.subtract(*(average_precision(s, without, positives) for s in (one, other))))
    adds = np.mean(left) - left
    free = 1 - labelled.sum() / positives
    found = pairs(one, other, labels, uc.Shares(0.3), "dataset")
    error = found.area_error("average_precision", 0, 1)
    skewness = found.precision_skewness(0, 1, error)
    # A mean of a finite population: Σ of cubes, (1 - f)(1 - 2f) and (1 - f)² of it.
    cubes = np.sum(adds**3) / error**3
    assert abs(cubes) > 0.05
    expected = free * (2 * free - 1) * cubes, free**2 * cubes
    assert (skewness.third, skewness.joint) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("given", ["unlabeled_prevalence", "prevalence"])
def test_skewness_of_the_population_is_that_of_the_labels(given):
    labels, one, other = rows()
    labelled = labels == 1
    left = []
    for i in range(len(labels)):
        keep = np.arange(len(labels)) != i
        fewer = labelled[keep].sum() + 0.3 * (labels == -1)[keep].sum()
        if given == "prevalence":
            fewer = (labelled.sum() + 0.3 * (labels == -1).sum()) / len(labels) * keep.sum()
        gaps = [average_precision(s[keep], labelled[keep], fewer) for s in (one, other)]
        left.append(gaps[0] - gaps[1])
    found = pairs(one, other, labels, uc.Shares(0.3, given=given), "population")
    error = found.area_error("average_precision", 0, 1)
    skewness = found.precision_skewness(0, 1, error)
    of_labels = np.array(left)[labelled]
    cubes = np.sum((of_labels.mean() - of_labels) ** 3) / error**3
    assert (skewness.third, skewness.joint) == pytest.approx((cubes, cubes), rel=1e-9)


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
