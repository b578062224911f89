"""A grid of bins that fits the data, and the error that it can cause at most.

No fixed grid is safe: equal widths fail on scores crowded near 0, bits of the float on saturated
scores. So the bins are those of a rising, piecewise linear map through quantiles of a sample, and
what they cost is computed from the counts themselves: pairs of rows in different bins are ordered
as their bins are, pairs at one score are tied, and only pairs at different scores of one bin
count one half where they really count 0 or 1.
"""

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from undercount.counts import CLASSES, ScoreCounts
from undercount.rates import FloatArray
from undercount.tally import Table

# Pieces of the map, and bins used to compare ways of measuring distance.
PIECES, TRIAL_BINS = 24, 4096
# Frequent scores that are counted apart from the others of their bin.
MOST_ATOMS = 4096
# Where scores crowd at the ends of their range, logarithms of the distances to the ends spread
# them; this share of the range, or a unit in the last place, keeps the logarithms finite.
NEAREST = 2.0**-60
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

    def place(self, score: Any) -> Any:
        """Return the position of scores in the grid, in bins; works on arrays and expressions."""
        scale = self.scale(score.clip(self.low, self.high))
        pieces = zip(self.start.tolist(), self.width.tolist(), strict=True)
        total = None
        # Every term rises, so the sum does too, whatever is rounded.
        for start, width in pieces:
            term = (scale - start).clip(0.0, width) * (self.height / width)
            total = term if total is None else total + term
        return total

    def scale(self, score: Any) -> Any:
        """Measure scores on the plain or the logit scale."""
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
    if sample.score.size < 2 or not np.isfinite(sample.score[-1] - sample.score[0]):  # noqa: PLR2004 - two ends
        return None
    grids = [_grid(sample, bins, logit=logit) for logit in (False, True)]
    errors = []
    for grid in grids:
        trial = np.floor(grid.place(sample.score) * (TRIAL_BINS / bins)).astype(np.int64)
        groups = np.cumsum(np.append(0, np.diff(trial) != 0))
        errors.append(pair_error(_summed(sample.weight, groups), _ties(sample.weight, groups)))
    return grids[int(np.argmin(errors))]


def _grid(sample: Sample, bins: int, *, logit: bool) -> Grid:
    low, high = float(sample.score[0]), float(sample.score[-1])
    bare = Grid(low, high, logit, np.zeros(0), np.zeros(0), bins / PIECES, np.zeros(0))
    totals = sample.weight.sum(axis=1)
    held = totals > 0
    mass = (sample.weight[held] / totals[held, None]).mean(axis=0)
    position = np.cumsum(mass) - mass / 2
    scale = bare.scale(sample.score)
    quantiles = np.interp(np.linspace(0, 1, PIECES + 1)[1:-1], position, scale)
    ends = np.unique(np.concatenate([scale[[0, -1]], quantiles]))
    width = np.diff(ends)
    frequent = np.flatnonzero(mass > 1 / bins)
    atoms = sample.score[frequent[np.argsort(-mass[frequent])][:MOST_ATOMS]]
    return bare._replace(
        start=ends[:-1], width=width, height=bins / width.size, atoms=np.sort(atoms)
    )


def pair_error(weight: FloatArray, tied: FloatArray) -> float:
    """Bound the error of an AUC of any two classes.

    `weight` is (3, k): the classes in each cell; `tied` is (3, 3, k): products of two classes
    summed over the scores of a cell that are known to be tied, for which one half is right.
    """
    totals = weight.sum(axis=1)
    errors = [0.0]
    for one, other in PAIRS:
        pairs = totals[one] * totals[other]
        if pairs > 0:
            mixed = weight[one] * weight[other] - tied[one, other]
            errors.append(float(0.5 * np.maximum(mixed, 0.0).sum() / pairs))
    return max(errors)


