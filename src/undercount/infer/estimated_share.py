"""The interval of an estimated share in the interval of a metric, end by end."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from undercount.counts import ScoreCounts
from undercount.curve import PARAMETRIC, metric_names
from undercount.errors import collect_warnings
from undercount.estimate import Estimate
from undercount.infer.estimate_metric import estimate_metric
from undercount.infer.heads import FlaggedCounts, wilson_share
from undercount.infer.mixture import LABELLED, Target, design_of, mixture_curve
from undercount.infer.sensitivity import SWEPT_AREAS, metric_value
from undercount.infer.shared_labels import (
    NOT_SHARED,
    LabelPart,
    SharedLabels,
    cut_sides,
    over_share,
)
from undercount.infer.threshold_intervals import certain_limits
from undercount.metric_facts import FACTS
from undercount.shares import Shares

# Shares, from the lower end of an interval to the estimate, at which the labels' chance is read.
READ_SHARES = 5


def estimate_end_by_end(
    counts: ScoreCounts,
    shares: Shares,
    metric: str,
    *,
    threshold: float | None,
    target: Target,
    confidence_level: float,
    label_part: LabelPart | None = None,
    **others: Any,
) -> Estimate:
    """Estimate a metric whose share was estimated on the same rows, with a wide, skew interval.

    The distance to the metric at either end of the share's interval and the distance to the end
    of the interval at the share itself add in squares, each side by itself (Zou and Donner's
    MOVER). A slope would carry a wide interval of the share far outside what its ends allow.
    `label_part` says how far the labels are in the share, so that what they do to both is not
    added twice (`SharedLabels`); `others` are what else `estimate_metric` takes.

    Notes
    -----
    Assumes: the error of the share is independent of the chance of the labels, and its interval
    has the same confidence level.
    Wrong when: few rows are labelled and the share hangs on the same few; `evaluate` with
    ``RandomLabels(interval="combined")`` resamples both together.
    """
    options: dict[str, Any] = {
        "threshold": threshold,
        "target": target,
        "confidence_level": confidence_level,
        **others,
    }
    span = shares.unlabeled_prevalence_interval
    value = shares.unlabeled_prevalence
    exact = shares.with_unlabeled_prevalence(value)
    alone = shares.label_purity == 1 and not FACTS[metric].needs_prevalence
    result = estimate_metric(counts, shares if alone else exact, metric, **options)
    if span is None or "prevalence" not in result.needs or math.isnan(result.value):
        return result
    sides = (
        exact.with_unlabeled_prevalence(min(span.low, value)),
        exact.with_unlabeled_prevalence(exact.clip(max(span.high, value))),
    )
    middle, *moved = (_value(counts, each, metric, options) for each in (exact, *sides))
    z, heads = float(ndtri((1 + confidence_level) / 2)), None
    if threshold is not None and others.get("top") is None:
        heads = FlaggedCounts.at(
            counts, design_of(counts, exact, exact.sampling, target), threshold
        )
    if (heads and not leaves_room(heads, z)) or others.get("top") is not None:
        places = np.linspace(sides[0].unlabeled_prevalence, value, READ_SHARES)[:-1].tolist()
        below = [exact.with_unlabeled_prevalence(share) for share in places]
        result = _widen(result, counts, below, metric, options)
    # Areas are corrected for chance, which the curve's are not. A threshold metric that rates
    # outside [0, 1] had pulled back must not pull its ends along.
    shift = result.value - middle if threshold is None else 0.0
    ends = [end + shift for end in moved]
    both, cut = NOT_SHARED, (False, False)
    if label_part is not None and heads:
        both = SharedLabels.of(heads, metric, [label_part], z)
        cut = cut_sides([_raw_value(counts, each, metric, options) for each in sides], ends)
    low, high = (
        end.item() for end in over_share(result.value, (result.low, result.high), ends, both, cut)
    )
    half = abs(ends[1] - ends[0]) / 2
    least, most = FACTS[metric].range
    if heads and heads.design.counted and heads.design.pure:  # whatever the share
        least, most = map(float, certain_limits(heads, metric, others.get("beta", 1.0)))
    return replace(
        result,
        low=min(max(low, least), result.value),
        high=max(min(high, most), result.value),
        standard_error=both.reach(z * result.standard_error, half, cut=any(cut)).item() / z,
        method=f"{result.method}, share end by end",
    )


def leaves_room(heads: FlaggedCounts, z: float) -> NDArray[np.bool_]:
    """Whether labels may go either way by chance without a cell of the table going below 0.

    Wilson's limits for labels drawn from many positives are wider than those in use.
    """
    design, point = heads.design, heads.point
    low, high = wilson_share(heads.rates[LABELLED], design.effective[LABELLED], z)
    share = np.asarray(point.prevalence)
    alarms, spared = (1 - share) * point.fpr, (1 - share) * (1 - point.fpr)
    inside = (share * (high - point.tpr) < alarms) & (share * (point.tpr - low) < spared)
    return np.asarray(inside & design.pure)


def _raw_value(counts: ScoreCounts, shares: Shares, metric: str, options: dict[str, Any]) -> float:
    """Return a metric at a threshold, of rates that may lie outside [0, 1]."""
    place = {name: options[name] for name in ("top", "beta") if name in options}
    return metric_value(counts, shares, metric, options["threshold"], **place)


def _widen(
    found: Estimate,
    counts: ScoreCounts,
    others: Sequence[Shares],
    metric: str,
    options: dict[str, Any],
) -> Estimate:
    """Let the chance of the labels reach as far as at any of the other, smaller shares.

    Where a share leaves no room (nearly every flagged row would be positive), labels seem to have
    no chance to one side; at a smaller share they have.
    """
    with collect_warnings():  # the estimate itself has warned
        moved_ones = [estimate_metric(counts, each, metric, **options) for each in others]
    existing = [each for each in moved_ones if not math.isnan(each.value)]
    below = max([found.value - found.low, *(each.value - each.low for each in existing)])
    above = max([found.high - found.value, *(each.high - each.value for each in existing)])
    return replace(found, low=found.value - below, high=found.value + above)


def _value(counts: ScoreCounts, shares: Shares, metric: str, options: dict[str, Any]) -> float:
    """Return a metric at a known share: of the curve, if the curve has it."""
    if metric == "average_precision":  # which moves as the plug-in value does
        return float(mixture_curve(counts.canonical, shares, clean=False).average_precision)
    if metric in (*SWEPT_AREAS, *metric_names(), *PARAMETRIC, "tpr", "fpr"):
        place = {name: options[name] for name in ("top", "beta") if name in options}
        return metric_value(counts, shares, metric, options["threshold"], **place, capped=True)
    with collect_warnings():  # the estimate itself has warned
        return estimate_metric(counts, shares, metric, **options).value
