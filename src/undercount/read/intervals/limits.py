"""Limits of the shares and numbers that threshold metrics are made of."""

from typing import Any

import numpy as np

from undercount.curve import FloatArray
from undercount.read.intervals.design import LABELLED, NEGATIVE, UNLABELED, Design
from undercount.read.intervals.exact import IntervalKind, hits_interval, two_sided_z, wilson_share
from undercount.read.intervals.scales import metric_kind
from undercount.read.intervals.thresholds import HeadCounts, RatePoint


def dataset_recall(
    counts: HeadCounts, z: float, confidence_level: float, kind: IntervalKind
) -> tuple[FloatArray, FloatArray]:
    """Limits of the recall of these rows, of which the labelled positives are a sample."""
    design = counts.design
    if design.share_known and design.given != "label_frequency":
        hits = pool_hits(counts, confidence_level, kind)
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


def pool_hits(
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


def table_point(counts: HeadCounts, true_positives: Any, positives: Any) -> RatePoint:
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


def moved_rates(counts: HeadCounts, z: float) -> list[tuple[FloatArray, FloatArray]]:
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


def moved_sizes(counts: HeadCounts, z: float) -> list[FloatArray]:
    """Return the sizes with the share of labelled rows at its limits, the total the same."""
    design, sizes = counts.design, counts.sizes
    total = sizes.sum(axis=0)
    moved = []
    for limit in wilson_share(sizes[LABELLED] / total, effective_total(design), z):
        labelled = limit * total
        if design.share_known and design.given == "prevalence":
            # There cannot be more labelled positives than positives.
            labelled = np.minimum(labelled, design.value * total / design.label_purity)
        labelled = np.minimum(labelled, total - sizes[NEGATIVE])
        moved.append(np.stack([labelled, total - sizes[NEGATIVE] - labelled, sizes[NEGATIVE]]))
    return moved


def effective_total(design: Design) -> Any:
    """Return Kish's effective number of all rows."""
    total = design.sizes.sum(axis=0)
    return total**2 / (design.sizes * design.units).sum(axis=0)


def seen_share(labelled: Any, rows: Any, z: float, design: Design) -> tuple[FloatArray, FloatArray]:
    """Return the limits of the share of rows that carry a label."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(rows > 0, labelled / rows, 0.0)
    return wilson_share(share, rows / design.units[LABELLED], z)


def number_interval(
    labelled: Any, frequency: Any, z: float, design: Design
) -> tuple[FloatArray, FloatArray]:
    """Score limits of a number of rows each labelled with the same known probability."""
    unit = design.units[LABELLED]
    missed = (1 - frequency) * unit
    middle = labelled + z * z * missed / 2
    half = z * np.sqrt(missed * labelled + (z * missed) ** 2 / 4)
    return (middle - half) / frequency, (middle + half) / frequency


def certain_limits(
    counts: HeadCounts, name: str, beta: float = 1.0
) -> tuple[FloatArray, FloatArray]:
    """Return the limits of a metric of these rows that hold whatever the unlabeled rows are.

    Rows labelled positive are positive, those labelled negative are not. Every metric moves one
    way with the true positives and the other way with the false negatives, so it is extreme where
    all unlabeled rows speak for the classifier, or all against it.
    """
    heads, tails = counts.heads, counts.sizes - counts.heads
    flagged, total = heads.sum(axis=0), counts.sizes.sum(axis=0)
    ends = []
    for hits, misses in (
        (heads[LABELLED], tails[LABELLED] + tails[UNLABELED]),
        (heads[LABELLED] + heads[UNLABELED], tails[LABELLED]),
    ):
        positives = hits + misses
        with np.errstate(divide="ignore", invalid="ignore"):
            point = RatePoint(
                hits / positives, (flagged - hits) / (total - positives), positives / total
            )
        ends.append(point.metric(name, beta))
    least, most = metric_kind(name).range
    # Where a corner is 0/0 nothing is certain.
    return np.fmin(*(np.nan_to_num(end, nan=least, posinf=np.inf) for end in ends)), np.fmax(
        *(np.nan_to_num(end, nan=most, posinf=np.inf) for end in ends)
    )
