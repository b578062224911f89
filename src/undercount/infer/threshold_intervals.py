"""Intervals of threshold metrics: the rates with one source of chance at a time at its limits.

A metric is read at the estimated rates and at the limits of each source; the distances add in
squares, each side by itself (Zou and Donner's MOVER), so that no limit leaves the metric's range.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray, read_metric
from undercount.estimate import possible_interval
from undercount.infer.heads import (
    FlaggedCounts,
    IntervalKind,
    RatePoint,
    TopRows,
    dataset_recall,
    fit,
    head_spread,
    pool_hits,
    top_heads,
    two_sided_z,
    wilson_share,
)
from undercount.infer.mixture import (
    LABELLED,
    NEGATIVE,
    RATE_TOLERANCE,
    ROW_KINDS,
    UNLABELED,
    Misfit,
    MixtureDesign,
)
from undercount.infer.variance import Found
from undercount.metric_facts import FACTS
from undercount.shares import clip_purity, clip_share

Pair: TypeAlias = tuple[RatePoint, RatePoint]
Limits: TypeAlias = tuple[FloatArray, FloatArray]
NO_ERRORS = (0.0, 0.0)
_LEAST_DIVISOR = 1e-300  # of a standard error that something is divided by
_END_ROUNDING = 1e-12
_MOST_Z = 1e50  # instead of infinity, which one cluster would need: its square has room too


@dataclass(frozen=True)
class RateLimits:
    """Hold the estimated rates, and the rates with one source of chance at its two limits."""

    base: RatePoint
    pairs: list[Pair]

    @cached_property
    def points(self) -> list[RatePoint]:
        """The rates, the nearest ones inside [0, 1], and those at the limits."""
        return [self.base, self.base.capped(), *itertools.chain(*self.pairs)]


Form: TypeAlias = Callable[[FlaggedCounts, float, IntervalKind], RateLimits]


def threshold_estimates(
    counts: ScoreCounts,
    design: MixtureDesign,
    names: Sequence[str],
    *,
    threshold: float | None,
    top: float | None = None,
    beta: float,
    confidence_level: float,
    kind: IntervalKind,
    errors: tuple[float, float],
    known: Limits | None = None,
) -> list[Found]:
    """Return threshold metrics with intervals; `errors` are those of share and purity.

    Metrics that are made alike are read together. `known` are limits that hold whatever is hidden,
    where the design does not know them.
    """
    if top is None:
        heads = FlaggedCounts.at(counts, design, cast("float", threshold))
    else:
        heads = top_heads(counts, design, top)
    alike: dict[Any, list[str]] = {}
    for name in names:
        plain = design.pure and "prevalence" not in FACTS[name].needs
        alike.setdefault((plain, _form_of(heads, name), FACTS[name].scale == "log"), []).append(
            name
        )
    found: dict[str, Found] = {}
    for (plain, *_), group in alike.items():
        own = (0.0, errors[1]) if plain else errors  # whatever the prevalence
        parts = threshold_interval(
            heads,
            group,
            confidence_level=confidence_level,
            kind=kind,
            beta=beta,
            errors=own,
            known=known,
        )
        deviations = _deviations(heads, group, own, beta, parts, confidence_level)
        raw = read_metric([heads.point], group, beta)[0]
        method = method_name(design, kind)
        numbers = np.transpose(np.broadcast_arrays(*parts, deviations, raw)).tolist()
        for name, (value, low, high, error, other) in zip(group, numbers, strict=True):
            off, misfit = abs(other - value), None
            if not plain and off > RATE_TOLERANCE * max(1.0, abs(value)):
                misfit = _misfit(heads, name, other, off / max(error, _LEAST_DIVISOR), own)
            found[name] = Found(value, low, high, error, method, misfit)
    return [found[name] for name in names]


def threshold_estimate(
    counts: ScoreCounts, design: MixtureDesign, name: str, **options: Any
) -> Found:
    """Return a threshold metric with its interval, by the options of `threshold_estimates`."""
    return threshold_estimates(counts, design, [name], **options)[0]


def _deviations(
    heads: FlaggedCounts,
    names: Sequence[str],
    errors: tuple[float, float],
    beta: float,
    parts: tuple[FloatArray, FloatArray, FloatArray],
    confidence_level: float,
) -> FloatArray:
    """Return the standard errors of metrics that are made alike."""
    if _is_top_share(heads):
        with np.errstate(invalid="ignore"):  # at the level 1 no end is finite
            errors_of_all = (parts[2] - parts[1]) / (2 * two_sided_z(confidence_level))
    else:
        moves = head_spread(heads, names, beta)
        # A rate next to 0 below a ratio, or labels that are all tied: the error has no end.
        with np.errstate(over="ignore", divide="ignore"):
            added = moves.from_shares(errors) if any(errors) else 0.0
            errors_of_all = np.sqrt(moves.variance + added)
    if "predicted_positive_rate" not in names:
        return np.asarray(errors_of_all)
    flagged = np.array([name == "predicted_positive_rate" for name in names])
    return np.where(flagged, math.sqrt(_flagged_variance(heads)), errors_of_all)


def intervals_at_shares(
    counts: ScoreCounts,
    design: MixtureDesign,
    name: str,
    threshold: float,
    shares: FloatArray,
    *,
    confidence_level: float,
) -> tuple[FloatArray, FloatArray, FloatArray, NDArray[np.bool_]]:
    """Return value and interval of a threshold metric at many shares, and which of these fit.

    A share does not fit where it makes a rate leave [0, 1] and the metric had to be pulled back.
    """
    head = FlaggedCounts.at(counts, design, threshold).heads
    heads = FlaggedCounts(np.repeat(head[:, None], len(shares), 1), design.at_shares(shares))
    value, low, high = threshold_interval(heads, name, confidence_level=confidence_level)
    point = heads.point
    outside = np.maximum(
        np.maximum(-point.tpr, point.tpr - 1), np.maximum(-point.fpr, point.fpr - 1)
    )
    with np.errstate(all="ignore"):
        pulled = np.abs(point.metric(name) - value) > RATE_TOLERANCE * np.maximum(
            1.0, np.abs(value)
        )
    plain = design.pure and "prevalence" not in FACTS[name].needs
    fits = plain | ~((outside > RATE_TOLERANCE) & pulled)
    least, most = FACTS[name].range
    unknown = np.isnan(value)
    low = np.where(unknown, least, np.minimum(low, value))
    high = np.where(unknown, most, np.maximum(high, value))
    return np.broadcast_to(value, fits.shape), low, high, fits


def threshold_interval(
    counts: FlaggedCounts,
    names: str | Sequence[str],
    *,
    confidence_level: float,
    kind: IntervalKind = "wilson",
    beta: float = 1.0,
    errors: tuple[Any, Any] = NO_ERRORS,
    known: Limits | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return value and interval of a threshold metric, for one threshold or for many at once.

    Or of several metrics at one threshold that are made alike. `errors` are those of share and
    purity, each one number or an array like the heads. For these very rows value and interval end
    where their labels rule values out, whatever the shares; `known` are such limits where the
    design does not know the labels themselves.
    """
    design = counts.design
    limits = rate_limits(counts, names, confidence_level=confidence_level, kind=kind)
    points = limits.points
    if any(np.any(error) for error in errors):
        more = _share_pairs(counts, errors, two_sided_z(confidence_level))
        points = [*points, *itertools.chain(*more)]
    middle, value, *ends = read_metric(points, names, beta)
    if design.counted and design.pure:
        known = certain_limits(counts, names, beta)
    if known is None:
        return value, *combine(middle, ends, names, near=value)
    inside = np.asarray(np.clip(value, *known))
    with np.errstate(invalid="ignore"):  # an infinite ratio is itself
        inside = np.where(np.abs(inside - value) > _END_ROUNDING, inside, value)
    return inside, *combine(middle, ends, names, known, near=inside)


