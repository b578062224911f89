"""A grid of bins that fits the data, and the bin of each row.

No fixed grid is safe: equal widths fail on scores crowded near 0, bits of the float on saturated
scores. So the bins are those of a rising, piecewise linear map through quantiles of a sample, and
what they cost is computed from the counts themselves: pairs of rows in different bins are ordered
as their bins are, pairs at one score are tied, and only pairs at different scores of one bin
count one half where they really count 0 or 1.
"""

from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from undercount.count.kernel.table import Table, bound_auc_error, mean_shares, merge_cells
from undercount.count.queries import NAME_COLUMN, SCORE, Frame
from undercount.curve import FloatArray

BIN, ATOM, PLACE = "undercount_bin", "undercount_atom", "undercount_place"
# Pieces of the map, and bins used to compare ways of measuring distance.
PIECES, COMPARED_BINS = 24, 4096
# Frequent scores that are counted apart from the others of their bin.
MOST_ATOMS = 4096
# Where scores crowd at the ends of their range, logarithms of the distances to the ends spread
# them; this share of the range, or a unit in the last place, keeps the logarithms finite.
NEAREST = 2.0**-60
# Pieces narrower than this have no finite slope.
NARROWEST_CELL = 1e-290
SCORES_PER_BLOCK = 2**13
# Room for scores beyond the grid.
GRID_MARGIN = 4
LARGEST_FLOAT = float(np.finfo(np.float64).max)


class BinGrid(NamedTuple):
    """A rising map from score to bin.

    Scores are clipped to [low, high], measured on a plain or a logit scale, and each piece
    [start, start + width] of that scale is cut into `height` bins. `atoms` are frequent scores.
    """

    low: float
    high: float
    logit: bool
    start: FloatArray
    width: FloatArray
    height: float
    atoms: FloatArray

    def place(self, score: FloatArray) -> FloatArray:
        """Return the position of scores in the grid, in bins."""
        place, slope = np.zeros(score.size), self.height / self.width
        for start in range(0, score.size, SCORES_PER_BLOCK):  # a block stays in the cache
            block = slice(start, start + SCORES_PER_BLOCK)
            scale = self.scale(score[block])
            piece = np.clip(np.searchsorted(self.start, scale, "right") - 1, 0, None)
            place[block] = (scale - self.start[piece]) * slope[piece] + piece * self.height
        return place

    def place_expression(self, scale: nw.Expr, first: int = 0, last: int | None = None) -> nw.Expr:
        """Write the same for engines as a tree of decisions, from a score on the grid's scale."""
        last = self.start.size if last is None else last
        if last - first == 1:
            slope = self.height / float(self.width[first])
            return (scale - float(self.start[first])) * slope + first * self.height
        middle = (first + last) // 2
        return (
            nw.when(scale < float(self.start[middle]))
            .then(self.place_expression(scale, first, middle))
            .otherwise(self.place_expression(scale, middle, last))
        )

    def scale(self, score: Any) -> Any:
        """Measure scores, arrays or expressions, on the plain or the logit scale."""
        score = score.clip(self.low, self.high)
        if not self.logit:
            return score
        bottom, top = (
            max(NEAREST * (self.high - self.low), float(np.spacing(abs(end))))
            for end in (self.low, self.high)
        )
        below, above = score - (self.low - bottom), (self.high + top) - score
        if isinstance(score, np.ndarray):
            return np.log(below) - np.log(above)
        return below.log() - above.log()


Grids = tuple[BinGrid | None, ...]


def choose_grid(sample: Table, bins: int) -> BinGrid | None:
    """Choose the grid that keeps the sample's classes apart best; None without any spread."""
    if sample.score.size < 2:  # noqa: PLR2004 - two ends
        return None
    with np.errstate(over="ignore"):  # scores so large that a sum of two of them overflows
        if not np.all(np.isfinite(4 * sample.score[[0, -1]])):
            return None
    grids = [_fit_grid(sample, bins, logit=logit) for logit in (False, True)]
    if not all(grid.start.size for grid in grids):
        return None
    errors = []
    for grid in grids:
        number = np.floor(grid.place(sample.score) * (COMPARED_BINS / bins))
        errors.append(bound_auc_error(merge_cells(sample, np.append(True, np.diff(number) != 0))))
    return grids[int(np.argmin(errors))]


