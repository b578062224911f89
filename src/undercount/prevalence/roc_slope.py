"""ROC slope: the smallest ratio of head shares, with exact binomial bounds (Blanchard, Scott)."""

import numpy as np
from scipy.special import ndtri

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import InputError
from undercount.prevalence.base import Fitted, ScoreEstimator, estimator
from undercount.prevalence.ranks import Places
from undercount.prevalence.upper_bound import (
    effective_sizes,
    head_shares,
    limits_ratio,
    upper_bound,
)

# Small heads are always judged exactly; large ones only if a normal bound says they may win.
SMALL_HEAD = 50
SLOPE_MARGIN = 1.15
MAX_THRESHOLDS = 20_000


@estimator
class RocSlope(ScoreEstimator):
    """Estimate the share of positives by the slope of the ROC of labelled against unlabeled.

    The share cannot exceed P_U(s ≥ t) / P_L(s ≥ t) at any threshold t. The estimate is the
    smallest ratio of a Clopper-Pearson upper limit over a Clopper-Pearson lower limit.

    Parameters
    ----------
    risk : float
        One-sided risk δ of each limit in the estimate (the authors use 0.1).

    Attributes
    ----------
    upper_bound_ : float
        Upper confidence bound at ``confidence_level``, valid for any positive and negative
        distributions: both limits Bonferroni-corrected over 32 thresholds.

    Notes
    -----
    Assumes: labels are a random sample of the positives, and nearly only positives reach the
    highest scores.
    Wrong when: negatives reach the highest scores; the estimate is then too high. With few rows
    it is conservative anyway, on average .04 too high; with very many the smallest of many ratios
    may be one of a handful of rows at the top, far too low by chance: look at ``upper_bound_``.

    References
    ----------
    Blanchard, Lee, Scott (2010), Semi-supervised novelty detection; Scott (2015), A rate of
    convergence for mixture proportion estimation.
    """

    _by_order = True

    risk: float = 0.1

    def _estimate(self, counts: ScoreCounts) -> Fitted:
        if not 0 < self.risk < 1:
            raise InputError(f"risk must lie in (0, 1); got {self.risk}")
        threshold, labelled, unlabeled = head_shares(counts)
        sizes = effective_sizes(counts)
        keep = _contenders(labelled, unlabeled, sizes, self.risk)
        ratio = limits_ratio(labelled[keep], unlabeled[keep], sizes, self.risk)
        best = int(np.argmin(ratio))
        return Fitted(
            min(1.0, float(ratio[best])),
            upper_bound=upper_bound(counts, self.confidence_level),
            diagnostics={"threshold": float(threshold[keep][best])},
        )


def _contenders(
    labelled: FloatArray, unlabeled: FloatArray, sizes: tuple[float, float], risk: float
) -> Places:
    """Return places of thresholds that may hold the minimum, so that few need exact limits."""
    last = np.append(np.diff(unlabeled) > 0, [True])  # of equal unlabeled heads the longest wins
    place = np.flatnonzero(last)
    g, q, (m, n), z = labelled[place], unlabeled[place], sizes, ndtri(1 - risk)
    upper = q + z * np.sqrt(q * (1 - q) / n)
    lower = np.maximum(g - z * np.sqrt(g * (1 - g) / m), g / 10)
    rough = upper / lower
    small = (g * m < SMALL_HEAD) | (q * n < SMALL_HEAD)
    large = rough[~small]
    limit = large.min() * SLOPE_MARGIN if large.size else np.inf
    places = place[small | (rough <= limit)]
    if places.size > MAX_THRESHOLDS:
        places = places[np.linspace(0, places.size - 1, MAX_THRESHOLDS).astype(int)]
    return places
