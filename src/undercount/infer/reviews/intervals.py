"""Metrics of reviewed rows with their intervals: gradients meet the strata of the review."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from scipy.special import ndtri, stdtrit

from undercount.curve import FloatArray
from undercount.estimate import Estimate, check_confidence_level, delta_interval
from undercount.infer.mass_gradients import (
    SUMS_OVER_PAIRS,
    MassGradient,
    mass_gradient,
    metric_values,
    without_rounding,
)
from undercount.infer.mixture import Target
from undercount.infer.reviews.clusters import ReviewClusters
from undercount.infer.reviews.ends import PATH, Gaps, moved_interval, open_variance, sides_of
from undercount.infer.reviews.stratum_shares import StratumShares
from undercount.infer.reviews.verdicts import CrossedCells, ReviewedCells
from undercount.metric_facts import FACTS, Scale

METHOD = "strata of reviews"
# Where an interval holds this part of a metric's range, nothing can be said of it yet.
OPEN_AT = 0.9
# Verdicts say as much of the order of rows, however many of them are positive.
WITHOUT_PREVALENCE = (*SUMS_OVER_PAIRS, "partial_roc_auc")
# So far out of its range may a value lie by the chance of the draw, and is taken for its end.
BEYOND = 0.1


@dataclass(frozen=True, eq=False)
class ReviewedMetrics:
    """Metrics of one model on reviewed rows, nothing being assumed of the labels."""

    cells: ReviewedCells
    target: Target = "dataset"
    confidence_level: float = 0.95
    sequential: bool = False
    clusters: ReviewClusters | None = None
    prevalence: tuple[float, float] | None = None  # of the rows, if it is known, or a range of it

    def __post_init__(self) -> None:
        check_confidence_level(self.confidence_level)

    def of_metric(self, name: str) -> "ReviewedMetrics":
        """Return the estimator of a metric: an area of ranks is no sharper by a prevalence."""
        ranked = self.prevalence is not None and name in WITHOUT_PREVALENCE
        return replace(self, prevalence=None) if ranked else self

    @cached_property
    def shares(self) -> StratumShares:
        """What strata showed, for variances."""
        return StratumShares.of(self.cells)

    def gradient(self, name: str, threshold: float | None = None, **options: Any) -> MassGradient:
        """Return a metric with its gradient by masses."""
        cells, positive = self.cells, self.positives(name)
        return mass_gradient(
            cells.counts, positive, cells.everyone, name, threshold=threshold, **options
        )

    def positives(self, name: str) -> FloatArray:
        """Return the positives of each cell by which a metric is read.

        Most metrics are sums over rows, and right on average where a verdict stands for many rows
        and a cell may have fewer positives than none. Average precision is no such sum: a verdict
        would count itself as ranked above each row that it stands for, and cells of less than none
        make it far too large. It is read where rows can have them.
        """
        if name == "average_precision":
            return np.clip(self._with_total(self._possible), 0.0, self.cells.everyone)
        return self._with_total(self.cells.positive)

    @cached_property
    def _open(self) -> FloatArray:
        """Part of what is open of all positives that is open in each unit."""
        found = open_variance(self.cells, self.shares)
        return found / max(float(found.sum()), 1e-300)

    def _with_total(self, positive: FloatArray) -> FloatArray:
        """Return positives that are as many as is known, others where verdicts leave it open."""
        if self.prevalence is None:
            return positive
        lacking = float(np.mean(self.prevalence) * self.cells.everyone.sum() - positive.sum())
        return np.asarray(positive + lacking * self.cells.by_cell(self._open))

    def moves(self, gradient: MassGradient) -> FloatArray:
        """Return how far a metric moves if a row of each unit turns out to be positive.

        Where all positives are known in number, others are then fewer.
        """
        moves = self.cells.moves(gradient.turned)
        if self.prevalence is None:
            return moves
        return without_rounding(moves - float(moves @ self._open), 1e-10 * np.abs(moves).max())

    def more_by_cell(self, more: FloatArray) -> FloatArray:
        """Return by how much the positives of each cell change if units have so many more."""
        if self.prevalence is not None:
            more = more - more.sum(axis=-1, keepdims=True) * self._open
        return self.cells.by_cell(more)

    @cached_property
    def _possible(self) -> FloatArray:
        """Positives of each cell where rows can have them."""
        cells = self.cells
        return np.asarray(cells.positive - cells.hidden + cells.spread_hidden)

    def variance(self, gradient: MassGradient) -> tuple[Any, Any]:
        """Return the variance of an estimate, and its degrees of freedom."""
        drawn, freedom = self.drawn_variance(self.moves(gradient))
        return self.with_rows(drawn, freedom, gradient)

    def with_rows(self, drawn: Any, freedom: Any, gradient: MassGradient) -> tuple[Any, Any]:
        """Add to what a draw causes what other rows would, if a population is meant.

        Given the rows, what is drawn of them errs around what is true of them: variances add up.
        """
        total = drawn + self._own_variance(gradient)
        if self.target == "population" and self.clusters is not None:
            parts = self._row_parts(self.clusters, gradient)
            return self.clusters.widened(total, freedom, *parts)
        return total, freedom

    def row_variance(self, gradient: MassGradient) -> float:
        """Return the variance that the draw of the rows causes, if a population is meant."""
        variance = self._own_variance(gradient)
        if self.target == "population" and self.clusters is not None:
            variance += self.clusters.between(*self._row_parts(self.clusters, gradient))[0]
        return variance

    def _own_variance(self, gradient: MassGradient) -> float:
        """Return the same if rows are independent of each other."""
        if self.target == "dataset":
            return 0.0
        # Sums over cells are right on average, though cells may have fewer positives than none.
        positive, negative = self.cells.positive, self.cells.everyone - self.cells.positive
        found = float(positive @ gradient.positive**2) + float(negative @ gradient.negative**2)
        return mean_weight(self.cells) * max(found, 0.0)

    def _row_parts(
        self, clusters: ReviewClusters, gradient: MassGradient
    ) -> tuple[FloatArray, FloatArray]:
        """Return what each row adds to a metric as expected, and each verdict beyond that."""
        cells, place = self.cells, clusters.row_cells(self.cells.counts)
        known, unlabeled = self.shares.share, clusters.labels == -1
        by_row = isinstance(cells, CrossedCells)
        share = clusters.row_chance(known if by_row else known[place[unlabeled]])
        adds = share * gradient.positive[place] + (1 - share) * gradient.negative[place]
        if cells.apart:  # labelled rows are no part of the target
            adds = np.where(unlabeled, adds, 0.0)
        return adds, self._excess(clusters, share) * cells.weight * gradient.turned[
            place[clusters.reviewed]
        ]

    def _excess(self, clusters: ReviewClusters, share: FloatArray) -> FloatArray:
        """Return what each verdict found beyond its share, times the rows for which it stands."""
        cells = self.cells
        excess = cells.verdict - share[clusters.reviewed]
        return np.asarray(excess * clusters.stand_for(cells.beyond + 1))

    def widened(
        self, variance: float, freedom: float, positive: FloatArray, negative: FloatArray
    ) -> tuple[float, float]:
        """Add what clusters of rows do to a variance, by what each row adds of either class.

        Units are rows here: those without a label.
        """
        clusters = self.clusters
        if clusters is None:
            return variance, freedom
        share = clusters.row_chance(self.shares.share)
        adds = share * positive + (1 - share) * negative
        turned = (positive - negative)[clusters.reviewed]
        return clusters.widened(variance, freedom, adds, self._excess(clusters, share) * turned)

    def draw_effect(self, moves: FloatArray) -> tuple[float, float]:
        """Return how many times larger the draw's variance is by cluster, and its freedom."""
        cells, clusters = self.cells, self.clusters
        if clusters is None or not clusters.drawn_whole:
            return 1.0, np.inf
        excess = cells.verdict - cells.at_verdicts(self.shares.share)
        return clusters.draw_effect(excess * cells.weight * cells.at_verdicts(moves))

    def sum_of_squares(self, by_verdict: FloatArray) -> float:
        """Return the sum of squares of what drawn units add: verdicts, or clusters of them."""
        sums = by_verdict if self.clusters is None else self.clusters.verdict_sums(by_verdict)
        return float(sums @ sums)

    def drawn_variance(self, moves: FloatArray) -> tuple[Any, Any]:
        """Return the variance that the draw of reviews causes, and its degrees of freedom.

        `moves` is how much the estimate moves if a row of each unit turns out to be positive.
        """
        cells = self.cells
        rows, drawn = cells.unlabeled_rows, cells.reviewed_rows
        one = self.shares.variance(moves, len(rows))
        counted = drawn + self.shares.prior_weight
        one = one * self.shares.correction(drawn)
        parts = rows * np.maximum(rows - drawn, 0.0) * one * cells.squared_weight / drawn
        total = parts.sum(axis=-1)
        squares = np.maximum((parts**2 / counted).sum(axis=-1), 1e-300)
        effect, units = self.draw_effect(moves)
        return effect * total, np.minimum(np.where(total > 0, total**2 / squares, np.inf), units)

    def estimate(self, name: str, threshold: float | None = None, **options: Any) -> Estimate:
        """Estimate a metric with its interval.

        Where verdicts leave nearly its whole range open there is no value, but for the prevalence.
        """
        own = self.of_metric(name)
        value, low, high, error = (
            float(number) for number in own.intervals(name, threshold, **options)
        )
        needs = ("reviews",) if own.prevalence is None else ("reviews", "prevalence")
        return Estimate(value, low, high, error, self.confidence_level, needs, METHOD)

    def intervals(
        self, name: str, threshold: float | None = None, **options: Any
    ) -> tuple[FloatArray, ...]:
        """Return value, ends and standard error of a metric, for each set of verdicts."""
        if name == "average_precision" and self.cells.finer is not self.cells:
            return replace(self, cells=self.cells.finer).intervals(name, threshold, **options)
        if self.prevalence is not None and self.prevalence[0] < self.prevalence[1]:
            return self._at_both_ends(name, threshold, **options)
        gradient = self.gradient(name, threshold, **options)
        reached, (least, most) = np.asarray(gradient.value, dtype=float), range_of(name)
        value, level = np.clip(reached, least, most), self.confidence_level
        known_total = self.prevalence is not None
        possible = self.cells.possible | (name == "precision") | known_total
        with np.errstate(invalid="ignore", divide="ignore"):
            variance, freedom = self.variance(gradient)
            widened = stretch(self.cells, level) if self.sequential else 1.0
            gaps = self._gaps(gradient, freedom, widened, name, {"threshold": threshold, **options})
            low, high = np.maximum(value + gaps.low, least), np.minimum(value + gaps.high, most)
            valued = possible & ~(np.abs(reached - value) > BEYOND) & ~np.isinf(value)
            valued &= ~(high - low >= OPEN_AT * (most - least))
            low, high = np.where(valued, low, least), np.where(valued, high, most)
            if np.any(reached != value):
                value = np.where(reached == value, value, self._in_range(name, value, low, high))
        error = np.where(valued, (widened * variance) ** 0.5, np.nan)
        # A ratio to none at all: how large, verdicts do not say.
        endless = possible & np.isinf(value)
        error = np.where(endless, np.inf, error)
        # Of the prevalence, what is likely.
        likely = np.nan
        if name == "prevalence" and not known_total:
            likely = self.cells.likely.sum(axis=-1) / float(self.cells.everyone.sum())
        value = np.where(valued | endless, value, likely)
        missing = possible & np.isnan(reached)  # nothing is flagged, say
        return tuple(np.where(missing, np.nan, numbers) for numbers in (value, low, high, error))

    def _at_both_ends(
        self, name: str, threshold: float | None, **options: Any
    ) -> tuple[FloatArray, ...]:
        """Return the same where a range of the prevalence is known: the intervals of its ends."""
        low, high = cast("tuple[float, float]", self.prevalence)
        middle = (low + high) / 2
        value, _, _, error = replace(self, prevalence=(middle, middle)).intervals(
            name, threshold, **options
        )
        ends = [
            replace(self, prevalence=(end, end)).intervals(name, threshold, **options)
            for end in (low, high)
        ]
        return value, np.minimum(*(e[1] for e in ends)), np.maximum(*(e[2] for e in ends)), error

    def _in_range(self, name: str, end: Any, low: Any, high: Any) -> Any:
        """Return the value of a metric that verdicts put beyond its range: that end of it.

        An area of ranks is there because some cells have less than no positive: it is read where
        rows can have them.
        """
        if name not in SUMS_OVER_PAIRS:
            return end
        values = metric_values(self.cells.counts, self._possible, self.cells.everyone, name)
        return np.clip(values, low, high)

    def _gaps(
        self,
        gradient: MassGradient,
        freedom: Any,
        widened: float,
        name: str,
        options: dict[str, Any],
    ) -> Gaps:
        """Return how far a metric may lie below and above its value."""
        cells, risk = self.cells, (1 - self.confidence_level) / 2
        spread = name == "average_precision"  # as its value is read
        positive = self.positives(name)

        def read(more: FloatArray) -> FloatArray:
            parts = np.array([[0.0], *([part] for part in PATH)])
            at = positive[..., None, :] + parts * self.more_by_cell(more)[..., None, :]
            values = metric_values(cells.counts, at, cells.everyone, name, **options)
            return np.asarray(values[..., 1:] - values[..., :1])

        student, normal = stdtrit(freedom, 1 - risk), float(ndtri(1 - risk))
        moves = self.moves(gradient)
        # The rows' own part is linear: its ends are those of the value on the metric's scale.
        value, error = gradient.value, (widened * self.row_variance(gradient)) ** 0.5
        ends = np.array(delta_interval(value, error, scale_of(name), student)) - value
        ends = np.where(np.isnan(ends), 0.0, ends) if error > 0 else np.zeros(2)
        return moved_interval(
            sides_of(cells, self.shares, moves, spread=spread),
            read,
            risk,
            self.draw_effect(moves)[0] * widened * (student / normal if normal > 0 else 1.0) ** 2,
            (float(ends[0]), float(ends[1])),
        )


