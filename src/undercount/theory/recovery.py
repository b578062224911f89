"""What wrong shares do to a recovered metric, and conversions of single numbers (Jain 2017)."""

from typing import Any, TypeAlias

import numpy as np
from scipy.special import bdtrc

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray, OperatingCurve, trapezoid
from undercount.errors import InputError, real_number
from undercount.infer.mixture import (
    LABELLED,
    NEGATIVE,
    RATE_TOLERANCE,
    UNLABELED,
    kind_sizes,
    misfit_words,
    mix,
    recovered_rates,
)
from undercount.shares import Shares
from undercount.theory.numbers import read_numbers, read_share, read_whole

# Shares, or (unlabeled_prevalence, label_purity), each a number or an array.
SharePair: TypeAlias = Shares | tuple[Any, Any]
MOST_EXPERIMENTS = 2**31 - 1  # that the binomial distribution can count


def recovery_error(true_shares: SharePair, assumed_shares: SharePair, auc: float) -> FloatArray:
    """Compute the error of the recovered ROC AUC when the assumed shares are not the true ones.

    Parameters
    ----------
    true_shares : Shares or (unlabeled_prevalence, label_purity)
        The shares behind the data.
    assumed_shares : Shares or (unlabeled_prevalence, label_purity)
        The shares put into the formula; numbers or arrays, which are broadcast, so that one call
        gives a whole surface. Here the pair may have any values in [0, 1].
    auc : float
        The true area under the ROC curve.

    Returns
    -------
    array
        Absolute error; NaN where the assumed shares are infeasible, that is, where they give an
        area outside [0, 1]: |purity - share| below (true purity - true share) |2 AUC - 1|.

    Notes
    -----
    Assumes: labels at random, and data without sampling error.
    Wrong when: the sample is small; its own error comes on top.

    Jain et al. 2017, Figures 3 and 4: eq. 4 forward with the true shares, back with the assumed
    ones. The error is 0 wherever the difference of purity and share is right.

    Examples
    --------
    >>> import undercount as uc
    >>> assumed = [0.0, 0.25, 0.25, 0.5], [1, 0.75, 0.6, 1]
    >>> uc.theory.recovery_error(uc.Shares(0.25, 0.75), assumed, 0.9)
    array([0.2, 0. , nan, 0. ])
    """
    share, purity = _pair(true_shares, "true_shares")
    if not np.all(share < purity):
        raise InputError(
            "true_shares must have unlabeled_prevalence < label_purity; "
            f"got {share.tolist()} and {purity.tolist()}"
        )
    auc = read_share("auc", auc)
    assumed_share, assumed_purity = _pair(assumed_shares, "assumed_shares")
    shrunk = (purity - share) * (auc - 0.5)  # AUC^pu - 1/2, eq. 4 forward
    with np.errstate(divide="ignore", invalid="ignore"):
        recovered = 0.5 + shrunk / (assumed_purity - assumed_share)
    feasible = np.abs(recovered - 0.5) <= 0.5 + 1e-12
    return np.where(feasible, np.abs(recovered - auc), np.nan)


def precision_from_naive(
    naive_precision: Any, shares: Shares, *, labelled_share: float
) -> FloatArray:
    """Recover the precision among the unlabeled rows from the one that calls them negative.

    Parameters
    ----------
    naive_precision : float or array-like
        Labelled rows among all rows predicted positive (ρ^pu).
    shares : Shares
        Share of positives among the unlabeled rows, and purity of the labels.
    labelled_share : float
        Labelled rows over labelled and unlabeled rows (Jain's c).

    Returns
    -------
    array
        NaN where the naive precision is 1, which no unlabeled row flagged; equal to
        `unlabeled_precision` otherwise (Jain et al. 2017, Theorem 1).

    Notes
    -----
    Assumes: labelled rows are a random sample of the positives (and, at 1 - purity, negatives).
    Wrong when: some positives are more likely to be labelled than others, or the shares are wrong.

    Examples
    --------
    >>> import undercount as uc
    >>> naive = [0.5, 0.4]
    >>> uc.theory.precision_from_naive(naive, uc.Shares(0.25), labelled_share=1 / 3).round(3)
    array([0.5  , 0.333])
    """
    alpha, beta = shares.unlabeled_prevalence, shares.label_purity
    naive = _numbers(naive_precision, "naive_precision")
    if not 0 < real_number(labelled_share) < 1:
        raise InputError(f"labelled_share must be above 0 and below 1; got {labelled_share!r}")
    odds = np.full(naive.shape, np.nan)
    np.divide(naive, 1 - naive, out=odds, where=naive < 1)
    # E_g[h]/E_f[h], then the line before the last one of the paper's proof.
    enrichment = (1 - labelled_share) / labelled_share * odds
    recovered: FloatArray = alpha * ((1 - alpha) * enrichment - (1 - beta)) / (beta - alpha)
    return recovered


