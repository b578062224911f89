"""Paired differences of models on the same rows, metric by metric."""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from scipy.optimize import brentq

from undercount.assume.base import Recovery
from undercount.curve import ROUNDING, FloatArray
from undercount.estimate import Estimate
from undercount.infer.clusters import ClusterRows
from undercount.infer.difference import (
    Chance,
    Difference,
    Question,
    better_chance,
    holm_adjusted,
    possible_ends,
)
from undercount.infer.heads import HeadCounts, RatePoint
from undercount.infer.paired import ModelPairs, ModelRows
from undercount.infer.sensitivity import AreaSums
from undercount.metric_facts import FACTS
from undercount.shares import Shares

GRID = 201
# Points at which the interval of a share is tried.
RANGE_POINTS = 5


class Model:
    """One model's rows, its own estimates, and what its metrics at any share are read from."""

    def __init__(self, recovery: Recovery, table: Mapping[str, Estimate], rows: ModelRows) -> None:
        self.recovery, self.rows, self.shares = recovery, rows, recovery.shares
        self.table = table
        self._points: dict[tuple[int, bytes], RatePoint] = {}
        self._known: dict[tuple[str, int, bytes], FloatArray] = {}

    @property
    def threshold(self) -> float | None:
        """The model's own threshold; None if only areas are compared."""
        return self.rows.cuts[0].threshold if len(self.rows.cuts) > 1 else None

    @cached_property
    def _sums(self) -> AreaSums:
        return AreaSums(self.recovery.counts, self.shares)

    def value(self, metric: str, cut: int | None) -> float:
        """Return a metric of the table, or at another cut than the threshold.

        One that the data leave open has the value at the share in use: models are compared at one
        share, whichever it is.
        """
        if cut is None or (cut == 0 and metric in self.table):
            known = self.table[metric]
            if not known.range_only:
                return known.value
            return float(self.values(metric, cut, np.array([self.shares.unlabeled_prevalence]))[0])
        return float(self._point(cut, None).metric(metric))

    def values(self, metric: str, cut: int | None, shares: FloatArray) -> FloatArray:
        """Return a metric at each share of positives among the unlabeled rows; kept for pairs."""
        key = metric, -1 if cut is None else cut, shares.tobytes()
        if key not in self._known:
            self._known[key] = self._at(metric, cut, shares)
        return self._known[key]

    def _at(self, metric: str, cut: int | None, shares: FloatArray) -> FloatArray:
        if cut is None:
            return self._sums.at(metric, shares, self.shares.label_purity)
        return self._point(cut, shares).metric(metric)

    def _point(self, cut: int, shares: FloatArray | None) -> RatePoint:
        """Return the rates at a cut, if need be at other shares; all metrics read the same."""
        key = cut, b"" if shares is None else shares.tobytes()
        if key not in self._points:
            heads, design = self.rows.heads[cut], self.rows.design
            if shares is not None:
                heads = np.repeat(heads[:, np.newaxis], len(shares), axis=1)
                design = replace(design, given="unlabeled_prevalence", value=shares)
            self._points[key] = HeadCounts(heads, design).point
        return self._points[key]

    def cluster_parts(self, metric: str, cut: int | None) -> list[FloatArray]:
        """Return what each row of a kind, if rows come in clusters, moves a metric by."""
        at = None if cut is None else self.rows.cuts[cut].threshold
        counts, by_cluster = self.recovery.counts_at(at), self.recovery.clusters
        whose = cast("ClusterRows", by_cluster)
        return whose.parts(counts, self.rows.design, metric, threshold=at)