def mean_weight(cells: ReviewedCells) -> float:
    """Return the mean weight of a unit of weight, by which squares of weighted rows are more."""
    counts = cells.counts
    if not counts.weighted:
        return 1.0
    return sum(counts.squared_weight) / counts.n_rows


def stretch(cells: ReviewedCells, confidence_level: float) -> float:
    """Return by what a variance is multiplied so that intervals hold at every look at once.

    The normal mixture boundary (Robbins 1970; asymptotically for means of other kinds, Waudby-Smith
    et al. 2024): √((1 + 1/(n r)) log((n r + 1)/α²)) errors in place of the normal quantile, at all
    numbers n of verdicts together. It is narrowest at the number that was planned.

    Notes
    -----
    Assumes: verdicts come in the order of the plan, and there are enough for the estimate to be
    nearly normal at the first look.
    Wrong when: the first look is after a handful of verdicts.
    """
    risk = 1 - confidence_level
    planned, seen = len(cells.reviews.design.order), len(cells.verdict)
    # Narrowest where n r = -W(-α²/e) - 1 ≈ 2 log(1/α) + log(1 + 2 log(1/α)).
    best = 2 * math.log(1 / risk) + math.log(1 + 2 * math.log(1 / risk))
    ratio = best * seen / max(planned, 1)
    boundary = (1 + 1 / ratio) * math.log((ratio + 1) / risk**2)
    return float(max(boundary / ndtri(1 - risk / 2) ** 2, 1.0))


