"""Bootstrap samples of counts: the same as resampling rows, without rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from undercount.counts import ScoreCounts

if TYPE_CHECKING:
    from undercount.estimate import Interval
    from undercount.prevalence.ranks import Array


def resampled_counts(counts: ScoreCounts, rng: np.random.Generator, sampling: str) -> ScoreCounts:
    """Draw a bootstrap sample of the cells.

    In single-sample data the class sizes are random too; in case-control data they are fixed.
    Weighted counts are drawn at Kish's effective sizes and scaled back.
    """
    cells = np.stack([counts.positive, counts.negative, counts.unlabeled])
    totals = cells.sum(axis=1)
    sizes = np.array([counts.effective_size(c) for c in ("positive", "negative", "unlabeled")])
    drawn_sizes = sizes
    if sampling == "single-sample":
        drawn_sizes = rng.multinomial(round(sizes.sum()), sizes / sizes.sum()).astype(float)
    drawn = [
        _drawn(row, size, n_rows, rng)
        for row, size, n_rows in zip(cells, sizes, drawn_sizes, strict=True)
    ]
    weight = np.divide(totals, sizes, out=np.zeros(3), where=sizes > 0)  # of one row
    squared = np.array([row.sum() for row in drawn]) * weight
    return ScoreCounts.from_counts(
        counts.score, *drawn, squared_weight=(squared[0], squared[1], squared[2])
    )


def holding(interval: Interval, value: float) -> Interval:
    """Extend an interval to hold a value.

    Resamples have more noise than the sample, and what leans with noise leans further on them:
    their quantiles may all lie on one side of the estimate, which no reader could use.

    Examples
    --------
    >>> from undercount.estimate import Interval
    >>> from undercount.prevalence.resampling import holding
    >>> holding(Interval(0.25, 0.5), 0.125)
    Interval(low=0.125, high=0.5)
    """
    return replace(interval, low=min(interval.low, value), high=max(interval.high, value))


def _drawn(cells: Array, size: float, n_rows: float, rng: np.random.Generator) -> Array:
    total = cells.sum()
    if total == 0:
        return cells
    found = rng.multinomial(max(1, round(n_rows)), cells / total)
    return np.asarray(found * (total / size))
