"""Bins of rows: the place of each score on the grid of its column.

The bins of several score columns are numbered one column after the other, so that one group-by
counts them all.
"""

from itertools import chain
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from undercount.count.grid import NARROWEST, Cells, Grid, Sample, choose_grid
from undercount.count.groups import (
    BAD_WEIGHT,
    NEGATIVE,
    POSITIVE,
    UNLABELED,
    Columns,
    amounts,
    coded,
    is_nan,
    refuse_bad_rows,
    split_by,
    stack,
)
from undercount.count.progress import Progress
from undercount.count.queries import (
    CODE,
    NAME,
    ROWS,
    SCORE,
    SQUARE,
    WEIGHT,
    Arrays,
    Frame,
    Made,
    collect,
    first_rows,
    group,
    transformed,
)
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray

BIN, ATOM, PLACE = "undercount_bin", "undercount_atom", "undercount_place"
# Room for scores beyond the grid.
MARGIN = 4
LARGEST = float(np.finfo(np.float64).max)

Grids = tuple[Grid | None, ...]


def with_bins(table: Frame, grids: Grids, bins: int) -> Frame:
    """Add the bin of each row, its place in the grid, and whether its score is a frequent one."""
    if table.implementation.is_pandas():  # a partition of Dask's: arrays are faster
        return _with_bin_columns(table, grids, bins)
    score, place = nw.col(SCORE), nw.col(PLACE)
    scales: list[nw.Expr] = []
    places: list[nw.Expr] = []
    numbers: list[nw.Expr] = []
    atoms: list[nw.Expr] = []
    for column, grid in enumerate(grids):
        start = column * span(bins)
        atom = (score > LARGEST) | (score < -LARGEST)
        number, scale, inside = nw.lit(start), nw.lit(0.0), nw.lit(float(start))
        if grid is not None:
            scale, inside = grid.scale(score), grid.place_expression(place) + float(start)
            number = place.cast(nw.Int64)
            number = (
                nw.when(score > grid.high).then(nw.lit(start + _beyond(bins))).otherwise(number)
            )
            number = nw.when(score < grid.low).then(nw.lit(start - 2)).otherwise(number)
            atom = atom | score.is_in(grid.atoms.tolist()) if grid.atoms.size else atom
        scales.append(scale)
        places.append(inside)
        numbers.append(number)
        atoms.append(atom.cast(nw.Int8))
    table = table.with_columns(_by_name(scales).alias(PLACE), _by_name(atoms).alias(ATOM))
    table = table.with_columns(_by_name(places).alias(PLACE))
    return table.with_columns(_by_name(numbers).alias(BIN))


def _by_name(choices: list[nw.Expr]) -> nw.Expr:
    """Choose by the name of the score column."""
    chosen = choices[-1]
    for column in range(len(choices) - 2, -1, -1):
        mine = nw.col(NAME) == f"{SCORE}{column}"
        chosen = nw.when(mine).then(choices[column]).otherwise(chosen)
    return chosen


def _beyond(bins: int) -> int:
    return bins + 2


def span(bins: int) -> int:
    """Return how far the bins of a score column lie from those of the next one."""
    return _beyond(bins) + 2 * MARGIN


