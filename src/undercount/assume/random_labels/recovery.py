"""Rows whose labels are a random sample of the positives, with every question they answer."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from undercount.assume.base import Basis, Pairing, Recovery, Unknowns, estimate_workload
from undercount.assume.bounds.bound_curve import bound_curve
from undercount.assume.random_labels.bias_bounds import bound_metric, follows_bias
from undercount.assume.random_labels.differences import Model, Paired
from undercount.checks.checklist import (
    checklist,
    clusters_check,
    naive_check,
    negatives_check,
    with_warnings,
)
from undercount.checks.fair_sample import found_check, groups_check, negatives_fair_check
from undercount.checks.flagged import flagged_check, rounding_check
from undercount.checks.labelled_chance import EVEN_CHANCE, chance_threshold, scale_check
from undercount.checks.repeated import repeated_check
from undercount.counts import ScoreCounts
from undercount.curve import CurveBounds, FloatArray, OperatingCurve, OperatingPoint
from undercount.errors import (
    Check,
    InputError,
    LibraryWarning,
    check_choice,
)
from undercount.estimate import Estimate, Interval
from undercount.infer.decisions import BestThreshold, Goal, ThresholdSearch
from undercount.infer.deployed import Deployment
from undercount.infer.difference import PAIRED_POINTS, TARGET_OF, Difference, Question, carried_over
from undercount.infer.estimate_metric import estimate_metrics
from undercount.infer.estimated_share import estimate_end_by_end
from undercount.infer.metric_at import MetricAt
from undercount.infer.metric_row import MetricRow
from undercount.infer.mixture import MixtureDesign, design_of, mixture_curve
from undercount.infer.scored_rows import RecountableRows
from undercount.infer.sensitivity import BreakEven, Over, break_even, surviving_bias, sweep
from undercount.infer.workload import WORKLOAD_METRICS, CutModels, Workload, cut_models
from undercount.metric_facts import FACTS
from undercount.shares import Shares

# Shares of hidden positives along which metrics are followed.
FOLLOWED_SHARES = 101


@dataclass(frozen=True, eq=False)
class RandomLabelsRecovery(Recovery):
    """The unlabeled rows as a mixture of positives and negatives in known, or estimated, shares.

    Attributes
    ----------
    covariates : array, optional
        What may have decided who was labelled, which tests the labels.
    source : object
        What was said of the share: an estimator of two sources tests the labels by the scores too.

    Notes
    -----
    Assumes: labelled positives are a random sample of all positives; the share.
    Wrong when: some positives are more likely to be labelled than others.
    """

    covariates: Any = None
    source: Any = None

    @cached_property
    def basis(self) -> Basis:
        """What the numbers rest on."""
        return Basis(premise="If the known positives are a fair sample, ")

    @property
    def _about(self) -> dict[str, Any]:
        return {"target": self.target, "confidence_level": self.confidence_level}

    def measure(self, at: MetricAt, counts: ScoreCounts) -> Estimate:
        """Estimate one metric, the interval of an estimated share added as it was asked."""
        return self.measures([at], counts)[0]

    def measures(self, ats: Sequence[MetricAt], counts: ScoreCounts) -> list[Estimate]:
        """Estimate metrics at one place, the interval of an estimated share added as asked."""
        known, at, names = self.unknowns, ats[0], [each.metric for each in ats]
        options: dict[str, Any] = {**at.place, **self._about, "clusters": self.clusters}
        if known.interval and known.resamples is None:
            about = {"label_part": known.label_part, **options}
            return [estimate_end_by_end(counts, self.shares, name, **about) for name in names]
        estimates = estimate_metrics(counts, self.shares, names, **options)
        if known.resamples is None:
            return estimates
        pairs = zip(estimates, ats, strict=True)
        return [known.resamples.estimate(counts, *pair) for pair in pairs]

    @cached_property
    def curve(self) -> OperatingCurve:
        """The recovered curve; what depends on a share that is left open is NaN."""
        if self.unknowns.range_only:
            return self._open_curve(self.counts)
        return mixture_curve(self.counts, self.shares)

    @property
    def label_chances(self) -> FloatArray | None:
        """One for all rows, of a single sample of right labels without weights or clusters."""
        rows, single = self.used.recount, self.shares.sampling == "single-sample"
        alone = self.clusters is None and single and self.supposes_right_labels
        if not alone or not isinstance(rows, RecountableRows) or rows.weights is not None:
            return None
        return np.ones(len(rows.labels))

    def plain_curve(self, threshold: float | None = None) -> OperatingCurve:
        """Return the curve from which metrics are read: a cleaned one has another area."""
        return mixture_curve(self.counts_at(threshold), self.shares, clean=False)

    def _open_curve(self, counts: ScoreCounts) -> OperatingCurve:
        """Return a curve with NaN where a rate depends on a share of which a range is known."""
        curve = mixture_curve(counts, self.shares.exact(0.0), clean=False)
        flagged, nothing = curve.predicted_positive_rate, np.full(len(curve.tpr), np.nan)
        tpr = curve.tpr if self.supposes_right_labels else nothing
        return replace(curve, tpr=tpr, fpr=nothing, prevalence=math.nan, flagged=flagged)

    def point(self, threshold: float) -> OperatingPoint:
        """Return the recovered point at a threshold; what the share leaves open is NaN."""
        if self.unknowns.range_only:
            return self._open_curve(self.counts_at(threshold)).at(threshold)
        return self.plain_curve(threshold).at(threshold)

    def split_at(self, threshold: float) -> None:
        """Raise unless the counts can be split at a threshold."""
        self.counts.head_cells(threshold)

    @cached_property
    def bounds(self) -> CurveBounds:
        """The worst and best curve that data and prevalence allow."""
        if self.clusters is not None:
            raise InputError(
                "bounds of the whole curve are those of independent rows, and these come in "
                "clusters; a sweep over the threshold has intervals that rest on clusters",
                argument="cluster",
            )
        return bound_curve(self.counts, self.shares, confidence_level=self.confidence_level)

    def moved(self, share: float) -> "RandomLabelsRecovery":
        """Return the recovery if the share of hidden positives is this number."""
        return replace(self, unknowns=self.unknowns.moved(share))

    def carry(self, at: MetricAt, prevalence: float) -> Estimate:
        """Estimate a metric where another share of rows is positive."""
        counts, level = self.counts_at(at.threshold), self.confidence_level
        deployment = Deployment(counts, self.shares, prevalence, level, self.clusters)
        return deployment.estimate(at.metric, at.threshold)

    def discounted_counts(self, at: MetricAt) -> ScoreCounts:
        """Return counts that answer at a threshold, their effective sizes those of clusters."""
        counts = self.counts_at(at.threshold)
        if self.clusters is None:
            return counts
        check_choice("metric", at.metric, tuple(FACTS))
        design = design_of(counts, self.shares, self.shares.sampling, self.target)
        return self.clusters.discounted(counts, design, at.metric, threshold=at.threshold)

    def break_even(self, at: MetricAt, value: float) -> BreakEven:
        """Find the least hidden share and the largest labelling bias at which metric >= value."""
        counts, shares = self.discounted_counts(at), self.shares
        share = break_even(counts, shares, at.metric, value, at.threshold, **self._about)
        # At which share a bias is survived, nothing says.
        return replace(share, odds_ratio=math.nan) if self.unknowns.range_only else share

    def surviving_bias(self, at: MetricAt, value: float) -> float:
        """Return the largest labelling bias at which metric >= value; NaN if none is followed."""
        counts, shares = self.discounted_counts(at), self.shares
        return surviving_bias(counts, shares, at.metric, value, at.threshold, **self._about)

    def follows_bias(self, at: MetricAt) -> bool:
        """Whether a labelling bias can be followed in a metric: not in average precision."""
        return follows_bias(at.metric, at.threshold, self.shares)

    def bias_bound(self, row: MetricRow, odds_ratio: float) -> Interval:
        """Bound a row of the table if the odds of a label differ by a factor of up to so much."""
        at = MetricAt(row.metric, row.threshold)
        bound = bound_metric(
            row.estimate,
            row.metric,
            odds_ratio,
            self.discounted_counts(at),
            self.shares,
            threshold=row.threshold,
            target=self.target,
        )
        # Labelled rows among those flagged are positive, whoever chose them.
        least = row.lower_bound if row.certain and row.lower_bound is not None else bound.low
        return replace(bound, low=min(max(bound.low, least), bound.high))

    def sweep(self, at: MetricAt, over: Over) -> dict[str, FloatArray]:
        """Follow a metric along the prevalence, the purity or the labelling bias."""
        counts, options = self.discounted_counts(at), self._about
        return sweep(counts, self.shares, at.metric, over=over, threshold=at.threshold, **options)

    def calibrated_threshold(self, chance: float) -> float:
        """Return the score of rows with this chance of being positive, if scores are of labels."""
        self.check_share("such a threshold")
        return chance_threshold(self.counts, self.shares, chance)

    def best_threshold(self, goal: Goal, over: float | None) -> BestThreshold:
        """Return the best threshold for a goal, and what it gains over another."""
        if self.unknowns.range_only:
            return self._share_free_threshold(goal, over)
        return self._search(self.counts_at(over), self.shares).best(goal, over)

    def _search(self, counts: ScoreCounts, shares: Shares) -> ThresholdSearch:
        about = self.target, self.confidence_level
        return ThresholdSearch(counts, shares, *about, clusters=self.clusters)

    def _share_free_threshold(self, goal: Goal, over: float | None) -> BestThreshold:
        """Return the best point of a goal that is the same at every share; refuse any other."""
        names = dict.fromkeys([goal.metric, *(name for name, _ in goal.at_least)])
        right = self.supposes_right_labels
        turning = [n for n in names if FACTS[n].needs and (FACTS[n].needs_prevalence or not right)]
        if turning:
            self.check_share(f"the best threshold by {FACTS[turning[0]].title}")
        # At the high end most positives are hidden, and the chance of the labels is largest.
        span = self.shares.unlabeled_prevalence_interval
        high = self.shares.unlabeled_prevalence if span is None else span.high
        shares = self.shares.exact(float(self.shares.clip(high)))
        best = self._search(self.counts_at(over), shares).best(replace(goal, any_share=True), over)
        return best.without_share(recall_known=right)

    def checks(
        self, rows: Sequence[MetricRow], warned: Sequence[LibraryWarning]
    ) -> tuple[Check, ...]:
        """Return what was found about data and shares."""
        unknowns, checks = self.unknowns, label_checks(self, rows)
        if self.clusters is not None:
            checks.append(clusters_check(clustered_design(self, "roc_auc"), self.clusters))
        if unknowns.by_negatives:
            checks.append(negatives_check(self.counts))
        elif unknowns.given and self.clusters is None:
            sized = self.used.counts_for_share(self.shares.sampling)
            unfair = negatives_fair_check(sized, self.shares)
            checks += [unfair] if unfair else []
        checks += threshold_checks(self.counts, self.shares, self.used.threshold)
        listed = with_warnings(checks, [*unknowns.warned, *warned], given=unknowns.given)
        return (*listed, *self._fair_checks)

    @property
    def _fair_checks(self) -> list[Check]:
        """What covariates and a second source say of labels that should be a fair sample."""
        checks = []
        if self.covariates is not None:
            rows = self.used.rows("covariates")
            checks.append(groups_check(rows.labels, rows.scores, self.covariates, self.shares))
        alone = self.used.recount is not None and self.clusters is None
        if alone and hasattr(self.source, "compare_scores"):  # a test of independent rows
            checks.append(found_check(self.source.compare_scores(self.used.rows("score").scores)))
        return checks

    def pair(
        self,
        models: Mapping[str, Recovery],
        tables: Mapping[str, Mapping[str, Estimate]],
        thresholds: Mapping[str, float],
        question: Question,
        top: Any,
    ) -> "RandomLabelsPairing":
        """Put models side by side."""
        return RandomLabelsPairing.of(models, tables, thresholds, question, top)


def clustered_design(
    recovery: Recovery, metric: str, threshold: float | None = None
) -> MixtureDesign:
    """Return what was drawn at random, with the effect that clusters have on a metric."""
    shares = recovery.shares
    design = design_of(recovery.counts, shares, shares.sampling, recovery.target)
    if recovery.clusters is None:
        return design
    return recovery.clusters.design(recovery.counts, design, metric, threshold=threshold)


def label_checks(recovery: Recovery, rows: Sequence[MetricRow]) -> list[Check]:
    """Return what counts and shares say against labels that are a random sample."""
    unknowns, shares = recovery.unknowns, recovery.shares
    checks = [
        *checklist(
            recovery.used.counts_for_share(shares.sampling),
            shares,
            estimates=unknowns.estimates,
            doubt=unknowns.doubt,
            estimated=unknowns.estimated,
        ),
        naive_check(rows, shares),
        *unknowns.checks,
    ]
    repeated = repeated_check(recovery.counts) if recovery.clusters is None else None
    return checks if repeated is None else [*checks, repeated]


def threshold_checks(
    counts: ScoreCounts, shares: Shares | None, threshold: float | None
) -> list[Check]:
    """Return what is found at the threshold, if there is one; without shares not of its scale."""
    if threshold is None:
        return []
    scale = scale_check(counts, shares) if threshold == EVEN_CHANCE and shares is not None else []
    return [flagged_check(counts, threshold), *rounding_check(counts, threshold), *scale]


@dataclass(frozen=True, eq=False)
class RandomLabelsPairing(Pairing):
    """Models whose labels are a random sample of the positives, side by side.

    Attributes
    ----------
    paired : Paired
        The models' rows, from which differences are made.
    cut : CutModels
        Where each model flags as many rows.
    """

    paired: Paired
    cut: CutModels

    @classmethod
    def of(
        cls,
        models: Mapping[str, Recovery],
        tables: Mapping[str, Mapping[str, Estimate]],
        thresholds: Mapping[str, float],
        question: Question,
        top: Any,
    ) -> "RandomLabelsPairing":
        """Cut the rows of each model where it flags some."""
        first = next(iter(models.values()))
        target, shares = TARGET_OF[question], first.shares
        design = design_of(first.counts, shares, shares.sampling, target)
        cut = cut_models(
            {n: recovery.used for n, recovery in models.items()}, design, thresholds, top
        )
        by_name = {n: Model(recovery, tables[n], cut.rows[n]) for n, recovery in models.items()}
        return cls(Paired(by_name, question), cut)

    @property
    def _unknowns(self) -> Unknowns:
        return next(iter(self.paired.models.values())).recovery.unknowns

    def differences(self, metrics: Sequence[str]) -> tuple[Difference, ...]:
        """Return the differences of every pair, metric by metric."""
        differences = [
            difference
            for metric in metrics
            for difference in self.paired.differences(
                metric, 0 if metric in PAIRED_POINTS else None
            )
        ]
        return self._leave_open(differences)

    def _leave_open(self, differences: Sequence[Difference]) -> tuple[Difference, ...]:
        """Take the values out of differences that depend on a share of which a range is known."""
        unknowns = self._unknowns
        return tuple(
            replace(gap, difference=unknowns.leave_open(gap.difference)) for gap in differences
        )

    def workload(self) -> Workload:
        """Compare what models find among as many flagged rows, which is their last cut."""
        size, models = self.cut.size, self.paired.models
        last = len(next(iter(models.values())).rows.cuts) - 1
        differences = [
            d for metric in WORKLOAD_METRICS for d in self.paired.differences(metric, last)
        ]
        values = {
            name: {metric: model.value(metric, last) for metric in WORKLOAD_METRICS}
            for name, model in models.items()
        }
        estimates = {
            name: estimate_workload(model.recovery, WORKLOAD_METRICS, size)
            for name, model in models.items()
            # Below 1 the number would be read as a share of the rows; clusters need a threshold.
            if model.recovery.unknowns.resamples is None
            and model.recovery.clusters is None
            and size >= 1
        }
        return Workload(
            size,
            self.cut.chosen,
            values,
            self.cut.last,
            self.cut.tied,
            self._leave_open(differences),
            estimates,
        )

    def carried(self, metrics: Sequence[str], prevalence: float) -> tuple[Difference, ...]:
        """Return the differences where another share of rows is positive."""
        there = self.paired.there(prevalence)
        # A metric may not exist where rows allow a share that the population does not.
        held = [m for m in metrics if all(m in model.table for model in there.models.values())]
        found = [there.differences(m, 0 if m in PAIRED_POINTS else None) for m in held]
        return self._leave_open([carried_over(each) for some in found for each in some])

    def reference(self, name: str, metric: str) -> float:
        """Return what orders the models: a metric's value, or that at the share in use."""
        return self.paired.models[name].value(metric, 0 if metric in PAIRED_POINTS else None)

    def crossover(
        self, metric: str, one: str, other: str, margin: float, prevalence: float | None
    ) -> float:
        """Find the hidden share at which a difference passes a margin; NaN if there is none."""
        paired = self.paired
        paired = paired if prevalence is None else paired.there(prevalence)
        return paired.gap(metric, 0 if metric in PAIRED_POINTS else None, one, other).crossover(
            margin
        )

    def across(self, metric: str) -> dict[str, FloatArray]:
        """Follow a metric of every model along the share of hidden positives that scores allow."""
        shares = np.linspace(0.0, self.paired.top, FOLLOWED_SHARES)
        cut, (least, most) = 0 if metric in PAIRED_POINTS else None, FACTS[metric].range
        values = {
            name: np.clip(model.values(metric, cut, shares), least, most)
            for name, model in self.paired.models.items()
        }
        return {"unlabeled_prevalence": shares, **values}