def precision_recall_auc(curve: OperatingCurve) -> float:
    """Compute the area under precision against recall by trapezoids (Jain's AUC-PR).

    Parameters
    ----------
    curve : OperatingCurve
        Any curve; for Jain's, `mixture_curve` with case-control shares.

    Returns
    -------
    float
        At recall 0 the precision of the first point is used. Straight lines between points are
        optimistic; ``curve.average_precision`` does not interpolate.

    Examples
    --------
    >>> import undercount as uc
    >>> curve = uc.labelled_curve(uc.ScoreCounts.from_rows([1, 0, 1, 0], [0.9, 0.6, 0.5, 0.1]))
    >>> round(uc.theory.precision_recall_auc(curve), 4)
    0.7917
    """
    flagged = curve.predicted_positive_rate > 0
    precision, recall = curve.precision[flagged], curve.tpr[flagged]
    precision, recall = np.append(precision[0], precision), np.append(0.0, recall)
    return trapezoid(precision, recall)


def sign_test(wins: int, losses: int, ties: int = 0) -> float:
    """Test whether one method beats another more often than a coin would, one-sided.

    Parameters
    ----------
    wins, losses : int
        Experiments that the method won and lost.
    ties : int, default=0
        Given in turn to the other method and to this one, as Jain et al. 2017 do.

    Returns
    -------
    float
        Probability of at least as many wins if both are equally good.

    Notes
    -----
    Assumes: the experiments are independent.
    Wrong when: several share a data set, as in Jain's tables; the p-value is then too small.

    Examples
    --------
    >>> import undercount as uc
    >>> f"{uc.theory.sign_test(28, 1, ties=7):.3g}", f"{uc.theory.sign_test(25, 9, ties=2):.3g}"
    ('6.46e-06', '0.00567')
    """
    for name, number in (("wins", wins), ("losses", losses), ("ties", ties)):
        read_whole(name, number, 0)
    won, total = wins + ties // 2, wins + losses + ties
    if total > MOST_EXPERIMENTS:
        raise InputError(f"wins, losses and ties must be at most {MOST_EXPERIMENTS:g} together")
    return 1.0 if won == 0 else float(bdtrc(won - 1, total, 0.5))


def _pair(shares: SharePair, name: str) -> tuple[FloatArray, FloatArray]:
    if isinstance(shares, Shares):
        return np.asarray(shares.unlabeled_prevalence), np.asarray(shares.label_purity)
    if not isinstance(shares, tuple | list) or len(shares) != 2:  # noqa: PLR2004 - a pair
        raise InputError(
            f"{name} must be Shares or a pair (unlabeled_prevalence, label_purity); got {shares!r}"
        )
    return _numbers(shares[0], name), _numbers(shares[1], name)


def _numbers(values: Any, name: str) -> FloatArray:
    array = read_numbers(name, values)
    if not np.all((array >= 0) & (array <= 1)):
        raise InputError(f"{name} must lie between 0 and 1; got {values!r}")
    return array


