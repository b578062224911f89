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
    estimate_top,
)
from undercount.assume.random_labels.recovery import (
    clustered_design,
    label_checks,
    threshold_checks,
)
from undercount.assume.reviewed.answers import Labels, ReviewAnswers
from undercount.assume.reviewed.audit_differences import (
    AuditedModel,
    audited_differences,
    audited_models,
)
from undercount.assume.reviewed.differences import ReviewedModel, reviewed_differences
from undercount.assume.reviewed.search import ReviewedSearch
from undercount.checks.audit import audit_check
from undercount.checks.checklist import clusters_check, with_warnings, without_random_labels
from undercount.checks.labelled_chance import chance_threshold
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray, OperatingCurve
from undercount.errors import Check, InputError, LibraryWarning, named
from undercount.estimate import Estimate
from undercount.infer.clusters import KIND_LABELS
from undercount.infer.decisions import BestThreshold, Goal
from undercount.infer.deployed import refuse_carried
from undercount.infer.difference import TARGET_OF, Difference, Question, holm_adjusted
from undercount.infer.labelling_bias import no_bias_words
from undercount.infer.metric_at import MetricAt
from undercount.infer.metric_row import MetricRow
from undercount.infer.mixture import Target, design_of
from undercount.infer.reviews.intervals import ReviewedMetrics
from undercount.infer.reviews.verdicts import AuditedCells, CrossedCells, Reviews
from undercount.infer.workload import WORKLOAD_METRICS, CutModels, Workload, cut_models

FAIR = "Are the labelled positives a fair sample of all positives?"


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
        return Basis(
            determined_by="reviews",
            random_labels=random,
            limited=random,
            premise="The reviews show that ",
            question=self._question,
            met_by="reviewed",
            overturned_by=f"labels that are no random sample, or {wrong}" if random else wrong,
            review=self._facts,
        )

    @property
    def _question(self) -> str:
        reviewed = self.reviewed
        if reviewed.labels == "any":
            return "Are the verdicts right? Nothing is supposed of the labels."
        says = f"do not contradict it (p = {reviewed.p_value:.2g})"
        says = "cannot tell yet" if reviewed.undecided else says
        return f"{FAIR} The reviews {says}; reviews alone do not need it."

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
            ("any", "random") if reviewed.testable else ("any",),
            reviewed.needs,
            reviewed.sequential,
            tuple(design.goal),
            tuple((edge, int(rows), int(size)) for edge, rows, size in strata),
            found,
            plain=not reviewed.audited,
        )

    @property
    def further_needs(self) -> tuple[str, ...]:
        """What differences of models rest on beyond what each of them names."""
        return self.reviewed.audit_needs

    @property
    def further_plan(self) -> Reviews | None:
        """The reviews of a plan to which a further round can be added, if there is one."""
        reviewed = self.reviewed
        drawn_alike = not self.counts.weighted and reviewed.sampling == "single-sample"
        own = not reviewed.audited and reviewed.crossed is None
        return reviewed.reviews if own and drawn_alike else None

    def measure(self, at: MetricAt, counts: ScoreCounts) -> Estimate:
        """Estimate one metric, as the headline does."""
        return self.reviewed.estimate(at.metric, counts=counts, **at.place)

    def answers(self, at: MetricAt) -> dict[str, Estimate]:
        """Return the answers of reviews alone and, where it can be made, with random labels."""
        return {kind: self.answer(at, cast("Labels", kind)) for kind in self._facts.answers}

    def answer(self, at: MetricAt, labels: Labels | None = None) -> Estimate:
        """Return the answer under what is supposed of the labels, as the table would have it."""
        counts = self.counts_at(at.threshold)
        found = self.reviewed.estimate(at.metric, at.threshold, labels=labels, counts=counts)
        return self.raise_certain(found, at, counts)

    def plain_curve(self, threshold: float | None = None) -> OperatingCurve:
        """Return the curve, which answers at a threshold."""
        return self.reviewed.curve(counts=self.counts_at(threshold))

    @cached_property
    def curve(self) -> OperatingCurve:
        """The recovered curve."""
        return self.reviewed.curve()

    def read_prevalence(self, prevalence: object) -> float:  # noqa: ARG002 - whichever
        """Refuse another prevalence: verdicts on rows are not carried over."""
        raise refuse_carried()

    def check_bias(self) -> None:
        """Refuse bounds of a labelling bias."""
        raise InputError(
            f"{named('odds_ratio')} cannot be combined with verdicts: "
            f"{no_bias_words(self.reviewed.labels)}",
            argument="odds_ratio",
        )

    @property
    def no_gamma_words(self) -> str:
        """Why nothing is followed along a labelling bias."""
        return f"verdicts have no bounds of a bias: {no_bias_words(self.reviewed.labels)}"

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
        needs = (*best.gain.needs, *self.reviewed.audit_needs)
        return replace(best, gain=replace(best.gain, needs=needs))

    def negatives(self, counts: ScoreCounts) -> FloatArray:
        """Return the negatives of each cell, as a share of all."""
        return np.diff(self.reviewed.fine_curve(counts).fpr)

    def checks(
        self, rows: Sequence[MetricRow], warned: Sequence[LibraryWarning]
    ) -> tuple[Check, ...]:
        """Return what was found about data, verdicts and labels."""
        found = label_checks(self, rows)
        found = found if self.basis.random_labels else without_random_labels(found)
        found += [self.reviewed.check(), *self._own_checks]
        if self.clusters is not None:
            found.append(clusters_check(clustered_design(self, "roc_auc"), self.clusters))
        found += threshold_checks(self.counts, self.shares, self.used.threshold)
        return with_warnings(found, [*self.unknowns.warned, *warned], given=True)

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
        known = {name: cast("ReviewedRecovery", each) for name, each in models.items()}
        return ReviewedPairing(known, tables, thresholds, question, top)


