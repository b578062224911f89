"""Count rows into bins where they live, in at most three scans, with a guaranteed error."""

from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from undercount.counts import ScoreCounts
from undercount.grid import Cells, Grid, Sample, choose_grid
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
    is_nan,
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
# Cells made of the bins looked into once more, and rows in those that keep every score.
INNER_CELLS, EXACT_ROWS = 2**17, 2**20
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
    found[PART] = np.zeros(found[BIN].size)
    _refuse(frame, columns, found)
    hot = _hot_bins(found, columns, bins)
    if hot.bins:
        inner = wide.filter(nw.col(BIN).is_in(hot.bins)).with_columns(_part(hot).alias(PART))
        again = collect(group(inner, [*keys, PART], weighted=weighted, extra=ENDS))
        kept = ~np.isin(found[BIN], hot.bins)
        found = {name: np.concatenate([found[name][kept], again[name]]) for name in found}
    return {key: _counts(part, bins) for key, part in _parts(found, columns).items()}


def _usable(frame: Frame, columns: Columns) -> Frame:
    """Code labels; a missing score gets a code of its own, because it has no bin."""
    table = coded(frame, columns)
    score = nw.col(f"{SCORE}0")
    missing = score.is_null() | is_nan(score)
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
    if grid is not None and table.implementation.is_dask():
        # One step of arithmetic on arrays is planned faster than a hundred steps on columns.
        native = table.to_native()
        meta = _with_bin_columns(native._meta, grid)  # noqa: SLF001 - how Dask calls its schema
        placed: Frame = nw.from_native(native.map_partitions(_with_bin_columns, grid, meta=meta))
        return placed
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
    table = table.with_columns(grid.scale(score).alias(PLACE), atom.cast(nw.Int8).alias(ATOM))
    table = table.with_columns(grid.place_expression(nw.col(PLACE)).alias(PLACE))
    return table.with_columns(bin_of.alias(BIN))


def _with_bin_columns(part: Any, grid: Grid) -> Any:
    """Add the same columns to a pandas frame, a partition of Dask's."""
    score = part[SCORE].to_numpy(np.float64)
    place = grid.place(score)
    number = place.astype(np.int64)
    number[score > grid.high] = int(grid.height * grid.start.size) + 2
    number[score < grid.low] = -2
    atom = np.isinf(score) | np.isin(score, grid.atoms)
    return part.assign(**{PLACE: place, ATOM: atom.astype(np.int8), BIN: number})


class HotBins(NamedTuple):
    """Bins to be looked into: all, those few enough to keep every score, ends of the worst."""

    bins: list[int]
    exact: list[int]
    ends: list[tuple[float, float]]


def _part(hot: HotBins) -> nw.Expr:
    """Cut bins finer: along the grid, the worst from lowest to highest, or to every score."""
    score = nw.col(SCORE)
    place = (nw.col(PLACE) - nw.col(BIN)) * float(INNER_CELLS // len(hot.bins))
    for low, high in hot.ends:
        step = INNER_CELLS / len(hot.ends) / (high - low)
        place = place + (score - low).clip(0.0, high - low) * step
    single = nw.col(ATOM) == 1
    if hot.exact:
        single = single | nw.col(BIN).is_in(hot.exact)
    return nw.when(single).then(score).otherwise(place.cast(nw.Int64).cast(nw.Float64))


def _refuse(frame: Frame, columns: Columns, found: Arrays) -> None:
    missing = np.where(found[CODE] == MISSING_SCORE, np.nan, 0.0)
    groups = {ROWS: found[ROWS], CODE: found[CODE], SCORE: missing}
    refuse_bad_rows(frame, columns, groups, columns.scores[0])


def _parts(found: Arrays, columns: Columns) -> dict[Any, Arrays]:
    return split_by(found, columns.by) if columns.by else {(): found}


def _hot_bins(found: Arrays, columns: Columns, bins: int) -> HotBins:
    """Find the bins without which the error is small."""
    allowed = 1 / (8 * bins)
    worst: dict[int, tuple[float, float, float]] = {}
    for part in _parts(found, columns).values():
        if _cells(part, (BIN, ATOM)).disjoint().error() <= allowed:
            continue
        numbers = np.unique(part[BIN])
        cells = _cells(part, (BIN,))
        errors = cells.errors().sum(axis=0)
        order = np.argsort(-errors)
        left = errors.sum() - np.cumsum(errors[order])
        for place in order[: int(np.count_nonzero(left > allowed / 2)) + 1]:
            entry = (float(errors[place]), float(cells.low[place]), float(cells.high[place]))
            worst[int(numbers[place])] = max(entry, worst.get(int(numbers[place]), entry))
    hot = sorted(worst, key=lambda number: -worst[number][0])[:MOST_HOT]
    spans = [worst[number][1:] for number in hot[:MOST_WORST]]
    ends = [(low, high) for low, high in spans if 0 < high - low < LARGEST]
    return HotBins(hot, _exact_bins(found, hot), ends)


def _exact_bins(found: Arrays, hot: list[int]) -> list[int]:
    """Choose hot bins that have few rows beside frequent scores, as many as can be afforded."""
    others = (found[ATOM] == 0) & np.isin(found[BIN], hot)
    numbers, place = np.unique(found[BIN][others], return_inverse=True)
    rows = np.bincount(place, found[ROWS][others].astype(np.float64), numbers.size)
    order = np.argsort(rows)
    fits = np.cumsum(rows[order]) <= EXACT_ROWS
    return [int(number) for number in numbers[order[fits]]]


def _cells(part: Arrays, keys: tuple[str, ...]) -> Cells:
    """Add up the groups with the same keys."""
    order = np.lexsort([part[key] for key in reversed(keys)])
    changed = np.zeros(order.size, bool)
    for key in keys:
        changed[1:] |= np.diff(part[key][order].astype(np.float64)) != 0
    weight = amounts(part)[0][order]
    held = [np.where(part[CODE][order] == kind, weight, 0.0) for kind in KINDS]
    single = Cells(part[LOW][order], part[HIGH][order], np.stack(held))
    return single.grouped(np.cumsum(changed))


def _counts(part: Arrays, bins: int) -> ScoreCounts:
    cells = _cells(part, (BIN, ATOM, PART)).disjoint().fewer(bins)
    _, square = amounts(part)
    squares = [float(square[part[CODE] == kind].sum()) for kind in KINDS]
    return ScoreCounts._from_table(cells.table(), (squares[0], squares[1], squares[2]))  # noqa: SLF001 - our own
