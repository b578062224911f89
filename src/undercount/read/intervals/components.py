"""The estimated rates, and the rates with one source of chance at its limits."""

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from undercount.curve import FloatArray
from undercount.read.intervals.design import LABELLED, UNLABELED
from undercount.read.intervals.exact import IntervalKind, two_sided_z, wilson_share
from undercount.read.intervals.limits import (
    certain_limits,
    dataset_recall,
    effective_total,
    moved_rates,
    moved_sizes,
    number_interval,
    pool_hits,
    seen_share,
    table_point,
)
from undercount.read.intervals.scales import metric_kind
from undercount.read.intervals.thresholds import HeadCounts, RatePoint, fit

Pair: TypeAlias = tuple[RatePoint, RatePoint]


@dataclass(frozen=True)
class Components:
    """Hold the estimated rates, and the rates with one source of chance at its two limits."""

    base: RatePoint
    pairs: list[Pair]


# With pure labels these follow from the labelled and all rows, whatever the prevalence.
PLAIN = frozenset({"recall", "tpr", "fnr", "lift", "lee_liu", "predicted_positive_rate"})
# These move with recall more than with the number of positives predicted positive.
_RECALL_LIKE = frozenset(
    {"balanced_accuracy", "informedness", "geometric_mean", "negative_likelihood_ratio"}
)


