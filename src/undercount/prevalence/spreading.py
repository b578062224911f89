"""Undo the merging of compact counts as far as ranks can tell."""

from __future__ import annotations

import numpy as np

from undercount.counts import ScoreCounts

MOST_CELLS = 50_000


def spread(counts: ScoreCounts) -> ScoreCounts:
    """Split merged cells of unlabeled rows into single rows, evenly spaced.

    Between two labelled scores only the number of unlabeled rows is kept in compact counts. On
    the scale of ranks that is all there is to know: unless scores were tied, the rows stand one
    rank apart. So rank methods answer on compact counts as on full ones.
    """
    bare = counts.merged & (counts.positive + counts.negative == 0) & (counts.unlabeled > 1)
    if not bare.any():
        return counts
    coarseness = max(1.0, counts.n_unlabeled / MOST_CELLS)
    parts = np.where(bare, np.maximum(1, np.round(counts.unlabeled / coarseness)), 1).astype(int)
    cell = np.repeat(np.arange(parts.size), parts)
    place = np.arange(cell.size) - np.repeat(np.cumsum(parts) - parts, parts)
    # A cell's score is its lowest; the rows above it lie below the next higher cell.
    step = np.append(np.abs(counts.score[0]) * 1e-6 + 1e-6, counts.score[:-1] - counts.score[1:])
    step = np.where(np.isfinite(step), step, 1.0)
    above = (parts[cell] - 1 - place) / parts[cell]
    return ScoreCounts.from_counts(
        counts.score[cell] + above * step[cell],
        counts.positive[cell] / parts[cell],
        counts.negative[cell] / parts[cell],
        counts.unlabeled[cell] / parts[cell],
        squared_weight=counts.squared_weight,
    )
