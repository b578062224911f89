"""A grid of bins that fits the data, and the error that it can cause at most.

No fixed grid is safe: equal widths fail on scores crowded near 0, bits of the float on saturated
scores. So the bins are those of a rising, piecewise linear map through quantiles of a sample, and
what they cost is computed from the counts themselves: pairs of rows in different bins are ordered
as their bins are, pairs at one score are tied, and only pairs at different scores of one bin
count one half where they really count 0 or 1.
"""

from itertools import combinations
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import digamma

from undercount.count.kernel.table import Table
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError

# Pieces of the map, and bins used to compare ways of measuring distance.
PIECES, TRIAL_BINS = 24, 4096
# Frequent scores that are counted apart from the others of their bin.
MOST_ATOMS = 4096
# Where scores crowd at the ends of their range, logarithms of the distances to the ends spread
# them; this share of the range, or a unit in the last place, keeps the logarithms finite.
NEAREST = 2.0**-60
# Pieces narrower than this have no finite slope.
NARROWEST = 1e-290
BLOCK = 2**13
PAIRS = tuple(combinations(range(3), 2))


class Sample(NamedTuple):
    """Distinct finite scores, ascending, and the weight of each class there: an array (3, k)."""

    score: FloatArray
    weight: FloatArray


class Grid(NamedTuple):
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
        for start in range(0, score.size, BLOCK):  # a block stays in the cache
            block = slice(start, start + BLOCK)
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


def choose_grid(sample: Sample, bins: int) -> Grid | None:
    """Choose the grid that keeps the sample's classes apart best; None without any spread."""
    if sample.score.size < 2:  # noqa: PLR2004 - two ends
        return None
    with np.errstate(over="ignore"):  # scores so large that a sum of two of them overflows
        if not np.all(np.isfinite(4 * sample.score[[0, -1]])):
            return None
    grids = [_grid(sample, bins, logit=logit) for logit in (False, True)]
    if not all(grid.start.size for grid in grids):
        return None
    errors = []
    for grid in grids:
        trial = np.floor(grid.place(sample.score) * (TRIAL_BINS / bins)).astype(np.int64)
        errors.append(Cells(sample.score, sample.score, sample.weight).grouped(trial).error())
    return grids[int(np.argmin(errors))]


def _grid(sample: Sample, bins: int, *, logit: bool) -> Grid:
    low, high = float(sample.score[0]), float(sample.score[-1])
    bare = Grid(low, high, logit, np.zeros(0), np.zeros(0), bins / PIECES, np.zeros(0))
    mass = _mass(sample.weight)
    position = np.cumsum(mass) - mass / 2
    scale = bare.scale(sample.score)
    quantiles = np.interp(np.linspace(0, 1, PIECES + 1)[1:-1], position, scale)
    ends = np.unique(np.concatenate([scale[[0, -1]], quantiles]))
    start, width = ends[:-1], np.diff(ends)
    start, width = start[width > NARROWEST], width[width > NARROWEST]
    frequent = np.flatnonzero((mass > 4 / bins) & (sample.weight.sum(axis=0) > 1))
    atoms = sample.score[frequent[np.argsort(-mass[frequent])][:MOST_ATOMS]]
    height = bins / max(width.size, 1)
    return bare._replace(start=start, width=width, height=height, atoms=np.sort(atoms))


