"""Intervals of threshold metrics: each independent source of chance moved to its own limits.

A binomial share has Wilson's limits. The metric is read with one source at its limits and the
others at their estimates, and the distances add in squares, side by side (Zou and Donner's MOVER).
With a single source this is just the metric at its two limits.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from undercount.rates import FloatArray
from undercount.uncertainty.design import LABELLED, NEGATIVE, UNLABELED, Design
from undercount.uncertainty.exact import IntervalKind, hits_interval, two_sided_z, wilson_share
from undercount.uncertainty.scales import metric_kind
from undercount.uncertainty.thresholds import HeadCounts, RatePoint

# With pure labels these follow from the labelled and all rows, whatever the prevalence.
PLAIN = frozenset({"recall", "tpr", "fnr", "lift", "lee_liu", "predicted_positive_rate"})
# These move with recall more than with the number of positives predicted positive.
_RECALL_LIKE = frozenset(
    {"balanced_accuracy", "informedness", "geometric_mean", "negative_likelihood_ratio"}
)
Pair = tuple[RatePoint, RatePoint]


@dataclass(frozen=True)
class Components:
    """Hold the estimated rates, and the rates with one source of chance at its two limits."""

    base: RatePoint
    pairs: list[Pair]


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
    return combined(sources.base, [*sources.pairs, *(more_pairs or [])], name, beta)


def components(
    counts: HeadCounts, name: str, *, confidence_level: float, kind: IntervalKind = "wilson"
) -> Components:
    """Return the sources of chance that matter for a metric under the counts' design."""
    design, z = counts.design, two_sided_z(confidence_level)
    pure = bool(np.all(np.asarray(design.label_purity) == 1))
    if name in PLAIN and pure:
        return _plain(counts, z, confidence_level, kind)
    if pure and design.share_known and design.given == "label_frequency":
        if name not in _RECALL_LIKE:
            return _by_prediction(counts, z)
        if design.target == "dataset":
            return _by_recall(counts, z)
    if design.target == "population":
        return _population(counts, z)
    if pure:
        return _counted(counts, confidence_level, kind)
    return _impure(counts, z)


def combined(
    base: RatePoint, pairs: list[Pair], name: str, beta: float
) -> tuple[FloatArray, FloatArray]:
    """Add the distances to each source's limits in squares, side by side."""
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
    for one, other in pairs:
        ends = read(one), read(other)
        below = below + np.fmax(middle - np.fmin(*ends), 0.0) ** 2
        above = above + np.fmax(np.fmax(*ends) - middle, 0.0) ** 2
    low = np.clip(middle - np.sqrt(below), least, most)
    high = np.clip(middle + np.sqrt(above), least, most)
    if unbounded:
        with np.errstate(divide="ignore"):
            low, high = low / (1 - low), high / (1 - high)
    return low, high


def _plain(counts: HeadCounts, z: float, confidence_level: float, kind: IntervalKind) -> Components:
    """Recall g and flagged share Q are enough; a prevalence of 0 makes the second rate Q."""
    design, rates = counts.design, counts.rates
    everyone = _fit(design.mixing().everyone, rates)
    if not design.share_known and design.sampling == "single-sample":
        everyone = counts.sizes / counts.sizes.sum(axis=0)

    def point(rates: FloatArray, everyone: Any = everyone) -> RatePoint:
        return RatePoint(rates[LABELLED], (everyone * rates).sum(axis=0), 0.0)

    base = point(rates)
    if design.target == "dataset":
        recall = _dataset_recall(counts, z, confidence_level, kind)
        return Components(base, [(replace(base, tpr=recall[0]), replace(base, tpr=recall[1]))])
    pairs = [tuple(point(moved) for moved in ends) for ends in _moved_rates(counts, z)]
    if design.sampling == "single-sample":
        ends = [sizes / sizes.sum(axis=0) for sizes in _moved_sizes(counts, z)]
        pairs.append((point(rates, ends[0]), point(rates, ends[1])))
    return Components(base, pairs)  # type: ignore[arg-type]


def _dataset_recall(
    counts: HeadCounts, z: float, confidence_level: float, kind: IntervalKind
) -> tuple[FloatArray, FloatArray]:
    """Limits of the recall of these rows, of which the labelled positives are a sample."""
    design = counts.design
    if design.share_known and design.given != "label_frequency":
        hits = _hits(counts, confidence_level, kind)
        positives = np.asarray(design.mixing().positives, dtype=float)
        taken = counts.heads[LABELLED] if design.sampling == "case-control" else 0.0
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = [np.clip((end - taken) / positives, 0.0, 1.0) for end in hits]
        return ends[0], ends[1]
    size = design.effective[LABELLED]
    if design.share_known:
        with np.errstate(divide="ignore"):
            size = size / np.asarray(1 - np.asarray(design.value, dtype=float))
    return wilson_share(counts.rates[LABELLED], size, z)


