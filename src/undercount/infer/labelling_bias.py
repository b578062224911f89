"""Bounds when labels prefer some positives: only the hidden ones can differ from the labelled.

The labelled positives are known, so what is unknown is how far the hidden ones differ from them.
If the odds of being labelled differ between two positives at most by a factor Γ, the density of
the hidden positives is that of the labelled ones with weights between 1 and Γ: at a threshold
their odds of being flagged differ at most by Γ, and an area is extreme with the weight Γ on all
scores above (or below) one of them.

The labels are a sample, so bounds have their chance inside: each end is the limit of an interval
under the bias that is worst for it. With Γ = 1 they are the interval of the metric.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, TypeAlias

import numpy as np
from scipy.optimize import brentq
from scipy.special import stdtrit

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray, blocks, dot, metric_names, read_metric
from undercount.errors import InputError, named, read_threshold, real_number
from undercount.estimate import Interval, check_confidence_level
from undercount.infer.area_gradients import cell_rows
from undercount.infer.area_intervals import area_estimate, skewed_interval, third_moments
from undercount.infer.heads import FlaggedCounts, RatePoint, finite_size, two_sided_z
from undercount.infer.mixture import LABELLED, MixtureDesign, Target, design_of
from undercount.infer.threshold_intervals import (
    NO_ERRORS,
    certain_limits,
    combine,
    number_limits,
    population_limits,
    table_point,
    table_rates,
    threshold_interval,
)
from undercount.infer.variance import Found, Influence, Spread
from undercount.metric_facts import FACTS
from undercount.shares import Shares

Ends: TypeAlias = tuple[float, float]
# Areas that are a mean position of the positives.
BIASED_AREAS = ("roc_auc", "lift_auc")
LARGEST_ODDS_RATIO = 1000.0
_LARGEST_BIAS = 1e100  # its square is a number still
_UNIT_HALVINGS = 60  # of [0, 1], down to rounding
_FEWEST = 2  # rows that have no skewness


def biased_recall(
    counts: ScoreCounts,
    shares: Shares,
    odds_ratio: float,
    threshold: float,
    *,
    target: Target = "dataset",
    confidence_level: float | None = 0.95,
) -> Interval:
    """Bound the recall when the odds of being labelled differ by at most a factor (Γ).

    Parameters
    ----------
    counts, shares : ScoreCounts, Shares
        Rows at each score, and how many positives there are: the more are hidden, the more a bias
        matters. The shares are taken as they are, without their uncertainty.
    odds_ratio : float
        Largest factor (Γ) by which the odds of being labelled differ between two positives.
    threshold : float
        Rows with at least this score are predicted positive.
    target : {"dataset", "population"}
        Whether the recall of these very rows is meant or that of their population.
    confidence_level : float or None
        Probability with which the interval shall hold the recall under the bias that is worst;
        None for the bound without the chance of the labels.

    Returns
    -------
    Interval
        At Γ = 1 the interval of `undercount.metrics.recall`.

    Notes
    -----
    Assumes: between any two positives the odds of being labelled differ at most by `odds_ratio`;
    the prevalence is right.
    Wrong when: labelling depends on the score more strongly than that.

    Examples
    --------
    60 of 80 labelled and 20 of 920 unlabeled rows are flagged, and 20 positives are hidden.

    >>> import undercount as uc
    >>> counts = uc.ScoreCounts.from_counts([1, 0], [60, 20], [0, 0], [20, 900])
    >>> shares = uc.Shares.from_positives(counts, 100)
    >>> interval = uc.biased_recall(counts, shares, 2.0, threshold=1, confidence_level=None)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.72, 0.7714)
    """
    ends = bias_ends(
        counts,
        shares,
        "recall",
        threshold=threshold,
        target=target,
        confidence_level=confidence_level,
    )
    return Interval(*ends(odds_ratio))


def biased_auc(
    counts: ScoreCounts,
    shares: Shares,
    odds_ratio: float,
    *,
    target: Target = "dataset",
    confidence_level: float | None = 0.95,
) -> Interval:
    """Bound the ROC AUC when the odds of being labelled differ by at most a factor (Γ).

    Parameters as of `biased_recall`; at Γ = 1 the interval of `undercount.metrics.roc_auc`.

    Notes
    -----
    Assumes: between any two positives the odds of being labelled differ at most by `odds_ratio`;
    labels are pure; the prevalence is right.
    Wrong when: labelling depends on the score more strongly than that.

    Examples
    --------
    >>> import undercount as uc
    >>> counts = uc.ScoreCounts.from_rows([1, None, 1, None, None], [5, 4, 3, 2, 1])
    >>> fair = uc.biased_auc(counts, uc.Shares(0.1), 1.0, confidence_level=None)
    >>> round(fair.low, 4) == round(fair.high, 4)
    True
    """
    ends = bias_ends(counts, shares, "roc_auc", target=target, confidence_level=confidence_level)
    return Interval(*ends(odds_ratio))


def bias_ends(
    counts: ScoreCounts,
    shares: Shares,
    metric: str,
    *,
    threshold: float | None = None,
    target: Target = "dataset",
    confidence_level: float | None = 0.95,
) -> Callable[[float], Ends]:
    """Return the function from a labelling bias (Γ) to the least and the largest value.

    What does not depend on the bias is worked out once. NaN if the metric does not exist here.
    """
    level = 0.0 if confidence_level is None else check_confidence_level(confidence_level)
    design = design_of(counts, shares, shares.sampling, target)
    bound: _AreaBias | _PointBias
    if metric in BIASED_AREAS:
        if not design.pure:
            raise InputError(
                f"a labelling bias of {metric} needs pure labels; "
                f"{named('purity')} is {shares.label_purity:g}"
            )
        bound = _AreaBias(counts, design, metric, level)
    elif metric in metric_names() and threshold is not None:
        bound = _PointBias(
            FlaggedCounts.at(counts, design, read_threshold(threshold)), metric, level
        )
    else:
        raise InputError(
            "bias of labelling is followed for roc_auc, lift_auc and metrics at a threshold; "
            f"got {metric!r}"
        )

    def ends(odds_ratio: float) -> Ends:
        if not 1 <= real_number(odds_ratio) <= _LARGEST_BIAS:
            raise InputError(
                f"odds_ratio must be at least 1, and at most {_LARGEST_BIAS:g}; got {odds_ratio!r}"
            )
        bounds, plain = bound.ends(odds_ratio), bound.plain
        if level == 0:
            return min(bounds), max(bounds)
        if math.isnan(plain.value):
            return math.nan, math.nan
        if odds_ratio == 1:
            return plain.low, plain.high
        # Where the shares do not fit, what is possible may lie inside the interval; NaN: nowhere.
        low, high = float(np.fmin(plain.low, min(bounds))), float(np.fmax(plain.high, max(bounds)))
        return low, high

    return ends


def largest_bias(ends: Callable[[float], Ends], value: float) -> float:
    """Return the largest bias at which the lower end is enough; NaN: none, infinity: a thousand."""

    @cache  # the search asks for both ends of its range again
    def excess(log_ratio: float) -> float:
        return ends(math.exp(log_ratio))[0] - value

    if not excess(0.0) >= 0:
        return math.nan
    top = math.log(LARGEST_ODDS_RATIO)
    if excess(top) >= 0:
        return math.inf
    return math.exp(float(brentq(excess, 0.0, top)))


def hidden_rate(rate: Any, odds_ratio: float) -> Any:
    """Return the rate of the hidden positives if the odds of the labelled are so much larger."""
    return rate / (rate + odds_ratio * (1 - rate))


def least_rate(
    rate: float, trials: float, labelled_share: float, odds_ratio: float, z: float
) -> float:
    """Return the lower limit of the rate among labelled positives that were preferred by Γ.

    Of a pool of positives a known number is labelled; how many of these are flagged then has
    Fisher's noncentral hypergeometric distribution, of variance 1/(1/a + 1/b), where a and b are
    the binomial variances of the numbers flagged among the labelled and among the hidden. The
    limit is `z` of *its own* standard errors below the rate (a score interval): Wilson's at
    `trials`, if there is no bias.
    """
    if z == 0 or not math.isfinite(trials):
        return rate
    low, high = 0.0, rate
    for _ in range(_UNIT_HALVINGS):
        middle = (low + high) / 2
        heavier = (middle + odds_ratio * (1 - middle)) ** 2 / odds_ratio
        size = trials * (1 - labelled_share + labelled_share * heavier)
        if size * (rate - middle) ** 2 <= z * z * middle * (1 - middle):
            high = middle
        else:
            low = middle
    return high


def _labelled_share(design: MixtureDesign) -> Any:
    """Return the share of the target's positives that are labelled: 0 if these were drawn apart."""
    if design.sampling == "case-control":
        return 0.0
    labelled = design.label_purity * design.sizes[LABELLED]
    return np.clip(labelled / np.maximum(design.mixing.positives, 1e-300), 0.0, 1.0)


