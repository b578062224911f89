"""Sort scores and labels in one array: the score's bit pattern with the label in the low bits."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercount.count.kernel.table import BoolArray, FloatArray, Indices, Scores, Table, bits_of

Codes = NDArray[np.int8]

LABEL_BITS = 2
# With fewer rows than this, counts fit into 32 bits, which saves memory.
ROWS_BEYOND_32_BITS = 2**31
# In the low bits; an unlabeled row comes before the labelled rows of its score.
PACKED_UNLABELED, PACKED_NEGATIVE, PACKED_POSITIVE = range(3)
KIND = 2**LABEL_BITS - 1
# Rows and cells looked at once, so that every intermediate array stays in the processor's cache.
KEYS_PER_CHUNK = 1 << 15


def ordered_keys(score: Scores) -> NDArray[Any]:
    """Map scores to unsigned integers in the same order; -0.0 and 0.0 get the same key.

    The bit pattern of an IEEE number grows with its magnitude: flipping the sign bit of positive
    numbers and every bit of negative ones makes it grow with the number itself.
    """
    positive_zero = score + score.dtype.type(0)
    bits = bits_of(positive_zero)
    top = bits.dtype.type(1 << (8 * bits.itemsize - 1))
    negative = positive_zero < 0 if score.size and score.min() < 0 else None
    bits ^= top
    if negative is not None:
        np.bitwise_xor(bits, top - bits.dtype.type(1), out=bits, where=negative)
    return bits


def scores_of(keys: NDArray[Any], dtype: np.dtype[Any]) -> Scores:
    """Undo `ordered_keys`."""
    top = keys.dtype.type(1 << (8 * keys.itemsize - 1))
    if keys.size and keys.min() >= top:  # no number is negative
        return np.asarray((keys ^ top).view(dtype))
    return np.where(keys & top, keys ^ top, ~keys).view(dtype)


class PackedRows(NamedTuple):
    """Sorted keys ``(key of score - base) * 4 + kind``."""

    keys: NDArray[Any]
    base: int
    dtype: np.dtype[Any]
    has_negatives: bool

    def scores(self, keys: NDArray[Any]) -> Scores:
        """Return the scores of some keys."""
        wide = (keys >> keys.dtype.type(LABEL_BITS)) + keys.dtype.type(self.base)
        return scores_of(wide.astype(f"u{self.dtype.itemsize}", copy=False), self.dtype)

    def places(self, scores: Scores) -> Indices:
        """Return the first rows that have at least some scores, if these lie in the rows' range."""
        keys = ordered_keys(scores)
        low = keys.dtype.type(self.base)
        high = keys.dtype.type(self.base + (int(self.keys[-1]) >> LABEL_BITS))
        inside = (keys[(keys >= low) & (keys <= high)] - low).astype(self.keys.dtype)
        return np.asarray(np.searchsorted(self.keys, inside << self.keys.dtype.type(LABEL_BITS)))

    def kinds(self) -> NDArray[np.uint8]:
        """Return the kind of each row."""
        return self.keys.astype(np.uint8) & np.uint8(KIND)

    def starts(self) -> Indices:
        """Return where each distinct score begins."""
        first = np.ones(self.keys.size, bool)
        np.greater(self.keys[1:] ^ self.keys[:-1], self.keys.dtype.type(KIND), out=first[1:])
        return np.flatnonzero(first)


def pack(score: Scores, label: Codes) -> PackedRows | None:
    """Sort rows by packed key; None if an integer is too narrow for range and label."""
    low, high = score.min(), score.max()
    base, last = (int(key) for key in ordered_keys(np.array([low, high])))
    wide = (last - base) >> (8 * score.itemsize - LABEL_BITS)
    # Scores of both signs are left to the caller, who can sort each side in narrow keys.
    if wide and (score.itemsize == 8 or low < 0 <= high):  # noqa: PLR2004 - bytes
        return None
    keys = ordered_keys(score)
    if wide:
        keys = keys.astype(np.uint64)
    keys -= keys.dtype.type(base)
    keys <<= keys.dtype.type(LABEL_BITS)
    keys |= (label + np.int8(1)).view(np.uint8)
    keys = sort_keys(keys, (last - base).bit_length() + LABEL_BITS)
    return PackedRows(keys, base, score.dtype, not label.all())


def count_every_score(rows: PackedRows) -> tuple[Scores, list[NDArray[Any]]]:
    """Return every distinct score, ascending, and its positive, negative, unlabeled rows."""
    start = rows.starts()
    kinds = rows.kinds()
    labelled = []
    for kind in (PACKED_POSITIVE, PACKED_NEGATIVE):
        where = np.flatnonzero(kinds == kind)
        count = np.zeros(start.size, np.int32 if kinds.size < ROWS_BEYOND_32_BITS else np.int64)
        np.add.at(count, np.searchsorted(start, where, "right") - 1, 1)
        labelled.append(count)
    unlabeled = np.diff(start, append=kinds.size) - labelled[0] - labelled[1]
    return rows.scores(rows.keys[start]), [*labelled, unlabeled]


