"""Rows of which some were looked at, with every question they answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from undercount.assume.base import (
    Basis,
    LabelsFound,
    Pairing,
    PlanWords,
    Recovery,
    ReviewFacts,
    Unknowns,
    estimate_top,
)
from undercount.assume.random_labels.hidden_share import Models, ShareLimits
from undercount.assume.random_labels.recovery import (
    clustered_design,
    label_checks,
    threshold_checks,
)
from undercount.assume.reviewed.answers import Labels, ReviewAnswers
from undercount.assume.reviewed.differences import (
    ReviewedModel,
    audited_models,
    reviewed_differences,
)
from undercount.assume.reviewed.search import ReviewedSearch
from undercount.checks.audit import audit_check, verified_clusters_check
from undercount.checks.checklist import clusters_check, with_warnings, without_random_labels
from undercount.checks.given_prevalence import given_words
from undercount.checks.labelled_chance import chance_threshold
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray, OperatingCurve
from undercount.errors import Check, LibraryWarning
from undercount.estimate import Estimate, Interval
from undercount.infer.clusters import Clusters
from undercount.infer.decisions import BestThreshold, Goal
from undercount.infer.deployed import SAME_RATES
from undercount.infer.difference import (
    PAIRED_POINTS,
    TARGET_OF,
    Difference,
    Question,
    carried_over,
    holm_adjusted,
)
from undercount.infer.metric_at import MetricAt
from undercount.infer.metric_row import MetricRow
from undercount.infer.mixture import Target, design_of
from undercount.infer.reviews.intervals import ReviewedMetrics
from undercount.infer.reviews.verdicts import AuditedCells, CrossedCells, IntArray, Reviews
from undercount.infer.scored_rows import UNLABELED, RecountableRows, ScoredRows
from undercount.infer.workload import WORKLOAD_METRICS, CutModels, Workload, cut_models

FAIR_LABELS_QUESTION = "Are the labelled positives a fair sample of all positives?"


@dataclass(frozen=True, eq=False)
class ReviewedRecovery(Recovery):
    """Rows that were drawn to be looked at, and what verdicts on them say of all.

    Attributes
    ----------
    reviewed : ReviewAnswers
        The verdicts, and what is read from them.

    Notes
    -----
    Assumes: verdicts are right, and rows were drawn by the plan.
    Wrong when: somebody skips rows that are hard to judge.
    """

    reviewed: ReviewAnswers

    @cached_property
    def basis(self) -> Basis:
        """What the numbers rest on."""
        random, wrong = self.reviewed.labels == "random", "verdicts that are wrong"
        given = self.reviewed.prevalence is not None
        reviews = "reviews and the given prevalence" if given else "reviews"
        wrong += ", or another prevalence than the given one" if given else ""
        return Basis(
            determined_by=reviews,
            random_labels=random,
            limited=random,
            premise=f"The {reviews} show that ",
            question=self._question,
            met_by="reviewed",
            overturned_by=f"labels that are no random sample, or {wrong}" if random else wrong,
            review=self._facts,
        )

    @property
    def _question(self) -> str:
        reviewed = self.reviewed
        if reviewed.prevalence is not None:
            share = given_words(reviewed.prevalence)
            return (
                f"Is the given prevalence of {share} that of these rows, and are the verdicts "
                "right? Nothing is supposed of the labels."
            )
        if reviewed.labels == "any":
            return "Are the verdicts right? Nothing is supposed of the labels."
        says = f"do not contradict it (p = {reviewed.p_value:.2g})"
        says = "cannot tell yet" if reviewed.undecided else says
        return f"{FAIR_LABELS_QUESTION} The reviews {says}; reviews alone do not need it."

    @property
    def _facts(self) -> ReviewFacts:
        reviewed, test, found = self.reviewed, self.reviewed.label_test, None
        design = reviewed.reviews.design
        if test is not None:
            found = LabelsFound(
                reviewed.p_value,
                reviewed.rejected,
                reviewed.undecided,
                reviewed.weak_test,
                test.words,
                test.further_words,
            )
        strata = zip(design.edges, design.n_unlabeled, reviewed.reviews.sizes, strict=True)
        return ReviewFacts(
            reviewed.n_planned,
            reviewed.n_answered,
            reviewed.n_positive,
            reviewed.labels,
            reviewed.roles,
            reviewed.needs,
            reviewed.sequential,
            tuple(design.goal),
            tuple((edge, int(rows), int(size)) for edge, rows, size in strata),
            found,
            plain=not reviewed.audited,
        )

    @property
    def further_plan(self) -> Reviews | None:
        """The reviews of a plan to which a further round can be added, if there is one."""
        reviewed = self.reviewed
        drawn_alike = not self.counts.weighted and reviewed.sampling == "single-sample"
        own = not reviewed.audited and reviewed.crossed is None
        return reviewed.reviews if own and drawn_alike else None

    def take(self, used: ScoredRows, place: IntArray, target: Target) -> "ReviewedRecovery":
        """Return the recovery of some of the rows, which are a part of these."""
        used = used.keeping_apart(self.reviewed.reviews.knots)
        reviewed = self.reviewed.take(used, place, target)
        known = known_by_verdicts({"": used.counts}, reviewed)
        return replace(self, used=used, unknowns=known, reviewed=reviewed, target=target)

    def measure(self, at: MetricAt, counts: ScoreCounts) -> Estimate:
        """Estimate one metric, as the headline does."""
        return self.reviewed.estimate(at.metric, counts=counts, **at.place)

    def answers(self, at: MetricAt) -> dict[str, Estimate]:
        """Return the answers of reviews alone and, where it can be made, with random labels."""
        return {kind: self.answer(at, cast("Labels", kind)) for kind in self._facts.answers}

    def answer(self, at: MetricAt, labels: Labels | None = None) -> Estimate:
        """Return the answer under what is supposed of the labels, as the table would have it."""
        counts = self.counts_at(at.threshold)
        estimate = self.reviewed.estimate(at.metric, at.threshold, labels=labels, counts=counts)
        return self.raise_certain(estimate, at, counts)

    def plain_curve(self, threshold: float | None = None) -> OperatingCurve:
        """Return the curve, which answers at a threshold."""
        return self.reviewed.curve(counts=self.counts_at(threshold))

    @cached_property
    def curve(self) -> OperatingCurve:
        """The recovered curve."""
        return self.reviewed.curve()

    @cached_property
    def _of_population(self) -> ReviewAnswers:
        """The answers for the population behind these rows."""
        return replace(self.reviewed, target="population")

    def carry(self, at: MetricAt, prevalence: float) -> Estimate:
        """Estimate a metric where another share of rows is positive."""
        counts, place = self.counts_at(at.threshold), {**at.place, "prevalence": prevalence}
        found = self._of_population.estimate(at.metric, counts=counts, **place)
        return replace(found, needs=(*found.needs, SAME_RATES), method="carried over")

    def bias_bound(self, row: MetricRow, odds_ratio: float) -> Interval:
        """Bound a row of the table if labels prefer some positives."""
        top = {"top": row.top} if row.top is not None else {}
        return self.odds_bound(MetricAt(row.metric, row.threshold, **top), odds_ratio)

    def odds_bound(self, at: MetricAt, odds_ratio: float) -> Interval:  # noqa: ARG002 - any
        """Bound a metric if labels prefer some positives: no bias reaches the reviews alone."""
        counts = self.counts_at(at.threshold) if at.top is None else self.counts_for_top
        found = self.reviewed.estimate(at.metric, labels="any", counts=counts, **at.place)
        return Interval(found.low, found.high)

    @property
    def no_gamma_words(self) -> str:
        """Why nothing is followed along a labelling bias."""
        return (
            "a sweep over gamma supposes random labels alone; verdicts hold whatever the bias, and "
            "bias_bounds() has what they say"
        )

    @property
    def not_by_labels(self) -> str:
        """Why labels alone do not answer a question under this assumption."""
        if self.reviewed.labels == "any":
            return "would suppose that labels are random, and the reviews speak for themselves here"
        return (
            "would rest on the labels alone, and the reviews determine the prevalence here "
            "together with them"
        )

    def calibrated_threshold(self, chance: float) -> float:
        """Return the score of rows with this chance of being positive, if labels are random."""
        if self.reviewed.labels == "any":
            return super().calibrated_threshold(chance)
        return chance_threshold(self.counts, self.shares, chance)

    def best_threshold(self, goal: Goal, over: float | None) -> BestThreshold:
        """Return the best threshold by the verdicts, and what it gains over another."""
        counts = self.counts_at(over)
        about = counts, self.shares, self.target, self.confidence_level
        best = ReviewedSearch(*about, metrics=self.reviewed.metrics(counts=counts)).best(goal, over)
        if best.gain is None:
            return best
        needs = self.reviewed.named_needs(best.gain.needs)
        return replace(best, gain=replace(best.gain, needs=needs))

    def negatives(self, counts: ScoreCounts) -> FloatArray:
        """Return the negatives of each cell, as a share of all."""
        return np.diff(self.reviewed.fine_curve(counts).fpr)

    def checks(
        self, rows: Sequence[MetricRow], warned: Sequence[LibraryWarning]
    ) -> tuple[Check, ...]:
        """Return what was found about data, verdicts and labels."""
        checks = label_checks(self, rows)
        checks = checks if self.basis.random_labels else without_random_labels(checks)
        checks += [*self.reviewed.checks(), *self._own_checks]
        if self.clusters is not None:
            checks.append(self._clusters_check(self.clusters))
        checks += threshold_checks(self.counts, self.shares, self.used.threshold)
        return with_warnings(checks, [*self.unknowns.warned, *warned], given=True)

    def _clusters_check(self, clusters: Clusters) -> Check:
        return clusters_check(clustered_design(self, "roc_auc"), clusters)

    @property
    def _own_checks(self) -> list[Check]:
        """What else speaks against how rows were drawn."""
        return []

    def pair(
        self,
        models: Mapping[str, Recovery],
        tables: Mapping[str, Mapping[str, Estimate]],
        thresholds: Mapping[str, float],
        question: Question,
        top: Any,
    ) -> "ReviewedPairing":
        """Put models side by side."""
        recoveries = {name: cast("ReviewedRecovery", recovery) for name, recovery in models.items()}
        return ReviewedPairing(recoveries, tables, thresholds, question, top)


@dataclass(frozen=True, eq=False)
class AuditedRecovery(ReviewedRecovery):
    """Rows known in both classes that are a random sample of all, and what they say of all.

    Notes
    -----
    Assumes: the known rows are a random sample of all rows, and right.
    Wrong when: somebody chose which rows to look at, by their score say.
    """

    @property
    def label_chances(self) -> FloatArray | None:
        """One for verified rows and none for others, of independent rows without weights."""
        rows = self.used.recount
        alone = self.clusters is None and not self.counts.weighted
        if not alone or not isinstance(rows, RecountableRows):
            return None
        return np.where(rows.labels == UNLABELED, 0.0, 1.0)

    @cached_property
    def basis(self) -> Basis:
        """What the numbers rest on."""
        return replace(
            super().basis,
            determined_by="audited rows",
            premise="The audit shows that ",
            question="Are the verified rows a random sample of all rows?",
            lights={"reviewed": "if the audit was random"},
            overturned_by="verified rows that are no random sample",
            plan_words=PlanWords(
                "as the audited rows show", "the audit preferred high or low scores a little"
            ),
        )

    def _clusters_check(self, clusters: Clusters) -> Check:
        audited = self.reviewed.clusters
        n_verified = 0 if audited is None else audited.n_reviewed
        return verified_clusters_check(clusters.n_clusters, n_verified)

    @property
    def _own_checks(self) -> list[Check]:
        return [audit_check(self.counts)]

    def pair(
        self,
        models: Mapping[str, Recovery],
        tables: Mapping[str, Mapping[str, Estimate]],
        thresholds: Mapping[str, float],
        question: Question,
        top: Any,
    ) -> "AuditedPairing":
        """Put models side by side."""
        recoveries = {name: cast("ReviewedRecovery", recovery) for name, recovery in models.items()}
        return AuditedPairing(recoveries, tables, thresholds, question, top)


@dataclass(frozen=True, eq=False)
class ReviewedPairing(Pairing):
    """Models on rows that were looked at, side by side."""

    models: Mapping[str, ReviewedRecovery]
    tables: Mapping[str, Mapping[str, Estimate]]
    thresholds: Mapping[str, float]
    question: Question
    top: Any

    @property
    def _level(self) -> float:
        return next(iter(self.models.values())).confidence_level

    @cached_property
    def _cells(self) -> dict[str, ReviewedModel]:
        """What verdicts say of every row, beside each model's cells."""
        made: dict[str, ReviewedModel] = {}
        for name, model in self.models.items():
            rows, reviewed, counts = model.used.rows("reviews"), model.reviewed, model.counts
            cells = reviewed.cells(counts)
            if reviewed.crossed is None:  # the plan's own model, row by row as well
                own = rows.scores, rows.labels, rows.weights
                cells = CrossedCells.of(counts, rows.scores, cells, *own)
            place = np.searchsorted(-counts.score, -rows.scores.astype(np.float64))
            about = rows.labels, place, self.thresholds.get(name)
            level, clusters = self._level, reviewed.clusters
            metrics = ReviewedMetrics(
                cells, confidence_level=level, clusters=clusters, prevalence=reviewed.prevalence
            )
            made[name] = ReviewedModel(metrics, *about, weights=rows.weights)
        return made

    def differences(self, metrics: Sequence[str]) -> tuple[Difference, ...]:
        """Return the differences of every pair, metric by metric."""
        families = []
        for metric in metrics:
            values = {name: table[metric].value for name, table in self.tables.items()}
            families += self._differences(self._cells, metric, values, self.question)
        return tuple(families)

    def carried(self, metrics: Sequence[str], prevalence: float) -> tuple[Difference, ...]:
        """Return the differences where another share of rows is positive."""
        there = {name: replace(m, prevalence=prevalence) for name, m in self._cells.items()}
        found = []
        for metric in metrics:
            values = {
                name: model.estimate(self._at(name, metric, prevalence)).value
                for name, model in self.models.items()
            }
            found += self._differences(there, metric, values, "population")
        return tuple(map(carried_over, found))

    def _at(self, name: str, metric: str, prevalence: float) -> MetricAt:
        at = self.thresholds.get(name) if metric in PAIRED_POINTS else None
        return MetricAt(metric, at, prevalence=prevalence)

    def _differences(
        self,
        models: Mapping[str, ReviewedModel],
        metric: str,
        values: Mapping[str, float],
        question: Question,
    ) -> list[Difference]:
        reviewed = next(iter(self.models.values())).reviewed
        about = self._level, question, reviewed.needs
        return holm_adjusted(reviewed_differences(models, metric, values, *about))

    def workload(self) -> Workload | None:
        """Return what verdicts tell of as many flagged rows, if a number of them was asked for."""
        return None if self.top is None else self._workload()

    @cached_property
    def _cut(self) -> CutModels:
        first = next(iter(self.models.values()))
        design = design_of(first.counts, first.shares, first.shares.sampling, self._target)
        used = {name: model.used for name, model in self.models.items()}
        return cut_models(used, design, self.thresholds, self.top)

    @property
    def _target(self) -> Target:
        return TARGET_OF[self.question]

    def _workload(self) -> Workload | None:
        """Return what verdicts tell, model by model, as evaluations do.

        A handful of these rows have a verdict, so that labels weighted by a share would say more of
        them than is known; whether models differ there is not tested. None if nobody asked for a
        number of rows and the evaluations speak of other rows than these.
        """
        cut, first = self._cut, next(iter(self.models.values()))
        if not cut.chosen and first.target == "population":
            return None
        estimates = {
            name: {metric: estimate_top(model, metric, cut.size) for metric in WORKLOAD_METRICS}
            for name, model in self.models.items()
        }
        values = {
            name: {metric: estimate.value for metric, estimate in answer.items()}
            for name, answer in estimates.items()
        }
        about = cut.last, cut.tied, ()
        return Workload(cut.size, cut.chosen, values, *about, estimates, by_verdicts=True)