def _fit_grid(sample: Table, bins: int, *, logit: bool) -> BinGrid:
    score, classes = sample.score[::-1], [column[::-1] for column in sample.classes]
    low, high = float(score[0]), float(score[-1])
    bare = BinGrid(low, high, logit, np.zeros(0), np.zeros(0), bins / PIECES, np.zeros(0))
    mass = mean_shares(classes)
    position = np.cumsum(mass) - mass / 2
    scale = bare.scale(score)
    quantiles = np.interp(np.linspace(0, 1, PIECES + 1)[1:-1], position, scale)
    ends = np.unique(np.concatenate([scale[[0, -1]], quantiles]))
    start, width = ends[:-1], np.diff(ends)
    start, width = start[width > NARROWEST_CELL], width[width > NARROWEST_CELL]
    frequent = np.flatnonzero((mass > 4 / bins) & (np.sum(classes, axis=0) > 1))
    atoms = score[frequent[np.argsort(-mass[frequent])][:MOST_ATOMS]]
    height = bins / max(width.size, 1)
    return bare._replace(start=start, width=width, height=height, atoms=np.sort(atoms))


def place_rows(table: Frame, grids: Grids, bins: int) -> Frame:
    """Add the bin of each row, its place in the grid, and whether its score is a frequent one."""
    if table.implementation.is_pandas():  # a partition of Dask's: arrays are faster
        return _place_pandas_rows(table, grids, bins)
    score, place = nw.col(SCORE), nw.col(PLACE)
    scales: list[nw.Expr] = []
    places: list[nw.Expr] = []
    numbers: list[nw.Expr] = []
    atoms: list[nw.Expr] = []
    for column, grid in enumerate(grids):
        start = column * span(bins)
        atom = (score > LARGEST_FLOAT) | (score < -LARGEST_FLOAT)
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
        # Not every database casts a condition to a number.
        atoms.append(nw.when(atom).then(nw.lit(1)).otherwise(nw.lit(0)).cast(nw.Int8))
    table = table.with_columns(
        _choose_by_name(scales).alias(PLACE), _choose_by_name(atoms).alias(ATOM)
    )
    table = table.with_columns(_choose_by_name(places).alias(PLACE))
    return table.with_columns(_choose_by_name(numbers).alias(BIN))


def _choose_by_name(choices: list[nw.Expr]) -> nw.Expr:
    """Choose by the name of the score column."""
    chosen = choices[-1]
    for column in range(len(choices) - 2, -1, -1):
        mine = nw.col(NAME_COLUMN) == f"{SCORE}{column}"
        chosen = nw.when(mine).then(choices[column]).otherwise(chosen)
    return chosen


def _beyond(bins: int) -> int:
    return bins + 2


def span(bins: int) -> int:
    """Return how far the bins of a score column lie from those of the next one."""
    return _beyond(bins) + 2 * GRID_MARGIN


def column_of(number: NDArray[Any], bins: int) -> NDArray[np.int64]:
    """Return the score column of a bin."""
    return np.asarray((number + GRID_MARGIN) // span(bins), np.int64)


def _place_scores(
    score: FloatArray, grid: BinGrid | None, column: int, bins: int
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


def _place_pandas_rows(table: Frame, grids: Grids, bins: int) -> Frame:
    """Add the same columns to a pandas frame."""
    part = table.collect().to_native()
    score = part[SCORE].to_numpy(np.float64)
    place, number, atom = _place_scores(score, grids[0], 0, bins)
    for column, grid in enumerate(grids[1:], 1):
        mine = (part[NAME_COLUMN] == f"{SCORE}{column}").to_numpy()
        place[mine], number[mine], atom[mine] = _place_scores(score[mine], grid, column, bins)
    part = part.assign(**{PLACE: place, ATOM: atom.astype(np.int8), BIN: number})
    result: Frame = nw.from_native(part).lazy()
    return result