def column_of(number: NDArray[Any], bins: int) -> NDArray[np.int64]:
    """Return the score column of a bin."""
    return np.asarray((number + MARGIN) // span(bins), np.int64)


def _placed(
    score: FloatArray, grid: Grid | None, column: int, bins: int
) -> tuple[FloatArray, NDArray[np.int64], NDArray[np.bool_]]:
    start, atom = column * span(bins), np.isinf(score)
    if grid is None:
        return np.full(score.size, float(start)), np.full(score.size, start), atom
    place = grid.place(score)
    place += start
    number = place.astype(np.int64)
    number[score > grid.high] = start + _beyond(bins)
    number[score < grid.low] = start - 2
    return place, number, atom | np.isin(score, grid.atoms) if grid.atoms.size else atom


def _with_bin_columns(table: Frame, grids: Grids, bins: int) -> Frame:
    """Add the same columns to a pandas frame."""
    part = table.collect().to_native()
    score = part[SCORE].to_numpy(np.float64)
    place, number, atom = _placed(score, grids[0], 0, bins)
    for column, grid in enumerate(grids[1:], 1):
        mine = (part[NAME] == f"{SCORE}{column}").to_numpy()
        place[mine], number[mine], atom[mine] = _placed(score[mine], grid, column, bins)
    part = part.assign(**{PLACE: place, ATOM: atom.astype(np.int8), BIN: number})
    result: Frame = nw.from_native(part).lazy()
    return result


# Bins are made finer than asked for, and then merged where that costs least.
FINER = 4
# Labelled scores and unlabeled rows that choose the grid: at most, and for each bin asked for.
MOST_LABELLED, PROBE_ROWS, SAMPLE_A_BIN = 2**18, 2**16, 16
MISSING_SCORE = 4
PART, LOW, HIGH = "undercount_part", "undercount_low", "undercount_high"
# Bins looked into once more: at most so many a score column, the worst by their own ends.
MOST_HOT, MOST_WORST = 2**12, 24
# Cells made of the bins looked into once more, and rows in those that keep every score.
INNER_CELLS, EXACT_ROWS = 2**17, 2**20
KINDS = (POSITIVE, NEGATIVE, UNLABELED)
ENDS: Made = {LOW: (SCORE, "min"), HIGH: (SCORE, "max")}

Parts = dict[str, dict[Any, Arrays]]


def count_binned(
    frame: Frame, columns: Columns, bins: int, progress: Progress
) -> dict[str, dict[Any, ScoreCounts]]:
    """Count each score column into at most `bins` cells, for each group, in three scans."""
    table = transformed(frame, _usable, columns)
    with progress.step(0.3):
        samples = _samples(frame, table, columns, bins)
    grids = tuple(choose_grid(sample, FINER * bins) for sample in samples)
    wide = transformed(table, with_bins, grids, FINER * bins)
    keys = [*columns.by, CODE, BIN, ATOM]
    weighted = columns.weight is not None
    with progress.step(0.7):
        found = collect(group(wide, keys, weighted=weighted, extra=ENDS))
    found[PART] = np.zeros(found[BIN].size)
    parts = _parts(found, columns, bins)
    for name in columns.scores:
        _refuse(frame, columns, _column_of(found, columns, bins, name), name)
    hot = _hot_bins(parts, bins)
    if hot.bins:
        inner = transformed(wide, _inside, hot)
        with progress.step(1.0):
            again = collect(group(inner, [*keys, PART], weighted=weighted, extra=ENDS))
        kept = ~np.isin(found[BIN], hot.bins)
        found = {name: np.concatenate([found[name][kept], again[name]]) for name in found}
        parts = _parts(found, columns, bins)
    return {
        name: {key: _counts(part, bins) for key, part in groups.items()}
        for name, groups in parts.items()
    }


def _usable(frame: Frame, columns: Columns) -> Frame:
    """Code labels; a missing score gets a code of its own, because it has no bin."""
    table, score = coded(frame, columns), nw.col(f"{SCORE}0")
    kept = [*columns.by, *([WEIGHT, SQUARE] if columns.weight is not None else [])]
    if len(columns.scores) > 1:
        table, score, kept = stack(table, columns), nw.col(SCORE), [NAME, *kept]
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


def _samples(frame: Frame, table: Frame, columns: Columns, bins: int) -> list[Sample]:
    """Take distinct labelled scores and some unlabeled rows of each score column."""
    several = len(columns.scores) > 1
    keys = [*([NAME] if several else []), SCORE, CODE]
    names = [f"{SCORE}{place}" for place in range(len(columns.scores))]
    most = min(MOST_LABELLED, SAMPLE_A_BIN * bins) * len(names)
    probe = min(PROBE_ROWS, SAMPLE_A_BIN * bins)
    others: Arrays = {name: np.zeros(0) for name in names}
    if table.implementation.is_dask():
        n_parts = table.to_native().npartitions
        shares = most // n_parts + 1, probe * len(names) // n_parts + 1
        labelled = transformed(table, _thinned, *shares)
        most += probe * len(names)
    else:
        labelled = table.filter((nw.col(CODE) == POSITIVE) | (nw.col(CODE) == NEGATIVE))
        plain = coded(frame, columns).filter(nw.col(CODE) == UNLABELED).select(*names)
        others = first_rows(plain, probe)
    known = collect(group(labelled, keys, weighted=False, most=most))
    samples = []
    for name in names:
        mine = known[NAME] == name if several else slice(None)
        samples.append(_sample({key: known[key][mine] for key in [*keys, ROWS]}, others[name]))
    return samples


def _thinned(table: Frame, most_labelled: int, most_others: int) -> Frame:
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


def _sample(known: Arrays, others: Any) -> Sample:
    score = np.concatenate([known[SCORE], others])
    code = np.append(known[CODE].astype(np.int64), np.full(others.size, UNLABELED))
    rows = np.append(known[ROWS].astype(np.float64), np.ones(others.size))
    finite = np.isfinite(score)
    distinct, place = np.unique(score[finite], return_inverse=True)
    held = [np.where(code[finite] == kind, rows[finite], 0.0) for kind in KINDS]
    return Sample(distinct, np.stack([np.bincount(place, row, distinct.size) for row in held]))


class HotBins(NamedTuple):
    """Bins to be looked into: all, those few enough to keep every score, ends of the worst."""

    bins: list[int]
    exact: list[int]
    ends: list[tuple[float, float]]


def _inside(wide: Frame, hot: HotBins) -> Frame:
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
    return wide.with_columns(part.alias(PART))


def _refuse(frame: Frame, columns: Columns, found: Arrays, name: str) -> None:
    missing = np.where(found[CODE] == MISSING_SCORE, np.nan, 0.0)
    groups = {ROWS: found[ROWS], CODE: found[CODE], SCORE: missing}
    refuse_bad_rows(frame, columns, groups, name)


def _column_of(found: Arrays, columns: Columns, bins: int, name: str) -> Arrays:
    if len(columns.scores) == 1:
        return found
    mine = column_of(found[BIN], FINER * bins) == columns.scores.index(name)
    return {key: values[mine] for key, values in found.items()}


def _parts(found: Arrays, columns: Columns, bins: int) -> Parts:
    """Split groups by score column and by the group columns."""
    columnwise = {name: _column_of(found, columns, bins, name) for name in columns.scores}
    return {
        name: split_by(part, columns.by) if columns.by else {(): part}
        for name, part in columnwise.items()
    }


def _hot_bins(parts: Parts, bins: int) -> HotBins:
    """Find the bins of all score columns without which the errors are small."""
    found = [_hot_bins_of(list(groups.values()), bins) for groups in parts.values()]
    return HotBins(*([*chain.from_iterable(held)] for held in zip(*found, strict=True)))


def _hot_bins_of(parts: list[Arrays], bins: int) -> HotBins:
    allowed = 1 / (8 * bins)
    worst: dict[int, tuple[float, float, float]] = {}
    for part in parts:
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
    ends = [(low, high) for low, high in spans if NARROWEST < high - low < LARGEST]
    return HotBins(hot, _exact_bins(parts, hot), ends)


def _exact_bins(parts: list[Arrays], hot: list[int]) -> list[int]:
    """Choose hot bins that have few rows beside frequent scores, as many as can be afforded."""
    found = {key: np.concatenate([part[key] for part in parts]) for key in (BIN, ATOM, ROWS)}
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
        value = part[key][order]
        changed[1:] |= value[1:] != value[:-1]  # a difference of infinities is NaN
    weight = amounts(part)[0][order]
    held = [np.where(part[CODE][order] == kind, weight, 0.0) for kind in KINDS]
    single = Cells(part[LOW][order], part[HIGH][order], np.stack(held))
    return single.grouped(np.cumsum(changed))


def _counts(part: Arrays, bins: int) -> ScoreCounts:
    cells = _cells(part, (BIN, ATOM, PART)).disjoint().fewer(bins)
    _, square = amounts(part)
    squares = [float(square[part[CODE] == kind].sum()) for kind in KINDS]
    return ScoreCounts._from_table(cells.table(), (squares[0], squares[1], squares[2]))  # noqa: SLF001 - our own