def metric_range(names: str | Sequence[str]) -> tuple[Any, Any]:
    """Return the least and the largest value of a metric, or of each of several."""
    if isinstance(names, str):
        return FACTS[names].range
    least, most = np.array([FACTS[name].range for name in names]).T
    return least, most


def rate_limits(
    counts: FlaggedCounts,
    names: str | Sequence[str],
    *,
    confidence_level: float,
    kind: IntervalKind = "wilson",
) -> RateLimits:
    """Return the sources of chance that matter for a metric under the counts' design."""
    form = _form_of(counts, names if isinstance(names, str) else names[0])
    question = form, confidence_level, kind
    limits: RateLimits | None = counts.limits.get(question)
    if limits is None:
        limits = counts.limits[question] = form(counts, confidence_level, kind)
    return limits


def _form_of(counts: FlaggedCounts, name: str) -> Form:
    """Return which form of limits serves a metric."""
    if _is_top_share(counts):
        return _top_share
    return next(form for applies, form in _FORMS if applies(counts.design, name))


def combine(
    middle: FloatArray,
    ends: list[FloatArray],
    names: str | Sequence[str],
    limits: Limits | None = None,
    near: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Add the distances to each source's limits in squares, side by side.

    The interval stays inside the metric's range, or the narrower `limits`. Rates outside [0, 1] may
    make an estimate impossible inside that range too; `near` is then the nearest possible value,
    and the end on its side is that of an estimate which passed it. Where the estimate or one of the
    limits is 0/0 or infinite by division by 0, nothing is known.
    """
    unbounded = FACTS[names if isinstance(names, str) else names[0]].scale == "log"
    least, most = limits or metric_range(names)
    near = middle if near is None else near
    below: Any = 0.0
    above: Any = 0.0
    with np.errstate(invalid="ignore", divide="ignore"):
        if unbounded:
            # A ratio may be infinite; x/(1+x) is in [0, 1] and keeps the order.
            middle, near, least, most, *ends = (
                np.where(np.isinf(x), 1.0, x / (1 + x))
                for x in map(np.asarray, (middle, near, least, most, *ends))
            )
        for one, other in zip(ends[::2], ends[1::2], strict=True):
            below = below + np.maximum(middle - np.minimum(one, other), 0.0) ** 2
            above = above + np.maximum(np.maximum(one, other) - middle, 0.0) ** 2
        low, high = middle - np.sqrt(below), middle + np.sqrt(above)
        low = np.fmin(low, possible_interval(middle, low, high, -np.inf, near)[0])
        high = np.fmax(high, possible_interval(middle, low, high, near, np.inf)[1])
        low, high = np.clip(low, least, most), np.clip(high, least, most)
        low = np.where(np.isfinite(middle) & ~np.isnan(low), low, least)
        high = np.where(np.isfinite(middle) & ~np.isnan(high), high, most)
        if unbounded:
            high = np.where(high > 1 - _END_ROUNDING, 1.0, high)  # no end, however it was rounded
            low, high = low / (1 - low), high / (1 - high)
    return low, high


def _plain(counts: FlaggedCounts, confidence_level: float, kind: IntervalKind) -> RateLimits:
    """Recall g and flagged share Q are enough; a prevalence of 0 makes the second rate Q."""
    design, rates, z = counts.design, counts.rates, two_sided_z(confidence_level)
    everyone = fit(design.mixing.everyone, rates)
    if not design.share_known and design.sampling == "single-sample":
        everyone = counts.sizes / counts.sizes.sum(axis=0)

    def point(rates: FloatArray, everyone: Any = everyone) -> RatePoint:
        return RatePoint(rates[LABELLED], (everyone * rates).sum(axis=0), 0.0)

    base = point(rates)
    if design.target == "dataset":
        low, high = dataset_recall(counts, confidence_level, kind)
        ends = replace(base, tpr=low), replace(base, tpr=high)
        return RateLimits(base, [_without_positives(*ends)])
    pairs = [(point(low), point(high)) for low, high in _moved_rates(counts, z)]
    if design.sampling == "single-sample":
        low, high = (sizes / sizes.sum(axis=0) for sizes in _moved_sizes(counts, z))
        pairs.append((point(rates, low), point(rates, high)))
    return RateLimits(base, pairs)


def _true_positives(
    counts: FlaggedCounts, confidence_level: float, kind: IntervalKind
) -> RateLimits:
    """Move the number of true positives, the one unknown (Tabatabaei et al. 2020)."""
    design, positives = counts.design, np.asarray(counts.design.mixing.positives, dtype=float)
    taken = counts.heads[LABELLED] if design.sampling == "case-control" else 0.0
    low, high = pool_hits(counts, confidence_level, kind)
    hits = np.asarray(counts.point.tpr) * positives
    span = possible_hits(counts, positives)
    limits = possible_interval(hits, low - taken, high - taken, *span)
    ends = [table_point(counts, end, positives) for end in limits]
    base, table = counts.point.capped(), table_point(counts, hits, positives)
    # Where no row is flagged, a table has no precision to tell.
    outside = ((hits < span[0]) | (hits > span[1])) & (span[1] > 0)
    base = RatePoint(
        np.where(outside, table.tpr, base.tpr),
        np.where(outside, table.fpr, base.fpr),
        base.prevalence,
    )
    return RateLimits(base, [_without_positives(*ends)])


def _without_positives(low: RatePoint, high: RatePoint) -> Pair:
    """Nothing is known of the recall of rows none of which is positive."""
    return (
        replace(low, tpr=np.where(np.isnan(low.tpr), 0.0, low.tpr)),
        replace(high, tpr=np.where(np.isnan(high.tpr), 1.0, high.tpr)),
    )


def table_point(counts: FlaggedCounts, true_positives: Any, positives: Any) -> RatePoint:
    """Rates of a table; no cell is negative or smaller than the rows known to be in it."""
    heads, sizes = counts.heads, counts.sizes
    if counts.design.sampling == "case-control":
        flagged, total = heads[UNLABELED], sizes[UNLABELED]
    else:
        flagged, total = heads.sum(axis=0), sizes.sum(axis=0)
    least, most = possible_hits(counts, positives)
    hits = np.maximum(np.minimum(true_positives, most), least)
    rates = table_rates(hits, positives, flagged, total)
    return RatePoint(np.clip(rates.tpr, 0, 1), np.clip(rates.fpr, 0, 1), rates.prevalence)


def possible_hits(counts: FlaggedCounts, positives: Any) -> tuple[Any, Any]:
    """Return how many flagged rows are positive at least and at most, so many rows being so."""
    heads, tails = counts.heads, counts.sizes - counts.heads
    if counts.design.sampling == "case-control":
        return np.maximum(positives - tails[UNLABELED], 0.0), np.minimum(
            heads[UNLABELED], positives
        )
    room, rest = heads[LABELLED] + heads[UNLABELED], tails[LABELLED] + tails[UNLABELED]
    least = np.maximum(heads[LABELLED], positives - rest)
    return least, np.minimum(room, positives - tails[LABELLED])


def table_rates(hits: Any, positives: Any, flagged: Any, total: Any) -> RatePoint:
    """Return the rates of a table with so many hits, positives, flagged rows, rows in all."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return RatePoint(
            hits / positives, (flagged - hits) / (total - positives), positives / total
        )


