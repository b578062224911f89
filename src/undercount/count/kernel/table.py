"""A table of counts in cells of descending score, and what can be done to it."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercount.errors import InputError, keep_scores

Scores = NDArray[np.floating[Any]]
Indices = NDArray[np.intp]
FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


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

    @property
    def classes(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Positive, negative and unlabeled rows."""
        return self[1:4]

    def part(self, index: Any) -> "Table":
        """Select some of the cells."""
        return Table(*(column[index] for column in self))


# How parts with few distinct scores are counted, which always add up.
LIKE_PARTS = "--round 4 (each of them), or "
# So many cells are cheaper joined with their neighbours one by one.
FEW_CELLS = 64


def find_cells(ends: Scores, score: Scores) -> Indices:
    """Return the cell of each score, given the lowest score in each cell, descending."""
    return np.asarray(len(ends) - np.searchsorted(ends[::-1], score, "right"))


def regroup_rows(ends: Scores, score: Scores, rows: FloatArray) -> FloatArray:
    """Add up numbers of rows, an array (3, cells), in other cells that unite those."""
    cell = find_cells(ends, score)
    return np.stack([np.bincount(cell, kind, len(ends)) for kind in rows])


# Sums below these fit into 32 bits, and into the whole numbers that a float holds.
_NARROW, _WHOLE = 2.0**31, 2.0**53


def add_up(cells: FloatArray, above: float, total: float) -> FloatArray:
    """Return the rows up to each cell, of which so many are above the first and `total` in all.

    Whole rows are added as integers, exactly, and in a fifth of the time.
    """
    if total < _WHOLE:
        rows = cells.astype(np.int32 if total < _NARROW else np.int64)
        np.add.accumulate(rows, out=rows)
        if rows[-1] == cells.sum():  # parts of rows were cut off otherwise
            return np.asarray(np.add(rows, above, dtype=np.float64))
    return np.asarray(above + np.cumsum(cells))


def concatenate(*tables: Table) -> Table:
    """Put tables below each other."""
    return Table(*map(np.concatenate, zip(*tables, strict=True)))


def merge_cells(table: Table, starts: BoolArray) -> Table:
    """Merge each cell marked in `starts` with those after it, up to the next marked one."""
    first = np.flatnonzero(starts)
    last = np.append(first, len(table.score))[1:] - 1
    sums = [np.add.reduceat(column, first) for column in table.classes]
    merged = (last > first) | np.logical_or.reduceat(table.merged, first)
    return Table(table.score[last], sums[0], sums[1], sums[2], merged)


def merge_bare(table: Table, knots: Scores | Sequence[float]) -> Table:
    """Merge neighbouring cells without a labelled row unless a knot separates them."""
    bare = (table.positive + table.negative) == 0
    below = np.searchsorted(np.sort(np.asarray(knots)), table.score, "right")
    starts = np.ones(bare.size, bool)
    starts[1:] = ~(bare[1:] & bare[:-1]) | (below[1:] != below[:-1])
    return merge_cells(table, starts)


def merge_every_bare(table: Table) -> Table:
    """Merge all neighbouring cells without a labelled row, whatever was kept apart, and drop empty.

    A table is returned itself if it has no such cells.
    """
    bare = (table.positive + table.negative) == 0
    joining = np.flatnonzero(bare[1:] & bare[:-1]) + 1
    empty = np.flatnonzero(bare & (table.unlabeled == 0))
    if not joining.size and not empty.size:
        return table
    if joining.size + empty.size <= FEW_CELLS:
        return _join_few(table, joining, empty)
    if empty.size:
        filled = ~bare | (table.unlabeled != 0)
        table, bare = table.part(filled), bare[filled]
    starts = np.ones(bare.size, bool)
    starts[1:] = ~(bare[1:] & bare[:-1])
    return merge_cells(table, starts)