def direct_auc(counts: ScoreCounts, shares: Shares) -> float:
    """Recover the ROC AUC from that of labelled against unlabeled rows, without a curve.

    Parameters
    ----------
    counts : ScoreCounts
        Labels at each score. In a single sample, known negatives count with their own areas.
    shares : Shares
        Share of positives among the unlabeled rows, and purity of the labels.

    Returns
    -------
    float
        AUC = 1/2 + (A - 1/2)/(κ - a) (Jain et al. 2017, eq. 4), A the area of labelled against
        unlabeled rows. A result outside [0, 1] is an error that names the shares that fit.

    Notes
    -----
    Assumes: labelled rows are a random sample of the positives (and, at 1 - purity, negatives).
    Wrong when: some positives are more likely to be labelled than others, or the shares are wrong.

    Examples
    --------
    >>> import undercount as uc
    >>> counts = uc.ScoreCounts.from_rows([1, 0, 1, 0, 1, 0, 0, 0], range(8, 0, -1), unlabeled=0)
    >>> round(uc.theory.direct_auc(counts, uc.Shares(0.2)), 4)
    0.875
    >>> uc.theory.direct_auc(counts, uc.Shares(0.5))
    Traceback (most recent call last):
    ...
    undercount.errors.InputError: unlabeled_prevalence 0.5 and purity 1 do not fit these \
scores: they make the ROC AUC 1.1. The AUC of labelled against unlabeled rows is 0.8, so \
purity - unlabeled_prevalence must be at least |2 · 0.8 - 1| = 0.6; at this purity \
unlabeled_prevalence may be at most 0.4
    """
    counts.require("positive", "unlabeled")
    area = counts.auc("positive", "unlabeled")
    gap = shares.label_purity - shares.unlabeled_prevalence
    auc = 0.5 + (area - 0.5) / gap
    if not -RATE_TOLERANCE <= auc <= 1 + RATE_TOLERANCE:
        raise InputError(misfit_words(counts, area, auc, shares))
    auc = min(max(auc, 0.0), 1.0)
    share, purity = shares.unlabeled_prevalence, shares.label_purity
    mixing = mix(kind_sizes(counts), "unlabeled_prevalence", share, purity, shares.sampling)
    negatives = float(mixing.negative[NEGATIVE])
    if negatives == 0:
        return auc
    # Eq. 1 inside the area of positives against the known negatives.
    area = mixing.positive[LABELLED] * counts.auc("positive", "negative")
    area += mixing.positive[UNLABELED] * counts.auc("unlabeled", "negative")
    return (1 - negatives) * auc + negatives * float(area)


def unlabeled_precision(counts: ScoreCounts, shares: Shares) -> FloatArray:
    """Recover the precision among the unlabeled rows at every threshold: how many flagged are real.

    Parameters
    ----------
    counts : ScoreCounts
        Labels at each score.
    shares : Shares
        Share of positives among the unlabeled rows, and purity of the labels.

    Returns
    -------
    array
        α γ/η (Jain et al. 2017, eq. 3), one entry a distinct score, descending; NaN where no
        unlabeled row is flagged. Nothing is clipped, so a misfit shows as a value above 1.

    Notes
    -----
    Assumes: labelled rows are a random sample of the positives (and, at 1 - purity, negatives).
    Wrong when: some positives are more likely to be labelled than others, or the shares are wrong.

    The precision of a single sample, which counts the labelled rows too, is
    ``mixture_curve(counts, shares, clean=False).precision``.

    Examples
    --------
    >>> import undercount as uc
    >>> counts = uc.ScoreCounts.from_rows([None, 1, None, 1, None, None], [6, 5, 4, 3, 2, 1])
    >>> uc.theory.unlabeled_precision(counts, uc.Shares(0.25)).round(3)
    array([0.   , 0.5  , 0.25 , 0.5  , 0.333, 0.25 ])
    """
    counts.require("positive", "unlabeled")
    positive, _, unlabeled = counts.cumulative()
    flagged = unlabeled / unlabeled[-1]
    tpr, _ = recovered_rates(positive / positive[-1], flagged, shares)
    precision = np.full(len(flagged), np.nan)
    np.divide(shares.unlabeled_prevalence * tpr, flagged, out=precision, where=flagged > 0)
    return precision[1:]
