"""Count labels at each distinct score: the one place where rows are sorted, if they must be.

Between two neighbouring scores of labelled rows the unlabeled rows only need to be counted, so a
compact table needs no sort of all rows. Only knots are validated here, the rest by the caller.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercount.count.kernel.buckets import BorderCounts, BorderRanks, Borders, count_around
from undercount.count.kernel.packed import Codes, count_around_labels, count_every_score, pack
from undercount.count.kernel.table import (
    FloatArray,
    Indices,
    Scores,
    Table,
    bits_of,
    concatenate,
    merge_bare,
)
from undercount.errors import InputError

POSITIVE, NEGATIVE, UNLABELED = 1, 0, -1

# Up to this many rows it does not pay to look for ties.
FEW_ROWS_TO_TIE = 20_000
# Above this share of labelled rows, or between these numbers of rows, one sort of everything is
# faster than counting in buckets.
MANY_LABELLED = 0.04
SORTED = (10_000, 1 << 16)
# Up to this many rows the steps around a sort of packed rows cost more than sorting unpacked ones.
FEW_ROWS_TO_PACK = 4_000
# A sample with a smaller share of scores that occur once means heavy ties.
RARE_SINGLETONS = 0.1
# Scores looked at to find that out, at most, and the least logarithm of the size of a hash table.
TIE_SAMPLE = 1 << 16
# A few are looked at before: if so large a share of them occurs once, the others would say no more.
FIRST_SAMPLE, MANY_SINGLETONS = 1 << 11, 0.95
LEAST_HASH_BITS = 14
# Rows worked on at once, so that every intermediate array stays in the processor's cache.
CHUNK = 1 << 16
# Multiplier of Fibonacci hashing: 2**64 divided by the golden ratio, made odd.
GOLDEN = 0x9E3779B97F4A7C15


class ScoredRows(NamedTuple):
    """Scores, label codes (1 positive, 0 negative, -1 unlabeled) and weights of rows."""

    score: Scores
    label: Codes
    weight: FloatArray | None

    def part(self, index: Any) -> "ScoredRows":
        """Select some of the rows."""
        weight = None if self.weight is None else self.weight[index]
        return ScoredRows(self.score[index], self.label[index], weight)


def full_table(score: Scores, label: Codes, weight: FloatArray | None = None) -> Table:
    """Count at every distinct score."""
    rows = _without_zero_weights(ScoredRows(score, label, weight))
    frequent = _frequent_scores(rows.score)
    return _table_by_sorting(rows) if frequent is None else _table_by_hashing(rows, frequent)


def compact_table(
    score: Scores,
    label: Codes,
    weight: FloatArray | None = None,
    knots: Sequence[float] | FloatArray = (),
) -> Table:
    """Count with neighbouring scores merged where no row is labelled and no knot lies between."""
    rows = _without_zero_weights(ScoredRows(score, label, weight))
    extra = round_up_knots(_read_knots(knots), score.dtype)
    frequent = _frequent_scores(rows.score)
    if frequent is not None:
        return merge_bare(_table_by_hashing(rows, frequent), extra)
    many = np.count_nonzero(rows.label >= 0) > MANY_LABELLED * rows.score.size
    if many or (weight is None and SORTED[0] < rows.score.size <= SORTED[1]):
        return _compact_by_sorting(rows, extra)
    borders = find_borders(rows.part(np.flatnonzero(rows.label >= 0)), extra)
    return interleave(borders, _count_unlabeled(borders, rows))


def _compact_by_sorting(rows: ScoredRows, knots: Scores) -> Table:
    """Sort rows packed into integers; if they do not fit, each side of zero apart, or unpacked."""
    if rows.score.size <= FEW_ROWS_TO_PACK:
        return merge_bare(_table_unpacked(rows), knots)
    packed = pack(rows.score, rows.label) if rows.weight is None else None
    if packed is not None:
        return count_around_labels(packed, knots)
    halves = _halves(rows) if rows.weight is None else []
    if not halves:
        return merge_bare(_table_by_sorting(rows), knots)
    top = _compact_by_sorting(halves[0], knots[knots >= 0])
    bottom = _compact_by_sorting(halves[1], knots[knots < 0])
    return _stack(top, bottom, knots)


def _count_unlabeled(borders: Borders, rows: ScoredRows) -> BorderCounts:
    """Count in buckets; labelled rows are counted too, and taken off their borders again."""
    if rows.weight is not None:
        return count_around(borders.score, rows.score, rows.weight * (rows.label == UNLABELED))
    counts = count_around(borders.score, rows.score)
    return counts._replace(tied=counts.tied - borders.positive - borders.negative)


def _without_zero_weights(rows: ScoredRows) -> ScoredRows:
    if rows.weight is None or rows.weight.all():
        return rows
    return rows.part(rows.weight != 0)


def _frequent_scores(score: Scores) -> Scores | None:
    """Distinct scores of a sample if it shows that they hold nearly all rows, else None."""
    if score.size <= FEW_ROWS_TO_TIE:
        return None
    size = max(1, min(score.size // 16, TIE_SAMPLE))
    if size > FIRST_SAMPLE and _singletons(score, FIRST_SAMPLE)[1] > MANY_SINGLETONS:
        return None
    value, share = _singletons(score, size)
    return value if share < RARE_SINGLETONS else None


def _singletons(score: Scores, size: int) -> tuple[Scores, float]:
    """Return the distinct scores of a sample, and the share of its rows whose score occurs once.

    It estimates the share of all rows with a score that was not seen (Good-Turing).
    """
    value, count = _distinct(np.sort(score[:: score.size // size]))
    return value, np.count_nonzero(count == 1) / float(count.sum())


def _distinct(ascending: NDArray[Any]) -> tuple[NDArray[Any], Indices]:
    """Distinct values of a sorted array and how often each occurs."""
    first = np.ones(ascending.size, bool)
    np.not_equal(ascending[1:], ascending[:-1], out=first[1:])
    start = np.flatnonzero(first)
    number = np.empty_like(start)
    np.subtract(start[1:], start[:-1], out=number[:-1])
    number[-1:] = ascending.size - start[-1:]
    return ascending[start], number


def _from_ascending(distinct: Scores, sums: list[NDArray[Any]]) -> Table:
    score = distinct[::-1].astype(np.float64)
    score += 0.0
    positive, negative, unlabeled = (column[::-1].astype(np.float64) for column in sums)
    return Table(score, positive, negative, unlabeled, np.zeros(score.size, bool))


def _table_by_sorting(rows: ScoredRows) -> Table:
    """Sort rows packed into integers; if they do not fit, each side of zero apart, or unpacked."""
    if rows.weight is None and rows.score.size > FEW_ROWS_TO_PACK:
        packed = pack(rows.score, rows.label)
        if packed is not None:
            return _from_ascending(*count_every_score(packed))
        if halves := _halves(rows):
            return concatenate(*(_table_by_sorting(half) for half in halves))
    return _table_unpacked(rows)


def _table_unpacked(rows: ScoredRows) -> Table:
    distinct, place = np.unique(rows.score, return_inverse=True)
    codes = (POSITIVE, NEGATIVE, UNLABELED)
    return _from_ascending(
        distinct, [_weight_at(place, distinct.size, rows, code) for code in codes]
    )


def _halves(rows: ScoredRows) -> list[ScoredRows]:
    """Rows not below zero and rows below it, if there are both."""
    negative = rows.score < 0
    if negative.all() or not negative.any():
        return []
    return [rows.part(~negative), rows.part(negative)]


def _stack(top: Table, bottom: Table, knots: Scores) -> Table:
    """Put one compact table above another, and merge the two cells that meet."""
    last, first = slice(-1, None), slice(0, 1)
    meeting = merge_bare(concatenate(top.part(last), bottom.part(first)), knots)
    return concatenate(top.part(slice(-1)), meeting, bottom.part(slice(1, None)))


def _table_by_hashing(rows: ScoredRows, frequent: Scores) -> Table:
    """Count rows by the hash of their score; sort only those whose place another score owns."""
    n_bits = max(LEAST_HASH_BITS, (8 * frequent.size).bit_length())
    owner = np.full(1 << n_bits, np.nan, frequent.dtype)
    owner[_hash(frequent, n_bits)] = frequent
    total = np.zeros(4 * owner.size + 4)
    strangers = []
    for start in range(0, rows.score.size, CHUNK):
        chunk = rows.part(slice(start, start + CHUNK))
        place = _hash(chunk.score, n_bits)
        strange = np.flatnonzero(owner.take(place) != chunk.score)
        place[strange] = owner.size
        place <<= 2
        place += chunk.label + np.int8(1)
        np.add.at(total, place, 1.0 if chunk.weight is None else chunk.weight)
        if strange.size:
            strangers.append(chunk.part(strange))
    sums = total.reshape(-1, 4)[:-1]
    used = np.flatnonzero(sums.any(axis=1))
    unlabeled, negative, positive, _ = sums[used].T
    table = _from_ascending(owner[used], [positive, negative, unlabeled])
    if strangers:
        table = concatenate(table, _table_by_sorting(_join(strangers)))
    return table.part(np.argsort(-table.score))


def _hash(score: Scores, n_bits: int) -> Indices:
    """Scatter scores over ``2**n_bits`` places; equal scores, 0.0 and -0.0 too, get one place."""
    bits = bits_of(score + score.dtype.type(0))
    width = 8 * bits.itemsize
    np.multiply(bits, bits.dtype.type(GOLDEN >> (64 - width) | 1), out=bits)
    np.right_shift(bits, bits.dtype.type(width - n_bits), out=bits)
    return bits.astype(np.intp)


def _join(parts: list[ScoredRows]) -> ScoredRows:
    weight = None
    if parts[0].weight is not None:
        weight = np.concatenate([part.weight for part in parts if part.weight is not None])
    return ScoredRows(
        np.concatenate([part.score for part in parts]),
        np.concatenate([part.label for part in parts]),
        weight,
    )


def _weight_at(place: Indices, size: int, rows: ScoredRows, code: int) -> NDArray[Any]:
    chosen = rows.label == code
    weight = None if rows.weight is None else rows.weight[chosen]
    return np.bincount(place[chosen], weight, size)


def find_borders(labelled: ScoredRows, knots: Scores) -> Borders:
    """Return distinct scores of labelled rows, and the knots, with the labels at each."""
    if labelled.weight is None and not knots.size and labelled.label.all():
        border, positive = _distinct(np.sort(labelled.score))
        return Borders(border, positive, np.zeros_like(positive))
    border, _ = _distinct(np.sort(np.concatenate([labelled.score, knots])))
    place = np.searchsorted(border, labelled.score)
    sums = [_weight_at(place, border.size, labelled, code) for code in (POSITIVE, NEGATIVE)]
    return Borders(border, *sums)


def _read_knots(knots: Sequence[float] | FloatArray) -> FloatArray:
    """Return thresholds as floats."""
    try:
        values = np.asarray(knots, np.float64)
    except (TypeError, ValueError, OverflowError):
        values = np.zeros((0, 0))
    if values.ndim != 1:
        raise InputError(f"knots must be a sequence of numbers; got {knots!r}")
    return values


def round_up_knots(knots: FloatArray, dtype: np.dtype[Any]) -> Scores:
    """Return the smallest values of the scores' type that are not below the knots."""
    if np.isnan(knots).any():
        raise InputError("threshold must be a number; got NaN in knots")
    with np.errstate(over="ignore"):
        near = knots.astype(dtype)
        return np.where(near < knots, np.nextafter(near, dtype.type(np.inf)), near)