def range_of(name: str) -> tuple[float, float]:
    """Return the least and the largest value of a metric, or of the prevalence."""
    return FACTS[name].range if name in FACTS else (0.0, 1.0)


def scale_of(name: str) -> Scale:
    """Return the scale on which errors of a metric of reviewed rows are nearly normal."""
    return "logit" if name in ("prevalence", "average_precision") else FACTS[name].scale


def make_estimate(
    name: str,
    value: float,
    variance: float,
    freedom: float,
    confidence_level: float,
    needs: tuple[str, ...] = ("reviews",),
) -> Estimate:
    """Make the interval on the metric's scale, with Student's quantile.

    The first few verdicts may put a value where none can be: then they say nothing yet, and the
    interval holds every value.
    """
    least, most = range_of(name)
    if math.isnan(value):
        return Estimate(value, value, value, value, confidence_level, needs, METHOD)
    if not least <= value <= most:
        value = min(max(value, least), most) if name == "prevalence" else math.nan
        return Estimate(value, least, most, math.nan, confidence_level, needs, METHOD)
    error = variance**0.5
    quantile = float(stdtrit(freedom, (1 + confidence_level) / 2))
    low, high = (float(end) for end in delta_interval(value, error, scale_of(name), quantile))
    low, high = float(np.fmin(low, value)), float(np.fmax(high, value))  # at 0 and 1 no slope
    low, high = max(low, least), min(high, most)  # which a plain scale does not know
    return Estimate(float(value), low, high, error, confidence_level, needs, METHOD)
