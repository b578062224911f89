"""Sort scores and labels in one array: the score's bit pattern with the label in the low bits."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercount.buckets import Indices, Scores, ordered_keys, scores_of
from undercount.gaps import Borders, Gaps
from undercount.radix import sort_keys

Codes = NDArray[np.int8]
FloatArray = NDArray[np.float64]

LABEL_BITS = 2
# In the low bits; an unlabeled row comes before the labelled rows and the knots of its score.
UNLABELED, NEGATIVE, POSITIVE, KNOT = range(4)


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


def packed_table(rows: PackedRows) -> tuple[Scores, list[FloatArray]]:
    """Return every distinct score, ascending, and its positive, negative, unlabeled rows."""
    start = rows.starts()
    kinds = rows.kinds()
    number = np.diff(start, append=kinds.size).astype(np.float64)
    distinct = rows.scores(rows.keys[start])
    labelled = []
    for kind in (POSITIVE, NEGATIVE):
        where = np.flatnonzero(kinds == kind)
        count = np.zeros(start.size)
        if where.size:
            np.add.at(count, np.searchsorted(start, where, "right") - 1, 1.0)
        labelled.append(count)
    number -= labelled[0]
    number -= labelled[1]
    return distinct, [*labelled, number]


def packed_gaps(rows: PackedRows) -> tuple[Borders, Gaps]:
    """Return scores of labelled rows and knots, and the unlabeled rows at and between them."""
    keys = rows.keys
    kinds = rows.kinds()
    place = np.flatnonzero(kinds != UNLABELED)
    kinds = kinds[place]
    value = keys[place] >> keys.dtype.type(LABEL_BITS)
    new = np.ones(place.size, bool)
    np.not_equal(value[1:], value[:-1], out=new[1:])
    first = np.flatnonzero(new)
    number = np.diff(first, append=place.size)
    lowest = value[first] << keys.dtype.type(
        LABEL_BITS
    )  # the key of an unlabeled row of this score
    start, end = place[first], place[first + number - 1] + 1
    tied = np.flatnonzero((start > 0) & (keys[start - 1] >= lowest))
    start[tied] = np.searchsorted(keys, lowest[tied])
    borders = Borders(rows.scores(lowest), *_kinds_at(kinds, first, number))
    return borders, _gaps_between(rows, start, end, number)


def _kinds_at(
    kinds: NDArray[np.uint8], first: Indices, number: Indices
) -> tuple[FloatArray, FloatArray]:
    """Count positives and negatives in runs of labelled rows and knots of one score."""
    if (kinds == POSITIVE).all():
        return number.astype(np.float64), np.zeros(number.size)
    sums = []
    for kind in (POSITIVE, NEGATIVE):
        heads = np.zeros(kinds.size + 1)
        np.cumsum(kinds == kind, out=heads[1:])
        sums.append(heads[first + number] - heads[first])
    return sums[0], sums[1]


def _gaps_between(rows: PackedRows, start: Indices, end: Indices, number: Indices) -> Gaps:
    """Count unlabeled rows between the ends of borders and the starts of the next."""
    keys = rows.keys
    after, before = np.append(0, end), np.append(start, keys.size)
    between = before - after
    low = keys[np.minimum(after, keys.size - 1)]
    high = keys[before - 1]
    tied = end - start - number
    return Gaps(
        tied.astype(np.float64),
        between.astype(np.float64),
        rows.scores(low),
        (between > 0) & (low < high),
    )