def cell_errors(weight: FloatArray, tied: FloatArray) -> FloatArray:
    """Share of each cell in the bounds of all pairs of classes."""
    totals = weight.sum(axis=1)
    found = np.zeros(weight.shape[1])
    for one, other in PAIRS:
        pairs = totals[one] * totals[other]
        if pairs > 0:
            found += 0.5 * np.maximum(weight[one] * weight[other] - tied[one, other], 0) / pairs
    return found


def _summed(weight: FloatArray, groups: NDArray[np.int64]) -> FloatArray:
    size = int(groups[-1]) + 1
    return np.stack([np.bincount(groups, row, size) for row in weight])


def _ties(weight: FloatArray, groups: NDArray[np.int64]) -> FloatArray:
    size = int(groups[-1]) + 1
    tied = np.zeros((3, 3, size))
    for one, other in PAIRS:
        tied[one, other] = np.bincount(groups, weight[one] * weight[other], size)
    return tied


class Cells(NamedTuple):
    """Cells in ascending order: ends, classes (3, k), and products (3, 3, k) of tied rows."""

    low: FloatArray
    high: FloatArray
    weight: FloatArray
    tied: FloatArray

    def error(self) -> float:
        """Bound the error of an AUC read from these cells."""
        return pair_error(self.weight, self.tied)

    def grouped(self, groups: NDArray[np.int64]) -> "Cells":
        """Merge neighbouring cells with the same number."""
        first = np.flatnonzero(np.append(True, np.diff(groups) != 0))
        return Cells(
            np.minimum.reduceat(self.low, first),
            np.maximum.reduceat(self.high, first),
            np.add.reduceat(self.weight, first, axis=1),
            np.add.reduceat(self.tied, first, axis=2),
        )

    def disjoint(self) -> "Cells":
        """Put cells in order and merge those that overlap, so that the order is certain."""
        order = np.argsort(self.low, kind="stable")
        cells = Cells(
            self.low[order], self.high[order], self.weight[:, order], self.tied[:, :, order]
        )
        reach = np.maximum.accumulate(cells.high)
        groups = np.cumsum(np.append(False, cells.low[1:] > reach[:-1]))
        return cells.grouped(groups)

    def fewer(self, bins: int) -> "Cells":
        """Merge cells into at most `bins` of about equal weight; heavy ones stay alone."""
        if self.low.size <= bins:
            return self
        totals = self.weight.sum(axis=1)
        held = totals > 0
        mass = (self.weight[held] / totals[held, None]).mean(axis=0)
        heavy = mass > 4 / bins  # at most a quarter of the bins
        light = np.where(heavy, 0.0, mass)
        spare = bins - 2 * int(heavy.sum()) - 1
        share = np.cumsum(light) / max(light.sum(), np.finfo(float).tiny)
        # A new cell begins before and after each heavy one, and where the share of light ones asks.
        step = np.cumsum(heavy) * 2 - heavy
        part = np.minimum((share * spare).astype(np.int64), max(spare - 1, 0))
        return self.grouped(step.astype(np.int64) * (bins + 1) + part)

    def table(self) -> Table:
        """Return the cells as a table in descending order."""
        positive, negative, unlabeled = (np.ascontiguousarray(row[::-1]) for row in self.weight)
        merged = (self.low < self.high)[::-1]
        return Table(np.ascontiguousarray(self.low[::-1]), positive, negative, unlabeled, merged)


class BinningError(NamedTuple):
    """Guaranteed bounds on errors that merging scores into cells has caused.

    Examples
    --------
    >>> import undercount as uc
    >>> counts = uc.ScoreCounts.from_rows([1, None, 1, None], [0.9, 0.8, 0.4, 0.1])
    >>> uc.binning_error(counts)
    BinningError(roc_auc=0.0, average_precision=0.0, precision=0.0)
    >>> uc.binning_error(counts.coarsened(2))
    BinningError(roc_auc=0.25, average_precision=0.5, precision=0.0)
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
    >>> uc.binning_error(uc.ScoreCounts.from_rows([1, None], [0.9, 0.8])).roc_auc
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


assert CLASSES == ("positive", "negative", "unlabeled")  # noqa: S101 - the order of every (3, k)