def _hits(
    counts: HeadCounts, confidence_level: float, kind: IntervalKind
) -> tuple[FloatArray, FloatArray]:
    """Limits of the number of hits in the pool of positives that the labelled were drawn from.

    In case-control sampling the labelled rows and the positives among the unlabeled ones are
    exchangeable, so the labelled are a random subset of both together.
    """
    design = counts.design
    drawn, positives = design.sizes[LABELLED], np.asarray(design.mixing().positives, dtype=float)
    pool = positives + drawn if design.sampling == "case-control" else np.maximum(positives, drawn)
    if np.all(design.units == 1):
        whole = pool if kind == "wilson" else np.maximum(np.rint(pool), drawn)
        low, high = hits_interval(
            counts.heads[LABELLED], drawn, whole, confidence_level=confidence_level, kind=kind
        )
        return low * pool / whole, high * pool / whole
    with np.errstate(divide="ignore"):
        size = design.effective[LABELLED] / (1 - drawn / pool)
    low, high = wilson_share(counts.rates[LABELLED], size, two_sided_z(confidence_level))
    return low * pool, high * pool


def _counted(counts: HeadCounts, confidence_level: float, kind: IntervalKind) -> Components:
    """The number of true positives is the one unknown (maths of Tabatabaei et al. 2020)."""
    design, positives = counts.design, np.asarray(counts.design.mixing().positives, dtype=float)
    taken = counts.heads[LABELLED] if design.sampling == "case-control" else 0.0
    low, high = _hits(counts, confidence_level, kind)
    ends = [_table_point(counts, end - taken, positives) for end in (low, high)]
    return Components(counts.point().capped(), [(ends[0], ends[1])])


def _table_point(counts: HeadCounts, true_positives: Any, positives: Any) -> RatePoint:
    """Rates of a table; no cell is negative or smaller than the rows known to be in it."""
    heads, sizes = counts.heads, counts.sizes
    if counts.design.sampling == "case-control":
        flagged, total, least, most = heads[UNLABELED], sizes[UNLABELED], 0.0, heads[UNLABELED]
        rest, missed = total - flagged, 0.0
    else:
        flagged, total = heads.sum(axis=0), sizes.sum(axis=0)
        least, most = heads[LABELLED], flagged - heads[NEGATIVE]
        rest = total - flagged - (sizes[NEGATIVE] - heads[NEGATIVE])
        missed = sizes[LABELLED] - heads[LABELLED]
    hits = np.minimum(np.minimum(true_positives, most), positives - missed)
    hits = np.maximum(np.maximum(hits, least), positives - rest)
    with np.errstate(divide="ignore", invalid="ignore"):
        return RatePoint(
            np.clip(hits / positives, 0.0, 1.0),
            np.clip((flagged - hits) / (total - positives), 0.0, 1.0),
            positives / total,
        )


def _population(counts: HeadCounts, z: float) -> Components:
    """Rates among labelled, unlabeled, known negatives; then sizes or composition."""
    design = counts.design
    pairs: list[Pair] = []
    for ends in _moved_rates(counts, z):
        points = [counts.at_rates(rates).point().capped() for rates in ends]
        pairs.append((points[0], points[1]))
    base = counts.point().capped()
    if design.sampling == "case-control":
        return Components(base, pairs)
    if design.given == "positives":
        prevalence = np.asarray(base.prevalence, dtype=float)
        ends = wilson_share(prevalence, _effective_total(design), z)
        pairs.append((replace(base, prevalence=ends[0]), replace(base, prevalence=ends[1])))
    else:
        points = [counts.with_sizes(s).point().capped() for s in _moved_sizes(counts, z)]
        pairs.append((points[0], points[1]))
    return Components(base, pairs)


def _moved_rates(counts: HeadCounts, z: float) -> list[tuple[FloatArray, FloatArray]]:
    """Return the rates with one kind's at its limits, for each kind that has rows."""
    moved = []
    for kind in (LABELLED, UNLABELED, NEGATIVE):
        if not np.any(counts.design.sizes[kind] > 0):
            continue
        ends = []
        for limit in wilson_share(counts.rates[kind], counts.design.effective[kind], z):
            rates = counts.rates.copy()
            rates[kind] = limit
            ends.append(rates)
        moved.append((ends[0], ends[1]))
    return moved