def population_limits(
    counts: FlaggedCounts, confidence_level: float, _: IntervalKind
) -> RateLimits:
    """Move the rates of labelled, unlabeled, known negatives; then sizes or composition.

    Rates outside [0, 1] are kept: capped ones would hide a part of their distances.
    """
    design, z, base = counts.design, two_sided_z(confidence_level), counts.point
    pairs = [
        (counts.at_rates(low).point, counts.at_rates(high).point)
        for low, high in _moved_rates(counts, z)
    ]
    if design.sampling == "case-control":
        return RateLimits(base, pairs)
    if design.given == "positives":
        prevalence = np.asarray(base.prevalence, dtype=float)
        low, high = wilson_share(prevalence, design.effective_total, z)
        moved = (replace(base, prevalence=end, flagged=None) for end in (low, high))
    else:
        moved = (counts.with_sizes(sizes).point for sizes in _moved_sizes(counts, z))
    return RateLimits(base, [*pairs, (next(moved), next(moved))])


def _is_top_share(counts: FlaggedCounts) -> bool:
    """Whether a share of a population's highest rows is meant: where it starts is estimated."""
    return counts.top is not None and counts.design.target == "population" and counts.design.pure


def _top_share(counts: FlaggedCounts, confidence_level: float, _: IntervalKind) -> RateLimits:
    """Move the recall of the highest rows, whose share is fixed, and then the prevalence.

    Recall at the share Q is that above an estimated quantile: with slope ρ of recall by Q its
    variance is V(1/n_L - 2ρ/n) + ρ² W/n, in case-control without the middle term; V = g(1-g) and
    W = Q(1-Q) unless rows are tied there. It enters Wilson's interval as an effective size.
    """
    design, z = counts.design, two_sided_z(confidence_level)
    base, top = counts.point, cast("TopRows", counts.top)
    rate, flagged = counts.rates[LABELLED], np.asarray(base.predicted_positive_rate)
    apart = design.sampling == "case-control"
    total = design.effective[UNLABELED] if apart else design.effective_total
    total = total if top.rows is None else top.rows  # the share is one of rows, not of weights
    spread = rate * (1 - rate)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = spread / design.effective[LABELLED] + top.slope**2 * top.everyone / total
        if not apart:
            variance = np.maximum(variance - 2 * top.slope * top.labelled / total, variance / 4)
        size = np.where(spread > 0, spread / variance, design.effective[LABELLED])

    def point(recall: Any, prevalence: Any) -> RatePoint:
        fpr = (flagged - prevalence * recall) / (1 - prevalence)
        return RatePoint(recall, fpr, prevalence, flagged)

    prevalence = np.asarray(base.prevalence, dtype=float)
    low, high = wilson_share(rate, size, z)
    pairs = [(point(low, prevalence), point(high, prevalence))]
    if not apart and design.share_known and design.given != "prevalence":
        if design.given == "positives":
            ends = wilson_share(prevalence, design.effective_total, z)
        else:
            moved = [counts.with_sizes(sizes).point for sizes in _moved_sizes(counts, z)]
            ends = moved[0].prevalence, moved[1].prevalence
        pairs.append((point(rate, ends[0]), point(rate, ends[1])))
    return RateLimits(point(rate, prevalence), pairs)