@dataclass(frozen=True, eq=False)
class AuditedPairing(ReviewedPairing):
    """Models on audited rows, side by side."""

    @cached_property
    def _cells(self) -> dict[str, ReviewedModel]:
        """What the audit says of every row, beside each model's cells."""
        cells = {
            name: cast("AuditedCells", model.reviewed.cells(model.counts))
            for name, model in self.models.items()
        }
        used = {name: model.used for name, model in self.models.items()}
        clusters = next(iter(self.models.values())).reviewed.clusters
        return dict(audited_models(cells, used, self.thresholds, self._level, clusters))

    def workload(self) -> Workload | None:
        """Return what the audit tells of as many flagged rows."""
        return self._workload()


def known_by_verdicts(models: Models, reviewed: ReviewAnswers) -> Unknowns:
    """Take the share of hidden positives from reviewed rows; limits rest on random labels."""
    source = f"{reviewed.n_answered:,} {'audited' if reviewed.audited else 'reviewed'} rows"
    if reviewed.prevalence is not None:
        source += f" and the given prevalence of {given_words(reviewed.prevalence)}"
    limits, shares = ShareLimits.of(models, reviewed.confidence_level), reviewed.shares()
    # What verdicts leave possible, no limit that supposes random labels rules out.
    span, share = shares.unlabeled_prevalence_interval, shares.unlabeled_prevalence
    most = share if span is None else max(share, span.high)
    largest, bound, area = (max(limit, most) for limit in limits.shown(1.0))
    return Unknowns(shares, source, largest, bound, area)
