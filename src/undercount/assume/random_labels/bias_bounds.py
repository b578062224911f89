"""Where a metric may lie if labels prefer some positives and the share has an interval too."""

import numpy as np

from undercount.counts import ScoreCounts
from undercount.curve import metric_names
from undercount.errors import collect_warnings
from undercount.estimate import Estimate, Interval
from undercount.infer.labelling_bias import BIASED_AREAS, bias_ends
from undercount.infer.mixture import Target
from undercount.shares import Shares

# Shares of an interval at which bounds are made, beside the one taken.
N_SHARES = 4


def follows_bias(metric: str, threshold: float | None, shares: Shares) -> bool:
    """Whether a labelling bias can be followed in a metric: not in average precision."""
    if metric in BIASED_AREAS:
        return shares.label_purity == 1
    return threshold is not None and metric in metric_names()


def bound_metric(
    estimate: Estimate,
    metric: str,
    odds_ratio: float,
    counts: ScoreCounts,
    shares: Shares,
    *,
    threshold: float | None,
    target: Target,
) -> Interval:
    """Bound a metric if the odds of a label differ by at most a factor (Γ) between positives.

    Each end is the worst that such a bias makes at some share of the interval, with the chance of
    the labels, and never inside the interval of the estimate.

    Notes
    -----
    Assumes: the true share lies in its interval.
    Wrong when: labels prefer some positives more strongly; or the share was estimated from these
    very labels, which supposes that they prefer none.
    """
    span = shares.unlabeled_prevalence_interval
    tried = [shares.unlabeled_prevalence]
    tried += [] if span is None else np.linspace(span.low, span.high, N_SHARES).tolist()
    ends = [estimate.low, estimate.high]
    for share in tried:
        with collect_warnings():  # what does not fit at an end of the interval is said elsewhere
            find = bias_ends(
                counts,
                shares.exact(float(shares.clip(share))),
                metric,
                threshold=threshold,
                target=target,
                confidence_level=estimate.confidence_level,
            )
            ends += find(odds_ratio)
    return Interval(float(np.fmin.reduce(ends)), float(np.fmax.reduce(ends)))
