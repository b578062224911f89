"""The curve of labelled rows alone."""

import numpy as np

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray, OperatingCurve


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


def _curve(counts: ScoreCounts, positive: FloatArray, others: FloatArray) -> OperatingCurve:
    """Read the curve of rows above each border, those of the one class and of the other."""
    return OperatingCurve(
        threshold=np.append(np.inf, counts.score),
        tpr=positive / positive[-1],
        fpr=others / others[-1],
        prevalence=float(positive[-1] / (positive[-1] + others[-1])),
        merged=np.append(False, counts.merged) if counts.compact else None,
    )