def head_interval(
    counts: HeadCounts,
    name: str,
    *,
    confidence_level: float,
    kind: IntervalKind = "wilson",
    beta: float = 1.0,
    more_pairs: list[Pair] | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return the interval of a threshold metric.

    `more_pairs` are the rates with an uncertain share at its two limits.
    """
    sources = components(counts, name, confidence_level=confidence_level, kind=kind)
    pairs = [*sources.pairs, *(more_pairs or [])]
    return possible(counts, name, beta, combined(sources.base, pairs, name, beta))


def possible(
    counts: HeadCounts, name: str, beta: float, interval: tuple[FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Cut an interval for these rows where their labels rule values out, whatever the shares."""
    design = counts.design
    counted = design.target == "dataset" and design.sampling == "single-sample"
    if not counted or np.any(np.asarray(design.label_purity) != 1):
        return interval
    least, most = certain_limits(counts, name, beta)
    return np.clip(interval[0], least, most), np.clip(interval[1], least, most)


def components(
    counts: HeadCounts, name: str, *, confidence_level: float, kind: IntervalKind = "wilson"
) -> Components:
    """Return the sources of chance that matter for a metric under the counts' design."""
    design, z = counts.design, two_sided_z(confidence_level)
    pure = bool(np.all(np.asarray(design.label_purity) == 1))
    if name in PLAIN and pure:
        return _plain(counts, z, confidence_level, kind)
    known_frequency = pure and design.share_known and design.given == "label_frequency"
    # In a population, recall-like metrics do better by the rates of each kind of rows.
    if known_frequency and (design.target == "dataset" or name not in _RECALL_LIKE):
        return by_prediction(counts, z)
    if design.target == "population":
        return _population(counts, z)
    if pure:
        return _counted(counts, confidence_level, kind)
    return _impure(counts, z)


def combined(
    base: RatePoint, pairs: list[Pair], name: str, beta: float
) -> tuple[FloatArray, FloatArray]:
    """Add the distances to each source's limits in squares, side by side.

    Where the estimate or one of the limits is 0/0 or infinite by division by 0, nothing is known.
    """
    unbounded = metric_kind(name).scale == "log"
    least, most = (0.0, 1.0) if unbounded else metric_kind(name).range

    def read(point: RatePoint) -> FloatArray:
        value = point.metric(name, beta)
        if not unbounded:
            return value
        # A ratio may be infinite; x/(1+x) is in [0, 1] and keeps the order.
        with np.errstate(invalid="ignore"):
            return np.where(np.isinf(value), 1.0, value / (1 + value))

    middle = read(base)
    below: Any = 0.0
    above: Any = 0.0
    with np.errstate(invalid="ignore"):
        for one, other in pairs:
            ends = read(one), read(other)
            below = below + np.maximum(middle - np.minimum(*ends), 0.0) ** 2
            above = above + np.maximum(np.maximum(*ends) - middle, 0.0) ** 2
        low = np.clip(middle - np.sqrt(below), least, most)
        high = np.clip(middle + np.sqrt(above), least, most)
    low = np.where(np.isfinite(middle) & ~np.isnan(low), low, least)
    high = np.where(np.isfinite(middle) & ~np.isnan(high), high, most)
    if unbounded:
        with np.errstate(divide="ignore"):
            low, high = low / (1 - low), high / (1 - high)
    return low, high


def _plain(counts: HeadCounts, z: float, confidence_level: float, kind: IntervalKind) -> Components:
    """Recall g and flagged share Q are enough; a prevalence of 0 makes the second rate Q."""
    design, rates = counts.design, counts.rates
    everyone = fit(design.mixing().everyone, rates)
    if not design.share_known and design.sampling == "single-sample":
        everyone = counts.sizes / counts.sizes.sum(axis=0)

    def point(rates: FloatArray, everyone: Any = everyone) -> RatePoint:
        return RatePoint(rates[LABELLED], (everyone * rates).sum(axis=0), 0.0)

    base = point(rates)
    if design.target == "dataset":
        recall = dataset_recall(counts, z, confidence_level, kind)
        ends = [replace(base, tpr=end) for end in recall]
        return Components(base, [_without_positives(ends)])
    pairs = [tuple(point(moved) for moved in ends) for ends in moved_rates(counts, z)]
    if design.sampling == "single-sample":
        ends = [sizes / sizes.sum(axis=0) for sizes in moved_sizes(counts, z)]
        pairs.append((point(rates, ends[0]), point(rates, ends[1])))
    return Components(base, pairs)  # type: ignore[arg-type]


def _counted(counts: HeadCounts, confidence_level: float, kind: IntervalKind) -> Components:
    """Move the number of true positives, the one unknown (Tabatabaei et al. 2020)."""
    design, positives = counts.design, np.asarray(counts.design.mixing().positives, dtype=float)
    taken = counts.heads[LABELLED] if design.sampling == "case-control" else 0.0
    low, high = pool_hits(counts, confidence_level, kind)
    ends = [table_point(counts, end - taken, positives) for end in (low, high)]
    return Components(counts.point().capped(), [_without_positives(ends)])


def _without_positives(ends: list[RatePoint]) -> Pair:
    """Nothing is known of the recall of rows none of which is positive."""
    low, high = (np.where(np.isnan(end.tpr), k, end.tpr) for k, end in enumerate(ends))
    return replace(ends[0], tpr=low), replace(ends[1], tpr=high)


def _population(counts: HeadCounts, z: float) -> Components:
    """Move the rates of labelled, unlabeled, known negatives; then sizes or composition.

    Rates outside [0, 1] are kept: capped ones would hide a part of their distances.
    """
    design = counts.design
    pairs: list[Pair] = []
    for ends in moved_rates(counts, z):
        points = [counts.at_rates(rates).point() for rates in ends]
        pairs.append((points[0], points[1]))
    base = counts.point()
    if design.sampling == "case-control":
        return Components(base, pairs)
    if design.given == "positives":
        prevalence = np.asarray(base.prevalence, dtype=float)
        ends = wilson_share(prevalence, effective_total(design), z)
        moved = [replace(base, prevalence=end, flagged=None) for end in ends]
        pairs.append((moved[0], moved[1]))
    else:
        points = [counts.with_sizes(s).point() for s in moved_sizes(counts, z)]
        pairs.append((points[0], points[1]))
    return Components(base, pairs)


def _impure(counts: HeadCounts, z: float) -> Components:
    """Metrics of these rows with impure labels: the labelled rate moves, all rows stay."""
    design, mixing = counts.design, counts.design.mixing()
    effective = design.effective
    if design.sampling == "case-control":
        hidden = mixing.unlabeled_prevalence * effective[UNLABELED]
        size = effective[LABELLED] * hidden / (effective[LABELLED] + hidden)
    else:
        drawn = design.label_purity * design.sizes[LABELLED] / mixing.positives
        with np.errstate(divide="ignore"):
            size = effective[LABELLED] / (1 - design.label_purity * np.clip(drawn, 0, 1))
    points = []
    for end, limit in enumerate(wilson_share(counts.rates[LABELLED], size, z)):
        heads = counts.heads.copy()
        # Nothing is known of the recall of rows none of which is positive.
        heads[LABELLED] = np.where(size > 0, limit, end) * counts.sizes[LABELLED]
        if design.sampling == "single-sample":
            heads[UNLABELED] -= heads[LABELLED] - counts.heads[LABELLED]
        points.append(HeadCounts(heads, design).point())
    return Components(counts.point(), [(points[0], points[1])])


def by_prediction(counts: HeadCounts, z: float) -> Components:
    """Label frequency c known: labelled rows among those predicted positive, and among the others.

    For these rows S1 is binomial (P1, c), for the population binomial (M1, c · precision). Limits
    may lie outside what the rows allow (fewer positives than labels, more than rows): cut there
    they would be no limits of 97.5 % any more, and distances to them too short to add in squares.
    """
    design, heads, sizes = counts.design, counts.heads, counts.sizes
    frequency = np.asarray(design.value, dtype=float)
    flagged, total = heads.sum(axis=0), sizes.sum(axis=0)
    seen = heads[LABELLED], sizes[LABELLED] - heads[LABELLED]
    found = [np.asarray(labelled / frequency) for labelled in seen]
    # At least half a row is negative: the false-positive rate needs some.
    most = total - design.units[LABELLED] / 2

    def point(hits: Any, misses: Any) -> RatePoint:
        with np.errstate(divide="ignore", invalid="ignore"):
            fitting = np.minimum(1.0, most / (hits + misses))
            hits, positives = hits * fitting, (hits + misses) * fitting
            return RatePoint(
                hits / positives, (flagged - hits) / (total - positives), positives / total
            )

    if design.target == "dataset":
        limits = [number_interval(labelled, frequency, z, design) for labelled in seen]
    else:
        limits = [
            _positives(seen_share(labelled, rows, z, design), rows, frequency)
            for labelled, rows in zip(seen, (flagged, total - flagged), strict=True)
        ]
    pairs = [
        (point(limits[0][0], found[1]), point(limits[0][1], found[1])),
        (point(found[0], limits[1][0]), point(found[0], limits[1][1])),
    ]
    base = point(found[0], found[1])
    if design.target == "population":
        pairs.append(_flagged_pair(counts, base, z))
    return Components(base, pairs)


def _positives(
    labelled_share: tuple[FloatArray, FloatArray], rows: Any, frequency: Any
) -> tuple[FloatArray, FloatArray]:
    """Limits of the positives among some rows; of no rows none is positive, for certain."""
    low, high = (np.where(rows > 0, end * rows / frequency, 0.0) for end in labelled_share)
    return low, high


def _flagged_pair(counts: HeadCounts, base: RatePoint, z: float) -> Pair:
    """Move the share predicted positive; precision and negative predictive value stay."""
    flagged = np.asarray(base.predicted_positive_rate)
    precision, npv = base.metric("precision"), base.metric("npv")
    points = []
    for share in wilson_share(flagged, effective_total(counts.design), z):
        hits, misses = (
            share * np.nan_to_num(precision),
            (1 - share) * (1 - np.nan_to_num(npv, nan=1.0)),
        )
        prevalence = hits + misses
        with np.errstate(divide="ignore", invalid="ignore"):
            points.append(
                RatePoint(hits / prevalence, (share - hits) / (1 - prevalence), prevalence)
            )
    return points[0], points[1]
