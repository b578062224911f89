"""Count labels at each distinct score: the one place where rows are sorted, if they must be.

Between two neighbouring scores of labelled rows the unlabeled rows only need to be counted, so a
compact table needs no sort of all rows. Only knots are validated here, the rest by the caller.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercount.count.kernel.borders import Borders, Gaps, counted_gaps
from undercount.count.kernel.buckets import Indices, Scores, hashed
from undercount.count.kernel.packed import pack, packed_gaps, packed_table
from undercount.errors import InputError

Codes = NDArray[np.int8]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

POSITIVE, NEGATIVE, UNLABELED = 1, 0, -1

# Up to this many rows it does not pay to look for ties.
SMALL = 20_000
# Above this share of labelled rows, or between these numbers of rows, one sort of everything is
# faster than counting in buckets.
MANY_LABELLED = 0.04
SORTED = (10_000, 1 << 16)
# A sample with a smaller share of scores that occur once means heavy ties.
RARE_SINGLETONS = 0.1
# Scores looked at to find that out, at most, and the least logarithm of the size of a hash table.
TIE_SAMPLE = 1 << 16
LEAST_HASH_BITS = 14
# Rows worked on at once, so that every intermediate array stays in the processor's cache.
CHUNK = 1 << 16


class Table(NamedTuple):
    """Sums of weights of the three kinds of rows in cells of descending score.

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
    frequent = _frequent_scores(rows.score)
    return _table_by_sorting(rows) if frequent is None else _table_by_hashing(rows, frequent)


def compact_table(
    score: Scores,
    label: Codes,
    weight: FloatArray | None = None,
    knots: Sequence[float] | FloatArray = (),
) -> Table:
    """Count with neighbouring scores merged where no row is labelled and no knot lies between."""
    rows = _without_zero_weights(Rows(score, label, weight))
    extra = _rounded_up(np.asarray(knots, np.float64), score.dtype)
    frequent = _frequent_scores(rows.score)
    if frequent is not None:
        return _merged(_table_by_hashing(rows, frequent), extra)
    many = np.count_nonzero(rows.label >= 0) > MANY_LABELLED * rows.score.size
    if many or (weight is None and SORTED[0] < rows.score.size <= SORTED[1]):
        return _compact_by_sorting(rows, extra)
    borders = _borders(rows.part(np.flatnonzero(rows.label >= 0)), extra)
    return _assembled(borders, _unlabeled_gaps(borders, rows))


def _compact_by_sorting(rows: Rows, knots: Scores) -> Table:
    """Sort packed rows, those below zero apart from the others if need be, or else their order."""
    packed = pack(rows.score, rows.label, knots) if rows.weight is None else None
    if packed is not None:
        borders, gaps = packed_gaps(packed)
        del packed  # the memory of its keys is better used for the table
        return _assembled(borders, gaps)
    halves = _halves(rows) if rows.weight is None else []
    if not halves:
        return _merged(_table_by_sorting(rows), knots)
    top = _compact_by_sorting(halves[0], knots[knots >= 0])
    bottom = _compact_by_sorting(halves[1], knots[knots < 0])
    return _stacked(top, bottom, knots)


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


