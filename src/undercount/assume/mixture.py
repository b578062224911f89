"""Labels given at random among positives, possibly impure (Jain, White and Radivojac 2017)."""

import numpy as np
from numpy.typing import NDArray

from undercount.counts import ScoreCounts
from undercount.curve import OperatingCurve
from undercount.rates import FloatArray
from undercount.shares import Shares

# Rates within this of [0, 1] are rounding, not misfit.
TOLERANCE = 1e-9


def mixture_curve(counts: ScoreCounts, shares: Shares, *, clean: bool = True) -> OperatingCurve:
    """Recover the curve of positives against negatives from labelled and unlabeled rows.

    The unlabeled rows are a mixture of positives and negatives in known shares, so the rates of
    the negatives follow by subtraction at every threshold (Jain et al. 2017, eqs 1-2).

    Parameters
    ----------
    counts : ScoreCounts
        Labels at each score.
    shares : Shares
        Share of positives among the unlabeled rows, purity of the labels, sampling.
    clean : bool
        Drop points outside the unit square and sort the rest by their rates (Algorithm 1, with
        the ends (0, 0) and (1, 1) added). The uncleaned curve keeps the order of thresholds, and
        its area is exactly the direct estimate of eq. 4.

    Notes
    -----
    Assumes: labelled rows are a random sample of the positives (and, at 1 - purity, negatives).
    Wrong when: some positives are more likely to be labelled than others, or the shares are wrong.

    Examples
    --------
    >>> import undercount as uc
    >>> y = [1, None, 1, None, 1, None, None, None]
    >>> score = [0.986, 0.943, 0.863, 0.789, 0.699, 0.473, 0.211, 0.009]
    >>> counts = uc.ScoreCounts.from_rows(y, score)
    >>> round(uc.mixture_curve(counts, uc.Shares(0.2), clean=False).roc_auc, 4)
    0.875
    """
    counts.require("positive", "unlabeled")
    positive, negative, unlabeled = counts.cumulative()
    tpr, fpr = recovered_rates(positive / positive[-1], unlabeled / unlabeled[-1], shares)
    if shares.sampling == "single-sample" and counts.n_negative > 0:
        # Known negatives are part of the data set: their own rates join those recovered.
        hidden = counts.n_rows - counts.n_negative - shares.positives(counts)
        fpr = (hidden * fpr + negative) / (hidden + counts.n_negative)
    threshold = np.append(np.inf, counts.score)
    merged = np.append(False, counts.merged) if counts.compact else None
    if clean:
        kept = _inside(tpr) & _inside(fpr)
        kept[[0, -1]] = True
        order = np.lexsort((tpr[kept], fpr[kept]))
        tpr, fpr = np.clip(tpr[kept][order], 0, 1), np.clip(fpr[kept][order], 0, 1)
        threshold = threshold[kept][order]
        merged = None if merged is None else merged[kept][order]
    return OperatingCurve(threshold, tpr, fpr, shares.prevalence(counts), merged)


def recovered_rates(
    labelled_rate: FloatArray, unlabeled_rate: FloatArray, shares: Shares
) -> tuple[FloatArray, FloatArray]:
    """Solve the two mixtures for the true- and false-positive rate (Jain et al. 2017, eqs 1-2)."""
    alpha, beta = shares.unlabeled_prevalence, shares.label_purity
    tpr = ((1 - alpha) * labelled_rate - (1 - beta) * unlabeled_rate) / (beta - alpha)
    fpr = (beta * unlabeled_rate - alpha * labelled_rate) / (beta - alpha)
    return tpr, fpr


def _inside(rate: FloatArray) -> NDArray[np.bool_]:
    return (rate >= -TOLERANCE) & (rate <= 1 + TOLERANCE)
