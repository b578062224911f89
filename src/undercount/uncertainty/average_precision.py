"""Average precision from a sample of the positives, without the bias of plugging in.

A labelled row is surely above or at its own score, so the plain share of labelled rows there
overstates recall; leaving the row itself out and scaling up the others does not.
"""

from typing import Any

import numpy as np

from undercount.counts import ScoreCounts
from undercount.rates import FloatArray
from undercount.uncertainty.design import LABELLED, Design


def unbiased_average_precision(counts: ScoreCounts, design: Design) -> float:
    """Return mean over labelled rows of [1 + (S1 - 1)(P - 1)/(S - 1)] / M1.

    Its mean over all choices of the labelled rows is exactly the average precision of the data
    set (ties included, a row's M1 counting all rows at least as high). NaN with a single label,
    which says nothing about the others.
    """
    head, flagged, labelled, unit, others = _parts(counts, design)
    total = labelled.sum()
    if total <= unit * (1 + 1e-9):
        return float("nan") if others > 0 else float((labelled * unit / flagged).sum() / total)
    found = unit + (head - unit) * others / (total - unit)
    return float((labelled * found / flagged).sum() / total)


def jackknife_variance(counts: ScoreCounts, design: Design) -> float:
    """Return the jackknife's variance, before the finite-population correction.

    The estimate is a mean of pairs, so each leave-one-out value follows from the sums of the
    pairs that a row belongs to: no loop.
    """
    head, flagged, labelled, unit, others = _parts(counts, design)
    size = labelled.sum() / unit
    if size <= 2:  # noqa: PLR2004 - two rows leave one, which has no pair
        return float("nan")
    number = labelled / unit
    inverse = unit / flagged
    above = head / unit - 1  # other labelled rows at least as high
    as_lower = above * inverse
    as_upper = np.cumsum((number * inverse)[::-1])[::-1] - inverse
    single, pairs = (number * inverse).sum(), (number * as_lower).sum()
    left_out = (single - inverse) / (size - 1) + (others / unit) / (size - 1) / (size - 2) * (
        pairs - as_lower - as_upper
    )
    mean = (number * left_out).sum() / size
    return float((size - 1) / size * (number * (left_out - mean) ** 2).sum())


def _parts(
    counts: ScoreCounts, design: Design
) -> tuple[FloatArray, FloatArray, FloatArray, Any, Any]:
    """Return labelled and all rows at or above, labelled rows, one row's weight, P - one row."""
    at = counts.positive > 0
    head = np.cumsum(counts.positive)[at]
    # Weights of at least 1 on average count repetitions; smaller ones are relative.
    unit = min(1.0, float(design.units[LABELLED]))
    positives = float(design.mixing().positives)
    if design.sampling == "case-control":
        # The labelled rows were drawn apart: each takes the place of an unlabeled row.
        rest = max(counts.n_unlabeled - unit, 0.0) / counts.n_unlabeled
        flagged = unit + np.cumsum(counts.unlabeled)[at] * rest
    else:
        flagged = head + np.cumsum(counts.unlabeled)[at] + np.cumsum(counts.negative)[at]
    return head, flagged, counts.positive[at], unit, max(positives - unit, 0.0)