def _hidden(design: MixtureDesign) -> float:
    """Return the number of positives among the unlabeled rows."""
    labelled = design.sizes[LABELLED] if design.sampling == "single-sample" else 0.0
    return max(float(design.mixing.positives - labelled), 0.0)


@dataclass(frozen=True, eq=False)
class _BiasedHeads(FlaggedCounts):
    """Rows predicted positive, and how much likelier flagged positives were labelled, by odds."""

    odds_ratio: float = 1.0

    def at_rates(self, rates: FloatArray) -> "_BiasedHeads":
        return replace(self, heads=rates * self.sizes)

    def with_sizes(self, sizes: FloatArray) -> "_BiasedHeads":
        design = replace(self.design, sizes=sizes)
        return replace(self, heads=self.rates * sizes, design=design)

    @cached_property
    def point(self) -> RatePoint:
        mixing, rate = self.design.mixing, self.rates[LABELLED]
        flagged, prevalence = mixing.exact_rates(*self.rates)[2], mixing.prevalence
        share = _labelled_share(self.design)
        tpr = share * rate + (1 - share) * hidden_rate(rate, self.odds_ratio)
        fpr = (flagged - prevalence * tpr) / (1 - prevalence)
        return RatePoint(tpr, fpr, prevalence, flagged)


