"""Paired differences by resampling rows with all scores together."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from undercount.rates import FloatArray, Rates
from undercount.shares import Shares

BoolArray = NDArray[np.bool_]
# Entries of a matrix of weights; many rows take fewer resamples, of which a standard error needs
# no more than the fewest.
LARGEST_MATRIX, FEWEST = 50_000_000, 50


class _Read(Rates[FloatArray]):
    """Rates of many resamples at one threshold."""

    def __init__(self, tpr: FloatArray, fpr: FloatArray, prevalence: float) -> None:
        self.tpr, self.fpr, self.prevalence = tpr, fpr, prevalence


def resampled_differences(
    labelled: BoolArray,
    rows: Mapping[str, FloatArray],
    thresholds: Mapping[str, float],
    shares: Shares,
    *,
    n_resamples: int,
    random_state: int | None,
    labels_only: bool,
) -> Callable[[str, str, str], FloatArray]:
    """Return a function of (metric, one, other) that gives differences of the resamples.

    With `labels_only` the choice of labelled rows is resampled (a new draw without replacement is
    imitated by shrinking deviations by √(1 - label frequency)); else unlabeled rows vary too.
    """
    rng = np.random.default_rng(random_state)
    n_labelled, n_unlabeled = int(labelled.sum()), int((~labelled).sum())
    n_resamples = max(FEWEST, min(n_resamples, LARGEST_MATRIX // len(labelled)))
    weights = rng.poisson(1.0, (n_resamples, n_labelled)).astype(np.float64)
    fixed = labels_only and shares.sampling == "single-sample"
    frequency = 0.0
    prevalence = shares.unlabeled_prevalence
    if shares.sampling == "single-sample":
        positives = shares.label_purity * n_labelled + prevalence * n_unlabeled
        prevalence = positives / (n_labelled + n_unlabeled)
        frequency = shares.label_purity * n_labelled / positives if fixed else 0.0
    others = None if fixed else rng.poisson(1.0, (n_resamples, n_unlabeled)).astype(np.float32)
    shrink = np.sqrt(1 - frequency)

    def difference(metric: str, one: str, other: str) -> FloatArray:
        values = []
        for name in (one, other):
            score = rows[name]
            if metric == "average_precision":
                values.append(_precisions(score, labelled, weights, others, prevalence, shares))
            else:
                head = score >= thresholds[name]
                values.append(_at(metric, head, labelled, weights, others, prevalence, shares))
        gap = values[0] - values[1]
        return np.asarray(np.mean(gap) + shrink * (gap - np.mean(gap)), dtype=np.float64)

    return difference


def _unlabeled_rate(
    head: BoolArray, labelled: BoolArray, others: NDArray[np.float32] | None
) -> FloatArray:
    flags = head[~labelled]
    if others is None:
        return np.array([flags.mean()])
    return np.asarray(others @ flags.astype(np.float32) / others.sum(axis=1), dtype=np.float64)


def _at(
    metric: str,
    head: BoolArray,
    labelled: BoolArray,
    weights: FloatArray,
    others: NDArray[np.float32] | None,
    prevalence: float,
    shares: Shares,
) -> FloatArray:
    share, purity = shares.unlabeled_prevalence, shares.label_purity
    labelled_rate = weights @ head[labelled] / weights.sum(axis=1)
    unlabeled_rate = _unlabeled_rate(head, labelled, others)
    if others is None:
        # The rows of the data set stay; which of the flagged positives carry a label varies.
        flagged = head.mean()
        tpr = labelled_rate
        fpr = (flagged - prevalence * tpr) / (1 - prevalence)
    else:
        tpr = ((1 - share) * labelled_rate - (1 - purity) * unlabeled_rate) / (purity - share)
        fpr = (purity * unlabeled_rate - share * labelled_rate) / (purity - share)
    value = getattr(_Read(tpr, fpr, prevalence), metric)
    return np.asarray(value, dtype=np.float64)


def _precisions(
    score: FloatArray,
    labelled: BoolArray,
    weights: FloatArray,
    others: NDArray[np.float32] | None,
    prevalence: float,
    shares: Shares,
) -> FloatArray:
    """Average precision of each resample: precision at the labelled rows' scores, averaged."""
    order = np.argsort(-score[labelled], kind="stable")
    ranked = score[labelled][order]
    last = np.searchsorted(-ranked, -ranked, side="right") - 1  # ties share one threshold
    heavy = weights[:, order]
    heads = np.cumsum(heavy, axis=1)[:, last]
    recall = heads / weights.sum(axis=1, keepdims=True)
    outside = np.sort(score[~labelled])
    above = len(outside) - np.searchsorted(outside, ranked, side="left")
    if others is None:
        rate = np.broadcast_to(above / len(outside), recall.shape)
    else:
        sums = np.cumsum(others[:, np.argsort(-score[~labelled], kind="stable")], axis=1)
        rate = np.where(above > 0, sums[:, np.maximum(above - 1, 0)], 0) / sums[:, -1:]
    if shares.sampling == "single-sample":
        n_labelled, n_unlabeled = len(ranked), len(outside)
        rate = (n_labelled * recall + n_unlabeled * rate) / (n_labelled + n_unlabeled)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.where(rate > 0, prevalence * recall / rate, 0.0)
    return np.asarray((heavy * precision).sum(axis=1) / weights.sum(axis=1), dtype=np.float64)