@dataclass(frozen=True)
class Gap:
    """The difference of two models in one metric, at any share of hidden positives."""

    metric: str
    one: Model
    other: Model
    shares: Shares
    top: float  # the largest share that the models' scores allow
    cut: int | None = None

    @cached_property
    def values(self) -> tuple[float, float]:
        """The values of the two models."""
        return self.one.value(self.metric, self.cut), self.other.value(self.metric, self.cut)

    @property
    def value(self) -> float:
        """The difference of the two values."""
        return self.values[0] - self.values[1]

    @property
    def same_work(self) -> bool:
        """Whether both models flag as many rows."""
        return self.cut is not None and self.one.rows.cuts[self.cut].densities is not None

    def at(self, shares: FloatArray) -> FloatArray:
        """Return the difference at each share."""
        values = (model.values(self.metric, self.cut, shares) for model in (self.one, self.other))
        return np.subtract(*values)

    @cached_property
    def possible(self) -> float:
        """The difference of the two values, each inside the metric's range."""
        return float(np.subtract(*(self._inside(value) for value in self.values)))

    def _inside(self, values: Any) -> FloatArray:
        return np.asarray(np.clip(values, *FACTS[self.metric].range))

    @cached_property
    def reach(self) -> tuple[float, float]:
        """How far the difference falls and rises over the interval of the share."""
        span = self.shares.unlabeled_prevalence_interval
        if span is None:
            return 0.0, 0.0
        shares = np.linspace(span.low, min(span.high, self.top), RANGE_POINTS)
        shares = np.append(self.shares.unlabeled_prevalence, shares)
        models = self.one, self.other
        gaps = np.subtract(*(self._inside(m.values(self.metric, self.cut, shares)) for m in models))
        moves = gaps[1:] - gaps[0]
        return max(0.0, -float(moves.min())), max(0.0, float(moves.max()))

    def crossover(self, margin: float = 0.0) -> float:
        """Find the hidden share nearest to the one in use at which the difference passes a margin.

        NaN if it does nowhere that the scores allow. Without a margin the order flips there.
        """
        grid = np.linspace(0, self.top, GRID)
        gaps = self.at(grid) - margin
        gaps[np.abs(gaps) <= ROUNDING] = 0.0  # the same ranking, summed up in other cells
        flips = np.flatnonzero(gaps[1:] * gaps[:-1] < 0)
        if not flips.size:
            return math.nan
        i = int(flips[np.argmin(np.abs(grid[flips] - self.shares.unlabeled_prevalence))])
        return float(grid[i] + (grid[i + 1] - grid[i]) * gaps[i] / (gaps[i] - gaps[i + 1]))


