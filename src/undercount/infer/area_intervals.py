"""Intervals of areas and losses, each on the scale that fits its errors."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri, stdtrit

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.errors import SmallSampleWarning, warn
from undercount.estimate import delta_interval
from undercount.infer.area_gradients import (
    AREA_GRADIENTS,
    area_influence,
    cell_rows,
    interval_variance,
    jackknife_variance,
    mean_loss,
    no_area,
    pairwise_precision,
    perfect_ranks,
    ranked_area,
    recovered,
    roc_auc,
    unbiased_average_precision,
    with_borders,
)
from undercount.infer.binormal import binormal_end
from undercount.infer.heads import wilson_share
from undercount.infer.mixture import (
    LABELLED,
    RATE_TOLERANCE,
    ROW_KINDS,
    UNLABELED,
    Misfit,
    MixtureDesign,
)
from undercount.infer.skewness import Skewness
from undercount.infer.variance import CellRows, Found, Spread
from undercount.metric_facts import FACTS, LOSSES, MetricFacts

# Below this the intervals of average precision keep their promise no longer.
FEW_LABELS = 30
# A standard error below this share of the largest influence of a row is rounding of no spread.
_INFLUENCE_ROUNDING = 1e-6
# So many labels normal scores are trusted beside; of more they count the less.
_MODEL_LABELS = 20
_LARGEST_EXPONENT = 700.0  # e^700 is almost the largest float
_FEWEST = 2  # rows that have no skewness
_STRAIGHT = 1e-8
_NEAR = 1e-6  # of a share that is said with four digits
_EXPONENT = 600.0  # e to it still fits a float, with room for what it is multiplied by
_SKEWED = ("log_loss",)  # the skewness that few labels bring is allowed for
# Areas of ranks: shares of pairs of rows in the right order.
RANK_AREAS = ("roc_auc", "lift_auc", "partial_roc_auc")
# Below it an order is turned round; an even one is not, whatever the rounding of its sums.
TURNED = 0.5 - 1e-9


def area_estimate(
    counts: ScoreCounts,
    design: MixtureDesign,
    name: str,
    *,
    max_fpr: float | None,
    confidence_level: float,
    errors: tuple[float, float],
) -> Found:
    """Return an area or a loss with its interval; `errors` are those of share and purity."""
    facts, long = FACTS[name], name in AREA_GRADIENTS and counts.thinned is not counts
    cells = counts.thinned if long else counts
    rows = cell_rows(cells)
    if name in LOSSES:
        influence = mean_loss(counts, recovered(rows, design.mixing), name)
    else:
        influence = area_influence(rows, design.mixing, name, max_fpr)
    moves = Spread(design, rows, influence)
    variance = wide = float(moves.variance)
    value, method = float(influence.value), "delta"
    if long and name in RANK_AREAS:
        value = ranked_area(counts, design.mixing, name)
    if name == "average_precision":
        value, variance, wide, method = _average_precision(counts, design, rows, wide)
    from_shares = moves.from_shares(errors) if any(errors) else 0.0
    error = math.sqrt(variance + from_shares)
    least, most = facts.range
    inside = min(max(value, least), most) if not math.isnan(value) else value
    wide_error = math.sqrt(wide + from_shares)
    low, high = _ends(moves, value, wide_error, facts, max_fpr, confidence_level)
    beyond = abs(value - inside)
    if beyond <= RATE_TOLERANCE or math.isnan(value):
        return Found(inside, low, high, error, method)
    # A single label has no spread of its own.
    spread = max(0.0 if math.isnan(error) else error, _least_error(moves, name, max_fpr))
    misfit = Misfit(
        name, value, beyond / spread, lambda: _largest_share(counts, design, name, max_fpr)
    )
    return Found(inside, low, high, error, method, misfit)


def _largest_share(
    counts: ScoreCounts, design: MixtureDesign, name: str, max_fpr: float | None
) -> float:
    """Return the largest share of positives among the unlabeled at which an area is in its range.

    That of the ROC AUC is known; average precision, say, passes 1 before it.
    """
    most = float(design.label_purity) - abs(2 * counts.auc("positive", "unlabeled") - 1)
    if name == "roc_auc" or name in LOSSES or most <= 0:
        return most
    rows = cell_rows(counts.thinned)

    def beyond(share: float) -> float:
        moved_design = replace(design, given="unlabeled_prevalence", value=share)
        if name == "average_precision":
            value = unbiased_average_precision(counts, moved_design)
        else:
            value = float(area_influence(rows, moved_design.mixing, name, max_fpr).value)
        return value - FACTS[name].range[1]

    # Where scores say nothing the limit is the purity itself, at which rates are 0/0.
    last = min(most, (1 - _NEAR) * float(design.label_purity))
    if beyond(last) <= 0 or not beyond(0.0) < 0:
        return most
    return float(brentq(beyond, 0.0, last, xtol=_NEAR))


def _average_precision(
    counts: ScoreCounts, design: MixtureDesign, rows: CellRows, variance: float
) -> tuple[float, float, float, str]:
    """Return the unbiased estimate, its variance, the variance for its interval, and the method.

    The jackknife's variance alone covers .88 with 40 labels; see `interval_variance`.
    """
    if design.effective[LABELLED] < FEW_LABELS:
        message = (
            f"{{metric}} rests on {float(design.effective[LABELLED]):.0f} labels; with "
            f"fewer than {FEW_LABELS} its interval is too narrow"
        )
        warn(SmallSampleWarning(message, metric="average_precision"), stacklevel=6)
    value = unbiased_average_precision(counts, design)
    if math.isnan(value) or math.isnan(variance) or design.mixing.positives <= 0:
        return value, variance, variance, "delta"
    if design.pure and design.counted and design.given != "label_frequency":
        unlabelled = 1 - min(float(design.sizes[LABELLED] / design.mixing.positives), 1.0)
        cells = jackknife_variance(counts.thinned, design)
        jackknife = unlabelled * design.cluster_effect * cells
        if not math.isnan(jackknife):  # from two labels
            return value, jackknife, interval_variance(counts, jackknife, variance), "jackknife"
    influence = pairwise_precision(counts.thinned, design, value)
    pairwise = float(Spread(design, rows, influence).variance)
    wide = interval_variance(counts, pairwise, variance)
    return value, wide, wide, "delta"


def _ends(
    moves: Spread,
    value: float,
    error: float,
    facts: MetricFacts,
    max_fpr: float | None,
    confidence_level: float,
) -> tuple[float, float]:
    """Return the interval inside the metric's range, with Student's quantile for few labels."""
    least, most = facts.range
    if math.isnan(value) or math.isnan(error):
        return least, most
    label = _of_label(moves)
    if error <= _INFLUENCE_ROUNDING * max(float(label.max()), -float(label.min())):
        low, high = _flat_ends(moves, value, facts.name, max_fpr, confidence_level)
    elif facts.name in RANK_AREAS:
        low, high = _ranked_ends(moves, value, error, confidence_level, facts.name, max_fpr)
    else:
        low, high = _scaled_ends(moves, value, error, _student(moves, confidence_level), facts)
    return min(max(low, least), most), min(max(high, least), most)


def _scaled_ends(
    moves: Spread, value: float, error: float, t: float, facts: MetricFacts
) -> tuple[float, float]:
    least, most = facts.range
    inside = min(max(value, least), most)  # around a value outside the range would be nothing
    if facts.name in _SKEWED:
        return skewed_interval(inside, error, third_moments(moves), t)
    if facts.name == "average_precision":
        return grown_interval(inside, error * error, 0.0, t)
    if least < value < most:
        ends = delta_interval(value, error, facts.scale, t)
        return float(ends[0]), float(ends[1])
    return inside - t * error, inside + t * error


def _ranked_ends(
    moves: Spread, value: float, error: float, level: float, name: str, max_fpr: float | None
) -> tuple[float, float]:
    """Return the ends for an area of ranks, as a share of what is possible.

    With the prevalence known an area under the lift curve is an area under the ROC curve in other
    units, and so is its interval. The variance of labels that are spread as those of a perfect
    order is known, and needs no Student's quantile.
    """
    least, most = _possible(moves, name, max_fpr)
    room = most - least
    share = min((value - least) / room, 1.0)  # around more than possible would be nothing
    variance = (error / room) ** 2
    perfect = float(perfect_ranks(moves.design, name, max_fpr).variance) / room**2
    steady = perfect * min((2 * share - 1) ** 2, 1.0)
    t, part = _student(moves, level), 0.0
    if moves.design.pure:
        variance = max(variance, steady)
        part = steady / variance
    quantile = math.hypot(part**0.5 * float(ndtri((1 + level) / 2)), (1 - part) ** 0.5 * t)
    if moves.design.pure:
        reach = float(ndtri((1 + level) / 2)) * math.sqrt(steady)
        crowded = min(perfect / variance, 1.0) if variance > 0 else 0.0
        free = float(moves.design.unlabelled_share) if moves.design.counted else 1.0
        normal = math.inf
        if name != "partial_roc_auc":
            normal = _binormal_low(moves, share, (error / room) ** 2, room, level)
        low, high = ranked_interval(
            share, variance, steady, quantile, reach, crowded, free, normal, _trust(moves)
        )
    else:  # an estimate may be far from what any order of the rows has
        low, high = odds_interval(share, variance, min(steady, variance), quantile)
    if name == "partial_roc_auc" and 0 < share < 1:
        # Its errors grow with it, the more so the fewer negatives are among the unlabeled rows:
        # half-way to the end on the log scale, which alone would be too far out.
        grown = share * math.exp(min(t * error / room / share, _LARGEST_EXPONENT))
        high = max(high, (high + grown) / 2)
    # The lift curve's area ends before 1; where that of the ROC curve is cut, so is its image.
    return least + max(low, 0.0) * room, least + min(high, 1.0) * room


def _trust(moves: Spread) -> float:
    """Return how much normal scores count beside the labels."""
    return min(_MODEL_LABELS / max(float(moves.design.effective[LABELLED]), 1.0), 1.0)


def _binormal_low(moves: Spread, share: float, variance: float, room: float, level: float) -> float:
    """Return the lower end if scores were normal; of an order turned round, that of the reverse.

    Hidden positives have the mean of the model then, and labelled ones are what they are.
    """
    design, size = moves.design, float(moves.design.effective[LABELLED])
    if size <= 1 or not isinstance(moves.rows, CellRows):
        return math.inf
    mass = moves.rows.masses[LABELLED]
    labelled = np.flatnonzero(mass > 0)
    below = roc_auc(recovered(moves.rows, design.mixing)).positive[labelled]
    if share < TURNED:
        share, below = 1 - share, 1 - below
    edge = 0.5 / max(float(design.effective[UNLABELED:].sum()), 1.0)  # half a row
    z = float(ndtri((1 + level) / 2))
    area, end = binormal_end(np.clip(below, edge, 1 - edge), mass[labelled], size, z)
    free = float(design.unlabelled_share) if design.counted else 1.0
    others = max(variance - free * float(moves.label_variance) / room**2, 0.0)
    reach = math.hypot(math.sqrt(free) * (area - end), z * math.sqrt(others))
    return share - free * (share - area) - reach


def _student(moves: Spread, level: float) -> float:
    return float(stdtrit(moves.design.freedom, (1 + level) / 2))


def _possible(moves: Spread, name: str, max_fpr: float | None) -> tuple[float, float]:
    """Return the least and the largest area that any order of the rows has."""
    if name == "lift_auc":
        half = float(moves.design.mixing.prevalence) / 2
        return half, 1 - half
    return (no_area(max_fpr), 1.0) if name == "partial_roc_auc" else (0.0, 1.0)


def ranked_interval(
    share: float,
    variance: float,
    steady: float,
    t: float,
    steady_reach: float,
    crowded: float = 0.0,
    free: float = 1.0,
    normal: float = math.inf,
    trust: float = 0.0,
) -> tuple[float, float]:
    """Return the ends for a share of pairs in the right order.

    What is far from 1 varies less the nearer it is: the arcsine of the square root has the same
    errors everywhere. Downward that is too short by itself, since labels that stand on top say
    little of positives that do not; Wilson's end, for as many independent rows as have the same
    variance, reaches further. It counts as far as the variance is not that of labels spread as in
    a perfect order (`steady`), which is known and the same to both sides.

    If only a share `free` of the positives carries no label, the spread is √free times as large,
    but as skewed: few hidden rows lie as far down as few labelled ones on top. So the end of a
    sample is drawn in by √free, instead of being taken for as many more labels. And it reaches to
    the end of `normal` scores, as far as these are to be trusted (`trust`) and order the rows.

    The more of the variance a perfect order would have (`crowded`, where many of the unlabeled rows
    are positive), the less do errors shrink towards 1, and the scale of odds fits better.
    """
    if share < TURNED:  # an order turned round has the same errors
        low, high = ranked_interval(
            1 - share, variance, steady, t, steady_reach, crowded, free, normal, trust
        )
        return 1 - high, 1 - low
    # An estimate counts as no nearer to 1 than one steady standard error, from where it may come.
    inside = max(min(share, 1 - math.sqrt(steady)), 0.5)
    even = inside * (1 - inside)
    if not 0 < even < math.inf or variance == 0:
        return share - t * math.sqrt(variance), share + t * math.sqrt(variance)
    t = min(t, _LARGEST_EXPONENT)  # a single degree of freedom or less
    middle, reach = math.asin(math.sqrt(inside)), t * math.sqrt(variance / even) / 2
    low, high = (
        math.sin(min(max(end, 0.0), math.pi / 2)) ** 2 for end in (middle - reach, middle + reach)
    )
    trials = np.array([1.0, free]) * even / variance
    whole, sampled = map(float, wilson_share(np.asarray(inside), trials, t)[0])
    further = min(whole, inside - math.sqrt(free) * (inside - sampled), low)
    further -= trust * (2 * inside - 1) ** 2 * max(further - normal, 0.0)
    part = steady / variance
    low, high = part * low + (1 - part) * further, max(high, share + steady_reach)
    least, most = odds_interval(share, variance, min(steady, variance), t)
    return (crowded * least + (1 - crowded) * low, crowded * max(most, high) + (1 - crowded) * high)


def odds_interval(share: float, variance: float, steady: float, t: float) -> tuple[float, float]:
    """Return the ends for a share of what is possible, on the scale of its odds.

    The steady part of the variance is there even if no row is misplaced; the rest grows with the
    odds of a misplaced pair. Without the former this is the logit.
    """
    if share < TURNED:  # an order turned round has the same errors
        low, high = odds_interval(1 - share, variance, steady, t)
        return 1 - high, 1 - low
    # The derivative of (1 - share)/share is 1/share².
    ends = grown_interval((1 - share) / share, variance / share**4, steady / share**4, t)
    low, high = (1 / (1 + end) if end > -1 else 1.0 for end in ends)
    return high, low


def grown_interval(value: float, variance: float, steady: float, t: float) -> tuple[float, float]:
    """Return the ends if errors grow with a value, except for a steady part of the variance.

    With a variance s + g v² of the estimate at v, asinh(v √(g/s)) has the same errors everywhere:
    the value itself if g = 0, its logarithm if s = 0. A mean of numbers above 0 has a standard
    error of at most itself, so g is at most 1; what is more counts as steady.
    """
    grows = min((variance - steady) / value**2 if value > 0 else 1.0, 1.0)
    steady = max(variance - grows * value * value, 0.0)
    rate = math.sqrt(grows)
    if grows <= _STRAIGHT:
        return value - t * math.sqrt(variance), value + t * math.sqrt(variance)
    if steady <= _STRAIGHT * variance:
        return value * math.exp(-t * rate), value * math.exp(min(t * rate, _EXPONENT))
    unit = math.sqrt(steady / grows)
    middle, reach = math.asinh(value / unit), min(t * rate, _EXPONENT)
    return unit * math.sinh(middle - reach), unit * math.sinh(middle + reach)


def _flat_ends(
    moves: Spread, value: float, name: str, max_fpr: float | None, confidence_level: float
) -> tuple[float, float]:
    """Return the ends if all labels are alike: as for k of k successes, some may be otherwise."""
    design = moves.design
    if design.counted and float(design.unlabelled_share) == 0:  # no positive is hidden
        return value, value
    size = max(float(design.effective[LABELLED]), 1.0)
    others = 1 - ((1 - confidence_level) / 2) ** (1 / size)
    middle = float(moves.rows.moments(_of_label(moves), np.eye(3)[LABELLED])[0])
    influence = _of_label(_anywhere(moves, name, max_fpr))
    low, high = float(influence.min()), float(influence.max())
    return value - others * (middle - low), value + others * (high - middle)


def _least_error(moves: Spread, name: str, max_fpr: float | None) -> float:
    """Return the standard error of labels that are all alike: half of one row is otherwise.

    Two labels on top of everything have no spread, and yet are no proof of anything.
    """
    size = max(float(moves.design.effective[LABELLED]), 1.0)
    share = 0.5 / (size + 1)
    reach = float(np.ptp(_anywhere(moves, name, max_fpr).phi[LABELLED]))
    return max(reach * math.sqrt(share * (1 - share) / size), 1e-300)


def _anywhere(moves: Spread, name: str, max_fpr: float | None) -> Spread:
    """Return influences at the scores of all cells and, of areas, between and beyond them."""
    if name in LOSSES or not isinstance(moves.rows, CellRows):
        return moves
    rows = with_borders(moves.rows)
    return Spread(moves.design, rows, area_influence(rows, moves.design.mixing, name, max_fpr))


def _of_label(moves: Spread) -> FloatArray:
    """Return what a label at each score adds to the estimate."""
    return np.atleast_1d(moves.moved if moves.design.counted else moves.phi[LABELLED])


def third_moments(moves: Spread) -> tuple[float, float]:
    """Return the third cumulant of an estimate's error, and its covariance with its variance.

    They are equal for independent rows. For these very rows the first is (1-f)(1-2f) m₃/n², the
    second (1-f)² m₃/n², if a share f of the positives is labelled.
    """
    design, phi = moves.design, moves.phi
    if design.target == "population":
        both = sum(
            _third(moves, phi[kind], kind) / float(design.effective[kind]) ** 2
            for kind in ROW_KINDS
            if design.effective[kind] > _FEWEST
        )
        return both, both
    size = float(design.effective[LABELLED])
    if size <= _FEWEST:
        return 0.0, 0.0
    if design.sampling == "case-control":
        third = _third(moves, phi[LABELLED], LABELLED)
        hidden = float(design.mixing.unlabeled_prevalence * design.effective[UNLABELED])
        other = 1 / hidden if hidden > 0 else 0.0
        return third * (size**-2 - other**2), third * (1 / size + other) / size
    free = float(design.unlabelled_share)
    third = _labelled_third(moves) / size**2
    return third * free * (2 * free - 1), third * free**2


def _labelled_third(moves: Spread) -> float:
    """Return the third moment of what one label more moves, in units of a mean."""
    third = _third(moves, moves.moved, LABELLED)
    if not moves.design.frequency_known:
        return third
    # The number of labels is random as well: moments around 0, not around the mean.
    shift = float(moves.number_slope * moves.design.sizes[LABELLED])
    if moves.weights is not None:
        gap = moves.weights.around(moves.moved)
        around = [moves.weights.mean(gap**power, 2) for power in range(3)]
        return third + 3 * shift * around[2] + 3 * shift**2 * around[1] + shift**3 * around[0]
    variance = float(moves.rows.moments(moves.moved, np.eye(3)[LABELLED])[1])
    return third + 3 * shift * variance + shift**3


def _third(moves: Spread, value: Any, kind: int) -> float:
    """Return the third central moment among the rows of a kind, corrected for its bias."""
    size = float(moves.design.effective[kind])
    if kind == LABELLED and moves.weights is not None:
        third = moves.weights.mean(moves.weights.around(value) ** 3, 2)
    else:
        weights = np.eye(3)[kind]
        mean = moves.rows.moments(value, weights)[0]
        third = float(moves.rows.moments((value - mean) ** 3, weights)[0])
    return third * size * size / ((size - 1) * (size - 2))


def skewed_interval(
    value: float, error: float, moments: tuple[float, float], t: float
) -> tuple[float, float]:
    """Return the interval of a studentised estimate made symmetric by Hall's cubic."""
    if not error**3 > 0:  # nothing varies, or less than rounding
        return value - t * error, value + t * error
    skewness = Skewness(moments[0] / error**3, moments[1] / error**3)
    return value - error * skewness.quantile(t), value - error * skewness.quantile(-t)
