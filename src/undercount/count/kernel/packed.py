"""Sort scores and labels in one array: the score's bit pattern with the label in the low bits."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercount.count.kernel.buckets import BorderCounts, Borders
from undercount.count.kernel.table import Indices, Scores, bits_of

Codes = NDArray[np.int8]

LABEL_BITS = 2
# With fewer rows than this, counts fit into 32 bits, which saves memory.
WIDE = 2**31
# In the low bits; an unlabeled row comes before the labelled rows and the knots of its score.
UNLABELED, NEGATIVE, POSITIVE, KNOT = range(4)


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


class PackedRows(NamedTuple):
    """Sorted keys ``(key of score - base) * 4 + kind``."""

    keys: NDArray[Any]
    base: int
    dtype: np.dtype[Any]

    def scores(self, keys: NDArray[Any]) -> Scores:
        """Return the scores of some keys."""
        wide = (keys >> keys.dtype.type(LABEL_BITS)) + keys.dtype.type(self.base)
        return scores_of(wide.astype(f"u{self.dtype.itemsize}", copy=False), self.dtype)

    def kinds(self) -> NDArray[np.uint8]:
        """Return the kind of each row."""
        return self.keys.astype(np.uint8) & np.uint8(KNOT)

    def starts(self) -> Indices:
        """Return where each distinct score begins."""
        first = np.ones(self.keys.size, bool)
        np.greater(self.keys[1:] ^ self.keys[:-1], self.keys.dtype.type(KNOT), out=first[1:])
        return np.flatnonzero(first)


def pack(score: Scores, label: Codes, knots: Scores) -> PackedRows | None:
    """Sort rows and knots by packed key; None if an integer is too narrow for range and label."""
    everything = np.concatenate([score, knots]) if knots.size else score
    low, high = everything.min(), everything.max()
    base, last = (int(key) for key in ordered_keys(np.array([low, high])))
    wide = (last - base) >> (8 * score.itemsize - LABEL_BITS)
    # Scores of both signs are left to the caller, who can sort each side in narrow keys.
    if wide and (score.itemsize == 8 or low < 0 <= high):  # noqa: PLR2004 - bytes
        return None
    keys = ordered_keys(everything)
    if wide:
        keys = keys.astype(np.uint64)
    keys -= keys.dtype.type(base)
    keys <<= keys.dtype.type(LABEL_BITS)
    keys[: score.size] |= (label + np.int8(1)).view(np.uint8)
    keys[score.size :] |= keys.dtype.type(KNOT)
    keys = sort_keys(keys, (last - base).bit_length() + LABEL_BITS)
    return PackedRows(keys, base, score.dtype)


def count_every_score(rows: PackedRows) -> tuple[Scores, list[NDArray[Any]]]:
    """Return every distinct score, ascending, and its positive, negative, unlabeled rows."""
    start = rows.starts()
    kinds = rows.kinds()
    labelled = []
    for kind in (POSITIVE, NEGATIVE):
        where = np.flatnonzero(kinds == kind)
        count = np.zeros(start.size, np.int32 if kinds.size < WIDE else np.int64)
        np.add.at(count, np.searchsorted(start, where, "right") - 1, 1)
        labelled.append(count)
    unlabeled = np.diff(start, append=kinds.size) - labelled[0] - labelled[1]
    return rows.scores(rows.keys[start]), [*labelled, unlabeled]


class Runs(NamedTuple):
    """Runs of rows with a score that a labelled row or a knot has, too."""

    lowest: NDArray[Any]  # key of an unlabeled row of this score, whether or not there is one
    end: Indices  # of the run before, then of this run
    start: Indices  # of this run, then of the one after
    number: NDArray[Any]  # of labelled rows and knots
    positive: NDArray[Any]
    negative: NDArray[Any]


def count_around_labels(rows: PackedRows) -> tuple[Borders, BorderCounts]:
    """Return scores of labelled rows and knots, and the unlabeled rows at and between them."""
    keys, runs = rows.keys, _runs(rows)
    between = (runs.start - runs.end).astype(runs.number.dtype)
    tied = (runs.end[1:] - runs.start[:-1]).astype(runs.number.dtype)
    tied -= runs.number
    low = keys[np.minimum(runs.end, keys.size - 1)]
    merged = low < keys[runs.start - 1]  # means nothing where no row lies between two runs
    borders = Borders(rows.scores(runs.lowest), runs.positive, runs.negative)
    return borders, BorderCounts(tied, between, rows.scores(low), merged)


def _runs(rows: PackedRows) -> Runs:
    keys = rows.keys
    count_type = np.int32 if keys.size < WIDE else np.int64
    bits = keys.dtype.type(LABEL_BITS)
    kinds = rows.kinds()
    place = np.flatnonzero(kinds != UNLABELED)
    value = keys[place] >> bits
    new = np.ones(place.size, bool)
    np.not_equal(value[1:], value[:-1], out=new[1:])
    first = np.append(np.flatnonzero(new), place.size)
    number = (first[1:] - first[:-1]).astype(count_type)
    lowest = value[first[:-1]] << bits
    start, end = np.empty(first.size, np.intp), np.empty(first.size, np.intp)
    start[:-1], start[-1] = place[first[:-1]], keys.size
    end[1:], end[0] = place[first[1:] - 1] + 1, 0
    # Unlabeled rows come first in a run: few runs have any, and their starts are searched for.
    tied = np.flatnonzero((start[:-1] > 0) & (keys[start[:-1] - 1] >= lowest))
    start[tied] = np.searchsorted(keys, lowest[tied])
    kinds = kinds[place]
    if (kinds == POSITIVE).all():
        return Runs(lowest, end, start, number, number, np.zeros_like(number))
    positive, negative = (_sums(kinds == kind, first, count_type) for kind in (POSITIVE, NEGATIVE))
    return Runs(lowest, end, start, number, positive, negative)


def _sums(chosen: NDArray[np.bool_], first: Indices, count_type: type) -> NDArray[Any]:
    """Count the chosen in consecutive parts, of which the first begins at 0."""
    heads: NDArray[Any] = np.zeros(chosen.size + 1, count_type)
    np.cumsum(chosen, out=heads[1:])
    return np.diff(heads[first])


DIGIT = 16
# Up to this many keys NumPy's own sort is faster.
FEW = 1 << 13
# Keys sorted at once.
BLOCK = 1 << 16
# Most ranges of keys that are sorted one after the other; a range's number is one byte.
MOST_RANGES = 256


def sort_keys(keys: NDArray[Any], n_bits: int) -> NDArray[Any]:
    """Return the keys, all below ``2**n_bits``, in ascending order; the array given is reused."""
    if keys.size <= FEW:
        keys.sort()
        return keys
    if keys.size <= 2 * BLOCK:
        return _by_digits(keys, n_bits)
    at = 0
    for block in _ranges(keys, n_bits):
        keys[at : at + block.size] = _by_digits(block, n_bits)
        at += block.size
    return keys


def _by_digits(keys: NDArray[Any], n_bits: int) -> NDArray[Any]:
    """Sort by each digit in turn, the lowest first; each sort keeps the order of the last."""
    for shift in range(0, n_bits, DIGIT):
        digit = (keys >> keys.dtype.type(shift)).astype(np.uint16)
        keys = keys.take(np.argsort(digit, kind="stable"))
    return keys


def _ranges(keys: NDArray[Any], n_bits: int) -> Iterator[NDArray[Any]]:
    """Copy keys into consecutive ranges of about equal size; all are copied before the first."""
    size = max(BLOCK, -(-keys.size // MOST_RANGES))
    n_ranges = -(-keys.size // size)
    shift = keys.dtype.type(max(0, n_bits - DIGIT))
    range_of = _range_of_digit(keys[:: max(1, keys.size >> 14)] >> shift, n_ranges)
    parts, ends = [], []
    for start in range(0, keys.size, size):
        part = keys[start : start + size]
        number = range_of.take((part >> shift).astype(np.intp))
        parts.append(part.take(np.argsort(number, kind="stable")))
        ends.append(np.cumsum(np.bincount(number, minlength=n_ranges)))
    borders = np.insert(np.array(ends), 0, 0, axis=1).T.tolist()
    for first, last in pairwise(borders):
        yield np.concatenate([part[i:j] for part, i, j in zip(parts, first, last, strict=True)])


def _range_of_digit(sample: NDArray[Any], n_ranges: int) -> NDArray[np.uint8]:
    """Assign each highest digit to a range so that a sample falls evenly on all ranges."""
    number = np.bincount(sample.astype(np.intp), minlength=1 << DIGIT)
    below = np.cumsum(number) - number
    return (below * n_ranges // (sample.size + 1)).astype(np.uint8)
