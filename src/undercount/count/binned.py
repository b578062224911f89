"""Count rows into bins in three scans: a sample, all bins, and the bins that matter once more.

The bins of several score columns are numbered one column after the other, so that one group-by
counts them all.
"""

from itertools import chain
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from undercount.count.grid import (
    ATOM,
    BIN,
    LARGEST_FLOAT,
    NARROWEST_CELL,
    PLACE,
    choose_grid,
    column_of,
    place_rows,
)
from undercount.count.groups import (
    BAD_WEIGHT,
    CLASS_CODES,
    NEGATIVE,
    POSITIVE,
    UNLABELED,
    ColumnRoles,
    amounts,
    check_labels_and_scores,
    code_labels,
    is_nan,
    split_by,
    stack_scores,
    sum_squares,
)
from undercount.count.kernel.table import (
    ScoreRanges,
    Table,
    bound_auc_error,
    coarsen,
    sum_equal_scores,
    tie_errors,
)
from undercount.count.progress import Progress
from undercount.count.queries import (
    CODE,
    NAME_COLUMN,
    ROWS,
    SCORE,
    SQUARE,
    WEIGHT,
    Arrays,
    Frame,
    Sums,
    collect,
    first_rows,
    group,
    transform_rows,
)
from undercount.counts import ScoreCounts

# Bins are made finer than asked for, and then merged where that costs least.
GRID_BINS_PER_BIN = 4
# Labelled scores and unlabeled rows that choose the grid: at most, and for each bin asked for.
MOST_LABELLED, GRID_PROBE_ROWS, SAMPLE_A_BIN = 2**18, 2**16, 16
MISSING_SCORE = 4
PART_COLUMN, LOW_COLUMN, HIGH_COLUMN = "undercount_part", "undercount_low", "undercount_high"
# Bins looked into once more: at most so many a score column, the worst by their own ends.
MOST_HOT, MOST_WORST = 2**12, 24
# Cells made of the bins looked into once more, and rows in those that keep every score.
INNER_CELLS, EXACT_ROWS = 2**17, 2**20
ENDS: Sums = {LOW_COLUMN: (SCORE, "min"), HIGH_COLUMN: (SCORE, "max")}

Parts = dict[str, dict[Any, Arrays]]


def count_binned(
    frame: Frame, columns: ColumnRoles, bins: int, progress: Progress
) -> dict[str, dict[Any, ScoreCounts]]:
    """Count each score column into at most `bins` cells, for each group, in three scans."""
    table = transform_rows(frame, _select_usable, columns)
    with progress.step(0.3):
        samples = _samples(frame, table, columns, bins)
    grids = tuple(choose_grid(sample, GRID_BINS_PER_BIN * bins) for sample in samples)
    wide = transform_rows(table, place_rows, grids, GRID_BINS_PER_BIN * bins)
    keys = [*columns.by, CODE, BIN, ATOM]
    weighted = columns.weight is not None
    with progress.step(0.7):
        groups_by_bin = collect(group(wide, keys, weighted=weighted, extra=ENDS))
    groups_by_bin[PART_COLUMN] = np.zeros(groups_by_bin[BIN].size)
    parts = _parts(groups_by_bin, columns, bins)
    for name in columns.scores:
        _refuse(frame, columns, _column_of(groups_by_bin, columns, bins, name), name)
    hot = _hot_bins(parts, bins)
    if hot.bins:
        inner = transform_rows(wide, _cut_hot_bins, hot)
        with progress.step(1.0):
            again = collect(group(inner, [*keys, PART_COLUMN], weighted=weighted, extra=ENDS))
        kept = ~np.isin(groups_by_bin[BIN], hot.bins)
        groups_by_bin = {
            name: np.concatenate([groups_by_bin[name][kept], again[name]]) for name in groups_by_bin
        }
        parts = _parts(groups_by_bin, columns, bins)
    return {
        name: {key: _counts(part, bins) for key, part in groups.items()}
        for name, groups in parts.items()
    }


