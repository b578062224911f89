"""Exact compact counts of more rows than fit into memory: batches from DuckDB, counted by NumPy.

A first pass sums up the rows, a second takes the labelled ones, whose scores are the borders of
the cells, a third counts the unlabeled rows at and between the borders, batch by batch.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from undercount.count.groups import NEGATIVE, POSITIVE, UNLABELED, Columns, coded, is_nan
from undercount.count.kernel.buckets import BucketMap, Scores, candidate_maps
from undercount.count.kernel.table import Table, with_knots
from undercount.count.progress import Progress
from undercount.count.queries import (
    CODE,
    ROWS,
    SCORE,
    WEIGHT,
    Arrays,
    Frame,
    interrupts,
    unmasked,
)
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray

# Rows that travel at once from DuckDB, and rows that NumPy works on at once.
BATCH, CHUNK = 1 << 20, 1 << 17
SAMPLE = 1 << 13
# Buckets a border, and the least and largest logarithm of their number.
BUCKETS_A_BORDER, BUCKET_BITS = 8, (12, 23)
# Rows near a border are sorted together when so many have been gathered.
NEAR_ROWS = 1 << 21


@dataclass
class GapCounter:
    """Count rows at and between borders, batch by batch, in constant memory."""

    border: Scores
    bucket_of: BucketMap
    gap_of: NDArray[np.int32]
    tied: FloatArray = field(init=False)
    between: FloatArray = field(init=False)
    lowest: Scores = field(init=False)
    highest: Scores = field(init=False)
    near: list[tuple[Scores, FloatArray | None]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Start with no rows; one more gap takes the rows near a border."""
        size = self.border.size + 2
        self.tied, self.between = np.zeros(self.border.size), np.zeros(size)
        self.lowest = np.full(size, np.inf, self.border.dtype)
        self.highest = np.full(size, -np.inf, self.border.dtype)

    def add(self, score: Scores, weight: FloatArray | None) -> None:
        """Count a batch."""
        for start in range(0, score.size, CHUNK):
            part = score[start : start + CHUNK] + score.dtype.type(0)  # -0.0 is 0.0
            share = None if weight is None else weight[start : start + CHUNK]
            gap = self.gap_of.take(self.bucket_of(part)).astype(np.intp)
            self._spread(gap, part, share)
            rest = np.flatnonzero(gap == self.border.size + 1)
            self.near.append((part[rest], None if share is None else share[rest]))
        if sum(part.size for part, _ in self.near) > NEAR_ROWS:
            self.settle()

    def _spread(self, gap: NDArray[np.intp], score: Scores, weight: FloatArray | None) -> None:
        np.add.at(self.between, gap, 1.0 if weight is None else weight)
        np.minimum.at(self.lowest, gap, score)
        np.maximum.at(self.highest, gap, score)

    def settle(self) -> None:
        """Sort the rows gathered near borders into their cells."""
        if not self.near:
            return
        score = np.concatenate([part for part, _ in self.near])
        shares = [share for _, share in self.near if share is not None]
        weight = np.concatenate(shares) if shares else None
        if weight is None:
            score = np.sort(score)  # neighbours in order are found in the cache
        place = np.searchsorted(self.border, score, "left")
        tie = self.border[np.minimum(place, self.border.size - 1)] == score
        np.add.at(self.tied, place[tie], 1.0 if weight is None else weight[tie])
        self._spread(place[~tie], score[~tie], None if weight is None else weight[~tie])
        self.near = []


