"""Count rows into bins where they live, in at most three scans, with a guaranteed error."""

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from undercount.counts import ScoreCounts
from undercount.grid import Cells, Grid, Sample, cell_errors, choose_grid
from undercount.groups import (
    BAD_WEIGHT,
    CODE,
    NEGATIVE,
    POSITIVE,
    ROWS,
    SCORE,
    UNLABELED,
    WEIGHT,
    Arrays,
    Columns,
    Frame,
    amounts,
    coded,
    collect,
    group,
    refuse_bad_rows,
    split_by,
)

# Bins are made finer than asked for, and then merged where that costs least.
FINER = 4
# Labelled scores and first rows that choose the grid.
MOST_LABELLED, PROBE_ROWS = 2**18, 2**16
MISSING_SCORE = 4
BIN, PART, ATOM = "undercount_bin", "undercount_part", "undercount_atom"
LOW, HIGH, PLACE = "undercount_low", "undercount_high", "undercount_place"
# Bins looked into once more: at most so many, the worst by their own ends.
MOST_HOT, MOST_WORST = 2**12, 24
# Cells made of the bins looked into once more, and more parts than any of them has.
INNER_CELLS, PARTS = 2**17, 2**24
LARGEST = float(np.finfo(np.float64).max)
KINDS = (POSITIVE, NEGATIVE, UNLABELED)
ENDS = (nw.col(SCORE).min().alias(LOW), nw.col(SCORE).max().alias(HIGH))


def count_binned(frame: Frame, columns: Columns, bins: int) -> dict[Any, ScoreCounts]:
    """Count one score column into at most `bins` cells, for each group."""
    table = _usable(frame, columns)
    grid = choose_grid(_sample(table), FINER * bins)
    wide = _with_bins(table, grid)
    keys = [*columns.by, CODE, BIN, ATOM]
    weighted = columns.weight is not None
    found = collect(group(wide, keys, weighted=weighted, extra=ENDS))
    found[PART] = np.zeros(found[BIN].size, np.int64)
    _refuse(frame, columns, found)
    hot, ends = _hot_bins(found, columns, bins)
    if hot.size:
        inner = wide.filter(nw.col(BIN).is_in(hot.tolist())).with_columns(
            _part(hot.size, ends).alias(PART)
        )
        again = collect(group(inner, [*keys, PART], weighted=weighted, extra=ENDS))
        kept = ~np.isin(found[BIN], hot)
        found = {name: np.concatenate([found[name][kept], again[name]]) for name in found}
    return {key: _counts(part, bins) for key, part in _parts(found, columns).items()}


def _usable(frame: Frame, columns: Columns) -> Frame:
    """Code labels; a missing score gets a code of its own, because it has no bin."""
    table = coded(frame, columns)
    score = nw.col(f"{SCORE}0")
    missing = score.is_null() | score.is_nan()
    table = table.with_columns(
        nw.when(missing).then(nw.lit(0.0)).otherwise(score).alias(SCORE),
        nw.when(missing).then(nw.lit(MISSING_SCORE)).otherwise(nw.col(CODE)).alias(CODE),
    )
    if columns.weight is not None:  # rows of weight 0 do not count
        table = table.filter((nw.col(WEIGHT) > 0.0) | (nw.col(CODE) == BAD_WEIGHT))
    return table


def _sample(table: Frame) -> Sample:
    """Take distinct labelled scores and the first rows."""
    labelled = table.filter((nw.col(CODE) == POSITIVE) | (nw.col(CODE) == NEGATIVE))
    query = group(labelled, [SCORE, CODE], weighted=False).head(MOST_LABELLED)
    first = table.filter(nw.col(CODE) == UNLABELED).select(SCORE).head(PROBE_ROWS)
    known, others = collect(query), collect(first)[SCORE]
    score = np.concatenate([known[SCORE], others])
    code = np.append(known[CODE].astype(np.int64), np.full(others.size, UNLABELED))
    rows = np.append(known[ROWS].astype(np.float64), np.ones(others.size))
    finite = np.isfinite(score)
    distinct, place = np.unique(score[finite], return_inverse=True)
    held = [np.where(code[finite] == kind, rows[finite], 0.0) for kind in KINDS]
    return Sample(distinct, np.stack([np.bincount(place, row, distinct.size) for row in held]))


