"""Count labels at each distinct score: the one place where rows are sorted, if they must be.

Between two neighbouring scores of labelled rows the unlabeled rows only need to be counted, so a
compact table needs no sort of all rows. No function here validates; their caller has.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercount.buckets import Indices, Scores, hashed, ordered_keys, scores_of
from undercount.gaps import Borders, Gaps, counted_gaps, sorted_gaps

Codes = NDArray[np.int8]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

POSITIVE, NEGATIVE, UNLABELED = 1, 0, -1

# Below this many rows a plain sort is faster than counting in buckets.
SMALL = 20_000
# Above this share of labelled rows one sort of everything is faster than counting in buckets.
MANY_LABELLED = 0.04
# A sample with a smaller share of scores that occur once means heavy ties.
RARE_SINGLETONS = 0.1
# Rows worked on at once, so that every intermediate array stays in the processor's cache.
CHUNK = 1 << 17
TIE_BITS = 14


class Table(NamedTuple):
    """Weights of the three kinds of rows in cells of descending score.

    `score` is the lowest score in a cell, so ``row score >= cell score`` describes the head that
    ends with the cell; `merged` marks cells of several distinct scores without a labelled row.
    """

    score: FloatArray
    positive: FloatArray
    negative: FloatArray
    unlabeled: FloatArray
    merged: BoolArray


class Rows(NamedTuple):
    """Scores, label codes (1 positive, 0 negative, -1 unlabeled) and weights of rows."""

    score: Scores
    label: Codes
    weight: FloatArray | None

    def part(self, index: Any) -> "Rows":
        """Select some of the rows."""
        weight = None if self.weight is None else self.weight[index]
        return Rows(self.score[index], self.label[index], weight)


def full_table(score: Scores, label: Codes, weight: FloatArray | None = None) -> Table:
    """Count at every distinct score."""
    rows = _without_zero_weights(Rows(score, label, weight))
    return _table_of_ties(rows) if _heavily_tied(rows.score) else _table_by_sorting(rows)


def compact_table(
    score: Scores,
    label: Codes,
    weight: FloatArray | None = None,
    knots: Sequence[float] | FloatArray = (),
) -> Table:
    """Count with neighbouring scores merged where no row is labelled and no knot lies between."""
    rows = _without_zero_weights(Rows(score, label, weight))
    extra = _rounded_up(np.asarray(knots, np.float64), score.dtype)
    if _heavily_tied(rows.score):
        return _merged(_table_of_ties(rows), extra)
    labelled = np.flatnonzero(rows.label >= 0)
    borders = _borders(rows.part(labelled), extra)
    many = labelled.size > MANY_LABELLED * rows.score.size
    if rows.weight is None and (many or rows.score.size < SMALL):
        gaps = sorted_gaps(borders.score, np.sort(rows.score[rows.label == UNLABELED]))
    else:
        gaps = _unlabeled_gaps(borders, rows)
    return _assembled(borders, gaps)


def _unlabeled_gaps(borders: Borders, rows: Rows) -> Gaps:
    """Count in buckets; labelled rows are counted too, and taken off their borders again."""
    if rows.weight is not None:
        return counted_gaps(borders.score, rows.score, rows.weight * (rows.label == UNLABELED))
    gaps = counted_gaps(borders.score, rows.score, None)
    return gaps._replace(tied=gaps.tied - borders.positive - borders.negative)


def _without_zero_weights(rows: Rows) -> Rows:
    if rows.weight is None or rows.weight.all():
        return rows
    return rows.part(rows.weight != 0)


def _heavily_tied(score: Scores) -> bool:
    """Guess from a sample whether few distinct scores hold nearly all rows."""
    if score.size < SMALL:
        return False
    _, count = _distinct(np.sort(score[:: max(1, score.size >> 12)]))
    return bool(np.count_nonzero(count == 1) < RARE_SINGLETONS * count.sum())


def _distinct(ascending: NDArray[Any]) -> tuple[NDArray[Any], Indices]:
    """Distinct values of a sorted array and how often each occurs."""
    first = np.ones(ascending.size, bool)
    np.not_equal(ascending[1:], ascending[:-1], out=first[1:])
    start = np.flatnonzero(first)
    return ascending[start], np.diff(start, append=ascending.size)


def _descending(distinct: Scores, sums: list[FloatArray]) -> Table:
    columns = [distinct.astype(np.float64) + 0.0, *sums, np.zeros(distinct.size, bool)]
    return Table(*(np.ascontiguousarray(column[::-1]) for column in columns))


def _table_by_sorting(rows: Rows) -> Table:
    """Sort the rows of each label, or if they are weighted their order."""
    codes = (POSITIVE, NEGATIVE, UNLABELED)
    if rows.weight is None:
        distinct, _ = _distinct(np.sort(rows.score))
        sides = [_distinct(np.sort(rows.score[rows.label == code])) for code in codes]
        sums = [_spread(distinct, *side) for side in sides]
    else:
        distinct, place = np.unique(rows.score, return_inverse=True)
        sums = [_weight_at(place, distinct.size, rows, code) for code in codes]
    return _descending(distinct, sums)


def _table_of_ties(rows: Rows) -> Table:
    """Count rows by the hash of their score; sort only those that share a place with another score."""
    sample = np.sort(rows.score[:: max(1, rows.score.size >> 12)])
    known = _distinct(sample)[0] + sample.dtype.type(0)
    owner = np.full(1 << TIE_BITS, np.nan, sample.dtype)
    owner[hashed(known, TIE_BITS)] = known
    total = np.zeros(4 * owner.size + 4)
    strangers = []
    for start in range(0, rows.score.size, CHUNK):
        chunk = rows.part(slice(start, start + CHUNK))
        place = hashed(chunk.score, TIE_BITS)
        strange = np.flatnonzero(owner.take(place) != chunk.score)
        place[strange] = owner.size
        place <<= 2
        place += chunk.label + np.int8(1)
        total += np.bincount(place, chunk.weight, total.size)
        if strange.size:
            strangers.append(chunk.part(strange))
    sums = total.reshape(-1, 4)[:-1]
    used = np.flatnonzero(sums.any(axis=1))
    table = Table(owner[used], sums[used, 2], sums[used, 1], sums[used, 0], np.zeros(used.size, bool))
    if strangers:
        other = _table_by_sorting(_joined(strangers))
        table = Table(*(np.concatenate(pair) for pair in zip(table, other, strict=True)))
    order = np.argsort(-table.score)
    return Table(*(column[order].astype(column.dtype) for column in table))


def _joined(parts: list[Rows]) -> Rows:
    weight = None
    if parts[0].weight is not None:
        weight = np.concatenate([part.weight for part in parts if part.weight is not None])
    return Rows(
        np.concatenate([part.score for part in parts]),
        np.concatenate([part.label for part in parts]),
        weight,
    )


def _spread(border: Scores, value: Scores, count: Indices) -> FloatArray:
    """Spread counts at some of the borders over all of them."""
    out = np.zeros(border.size)
    out[np.searchsorted(border, value)] = count
    return out


def _weight_at(place: Indices, size: int, rows: Rows, code: int) -> FloatArray:
    assert rows.weight is not None  # noqa: S101 - for the type checker
    chosen = rows.label == code
    return np.bincount(place[chosen], rows.weight[chosen], size)


def _borders(labelled: Rows, knots: Scores) -> Borders:
    """Distinct scores of labelled rows, and the knots, with the labels at each."""
    if labelled.weight is None:
        sides = [
            _distinct(np.sort(labelled.score[labelled.label == code]))
            for code in (POSITIVE, NEGATIVE)
        ]
        border = _distinct(np.sort(np.concatenate([sides[0][0], sides[1][0], knots])))[0]
        sums = [_spread(border, *side) for side in sides]
    else:
        border = _distinct(np.sort(np.concatenate([labelled.score, knots])))[0]
        place = np.searchsorted(border, labelled.score)
        sums = [_weight_at(place, border.size, labelled, code) for code in (POSITIVE, NEGATIVE)]
    return Borders(border, *sums)


def _rounded_up(knots: FloatArray, dtype: np.dtype[Any]) -> Scores:
    """Smallest values of the scores' type that are not below the knots."""
    with np.errstate(over="ignore"):
        near = knots.astype(dtype)
        return np.where(near < knots, np.nextafter(near, dtype.type(np.inf)), near)


