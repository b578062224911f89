"""Sort scores into buckets without comparing them: order-keeping maps from scores to integers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.floating[Any]]
Indices = NDArray[np.intp]

# Share of a sample that a clipped map leaves outside at each end.
TAIL = 0.002
# Multiplier of Fibonacci hashing: 2**64 divided by the golden ratio, made odd.
GOLDEN = 0x9E3779B97F4A7C15


def bits_of(score: Scores) -> NDArray[Any]:
    """View numbers as unsigned integers of the same width."""
    return score.view(np.uint32 if score.dtype.itemsize == 4 else np.uint64)  # noqa: PLR2004 - bytes


def ordered_keys(score: Scores) -> NDArray[Any]:
    """Map scores to unsigned integers in the same order; -0.0 and 0.0 get the same key.

    The bit pattern of an IEEE number grows with its magnitude: flipping the sign bit of positive
    numbers and every bit of negative ones makes it grow with the number itself.
    """
    positive_zero = score + score.dtype.type(0)
    bits = bits_of(positive_zero)
    top = bits.dtype.type(1 << (8 * bits.itemsize - 1))
    negative = positive_zero < 0
    bits ^= top
    if negative.any():
        np.bitwise_xor(bits, top - bits.dtype.type(1), out=bits, where=negative)
    return bits


def scores_of(keys: NDArray[Any], dtype: np.dtype[Any]) -> Scores:
    """Undo `ordered_keys`."""
    top = keys.dtype.type(1 << (8 * keys.itemsize - 1))
    return np.where(keys & top, keys ^ top, ~keys).view(dtype)


def hashed(score: Scores, n_bits: int) -> Indices:
    """Scatter scores over ``2**n_bits`` places; equal scores, 0.0 and -0.0 too, get one place."""
    bits = bits_of(score + score.dtype.type(0))
    width = 8 * bits.itemsize
    np.multiply(bits, bits.dtype.type(GOLDEN >> (64 - width) | 1), out=bits)
    np.right_shift(bits, bits.dtype.type(width - n_bits), out=bits)
    return bits.astype(np.intp)


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
    maps: list[BucketMap] = [
        EqualWidths(first, last, n_buckets),
        EqualWidths(low, high, n_buckets),
    ]
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
