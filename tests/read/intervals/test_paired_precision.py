"""The jackknife against leaving rows out one by one."""

import numpy as np
import pytest

import undercount as uc
from undercount.assume.mixture import design_of
from undercount.read.intervals.paired import LeftOutPrecision, PairedRows


def precision_error(one, other, labels, shares, target):
    """The error of the difference of two average precisions."""
    counts = uc.ScoreCounts.from_rows(labels, one, unlabeled=-1)
    rows = PairedRows(labels, design_of(counts, shares, "single-sample", target))
    first, second = (LeftOutPrecision(rows.scored(score), shares) for score in (one, other))
    return first.error(second)


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
