"""Balanced mid-ranks: one scale for any strictly increasing transform of the scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from undercount.counts import ScoreCounts
from undercount.errors import InputError

Array = NDArray[np.float64]
Places = NDArray[np.intp]
Mask = NDArray[np.bool_]


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
    n_labelled, n_unlabeled : float
        Kish's effective sizes (the numbers of rows when unweighted).
    """

    rank: Array
    labelled: Array
    unlabeled: Array
    n_labelled: float
    n_unlabeled: float


def ranked_shares(counts: ScoreCounts) -> RankedShares:
    """Put labelled and unlabeled shares on the balanced mid-rank scale.

    Examples
    --------
    >>> import undercount as uc
    >>> from undercount.prevalence.ranks import ranked_shares
    >>> counts = uc.ScoreCounts.from_rows([1, 1, None, None], [4.0, 2.0, 2.0, 1.0])
    >>> ranked_shares(counts).rank.tolist()
    [0.125, 0.5, 0.875]
    """
    keep = (counts.positive + counts.unlabeled) > 0
    labelled = counts.positive[keep][::-1] / counts.n_positive
    unlabeled = counts.unlabeled[keep][::-1] / counts.n_unlabeled
    # Sums of shares may pass 1 by rounding.
    rank = np.clip((_mid(labelled) + _mid(unlabeled)) / 2, 0, 1)
    return RankedShares(rank, labelled, unlabeled, *effective_sizes(counts))


def on_scale(counts: ScoreCounts, scale: str) -> tuple[Array, Array, Array]:
    """Return ascending positions ("rank" or "score") with labelled and unlabeled shares."""
    shares = ranked_shares(counts)
    if scale == "rank":
        return shares.rank, shares.labelled, shares.unlabeled
    if scale != "score":
        raise InputError(f"scale must be 'rank' or 'score'; got {scale!r}")
    keep = (counts.positive + counts.unlabeled) > 0
    score = counts.score[keep][::-1]
    if not np.all(np.isfinite(score)):
        raise InputError("with scale='score' scores must be finite; use scale='rank'")
    return score, shares.labelled, shares.unlabeled


def rank_bins(counts: ScoreCounts, n_bins: int) -> tuple[Array, Array, Array]:
    """Return (centre, labelled, unlabeled): shares in the non-empty equal-width bins of rank."""
    shares = ranked_shares(counts)
    bins = np.minimum((shares.rank * n_bins).astype(int), n_bins - 1)
    labelled = summed(bins, shares.labelled, n_bins)
    unlabeled = summed(bins, shares.unlabeled, n_bins)
    keep = (labelled + unlabeled) > 0
    return (np.flatnonzero(keep) + 0.5) / n_bins, labelled[keep], unlabeled[keep]


def summed(place: Places, weight: Array, size: int) -> Array:
    """Return the sum of the weights at each place."""
    return np.asarray(np.bincount(place, weight, size), float)


def effective_sizes(counts: ScoreCounts) -> tuple[float, float]:
    """Return Kish's effective numbers of labelled and unlabeled rows."""
    labelled, _, unlabeled = counts.squared_weight
    return counts.n_positive**2 / labelled, counts.n_unlabeled**2 / unlabeled


def merged(counts: ScoreCounts, n_cells: int) -> ScoreCounts:
    """Merge neighbouring cells into at most n_cells of about equal balanced rank width.

    A cell keeps its highest score; counts with few cells come back unchanged.
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


def labelled_auc(counts: ScoreCounts) -> float:
    """Return AUC^pu: the AUC of labelled against unlabeled rows, ties counting half."""
    below = counts.n_unlabeled - np.cumsum(counts.unlabeled) + counts.unlabeled / 2
    return float(counts.positive @ below / (counts.n_positive * counts.n_unlabeled))


def auc_error(counts: ScoreCounts, auc: float) -> float:
    """Return an upper bound of the standard error of AUC^pu (Bamber's, maximal over shapes)."""
    n_labelled, n_unlabeled = effective_sizes(counts)
    return float(np.sqrt(auc * (1 - auc) / min(n_labelled, n_unlabeled)))


def _mid(share: Array) -> Array:
    return np.asarray(np.cumsum(share) - share / 2)