def _moved_rates(counts: FlaggedCounts, z: float) -> list[tuple[FloatArray, FloatArray]]:
    """Return the rates with one kind's at its limits, for each kind that has rows."""
    moved = []
    for kind in ROW_KINDS:
        if not np.any(counts.design.sizes[kind] > 0):
            continue
        ends = []
        for limit in wilson_share(counts.rates[kind], counts.design.effective[kind], z):
            rates = counts.rates.copy()
            rates[kind] = limit
            ends.append(rates)
        moved.append((ends[0], ends[1]))
    return moved


def _moved_sizes(counts: FlaggedCounts, z: float) -> list[FloatArray]:
    """Return the sizes with the share of labelled rows at its limits, the total the same."""
    design, sizes = counts.design, counts.sizes
    total = sizes.sum(axis=0)
    moved = []
    for limit in wilson_share(sizes[LABELLED] / total, design.effective_total, z):
        labelled = limit * total
        if design.share_known and design.given == "prevalence":
            # There cannot be more labelled positives than positives.
            labelled = np.minimum(labelled, design.value * total / design.label_purity)
        # A trace of unlabeled rows is left, of which there is a share.
        labelled = np.minimum(labelled, (total - sizes[NEGATIVE]) * (1 - 1e-9))
        moved.append(np.stack([labelled, total - sizes[NEGATIVE] - labelled, sizes[NEGATIVE]]))
    return moved