def _merged(table: Table, knots: Scores) -> Table:
    """Merge neighbouring cells without a labelled row unless a knot separates them."""
    bare = (table.positive + table.negative) == 0
    below = np.searchsorted(np.sort(knots), table.score, "right")
    starts = np.ones(bare.size, bool)
    starts[1:] = ~(bare[1:] & bare[:-1]) | (below[1:] != below[:-1])
    first = np.flatnonzero(starts)
    last = np.append(first[1:], bare.size) - 1
    sums = [np.add.reduceat(column, first) for column in table[1:4]]
    return Table(table.score[last], *sums, last > first)


def _assembled(borders: Borders, gaps: Gaps) -> Table:
    """Interleave borders and gaps, leave out empty cells, and turn the order round."""
    gaps = _knots_opened(borders, gaps)
    size = 2 * borders.score.size + 1
    score, positive, negative, unlabeled = np.zeros((4, size))
    merged = np.zeros(size, bool)
    score[::2], score[1::2] = gaps.lowest, borders.score
    score += 0.0
    positive[1::2], negative[1::2] = borders.positive, borders.negative
    unlabeled[::2], unlabeled[1::2] = gaps.between, gaps.tied
    merged[::2] = gaps.merged
    keep = np.flatnonzero((unlabeled != 0) | (positive != 0) | (negative != 0))[::-1]
    return Table(score[keep], positive[keep], negative[keep], unlabeled[keep], merged[keep])


def _knots_opened(borders: Borders, gaps: Gaps) -> Gaps:
    """Let a knot be the start of the gap above it rather than a cell of its own."""
    knot = np.flatnonzero((borders.positive + borders.negative) == 0)
    knot = knot[gaps.tied[knot] != 0]
    if knot.size:
        above = knot + 1
        gaps.merged[above] |= gaps.between[above] != 0
        gaps.between[above] += gaps.tied[knot]
        gaps.lowest[above] = borders.score[knot]
        gaps.tied[knot] = 0
    return gaps
