"""Rows of which some were looked at, with every question that a model of who was answers."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from undercount.assume.base import (
    Basis,
    NaiveWords,
    Pairing,
    PlanWords,
    Recovery,
    ReportOptions,
    Unknowns,
)
from undercount.assume.random_labels.recovery import threshold_checks
from undercount.assume.selection.differences import gain_of, selected_differences
from undercount.assume.selection.model import SelectedModel
from undercount.assume.workloads import top_workload
from undercount.checks.checklist import with_warnings
from undercount.checks.percentages import percent
from undercount.count.kernel.rows import cell_places
from undercount.counts import ScoreCounts
from undercount.curve import CurveBounds, FloatArray, OperatingCurve
from undercount.errors import (
    NOT_IDENTIFIED,
    Check,
    InputError,
    LibraryWarning,
    MisfitWarning,
    named,
    warn,
)
from undercount.estimate import Estimate
from undercount.infer.decisions import BestThreshold, Goal
from undercount.infer.deployed import SAME_RATES
from undercount.infer.difference import (
    PAIRED_POINTS,
    Difference,
    Question,
    carried_over,
    holm_adjusted,
)
from undercount.infer.mass_gradients import metric_values
from undercount.infer.metric_at import MetricAt
from undercount.infer.metric_row import MetricRow
from undercount.infer.mixture import Target
from undercount.infer.scored_rows import ScoredRows
from undercount.infer.workload import Workload
from undercount.metric_facts import FACTS
from undercount.shares import Shares

if TYPE_CHECKING:
    from undercount.assume.selection.assumption import SelectedLabels

PREVALENCE = MetricAt("prevalence")
NAIVE_LOOKED = NaiveWords(
    "rows looked at",
    "it is that of the rows looked at, which were not chosen by chance",
    "it is that of the rows looked at, whose scores are more alike",
)
LIGHTS = {
    "given": "if nothing else chose the rows looked at",
    "open": "the rows looked at leave it open",
}
QUESTION_BY_METHOD = {
    "own-score": "Did nothing but the score, and chance, decide which rows were looked at?",
    "observed-score": "Did nothing but the two scores, and chance, decide which rows were looked "
    "at?",
    "unobserved": "Are the unseen parts of the choice and of the class jointly normal?",
}
PLAN_WORDS = PlanWords(
    "and nothing else chose the rows looked at",
    "the positives that nobody looked at score a little higher or lower",
)
NO_ODDS = "a positive has no odds of a label where a label is that somebody looked"
BY_COLUMNS = "Did nothing but score, features and chance decide which rows were looked at?"


def selected_unknowns(counts: ScoreCounts, model: SelectedModel) -> Unknowns:
    """Return the share of positives among the rows that nobody looked at."""
    whole, rows = model.estimate(PREVALENCE), counts.n_rows
    ends = [
        float(np.clip((rows * end - counts.n_positive) / counts.n_unlabeled, 0.0, 1.0))
        for end in (whole.value, whole.low, whole.high)
    ]
    error = whole.standard_error * rows / counts.n_unlabeled
    shares = Shares(ends[0]).with_interval(ends[1], ends[2], error)
    return Unknowns(shares, model.method, 1.0, 1.0, 1.0)


@dataclass(frozen=True, eq=False)
class SelectedRecovery(Recovery):
    """Rows of which some were looked at, and what a model of who was says of all.

    Attributes
    ----------
    model : SelectedModel
        The fitted model: its coefficients, correlations and band.
    assumption : SelectedLabels
        What was fitted, with which parts of the rows are fitted anew.

    Notes
    -----
    Assumes: what the method names was all that chose the rows, and the class follows its model.
    Wrong when: whoever chose knew more.
    """

    model: SelectedModel
    assumption: "SelectedLabels"

    @cached_property
    def basis(self) -> Basis:
        """What the numbers rest on."""
        whole = self.prevalence_estimate
        ends = f"{percent(whole.low)} – {percent(whole.high)}"
        return Basis(
            determined_by="rows looked at",
            source=f"fitted to the rows looked at ({self._fit_words})",
            whole=f"about {percent(whole.value)} ({ends}) of all rows are positive, looked at or "
            "not",
            random_labels=False,
            limited=False,
            premise="If nothing else chose the rows looked at, ",
            question=self._question,
            lights=LIGHTS,
            overturned_by="another reason for which rows were looked at, or another shape of the "
            "class",
            reviewable=False,
            sliders=False,
            naive=NAIVE_LOOKED,
            rows="; labels exist only where somebody looked",
            fitted=self.model.fitted,
            order="If nothing else chose the rows looked at, they tell the order; no prevalence "
            "was supposed.",
            plan_words=PLAN_WORDS,
        )

    @property
    def _question(self) -> str:
        """Ask about what is supposed of the choice."""
        if self.model.choosers:
            return (
                f"Did nothing but {self.model.choosers}, and chance, decide which rows were looked "
                "at?"
            )
        return QUESTION_BY_METHOD.get(self.model.method, BY_COLUMNS)

    @property
    def _fit_words(self) -> str:
        """Say which method was fitted, and on which scale the score entered."""
        scale = self.model.scales[0]
        words = "the score itself" if scale == "score" else f"the {scale} of the score"
        return f"{self.model.method}, on {words}"

    @cached_property
    def prevalence_estimate(self) -> Estimate:
        """The share of positives among all rows, with its interval."""
        return self.model.estimate(PREVALENCE)

    @property
    def prevalence(self) -> float:
        """Share of positives among all rows."""
        return self.model.prevalence

    @property
    def share(self) -> Estimate:
        """The share of positives among the rows that nobody looked at."""
        shares = self.shares
        span, error = shares.unlabeled_prevalence_interval, shares.unlabeled_prevalence_error
        value, level = shares.unlabeled_prevalence, self.confidence_level
        low, high = (value, value) if span is None else (span.low, span.high)
        return Estimate(value, low, high, error, level, self.model.needs)

    def measure(self, at: MetricAt, counts: ScoreCounts) -> Estimate:
        """Estimate one metric."""
        estimate = self.model.estimate(at, target=self.target)
        if at.metric == "precision" and at.threshold is not None and self.target == "dataset":
            estimate = within_labels(estimate, counts, at.threshold)
        return possible_estimate(estimate, at.metric)

    def plain_curve(self, threshold: float | None = None) -> OperatingCurve:  # noqa: ARG002 - of every score
        """Return the curve, which answers at every threshold."""
        return self.model.curve

    @property
    def naive_curve(self) -> OperatingCurve:
        """The curve of the rows looked at alone."""
        return self.model.naive_curve

    def naive_values(self, ats: Sequence[MetricAt], counts: ScoreCounts) -> list[float]:
        """Return metrics of the rows looked at alone."""
        looked = counts.positive + counts.negative
        return [
            float(metric_values(counts, counts.positive, looked, at.metric, **at.place))
            for at in ats
        ]

    @cached_property
    def roc_band(self) -> CurveBounds:
        """A band that holds the whole ROC curve."""
        return self.model.band()

    def floors(self, counts: ScoreCounts) -> bool:  # noqa: ARG002 - whatever the rows
        """Whether naive values are below the true: rows may be looked at for any reason."""
        return False

    def carry(self, at: MetricAt, prevalence: float) -> Estimate:
        """Estimate a metric where another share of rows is positive."""
        there = self.model.estimate(replace(at, prevalence=prevalence))
        estimate = possible_estimate(there, at.metric)
        return replace(estimate, needs=(*estimate.needs, SAME_RATES))

    @property
    def not_by_labels(self) -> str:
        """Why labels alone do not answer a question under this assumption."""
        return "would suppose that labels are random, and here somebody chose which rows to look at"

    @property
    def no_gamma_words(self) -> str:
        """Why nothing is followed along a labelling bias."""
        return f"rows looked at have no bounds of a bias: {NO_ODDS}"

    def check_bias(self) -> None:
        """Refuse bounds of a labelling bias."""
        raise InputError(
            f"{named('odds_ratio')} cannot be combined with rows looked at: {NO_ODDS}",
            code=NOT_IDENTIFIED,
            argument="odds_ratio",
        )

    def negatives(self, counts: ScoreCounts) -> FloatArray:
        """Return the negatives of each cell, up to a factor."""
        steps, cells = np.diff(self.curve.fpr), cell_places(counts.score, self.curve.threshold[1:])
        return np.asarray(np.bincount(cells, steps, len(counts.score)), dtype=float)

    def checks_of(self, at: MetricAt, checks: Sequence[Check]) -> Sequence[Check]:
        """Return the checks that a metric rests on."""
        if not self.model.rests_on_looked(at):
            return checks
        return [check for check in checks if check.code not in self.model.beyond_looked]

    def open_words(self, at: MetricAt) -> str:
        """Say why nothing is claimed of a metric: the model alone speaks of most of its rows."""
        return self.model.extrapolates(at)

    def checks(
        self,
        rows: Sequence[MetricRow],  # noqa: ARG002 - labels may prefer low scores
        warned: Sequence[LibraryWarning],
    ) -> tuple[Check, ...]:
        """Check what can be checked of the choice and of the shape of the class."""
        checks = [*self.model.checks(), *threshold_checks(self.counts, None, self.used.threshold)]
        return with_warnings(checks, warned, given=True)

    def take(self, used: ScoredRows, place: NDArray[np.intp], target: Target) -> "SelectedRecovery":
        """Fit some of the rows by themselves: what a score means may differ between them."""
        wanted = ReportOptions(target, self.confidence_level, random_state=self.model.random_state)
        (part,) = self.assumption.part(place).recover({"": used}, wanted).values()
        return part

    def best_threshold(self, goal: Goal, over: float | None) -> BestThreshold:
        """Return the best threshold for a goal, and what it gains over another."""
        return gain_of(self.model, goal, over)

    def pair(
        self,
        models: Mapping[str, Recovery],
        tables: Mapping[str, Mapping[str, Estimate]],  # noqa: ARG002 - read from the rows
        thresholds: Mapping[str, float],
        question: Question,
        top: Any,
    ) -> "SelectedPairing":
        """Put models side by side."""
        selected = {name: cast("SelectedRecovery", model) for name, model in models.items()}
        return SelectedPairing(selected, thresholds, question, top)


@dataclass(frozen=True, eq=False)
class SelectedPairing(Pairing):
    """Models on rows of which some were looked at, side by side."""

    recoveries: Mapping[str, SelectedRecovery]
    thresholds: Mapping[str, float]
    question: Question
    top: Any

    @cached_property
    def _models(self) -> dict[str, SelectedModel]:
        return {name: recovery.model for name, recovery in self.recoveries.items()}

    def _places(self, metric: str, prevalence: float | None = None) -> dict[str, MetricAt]:
        return {
            name: MetricAt(
                metric,
                self.thresholds[name] if metric in PAIRED_POINTS else None,
                prevalence=prevalence,
            )
            for name in self._models
        }

    def differences(self, metrics: Sequence[str]) -> tuple[Difference, ...]:
        """Return the differences of every pair, metric by metric."""
        pairs = [
            selected_differences(self._models, self._places(metric), self.question)
            for metric in metrics
        ]
        return tuple(difference for tested in pairs for difference in holm_adjusted(tested))

    def workload(self) -> Workload | None:
        """Compare what models find among as many flagged rows, if a number was asked for."""
        if self.top is None:
            return None

        def differences(metric: str, size: float) -> list[Difference]:
            places = dict.fromkeys(self._models, MetricAt(metric, top=size))
            return selected_differences(self._models, places, self.question)

        return top_workload(self.recoveries, self.thresholds, self.question, self.top, differences)

    def carried(self, metrics: Sequence[str], prevalence: float) -> tuple[Difference, ...]:
        """Return the differences where another share of rows is positive."""
        pairs = [
            selected_differences(self._models, self._places(metric, prevalence), "population")
            for metric in metrics
        ]
        return tuple(carried_over(gap) for tested in pairs for gap in holm_adjusted(tested))


def within_labels(estimate: Estimate, counts: ScoreCounts, threshold: float) -> Estimate:
    """Keep the precision of these rows between what the labels of the flagged rows allow."""
    head = counts.score >= threshold
    positive, negative = counts.positive[head].sum(), counts.negative[head].sum()
    flagged = positive + negative + counts.unlabeled[head].sum()
    if not flagged > 0:
        return estimate
    ends = np.array([estimate.value, estimate.low, estimate.high])
    least, most = positive / flagged, 1 - negative / flagged
    value, low, high = np.clip(ends, least, max(least, most)).tolist()
    return replace(estimate, value=value, low=low, high=high)


def possible_estimate(estimate: Estimate, metric: str) -> Estimate:
    """Return an estimate within the metric's range, and warn of a value beyond it.

    Rows that stand for many others (doubly robust, by inverse chances) may add up to more positives
    than there are rows.
    """
    least, most = FACTS[metric].range
    ends = estimate.value, estimate.low, estimate.high
    value, low, high = (float(np.clip(end, least, most)) for end in ends)
    if value != estimate.value and not math.isnan(value):
        warn(
            MisfitWarning(
                f"{{metric}} would be {estimate.value:.4g} by the rows looked at, and is taken for "
                f"{value:g}: few of them stand for many others",
                code="misfit",
                metric=metric,
            ),
            stacklevel=4,
        )
    return replace(
        estimate, value=value, low=float(np.fmin(low, value)), high=float(np.fmax(high, value))
    )