def _join_few(table: Table, joining: Indices, empty: Indices) -> Table:
    """Merge a few bare cells with those above them, and drop a few empty ones, in one pass."""
    score, unlabeled, merged = table.score.copy(), table.unlabeled.copy(), table.merged.copy()
    for place in joining[::-1]:  # from below, so that the lowest score goes up to the first cell
        if unlabeled[place] == 0:
            continue
        merged[place - 1] = merged[place] or unlabeled[place - 1] != 0
        unlabeled[place - 1] += unlabeled[place]
        score[place - 1] = score[place]
    kept = np.ones(score.size, bool)
    kept[joining] = False
    kept[empty] &= unlabeled[empty] != 0
    return Table(score, table.positive, table.negative, unlabeled, merged).part(kept)


def coarsen(table: Table, n_bins: int, *, keep_heavy: bool = False) -> Table:
    """Merge neighbouring cells into at most `n_bins` of about equal weight.

    Heavy cells may stay alone (`keep_heavy`), which costs a few bins and ties fewer rows.
    """
    if n_bins >= table.score.size:
        return table
    mass = mean_shares(table.classes)
    if keep_heavy:
        number = _number_around_heavy(mass[::-1], n_bins)[::-1]
    else:
        position = np.cumsum(mass) * n_bins * (1 - 1e-12)
        number = np.minimum(position.astype(np.int64), n_bins - 1)
    return merge_cells(table, np.append(True, np.diff(number) != 0))


def mean_shares(classes: Iterable[FloatArray]) -> FloatArray:
    """Mean share of the classes in each cell, so that each class is resolved."""
    shares = [column / column.sum() for column in classes if column.any()]
    return np.asarray(sum(shares) / len(shares))


