"""What a wrong prevalence does to tables and rates, and the prevalence that both labels reveal."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray, ratio
from undercount.errors import InputError
from undercount.shares import Shares
from undercount.theory.numbers import read_along_scores


@dataclass(frozen=True)
class PrevalenceSlopes:
    """Hold derivatives with respect to the share of positives among the unlabeled rows.

    Entries of the table are in rows, rates have no unit; one value a score.

    Examples
    --------
    >>> import undercount as uc
    >>> from undercount.theory.wrong_prevalence import prevalence_slopes
    >>> counts = uc.ScoreCounts.from_rows([1, None, None, 1, None, None], [6, 5, 4, 3, 2, 1])
    >>> prevalence_slopes(counts, uc.Shares(0.5), [0.5, 0.5, 0.5, 1, 1, 1]).tp
    array([2., 2., 2., 4., 4., 4.])
    """

    tp: FloatArray
    fp: FloatArray
    fn: FloatArray
    tn: FloatArray
    tpr: FloatArray
    fpr: FloatArray
    precision: FloatArray


def prevalence_slopes(counts: ScoreCounts, shares: Shares, cdf: ArrayLike) -> PrevalenceSlopes:
    """Differentiate the unlabeled rows' table and rates with respect to the share of positives.

    Claesen et al. (2015), appendix B, with the derivative of the false-positive rate corrected to
    (|head| / |U| - T) / (1 - β)²: eq. 15 misses the division by |U|.

    Parameters
    ----------
    counts : ScoreCounts
        Labels at each score.
    shares : Shares
        Share of positives among the unlabeled rows (β).
    cdf : array-like
        Share of the hidden positives that score at least ``counts.score`` (T).

    Returns
    -------
    PrevalenceSlopes
        At each score. The true-positive rate does not move; the false-positive rate falls where
        the ranking is better than random (T > |head| / |U|) and rises where it is worse
        (Lemma 4), at the same relative speed for every model, so that no two feasible AUCs change
        their order.

    Notes
    -----
    Assumes: the share of hidden positives above each score is `cdf` whatever their number; no
    rounding to whole rows and no clipping (eq. 11).
    Wrong when: T β |U| exceeds |head|, or leaves more positives than the tail has rows: there the
    table no longer moves.

    Examples
    --------
    >>> import undercount as uc
    >>> from undercount.theory.wrong_prevalence import prevalence_slopes
    >>> counts = uc.ScoreCounts.from_rows([1, None, None, 1, None, None], [6, 5, 4, 3, 2, 1])
    >>> slopes = prevalence_slopes(counts, uc.Shares(0.5), [0.5, 0.5, 0.5, 1, 1, 1])
    >>> slopes.fpr
    array([-2., -1.,  0., -2., -1.,  0.])
    """
    counts.require("unlabeled")
    share, size = shares.unlabeled_prevalence, counts.n_unlabeled
    reached = read_along_scores("cdf", cdf, counts)
    heads = counts.cumulative()[2][1:]
    return PrevalenceSlopes(
        tp=reached * size,
        fp=-reached * size,
        fn=(1 - reached) * size,
        tn=(reached - 1) * size,
        tpr=np.zeros_like(reached),
        fpr=(heads / size - reached) / (1 - share) ** 2,
        precision=ratio(reached * size, heads, "slope of precision"),
    )


def identified_prevalence(counts: ScoreCounts) -> float:
    """Read the share of positives among the unlabeled rows off labels of both classes.

    The unlabeled rows are a mixture, so their AUC against the labelled negatives lies between ½
    and that of the labelled positives, in proportion to the share of positives:
    β = (AUC(U, N) - ½) / (AUC(P, N) - ½).

    Returns
    -------
    float
        The share; it may fall outside [0, 1] by chance or misfit, and is not clipped.

    Notes
    -----
    Assumes: labelled positives and labelled negatives are random samples of their classes.
    Wrong when: either was looked for, say among high scores.

    Examples
    --------
    >>> import undercount as uc
    >>> from undercount.theory.wrong_prevalence import identified_prevalence
    >>> counts = uc.ScoreCounts.from_rows([1, 0, None, None], [2, 1, 2, 1])
    >>> identified_prevalence(counts)
    0.5
    """
    counts.require("positive", "negative", "unlabeled")
    labelled = counts.auc("positive", "negative") - 0.5
    if labelled == 0:
        raise InputError(
            "the prevalence is not identified: labelled positives and negatives have ROC AUC 0.5"
        )
    return (counts.auc("unlabeled", "negative") - 0.5) / labelled