class Cells(NamedTuple):
    """Cells of neighbouring scores: their ends, and the classes in each as an array (3, k)."""

    low: FloatArray
    high: FloatArray
    weight: FloatArray

    def errors(self) -> FloatArray:
        """Bound what each cell adds to the error of an AUC of two classes: an array (pairs, k)."""
        totals = self.weight.sum(axis=1)
        mixed = np.where(self.low < self.high, self.weight, 0.0)
        found = np.zeros((len(PAIRS), self.low.size))
        for place, (one, other) in enumerate(PAIRS):
            pairs = totals[one] * totals[other]
            if pairs > 0:
                found[place] = 0.5 * mixed[one] * mixed[other] / pairs
        return found

    def error(self) -> float:
        """Bound the error of an AUC of two classes."""
        return float(self.errors().sum(axis=1).max())

    def grouped(self, groups: NDArray[np.int64]) -> "Cells":
        """Merge neighbouring cells with the same number."""
        first = np.flatnonzero(np.append(1, np.diff(groups)))
        return Cells(
            np.minimum.reduceat(self.low, first),
            np.maximum.reduceat(self.high, first),
            np.add.reduceat(self.weight, first, axis=1),
        )

    def disjoint(self) -> "Cells":
        """Put cells in ascending order and merge those that overlap, so that it is certain."""
        order = np.lexsort([self.high, self.low])
        cells = Cells(self.low[order], self.high[order], self.weight[:, order])
        reach = np.maximum.accumulate(cells.high)
        return cells.grouped(np.cumsum(np.append(0, cells.low[1:] > reach[:-1])))

    def fewer(self, bins: int) -> "Cells":
        """Merge cells into at most `bins` of about equal weight; heavy ones stay alone."""
        if self.low.size <= bins:
            return self
        mass = _mass(self.weight)
        most = np.sort(mass)[::-1][bins // 3] if self.low.size > bins // 3 else 0.0
        # Each heavy cell also ends the one before it, so at most a third of the bins are heavy.
        heavy = mass > max(most, 1 / bins)
        light = np.where(heavy, 0.0, mass)
        spare = max(bins - 2 * int(heavy.sum()) - 1, 1)
        share = np.cumsum(light) / max(light.sum(), np.finfo(np.float64).tiny)
        part = np.minimum((share * spare).astype(np.int64), spare - 1)
        # A new cell begins before and after each heavy one, and where the share of light ones asks.
        step = 2 * np.cumsum(heavy) - heavy
        return self.grouped(step.astype(np.int64) * (spare + 1) + part)

    def table(self) -> Table:
        """Return the cells as a table in descending order."""
        positive, negative, unlabeled = (np.ascontiguousarray(row[::-1]) for row in self.weight)
        merged = (self.low < self.high)[::-1]
        return Table(np.ascontiguousarray(self.low[::-1]), positive, negative, unlabeled, merged)


def _mass(weight: FloatArray) -> FloatArray:
    """Mean share of the classes at each place, so that each class is resolved."""
    totals = weight.sum(axis=1)
    held = totals > 0
    shares: FloatArray = weight[held] / totals[held, None]
    return np.asarray(shares.mean(axis=0))


def align_counts(counts: ScoreCounts, edges: ArrayLike) -> ScoreCounts:
    """Put counts on a grid, so that parts counted apart can be added.

    Parameters
    ----------
    counts : ScoreCounts
        Exact counts, or compact counts with the edges as knots.
    edges : array-like
        Lower ends of the cells, for example the ``score`` of the first part's binned counts; rows
        below all of them get a cell at -inf.

    Examples
    --------
    >>> import undercount as uc
    >>> from undercount.count.grid import align_counts
    >>> counts = uc.ScoreCounts.from_rows([1, None, None], [0.9, 0.7, 0.2])
    >>> aligned = align_counts(counts, [0.0, 0.5])
    >>> aligned.score, aligned.unlabeled
    (array([ 0.5,  0. , -inf]), array([1., 1., 0.]))
    """
    grid = np.unique(np.append(np.asarray(edges, np.float64) + 0.0, -np.inf))
    place = np.searchsorted(grid, counts.score, "right") - 1
    # A cell reaches up to the next one's score; it must not reach over an edge.
    above = np.append(np.inf, counts.score[:-1])
    last = np.searchsorted(grid, above, "left") - 1
    if (counts.merged & (last > place)).any():
        raise InputError(
            "a merged cell of these counts reaches over an edge of the grid; count exactly, or "
            "compactly with the edges as knots"
        )
    classes = (counts.positive, counts.negative, counts.unlabeled)
    sums = [np.asarray(np.bincount(place, c, grid.size)[::-1], np.float64) for c in classes]
    merged = np.ones(grid.size, bool)
    table = Table(grid[::-1], sums[0], sums[1], sums[2], merged)
    return ScoreCounts._from_table(table, counts.squared_weight)  # noqa: SLF001 - our own


class BinningError(NamedTuple):
    """Guaranteed bounds on errors that merging scores into cells has caused.

    Examples
    --------
    >>> import undercount as uc
    >>> from undercount.count.grid import binning_error
    >>> counts = uc.ScoreCounts.from_rows([1, None, 1, None], [0.9, 0.8, 0.4, 0.1])
    >>> binning_error(counts)
    BinningError(roc_auc=0.0, average_precision=0.0, precision=0.0)
    >>> binning_error(counts.coarsened(2))
    BinningError(roc_auc=0.25, average_precision=0.333..., precision=0.0)
    """

    roc_auc: float
    average_precision: float
    precision: float


def binning_error(counts: ScoreCounts) -> BinningError:
    """Bound what merging scores into cells may have done to AUC, AP and precision.

    Precision, recall and every other rate at a score of the table is exact, because a cell's score
    is its lowest, so the rows at or above it are known; between them no threshold is answered.

    Notes
    -----
    Assumes: the table holds the rows' own classes; labelled positives are ranked against the
    others, unlabeled or negative.
    Wrong when: never for such an area; an area recovered with an unlabeled prevalence `a` may be
    off by this divided by (1 - a).

    Examples
    --------
    >>> import undercount as uc
    >>> from undercount.count.grid import binning_error
    >>> binning_error(uc.ScoreCounts.from_rows([1, None], [0.9, 0.8])).roc_auc
    0.0
    """
    others = [counts.unlabeled, counts.negative, counts.unlabeled + counts.negative]
    errors = [_average_precision_error(counts, other) for other in others if other.any()]
    return BinningError(counts.auc_error, max(errors, default=0.0), 0.0)


def _average_precision_error(counts: ScoreCounts, other: FloatArray) -> float:
    """Compare a cell taken as tied with its positives first and last."""
    mixed = counts.merged & (counts.positive > 0) & (other > 0)
    if not mixed.any():
        return 0.0
    true, false = np.cumsum(counts.positive)[mixed], np.cumsum(other)[mixed]
    here, there = counts.positive[mixed], other[mixed]
    tied = here * true / (true + false)
    first = here * true / (true + false - there)
    if counts.weighted:
        last = here * (true - here) / (true - here + false)
    else:
        # Σ (T+j)/(T+j+F) for j = 1…p, by the digamma function.
        last = here - false * (digamma(true + false + 1) - digamma(true - here + false + 1))
    worst = max(float((first - tied).sum()), float((tied - last).sum()))
    return worst / counts.n_positive