def interleave(borders: Borders, counts: BorderCounts) -> Table:
    """Put borders and the rows between them into one descending table without empty cells."""
    counts = _open_knots(borders, counts)
    filled = np.empty(2 * borders.score.size + 1, bool)
    filled[::2] = counts.between != 0
    filled[1::2] = (borders.positive + borders.negative + counts.tied) != 0
    keep = np.flatnonzero(filled)[::-1]

    def column(beside: Any, at_border: NDArray[Any]) -> NDArray[Any]:
        both = np.empty(filled.size, np.result_type(beside, at_border))
        both[::2], both[1::2] = beside, at_border
        return both[keep]

    positive = column(0, borders.positive).astype(np.float64)
    negative = np.zeros(keep.size)
    if borders.negative.any():
        negative[:] = column(0, borders.negative)
    unlabeled = column(counts.between, counts.tied).astype(np.float64)
    score = column(counts.lowest, borders.score).astype(np.float64)
    score += 0.0
    merged = column(counts.merged, np.zeros(borders.score.size, bool))
    return Table(score, positive, negative, unlabeled, merged)


def _open_knots(borders: Borders, counts: BorderCounts) -> BorderCounts:
    """Let a knot begin the cell above it rather than be a cell of its own."""
    knot = np.flatnonzero((borders.positive + borders.negative) == 0)
    knot = knot[counts.tied[knot] != 0]
    if knot.size:
        above = knot + 1
        counts.merged[above] |= counts.between[above] != 0
        counts.between[above] += counts.tied[knot]
        counts.lowest[above] = borders.score[knot]
        counts.tied[knot] = 0
    return counts