def gap_counter(border: Scores, sample: Scores) -> GapCounter:
    """Choose the map to buckets that leaves the fewest rows of a sample beside a border."""
    if border.size == 0:  # one gap
        bucket_of = candidate_maps(sample, 1)[0]
        return GapCounter(border, bucket_of, np.zeros(bucket_of.n_buckets, np.int32))
    bits = min(
        max((BUCKETS_A_BORDER * border.size - 1).bit_length(), BUCKET_BITS[0]), BUCKET_BITS[1]
    )
    best, fewest = None, sample.size + 1
    for bucket_of in candidate_maps(
        np.concatenate([sample, border[:: 1 + border.size // SAMPLE]]), 1 << bits
    ):
        gap_of = _gap_of(bucket_of, border)
        near = int(np.count_nonzero(gap_of.take(bucket_of(sample)) > border.size))
        if best is None or near < fewest:
            best, fewest = (bucket_of, gap_of), near
    assert best is not None  # noqa: S101 - there is always a map
    return GapCounter(border, *best)


def _gap_of(bucket_of: BucketMap, border: Scores) -> NDArray[np.int32]:
    """Gap of each bucket, or a number beyond all gaps if a border lies in the bucket."""
    inside = np.bincount(bucket_of(border), minlength=bucket_of.n_buckets)
    gap_of = np.cumsum(inside, dtype=np.int32)
    gap_of[inside > 0] = border.size + 1
    return gap_of


def summary(frame: Frame, columns: Columns) -> dict[str, tuple[Arrays, float]]:
    """Count rows by label and missing score, and estimate the number of distinct scores."""
    names = [f"{SCORE}{place}" for place in range(len(columns.scores))]
    lacking = [
        (nw.col(name).is_null() | is_nan(nw.col(name))).alias(f"missing{place}")
        for place, name in enumerate(names)
    ]
    sums = [
        f"count(*) FILTER (missing{place}) AS missing{place}, "
        f"approx_count_distinct({name}) AS found{place}"
        for place, name in enumerate(names)
    ]
    relation = coded(frame, columns).with_columns(*lacking).to_native()
    with interrupts():
        found = relation.aggregate(f"{CODE}, count(*) AS {ROWS}, {', '.join(sums)}", CODE)
        groups = {name: unmasked(values) for name, values in found.fetchnumpy().items()}
    return {
        name: (_by_missing(groups, place), float(groups[f"found{place}"].sum()))
        for place, name in enumerate(columns.scores)
    }


def _by_missing(groups: Arrays, place: int) -> Arrays:
    """Split the groups of labels into rows without and with a score."""
    missing = groups[f"missing{place}"].astype(np.int64)
    rows = np.concatenate([missing, groups[ROWS].astype(np.int64) - missing])
    score = np.repeat([np.nan, 0.0], missing.size)
    code = np.tile(groups[CODE], 2)
    held = rows > 0
    return {CODE: code[held], SCORE: score[held], ROWS: rows[held]}


class Labelled(NamedTuple):
    """Distinct scores, ascending, of labelled rows and knots, and the weights there."""

    score: Scores
    positive: FloatArray
    negative: FloatArray


def count_compactly(
    frame: Frame, columns: Columns, n_rows: int, knots: Sequence[float], progress: Progress
) -> dict[str, ScoreCounts]:
    """Count the rows of a DuckDB relation exactly, with cells for labelled scores and gaps."""
    relation = coded(frame, columns).to_native()
    share = min(1.0, SAMPLE / max(n_rows, 1))
    # One pass takes the labelled rows and a sample of the others.
    with progress.step(0.3), interrupts():
        first = relation.filter(f"{CODE} <> {UNLABELED} OR random() < {share}").fetchnumpy()
    first = {name: unmasked(values) for name, values in first.items()}
    weighted = columns.weight is not None
    names = [f"{SCORE}{place}" for place in range(len(columns.scores))]
    found = [_labelled(first, name, knots) for name in names]
    counters = []
    for name, (labelled, _) in zip(names, found, strict=True):
        sample = first[name][first[CODE] == UNLABELED]
        counters.append(gap_counter(labelled.score, sample if sample.size else labelled.score))
    which = f"{CODE} = {UNLABELED}" + (f" AND {WEIGHT} > 0" if weighted else "")
    rest = relation.filter(which).project(", ".join([*names, *([WEIGHT] if weighted else [])]))
    with progress.step(1.0), interrupts():
        square = _count_rest(rest, counters, n_rows, progress, weighted=weighted)
    tables = {}
    for name, (labelled, squares), counter in zip(columns.scores, found, counters, strict=True):
        table = merge_bare(_assembled(labelled, counter), knots)
        tables[name] = ScoreCounts._from_table(table, (*squares, square))  # noqa: SLF001 - our own
    return tables


def _count_rest(
    rest: Any, counters: list[GapCounter], n_rows: int, progress: Progress, *, weighted: bool
) -> float:
    """Count unlabeled rows batch by batch; return the sum of their squared weights."""
    square = 0.0
    for batch in _batches(rest):
        arrays = [np.asarray(column.to_numpy(zero_copy_only=False)) for column in batch.columns]
        weight = arrays.pop() if weighted else None
        for counter, score in zip(counters, arrays, strict=True):
            counter.add(score, weight)
        square += batch.num_rows if weight is None else float(weight @ weight)
        progress.rows(batch.num_rows, n_rows)
    for counter in counters:
        counter.settle()
    return square


def _labelled(
    first: Arrays, name: str, knots: Sequence[float]
) -> tuple[Labelled, tuple[float, float]]:
    score, code = first[name] + 0.0, first[CODE]
    weight = first.get(WEIGHT, np.ones(score.size))
    kept = (code != UNLABELED) & (weight > 0)
    score, code, weight = score[kept], code[kept], weight[kept]
    border, place = np.unique(np.append(score, np.asarray(knots, score.dtype)), return_inverse=True)
    place = place[: score.size]
    amount = [np.where(code == kind, weight, 0.0) for kind in (POSITIVE, NEGATIVE)]
    sums = [np.bincount(place, held, border.size).astype(np.float64) for held in amount]
    squares = [float((weight[code == kind] ** 2).sum()) for kind in (POSITIVE, NEGATIVE)]
    return Labelled(border, *sums), (squares[0], squares[1])


def _batches(relation: Any) -> Iterator[Any]:
    # Versions of DuckDB have different names for it.
    names = ("to_arrow_reader", "fetch_record_batch", "fetch_arrow_reader")
    name = next(name for name in names if name in dir(type(relation)))
    yield from getattr(relation, name)(BATCH)


def _assembled(labelled: Labelled, counter: GapCounter) -> Table:
    """Interleave borders and gaps, leave out empty cells, and turn the order round."""
    size = 2 * labelled.score.size + 1
    score, positive, negative, unlabeled = np.zeros((4, size))
    merged = np.zeros(size, bool)
    score[::2], score[1::2] = counter.lowest[:-1], labelled.score
    positive[1::2], negative[1::2] = labelled.positive, labelled.negative
    unlabeled[::2], unlabeled[1::2] = counter.between[:-1], counter.tied
    merged[::2] = counter.lowest[:-1] < counter.highest[:-1]
    keep = np.flatnonzero((unlabeled != 0) | (positive != 0) | (negative != 0))[::-1]
    return Table(score[keep], positive[keep], negative[keep], unlabeled[keep], merged[keep])


def merge_bare(table: Table, knots: Sequence[float]) -> Table:
    """Merge neighbouring cells without a labelled row, except across knots, which get cells."""
    if not table.score.size:
        return table
    bare = (table.positive + table.negative) == 0
    below = np.searchsorted(np.sort(np.asarray(knots, np.float64)), table.score, "right")
    starts = np.ones(bare.size, bool)
    starts[1:] = ~(bare[1:] & bare[:-1]) | (below[1:] != below[:-1])
    first = np.flatnonzero(starts)
    last = np.append(first[1:], bare.size) - 1
    sums = [np.add.reduceat(column, first) for column in table[1:4]]
    merged = (last > first) | np.logical_or.reduceat(table.merged, first)
    return with_knots(Table(table.score[last], sums[0], sums[1], sums[2], merged), knots)
