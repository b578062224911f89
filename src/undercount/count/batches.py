"""Exact compact counts of more rows than fit into memory: batches from DuckDB, counted by NumPy.

A first pass sums up the rows, a second takes the labelled ones, whose scores are the borders of
the cells, a third counts the rows at and between the borders, batch by batch.
"""

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import Any

import narwhals as nw
import numpy as np

from undercount.count.groups import UNLABELED, ColumnRoles, code_labels, is_nan
from undercount.count.kernel.buckets import (
    BorderCounter,
    BorderCounts,
    Borders,
    choose_map,
    count_sorted,
)
from undercount.count.kernel.rows import (
    ScoredRows,
    find_borders,
    interleave,
    round_up_knots,
    sum_squares,
)
from undercount.count.kernel.table import FloatArray, Scores, insert_knots
from undercount.count.progress import Progress
from undercount.count.queries import (
    CODE,
    ROWS,
    SCORE,
    WEIGHT,
    Arrays,
    Frame,
    fill_masked,
    pass_interrupts,
)
from undercount.counts import ScoreCounts

# Rows that travel at once from DuckDB, and rows on which the maps to buckets are compared.
BATCH, BATCH_SAMPLE = 1 << 20, 1 << 13
# A map fits if a smaller share of a batch lies near borders; so many maps are tried.
MANY_NEAR, MOST_MAPS = 0.35, 16
NO_SCORES = np.zeros(0)


def summarise(frame: Frame, columns: ColumnRoles) -> dict[str, tuple[Arrays, float]]:
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
    relation = code_labels(frame, columns, narrow=True).with_columns(*lacking).to_native()
    with pass_interrupts():
        totals = relation.aggregate(f"{CODE}, count(*) AS {ROWS}, {', '.join(sums)}", CODE)
        groups = {name: fill_masked(values) for name, values in totals.fetchnumpy().items()}
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
    present = rows > 0
    return {CODE: code[present], SCORE: score[present], ROWS: rows[present]}


def count_compactly(
    frame: Frame, columns: ColumnRoles, n_rows: int, knots: Sequence[float], progress: Progress
) -> dict[str, ScoreCounts]:
    """Count the rows of a DuckDB relation exactly, with a cell a labelled score and one between."""
    relation = code_labels(frame, columns, narrow=True).to_native()
    with progress.step(0.3), pass_interrupts():
        first = relation.filter(f"{CODE} <> {UNLABELED}").fetchnumpy()
    first = {name: fill_masked(values) for name, values in first.items()}
    weighted = columns.weight is not None
    names = [f"{SCORE}{place}" for place in range(len(columns.scores))]
    found = [_borders(first, name, knots) for name in names]
    counters = [AdaptiveCounter(borders.score) for borders, _ in found]
    rest = relation
    if weighted:
        rest = relation.filter(f"{CODE} = {UNLABELED} AND {WEIGHT} > 0")
    rest = rest.project(", ".join([*names, *([WEIGHT] if weighted else [])]))
    with progress.step(1.0), pass_interrupts():
        square = _count_rest(rest, counters, n_rows, progress, weighted=weighted)
    tables = {}
    for name, (borders, squares), counter in zip(columns.scores, found, counters, strict=True):
        counts = counter.counts()
        if not weighted:  # labelled rows were counted too: cheaper than to leave them out
            counts = counts._replace(tied=counts.tied - borders.positive - borders.negative)
        table = insert_knots(interleave(borders, counts), knots)
        unlabeled = square if weighted else n_rows - sum(squares)
        tables[name] = ScoreCounts.from_table(table, (*squares, unlabeled))
    return tables


def _borders(
    first: Arrays, name: str, knots: Sequence[float]
) -> tuple[Borders, tuple[float, float]]:
    """Find the borders that labelled rows and knots set, and the labelled rows' squared weights."""
    score, code, weight = first[name] + 0.0, first[CODE], first.get(WEIGHT)
    kept = code != UNLABELED if weight is None else (code != UNLABELED) & (weight > 0)
    rows = ScoredRows(score, code, weight).part(kept)
    positive, negative, _ = sum_squares(rows.label, rows.weight)
    return find_borders(rows, round_up_knots(np.asarray(knots, np.float64), score.dtype)), (
        positive,
        negative,
    )


class AdaptiveCounter:
    """Count batches around borders by buckets chosen from the first batch that does not fit them.

    Rows of a file may be sorted, so that no batch tells what the next one is like.

    Parameters
    ----------
    border : array
        Scores of the borders, ascending.
    """

    def __init__(self, border: Scores) -> None:
        self._border = border
        self._counters: list[BorderCounter] = []
        self._fits = False

    def add(self, score: Scores, weight: FloatArray | None = None) -> None:
        """Count a batch."""
        if not self._fits and len(self._counters) < MOST_MAPS:
            sample = score[:: 1 + score.size // BATCH_SAMPLE]
            bucket_of = choose_map(self._border, sample)
            self._counters.append(BorderCounter(self._border, bucket_of))
        near = self._counters[-1].add(score, weight)
        self._fits = near < MANY_NEAR * score.size

    def counts(self) -> BorderCounts:
        """Return the counts of all batches."""
        tables = [counter.counts() for counter in self._counters]
        return reduce(BorderCounts.add, tables) if tables else count_sorted(self._border, NO_SCORES)


def _count_rest(
    rest: Any, counters: list[AdaptiveCounter], n_rows: int, progress: Progress, *, weighted: bool
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
    return square


def _batches(relation: Any) -> Iterator[Any]:
    # Versions of DuckDB have different names for it.
    names = ("to_arrow_reader", "fetch_record_batch", "fetch_arrow_reader")
    name = next(name for name in names if name in dir(type(relation)))
    yield from getattr(relation, name)(BATCH)