@dataclass(frozen=True)
class _PointBias:
    """A metric at a threshold; every one moves one way with the recall of the hidden positives."""

    heads: FlaggedCounts
    name: str
    level: float

    @cached_property
    def plain(self) -> Found:
        """The estimate without bias."""
        interval = threshold_interval(self.heads, self.name, confidence_level=self.level)
        value, low, high = (float(part) for part in interval)
        return Found(value, min(low, value), max(high, value), math.nan, "")

    def ends(self, odds_ratio: float) -> Ends:
        """Return the two ends, in any order."""
        design = self.heads.design
        if not design.pure:
            return self._read(*self._impure_points(odds_ratio))
        if design.target == "population":
            return self._combine(self._population, odds_ratio)
        if design.frequency_known and "prevalence" in FACTS[self.name].needs:
            low, high = self._combine(self._by_side, odds_ratio)
            least, most = certain_limits(self.heads, self.name)
            return float(np.clip(low, least, most)), float(np.clip(high, least, most))
        return self._read(self._tables(odds_ratio))

    def _read(self, *points: RatePoint) -> Ends:
        low, high = np.hstack(read_metric(points, self.name))
        return float(low), float(high)

    def _combine(self, points: Callable[[float], list[RatePoint]], odds_ratio: float) -> Ends:
        """Take the end of each bias' interval that lies farther out."""
        ends = []
        for ratio in (odds_ratio, 1 / odds_ratio):
            middle, *limits = read_metric(points(ratio), self.name)
            ends.append(combine(middle, limits, self.name))
        lows, highs = zip(*ends, strict=True)
        return float(min(lows)), float(max(highs))

    def _tables(self, odds_ratio: float) -> RatePoint:
        """Tables of these very rows with the fewest and the most true positives."""
        design, hidden, labelled = self.heads.design, _hidden(self.heads.design), self._labelled

        def hits(rate: float) -> float:
            share = labelled / (labelled + hidden)
            limit = least_rate(rate, self._trials, share, odds_ratio, self._z)
            return labelled * limit + hidden * float(hidden_rate(limit, odds_ratio))

        rate = float(self.heads.rates[LABELLED])
        taken = float(self.heads.heads[LABELLED]) if design.sampling == "case-control" else 0.0
        ends = hits(rate), labelled + hidden - hits(1 - rate)  # misses and hits change places
        positives = np.asarray(design.mixing.positives, dtype=float)
        return table_point(self.heads, np.array(ends) - taken, positives)

    @cached_property
    def _z(self) -> float:
        return two_sided_z(self.level)

    @cached_property
    def _trials(self) -> float:
        """Independent draws that are worth the labels, among positives of which some are known."""
        design, hidden, labelled = self.heads.design, _hidden(self.heads.design), self._labelled
        size = float(design.effective[LABELLED])
        if design.frequency_known:
            return size / max(1 - float(design.value), 1e-300)
        if np.all(design.units == 1):
            return float(finite_size(labelled, labelled + hidden))
        return size / max(hidden / (labelled + hidden), 1e-300)

    def _population(self, odds_ratio: float) -> list[RatePoint]:
        heads = _BiasedHeads(self.heads.heads, self.heads.design, odds_ratio=odds_ratio)
        base, _, *limits = population_limits(heads, self.level, "wilson").points
        return [base, *limits]

    def _by_side(self, odds_ratio: float) -> list[RatePoint]:
        """Label frequency known: the chance of a label is another one on either side."""
        heads, sizes, design = self.heads.heads, self.heads.sizes, self.heads.design
        rate, frequency = float(self.heads.rates[LABELLED]), float(design.value)
        flagged, total, z = heads.sum(axis=0), sizes.sum(axis=0), self._z
        odds = frequency / max(1 - frequency, 1e-300) * (rate + odds_ratio * (1 - rate))
        chances = odds / (1 + odds), odds / (odds_ratio + odds)
        seen = heads[LABELLED], sizes[LABELLED] - heads[LABELLED]
        most = total - design.units[LABELLED] / 2  # at least half a row is negative

        def point(hits: Any, misses: Any) -> RatePoint:
            with np.errstate(divide="ignore", invalid="ignore"):
                fitting = np.minimum(1.0, most / (hits + misses))
            return table_rates(hits * fitting, (hits + misses) * fitting, flagged, total)

        sums = [labelled / chance for labelled, chance in zip(seen, chances, strict=True)]
        limits = [
            number_limits(labelled, chance, z, design)
            for labelled, chance in zip(seen, chances, strict=True)
        ]
        return [
            point(*sums),
            *(point(end, sums[1]) for end in limits[0]),
            *(point(sums[0], end) for end in limits[1]),
        ]

    def _impure_points(self, odds_ratio: float) -> list[RatePoint]:
        """Rates at the limits of recall; wrong labels are taken to be as without bias."""
        point, share = self.heads.point, float(_labelled_share(self.heads.design))
        prevalence = float(point.prevalence)
        flagged = float(point.predicted_positive_rate)
        _, *limits = threshold_interval(self.heads, "recall", confidence_level=self.level)
        points = []
        for limit, ratio in zip(limits, (odds_ratio, 1 / odds_ratio), strict=True):
            rate = min(max(float(limit), 0.0), 1.0)
            tpr = share * rate + (1 - share) * float(hidden_rate(rate, ratio))
            if prevalence > 0:  # no more positives are flagged than rows, no more negatives either
                tpr = max(min(tpr, flagged / prevalence), (flagged - 1 + prevalence) / prevalence)
            fpr = (flagged - prevalence * tpr) / (1 - prevalence)
            points.append(RatePoint(np.asarray(tpr), np.asarray(fpr), prevalence))
        return points

    @property
    def _labelled(self) -> float:
        return float(self.heads.design.sizes[LABELLED])


