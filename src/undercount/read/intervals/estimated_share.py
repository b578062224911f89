"""The interval of an estimated share in the interval of a metric, end by end."""

import math
from dataclasses import replace
from typing import Any

from scipy.special import ndtri

from undercount.assume.mixture import Target
from undercount.counts import ScoreCounts
from undercount.estimate import Estimate
from undercount.metric_facts import FACTS
from undercount.read.intervals.estimate import estimate_metric
from undercount.read.sensitivity import metric_value
from undercount.shares import Shares


def estimate_end_by_end(
    counts: ScoreCounts,
    shares: Shares,
    metric: str,
    *,
    threshold: float | None,
    target: Target,
    confidence_level: float,
    **place: Any,
) -> Estimate:
    """Estimate a metric whose share was estimated on the same rows, with a wide, skew interval.

    The distance to the metric at either end of the share's interval and the distance to the end
    of the interval at the share itself add in squares, each side by itself (Zou and Donner's
    MOVER). A slope would carry a wide interval of the share far outside what its ends allow.

    `place` may hold `top` and `beta`, as of `estimate_metric`.

    Notes
    -----
    Assumes: the error of the share is independent of the chance of the labels, and its interval
    has the same confidence level.
    Wrong when: few rows are labelled and the share hangs on the same few; `evaluate` with
    ``prevalence_interval="combined"`` resamples both together.
    """
    options: dict[str, Any] = {
        "threshold": threshold,
        "target": target,
        "confidence_level": confidence_level,
        **place,
    }
    span = shares.unlabeled_prevalence_interval
    value = shares.unlabeled_prevalence
    exact = shares.with_unlabeled_prevalence(value)
    alone = shares.label_purity == 1 and not FACTS[metric].needs_prevalence
    found = estimate_metric(counts, shares if alone else exact, metric, **options)
    if span is None or "prevalence" not in found.needs or math.isnan(found.value):
        return found
    least, most = FACTS[metric].range
    middle = metric_value(counts, exact, metric, threshold, **place)
    ends = [
        found.value + metric_value(counts, moved, metric, threshold, **place) - middle
        for moved in (
            exact.with_unlabeled_prevalence(min(span.low, value)),
            exact.with_unlabeled_prevalence(exact.clip(max(span.high, value))),
        )
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