@dataclass(frozen=True, eq=False)
class AuditedRecovery(ReviewedRecovery):
    """Rows known in both classes that are a random sample of all, and what they say of all.

    Notes
    -----
    Assumes: the known rows are a random sample of all rows, and right.
    Wrong when: somebody chose which rows to look at, by their score say.
    """

    @cached_property
    def basis(self) -> Basis:
        """What the numbers rest on."""
        return replace(
            super().basis,
            determined_by="audited rows",
            question="Are the verified rows a random sample of all rows?",
            lights={"reviewed": "if the audit was random"},
            overturned_by="verified rows that are no random sample",
            plan_words=PlanWords(
                "as the audited rows show", "the audit preferred high or low scores a little"
            ),
        )

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
        known = {name: cast("ReviewedRecovery", each) for name, each in models.items()}
        return AuditedPairing(known, tables, thresholds, question, top)


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
        made = {}
        for name, model in self.models.items():
            rows, reviewed, counts = model.used.rows("reviews"), model.reviewed, model.counts
            if reviewed.crossed is not None:
                cells: Any = reviewed.cells(counts)
            else:  # the plan's own model, row by row as well, reviewed rows apart as in the others
                pool = np.flatnonzero(rows.labels == KIND_LABELS[1])
                seen = reviewed.reviews.score[reviewed.reviews.answered].tolist()
                counts = replace(rows, knots=(*rows.knots, *seen))([])
                cells = reviewed.finer_cells(model.counts, counts)
                own = rows.scores, pool, rows.weights
                cells = CrossedCells.of(counts, rows.scores, cells, *own)
            cell = np.searchsorted(-counts.score, -rows.scores.astype(np.float64))
            level, whose = self._level, reviewed.clusters
            metrics = ReviewedMetrics(cells, confidence_level=level, clusters=whose)
            at = self.thresholds.get(name)
            made[name] = ReviewedModel(metrics, rows.labels, cell, at, weights=rows.weights)
        return made

    def differences(self, metrics: Sequence[str]) -> tuple[Difference, ...]:
        """Return the differences of every pair, metric by metric."""
        about = self._level, self.question
        found = [reviewed_differences(self._cells, metric, *about) for metric in metrics]
        return tuple(difference for each in found for difference in holm_adjusted(each))

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
            name: {metric: estimate.value for metric, estimate in each.items()}
            for name, each in estimates.items()
        }
        about = cut.last, cut.tied, ()
        return Workload(cut.size, cut.chosen, values, *about, estimates, by_verdicts=True)

    def carried(
        self,
        metrics: Sequence[str],  # noqa: ARG002 - whichever metrics
        prevalence: float,  # noqa: ARG002
    ) -> tuple[Difference, ...]:
        """Refuse another prevalence: verdicts on rows are not carried over."""
        raise refuse_carried()


@dataclass(frozen=True, eq=False)
class AuditedPairing(ReviewedPairing):
    """Models on audited rows, side by side."""

    @cached_property
    def _audited(self) -> dict[str, AuditedModel]:
        cells = {
            name: cast("AuditedCells", model.reviewed.cells(model.counts))
            for name, model in self.models.items()
        }
        used = {name: model.used for name, model in self.models.items()}
        return audited_models(cells, used, self.tables, self.thresholds, self._level)

    def differences(self, metrics: Sequence[str]) -> tuple[Difference, ...]:
        """Return the differences of every pair, metric by metric."""
        about = self._level, self.question
        found = [audited_differences(self._audited, metric, *about) for metric in metrics]
        return tuple(difference for each in found for difference in holm_adjusted(each))

    def workload(self) -> Workload | None:
        """Return what the audit tells of as many flagged rows."""
        return self._workload()
