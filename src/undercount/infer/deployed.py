"""Metrics where positives are rarer or more frequent than in these rows.

Positives and negatives each score there as they do here, so that true- and false-positive rate are
carried over at every threshold, and the rest follows from the prevalence there.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray, read_metric
from undercount.errors import InputError, collect_warnings, named, real_number
from undercount.estimate import Estimate, delta_interval
from undercount.infer.area_gradients import (
    Recovered,
    area_influence,
    average_precision,
    cell_rows,
    recovered,
    unbiased_average_precision,
)
from undercount.infer.clusters import Clusters
from undercount.infer.estimate_metric import estimate_metric
from undercount.infer.heads import FlaggedCounts, RatePoint, rate_slopes, student_level
from undercount.infer.mixture import MixtureDesign, design_of
from undercount.infer.shared_labels import over_share
from undercount.infer.threshold_intervals import combine, rate_limits
from undercount.infer.variance import CellRows, HeadRows, Influence, Spread
from undercount.metric_facts import FACTS
from undercount.shares import Shares

# Metrics that are functions of the two rates alone keep their value.
SAME_RATES = "same rates there"
# What turns values of cells, or of flagged rows, into values of all cells.
CellValues: TypeAlias = Callable[[Any], FloatArray]
_ANY = "accuracy"  # a metric that needs everything: all sources of chance are looked at


def read_deploy_prevalence(prevalence: object) -> float:
    """Return the prevalence elsewhere as a float."""
    share = real_number(prevalence)
    if not 0 < share < 1:
        raise InputError(
            f"{named('deploy_prevalence')} must be a share in (0, 1); got {prevalence!r}",
            argument="deploy_prevalence",
        )
    return share


def at_cells(counts: ScoreCounts, value: Any, flagged: Any = None) -> FloatArray:
    """Return a function of rows by cell; one of flagged rows is 0 in the others."""
    cells = np.broadcast_to(value, counts.score.shape)
    return np.asarray(cells if flagged is None else cells * flagged)


def cell_values(counts: ScoreCounts, threshold: float | None = None) -> CellValues:
    """Return what makes values of cells from those of cells or, at a threshold, of flagged rows."""
    flagged = None if threshold is None else counts.score >= threshold
    return lambda value: at_cells(counts, value, flagged)


def carried_rates(
    heads: FlaggedCounts, metric: str | Sequence[str], prevalence: float
) -> Influence:
    """Return what a flagged row adds to metrics of the same rates at another prevalence."""
    carried = replace(heads.smooth_point, prevalence=np.asarray(prevalence))
    by_tpr, by_fpr, _ = rate_slopes(carried, metric, 1.0)
    return Influence(0.0, by_tpr, negative=by_fpr)


def carried_precision(rows: CellRows, design: MixtureDesign, prevalence: float) -> Influence:
    """Return what a row of each cell adds to the average precision at another prevalence.

    Notes
    -----
    Wrong when: hardly a negative is among the highest rows, so that chance says how many are; the
    error is then too large rather than too small.
    """
    here = recovered(rows, design.mixing)
    negative = np.diff(_possible_rate(rows, design), prepend=0.0)
    everyone = prevalence * here.positive + (1 - prevalence) * negative
    slope = average_precision(Recovered(here.positive, here.negative, everyone, prevalence))
    positive = slope.positive + prevalence * slope.everyone
    return Influence(0.0, positive, negative=(1 - prevalence) * slope.everyone)


def _possible_rate(rows: CellRows, design: MixtureDesign) -> FloatArray:
    """Return false-positive rates as they may be: means of what chance leaves at or above 0.

    Recovered rates fall below 0 by chance where many labels lie above nearly all other rows. The
    share of flagged rows elsewhere may then be almost 0, and slopes by it have no bound.
    """
    rate = recovered(rows, design.mixing).curve.fpr[1:]
    variance: Any = 0.0
    for weight, size, head in zip(
        design.mixing.negative, design.effective, rows.heads[:, 1:], strict=True
    ):
        if size > 0:  # a row is half above, half below, so that no share is certain
            share = (size * head + 0.5) / (size + 1)
            variance = variance + weight**2 * share * (1 - share) / size
    error = np.sqrt(variance)
    far = np.divide(rate, error, out=np.full(len(rate), np.inf), where=error > 0)
    bell = np.exp(-(far**2) / 2) / math.sqrt(2 * math.pi)
    return np.asarray(rate * ndtr(far) + error * bell)


def lift_scale(metric: str, prevalence: float) -> tuple[float, float]:
    """Return what is added to the ROC AUC, and what it is multiplied by, to have an area there."""
    return (prevalence / 2, 1 - prevalence) if metric == "lift_auc" else (0.0, 1.0)


@dataclass(frozen=True, eq=False)
class Deployment:
    """Read metrics at another prevalence, with the errors of the rates measured here.

    Parameters
    ----------
    counts, shares : ScoreCounts, Shares
        The rows at hand and what is known of their positives.
    prevalence : float
        Share of positives where the classifier will work.
    confidence_level : float
        Of all intervals.
    clusters : Clusters, optional
        The rows by cluster, if they come in clusters.

    Notes
    -----
    Assumes: positives there score as positives here, negatives as negatives; the classifier and
    its threshold are the same. Errors are those of the population behind these rows.
    Wrong when: positives are rarer there because the easy ones are gone, or rows differ in
    anything else that the score feels.
    """

    counts: ScoreCounts
    shares: Shares
    prevalence: float
    confidence_level: float = 0.95
    clusters: Clusters | None = None

    @property
    def independent(self) -> bool:
        """Whether rows and labels were drawn one by one, all alike."""
        return self.clusters is None

    def estimate(self, metric: str, threshold: float | None = None) -> Estimate:
        """Estimate a metric there with its interval; the error of an estimated share is added."""
        value, low, high, error = self._at(self.shares, metric, threshold)
        span = self.shares.unlabeled_prevalence_interval
        if span is not None:
            ends = [
                self._at(self.shares.exact(float(self.shares.clip(end))), metric, threshold)
                for end in (span.low, span.high)
            ]
            if self.shares.unlabeled_prevalence_error == 0:  # a range: any share of it may be true
                low, high = min(low, *(e[1] for e in ends)), max(high, *(e[2] for e in ends))
            else:
                there = ends[0][0], ends[1][0]
                low, high = map(float, over_share(value, (low, high), there))
                z = float(ndtri((1 + self.confidence_level) / 2))
                error = math.hypot(error, abs(ends[1][0] - ends[0][0]) / (2 * z))
        least, most = FACTS[metric].range
        if math.isnan(low + high):  # too few labels to tell an error
            low, high = least, most
        low, high = max(min(low, value), least), min(max(high, value), most)
        needs = (*self.needs(metric), SAME_RATES)
        return Estimate(value, low, high, error, self.confidence_level, needs, "carried over")

    def needs(self, metric: str) -> tuple[str, ...]:
        """Name what a metric there rests on here: all but recall feel the share of these rows."""
        facts = FACTS[metric if not FACTS[metric].needs_prevalence else "accuracy"]
        return facts.needs if self.shares.label_purity == 1 else facts.needs_if_impure

    def _at(
        self, shares: Shares, metric: str, threshold: float | None
    ) -> tuple[float, float, float, float]:
        """Return value, ends and standard error at shares that are known exactly."""
        shares, facts = shares.exact(), FACTS[metric]
        if metric in ("roc_auc", "lift_auc"):
            ranked = self.ranked(shares)
            numbers = np.array([ranked.value, ranked.low, ranked.high])
            scale = 1.0
            if metric == "lift_auc":
                scale = 1 - self.prevalence
                numbers = self.prevalence / 2 + scale * numbers
            return (*numbers.tolist(), scale * ranked.standard_error)
        design = self.design(shares)
        if metric == "average_precision":
            return self._average_precision(design, shares)
        if facts.family != "threshold" or threshold is None:
            reason = "needs a threshold" if facts.family == "threshold" else "is not carried over"
            raise InputError(f"{metric} {reason}")
        return self._at_threshold(design, metric, threshold)

    def ranked(self, shares: Shares) -> Estimate:
        """Return the ROC AUC, which is the same there."""
        return estimate_metric(
            self.counts,
            shares,
            "roc_auc",
            target="population",
            confidence_level=self.confidence_level,
            clusters=self.clusters,
        )

    def design(self, shares: Shares) -> MixtureDesign:
        """Return what was drawn at random, if the shares are known exactly."""
        return design_of(self.counts, shares, shares.sampling, "population")

    def with_effect(self, moves: Spread, of_cells: CellValues) -> MixtureDesign:
        """Return the design with the effect of clusters on what moves an estimate.

        `of_cells` turns values of cells, or of flagged rows, into values of all cells.
        """
        if self.clusters is None:
            return moves.design
        return self.clusters.with_effect(self.counts, moves, of_cells)

    def moves(self, design: MixtureDesign, metric: str, threshold: float | None = None) -> Spread:
        """Say how a metric there moves with the rows here; lift AUC as ROC AUC does."""
        if threshold is not None:
            heads = FlaggedCounts.at(self.counts, design, threshold)
            rates = HeadRows(heads.smoothed.rates)
            return Spread(design, rates, carried_rates(heads, metric, self.prevalence))
        rows = cell_rows(self.counts)
        if metric == "average_precision":
            return Spread(design, rows, carried_precision(rows, design, self.prevalence))
        return Spread(design, rows, area_influence(rows, design.mixing, "roc_auc"))

    def _at_threshold(
        self, design: MixtureDesign, metric: str, threshold: float
    ) -> tuple[float, float, float, float]:
        heads = FlaggedCounts.at(self.counts, design, threshold)
        moves = self.moves(design, metric, threshold)
        level, effect = self.confidence_level, 1.0
        if not self.independent:
            drawn = self.with_effect(moves, cell_values(self.counts, threshold))
            level, effect = student_level(level, drawn.freedom), drawn.cluster_effect
            heads = FlaggedCounts(heads.heads, drawn)
        limits = rate_limits(heads, _ANY, confidence_level=level)
        points = [self._moved(point) for point in limits.points]
        middle, value, *ends = read_metric(points, metric, 1.0)
        low, high = combine(middle, ends, metric, near=value)
        error = math.sqrt(effect * float(moves.variance))
        return float(value), float(low), float(high), error

    def _moved(self, point: RatePoint) -> RatePoint:
        """Return the same rates at the prevalence there."""
        return RatePoint(point.tpr, point.fpr, np.asarray(self.prevalence))

    def _average_precision(
        self, design: MixtureDesign, shares: Shares
    ) -> tuple[float, float, float, float]:
        """Return average precision, its interval on the log scale with Student's quantile."""
        error, freedom = self.carried_error(design)
        error *= self._of_pairs(design, shares)
        value = self.mean_precision(design)
        t = float(stdtrit(freedom, (1 + self.confidence_level) / 2))
        low, high = delta_interval(value, error, "log", t)
        return value, float(low), min(float(high), 1.0), error

    def carried_error(self, design: MixtureDesign) -> tuple[float, float]:
        """Return the standard error that carried rates give, and its degrees of freedom."""
        moves = self.moves(design, "average_precision")
        drawn = self.with_effect(moves, cell_values(self.counts))
        return math.sqrt(drawn.cluster_effect * float(moves.variance)), drawn.freedom

    def _of_pairs(self, design: MixtureDesign, shares: Shares) -> float:
        """Return how much larger the error is because pairs of rows make the estimate.

        Here as the error of pairs is beside that of carried rates; the less, the rarer positives
        are there, where rates that are carried over make nearly all of it.
        """
        here = float(design.mixing.prevalence)
        if not 0 < here < 1:
            return 1.0
        with collect_warnings():  # of few labels
            pairs = self.error_here(shares)
        carried = replace(self, prevalence=here).carried_error(design)[0]
        if not (pairs > 0 and carried > 0):
            return 1.0
        return 1 + (pairs / carried - 1) * min(self.prevalence / here, 1.0)

    def error_here(self, shares: Shares) -> float:
        """Return the standard error of average precision among rows like these."""
        level, clusters = self.confidence_level, self.clusters
        return estimate_metric(
            self.counts,
            shares,
            "average_precision",
            target="population",
            confidence_level=level,
            clusters=clusters,
        ).standard_error

    def mean_precision(self, design: MixtureDesign) -> float:
        """Return the unbiased average precision there."""
        value = unbiased_average_precision(self.counts, design, self.prevalence)
        return min(max(value, 0.0), 1.0)  # whatever was rounded
