"""Exact compact counts inside a database: only labelled scores, and sums between them, travel.

One query groups the rows by score, numbers the scores by how many labelled ones are not above
them (a window function), and groups once more by that number.
"""

from collections.abc import Hashable, Sequence
from typing import Any

import narwhals as nw
import numpy as np

from undercount.count.groups import (
    CLASS_CODES,
    ColumnRoles,
    check_labels_and_scores,
    code_labels,
    is_nan,
    split_by,
)
from undercount.count.kernel.table import ScoreRanges, insert_knots
from undercount.count.label_totals import other_rows
from undercount.count.queries import CODE, ROWS, SCORE, SQUARE, WEIGHT, Arrays, Frame, collect
from undercount.counts import ScoreCounts
from undercount.errors import InputError

LOW_COLUMN, HIGH_COLUMN, LABELLED_COLUMN = (
    "undercount_low",
    "undercount_high",
    "undercount_labelled",
)
NUMBER_COLUMN, KNOTS, MISSING_COLUMN = "undercount_number", "undercount_knots", "undercount_missing"
CLASS_SUMS = [f"undercount_class{place}" for place in range(3)]
SQUARES = [f"undercount_square{place}" for place in range(3)]


def count_by_windows(
    frame: Frame, columns: ColumnRoles, knots: Sequence[float]
) -> dict[str, dict[Hashable, ScoreCounts]]:
    """Count each score column compactly where the rows are, for each group."""
    counts_by_score = {}
    for name in columns.scores:
        mine = columns._replace(scores=(name,))
        table = code_labels(frame, mine)
        rows = _refuse(frame, mine, table)
        cells = collect(write_query(table, mine, knots))
        _check_same_rows(cells, rows, mine)
        parts = split_by(cells, columns.by) if columns.by else {(): cells}
        counts_by_score[name] = {key: _counts(part, knots) for key, part in parts.items()}
    return counts_by_score


def _refuse(frame: Frame, columns: ColumnRoles, table: Frame) -> int:
    """Raise if a label, a weight or a score cannot be counted; return how many rows there are."""
    score = nw.col(f"{SCORE}0")
    missing = _one_if(score.is_null() | is_nan(score))
    kinds = table.select(CODE, missing.alias(MISSING_COLUMN)).group_by(CODE, MISSING_COLUMN)
    groups = collect(kinds.agg(nw.len().alias(ROWS)))
    groups[SCORE] = np.where(groups[MISSING_COLUMN].astype(np.int64) == 1, np.nan, 0.0)
    check_labels_and_scores(frame, columns, groups, columns.scores[0])
    return int(groups[ROWS].sum())


def _check_same_rows(cells: Arrays, rows: int, columns: ColumnRoles) -> None:
    """Raise if the cells hold other rows than there were when labels were looked at."""
    counted = sum(float(cells[name].astype(np.float64).sum()) for name in CLASS_SUMS)
    if columns.weight is None and counted != rows:
        raise other_rows("the table", rows, counted)
    if counted == 0:
        raise InputError("weight must not be 0 for every row")


def write_query(table: Frame, columns: ColumnRoles, knots: Sequence[float]) -> Frame:
    """Write the query of one score column, whose labels are coded."""
    by, score = list(columns.by), nw.col(f"{SCORE}0")
    if columns.weight is not None:
        table = table.filter(nw.col(WEIGHT) > 0.0)
    shares = []
    for place, code in enumerate(CLASS_CODES):
        # A literal with a point would be a decimal number in some databases; a cast one is not.
        mine = _one_if(nw.col(CODE) == code).cast(nw.Float64)
        weight, square = mine, mine
        if columns.weight is not None:
            weight, square = mine * nw.col(WEIGHT), mine * nw.col(SQUARE)
        shares += [weight.alias(CLASS_SUMS[place]), square.alias(SQUARES[place])]
    sums = [nw.col(name).sum().alias(name) for name in (*CLASS_SUMS, *SQUARES)]
    table = table.select(*by, score.alias(SCORE), *shares).group_by(*by, SCORE).agg(*sums)
    labelled = _one_if((nw.col(CLASS_SUMS[0]) + nw.col(CLASS_SUMS[1])) > 0.0)
    above = _number_above(sorted(set(map(float, knots))))
    table = table.with_columns(labelled.alias(LABELLED_COLUMN), above.alias(KNOTS))
    number = nw.col(LABELLED_COLUMN).cum_sum().over(*by, order_by=SCORE)
    table = table.with_columns(number.alias(NUMBER_COLUMN))
    ends = [nw.col(SCORE).min().alias(LOW_COLUMN), nw.col(SCORE).max().alias(HIGH_COLUMN)]
    return table.group_by(*by, NUMBER_COLUMN, LABELLED_COLUMN, KNOTS).agg(*ends, *sums)


def _number_above(knots: list[float], below: int = 0) -> nw.Expr:
    """Write how many knots a score reaches, by halving them.

    A sum nests as deep as it is long, and the hundreds of knots of a plan of reviews would go
    beyond Python's depth of calls.
    """
    if not knots:
        return nw.lit(below)
    middle = len(knots) // 2
    lower = _number_above(knots[:middle], below)
    upper = _number_above(knots[middle + 1 :], below + middle + 1)
    return nw.when(nw.col(SCORE) >= knots[middle]).then(upper).otherwise(lower)


def _one_if(condition: nw.Expr) -> nw.Expr:
    """Write a condition as a number; not every database casts one."""
    return nw.when(condition).then(nw.lit(1)).otherwise(nw.lit(0))


def _counts(cells: Arrays, knots: Sequence[float]) -> ScoreCounts:
    low, high = (cells[name].astype(np.float64) for name in (LOW_COLUMN, HIGH_COLUMN))
    weight = np.array([cells[name].astype(np.float64) for name in CLASS_SUMS])
    squares: Any = [float(cells[name].astype(np.float64).sum()) for name in SQUARES]
    table = ScoreRanges(low, high, weight).table()
    return ScoreCounts.from_table(insert_knots(table, knots), tuple(squares))
