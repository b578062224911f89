"""Count labels at each distinct score: the one place where rows are sorted."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.floating]
    Codes = NDArray[np.int8]
    Float64s = NDArray[np.float64]


class Table(NamedTuple):
    """Weights of the three kinds of rows in cells of descending score.

    `score` is the lowest score in the cell, so that ``row score >= cell score`` describes the
    head that ends with the cell exactly; `merged` marks cells of several distinct scores, none of
    which has a labelled row.
    """

    score: NDArray[np.float64]
    positive: NDArray[np.float64]
    negative: NDArray[np.float64]
    unlabeled: NDArray[np.float64]
    merged: NDArray[np.bool_]


class Borders(NamedTuple):
    """Scores that separate cells, ascending: those of labelled rows, and the knots."""

    score: Floats
    positive: Float64s
    negative: Float64s


class Gaps(NamedTuple):
    """Unlabeled rows around m borders: m weights of ties, m + 1 gaps below, between, above."""

    tied: Float64s
    between: Float64s
    lowest: Floats
    merged: NDArray[np.bool_]


def full_table(score: Floats, label: Codes, weight: Float64s | None = None) -> Table:
    """Count at every distinct score."""
    score, label, weight = _clean(score, label, weight)
    if weight is None:
        sides = [np.sort(score[label == code]) for code in (1, 0, -1)]
        distinct = _distinct(np.sort(score))[0]
        counts = [_at(distinct, *_distinct(side)) for side in sides]
    else:
        distinct, inverse = np.unique(score, return_inverse=True)
        counts = [
            np.bincount(inverse, np.where(label == code, weight, 0.0), distinct.size)
            for code in (1, 0, -1)
        ]
    merged = np.zeros(distinct.size, bool)
    columns = (distinct.astype(np.float64), *counts, merged)
    return Table(*(np.ascontiguousarray(column[::-1]) for column in columns))


def compact_table(
    score: Floats,
    label: Codes,
    weight: Float64s | None = None,
    knots: Sequence[float] | Float64s = (),
) -> Table:
    """Count with neighbouring scores merged where no row is labelled and no knot lies between."""
    score, label, weight = _clean(score, label, weight)
    labelled = label >= 0
    borders = _borders(
        score[labelled], label[labelled], None if weight is None else weight[labelled], knots
    )
    rest = ~labelled
    unlabeled = score[rest]
    if weight is None:
        gaps = _sorted_gaps(borders.score, np.sort(unlabeled))
    else:
        gaps = _weighted_gaps(borders.score, unlabeled, weight[rest])
    return _assembled(borders, gaps)


def _clean(
    score: Floats, label: Codes, weight: Float64s | None
) -> tuple[Floats, Codes, Float64s | None]:
    """Drop rows of weight zero and make -0.0 equal 0.0."""
    if weight is not None and not weight.all():
        keep = weight != 0
        score, label, weight = score[keep], label[keep], weight[keep]
    return score + score.dtype.type(0), label, weight


def _distinct(ascending: Floats) -> tuple[Floats, Float64s]:
    """Distinct values of a sorted array and how often each occurs."""
    first = np.ones(ascending.size, bool)
    np.not_equal(ascending[1:], ascending[:-1], out=first[1:])
    starts = np.flatnonzero(first)
    return ascending[starts], np.diff(starts, append=ascending.size).astype(np.float64)


def _at(border: Floats, value: Floats, count: Float64s) -> Float64s:
    """Spread counts at some of the borders over all of them."""
    out = np.zeros(border.size)
    out[np.searchsorted(border, value)] = count
    return out


def _borders(
    score: Floats, label: Codes, weight: Float64s | None, knots: Sequence[float] | Float64s
) -> Borders:
    """Distinct scores of labelled rows, and the knots, with the labels at each."""
    extra = _rounded_up(np.asarray(knots, np.float64), score.dtype)
    border = np.unique(np.concatenate([score, extra]))
    if weight is None:
        positive = _at(border, *_distinct(np.sort(score[label == 1])))
        negative = _at(border, *_distinct(np.sort(score[label == 0])))
    else:
        index = np.searchsorted(border, score)
        positive = np.bincount(index, np.where(label == 1, weight, 0.0), border.size)
        negative = np.bincount(index, np.where(label == 0, weight, 0.0), border.size)
    return Borders(border, positive, negative)


def _rounded_up(knots: Float64s, dtype: np.dtype[np.floating]) -> Floats:
    """Smallest values of the scores' type that are not below the knots."""
    with np.errstate(over="ignore"):
        near = knots.astype(dtype)
        return np.where(near < knots, np.nextafter(near, dtype.type(np.inf)), near) + dtype.type(0)


def _sorted_gaps(border: Floats, unlabeled: Floats) -> Gaps:
    """Count sorted unlabeled scores at and between the borders."""
    start = np.append(np.searchsorted(unlabeled, border, "left"), unlabeled.size)
    end = np.insert(np.searchsorted(unlabeled, border, "right"), 0, 0)
    if not unlabeled.size:
        lowest = np.zeros(start.size, unlabeled.dtype)
        return Gaps(np.zeros(border.size), np.zeros(start.size), lowest, np.zeros(start.size, bool))
    lowest = unlabeled[np.minimum(end, unlabeled.size - 1)]
    highest = unlabeled[start - 1]
    between = (start - end).astype(np.float64)
    return Gaps((end[1:] - start[:-1]).astype(np.float64), between, lowest, lowest < highest)


def _weighted_gaps(border: Floats, unlabeled: Floats, weight: Float64s) -> Gaps:
    """Sum weights of unlabeled rows at and between the borders."""
    code = np.searchsorted(border, unlabeled, "left") + np.searchsorted(border, unlabeled, "right")
    total = np.bincount(code, weight, 2 * border.size + 1)
    lowest = np.full(total.size, np.inf, unlabeled.dtype)
    highest = np.full(total.size, -np.inf, unlabeled.dtype)
    np.minimum.at(lowest, code, unlabeled)
    np.maximum.at(highest, code, unlabeled)
    return Gaps(total[1::2], total[::2], lowest[::2], (lowest < highest)[::2])


def _assembled(borders: Borders, gaps: Gaps) -> Table:
    """Interleave borders and gaps, leave out empty cells, and turn the order round."""
    size = 2 * borders.score.size + 1
    score, positive, negative, unlabeled = np.zeros((4, size))
    merged = np.zeros(size, bool)
    score[::2], score[1::2] = gaps.lowest, borders.score
    positive[1::2], negative[1::2] = borders.positive, borders.negative
    unlabeled[::2], unlabeled[1::2] = gaps.between, gaps.tied
    merged[::2] = gaps.merged
    keep = np.flatnonzero((unlabeled != 0) | (positive != 0) | (negative != 0))[::-1]
    return Table(score[keep], positive[keep], negative[keep], unlabeled[keep], merged[keep])
