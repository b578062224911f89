"""Count rows at and between the borders that labelled scores and knots set."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercount.count.kernel.buckets import BucketMap, Scores, candidate_maps

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

# Up to this many rows a plain sort is faster than buckets.
SMALL = 1 << 15
# Rows worked on at once, so that every intermediate array stays in the processor's cache.
CHUNK = 1 << 16
# Buckets a border, and the least and largest logarithm of their number: enough that few rows
# share a bucket with a border, few enough that the table of buckets stays in the cache.
BUCKETS_A_BORDER = 8
BUCKET_BITS = (12, 22)
# Rows and borders on which the maps from score to bucket are compared.
SAMPLE = 1 << 12


class Borders(NamedTuple):
    """Scores that separate cells, ascending: those of labelled rows, and the knots.

    Counts are integers or, if rows are weighted, sums of weights; so are those of `Gaps`.
    """

    score: Scores
    positive: NDArray[Any]
    negative: NDArray[Any]


class Gaps(NamedTuple):
    """Rows around m borders: m weights of ties, m + 1 of gaps below, between and above.

    `lowest` is the lowest score in each gap that is not empty, `merged` says that a gap may hold
    several distinct scores.
    """

    tied: NDArray[Any]
    between: NDArray[Any]
    lowest: Scores
    merged: BoolArray


def sorted_gaps(border: Scores, ascending: Scores) -> Gaps:
    """Count sorted scores at and between the borders."""
    size = ascending.size
    start = np.append(np.searchsorted(ascending, border, "left"), size)
    end = np.zeros(border.size + 1, np.intp)
    end[1:] = np.searchsorted(ascending, border, "right")
    padded = np.append(ascending, ascending.dtype.type(np.inf))
    lowest = padded[end]
    tied, between = end[1:] - start[:-1], start - end
    several = lowest < padded[start - 1]
    several[start == 0] = False
    lowest[between == 0] = np.inf
    return Gaps(tied, between, lowest, several)


def searched_gaps(border: Scores, score: Scores, weight: FloatArray) -> Gaps:
    """Sum weights at and between the borders."""
    size = 2 * border.size + 1
    cell = np.searchsorted(border, score, "left") + np.searchsorted(border, score, "right")
    total = np.bincount(cell, weight, size)
    lowest, highest = np.full(size, np.inf, score.dtype), np.full(size, -np.inf, score.dtype)
    np.minimum.at(lowest, cell, score)
    np.maximum.at(highest, cell, score)
    return Gaps(total[1::2], total[::2], lowest[::2], (lowest < highest)[::2])


def counted_gaps(border: Scores, score: Scores, weight: FloatArray | None = None) -> Gaps:
    """Count scores in any order at and between the borders, and sort only those near a border."""
    if border.size == 0 or score.size <= SMALL:
        return _gaps(border, score, weight)
    bucket_of = _best_map(border, score[:: 1 + score.size // SAMPLE])
    gap_of, near = _gaps_of_buckets(bucket_of, border)
    total = np.zeros(near + 1)
    lowest = np.full(near + 1, np.inf, score.dtype)
    left: list[tuple[Scores, FloatArray | None]] = []
    for start in range(0, score.size, CHUNK):
        part = score[start : start + CHUNK]
        share = None if weight is None else weight[start : start + CHUNK]
        gap = gap_of.take(bucket_of(part)).astype(np.intp)
        rest = np.flatnonzero(gap == near)
        left.append((part[rest], None if share is None else share[rest]))
        np.add.at(total, gap, 1.0 if share is None else share)
        np.minimum.at(lowest, gap, part)
    values = np.concatenate([part for part, _ in left])
    shares = None if weight is None else np.concatenate([w for _, w in left if w is not None])
    return _with_rest(total[:-1], lowest[:-1], _gaps(border, values, shares))


def _gaps(border: Scores, score: Scores, weight: FloatArray | None) -> Gaps:
    if weight is None:
        return sorted_gaps(border, np.sort(score))
    return searched_gaps(border, score, weight)


def _with_rest(total: FloatArray, lowest: Scores, rest: Gaps) -> Gaps:
    """Add rows far from the borders to those near them."""
    return Gaps(
        rest.tied,
        total + rest.between,
        np.minimum(lowest, rest.lowest),
        # Two rows far from the borders may have the same score: the highest is not looked for.
        rest.merged | (total > 1) | ((total > 0) & (rest.between > 0)),
    )


def _best_map(border: Scores, sample: Scores) -> BucketMap:
    """Choose the map that leaves the fewest rows of a sample in one bucket with a border."""
    some = border[:: 1 + border.size // SAMPLE]
    maps = candidate_maps(sample, 1 << _bucket_bits(some.size))
    near = []
    for bucket_of in maps:
        gap_of, hot = _gaps_of_buckets(bucket_of, some)
        near.append(np.count_nonzero(gap_of.take(bucket_of(sample)) == hot))
    best = maps[int(np.argmin(near))]
    return replace(
        best, n_buckets=best.n_buckets << _bucket_bits(border.size) - _bucket_bits(some.size)
    )


def _bucket_bits(n_borders: int) -> int:
    low, high = BUCKET_BITS
    return min(max((BUCKETS_A_BORDER * n_borders - 1).bit_length(), low), high)


def _gaps_of_buckets(bucket_of: BucketMap, border: Scores) -> tuple[NDArray[np.int32], int]:
    """Gap of each bucket, or a number beyond all gaps if a border lies in the bucket."""
    near = border.size + 1
    inside = np.bincount(bucket_of(border), minlength=bucket_of.n_buckets)
    gap_of = np.cumsum(inside, dtype=np.int32)
    gap_of[inside > 0] = near
    return gap_of, near
