"""Cells of a table of counts: knots between them, their sums, and when two tables can be added."""

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from undercount.errors import InputError
from undercount.rates import FloatArray
from undercount.tally import Table


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