def _select_usable(frame: Frame, columns: ColumnRoles) -> Frame:
    """Code labels; a missing score gets a code of its own, because it has no bin."""
    table, score = code_labels(frame, columns), nw.col(f"{SCORE}0")
    kept = [*columns.by, *([WEIGHT, SQUARE] if columns.weight is not None else [])]
    if len(columns.scores) > 1:
        table, score, kept = stack_scores(table, columns), nw.col(SCORE), [NAME_COLUMN, *kept]
    missing = score.is_null() | is_nan(score)
    code = nw.when(missing).then(nw.lit(MISSING_SCORE)).otherwise(nw.col(CODE))
    usable = nw.when(missing).then(nw.lit(0.0)).otherwise(score)
    if _complete(table):
        code, usable = nw.col(CODE), score
    table = table.select(*kept, usable.alias(SCORE), code.cast(nw.Int8).alias(CODE))
    if columns.weight is not None:  # rows of weight 0 do not count
        table = table.filter((nw.col(WEIGHT) > 0.0) | (nw.col(CODE) == BAD_WEIGHT))
    return table


def _complete(table: Frame) -> bool:
    """Tell whether no score is missing, where that is known: in a partition of Dask's."""
    if not table.implementation.is_pandas():
        return False
    part = table.collect().to_native()
    return not any(part[name].hasnans for name in part.columns if name.startswith(SCORE))


def _samples(frame: Frame, table: Frame, columns: ColumnRoles, bins: int) -> list[Table]:
    """Take distinct labelled scores and some unlabeled rows of each score column."""
    several = len(columns.scores) > 1
    keys = [*([NAME_COLUMN] if several else []), SCORE, CODE]
    names = [f"{SCORE}{place}" for place in range(len(columns.scores))]
    most = min(MOST_LABELLED, SAMPLE_A_BIN * bins) * len(names)
    probe = min(GRID_PROBE_ROWS, SAMPLE_A_BIN * bins)
    others: Arrays = {name: np.zeros(0) for name in names}
    if table.implementation.is_dask():
        n_parts = table.to_native().npartitions
        shares = most // n_parts + 1, probe * len(names) // n_parts + 1
        labelled = transform_rows(table, _thin_rows, *shares)
        most += probe * len(names)
    else:
        labelled = table.filter((nw.col(CODE) == POSITIVE) | (nw.col(CODE) == NEGATIVE))
        plain = code_labels(frame, columns).filter(nw.col(CODE) == UNLABELED).select(*names)
        others = first_rows(plain, probe)
    labelled_scores = collect(group(labelled, keys, weighted=False, most=most))
    samples = []
    for name in names:
        mine = labelled_scores[NAME_COLUMN] == name if several else slice(None)
        samples.append(
            _sample({key: labelled_scores[key][mine] for key in [*keys, ROWS]}, others[name])
        )
    return samples