def _moved_sizes(counts: HeadCounts, z: float) -> list[FloatArray]:
    """Return the sizes with the share of labelled rows at its limits, the total the same."""
    design, sizes = counts.design, counts.sizes
    total = sizes.sum(axis=0)
    moved = []
    for limit in wilson_share(sizes[LABELLED] / total, _effective_total(design), z):
        labelled = limit * total
        if design.share_known and design.given == "prevalence":
            # There cannot be more labelled positives than positives.
            labelled = np.minimum(labelled, design.value * total / design.label_purity)
        labelled = np.minimum(labelled, total - sizes[NEGATIVE])
        moved.append(np.stack([labelled, total - sizes[NEGATIVE] - labelled, sizes[NEGATIVE]]))
    return moved


def _effective_total(design: Design) -> Any:
    total = design.sizes.sum(axis=0)
    return total**2 / (design.sizes * design.units).sum(axis=0)


def _by_prediction(counts: HeadCounts, z: float) -> Components:
    """Label frequency c known: labelled rows among those predicted positive, and among the others.

    For these rows S1 is binomial (P1, c), for the population binomial (M1, c · precision).
    """
    design, heads, sizes = counts.design, counts.heads, counts.sizes
    frequency = np.asarray(design.value, dtype=float)
    flagged, total = heads.sum(axis=0), sizes.sum(axis=0)
    seen = heads[LABELLED], sizes[LABELLED] - heads[LABELLED]
    found = [np.asarray(labelled / frequency) for labelled in seen]

    def point(hits: Any, misses: Any) -> RatePoint:
        hits = np.minimum(hits, flagged - heads[NEGATIVE])
        misses = np.minimum(misses, total - flagged - (sizes[NEGATIVE] - heads[NEGATIVE]))
        if design.target == "dataset":
            return _table_point(counts, hits, hits + misses)
        # The population's positives may be fewer than those labelled here.
        positives = hits + misses
        with np.errstate(divide="ignore", invalid="ignore"):
            return RatePoint(
                hits / positives, (flagged - hits) / (total - positives), positives / total
            )

    if design.target == "dataset":
        limits = [_number_interval(labelled, frequency, z, design) for labelled in seen]
    else:
        limits = [
            tuple(end * rows / frequency for end in _seen_share(labelled, rows, z, design))
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


def _seen_share(
    labelled: Any, rows: Any, z: float, design: Design
) -> tuple[FloatArray, FloatArray]:
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(rows > 0, labelled / rows, 0.0)
    return wilson_share(share, rows / design.units[LABELLED], z)


def _flagged_pair(counts: HeadCounts, base: RatePoint, z: float) -> Pair:
    """Move the share predicted positive; precision and negative predictive value stay."""
    flagged = np.asarray(base.predicted_positive_rate)
    precision, npv = base.metric("precision"), base.metric("npv")
    points = []
    for share in wilson_share(flagged, _effective_total(counts.design), z):
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


def _number_interval(
    labelled: Any, frequency: Any, z: float, design: Design
) -> tuple[FloatArray, FloatArray]:
    """Score limits of a number of rows each labelled with the same known probability."""
    unit = design.units[LABELLED]
    missed = (1 - frequency) * unit
    middle = labelled + z * z * missed / 2
    half = z * np.sqrt(missed * labelled + (z * missed) ** 2 / 4)
    return np.maximum((middle - half) / frequency, labelled), (middle + half) / frequency


def _by_recall(counts: HeadCounts, z: float) -> Components:
    """Label frequency c known: recall and the number of positives are estimated independently."""
    design = counts.design
    labelled = counts.sizes[LABELLED]
    frequency = np.asarray(design.value, dtype=float)
    recall, positives = counts.rates[LABELLED], labelled / frequency
    numbers = _number_interval(labelled, frequency, z, design)
    recalls = _dataset_recall(counts, z, 0.0, "wilson")
    total = counts.sizes.sum(axis=0) - counts.sizes[NEGATIVE]
    first = [_table_point(counts, recall * end, end) for end in np.minimum(numbers, total)]
    second = [_table_point(counts, end * positives, positives) for end in recalls]
    base = _table_point(counts, recall * positives, positives)
    return Components(base, [(first[0], first[1]), (second[0], second[1])])


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
    for limit in wilson_share(counts.rates[LABELLED], size, z):
        heads = counts.heads.copy()
        heads[LABELLED] = limit * counts.sizes[LABELLED]
        if design.sampling == "single-sample":
            heads[UNLABELED] -= heads[LABELLED] - counts.heads[LABELLED]
        points.append(HeadCounts(heads, design).point().capped())
    return Components(counts.point().capped(), [(points[0], points[1])])


def _fit(weights: Any, like: FloatArray) -> Any:
    array = np.asarray(weights)
    return array.reshape(array.shape + (1,) * (like.ndim - array.ndim))
