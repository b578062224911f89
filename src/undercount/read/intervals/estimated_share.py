"""Carry the interval of an estimated share into the interval of a metric, end by end."""

import math
from dataclasses import replace

from scipy.special import ndtri

from undercount.assume.mixture_design import Target
from undercount.counts import ScoreCounts
from undercount.estimate import Estimate
from undercount.metric_facts import metric_facts
from undercount.read.intervals.estimate import estimate_metric
from undercount.read.sensitivity import metric_value, with_share
from undercount.shares import Shares


def carried(
    counts: ScoreCounts,
    shares: Shares,
    metric: str,
    *,
    threshold: float | None,
    target: Target,
    confidence_level: float,
) -> Estimate:
    """Estimate a metric whose share was estimated on the same rows, with a wide, skew interval.

    The distance to the metric at either end of the share's interval and the distance to the end
    of the interval at the share itself add in squares, each side by itself (Zou and Donner's
    MOVER). A slope would carry a wide interval of the share far outside what its ends allow.

    Notes
    -----
    Assumes: the error of the share is independent of the chance of the labels, and its interval
    has the same confidence level.
    Wrong when: few rows are labelled and the share hangs on the same few; `evaluate` with
    ``prevalence_interval="combined"`` resamples both together.
    """
    span = shares.unlabeled_prevalence_interval
    value = shares.unlabeled_prevalence
    exact = _exact(shares)
    found = estimate_metric(
        counts,
        exact,
        metric,
        threshold=threshold,
        target=target,
        confidence_level=confidence_level,
    )
    if span is None or "prevalence" not in found.needs or math.isnan(found.value):
        return found
    least, most = metric_facts(metric).range
    middle = metric_value(counts, exact, metric, threshold)
    ends = [
        found.value + metric_value(counts, with_share(exact, share), metric, threshold) - middle
        for share in (min(span.low, value), min(max(span.high, value), exact.label_purity - 1e-6))
    ]
    z = float(ndtri((1 + confidence_level) / 2))
    low = found.value - math.hypot(found.value - found.low, max(found.value - min(ends), 0.0))
    high = found.value + math.hypot(found.high - found.value, max(max(ends) - found.value, 0.0))
    from_share = abs(ends[1] - ends[0]) / (2 * z)
    return replace(
        found,
        low=max(low, least),
        high=min(high, most),
        standard_error=math.hypot(found.standard_error, from_share),
        method=f"{found.method}, share end by end",
    )


def _exact(shares: Shares) -> Shares:
    """Return the same shares, that of the hidden positives as if it were known."""
    purity, span = shares.label_purity, shares.label_purity_interval
    told: float | tuple[float, float] | Estimate = purity
    if span is not None:
        error = shares.label_purity_error
        told = Estimate(purity, span.low, span.high, error) if error else (span.low, span.high)
    # An estimate, not a number that was stated: the interval of the purity may reach below it.
    share = Estimate(shares.unlabeled_prevalence, math.nan, math.nan)
    return Shares(share, told, shares.sampling)