def count_around_labels(rows: PackedRows, knots: Scores) -> Table:
    """Count at each score of a labelled row, and in each gap between two of them or a knot."""
    begins = _cell_begins(rows, knots)
    size = int(np.count_nonzero(begins))
    # Known negatives are rare: without them a single zero stands for their column.
    negative = np.empty(size) if rows.has_negatives else np.broadcast_to(0.0, size)
    table = Table(np.empty(size), np.empty(size), negative, np.empty(size), np.empty(size, bool))
    done, above = 0, begins.size
    for end in range(begins.size, 0, -KEYS_PER_CHUNK):
        low = max(end - KEYS_PER_CHUNK, 0)
        start = low + np.flatnonzero(begins[low:end])[::-1]
        if start.size:
            _fill(rows, start, above, table.part(slice(done, done + start.size)))
            done, above = done + start.size, int(start[-1])
    return table


def _fill(rows: PackedRows, start: Indices, above: int, table: Table) -> None:
    """Fill cells that begin at some rows, in descending order; another begins above them."""
    bits, kind = (rows.keys.dtype.type(number) for number in (LABEL_BITS, KIND))
    stop = np.empty_like(start)
    stop[0], stop[1:] = above, start[:-1]
    low, high = (rows.keys.take(place, mode="clip") for place in (start, stop - 1))
    label = high & kind
    table.score[:] = rows.scores(low)
    np.not_equal(low >> bits, high >> bits, out=table.merged)
    table.unlabeled[:] = stop - start
    unlabeled, *labelled = _columns(rows, table)
    for column, code in labelled:
        np.multiply(table.unlabeled, label == code, out=column)
    for column, _ in labelled:
        np.subtract(table.unlabeled, column, out=table.unlabeled)
    # Cells of one score with rows of several kinds, sorted by kind.
    mixed = np.flatnonzero((low != high) & (label != PACKED_UNLABELED))
    if mixed.size:
        first = high[mixed] & ~kind
        for column, code in (unlabeled, *labelled):
            ends = [np.searchsorted(rows.keys, first + kind.dtype.type(code + i)) for i in (0, 1)]
            column[mixed] = ends[1] - ends[0]


def _columns(rows: PackedRows, table: Table) -> list[tuple[FloatArray, int]]:
    """Return the columns that are to be filled, and the kind of the rows in each."""
    columns = [(table.unlabeled, PACKED_UNLABELED), (table.positive, PACKED_POSITIVE)]
    return [*columns, (table.negative, PACKED_NEGATIVE)] if rows.has_negatives else columns


def _cell_begins(rows: PackedRows, knots: Scores) -> BoolArray:
    """Return whether a cell begins at each row; a knot begins one."""
    keys = rows.keys
    kind, one = keys.dtype.type(KIND), keys.dtype.type(1)
    begins = np.empty(keys.size, bool)
    begins[0] = True
    for start in range(0, keys.size - 1, KEYS_PER_CHUNK):
        part = keys[start : start + KEYS_PER_CHUNK + 1]
        before, after = part[:-1], part[1:]
        apart = before ^ after
        new = begins[start + 1 : start + part.size]
        np.greater(apart, kind, out=new)
        new &= ((before | after) & kind) != PACKED_UNLABELED
        # Unlabeled rows come first among those of a score: few labelled scores have any.
        alike = before[np.flatnonzero(apart - one < kind)]
        alike = alike[(alike & kind) == PACKED_UNLABELED]
        if alike.size:
            begins[np.searchsorted(keys, alike)] = True
    if knots.size:
        begins[rows.places(knots)] = True
    return begins


DIGIT = 16
# Up to this many keys NumPy's own sort is faster.
FEW_KEYS = 1 << 13
# Keys sorted at once.
KEYS_PER_BLOCK = 1 << 16
# Most ranges of keys that are sorted one after the other; a range's number is one byte.
MOST_RANGES = 256


def sort_keys(keys: NDArray[Any], n_bits: int) -> NDArray[Any]:
    """Return the keys, all below ``2**n_bits``, in ascending order; the array given is reused."""
    if keys.size <= FEW_KEYS:
        keys.sort()
        return keys
    if keys.size <= 2 * KEYS_PER_BLOCK:
        return _by_digits(keys, n_bits)
    at = 0
    for block in _ranges(keys, n_bits):
        keys[at : at + block.size] = _by_digits(block, n_bits)
        at += block.size
    return keys


def _by_digits(keys: NDArray[Any], n_bits: int) -> NDArray[Any]:
    """Sort by each digit in turn, the lowest first; each sort keeps the order of the last."""
    for shift in range(0, n_bits, DIGIT):
        digit = (keys >> keys.dtype.type(shift) if shift else keys).astype(np.uint16)
        keys = keys.take(np.argsort(digit, kind="stable"), mode="clip")  # the fastest way
    return keys


def _ranges(keys: NDArray[Any], n_bits: int) -> Iterator[NDArray[Any]]:
    """Copy keys into consecutive ranges of about equal size; all are copied before the first."""
    size = max(KEYS_PER_BLOCK, -(-keys.size // MOST_RANGES))
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
