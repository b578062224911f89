"""The recovered ROC AUC with DeLong's variance, in one pass over the cells."""

import math

import numpy as np

from undercount.counts import ScoreCounts
from undercount.estimate import Estimate, check_confidence_level
from undercount.infer.heads import two_sided_z
from undercount.infer.mixture import RATE_TOLERANCE, Misfit
from undercount.metric_facts import FACTS
from undercount.shares import Shares


def delong_auc(counts: ScoreCounts, shares: Shares, *, confidence_level: float = 0.95) -> Estimate:
    """Recover the ROC AUC with the variance of DeLong, DeLong and Clarke-Pearson (1988).

    The quick way to one number for huge tables and tight loops. `roc_auc` treats every sampling,
    target and uncertain share, on a scale that keeps inside [0, 1]; this does not.

    Parameters
    ----------
    counts : ScoreCounts
        Labels at each score. Known negatives are left out.
    shares : Shares
        Share of positives among the unlabeled rows and purity of the labels, as known numbers.
    confidence_level : float
        Of the interval, value ± z · standard error, cut at 0 and 1: a point where the labelled
        rows are all above the others, and the whole range for a single row of either kind.

    Returns
    -------
    Estimate

    Notes
    -----
    Assumes: labelled and unlabeled rows are two independent samples of a population, the labelled
    ones a random sample of the positives (and, at 1 - purity, negatives), and the shares are known.
    Wrong when: some positives are more likely to be labelled than others, or the shares are wrong.
    An area outside [0, 1] is cut with a warning if chance explains it, and refused if not.

    Examples
    --------
    >>> import undercount as uc
    >>> counts = uc.ScoreCounts.from_rows([1, 0, 1, 0, 1, 0, 0, 0], range(8, 0, -1), unlabeled=0)
    >>> auc = uc.metrics.delong_auc(counts, uc.Shares(0.2))
    >>> round(auc.value, 4), round(auc.standard_error, 4)
    (0.875, 0.2205)
    """
    counts.require("positive", "unlabeled")
    confidence_level = check_confidence_level(confidence_level)
    area, upper, lower = _placements(counts)
    variance = _mean_variance(upper, area, counts.effective_size("positive"))
    variance += _mean_variance(lower, area, counts.effective_size("unlabeled"))
    gap = shares.label_purity - shares.unlabeled_prevalence
    value = 0.5 + (area - 0.5) / gap  # Jain et al. 2017, eq. 4
    error = math.sqrt(variance) / gap
    inside = min(max(value, 0.0), 1.0)
    if abs(value - inside) > RATE_TOLERANCE:
        errors = abs(value - inside) / _floor_error(error, counts.effective_size("positive"), gap)
        misfit = Misfit("roc_auc", value, errors, lambda: shares.label_purity - abs(2 * area - 1))
        firm = misfit.contradicts(confidence_level)
        misfit.report("roc_auc", counts, shares, firm=firm, stacklevel=2)
    low, high = 0.0, 1.0
    if not math.isnan(error):
        reach = two_sided_z(confidence_level) * error
        low, high = max(inside - reach, 0.0), min(inside + reach, 1.0)
    needs = FACTS["roc_auc"].needs if shares.label_purity == 1 else FACTS["roc_auc"].needs_if_impure
    return Estimate(inside, low, high, error, confidence_level, needs, "DeLong")


def _floor_error(error: float, size: float, gap: float) -> float:
    """Return the error, at least that of labels of which half a row is otherwise."""
    size = max(size, 1.0)
    share = 0.5 / (size + 1)
    least = math.sqrt(share * (1 - share) / size) / gap
    return least if math.isnan(error) else max(error, least)


def _placements(counts: ScoreCounts) -> tuple[float, float, float]:
    """Return the area of labelled against unlabeled rows, and mean squares of placements.

    The placement of a labelled row is the share of unlabeled ones below it, that of an unlabeled
    row the share of labelled ones above it, ties ½; both have the same mean, the area.
    """
    area = upper = lower = 0.0
    n_labelled, n_unlabeled = counts.n_positive, counts.n_unlabeled
    for part, heads in counts.head_blocks():
        labelled, unlabeled = counts.positive[part], counts.unlabeled[part]
        below = np.subtract(n_unlabeled, heads[2], out=heads[2])
        below += unlabeled / 2
        below /= n_unlabeled
        above = np.subtract(heads[0], labelled / 2, out=heads[0])
        above /= n_labelled
        product = labelled * below
        area += float(product.sum())
        upper += float(product @ below)
        above *= above
        lower += float(above @ unlabeled)
    return area / n_labelled, upper / n_labelled, lower / n_unlabeled


def _mean_variance(square: float, mean: float, size: float) -> float:
    """Variance of a mean over rows of this mean square; NaN for a single row."""
    return max(square - mean * mean, 0.0) / (size - 1) if size > 1 else math.nan
