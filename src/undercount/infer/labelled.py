"""The curve of labelled rows alone."""

import numpy as np

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray, OperatingCurve, OperatingPoint


def labelled_curve(counts: ScoreCounts) -> OperatingCurve:
    """Read the curve of labelled positives against labelled negatives; unlabeled rows are left out.

    Notes
    -----
    Assumes: the labelled rows of both classes are a fair sample.
    Wrong when: labels exist only where somebody looked.

    Examples
    --------
    >>> import undercount as uc
    >>> counts = uc.ScoreCounts.from_rows([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1])
    >>> uc.labelled_curve(counts).roc_auc
    0.75
    """
    counts.require("positive", "negative")
    positive, negative, _ = counts.cumulative()
    return _curve(counts, positive, negative)


def naive_curve(counts: ScoreCounts) -> OperatingCurve:
    """Read the curve that calls every unlabeled row negative: what people compute today.

    Notes
    -----
    Assumes: no unlabeled row is positive.
    Wrong when: ever that is not so.

    Examples
    --------
    >>> import undercount as uc
    >>> counts = uc.ScoreCounts.from_rows([1, None, 1, None], [0.9, 0.6, 0.5, 0.1])
    >>> uc.naive_curve(counts).roc_auc
    0.75
    """
    counts.require("positive")
    positive, negative, unlabeled = counts.cumulative()
    others = negative + unlabeled
    if others[-1] == 0:
        counts.require("unlabeled")
    return _curve(counts, positive, others)


def naive_point(counts: ScoreCounts, threshold: float) -> OperatingPoint:
    """Read the naive curve at a threshold, without making a curve as long as the table."""
    total, others = _both(counts)
    positive, negative, unlabeled = counts.heads_at(threshold)
    fpr = (negative + unlabeled) / others
    return OperatingPoint(threshold, positive / total, fpr, total / (total + others))


def _both(counts: ScoreCounts) -> tuple[float, float]:
    """Return the rows called positive and negative; there must be some of either."""
    total, others = counts.n_positive, counts.n_negative + counts.n_unlabeled
    if total == 0 or others == 0:
        counts.require("positive", "unlabeled")
    return total, others


def naive_area(counts: ScoreCounts, metric: str) -> float:
    """Read an area of the naive curve, without making a curve as long as the table.

    Examples
    --------
    >>> import undercount as uc
    >>> from undercount.infer.labelled import naive_area
    >>> counts = uc.ScoreCounts.from_rows([1, None, 1, None], [0.9, 0.6, 0.5, 0.1])
    >>> naive_area(counts, "roc_auc")
    0.75
    """
    total, others = _both(counts)
    prevalence = total / (total + others)
    if metric == "average_precision":
        counts = counts.canonical
        long = counts.thinned is not counts
        return counts.walked.precision / total if long else naive_curve(counts).average_precision
    pairs = sum(
        size * counts.auc("positive", kind)
        for kind, size in (("negative", counts.n_negative), ("unlabeled", counts.n_unlabeled))
        if size > 0
    )
    area = pairs / others
    # A positive row against another one counts one half.
    return area if metric == "roc_auc" else prevalence / 2 + (1 - prevalence) * area


def _curve(counts: ScoreCounts, positive: FloatArray, others: FloatArray) -> OperatingCurve:
    """Read the curve of rows above each border, those of the one class and of the other."""
    return OperatingCurve(
        threshold=np.append(np.inf, counts.score),
        tpr=positive / positive[-1],
        fpr=others / others[-1],
        prevalence=float(positive[-1] / (positive[-1] + others[-1])),
        merged=np.append(False, counts.merged) if counts.compact else None,
    )