class Paired:
    """Differences of every pair of models on the same rows, for one question."""

    def __init__(self, models: Mapping[str, Model], question: Question) -> None:
        self.models, self.question = models, question
        first = next(iter(models.values()))
        self.shares, self.level = first.shares, first.recovery.confidence_level
        self.fixed = _fixed_orders(self.shares, n_negative=first.recovery.counts.n_negative)
        self.pairs = list(itertools.combinations(models, 2))
        self.errors = ModelPairs([model.rows for model in models.values()])
        largest = min(model.recovery.unknowns.largest_share for model in models.values())
        # The largest share that every model's scores allow.
        self.top = self.shares.below(largest)

    def differences(self, metric: str, cut: int | None = None) -> list[Difference]:
        """Return the difference of each pair in one metric; of areas without a cut."""
        found = [self._difference(metric, cut, *names) for names in self.pairs]
        return holm_adjusted(found)

    def gap(self, metric: str, cut: int | None, one: str, other: str) -> Gap:
        """Return the difference of two models in one metric, at any share."""
        return Gap(metric, self.models[one], self.models[other], self.shares, self.top, cut)

    def _difference(self, metric: str, cut: int | None, one: str, other: str) -> Difference:
        gap = self.gap(metric, cut, one, other)
        names = list(self.models)
        places = names.index(one), names.index(other)
        error = self._error(metric, cut, *places)
        chance = Chance(error, self._freedom)
        if metric == "average_precision":
            skewness = self.errors.precision_skewness(*places, error / self._label_doubt)
            chance = replace(chance, skewness=skewness)
        chance = self._by_cluster(chance, gap)
        estimate = self._with_interval(gap, chance)
        depends = not self._is_fixed(gap)
        p_value = self._p_value(gap, chance)
        return Difference(
            metric,
            one,
            other,
            estimate,
            better_chance(gap.value, p_value),
            p_value,
            p_value,
            depends,
            gap.crossover() if depends else math.nan,
            self.question,
        )

    def _error(self, metric: str, cut: int | None, one: int, other: int) -> float:
        """Return the standard error of a difference; over a range of shares the largest.

        Two models may differ by nothing at every share of a range, and by how little is known
        nevertheless be a matter of the share.
        """
        # The error of an average precision is a jackknife's at the share in use.
        ends = self._range_ends if metric != "average_precision" else ()
        found = [
            errors.area_error(metric, one, other)
            if cut is None
            else errors.flag_error(metric, one, other, cut)
            for errors in ends or (self.errors,)
        ]
        return float(max(found)) * (1.0 if ends else self._label_doubt)

    @cached_property
    def _range_ends(self) -> tuple[ModelPairs, ...]:
        """The errors at both ends of a range of shares that was given."""
        span = self.shares.unlabeled_prevalence_interval
        if span is None or self.shares.unlabeled_prevalence_error > 0:
            return ()
        return tuple(self.errors.at(end) for end in (span.low, min(span.high, self.top)))

    def _is_fixed(self, gap: Gap) -> bool:
        """Whether no share changes the order: of as many flagged rows recall alone decides."""
        return gap.metric in self.fixed or (
            gap.same_work and "recall" in self.fixed and self.shares.label_purity == 1
        )

    @property
    def _freedom(self) -> float:
        """As for single metrics: the labels are what there is least of."""
        return next(iter(self.models.values())).rows.design.freedom

    def _by_cluster(self, chance: Chance, gap: Gap) -> Chance:
        """Return the chance of a difference if rows come in clusters, by what each row adds."""
        clusters = gap.one.recovery.clusters
        if not isinstance(clusters, ClusterRows):  # models are compared row by row
            return chance
        parts = [model.cluster_parts(gap.metric, gap.cut) for model in (gap.one, gap.other)]
        gaps = [one - other for one, other in zip(*parts, strict=True)]
        design = clusters.with_parts(gap.one.rows.design, gaps)
        error = chance.error * math.sqrt(design.cluster_effect)
        return replace(chance, error=error, freedom=design.freedom)

    @cached_property
    def _label_doubt(self) -> float:
        """How much wider errors are at the end of the share's interval that hides most positives.

        For these very rows labelled positives are certain, so that errors shrink with the share of
        positives that carry a label; where that share is an estimate, so would the errors be.
        """
        span = self.shares.unlabeled_prevalence_interval
        design = next(iter(self.models.values())).rows.design
        if span is None or not design.counted:
            return 1.0
        ends = [
            replace(design, given="unlabeled_prevalence", value=s)
            for s in (self.shares.unlabeled_prevalence, span.high)
        ]
        now, most = (float(end.unlabelled_share) for end in ends)
        return math.sqrt(most / now) if now > 0 else math.nan

    def _with_interval(self, gap: Gap, chance: Chance) -> Estimate:
        """Add to the chance of the rows what the share's interval does to the difference."""
        t, value, (falls, rises) = chance.quantile(self.level), gap.value, gap.reach
        below, above = chance.below(t), chance.above(t)
        if self.shares.unlabeled_prevalence_error == 0:  # a range: every share in it is possible
            low, high, share_error = value - falls - below, value + rises + above, 0.0
        else:  # an estimate: its error is one more chance
            low, high = value - math.hypot(falls, below), value + math.hypot(rises, above)
            share_error = (falls + rises) / (2 * t)
        if self._is_fixed(gap):
            # The share scales such a difference and never turns it round.
            low = max(low, 0.0) if value - below > 0 else low
            high = min(high, 0.0) if value + above < 0 else high
        error = math.hypot(chance.error, share_error)
        facts = FACTS[gap.metric]
        needs = facts.needs if self.shares.label_purity == 1 else facts.needs_if_impure
        low, high = possible_ends(gap.metric, gap.possible, low, high)
        return Estimate(gap.possible, low, high, error, self.level, needs, "paired")

    def _p_value(self, gap: Gap, chance: Chance) -> float:
        """Return the p-value that is small where the interval of the difference leaves out 0."""
        value = gap.value
        # Where no share changes the order, none belongs into the question whether there is one.
        if self._is_fixed(gap):
            return chance.p_value(chance.score(value))
        nearer = gap.reach[0 if value > 0 else 1]
        if self.shares.unlabeled_prevalence_error == 0:
            rest = math.copysign(max(abs(value) - nearer, 0.0), value)
            return chance.p_value(chance.score(rest))
        return chance.p_value(self._joint_score(chance, value, nearer))

    def _joint_score(self, chance: Chance, value: float, nearer: float) -> float:
        """Return the quantile at which an interval ends at 0 that holds an estimated share's error.

        The reach of the share is that at the level in use, and grows with the quantile.
        """
        t, most = chance.quantile(self.level), chance.score(value)
        reach = chance.below if value > 0 else chance.above

        def beyond(score: float) -> float:
            return math.hypot(reach(score), nearer * score / t) - abs(value)

        if math.isnan(most) or nearer == 0:
            return most
        if math.isinf(most):
            return t * abs(value) / nearer
        return float(brentq(beyond, 0.0, 2 * most)) if beyond(0.0) < 0 < most else 0.0


def _fixed_orders(shares: Shares, *, n_negative: float) -> frozenset[str]:
    """Return the metrics in which no share of hidden positives changes the order of two models."""
    pure = shares.label_purity == 1
    # Known negatives join the recovered ones in a part that moves with the share.
    if not pure and shares.sampling == "single-sample" and n_negative > 0:
        return frozenset()
    orders = ("always", "pure") if pure else ("always",)
    return frozenset(name for name, facts in FACTS.items() if facts.order_fixed in orders)
