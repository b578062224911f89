"""Threshold metrics when the label frequency is known: the number of positives is random too."""

from typing import Any

import numpy as np

from undercount.curve import FloatArray
from undercount.read.intervals.components import Components, Pair
from undercount.read.intervals.design import LABELLED
from undercount.read.intervals.exact import wilson_share
from undercount.read.intervals.limits import (
    effective_total,
    number_interval,
    seen_share,
)
from undercount.read.intervals.thresholds import HeadCounts, RatePoint


def by_prediction(counts: HeadCounts, z: float) -> Components:
    """Label frequency c known: labelled rows among those predicted positive, and among the others.

    For these rows S1 is binomial (P1, c), for the population binomial (M1, c · precision). Limits
    may lie outside what the rows allow (fewer positives than labels, more than rows): cut there
    they would be no limits of 97.5 % any more, and distances to them too short to add in squares.
    """
    design, heads, sizes = counts.design, counts.heads, counts.sizes
    frequency = np.asarray(design.value, dtype=float)
    flagged, total = heads.sum(axis=0), sizes.sum(axis=0)
    seen = heads[LABELLED], sizes[LABELLED] - heads[LABELLED]
    found = [np.asarray(labelled / frequency) for labelled in seen]
    # At least half a row is negative: the false-positive rate needs some.
    most = total - design.units[LABELLED] / 2

    def point(hits: Any, misses: Any) -> RatePoint:
        with np.errstate(divide="ignore", invalid="ignore"):
            fitting = np.minimum(1.0, most / (hits + misses))
            hits, positives = hits * fitting, (hits + misses) * fitting
            return RatePoint(
                hits / positives, (flagged - hits) / (total - positives), positives / total
            )

    if design.target == "dataset":
        limits = [number_interval(labelled, frequency, z, design) for labelled in seen]
    else:
        limits = [
            _positives(seen_share(labelled, rows, z, design), rows, frequency)
            for labelled, rows in zip(seen, (flagged, total - flagged), strict=True)
        ]
    pairs = [
        (point(limits[0][0], found[1]), point(limits[0][1], found[1])),
        (point(found[0], limits[1][0]), point(found[0], limits[1][1])),
    ]
    base = point(found[0], found[1])
    if design.target == "population":
        pairs.append(_flagged_pair(counts, base, z))
    return Components(base, pairs)


def _positives(
    labelled_share: tuple[FloatArray, FloatArray], rows: Any, frequency: Any
) -> tuple[FloatArray, FloatArray]:
    """Limits of the positives among some rows; of no rows none is positive, for certain."""
    low, high = (np.where(rows > 0, end * rows / frequency, 0.0) for end in labelled_share)
    return low, high


def _flagged_pair(counts: HeadCounts, base: RatePoint, z: float) -> Pair:
    """Move the share predicted positive; precision and negative predictive value stay."""
    flagged = np.asarray(base.predicted_positive_rate)
    precision, npv = base.metric("precision"), base.metric("npv")
    points = []
    for share in wilson_share(flagged, effective_total(counts.design), z):
        hits, misses = (
            share * np.nan_to_num(precision),
            (1 - share) * (1 - np.nan_to_num(npv, nan=1.0)),
        )
        prevalence = hits + misses
        with np.errstate(divide="ignore", invalid="ignore"):
            points.append(
                RatePoint(hits / prevalence, (share - hits) / (1 - prevalence), prevalence)
            )
    return points[0], points[1]
