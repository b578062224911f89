"""Bins of rows: the place of each score on the grid of its column.

The bins of several score columns are numbered one column after the other, so that one group-by
counts them all.
"""

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from undercount.grid import Grid
from undercount.queries import NAME, SCORE, Frame
from undercount.rates import FloatArray

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