def sum_squares(labels: NDArray[np.int8], weights: FloatArray | None) -> tuple[float, float, float]:
    """Sum the squared weights of positive, negative and unlabeled rows; rows if unweighted."""
    if weights is not None:
        totals = np.bincount(labels + 1, weights * weights, 3)
        return float(totals[2]), float(totals[1]), float(totals[0])
    n_positive, n_negative = np.count_nonzero(labels == 1), np.count_nonzero(labels == 0)
    return float(n_positive), float(n_negative), float(len(labels) - n_positive - n_negative)


def count_distinct(score: Scores) -> int:
    """Return the number of distinct scores."""
    return len(_distinct(np.sort(score))[0])


class CellFinder:
    """Find the cells of rows in a table of falling scores, whose cells hold all of the rows.

    Parameters
    ----------
    cells : array
        The lowest score of each cell, falling.
    score : array
        Scores like those that are looked up.
    n_rows : int, optional
        How many are, if not as many.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.count.kernel.rows import CellFinder
    >>> score = np.array([0.2, 0.9, 0.3, 0.5])
    >>> CellFinder(np.array([0.9, 0.5, 0.2]), score)(score)
    array([2, 0, 2, 1])
    """

    def __init__(self, cells: FloatArray, score: Scores, n_rows: int | None = None) -> None:
        self._size = cells.size
        # A knot may be a number that scores cannot be.
        self._ranks = BorderRanks(round_up_knots(cells[::-1], score.dtype), score, n_rows)

    def __call__(self, score: Scores) -> Indices:
        """Return the cell of each row."""
        below = self._ranks(score)
        return np.subtract(self._size, below, out=below)


def cell_places(cells: FloatArray, score: Scores) -> Indices:
    """Return the cell of each row in a table of falling scores, whose cells hold all of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.count.kernel.rows import cell_places
    >>> cell_places(np.array([0.9, 0.5, 0.2]), np.array([0.2, 0.9, 0.3, 0.5]))
    array([2, 0, 2, 1])
    """
    return CellFinder(cells, score)(score)