def _impure(counts: FlaggedCounts, confidence_level: float, _: IntervalKind) -> RateLimits:
    """Metrics of these rows with impure labels: the labelled rate moves, all rows stay."""
    design, mixing = counts.design, counts.design.mixing
    effective = design.effective
    if design.sampling == "case-control":
        hidden = mixing.unlabeled_prevalence * effective[UNLABELED]
        size = effective[LABELLED] * hidden / (effective[LABELLED] + hidden)
    else:
        drawn = design.label_purity * design.sizes[LABELLED] / mixing.positives
        with np.errstate(divide="ignore"):
            size = effective[LABELLED] / (1 - design.label_purity * np.clip(drawn, 0, 1))
    limits = wilson_share(counts.rates[LABELLED], size, two_sided_z(confidence_level))
    points = []
    for end, limit in enumerate(limits):
        heads = counts.heads.copy()
        # Nothing is known of the recall of rows none of which is positive.
        heads[LABELLED] = np.where(size > 0, limit, end) * counts.sizes[LABELLED]
        if design.sampling == "single-sample":
            heads[UNLABELED] -= heads[LABELLED] - counts.heads[LABELLED]
        points.append(FlaggedCounts(heads, design).point)
    return RateLimits(counts.point, [(points[0], points[1])])


def _by_prediction(counts: FlaggedCounts, confidence_level: float, _: IntervalKind) -> RateLimits:
    """Label frequency c known: labelled rows among those predicted positive, and among the others.

    For these rows S1 is binomial (P1, c), for the population binomial (M1, c · precision). Limits
    may lie outside what the rows allow (fewer positives than labels, more than rows): cut there
    they would be no limits of 97.5 % any more, and distances to them too short to add in squares.
    """
    design, heads, sizes = counts.design, counts.heads, counts.sizes
    z, frequency = two_sided_z(confidence_level), np.asarray(design.value, dtype=float)
    flagged, total = heads.sum(axis=0), sizes.sum(axis=0)
    seen = heads[LABELLED], sizes[LABELLED] - heads[LABELLED]
    hits, misses = (np.asarray(labelled / frequency) for labelled in seen)
    # At least half a row is negative: the false-positive rate needs some.
    most = total - design.units[LABELLED] / 2

    def point(hits: Any, misses: Any) -> RatePoint:
        with np.errstate(divide="ignore", invalid="ignore"):
            fitting = np.minimum(1.0, most / (hits + misses))
        return table_rates(hits * fitting, (hits + misses) * fitting, flagged, total)

    if design.target == "dataset":
        limits = [number_limits(labelled, frequency, z, design) for labelled in seen]
    else:
        limits = [
            _positives_among(rows, labelled, frequency, z, design)
            for labelled, rows in zip(seen, (flagged, total - flagged), strict=True)
        ]
    base = point(hits, misses)
    pairs = [
        (point(limits[0][0], misses), point(limits[0][1], misses)),
        (point(hits, limits[1][0]), point(hits, limits[1][1])),
    ]
    if design.target == "population":
        pairs.append(_flagged_pair(counts, base, z))
    return RateLimits(base, pairs)