def _frequent_scores(score: Scores) -> Scores | None:
    """Distinct scores of a sample if it shows that they hold nearly all rows, else None."""
    if score.size <= SMALL:
        return None
    size = max(1, min(score.size // 16, TIE_SAMPLE))
    value, count = _distinct(np.sort(score[:: score.size // size]))
    # The share of scores seen once estimates the share of rows with a score not seen (Good-Turing).
    return value if np.count_nonzero(count == 1) < RARE_SINGLETONS * count.sum() else None


def _distinct(ascending: NDArray[Any]) -> tuple[NDArray[Any], Indices]:
    """Distinct values of a sorted array and how often each occurs."""
    first = np.ones(ascending.size, bool)
    np.not_equal(ascending[1:], ascending[:-1], out=first[1:])
    start = np.flatnonzero(first)
    number = np.empty_like(start)
    np.subtract(start[1:], start[:-1], out=number[:-1])
    number[-1:] = ascending.size - start[-1:]
    return ascending[start], number


def _each(change: Callable[..., Any], *tables: Table) -> Table:
    """Apply a function to each column."""
    return Table(*(change(*columns) for columns in zip(*tables, strict=True)))


def _concatenated(*tables: Table) -> Table:
    return _each(lambda *columns: np.concatenate(columns), *tables)


def _descending(distinct: Scores, sums: list[NDArray[Any]]) -> Table:
    score = distinct[::-1].astype(np.float64)
    score += 0.0
    positive, negative, unlabeled = (column[::-1].astype(np.float64) for column in sums)
    return Table(score, positive, negative, unlabeled, np.zeros(score.size, bool))


def _table_by_sorting(rows: Rows) -> Table:
    """Sort packed rows, those below zero apart from the others if need be, or else their order."""
    if rows.weight is None:
        packed = pack(rows.score, rows.label, rows.score[:0])
        if packed is not None:
            return _descending(*packed_table(packed))
        if halves := _halves(rows):
            return _concatenated(*(_table_by_sorting(half) for half in halves))
    distinct, place = np.unique(rows.score, return_inverse=True)
    codes = (POSITIVE, NEGATIVE, UNLABELED)
    return _descending(distinct, [_weight_at(place, distinct.size, rows, code) for code in codes])


def _halves(rows: Rows) -> list[Rows]:
    """Rows not below zero and rows below it, if there are both."""
    negative = rows.score < 0
    if negative.all() or not negative.any():
        return []
    return [rows.part(~negative), rows.part(negative)]


def _stacked(top: Table, bottom: Table, knots: Scores) -> Table:
    """Put one compact table above another, and merge the two cells that meet."""
    meeting = _concatenated(_each(lambda c: c[-1:], top), _each(lambda c: c[:1], bottom))
    return _concatenated(
        _each(lambda c: c[:-1], top), _merged(meeting, knots), _each(lambda c: c[1:], bottom)
    )


def _table_by_hashing(rows: Rows, frequent: Scores) -> Table:
    """Count rows by the hash of their score; sort only those whose place another score owns."""
    n_bits = max(LEAST_HASH_BITS, (8 * frequent.size).bit_length())
    owner = np.full(1 << n_bits, np.nan, frequent.dtype)
    owner[hashed(frequent, n_bits)] = frequent
    total = np.zeros(4 * owner.size + 4)
    strangers = []
    for start in range(0, rows.score.size, CHUNK):
        chunk = rows.part(slice(start, start + CHUNK))
        place = hashed(chunk.score, n_bits)
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
    table = _descending(owner[used], [positive, negative, unlabeled])
    if strangers:
        table = _concatenated(table, _table_by_sorting(_joined(strangers)))
    order = np.argsort(-table.score)
    return _each(lambda column: column[order], table)


def _joined(parts: list[Rows]) -> Rows:
    weight = None
    if parts[0].weight is not None:
        weight = np.concatenate([part.weight for part in parts if part.weight is not None])
    return Rows(
        np.concatenate([part.score for part in parts]),
        np.concatenate([part.label for part in parts]),
        weight,
    )


def _weight_at(place: Indices, size: int, rows: Rows, code: int) -> NDArray[Any]:
    chosen = rows.label == code
    weight = None if rows.weight is None else rows.weight[chosen]
    return np.bincount(place[chosen], weight, size)


def _borders(labelled: Rows, knots: Scores) -> Borders:
    """Distinct scores of labelled rows, and the knots, with the labels at each."""
    if labelled.weight is None and not knots.size and labelled.label.all():
        border, positive = _distinct(np.sort(labelled.score))
        return Borders(border, positive, np.zeros_like(positive))
    border, _ = _distinct(np.sort(np.concatenate([labelled.score, knots])))
    place = np.searchsorted(border, labelled.score)
    sums = [_weight_at(place, border.size, labelled, code) for code in (POSITIVE, NEGATIVE)]
    return Borders(border, *sums)


def _rounded_up(knots: FloatArray, dtype: np.dtype[Any]) -> Scores:
    """Smallest values of the scores' type that are not below the knots."""
    if np.isnan(knots).any():
        raise InputError("threshold must be a number; got NaN in knots")
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
    merged = np.logical_or.reduceat(table.merged, first) | (last > first)
    positive, negative, unlabeled = (np.add.reduceat(sums, first) for sums in table[1:4])
    return Table(table.score[last], positive, negative, unlabeled, merged)


def _assembled(borders: Borders, gaps: Gaps) -> Table:
    """Interleave borders and gaps, leave out empty cells, and turn the order round."""
    gaps = _knots_opened(borders, gaps)
    filled = np.empty(2 * borders.score.size + 1, bool)
    filled[::2] = gaps.between != 0
    filled[1::2] = (borders.positive + borders.negative + gaps.tied) != 0
    keep = np.flatnonzero(filled)[::-1]

    def column(in_gap: Any, at_border: NDArray[Any]) -> NDArray[Any]:
        both = np.empty(filled.size, np.result_type(in_gap, at_border))
        both[::2], both[1::2] = in_gap, at_border
        return both[keep]

    positive = column(0, borders.positive).astype(np.float64)
    negative = np.zeros(keep.size)
    if borders.negative.any():
        negative[:] = column(0, borders.negative)
    unlabeled = column(gaps.between, gaps.tied).astype(np.float64)
    score = column(gaps.lowest, borders.score).astype(np.float64)
    score += 0.0
    merged = column(gaps.merged, np.zeros(borders.score.size, bool))
    return Table(score, positive, negative, unlabeled, merged)


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


def with_knots(table: Table, knots: Sequence[float]) -> Table:
    """Give each knot an empty cell of its own, so that it can be asked for as a threshold."""
    if len(knots) == 0:
        return table
    wanted = np.unique(np.asarray(knots, dtype=np.float64))
    ascending = table.score[::-1]
    # Two searches instead of a set difference, which would sort the whole table.
    found = np.searchsorted(ascending, wanted, "right") > np.searchsorted(ascending, wanted)
    missing = wanted[~found][::-1]
    place = table.score.size - np.searchsorted(ascending, missing)
    empty = [np.insert(column, place, 0.0) for column in table[1:4]]
    merged = np.insert(table.merged, place, False)
    return Table(np.insert(table.score, place, missing), empty[0], empty[1], empty[2], merged)


def summed(score: FloatArray, columns: Sequence[FloatArray], merged: NDArray[np.bool_]) -> Table:
    """Add up equal scores in any order into a descending table.

    Empty cells are dropped, except between merged ones: there they are knots.
    """
    distinct, place = np.unique(score + 0.0, return_inverse=True)  # -0.0 is 0.0
    sums = [np.bincount(place, each, len(distinct))[::-1] for each in (*columns, merged)]
    keep = (sums[0] + sums[1] + sums[2]) > 0
    if merged.any():
        keep |= sums[3] == 0
    kept = [np.asarray(column[keep], np.float64) for column in (distinct[::-1], *sums)]
    return Table(kept[0], kept[1], kept[2], kept[3], kept[4] > 0)


def grouped(table: Table, starts: NDArray[np.bool_]) -> Table:
    """Merge each cell marked in `starts` with those after it, up to the next marked one."""
    first = np.flatnonzero(starts)
    last = np.append(first[1:], len(table.score)) - 1
    sums = [np.add.reduceat(column, first) for column in table[1:4]]
    merged = (last > first) | np.logical_or.reduceat(table.merged, first)
    return Table(table.score[last], sums[0], sums[1], sums[2], merged)


def heads(cells: FloatArray, total: float) -> FloatArray:
    """Rows above each border between cells, from 0 to all."""
    if total == 0:  # a class without rows costs no pass over the cells
        return np.broadcast_to(0.0, len(cells) + 1)
    above = np.empty(len(cells) + 1)
    above[0] = 0.0
    np.cumsum(cells, out=above[1:])
    return above


def squared_weights(
    labels: NDArray[np.int8], weights: FloatArray | None
) -> tuple[float, float, float]:
    """Sum the squared weights of positive, negative and unlabeled rows; rows if unweighted."""
    if weights is not None:
        totals = np.bincount(labels + 1, weights * weights, 3)
        return float(totals[2]), float(totals[1]), float(totals[0])
    n_positive, n_negative = np.count_nonzero(labels == 1), np.count_nonzero(labels == 0)
    return float(n_positive), float(n_negative), float(len(labels) - n_positive - n_negative)


def largest_error(table: Table) -> float:
    """Bound the error of any AUC between two classes: pairs within a merged cell count one half."""
    bound = 0.0
    for one, other in itertools.combinations(table[1:4], 2):
        pairs = float(one.sum() * other.sum())
        if pairs > 0:
            within = one[table.merged] @ other[table.merged]
            bound = max(bound, 0.5 * float(within) / pairs)
    return bound


def added(left: Table, right: Table) -> Table:
    """Add two tables; raise if a label of one lies where the other has merged its rows."""
    one_grid = np.array_equal(left.score, right.score)
    if not (one_grid and np.array_equal(left.merged, right.merged)):
        _refuse_overlap(left, right)
        _refuse_overlap(right, left)
    if one_grid:  # cell by cell
        sums = [one + other for one, other in zip(left[1:4], right[1:4], strict=True)]
        return Table(left.score, sums[0], sums[1], sums[2], left.merged | right.merged)
    both = Table(*(np.concatenate(columns) for columns in zip(left, right, strict=True)))
    total = summed(both.score, both[1:4], both.merged)
    if not total.merged.any():
        return total
    # A cell ends only where neither table has merged across.
    ends = _answers(left, total.score[:-1]) & _answers(right, total.score[:-1])
    return grouped(total, np.append(True, ends))


def _answers(table: Table, threshold: FloatArray) -> NDArray[np.bool_]:
    """Tell which thresholds do not lie inside a merged cell."""
    # A merged cell reaches from its score up to the next cell's: the last cell not above.
    place = np.searchsorted(-table.score, -threshold, side="left")
    merged, score = np.append(table.merged, False), np.append(table.score, -np.inf)
    return np.asarray(~merged[place] | (score[place] == threshold))


def _refuse_overlap(left: Table, right: Table) -> None:
    """Raise if a labelled score of `right` lies inside a merged cell of `left`."""
    if not left.merged.any():
        return
    labelled = (right.positive + right.negative) > 0
    place = np.searchsorted(-left.score, -right.score[labelled], side="left")
    inside = place < len(left.score)
    place = np.minimum(place, len(left.score) - 1)
    same_cell = right.merged[labelled] & (left.score[place] == right.score[labelled])
    if (inside & left.merged[place] & ~same_cell).any():
        raise InputError(
            "merged counts can be added only if no labelled score of one lies inside a merged "
            "cell of the other; count the parts with compact=False"
        )
