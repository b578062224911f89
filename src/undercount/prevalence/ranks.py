"""Balanced mid-ranks: one scale for any strictly increasing transform of the scores."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from undercount.counts import CLASSES, ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError
from undercount.prevalence.upper_bound import effective_sizes

Places: TypeAlias = NDArray[np.intp]
# Cells into which merged ones are split at most.
MOST_RANK_CELLS = 50_000
# How far above its lowest score the topmost merged cell reaches; ranks do not depend on it.
TOP_STEP = 1e-6


@dataclass(frozen=True)
class RankedShares:
    """Shares of labelled and unlabeled rows along the balanced mid-rank, ascending.

    Attributes
    ----------
    rank : ndarray
        s' = (F_L(s) + F_U(s)) / 2 with mid-ranks at ties, ascending in [0, 1] (in
        (0, 1) and strictly, unless cells are so light that rounding swallows them).
    labelled, unlabeled : ndarray
        Share of each sample's weight in the cell; each sums to 1.
    """

    rank: FloatArray
    labelled: FloatArray
    unlabeled: FloatArray


def rank_shares(counts: ScoreCounts) -> RankedShares:
    """Put labelled and unlabeled shares on the balanced mid-rank scale.

    Examples
    --------
    >>> import undercount as uc
    >>> from undercount.prevalence.ranks import rank_shares
    >>> counts = uc.ScoreCounts.from_rows([1, 1, None, None], [4.0, 2.0, 2.0, 1.0])
    >>> rank_shares(counts).rank.tolist()
    [0.125, 0.5, 0.875]
    """
    keep = (counts.positive + counts.unlabeled) > 0
    labelled = counts.positive[keep][::-1] / counts.n_positive
    unlabeled = counts.unlabeled[keep][::-1] / counts.n_unlabeled
    # Sums of shares may pass 1 by rounding.
    rank = np.clip((_mid(labelled) + _mid(unlabeled)) / 2, 0, 1)
    return RankedShares(rank, labelled, unlabeled)


def on_scale(counts: ScoreCounts, scale: str) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return ascending positions ("rank" or "score") with labelled and unlabeled shares."""
    shares = rank_shares(counts)
    if scale == "rank":
        return shares.rank, shares.labelled, shares.unlabeled
    if scale != "score":
        raise InputError(f"scale must be 'rank' or 'score'; got {scale!r}")
    keep = (counts.positive + counts.unlabeled) > 0
    score = counts.score[keep][::-1]
    if not np.all(np.isfinite(score)):
        raise InputError("with scale='score' scores must be finite; use scale='rank'")
    return score, shares.labelled, shares.unlabeled


def sum_in_bins(bins: Places, weight: FloatArray, n_bins: int) -> FloatArray:
    """Return the sum of the weights in each bin."""
    return np.asarray(np.bincount(bins, weight, n_bins), float)


def auc_standard_error(counts: ScoreCounts, auc: float) -> float:
    """Return an upper bound of the standard error of AUC^pu (Bamber's, maximal over shapes)."""
    return float(np.sqrt(auc * (1 - auc) / min(effective_sizes(counts))))


def merge_cells(counts: ScoreCounts, n_cells: int) -> ScoreCounts:
    """Merge neighbouring cells into at most n_cells of about equal balanced rank width.

    Unlike in `ScoreCounts.coarsened`, known negatives, which play no part in the estimates, do not
    weigh, and a cell keeps its highest score. Counts with few cells come back unchanged.
    """
    if counts.score.size <= n_cells:
        return counts
    height = np.cumsum(counts.positive) / counts.n_positive
    height = (height + np.cumsum(counts.unlabeled) / counts.n_unlabeled) / 2
    bins = np.minimum((height * n_cells).astype(int), n_cells - 1)
    start = np.flatnonzero(np.diff(bins, prepend=-1))
    cells = [
        np.add.reduceat(c, start) for c in (counts.positive, counts.negative, counts.unlabeled)
    ]
    return ScoreCounts.from_counts(
        counts.score[start], *cells, squared_weight=counts.squared_weight
    )


def split_merged_cells(counts: ScoreCounts) -> ScoreCounts:
    """Split merged cells of unlabeled rows into single rows, evenly spaced.

    Between two labelled scores only the number of unlabeled rows is kept in compact counts. On
    the scale of ranks that is all there is to know: unless scores were tied, the rows stand one
    rank apart. So rank methods answer on compact counts as on full ones.
    """
    # Weights may have any unit: that of a row is Kish's mean, 1 of rows without weights.
    squares = counts.squared_weight[CLASSES.index("unlabeled")]
    rows = counts.unlabeled / (squares / counts.n_unlabeled) if squares > 0 else counts.unlabeled
    bare = counts.merged & (counts.positive + counts.negative == 0) & (rows > 1)
    if not bare.any():
        return counts
    coarseness = max(1.0, float(rows.sum()) / MOST_RANK_CELLS)
    parts = np.where(bare, np.maximum(1, np.round(rows / coarseness)), 1).astype(int)
    cell = np.repeat(np.arange(parts.size), parts)
    place = np.arange(cell.size) - np.repeat(np.cumsum(parts) - parts, parts)
    # A cell's score is its lowest; the rows above it lie below the next higher cell.
    top = np.abs(counts.score[0]) * TOP_STEP + TOP_STEP
    step = np.append(top, counts.score[:-1] - counts.score[1:])
    step = np.where(np.isfinite(step), step, 1.0)
    above = (parts[cell] - 1 - place) / parts[cell]
    return ScoreCounts.from_counts(
        counts.score[cell] + above * step[cell],
        counts.positive[cell] / parts[cell],
        counts.negative[cell] / parts[cell],
        counts.unlabeled[cell] / parts[cell],
        squared_weight=counts.squared_weight,
    )


def _mid(share: FloatArray) -> FloatArray:
    return np.asarray(np.cumsum(share) - share / 2)
