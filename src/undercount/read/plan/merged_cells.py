"""Fewer cells of counts: neighbours merged, where borders of strata allow it."""

import numpy as np

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray


def merge_cells(
    counts: ScoreCounts, most: int, threshold: float | None = None, edges: FloatArray | None = None
) -> ScoreCounts:
    """Merge neighbouring cells of a stratum, and of one side of the threshold, if there are many.

    Of about so many cells as are left each holds as large a part of the labelled positives and of
    the unlabeled rows together.
    """
    if len(counts.score) <= most or counts.weighted:
        return counts
    rows = counts.positive / counts.n_positive + counts.unlabeled / counts.n_unlabeled
    part = np.floor(np.cumsum(rows) / 2 * most * (1 - 1e-9)).astype(np.intp)
    first = np.flatnonzero(np.append(True, np.diff(part) > 0))
    borders = [] if edges is None else list(edges)
    borders += [] if threshold is None else [threshold]
    split = np.searchsorted(-counts.score, -np.array(borders, dtype=float), side="right")
    first = np.union1d(first, split[split < len(rows)])
    last = np.append(first[1:], len(rows)) - 1
    merged = (
        np.add.reduceat(rows_of_class, first)
        for rows_of_class in (counts.positive, counts.negative, counts.unlabeled)
    )
    return ScoreCounts.from_counts(counts.score[last], *merged)