def _with_bins(table: Frame, grid: Grid | None) -> Frame:
    """Add the bin of each row, its place in the grid, and whether its score is a frequent one."""
    score = nw.col(SCORE)
    atom = (score > LARGEST) | (score < -LARGEST)
    if grid is None:
        return table.with_columns(
            nw.lit(0).alias(BIN), nw.lit(0.0).alias(PLACE), atom.cast(nw.Int8).alias(ATOM)
        )
    if grid.atoms.size:
        atom = atom | score.is_in(grid.atoms.tolist())
    inside = nw.col(PLACE).cast(nw.Int64)
    beyond = int(grid.height * grid.start.size) + 2
    bin_of = nw.when(score > grid.high).then(nw.lit(beyond)).otherwise(inside)
    bin_of = nw.when(score < grid.low).then(nw.lit(-2)).otherwise(bin_of)
    placed = table.with_columns(grid.place(score).alias(PLACE), atom.cast(nw.Int8).alias(ATOM))
    return placed.with_columns(bin_of.alias(BIN))


def _part(n_hot: int, ends: NDArray[np.float64]) -> nw.Expr:
    """Cut bins finer: all of them along the grid, the worst ones from their lowest to highest."""
    place = (nw.col(PLACE) - nw.col(BIN)) * float(INNER_CELLS // n_hot)
    for low, high in ends.tolist():
        step = INNER_CELLS / len(ends) / (high - low)
        place = place + (nw.col(SCORE) - low).clip(0.0, high - low) * step
    return place.cast(nw.Int64)


def _refuse(frame: Frame, columns: Columns, found: Arrays) -> None:
    missing = np.where(found[CODE] == MISSING_SCORE, np.nan, 0.0)
    groups = {ROWS: found[ROWS], CODE: found[CODE], SCORE: missing}
    refuse_bad_rows(frame, columns, groups, columns.scores[0])


def _parts(found: Arrays, columns: Columns) -> dict[Any, Arrays]:
    return split_by(found, columns.by) if columns.by else {(): found}


def _hot_bins(
    found: Arrays, columns: Columns, bins: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Find the bins without which the error is small, and the ends of the worst of them."""
    allowed = 1 / (8 * bins)
    hot: dict[int, tuple[float, float, float]] = {}
    for part in _parts(found, columns).values():
        numbers, cells = _cells(part)
        if cells.disjoint().error() <= allowed:
            continue
        errors = cell_errors(cells.weight, cells.tied)
        order = np.argsort(-errors)
        left = errors.sum() - np.cumsum(errors[order])
        for place in order[: int(np.count_nonzero(left > allowed / 2)) + 1]:
            entry = (float(errors[place]), float(cells.low[place]), float(cells.high[place]))
            hot[int(numbers[place]) // PARTS] = entry
    worst = sorted(hot, key=lambda number: -hot[number][0])[:MOST_HOT]
    ends = [hot[number][1:] for number in worst[:MOST_WORST] if np.isfinite(hot[number][1:]).all()]
    ends = [(low, high) for low, high in ends if 0 < high - low < LARGEST]
    return np.array(sorted(worst), np.int64), np.array(ends, np.float64).reshape(-1, 2)


def _cells(part: Arrays) -> tuple[NDArray[np.int64], Cells]:
    """Add up the groups of each bin."""
    number = part[BIN].astype(np.int64) * PARTS + part[PART].astype(np.int64)
    numbers, place = np.unique(number, return_inverse=True)
    # Each bin in two halves, with and without frequent scores.
    half = 2 * place + part[ATOM].astype(np.int64)
    weight, _ = amounts(part)
    size = 2 * numbers.size
    held = [np.where(part[CODE] == kind, weight, 0.0) for kind in KINDS]
    halves = np.stack([np.bincount(half, row, size) for row in held])
    low, high = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(low, half, part[LOW])
    np.maximum.at(high, half, part[HIGH])
    single = low == high
    tied = np.einsum("ik,jk,k->ijk", halves, halves, single.astype(np.float64))
    cells = Cells(
        np.minimum(low[::2], low[1::2]),
        np.maximum(high[::2], high[1::2]),
        halves[:, ::2] + halves[:, 1::2],
        tied[:, :, ::2] + tied[:, :, 1::2],
    )
    return numbers, cells


def _counts(part: Arrays, bins: int) -> ScoreCounts:
    cells = _cells(part)[1].disjoint().fewer(bins)
    _, square = amounts(part)
    squares = [float(square[part[CODE] == kind].sum()) for kind in KINDS]
    return ScoreCounts._from_table(  # noqa: SLF001 - our own
        cells.table(), (squares[0], squares[1], squares[2]), cells.error()
    )
