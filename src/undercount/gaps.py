"""Count rows at and between the borders that labelled scores and knots set."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercount.buckets import BucketMap, Indices, Scores, candidate_maps

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

CHUNK = 1 << 17
# Buckets a border, and the least and largest logarithm of their number: enough that few rows
# share a bucket with a border, few enough that the table of buckets stays in the cache.
BUCKETS_A_BORDER = 8
BUCKET_BITS = (12, 20)
SAMPLE = 1 << 13


class Borders(NamedTuple):
    """Scores that separate cells, ascending: those of labelled rows, and the knots."""

    score: Scores
    positive: FloatArray
    negative: FloatArray


class Gaps(NamedTuple):
    """Unlabeled rows around m borders: m weights of ties, m + 1 of gaps below, between, above."""

    tied: FloatArray
    between: FloatArray
    lowest: Scores
    merged: BoolArray


def sorted_gaps(border: Scores, ascending: Scores) -> Gaps:
    """Count sorted scores at and between the borders."""
    size = ascending.size
    start = np.append(np.searchsorted(ascending, border, "left"), size)
    end = np.zeros(border.size + 1, np.intp)
    end[1:] = np.searchsorted(ascending, border, "right")
    tied = (end[1:] - start[:-1]).astype(np.float64)
    if not size:
        return Gaps(tied, np.zeros(1 + border.size), np.zeros_like(end, border.dtype), end != 0)
    lowest = ascending[np.minimum(end, size - 1)]
    return Gaps(tied, (start - end).astype(np.float64), lowest, lowest < ascending[start - 1])


class Cells:
    """Sum rows by cell: cell 2i is the gap below border i, cell 2i + 1 the border itself."""

    def __init__(self, border: Scores) -> None:
        self.border = np.append(border, border.dtype.type(np.nan))  # no score reaches the last
        self.total = np.zeros(2 * border.size + 2)
        self.lowest = np.full(self.total.size, np.inf, border.dtype)
        self.highest = np.full(self.total.size, -np.inf, border.dtype)

    def add(self, cell: Indices, score: Scores, weight: FloatArray | None) -> None:
        """Add rows whose cells are known."""
        np.add.at(self.total, cell, 1.0 if weight is None else weight)
        np.minimum.at(self.lowest, cell, score)
        np.maximum.at(self.highest, cell, score)

    def search(self, score: Scores, weight: FloatArray | None) -> None:
        """Add rows whose cells are not known."""
        if weight is None:
            score = np.sort(score)  # neighbouring searches then walk the same path
        border = self.border[:-1]
        cell = np.searchsorted(border, score, "left") + np.searchsorted(border, score, "right")
        self.add(cell, score, weight)

    def gaps(self) -> Gaps:
        """Return the sums."""
        several = self.lowest < self.highest
        return Gaps(self.total[1:-1:2], self.total[:-1:2], self.lowest[:-1:2], several[:-1:2])


def counted_gaps(border: Scores, score: Scores, weight: FloatArray | None) -> Gaps:
    """Count scores in any order at and between the borders, without sorting them."""
    cells = Cells(border)
    sample = score[:: 1 + score.size // SAMPLE]
    if border.size == 0 or score.size < SAMPLE:
        cells.search(score, weight)
        return cells.gaps()
    bucket_of, first = _best_map(border, sample)
    for start in range(0, score.size, CHUNK):
        part = slice(start, start + CHUNK)
        _count_chunk(cells, first, bucket_of, score[part], None if weight is None else weight[part])
    return cells.gaps()


def _best_map(border: Scores, sample: Scores) -> tuple[BucketMap, Indices]:
    """Choose the map that leaves the fewest rows of a sample in one bucket with a border."""
    low, high = BUCKET_BITS
    bits = min(max((BUCKETS_A_BORDER * border.size - 1).bit_length(), low), high)
    best: tuple[float, BucketMap, Indices] | None = None
    for bucket_of in candidate_maps(sample, 1 << bits):
        first = _first_cells(bucket_of, border)
        share = float(np.mean(first.take(bucket_of(sample)) & 1))
        if best is None or share < best[0]:
            best = share, bucket_of, first
    assert best is not None  # noqa: S101 - there is always a candidate
    return best[1], best[2]


def _first_cells(bucket_of: BucketMap, border: Scores) -> Indices:
    """Cell of the lowest score in each bucket, if it is a gap; odd if a border lies in the bucket.

    With i borders in lower buckets that is 2i, and 2i + 1 says: look at border i.
    """
    inside = np.bincount(bucket_of(border), minlength=bucket_of.n_buckets)
    return 2 * (np.cumsum(inside) - inside) + (inside > 0)


def _count_chunk(
    cells: Cells, first: Indices, bucket_of: BucketMap, score: Scores, weight: FloatArray | None
) -> None:
    cell = first.take(bucket_of(score))
    near = np.flatnonzero(cell & 1)
    value = score[near]
    index = cell[near] >> 1
    border = cells.border[index]
    cell[near] += (value >= border).astype(np.intp) + (value > border) - 1
    beyond = value >= cells.border[index + 1]
    far = near[beyond]
    if far.size:
        cell[far] = cells.total.size - 1  # set aside: a second border lies below them
        cells.search(score[far], None if weight is None else weight[far])
    cells.add(cell, score, weight)
