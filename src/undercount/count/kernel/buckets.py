"""Count rows around borders by buckets: maps from scores to integers that keep their order.

Between two borders (scores of labelled rows, and knots) the other rows only need to be counted.
A row in a bucket without a border is counted by its bucket alone; only rows that share a bucket
with a border are sorted.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercount.count.kernel.table import BoolArray, FloatArray, Indices, Scores, bits_of

# Up to this many rows a plain sort is faster than buckets.
FEW_ROWS_TO_BUCKET = 1 << 15
# Rows worked on at once, so that every intermediate array stays in the processor's cache.
CHUNK = 1 << 16
# With so many borders the tables leave the cache; a batch of so many rows then is worked on range
# by range of buckets, of which there are two to this power.
MANY_BORDERS, MANY_BUCKETED_ROWS, RANGE_BITS = 1 << 16, 1 << 19, 6
# Rows near a border are sorted together when so many have been gathered.
NEAR_ROWS = 1 << 22
# Buckets a border, and the least and largest logarithm of their number: enough that few rows
# share a bucket with a border, few enough that the table of buckets stays in the cache.
BUCKETS_A_BORDER = 8
BUCKET_BITS = (12, 23)
# Borders of a bucket that are tried one by one before the rest is searched.
BORDERS_TRIED = 3
# Rows and borders on which the maps from score to bucket are compared.
MAP_SAMPLE = 1 << 12
# Share of a sample that a clipped map leaves outside at each end.
TAIL = 0.002


@dataclass(frozen=True)
class EqualWidths:
    """Cut the scores from `low` to `high` into buckets of equal width."""

    low: float
    high: float
    n_buckets: int

    def __call__(self, score: Scores) -> Indices:
        """Return the bucket of each score; a higher score never gets a lower bucket."""
        real = score.dtype.type
        with np.errstate(over="ignore"):
            distance = np.subtract(score, real(self.low))
            span = real(self.high - self.low)
            scale = real((self.n_buckets - 1) / float(span)) if span else real(0)
        if not (np.isfinite(span) and np.isfinite(scale)):
            return np.zeros(score.size, np.intp)
        np.clip(distance, real(0), span, out=distance)
        distance *= scale
        return distance.astype(np.int32).astype(np.intp)  # in two steps: both are vectorised


@dataclass(frozen=True)
class LogarithmicWidths:
    """Cut the distances from an origin into buckets of about equal width in their logarithm.

    Distances are taken from the two ends inwards, for scores crowded at one end or both, or from
    the middle outwards (`outwards`), for heavy tails. The bit pattern of the distance, shifted
    right, serves as its logarithm.
    """

    low: float
    high: float
    nearest: float
    outwards: bool
    n_buckets: int

    def __call__(self, score: Scores) -> Indices:
        """Return the bucket of each score; a higher score never gets a lower bucket."""
        real = score.dtype.type
        half = self.n_buckets // 2
        with np.errstate(over="ignore"):
            middle = real(self.low / 2 + self.high / 2)
            upper = score >= middle
            near, far = real(self.nearest), real(self.high / 2 - self.low / 2)
            if self.outwards:
                distance = np.abs(score - middle)
            else:
                distance = np.where(upper, real(self.high) - score, score - real(self.low))
        np.clip(distance, near, max(near, far), out=distance)
        bits = bits_of(distance)
        first, last = (int(end) for end in bits_of(np.array([near, max(near, far)], real)))
        bits -= bits.dtype.type(first)
        bits >>= bits.dtype.type(max(0, (last - first).bit_length() - half.bit_length() + 1))
        # The number of buckets is a power of two, so that mirroring is flipping bits.
        above, below = (half, half - 1) if self.outwards else (self.n_buckets - 1, 0)
        mirror: Indices = np.where(upper, np.intp(above), np.intp(below))
        mirror ^= bits.astype(np.intp)
        return mirror


BucketMap = EqualWidths | LogarithmicWidths


def candidate_maps(sample: Scores, n_buckets: int) -> list[BucketMap]:
    """Propose maps; no single one suits uniform, crowded, saturated and outlying scores."""
    finite = np.sort(sample[np.isfinite(sample)]).astype(np.float64)
    if not finite.size:
        return [EqualWidths(0.0, 1.0, n_buckets)]
    first, last = float(finite[0]), float(finite[-1])
    tail = int(TAIL * finite.size)
    low, high = float(finite[tail]), float(finite[-1 - tail])
    maps: list[BucketMap] = [EqualWidths(first, last, n_buckets), EqualWidths(low, high, n_buckets)]
    median = float(finite[finite.size // 2])
    reach = max(last - median, median - first)
    ends = ((first, last, False), (median - reach, median + reach, True))
    for start, end, outwards in ends:
        middle = start / 2 + end / 2
        inwards = np.minimum(finite - start, end - finite)
        distance = np.abs(finite - middle) if outwards else inwards
        some = np.sort(distance[distance > np.finfo(sample.dtype).tiny])
        if some.size:
            nearest = float(some[int(TAIL * some.size)])
            maps.append(LogarithmicWidths(start, end, nearest, outwards, 2 * n_buckets))
    return maps


def choose_map(border: Scores, sample: Scores) -> BucketMap:
    """Choose the map that leaves the fewest rows of a sample in one bucket with a border."""
    if border.size == 0:
        return EqualWidths(0.0, 0.0, 1)
    some = border[:: 1 + border.size // MAP_SAMPLE]
    maps = candidate_maps(sample, 1 << _bucket_bits(some.size))
    near = []
    for bucket_of in maps:
        place_of, hot = _places_of_buckets(bucket_of, some)
        near.append(np.count_nonzero(place_of.take(bucket_of(sample)) == hot))
    best = maps[int(np.argmin(near))]
    return replace(
        best, n_buckets=best.n_buckets << _bucket_bits(border.size) - _bucket_bits(some.size)
    )


def _bucket_bits(n_borders: int) -> int:
    low, high = BUCKET_BITS
    return min(max((BUCKETS_A_BORDER * n_borders - 1).bit_length(), low), high)


def _places_of_buckets(bucket_of: BucketMap, border: Scores) -> tuple[NDArray[np.int32], int]:
    """Return how many borders lie below each bucket; one more than there are if one is inside."""
    near = border.size + 1
    buckets = bucket_of(border)  # ascending, as the borders are
    steps = np.diff(buckets, prepend=0, append=bucket_of.n_buckets)
    # Without a count of borders in every bucket, which would take twice the memory of the table.
    place_of = np.repeat(np.arange(near, dtype=np.int32), steps)
    place_of[buckets] = near
    return place_of, near


class Borders(NamedTuple):
    """Scores that separate cells, ascending: those of labelled rows, and the knots.

    Counts are integers or, if rows are weighted, sums of weights; so are those of `BorderCounts`.
    """

    score: Scores
    positive: NDArray[Any]
    negative: NDArray[Any]


class BorderCounts(NamedTuple):
    """Rows around m borders: m numbers of ties, and m + 1 of rows below, between and above.

    `lowest` is the lowest score between two borders, infinite if there is none; `merged` says
    that several distinct scores may lie there.
    """

    tied: NDArray[Any]
    between: NDArray[Any]
    lowest: Scores
    merged: BoolArray

    def add(self, other: "BorderCounts") -> "BorderCounts":
        """Add the counts of other rows around the same borders."""
        several = (self.between > 0) & (other.between > 0) & (self.lowest != other.lowest)
        return BorderCounts(
            self.tied + other.tied,
            self.between + other.between,
            np.minimum(self.lowest, other.lowest),
            self.merged | other.merged | several,
        )


def count_sorted(border: Scores, ascending: Scores) -> BorderCounts:
    """Count sorted scores around the borders."""
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
    return BorderCounts(tied, between, lowest, several)


def _sum_weights(border: Scores, score: Scores, weight: FloatArray) -> BorderCounts:
    """Sum the weights of rows in any order around the borders."""
    size = 2 * border.size + 1
    place = np.searchsorted(border, score, "left") + np.searchsorted(border, score, "right")
    total = np.bincount(place, weight, size)
    lowest, highest = np.full(size, np.inf, score.dtype), np.full(size, -np.inf, score.dtype)
    np.minimum.at(lowest, place, score)
    np.maximum.at(highest, place, score)
    return BorderCounts(total[1::2], total[::2], lowest[::2], (lowest < highest)[::2])


def count_around(border: Scores, score: Scores, weight: FloatArray | None = None) -> BorderCounts:
    """Count scores in any order around the borders, and sort only those near a border."""
    if border.size == 0 or score.size <= FEW_ROWS_TO_BUCKET:
        return _count_near(border, score, weight)
    bucket_of = choose_map(border, score[:: 1 + score.size // MAP_SAMPLE])
    counter = BorderCounter(border, bucket_of)
    counter.add(score, weight)
    return counter.counts()


class BorderRanks:
    """Say how many borders (ascending) are at most each score, in the order of the scores.

    All borders in lower buckets are; those in a score's own bucket, mostly none or one, are tried.

    Parameters
    ----------
    border : array
        Scores of the borders, ascending.
    score : array
        Scores like those that are asked for, from which the buckets are chosen.
    n_rows : int, optional
        How many scores are asked for, if not as many; of few each is searched.
    """

    def __init__(self, border: Scores, score: Scores, n_rows: int | None = None) -> None:
        self._border = border
        self._bucket_of: BucketMap | None = None
        if border.size == 0 or (score.size if n_rows is None else n_rows) <= FEW_ROWS_TO_BUCKET:
            return
        self._bucket_of = choose_map(border, score[:: 1 + score.size // MAP_SAMPLE])
        inside = np.bincount(self._bucket_of(border), minlength=self._bucket_of.n_buckets)
        # The table is looked up at random, so that it had better be small.
        narrow = np.uint16 if border.size < 1 << 16 else np.int32
        self._first = (np.cumsum(inside) - inside).astype(narrow)
        # No score is at least as high as the last.
        self._ends = np.append(border, border.dtype.type(np.nan))

    def __call__(self, score: Scores) -> Indices:
        """Return the number of borders that are at most each score."""
        if self._bucket_of is None:
            return np.searchsorted(self._border, score, "right")
        places = np.empty(score.size, np.intp)
        for start in range(0, score.size, CHUNK):
            part, place = score[start : start + CHUNK], places[start : start + CHUNK]
            place[:] = self._first.take(self._bucket_of(part))
            rows = np.flatnonzero(self._ends.take(place) <= part)
            for _ in range(BORDERS_TRIED):
                place[rows] += 1
                rows = rows[self._ends.take(place[rows]) <= part[rows]]
            place[rows] = np.searchsorted(self._border, part[rows], "right")
        return places


def _count_near(border: Scores, score: Scores, weight: FloatArray | None) -> BorderCounts:
    if weight is None:
        return count_sorted(border, np.sort(score))
    return _sum_weights(border, score, weight)


def _by_range(score: Scores, bucket_of: BucketMap) -> Iterator[Scores]:
    """Yield the scores by ranges of buckets, from the lowest to the highest."""
    shift = max(bucket_of.n_buckets.bit_length() - 1 - RANGE_BITS, 0)
    parts, ends = [], []
    for start in range(0, score.size, CHUNK):
        part = score[start : start + CHUNK]
        number = (bucket_of(part) >> shift).astype(np.uint8)
        parts.append(part.take(np.argsort(number, kind="stable")))
        ends.append(np.cumsum(np.bincount(number, minlength=1 << RANGE_BITS)))
    borders = np.insert(np.array(ends), 0, 0, axis=1).T.tolist()
    for first, last in pairwise(borders):
        yield np.concatenate([part[i:j] for part, i, j in zip(parts, first, last, strict=True)])


class BorderCounter:
    """Count rows around borders, batch by batch, in constant memory.

    Parameters
    ----------
    border : array
        Scores of the borders, ascending.
    bucket_of : BucketMap
        From scores to buckets.
    """

    def __init__(self, border: Scores, bucket_of: BucketMap) -> None:
        self._border, self._bucket_of = border, bucket_of
        self._place_of, self._near_place = _places_of_buckets(bucket_of, border)
        size = self._near_place + 1  # one more place takes the rows near a border
        self._total = np.zeros(size)
        self._lowest = np.full(size, np.inf, border.dtype)
        # The highest is looked for until a place has seen two distinct scores.
        self._highest = np.full(size, -np.inf, border.dtype)
        self._single = np.ones(size, bool)
        self._single[-1] = False
        self._settled: BorderCounts | None = None
        self._near: list[tuple[Scores, FloatArray | None]] = []
        self._n_near = 0

    def add(self, score: Scores, weight: FloatArray | None = None) -> int:
        """Count a batch; return how many of its rows lie near a border."""
        n_near = 0
        for part, share in self._parts(score, weight):
            place = self._place_of.take(self._bucket_of(part)).astype(np.intp)
            near = np.flatnonzero(place == self._near_place)
            self._near.append((part[near], None if share is None else share[near]))
            n_near += near.size
            np.add.at(self._total, place, 1.0 if share is None else share)
            np.minimum.at(self._lowest, place, part)
            # After a few chunks nearly every place has seen two scores.
            rows = np.flatnonzero(self._single.take(place))
            if rows.size:
                at = place[rows]
                np.maximum.at(self._highest, at, part[rows])
                self._single[at] = self._lowest[at] >= self._highest[at]
        self._n_near += n_near
        if self._n_near > NEAR_ROWS:
            self._settle()
        return n_near

    def _parts(
        self, score: Scores, weight: FloatArray | None
    ) -> Iterator[tuple[Scores, FloatArray | None]]:
        """Cut a batch into parts that stay in cache, and so that the tables they meet do."""
        if (
            weight is None
            and self._border.size >= MANY_BORDERS
            and score.size >= MANY_BUCKETED_ROWS
        ):
            yield from ((part, None) for part in _by_range(score, self._bucket_of))
            return
        for start in range(0, score.size, CHUNK):
            here = slice(start, start + CHUNK)
            yield score[here], None if weight is None else weight[here]

    def _settle(self) -> None:
        """Count the rows gathered near borders."""
        score = np.concatenate([np.zeros(0, self._border.dtype), *(part for part, _ in self._near)])
        shares = [share for _, share in self._near if share is not None]
        self._near, self._n_near = [], 0
        if shares:
            sums = _sum_weights(self._border, score, np.concatenate(shares))
        else:
            score.sort()
            sums = count_sorted(self._border, score)
        self._settled = sums if self._settled is None else self._settled.add(sums)

    def counts(self) -> BorderCounts:
        """Return the counts of all batches."""
        self._settle()
        assert self._settled is not None  # noqa: S101 - just made
        total, lowest = self._total[:-1], self._lowest[:-1]
        several = (total > 0) & ~self._single[:-1]
        return BorderCounts(np.zeros(self._border.size), total, lowest, several).add(self._settled)
