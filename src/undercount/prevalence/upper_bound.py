"""The largest share of hidden positives that labels and scores allow."""

import math

import numpy as np
from scipy.special import betaincinv

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray

# Thresholds at which heads are compared; each costs a part of the confidence.
COMPARED_THRESHOLDS = 32
# Rows of each kind that a head must hold at least; sums of weights round.
MIN_HEAD_ROWS = 2 - 1e-9


def upper_bound(counts: ScoreCounts, confidence_level: float) -> float:
    """Bound the share of hidden positives by the heads of labelled and unlabeled rows.

    No share can exceed P_U(s ≥ t) / P_L(s ≥ t) at any threshold t (Scott 2015). Both are bounded
    exactly (Clopper and Pearson) at thresholds fixed by the ranks of the labelled rows, each at
    its part of the risk, so that the bound holds with the confidence level for any scores.

    Notes
    -----
    Assumes: labelled positives are a random sample of all positives, and labels are pure.
    Wrong when: labels prefer positives with high scores; the bound is then too low.

    Examples
    --------
    >>> import undercount as uc
    >>> from undercount.prevalence.upper_bound import upper_bound
    >>> y = [1] * 100 + [None] * 900
    >>> score = [2.0 + i / 100 for i in range(100)] + [i / 900 for i in range(900)]
    >>> counts = uc.ScoreCounts.from_rows(y, score)  # no unlabeled row as high as the lowest label
    >>> round(upper_bound(counts, 0.95), 5) == round((1 - 0.025 ** (1 / 900)) / 0.025 ** 0.01, 5)
    True
    """
    _, labelled, unlabeled = head_shares(counts.canonical.thinned)
    sizes = effective_sizes(counts)
    grid = np.arange(1, COMPARED_THRESHOLDS + 1) / COMPARED_THRESHOLDS
    place = np.unique(np.searchsorted(labelled, grid - 1e-12).clip(max=len(labelled) - 1))
    risk = (1 - confidence_level) / (2 * len(place))
    return min(1.0, float(limits_ratio(labelled[place], unlabeled[place], sizes, risk).min()))


def area_bound(
    separation: float, sizes: tuple[float, float], quantile: float, label_purity: float = 1.0
) -> float:
    """Bound the share of hidden positives by the ROC AUC, which cannot pass 1 beyond chance.

    At a share a and a purity κ the AUC is ½ + (A - ½)/(κ - a), A that of labelled against unlabeled
    rows: at most 1 up to a = κ - (2A - 1), apart from the chance of A. With every positive above
    every negative its variance is known, and the bound is the largest share at which 2A - 1 lies
    no more than `quantile` standard errors above κ - a.

    Parameters
    ----------
    separation : float
        |2A - 1|.
    sizes : tuple of float
        Effective numbers of labelled and of unlabeled rows.
    quantile : float
        Of the normal distribution.

    Notes
    -----
    Assumes: labelled positives are a random sample of all positives. If labels are pure, negatives
    that score above positives only lower A: the bound then holds for any scores.
    Wrong when: labels prefer positives with high scores; the bound is then too low.

    Examples
    --------
    >>> from undercount.prevalence.upper_bound import area_bound
    >>> area_bound(0.75, (100, 900), 0.0)
    0.25
    >>> round(area_bound(0.75, (100, 900), 1.96), 3)
    0.3
    """
    start, impure = label_purity - separation, 1 - label_purity
    # The variance of A is a polynomial in the share; (a - start)² = 4 z² variance has two roots.
    scale = 4 * quantile**2
    labelled, unlabeled = scale / (12 * sizes[0]), scale / (12 * sizes[1])
    square = 1 - labelled + 3 * unlabeled
    linear = start - impure * labelled + (1 + label_purity) * unlabeled
    constant = start**2 - impure * (1 + 3 * label_purity) * labelled - impure**2 * unlabeled
    if square <= 0:  # so few labels that they rule nothing out
        return label_purity
    root = (linear + math.sqrt(max(linear**2 - square * constant, 0.0))) / square
    return float(min(max(root, 0.0), label_purity))


def head_shares(counts: ScoreCounts) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return (threshold, P_L(s ≥ t), P_U(s ≥ t)) at thresholds with two rows of each above.

    The ratio can only be smallest at a labelled score: further down only unlabeled rows enter. The
    lowest of them is always there: no unlabeled row may lie above it.
    """
    at = np.flatnonzero(counts.positive)
    # Sums of weights round, and a share must not exceed 1.
    positive, _, others = counts.cumulative()
    labelled = np.minimum(positive[at + 1] / counts.n_positive, 1.0)
    unlabeled = np.minimum(others[at + 1] / counts.n_unlabeled, 1.0)
    m, n = effective_sizes(counts)
    # Both grow, so all from the first on are kept, and the last in any case.
    enough = [int(np.searchsorted(heads, MIN_HEAD_ROWS)) for heads in (labelled * m, unlabeled * n)]
    keep = slice(min(max(enough), len(at) - 1), None)
    return counts.score[at[keep]], labelled[keep], unlabeled[keep]


def limits_ratio(
    labelled: FloatArray, unlabeled: FloatArray, sizes: tuple[float, float], risk: float
) -> FloatArray:
    """Return Clopper-Pearson upper limits of the unlabeled over lower limits of the labelled."""
    inside, heads = unlabeled * sizes[1], labelled * sizes[0]
    rest = sizes[1] - inside
    # Half a row and less is rounding: all rows are in the head.
    most = np.where(rest > 0.5, betaincinv(inside + 1, np.maximum(rest, 0.5), 1 - risk), 1.0)  # noqa: PLR2004
    least = betaincinv(heads, sizes[0] - heads + 1, risk)
    # Labels worth less than one tell nothing.
    return np.divide(most, least, out=np.full_like(most, np.inf), where=least > 0)


def effective_sizes(counts: ScoreCounts) -> tuple[float, float]:
    """Return Kish's effective numbers of labelled and unlabeled rows."""
    return counts.effective_size("positive"), counts.effective_size("unlabeled")
