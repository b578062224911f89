"""Paired differences of models on the same rows, metric by metric."""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from undercount.assume.base import Recovery
from undercount.counts import ScoreCounts
from undercount.curve import NO_ROWS_ROUNDING, FloatArray
from undercount.errors import InputError
from undercount.estimate import Estimate
from undercount.infer.clusters import ClusterRows, centred_parts
from undercount.infer.deployed import Deployment, cell_values, lift_scale
from undercount.infer.difference import (
    PAIRED_AREAS,
    PAIRED_POINTS,
    Chance,
    Difference,
    MovedDifference,
    Question,
    better_chance,
    holm_adjusted,
)
from undercount.infer.heads import FlaggedCounts, RatePoint
from undercount.infer.metric_at import MetricAt
from undercount.infer.mixture import design_of
from undercount.infer.paired import ModelPairs, ModelRows
from undercount.infer.sensitivity import AreaSums
from undercount.metric_facts import FACTS
from undercount.shares import Shares

TRIED_SHARES = 201
# With the prevalence elsewhere given, no share of hidden positives here turns the order in these:
# precision follows from the ratio of the two rates, and that from the ratio of flagged rows.
FIXED_THERE = frozenset({"recall", "precision", "roc_auc", "lift_auc"})
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
            row = self.table[metric]
            if not row.range_only:
                return row.value
            return float(self.values(metric, cut, np.array([self.shares.unlabeled_prevalence]))[0])
        return float(self._point(cut, None).metric(metric))

    def values(self, metric: str, cut: int | None, shares: FloatArray) -> FloatArray:
        """Return a metric at each share of positives among the unlabeled rows; kept for pairs."""
        key = metric, -1 if cut is None else cut, shares.tobytes()
        if key not in self._known:
            self._known[key] = self._at(metric, cut, shares)
        return self._known[key]

    def _at(self, metric: str, cut: int | None, shares: FloatArray) -> FloatArray:
        there, purity = self.rows.prevalence, self.shares.label_purity
        if cut is not None:
            point = self._point(cut, shares)
            if there is not None:
                point = RatePoint(point.tpr, point.fpr, np.full(len(shares), there))
            return point.metric(metric)
        if there is None:
            return self._sums.at(metric, shares, purity)
        if metric == "average_precision":
            moved = [self.shares.exact(float(share)) for share in shares]
            deployed = self._deployed(self.recovery.counts, there)
            return np.array([deployed.mean_precision(deployed.design(each)) for each in moved])
        low, scale = lift_scale(metric, there)
        return low + scale * self._sums.at("roc_auc", shares, purity)

    def _deployed(self, counts: ScoreCounts, prevalence: float) -> Deployment:
        return Deployment(counts, self.shares, prevalence)

    def there(self, prevalence: float) -> "Model":
        """Return the model where another share of rows is positive, of the population behind."""
        recovery, shares = self.recovery, self.shares
        design = design_of(recovery.counts, shares, shares.sampling, "population")
        rows = replace(self.rows, design=design, prevalence=prevalence)
        return Model(recovery, carried_table(recovery, prevalence, self.threshold), rows)

    def _point(self, cut: int, shares: FloatArray | None) -> RatePoint:
        """Return the rates at a cut, if need be at other shares; all metrics read the same."""
        key = cut, b"" if shares is None else shares.tobytes()
        if key not in self._points:
            heads, design = self.rows.heads[cut], self.rows.design
            if shares is not None:
                heads = np.repeat(heads[:, np.newaxis], len(shares), axis=1)
                design = replace(design, given="unlabeled_prevalence", value=shares)
            self._points[key] = FlaggedCounts(heads, design).point
        return self._points[key]

    def cluster_parts(self, metric: str, cut: int | None) -> list[FloatArray]:
        """Return what each row of a kind, if rows come in clusters, moves a metric by."""
        at = None if cut is None else self.rows.cuts[cut].threshold
        counts, by_cluster = self.recovery.counts_at(at), self.recovery.clusters
        rows, there = cast("ClusterRows", by_cluster), self.rows.prevalence
        if there is None:
            return rows.parts(counts, self.rows.design, metric, threshold=at)
        moves = self._deployed(counts, there).moves(self.rows.design, metric, at)
        return rows.of_rows(counts, centred_parts(counts, moves, cell_values(counts, at)))


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
        grid = np.linspace(0, self.top, TRIED_SHARES)
        gaps = self.at(grid) - margin
        gaps[np.abs(gaps) <= NO_ROWS_ROUNDING] = 0.0  # the same ranking, summed up in other cells
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
        if first.rows.prevalence is not None:
            self.fixed &= FIXED_THERE
        self.pairs = list(itertools.combinations(models, 2))
        self.errors = ModelPairs([model.rows for model in models.values()])
        largest = min(model.recovery.unknowns.largest_share for model in models.values())
        # The largest share that every model's scores allow.
        self.top = self.shares.below(largest)

    def there(self, prevalence: float) -> "Paired":
        """Return the same where another share of rows is positive, of the population behind.

        Notes
        -----
        Assumes: positives there score as positives here, negatives as negatives, for every model.
        Wrong when: one of the models feels what else differs there more than another does.
        """
        models = {name: model.there(prevalence) for name, model in self.models.items()}
        return Paired(models, "population")

    def differences(self, metric: str, cut: int | None = None) -> list[Difference]:
        """Return the difference of each pair in one metric; of areas without a cut."""
        gaps = [self._difference(metric, cut, *names) for names in self.pairs]
        return holm_adjusted(gaps)

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
        moved, facts = self._moved(gap), FACTS[metric]
        needs = facts.needs if self.shares.label_purity == 1 else facts.needs_if_impure
        p_value = moved.p_value(chance)
        return Difference(
            metric,
            one,
            other,
            moved.estimate(chance, needs),
            better_chance(gap.value, p_value),
            p_value,
            p_value,
            not moved.fixed,
            math.nan if moved.fixed else gap.crossover(),
            self.question,
        )

    def _moved(self, gap: Gap) -> MovedDifference:
        """Return the difference, and how far the interval of the share moves it."""
        estimated = self.shares.unlabeled_prevalence_error > 0
        numbers = gap.value, gap.possible, *gap.reach
        return MovedDifference(gap.metric, *numbers, estimated, self._is_fixed(gap), self.level)

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


def _fixed_orders(shares: Shares, *, n_negative: float) -> frozenset[str]:
    """Return the metrics in which no share of hidden positives changes the order of two models."""
    pure = shares.label_purity == 1
    # Known negatives join the recovered ones in a part that moves with the share.
    if not pure and shares.sampling == "single-sample" and n_negative > 0:
        return frozenset()
    orders = ("always", "pure") if pure else ("always",)
    return frozenset(name for name, facts in FACTS.items() if facts.order_fixed in orders)


def carried_table(
    recovery: Recovery, prevalence: float, threshold: float | None
) -> dict[str, Estimate]:
    """Return a model's metrics there by name, without those that do not exist there."""
    places = [MetricAt(metric, prevalence=prevalence) for metric in PAIRED_AREAS]
    if threshold is not None:
        places += [MetricAt(metric, threshold, prevalence=prevalence) for metric in PAIRED_POINTS]
    table = {}
    for at in places:
        try:
            table[at.metric] = recovery.estimate(at)
        except InputError as error:
            if error.code != "misfit":  # these rows allow the shares, the population less so
                raise
    return table