def _number_around_heavy(mass: FloatArray, n_bins: int) -> NDArray[np.int64]:
    most = np.sort(mass)[::-1][n_bins // 3] if mass.size > n_bins // 3 else 0.0
    # Each heavy cell also ends the one before it, so at most a third of the bins are heavy.
    heavy = mass > max(most, 1 / n_bins)
    light = np.where(heavy, 0.0, mass)
    spare = max(n_bins - 2 * int(heavy.sum()) - 1, 1)
    share = np.cumsum(light) / max(light.sum(), np.finfo(np.float64).tiny)
    part = np.minimum((share * spare).astype(np.int64), spare - 1)
    # A new cell begins before and after each heavy one, and where the share of light ones asks.
    step = 2 * np.cumsum(heavy) - heavy
    return np.asarray(step.astype(np.int64) * (spare + 1) + part)


def insert_knots(table: Table, knots: Sequence[float]) -> Table:
    """Give each knot an empty cell of its own, so that it can be asked for as a threshold."""
    if len(knots) == 0:
        return table
    places = np.unique(np.asarray(knots, dtype=np.float64))
    ascending = table.score[::-1]
    # Two searches instead of a set difference, which would sort the whole table.
    present = np.searchsorted(ascending, places, "right") > np.searchsorted(ascending, places)
    missing = places[~present][::-1]
    place = table.score.size - np.searchsorted(ascending, missing)
    empty = [np.insert(column, place, 0.0) for column in table.classes]
    merged = np.insert(table.merged, place, False)
    return Table(np.insert(table.score, place, missing), empty[0], empty[1], empty[2], merged)


def sum_equal_scores(score: FloatArray, columns: Sequence[FloatArray], merged: BoolArray) -> Table:
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


def tie_errors(classes: Iterable[FloatArray], merged: BoolArray) -> FloatArray:
    """Bound what each cell adds to the error of an AUC of two classes: an array (pairs, cells).

    Pairs of rows within a merged cell count one half where they may really count 0 or 1.
    """
    merged_rows = [(column * merged, column.sum()) for column in classes if column.any()]
    errors = [0.5 * one * other / (n * m) for (one, n), (other, m) in combinations(merged_rows, 2)]
    return np.array(errors).reshape(-1, merged.size)


def bound_auc_error(table: Table) -> float:
    """Bound the error of any AUC of two classes."""
    if not table.merged.any():
        return 0.0
    return float(tie_errors(table.classes, table.merged).sum(axis=1).max(initial=0.0))


def add_tables(left: Table, right: Table) -> Table:
    """Add two tables; raise if a label of one lies where the other has merged its rows."""
    one_grid = np.array_equal(left.score, right.score)
    if not (one_grid and np.array_equal(left.merged, right.merged)):
        _check_no_overlap(left, right)
        _check_no_overlap(right, left)
    if one_grid:  # cell by cell
        sums = [one + other for one, other in zip(left.classes, right.classes, strict=True)]
        return Table(left.score, sums[0], sums[1], sums[2], left.merged | right.merged)
    both = concatenate(left, right)
    total = sum_equal_scores(both.score, both.classes, both.merged)
    if not total.merged.any():
        return total
    # A cell ends only where neither table has merged across.
    ends = _answers(left, total.score[:-1]) & _answers(right, total.score[:-1])
    return merge_cells(total, np.append(True, ends))


def _answers(table: Table, threshold: FloatArray) -> BoolArray:
    """Tell which thresholds do not lie inside a merged cell."""
    # A merged cell reaches from its score up to the next cell's: the last cell not above.
    place = np.searchsorted(-table.score, -threshold, side="left")
    merged, score = np.append(table.merged, False), np.append(table.score, -np.inf)
    return np.asarray(~merged[place] | (score[place] == threshold))


def _check_no_overlap(left: Table, right: Table) -> None:
    """Raise if a labelled score of `right` lies inside a merged cell of `left`."""
    if not left.merged.any():
        return
    labelled = (right.positive + right.negative) > 0
    place = np.searchsorted(-left.score, -right.score[labelled], side="left")
    inside = place < len(left.score)
    place = np.minimum(place, len(left.score) - 1)
    same_cell = right.merged[labelled] & (left.score[place] == right.score[labelled])
    if (inside & left.merged[place] & ~same_cell).any():
        advice = keep_scores("count the parts with compact=False", LIKE_PARTS, what="the parts")
        raise InputError(
            "merged counts can be added only if no labelled score of one lies inside a merged "
            f"cell of the other; {advice}"
        )


class ScoreRanges(NamedTuple):
    """Ranges of scores, in any order and perhaps overlapping, and the rows in each.

    `weight` is an array (3, ranges): positive, negative, unlabeled.
    """

    low: FloatArray
    high: FloatArray
    weight: FloatArray

    def sum_by(self, *keys: NDArray[Any]) -> "ScoreRanges":
        """Unite the ranges with the same keys, and sort them by these."""
        order = np.lexsort(keys[::-1])
        new = np.ones(order.size, bool)
        # A comparison, because a difference of infinities is NaN.
        new[1:] = np.any([key[order][1:] != key[order][:-1] for key in keys], axis=0)
        return self._unite(order, new)

    def table(self) -> Table:
        """Return a table of disjoint cells: ranges that overlap become one."""
        order = np.lexsort([self.high, self.low])
        reach = np.maximum.accumulate(self.high[order])
        ranges = self._unite(order, np.append(True, self.low[order][1:] > reach[:-1]))
        weight = np.ascontiguousarray(ranges.weight[:, ::-1])
        merged = (ranges.low < ranges.high)[::-1]
        return Table(ranges.low[::-1], weight[0], weight[1], weight[2], merged)

    def _unite(self, order: NDArray[np.intp], starts: BoolArray) -> "ScoreRanges":
        first = np.flatnonzero(starts)
        return ScoreRanges(
            np.minimum.reduceat(self.low[order], first),
            np.maximum.reduceat(self.high[order], first),
            np.add.reduceat(self.weight[:, order], first, axis=1),
        )


def bits_of(score: Scores) -> NDArray[Any]:
    """View numbers as unsigned integers of the same width."""
    return score.view(np.uint32 if score.dtype.itemsize == 4 else np.uint64)  # noqa: PLR2004 - bytes