@dataclass(frozen=True)
class _AreaBias:
    """An area that is the mean position of the positives among all rows, or its image."""

    counts: ScoreCounts
    design: MixtureDesign
    name: str
    level: float

    @cached_property
    def plain(self) -> Found:
        """The estimate without bias."""
        if self.level == 0:
            return Found(math.nan, math.nan, math.nan, math.nan, "")
        interval = area_estimate(
            self.counts,
            self.design,
            self.name,
            max_fpr=None,
            confidence_level=self.level,
            errors=NO_ERRORS,
        )
        low, high = min(interval.low, interval.value), max(interval.high, interval.value)
        return replace(interval, low=low, high=high)

    @cached_property
    def position(self) -> FloatArray:
        """Share of the target's rows below each cell; ties count one half."""
        everyone = self.design.mixing.everyone @ cell_rows(self.counts).masses
        return np.asarray(1 - (np.cumsum(everyone) - everyone / 2))

    @cached_property
    def mass(self) -> FloatArray:
        """Share of the labelled rows in each cell."""
        return np.asarray(cell_rows(self.counts).masses[LABELLED])

    def ends(self, odds_ratio: float) -> Ends:
        """Return the two ends."""
        low, high = (self._end(odds_ratio, best=best) for best in (False, True))
        return low, high

    def _end(self, odds_ratio: float, *, best: bool) -> float:
        weight, mean = self._extreme(odds_ratio, best=best)
        end = self._area(mean)
        if self.level > 0:
            far = (self.plain.high if best else self.plain.low) - self.plain.value
            end += far * self._reach(weight, mean)[best] / (self._plain_reach[best] or 1.0)
        if self.design.target == "dataset":
            least, most = self._room
            end = min(max(end, least), most)
        return min(max(end, 0.0), 1.0)

    def _area(self, mean: float) -> float:
        """Return the area if this is the mean position of the hidden positives."""
        share = float(_labelled_share(self.design))
        lift = share * self._labelled_mean + (1 - share) * mean
        if self.name == "lift_auc":
            return lift
        prevalence = float(self.design.mixing.prevalence)
        return (lift - prevalence / 2) / (1 - prevalence)

    def _extreme(self, odds_ratio: float, *, best: bool) -> tuple[FloatArray, float]:
        """Return weights of the labelled rows with an extreme mean position, and that mean.

        All above some cell weigh Γ times as much as the others, or all below.
        """
        order = slice(None) if best else slice(None, None, -1)
        mass, moved = self.mass[order], (self.mass * self.position)[order]
        means = (moved.sum() + (odds_ratio - 1) * np.cumsum(moved)) / (
            mass.sum() + (odds_ratio - 1) * np.cumsum(mass)
        )
        place = int(np.argmax(means) if best else np.argmin(means))
        weight = np.where(np.arange(len(mass)) <= place, odds_ratio, 1.0)[order]
        return weight / dot(self.mass, weight), float(means[place])

    @cached_property
    def _labelled_mean(self) -> float:
        return dot(self.mass, self.position)

    @cached_property
    def _plain_reach(self) -> Ends:
        return self._reach(np.ones(len(self.mass)), self._labelled_mean)

    def _reach(self, weight: FloatArray, mean: float) -> Ends:
        """Return how far the ends of an interval are from the mean position, up to a factor.

        At the extreme the weights may be held fast (envelope theorem), so a labelled row adds its
        weighted distance from the mean. Few heavy rows make it skew, hence Hall's cubic.
        """
        size = float(self.design.effective[LABELLED])
        variance, moments = self._moments(weight, mean)
        if not variance > 0:
            return 0.0, 0.0
        t = float(stdtrit(max(size - 1, 1.0), (1 + self.level) / 2))
        low, high = skewed_interval(0.0, math.sqrt(variance), moments, t)
        return -low, high

    def _moments(self, weight: FloatArray, mean: float) -> tuple[float, Ends]:
        """Return the variance of the mean position, and its third moments (`third_moments`).

        For these very rows the hidden positives vary as well, around the same mean.
        """
        design = self.design
        if design.target == "population":
            share, pull = float(_labelled_share(design)), weight * (self.position - mean)
            positive = self.mass * (share + (1 - share) * weight)
            influence = Influence(
                mean,
                positive=share * self.position + (1 - share) * (mean + pull),
                everyone=np.cumsum(positive) - positive / 2,
            )
            moves = Spread(design, cell_rows(self.counts), influence)
            return float(moves.variance), third_moments(moves)
        size = float(design.effective[LABELLED])
        other = float(design.sizes[LABELLED]) / (_hidden(design) or math.inf)  # to one labelled
        squares, cubes = np.zeros(2), np.zeros(3)
        for part in blocks(len(self.mass)):
            gap = self.position[part] - mean
            pull = weight[part] * gap
            product = self.mass[part] * pull
            labelled, mixed = product * pull, product * gap
            squares += labelled.sum(), mixed.sum()
            cubes += labelled @ pull, labelled @ gap, mixed @ gap
        variance = float(squares[0] + other * squares[1]) / size
        if size <= _FEWEST:
            return variance, (0.0, 0.0)
        unbias = 1 / ((size - 1) * (size - 2))
        return variance, (
            float(cubes[0] - other**2 * cubes[2]) * unbias,
            float(cubes[0] + other * cubes[1]) * unbias,
        )

    @cached_property
    def _room(self) -> Ends:
        """The area if the hidden positives are the last, or the first, of the unlabeled rows."""
        hidden, unlabeled = _hidden(self.design), self.counts.unlabeled
        ends = []
        for order in (slice(None, None, -1), slice(None)):
            rows = unlabeled[order]
            taken = np.clip(hidden - (np.cumsum(rows) - rows), 0.0, rows)
            mean = dot(taken, self.position[order]) / (float(taken.sum()) or 1.0)
            ends.append(self._area(mean))
        return ends[0], ends[1]