def number_limits(
    labelled: Any, frequency: Any, z: float, design: MixtureDesign
) -> tuple[FloatArray, FloatArray]:
    """Score limits of a number of rows each labelled with the same known probability."""
    z = min(z, _MOST_Z)
    missed = (1 - frequency) * design.inflation[LABELLED]
    middle = labelled + z * z * missed / 2
    half = z * np.sqrt(missed) * np.sqrt(labelled + z * z * missed / 4)
    return (middle - half) / frequency, (middle + half) / frequency


def _positives_among(
    rows: Any, labelled: Any, frequency: Any, z: float, design: MixtureDesign
) -> tuple[FloatArray, FloatArray]:
    """Limits of the positives among some rows; of no rows none is positive, for certain."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(rows > 0, labelled / rows, 0.0)
    ends = wilson_share(share, rows / design.inflation[LABELLED], z)
    low, high = (np.where(rows > 0, end * rows / frequency, 0.0) for end in ends)
    return low, high


def _flagged_pair(counts: FlaggedCounts, base: RatePoint, z: float) -> Pair:
    """Move the share predicted positive; precision and negative predictive value stay."""
    flagged = np.asarray(base.predicted_positive_rate)
    precision, npv = base.metric("precision"), base.metric("npv")
    points = []
    for share in wilson_share(flagged, counts.design.effective_total, z):
        hits = share * np.nan_to_num(precision)
        misses = (1 - share) * (1 - np.nan_to_num(npv, nan=1.0))
        points.append(table_rates(hits, hits + misses, share, 1.0))
    return points[0], points[1]


def _share_pairs(heads: FlaggedCounts, errors: tuple[Any, Any], z: float) -> list[Pair]:
    """Return the rates with an uncertain share at its two limits."""
    design = heads.design
    share, purity = design.mixing.unlabeled_prevalence, design.label_purity
    moved = []
    if np.any(errors[0]):
        ends = clip_share([share - z * errors[0], share + z * errors[0]], purity)
        moved.append([replace(design, given="unlabeled_prevalence", value=end) for end in ends])
    if np.any(errors[1]):
        ends = clip_purity([purity - z * errors[1], purity + z * errors[1]], share)
        moved.append([replace(design, label_purity=end) for end in ends])
    points = [[FlaggedCounts(heads.heads, other).point for other in pair] for pair in moved]
    return [(low, high) for low, high in points]


# These move with recall more than with the number of positives predicted positive.
_RECALL_LIKE = frozenset(
    {"balanced_accuracy", "informedness", "geometric_mean", "negative_likelihood_ratio"}
)
# Which form serves which metric: the first whose condition holds. In a population, recall-like
# metrics do better by the rates of each kind of rows than by the labels on either side.
_FORMS: tuple[tuple[Callable[[MixtureDesign, str], bool], Form], ...] = (
    (lambda design, name: design.pure and "prevalence" not in FACTS[name].needs, _plain),
    (
        lambda design, name: (
            design.pure
            and design.frequency_known
            and (design.target == "dataset" or name not in _RECALL_LIKE)
        ),
        _by_prediction,
    ),
    (lambda design, _: design.target == "population", population_limits),
    (lambda design, _: design.pure, _true_positives),
    (lambda _, __: True, _impure),
)


def certain_limits(
    counts: FlaggedCounts, names: str | Sequence[str], beta: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """Return the limits of a metric of these rows that hold whatever the unlabeled rows are.

    Rows labelled positive are positive, those labelled negative are not. Every metric moves one
    way with the true positives and the other way with the false negatives, so it is extreme where
    all unlabeled rows speak for the classifier, or all against it. Where a corner is 0/0 nothing
    is certain.
    """
    corners = read_metric(_corners(counts), names, beta)
    least, most = (
        [np.where(np.isnan(end), limit, end) for end in corners] for limit in metric_range(names)
    )
    return np.fmin(*least), np.fmax(*most)


def _corners(counts: FlaggedCounts) -> tuple[RatePoint, RatePoint]:
    """Return the rates if all unlabeled rows speak against the classifier, and if all speak for it.

    Every metric at a threshold asks for them.
    """
    corners: tuple[RatePoint, RatePoint] | None = counts.limits.get("corners")
    if corners is None:
        heads, tails = counts.heads, counts.sizes - counts.heads
        hits, misses, alarms, rest = (
            side[kind] for kind in (LABELLED, NEGATIVE) for side in (heads, tails)
        )
        above, below = heads[UNLABELED], tails[UNLABELED]
        corners = counts.limits["corners"] = (
            _table_point(hits, misses + below, alarms + above, rest),
            _table_point(hits + above, misses, alarms, rest + below),
        )
    return corners


def _table_point(hits: Any, misses: Any, alarms: Any, rest: Any) -> RatePoint:
    """Return the rates of a table.

    A rate of 1 is made of equal sums of weights: as a difference it might be above 1 by rounding,
    and 1 - it a negative number to divide by.
    """
    positives, negatives = hits + misses, alarms + rest
    with np.errstate(divide="ignore", invalid="ignore"):
        return RatePoint(hits / positives, alarms / negatives, positives / (positives + negatives))


def method_name(design: MixtureDesign, kind: IntervalKind) -> str:
    """Name how the interval of a threshold metric is found."""
    exact = design.target == "dataset" and design.share_known
    if exact and design.given != "label_frequency" and design.counts_rows:
        return kind
    return "wilson"


def _flagged_variance(heads: FlaggedCounts) -> float:
    """Variance of the share predicted positive, 0 for these very rows."""
    design = heads.design
    if design.target == "dataset" or heads.top is not None:
        return 0.0
    rate = min(float(design.mixing.everyone @ heads.rates), 1.0)  # by rounding
    apart = design.sampling == "case-control"
    size = design.effective[UNLABELED] if apart else design.effective_total
    return rate * (1 - rate) / float(size)


def _misfit(
    heads: FlaggedCounts, name: str, raw: float, own: float, share_errors: tuple[float, float]
) -> Misfit:
    """Say how far the recovered rates are outside [0, 1], or the metric outside what is possible.

    Rates alone do not know the rows labelled negative. `raw` is the metric of the rates as they
    are, `own` its distance in standard errors from what is possible.
    """
    point = heads.point
    rates = {"tpr": float(point.tpr), "fpr": float(point.fpr)}
    beyond = {rate: max(-value, value - 1, 0.0) for rate, value in rates.items()}
    worst = max(beyond, key=lambda rate: beyond[rate])

    def largest() -> float:
        return _largest_share(heads)

    if beyond[worst] <= RATE_TOLERANCE:
        return Misfit(name, raw, own, largest, refused=False)
    moves = head_spread(heads, worst)
    variance = moves.variance + (moves.from_shares(share_errors) if any(share_errors) else 0.0)
    errors = beyond[worst] / max(math.sqrt(variance), _LEAST_DIVISOR)
    return Misfit(f"the {worst} at this threshold", rates[worst], errors, largest)


def _largest_share(heads: FlaggedCounts) -> float:
    """Return the largest share for which the false-positive rate stays in [0, 1] (κq ≥ ag)."""
    labelled, unlabeled = float(heads.rates[LABELLED]), float(heads.rates[UNLABELED])
    purity = float(heads.design.label_purity)
    # Below 0 from the head's side, above 1 from the tail's.
    return purity * min(_ratio(unlabeled, labelled), _ratio(1 - unlabeled, 1 - labelled))


def _ratio(top: float, bottom: float) -> float:
    return float(top / bottom) if bottom > 0 else math.inf