def _thin_rows(table: Frame, most_labelled: int, most_others: int) -> Frame:
    """Keep some labelled and some other rows of a partition, evenly."""
    part = table.collect().to_native()
    code = part[CODE].to_numpy()
    kept = []
    for mine, most in (
        ((code == POSITIVE) | (code == NEGATIVE), most_labelled),
        (code == UNLABELED, most_others),
    ):
        rows = np.flatnonzero(mine)
        kept.append(rows[:: rows.size // most + 1])
    result: Frame = nw.from_native(part.iloc[np.concatenate(kept)]).lazy()
    return result


def _sample(known: Arrays, others: Any) -> Table:
    score = np.concatenate([known[SCORE], others])
    code = np.append(known[CODE].astype(np.int64), np.full(others.size, UNLABELED))
    rows = np.append(known[ROWS].astype(np.float64), np.ones(others.size))
    finite = np.isfinite(score)
    classes = [np.where(code[finite] == kind, rows[finite], 0.0) for kind in CLASS_CODES]
    return sum_equal_scores(score[finite], classes, np.zeros(int(finite.sum()), bool))


class HotBins(NamedTuple):
    """Bins to be looked into: all, those few enough to keep every score, ends of the worst."""

    bins: list[int]
    exact: list[int]
    ends: list[tuple[float, float]]


def _cut_hot_bins(wide: Frame, hot: HotBins) -> Frame:
    """Cut bins finer: along the grid, the worst from lowest to highest, or to every score."""
    wide = wide.filter(nw.col(BIN).is_in(hot.bins))
    score = nw.col(SCORE)
    place = (nw.col(PLACE) - nw.col(BIN)) * float(INNER_CELLS // len(hot.bins))
    for low, high in hot.ends:
        step = INNER_CELLS / len(hot.ends) / (high - low)
        place = place + (score - low).clip(0.0, high - low) * step
    single = nw.col(ATOM) == 1
    if hot.exact:
        single = single | nw.col(BIN).is_in(hot.exact)
    part = nw.when(single).then(score).otherwise(place.cast(nw.Int64).cast(nw.Float64))
    return wide.with_columns(part.alias(PART_COLUMN))


def _refuse(frame: Frame, columns: ColumnRoles, found: Arrays, name: str) -> None:
    missing = np.where(found[CODE] == MISSING_SCORE, np.nan, 0.0)
    groups = {ROWS: found[ROWS], CODE: found[CODE], SCORE: missing}
    check_labels_and_scores(frame, columns, groups, name)


def _column_of(found: Arrays, columns: ColumnRoles, bins: int, name: str) -> Arrays:
    if len(columns.scores) == 1:
        return found
    mine = column_of(found[BIN], GRID_BINS_PER_BIN * bins) == columns.scores.index(name)
    return {key: values[mine] for key, values in found.items()}


def _parts(found: Arrays, columns: ColumnRoles, bins: int) -> Parts:
    """Split groups by score column and by the group columns."""
    columnwise = {name: _column_of(found, columns, bins, name) for name in columns.scores}
    return {
        name: split_by(part, columns.by) if columns.by else {(): part}
        for name, part in columnwise.items()
    }


def _hot_bins(parts: Parts, bins: int) -> HotBins:
    """Find the bins of all score columns without which the errors are small."""
    hot_bins = [_hot_bins_of(list(groups.values()), bins) for groups in parts.values()]
    return HotBins(
        *([*chain.from_iterable(bins_of_groups)] for bins_of_groups in zip(*hot_bins, strict=True))
    )


def _hot_bins_of(parts: list[Arrays], bins: int) -> HotBins:
    allowed = 1 / (8 * bins)
    worst: dict[int, tuple[float, float, float]] = {}
    for part in parts:
        if bound_auc_error(_ranges(part, BIN, ATOM).table()) <= allowed:
            continue
        numbers, ranges = np.unique(part[BIN]), _ranges(part, BIN)
        errors = tie_errors(ranges.weight, ranges.low < ranges.high).sum(axis=0)
        order = np.argsort(-errors)
        left = errors.sum() - np.cumsum(errors[order])
        for place in order[: int(np.count_nonzero(left > allowed / 2)) + 1]:
            entry = (float(errors[place]), float(ranges.low[place]), float(ranges.high[place]))
            worst[int(numbers[place])] = max(entry, worst.get(int(numbers[place]), entry))
    hot = sorted(worst, key=lambda number: -worst[number][0])[:MOST_HOT]
    spans = [worst[number][1:] for number in hot[:MOST_WORST]]
    ends = [(low, high) for low, high in spans if NARROWEST_CELL < high - low < LARGEST_FLOAT]
    return HotBins(hot, _exact_bins(parts, hot), ends)


def _exact_bins(parts: list[Arrays], hot: list[int]) -> list[int]:
    """Choose hot bins that have few rows beside frequent scores, as many as can be afforded."""
    joined = {key: np.concatenate([part[key] for part in parts]) for key in (BIN, ATOM, ROWS)}
    others = (joined[ATOM] == 0) & np.isin(joined[BIN], hot)
    numbers, place = np.unique(joined[BIN][others], return_inverse=True)
    rows = np.bincount(place, joined[ROWS][others].astype(np.float64), numbers.size)
    order = np.argsort(rows)
    fits = np.cumsum(rows[order]) <= EXACT_ROWS
    return [int(number) for number in numbers[order[fits]]]


def _ranges(part: Arrays, *keys: str) -> ScoreRanges:
    """Add up the groups with the same keys, in their order."""
    weight = amounts(part)[0]
    classes = np.stack([np.where(part[CODE] == kind, weight, 0.0) for kind in CLASS_CODES])
    return ScoreRanges(part[LOW_COLUMN], part[HIGH_COLUMN], classes).sum_by(
        *(part[key] for key in keys)
    )


def _counts(part: Arrays, bins: int) -> ScoreCounts:
    table = coarsen(_ranges(part, BIN, ATOM, PART_COLUMN).table(), bins, keep_heavy=True)
    return ScoreCounts.from_table(table, sum_squares(part))
