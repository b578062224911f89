"""Threshold metrics of counted rows with their intervals."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from undercount.counts import ScoreCounts
from undercount.errors import InputError
from undercount.read.intervals.components import PLAIN, Pair, combined, components, possible
from undercount.read.intervals.design import LABELLED, UNLABELED, Design
from undercount.read.intervals.exact import two_sided_z
from undercount.read.intervals.found import Found, Question
from undercount.read.intervals.thresholds import HeadCounts, head_spread, rate_error

# Rates within this of [0, 1] are rounding.
TOLERANCE = 1e-9


def threshold_value(
    counts: ScoreCounts, design: Design, question: Question, errors: tuple[float, float]
) -> Found:
    """Return a threshold metric with its interval; `errors` are those of share and purity."""
    name, beta = question.kind.name, question.beta
    heads = HeadCounts(_heads(counts, float(question.threshold or 0.0)), design)
    sources = components(
        heads, name, confidence_level=question.confidence_level, kind=question.interval
    )
    moves = head_spread(heads, name, beta)
    plain = name in PLAIN and bool(np.asarray(design.label_purity) == 1)
    if plain:  # whatever the prevalence
        errors = (0.0, errors[1])
    more = _share_pairs(heads, errors, two_sided_z(question.confidence_level))
    low, high = possible(
        heads, name, beta, combined(sources.base, [*sources.pairs, *more], name, beta)
    )
    variance = float(moves.variance)
    if name == "predicted_positive_rate":
        variance = _flagged_variance(heads)
    else:
        variance += moves.from_shares(errors)
    value = float(sources.base.capped().metric(name, beta))
    found = Found(value, float(low), float(high), math.sqrt(variance), _method(question, design))
    return found if plain else _with_misfit(found, heads, name, beta)


def _method(question: Question, design: Design) -> str:
    counted = design.target == "dataset" and design.share_known
    if counted and design.given != "label_frequency" and np.all(design.units == 1):
        return question.interval
    return "wilson"


def _heads(counts: ScoreCounts, threshold: float) -> Any:
    """Return the rows predicted positive of each kind."""
    stop = int(np.searchsorted(-counts.score, -threshold, side="right"))
    exact = stop > 0 and counts.score[stop - 1] == threshold
    if stop < len(counts.score) and counts.merged[stop] and not exact:
        raise InputError(
            f"threshold {threshold} lies inside a merged cell of compact counts, where only sums "
            f"were kept; pass knots=[{threshold}] when counting, or compact=False"
        )
    kinds = (counts.positive, counts.unlabeled, counts.negative)
    # Part of the weights may sum up in another order than all of them do, hence to another number.
    return np.array([cells[: stop if cells[stop:].any() else None].sum() for cells in kinds])


def _share_pairs(heads: HeadCounts, errors: tuple[float, float], z: float) -> list[Pair]:
    """Return the rates with an uncertain share at its two limits."""
    design = heads.design
    share, purity = float(design.mixing().unlabeled_prevalence), float(design.label_purity)
    pairs = []
    if errors[0] > 0:
        ends = [min(max(share + sign * z * errors[0], 0.0), purity - 1e-6) for sign in (-1, 1)]
        moved = [replace(design, given="unlabeled_prevalence", value=end) for end in ends]
        points = [HeadCounts(heads.heads, other).point() for other in moved]
        pairs.append((points[0], points[1]))
    if errors[1] > 0:
        ends = [min(max(purity + sign * z * errors[1], share + 1e-6), 1.0) for sign in (-1, 1)]
        moved = [replace(design, label_purity=end) for end in ends]
        points = [HeadCounts(heads.heads, other).point() for other in moved]
        pairs.append((points[0], points[1]))
    return pairs


def _flagged_variance(heads: HeadCounts) -> float:
    """Variance of the share predicted positive, 0 for these very rows."""
    design = heads.design
    if design.target == "dataset":
        return 0.0
    everyone = design.mixing().everyone
    rate = float(everyone @ heads.rates)
    if design.sampling == "case-control":
        return rate * (1 - rate) / float(design.effective[1])
    total = float(design.sizes.sum())
    return rate * (1 - rate) * float((design.sizes * design.units).sum()) / total**2


def _with_misfit(found: Found, heads: HeadCounts, name: str, beta: float) -> Found:
    """Say how far outside [0, 1] the recovered rates are, if that matters for the metric."""
    point = heads.point()
    raw = float(point.metric(name, beta))
    if abs(raw - found.value) <= TOLERANCE * max(1.0, abs(found.value)):
        return found
    rates = {"tpr": float(point.tpr), "fpr": float(point.fpr)}
    beyond = {rate: max(-value, value - 1, 0.0) for rate, value in rates.items()}
    worst = max(beyond, key=lambda rate: beyond[rate])
    if beyond[worst] <= TOLERANCE:
        return found
    misfit = beyond[worst] / max(rate_error(heads, worst), 1e-300)
    return replace(
        found,
        misfit=misfit,
        outside=(f"the {worst} at this threshold", rates[worst]),
        largest_share=_largest_share(heads),
    )


def _largest_share(heads: HeadCounts) -> float:
    """Return the largest share for which the false-positive rate stays in [0, 1] (κq ≥ ag)."""
    labelled, unlabeled = float(heads.rates[LABELLED]), float(heads.rates[UNLABELED])
    purity = float(heads.design.label_purity)
    # Below 0 from the head's side, above 1 from the tail's.
    return purity * min(_ratio(unlabeled, labelled), _ratio(1 - unlabeled, 1 - labelled))


def _ratio(top: float, bottom: float) -> float:
    return float(top / bottom) if bottom > 0 else math.inf
