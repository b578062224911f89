"""What the user says of the labels, and what that makes of rows: the two things all else asks.

An `Assumption` says how the labels came about and knows no scores. Applied to the rows of models it
becomes a `Recovery` of each: the completed labels with their sources of error. Results ask their
recovery and know no assumption by name, so that a new one is a subclass of each, in one file.
"""

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, Protocol, Self, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from undercount.assume.segments import SegmentRecoveries
from undercount.counts import ScoreCounts
from undercount.curve import CurveBounds, FloatArray, OperatingCurve, OperatingPoint
from undercount.errors import (
    NOT_IDENTIFIED,
    Check,
    InputError,
    LibraryWarning,
    collect_warnings,
    named,
)
from undercount.estimate import POINT, Estimate, Interval, round_outward
from undercount.infer.clusters import Clusters
from undercount.infer.decisions import BestThreshold, Goal
from undercount.infer.deployed import read_deploy_prevalence
from undercount.infer.difference import (
    PAIRED_POINTS,
    TARGET_OF,
    Contributions,
    Difference,
    Question,
    fixed_difference,
    holm_adjusted,
    possible_ends,
)
from undercount.infer.labelled import naive_area, naive_curve, naive_point
from undercount.infer.metric_at import MetricAt
from undercount.infer.metric_row import MetricRow, grows
from undercount.infer.mixture import Target, design_of
from undercount.infer.resampled import Progress, Resamples
from undercount.infer.reviews.verdicts import Reviews, working_posterior
from undercount.infer.scored_rows import ScoredRows
from undercount.infer.segmented_rows import Segmentation
from undercount.infer.sensitivity import CHANCE_AUC, BreakEven, Over, metric_value
from undercount.infer.shared_labels import LabelPart
from undercount.infer.workload import WORKLOAD_METRICS, Workload, cut_models
from undercount.metric_facts import FACTS, RIGHT_LABELS
from undercount.prevalence.consensus.doubts import Doubt
from undercount.shares import Shares

BoolArray: TypeAlias = NDArray[np.bool_]
IntArray: TypeAlias = NDArray[np.intp]
# What a claim that is met rests on: a share that the user gave, or verdicts.
MetBy: TypeAlias = Literal["given", "reviewed"]
# What tells the share of hidden positives: an assumption, an estimator, or labels and scores alone.
ShareSource: TypeAlias = Literal["assumption", "estimator", "labels"]
# Returns counts whose labelled positives lie as the hidden ones do.
LieLike: TypeAlias = Callable[..., ScoreCounts]


@dataclass(frozen=True)
class Unknowns:
    """Hold the shares used, where they come from, and what else is known of them.

    Attributes
    ----------
    largest_share, upper_bound : float
        The share at which the ROC AUC of the sharpest score would be 1, and the largest that the
        scores allow at the confidence level: the same for every model on the rows.
    area_bound : float
        The largest share at which that AUC passes 1 by no more than chance explains.
    estimated : bool
        Whether the share was estimated from these scores.
    interval : str
        How the interval of the share was made: as asked, by the estimator that was given
        ("own"), or empty if a number, a range or a standard error was given.
    estimates : mapping
        What each estimator says, if the share was estimated.
    doubt : str
        Why the scores say little about the share; empty if they say much.
    resamples : Resamples, optional
        The calculation resampled, if it was asked for, of the model that the share comes from.
    warned : sequence
        What the estimator warned of.
    model : str
        Name of the model from whose scores the share was estimated.
    by_negatives : bool
        Whether known negatives told the share.
    checks : tuple of Check
        What speaks against the share, whatever the scores say.
    label_part : LabelPart, optional
        How far the chance of these rows' labels is in the share; None if nothing is known of it.
    needs : tuple of str
        What the share itself rests on, beyond random labels: independent sources, say.
    from_scores : bool
        Whether nothing but the shape of scores tells the share, which bounds it from above only.
    """

    shares: Shares
    source: str
    largest_share: float
    upper_bound: float
    area_bound: float
    estimated: bool = False
    interval: str = ""
    estimates: Mapping[str, Estimate] = field(default_factory=dict)
    doubt: Doubt = ""
    resamples: Resamples | None = None
    warned: Sequence[LibraryWarning] = ()
    model: str = ""
    by_negatives: bool = False
    checks: tuple[Check, ...] = ()
    label_part: LabelPart | None = None
    needs: tuple[str, ...] = ()
    from_scores: bool = False

    @cached_property
    def given(self) -> bool:
        """Whether the user gave the share, so that nothing here says it is right."""
        return self.interval == "" and not self.estimates

    @cached_property
    def range_only(self) -> bool:
        """Whether the share may be 0 for all that is known, so that no value can be named."""
        return self.from_scores and lowest_share(self.shares) <= 0

    @cached_property
    def limit(self) -> float:
        """The one limit of the hidden share: the scores rule out more, at the confidence level.

        The smaller of `area_bound` and `upper_bound`, which suppose random labels; but never
        inside the interval of a share that was estimated from pure labels.
        """
        limit, span = self.area_bound, self.shares.unlabeled_prevalence_interval
        if span is not None and not self.given and self.shares.label_purity == 1:
            limit = max(limit, span.high)
        return float(self.shares.clip(min(limit, self.upper_bound)))

    def leave_open(self, estimate: Estimate) -> Estimate:
        """Take the value out of an estimate that depends on a share without one."""
        depends = "prevalence" in estimate.needs and estimate.exists
        return estimate.without_value() if self.range_only and depends else estimate

    def moved(self, share: float) -> "Unknowns":
        """Return what is known if the share of hidden positives is this number."""
        shares = self.shares.with_unlabeled_prevalence(float(self.shares.clip(share)))
        return replace(self, shares=shares, interval="", resamples=None, from_scores=False)


def lowest_share(shares: Shares) -> float:
    """Return the low end of the share of hidden positives."""
    span = shares.unlabeled_prevalence_interval
    return shares.unlabeled_prevalence if span is None else span.low


class OddsWords(NamedTuple):
    """Say up to which error of the odds of a label a claim holds: at none, at any, below one."""

    none: str
    whatever: str
    below: str


class LabelsFound(NamedTuple):
    """Say whether labels look like a random sample of the positives that verdicts found.

    Attributes
    ----------
    words, further_words : str
        What the test could notice, and what would let it notice more.
    """

    p_value: float
    rejected: bool
    undecided: bool
    weak: bool
    words: str
    further_words: str


@dataclass(frozen=True)
class ReviewFacts:
    """Say how many rows were looked at, what the labels look like, and which answers there are.

    Attributes
    ----------
    labels : str
        What the headline supposes of the labels: "any" (nothing) or "random".
    answers : tuple of str
        The suppositions under which there is an answer.
    found : LabelsFound, optional
        The comparison of labels with verdicts, where it can be made.
    plain : bool
        Whether the rows were drawn by a plan, so that both answers are worth showing.
    """

    n_planned: int
    n_answered: int
    n_positive: int
    labels: str
    answers: tuple[str, ...]
    needs: tuple[str, ...]
    sequential: bool
    goal: tuple[str, ...]
    strata: tuple[tuple[float, int, int], ...]
    found: LabelsFound | None
    plain: bool

    @property
    def other_answer(self) -> str | None:
        """The answer beside the headline; not one that a test has found wrong."""
        if len(self.answers) < 2:  # noqa: PLR2004 - nothing stands beside it
            return None
        if self.labels == "random":
            return "any"
        return None if self.found is not None and self.found.rejected else "random"


class PlanWords(NamedTuple):
    """Say what a plan of reviews supposes of the labels, and what else may well be.

    Attributes
    ----------
    supposes : str
        Stands behind the share of hidden positives: "3 % of them are positive, …".
    may_be : str
        Stands behind "what may come by the draw, if …".
    """

    supposes: str
    may_be: str


RANDOM_LABELS_PLAN = PlanWords(
    "and labels are a random sample of the positives", "labels prefer high or low scores a little"
)


class NaiveWords(NamedTuple):
    """Say what the naive values beside the estimates are, and why they are too low if so."""

    title: str = "unlabeled = negative"
    precision: str = 'some "false alarms" are positives that nobody has labelled yet'
    area: str = "unlabeled positives count as errors"


NAIVE = NaiveWords()


@dataclass(frozen=True)
class Basis:
    """Say in facts and words what numbers rest on: the data from which every output is written.

    Attributes
    ----------
    determined_by : str
        What determines the share of hidden positives and is not free to move; empty if nothing.
    source : str
        How the share is known, in full; empty where `Unknowns` say it.
    random_labels : bool
        Whether the numbers suppose that labels are random.
    limited : bool
        Whether it is worth saying which shares the scores rule out.
    premise : str
        How a sentence begins that is true if the assumption is.
    question : str
        The assumption to worry about first; empty where that is how the share is known.
    lights : mapping
        What a light of a verdict is called where that is not as usual.
    met_by : str
        What grants a claim whose share is determined.
    overturned_by : str
        What would overturn a conclusion; empty where that is another share.
    odds_words : OddsWords, optional
        The same where the odds of a label may be wrong by a factor.
    bias_premise : str
        How that factor is said before bounds; empty where labels favour some positives.
    reviewable : bool
        Whether reviews would add to what is known.
    sliders : bool
        Whether a page has something to move.
    review : ReviewFacts, optional
        What verdicts say, where there are some.
    plan_words : PlanWords
        What a plan of reviews supposes.
    naive : NaiveWords
        What stands beside the estimates, and why it is too low.
    rows : str
        What is said of the rows that a page reports on.
    whole : str
        What is said of the positives among all rows, if it is more than their hidden share.
    fitted : mapping
        What was fitted to the labels, by name: method, scale, link.
    order : str
        What tells the order of models whatever the share of hidden positives; empty where that
        share, verdicts or chances of a label decide.
    """

    determined_by: str = ""
    source: str = ""
    random_labels: bool = True
    limited: bool = True
    premise: str = ""
    question: str = ""
    lights: Mapping[str, str] = field(default_factory=dict)
    met_by: MetBy = "given"
    overturned_by: str = ""
    odds_words: OddsWords | None = None
    bias_premise: str = ""
    reviewable: bool = True
    sliders: bool = True
    review: ReviewFacts | None = None
    plan_words: PlanWords = RANDOM_LABELS_PLAN
    naive: NaiveWords = NAIVE
    rows: str = ""
    whole: str = ""
    fitted: Mapping[str, str] = field(default_factory=dict)
    order: str = ""


@runtime_checkable
class RecountsEveryScore(Protocol):
    """Rows that can be counted once more with every score apart."""

    def count_every_score(self) -> ScoreCounts:
        """Count the rows, merging no scores."""
        ...


class LabelDates(NamedTuple):
    """Hold the date of each row and of its label, as `DelayedLabels` takes them."""

    observed: Any
    found: Any
    until: Any = None
    found_eventually: float = 1.0


class ReportOptions(NamedTuple):
    """What is asked of every model alike.

    Attributes
    ----------
    target : {"dataset", "population"}, optional
        What the intervals speak of; None: what the sampling of the rows suggests.
    progress : callable, optional
        Told the share of the resamples that is done.
    thresholds, tops : tuple of float
        Further thresholds, and numbers of highest rows, whose metrics join the table.
    """

    target: Target | None = None
    confidence_level: float = 0.95
    top: float | None = None
    metrics: Sequence[str] | None = None
    random_state: int | None = 0
    progress: Progress | None = None
    thresholds: tuple[float, ...] = ()
    tops: tuple[float, ...] = ()


class Assumption(ABC):
    """How the labels came about, as the user says it; it knows no scores.

    Examples
    --------
    >>> import undercount as uc
    >>> isinstance(uc.RandomLabels(prevalence=0.04), uc.Assumption)
    True
    """

    @property
    def columns(self) -> dict[str, Any]:
        """What it says row by row, by the name of the argument: arrays, or names of columns."""
        return {}

    def with_columns(self, columns: Mapping[str, Any]) -> "Assumption":  # noqa: ARG002 - none
        """Return the same with columns that were taken out of a frame."""
        return self

    @property
    def every_score(self) -> bool:
        """Whether every score must be kept apart, so that counts may merge none."""
        return False

    @property
    def apart(self) -> bool:
        """Whether labelled and unlabeled rows were sampled separately (case-control)."""
        return False

    @property
    def dates(self) -> "LabelDates | None":
        """Dates of rows and labels, if labels are still arriving; None: all are here."""
        return None

    @property
    def fits_columns(self) -> bool:
        """Whether what it says row by row is fitted, and not only tested."""
        return False

    @property
    def share_source(self) -> ShareSource:
        """What tells the share of hidden positives."""
        return "assumption"

    @property
    def further_plan(self) -> Reviews | None:
        """The verdicts of a plan to which a further round can be added, if there are any."""
        return None

    @property
    def of_any_rows(self) -> bool:
        """Whether nothing is said of single rows, so that it holds of any part of them alike."""
        return False

    def knots(self, scores: Any = None) -> Sequence[float]:  # noqa: ARG002 - whichever scores
        """Return scores that counts keep apart: `scores` are those of a model, if they are here."""
        return ()

    def check_rows(self, rows: ScoredRows) -> None:  # noqa: B027 - most have one
        """Raise where rows have weights or clusters that the assumption has no answer for."""

    @abstractmethod
    def recover(
        self, models: Mapping[str, ScoredRows], wanted: ReportOptions
    ) -> "Mapping[str, Recovery]":
        """Apply the assumption to the rows of each model; they are the same rows."""

    def recover_segments(
        self, models: Mapping[str, ScoredRows], segmentation: Segmentation, wanted: ReportOptions
    ) -> SegmentRecoveries:
        """Apply the assumption to all rows and to each segment, which is a part of them."""
        whole = self.recover(models, wanted)
        parts = {
            name: segmentation.split(name, recovery.used, recovery.usable)
            for name, recovery in whole.items()
        }
        return SegmentRecoveries(whole, parts)


@dataclass(frozen=True, eq=False)
class Recovery(ABC):
    """An assumption applied to the rows of one model.

    Attributes
    ----------
    used : ScoredRows
        The rows that count.
    unknowns : Unknowns
        The shares in use, and how far they are known.
    target : {"dataset", "population"}
        What intervals speak of.
    confidence_level : float
        Of all intervals.
    """

    used: ScoredRows
    unknowns: Unknowns
    target: Target
    confidence_level: float

    # -- what an assumption must say -------------------------------------------------------------

    @cached_property
    @abstractmethod
    def basis(self) -> Basis:
        """What the numbers rest on, in facts and words."""

    @abstractmethod
    def measure(self, at: MetricAt, counts: ScoreCounts) -> Estimate:
        """Estimate a metric of counts that answer at its place, with its interval."""

    @abstractmethod
    def plain_curve(self, threshold: float | None = None) -> OperatingCurve:
        """Return the curve from which metrics are read, which answers at a threshold."""

    @abstractmethod
    def checks(self, rows: Sequence[MetricRow], warned: Sequence[LibraryWarning]) -> Any:
        """Return what was found about data and assumption, beside the rows of the table."""

    @abstractmethod
    def best_threshold(self, goal: Goal, over: float | None) -> BestThreshold:
        """Return the best threshold for a goal, and what it gains over another."""

    # -- what follows, unless an assumption knows better -----------------------------------------

    @cached_property
    def counts(self) -> ScoreCounts:
        """The rows that count, as counts."""
        return self.used.counts

    @cached_property
    def shares(self) -> Shares:
        """The shares in use."""
        return self.unknowns.shares

    @cached_property
    def clusters(self) -> Clusters | None:
        """The rows by cluster, if they come in clusters."""
        return self.used.clusters

    @cached_property
    def prevalence(self) -> float:
        """Share of positives in the target; NaN where labels and scores leave it open."""
        return math.nan if self.unknowns.range_only else self.shares.prevalence(self.counts)

    @cached_property
    def naive_curve(self) -> OperatingCurve:
        """The curve that people compute today: unlabeled rows are called negative."""
        return naive_curve(self.counts)

    def naive_values(self, ats: Sequence[MetricAt], counts: ScoreCounts) -> list[float]:
        """Return the naive values of metrics at one place."""
        metrics, at = [each.metric for each in ats], ats[0]
        if at.top is not None:
            if self.shares.sampling == "case-control":
                return [math.nan] * len(ats)
            return [metric_value(counts, Shares(0.0), metric, top=at.top) for metric in metrics]
        if at.threshold is None:
            return [naive_area(counts, metric) for metric in metrics]
        point = naive_point(counts, at.threshold)
        return [float(getattr(point, metric)) for metric in metrics]

    @property
    def roc_band(self) -> CurveBounds | None:
        """A band of the whole ROC curve, where more is known of it than its single points."""
        return None

    @cached_property
    def curve(self) -> OperatingCurve:
        """The recovered curve as it is shown."""
        return self.plain_curve()

    def point(self, threshold: float) -> OperatingPoint:
        """Return the recovered point at a threshold, without intervals."""
        return self.plain_curve(threshold).at(threshold)

    def counts_at(self, threshold: float | None) -> ScoreCounts:
        """Return counts that can be split at a threshold, counting once more if they must."""
        if threshold is None:
            return self.counts
        try:
            self.split_at(threshold)
        except InputError:
            if self.used.recount is None:
                raise
            return self.used.recount([threshold])
        return self.counts

    def split_at(self, threshold: float) -> None:
        """Raise unless the counts can be split at a threshold."""
        self.curve.at(threshold)

    def with_counts(self, counts: ScoreCounts) -> Self:
        """Return the recovery of other counts of the same rows."""
        return replace(self, used=replace(self.used, counts=counts))

    @cached_property
    def counts_for_top(self) -> ScoreCounts:
        """Counts that tell the highest rows: of weighted rows, with every score apart.

        Inside a merged cell nobody knows which weights stand higher.
        """
        counts, recount = self.counts, self.used.recount
        exact = counts.rows is not None and not counts.compact
        if counts.weighted and not exact and isinstance(recount, RecountsEveryScore):
            return recount.count_every_score()
        return counts

    def estimate(self, at: MetricAt, counts: ScoreCounts | None = None) -> Estimate:
        """Estimate a metric with its interval, and name all that it needs.

        `counts` are those that answer at its place, if they are there already.
        """
        return self.estimates([at], counts)[0]

    def estimates(
        self, ats: Sequence[MetricAt], counts: ScoreCounts | None = None
    ) -> list[Estimate]:
        """Estimate metrics at one place together."""
        at = ats[0]
        if at.prevalence is not None:
            return [self.finish(self.carry(each, at.prevalence)) for each in ats]
        if counts is None:
            counts = self.counts_at(at.threshold) if at.top is None else self.counts_for_top
        return [
            self.finish(estimate, self.certain_value(each, counts), each.metric)
            for each, estimate in zip(ats, self.measures(ats, counts), strict=True)
        ]

    def measures(self, ats: Sequence[MetricAt], counts: ScoreCounts) -> list[Estimate]:
        """Estimate metrics of counts that answer at their one place, with intervals."""
        return [self.measure(at, counts) for at in ats]

    def finish(
        self, estimate: Estimate, least: float | None = None, metric: str | None = None
    ) -> Estimate:
        """Leave open what the share leaves open, and name what the share rests on.

        Nothing lies below what is certain (`least`), and the interval of a metric that is but a
        point holds the truth all the same.
        """
        if self.unknowns.range_only:
            estimate = self.unknowns.leave_open(estimate)
        share = self.unknowns.needs if "prevalence" in estimate.needs else ()
        right = (RIGHT_LABELS,) if estimate.needs and self.supposes_right_labels else ()
        needs = (*estimate.needs, *share, *right)
        if metric is None:
            return replace(estimate, needs=needs)
        return raise_to(estimate, least, metric, needs=needs)

    def contributions(self, at: MetricAt) -> Contributions:
        """Return what each independent unit of the rows adds to a metric."""
        raise self.not_identified(f"what single rows add to {at.metric}", "evaluate each model")

    def read_with_units(self, at: MetricAt) -> tuple[Estimate, Contributions]:
        """Return a metric as it is measured, and what each unit adds to it."""
        if at.prevalence is not None:
            return self.carry(at, at.prevalence), self.contributions(at)
        counts = self.counts_at(at.threshold) if at.top is None else self.counts_for_top
        return self.measure(at, counts), self.contributions(at)

    def for_target(self, target: Target) -> Self:
        """Return the recovery with intervals that speak of another target."""
        return replace(self, target=target)

    def pair(
        self,
        models: "Mapping[str, Recovery]",
        tables: Mapping[str, Mapping[str, Estimate]],  # noqa: ARG002 - read from the rows
        thresholds: Mapping[str, float],
        question: Question,
        top: Any,
    ) -> "Pairing":
        """Put models under this assumption side by side; `tables` are their own estimates."""
        return PairingByRow(models, thresholds, question, top)

    @cached_property
    def share_estimated(self) -> bool:
        """Whether the share is estimated: not given, nor determined by what is supposed."""
        return not self.unknowns.given and not self.basis.determined_by

    @cached_property
    def supposes_right_labels(self) -> bool:
        """Whether no row labelled positive is supposed to be a negative."""
        return self.shares.label_purity == 1 and self.shares.label_purity_interval is None

    def floors(self, counts: ScoreCounts) -> bool:
        """Whether naive values of metrics that grow with the hidden share are below the true."""
        no_negative = counts.n_negative == 0
        return (
            self.supposes_right_labels
            and no_negative
            and naive_area(counts, "roc_auc") >= CHANCE_AUC
        )

    def certain_value(self, at: MetricAt, counts: ScoreCounts) -> float | None:
        """Return what a metric is at least, whatever is hidden: labelled rows are positive."""
        if at.metric != "precision" or at.threshold is None or self.target != "dataset":
            return None
        if not self.floors(counts):
            return None
        point = naive_point(counts, at.threshold)
        if not point.predicted_positive_rate > 0:  # none is flagged, so nothing is certain
            return None
        value = point.precision
        return value if grows(at.metric, value, self.shares) else None

    def raise_certain(self, estimate: Estimate, at: MetricAt, counts: ScoreCounts) -> Estimate:
        """Raise an estimate at a threshold to what its flagged rows are certain to have."""
        return raise_to(estimate, self.certain_value(at, counts), at.metric)

    def raise_top(self, estimate: Estimate, at: MetricAt) -> Estimate:
        """Raise the precision of the highest rows to that of the labelled ones among them."""
        certain = self.supposes_right_labels and self.target == "dataset"
        if at.top is None or at.metric != "precision" or not certain:
            return estimate
        if self.shares.sampling != "single-sample":
            return estimate
        naive = metric_value(self.counts_for_top, Shares(0.0), at.metric, top=at.top)
        return raise_to(estimate, naive, at.metric)

    def checks_of(self, at: MetricAt, checks: Sequence[Check]) -> Sequence[Check]:  # noqa: ARG002 - any metric
        """Return the checks that a metric rests on."""
        return checks

    def open_words(self, at: MetricAt) -> str:  # noqa: ARG002 - whichever metric
        """Say why nothing is claimed of a metric, whatever its interval; empty if it may be."""
        return ""

    def read_prevalence(self, prevalence: object) -> float:
        """Return a prevalence elsewhere as a float; raise where nothing is carried over."""
        return read_deploy_prevalence(prevalence)

    def carry(self, at: MetricAt, prevalence: float) -> Estimate:
        """Estimate a metric where another share of rows is positive, the rates being those here."""
        raise self.not_identified(
            f"{at.metric} where {prevalence:g} of the rows are positive", "leave the prevalence out"
        )

    @cached_property
    def bounds(self) -> CurveBounds:
        """The worst and best curve that data and prevalence allow."""
        raise self.not_identified("bounds of the curve", "the band and intervals have what is open")

    def break_even(self, at: MetricAt, value: float) -> BreakEven:  # noqa: ARG002 - any metric
        """Find the least hidden share and the largest labelling bias at which metric >= value."""
        raise self.not_identified("a break-even share", "ask by require() whether the metric holds")

    def surviving_bias(self, at: MetricAt, value: float) -> float:
        """Return the largest labelling bias at which metric >= value; NaN if none is followed."""
        return self.break_even(at, value).odds_ratio

    def follows_bias(self, at: MetricAt) -> bool:  # noqa: ARG002 - whichever metric
        """Whether bounds of a metric are known if labels prefer some positives."""
        return True

    def check_bias(self) -> None:  # noqa: B027 - most assumptions have bounds
        """Raise where no bounds of a labelling bias are known."""

    def bias_bound(self, row: MetricRow, odds_ratio: float) -> Interval:
        """Bound a row of the table if the odds of a label are off by a factor of up to so much."""
        raise self.not_identified(f"a bound of {row.label} at Γ = {odds_ratio:g}", "leave Γ out")

    def odds_bound(self, at: MetricAt, odds_ratio: float) -> Interval:
        """Bound the value of a metric alone if the odds of a label are off by up to a factor."""
        raise self.not_identified(f"a bound of {at.metric} at Γ = {odds_ratio:g}", "leave Γ out")

    def sweep(self, at: MetricAt, over: Over) -> dict[str, FloatArray]:  # noqa: ARG002 - any metric
        """Follow a metric along the prevalence, the purity or the labelling bias."""
        source = self.basis.determined_by
        fixed = "and is not free to move; sweep over the threshold instead"
        words = f"the prevalence is determined by the {source}, {fixed}"
        if over == "purity":
            words = f"the label purity is 1 where the {source} determine the prevalence, {fixed}"
        elif over == "gamma":
            words = self.no_gamma_words
        raise InputError(words, code=NOT_IDENTIFIED, argument="over")

    @property
    def no_gamma_words(self) -> str:
        """Why nothing is followed along a labelling bias."""
        return f"a sweep over gamma supposes random labels, which {self.basis.determined_by} do not"

    def calibrated_threshold(self, chance: float) -> float:  # noqa: ARG002 - any chance
        """Return the score of rows with this chance of being positive, if scores are of labels."""
        raise self.not_identified("such a threshold", "ask best_threshold() for one")

    def moved(self, share: float) -> "Recovery":
        """Return the recovery if the share of hidden positives is this number."""
        raise self.not_identified(f"a share of {share:g}", "sweep over the threshold instead")

    def negatives(self, counts: ScoreCounts) -> FloatArray:
        """Return the negatives of each cell, up to a factor, where no share is free to move."""
        what = f"the negatives of {counts.n_rows:,.0f} rows"
        raise self.not_identified(what, "ask a sweep over the threshold")

    def answers(self, at: MetricAt) -> dict[str, Estimate]:  # noqa: ARG002 - no metric has any
        """Return the answers under each supposition of the labels, if there are several."""
        return {}

    @property
    def usable(self) -> BoolArray | None:
        """Which of the rows that were given count; None: all."""
        return None

    def take(self, used: ScoredRows, place: IntArray, target: Target) -> "Recovery":  # noqa: ARG002
        """Return the recovery of some of the rows, which are a part of these."""
        raise self.not_identified("a part of the rows", "evaluate these rows by themselves")

    @property
    def label_chances(self) -> FloatArray | None:
        """Chance, up to a factor, that each row would carry a label if it were positive.

        None where labels of single rows are not told apart: rows that are not here, weighted or
        in clusters, or labels that were not given to a sample of the positives.
        """
        return None

    @property
    def further_plan(self) -> Reviews | None:
        """The reviews of a plan to which a further round can be added, if there is one."""
        return None

    def lie_like(self, counts: ScoreCounts, scores: Any = None) -> ScoreCounts:  # noqa: ARG002
        """Return counts of these rows whose labelled positives lie as the hidden ones do.

        `scores` are those of another model, if the counts are.
        """
        return counts

    @cached_property
    def posterior(self) -> FloatArray:
        """How likely an unlabeled row of each cell is positive: what a plan goes by."""
        return working_posterior(self.lie_like(self.counts), self.shares.unlabeled_prevalence)

    @property
    def not_by_labels(self) -> str:
        """Why labels alone do not answer a question under this assumption."""
        return f"would suppose other labels than the {self.basis.determined_by} say"

    def not_identified(self, what: str, instead: str) -> InputError:
        """Return the refusal of a question that has no answer under this assumption."""
        return InputError(f"{what} {self.not_by_labels}: {instead}", code=NOT_IDENTIFIED)

    def check_share(self, what: str) -> None:
        """Raise where a question has one answer only at one share, and a range of it is known."""
        if self.unknowns.range_only:
            raise InputError(
                f"{what} depends on the share of hidden positives, and labels and scores cannot "
                f"tell it: there may be none. Give {named('prevalence')}, or a range of it, or "
                f"{named('reviews')}",
                code=NOT_IDENTIFIED,
                argument="prevalence",
            )


class Pairing(ABC):
    """Models under one assumption side by side."""

    @abstractmethod
    def differences(self, metrics: Sequence[str]) -> tuple[Difference, ...]:
        """Return the differences of every pair, metric by metric."""

    @abstractmethod
    def workload(self) -> Workload | None:
        """Compare what models find among as many flagged rows; None where that is not told."""

    @abstractmethod
    def carried(self, metrics: Sequence[str], prevalence: float) -> tuple[Difference, ...]:
        """Return the differences where another share of rows is positive."""

    def reference(self, name: str, metric: str) -> float:  # noqa: ARG002 - no share is open
        """Return what orders the models where a metric has no value."""
        return math.nan

    def crossover(
        self,
        metric: str,  # noqa: ARG002 - whichever metric and models
        one: str,  # noqa: ARG002
        other: str,  # noqa: ARG002
        margin: float,  # noqa: ARG002
        prevalence: float | None,  # noqa: ARG002
    ) -> float:
        """Find the hidden share at which a difference passes a margin; NaN if there is none."""
        return math.nan

    def across(self, metric: str) -> dict[str, FloatArray]:
        """Follow a metric of every model along the share of hidden positives that scores allow."""
        raise InputError(
            f"{metric} cannot be followed along a prevalence that is determined",
            code=NOT_IDENTIFIED,
        )


@dataclass(frozen=True, eq=False)
class PairingByRow(Pairing):
    """Models side by side, each of which says what every unit of the same rows adds to a metric.

    What units add to the one less what they add to the other is what a difference varies by. No
    prevalence is supposed, so that none turns the order.

    Notes
    -----
    Assumes: what the assumption says holds for every model alike.
    Wrong when: one of the models decided who was labelled, beyond what the assumption says.
    """

    recoveries: Mapping[str, Recovery]
    thresholds: Mapping[str, float]
    question: Question
    top: Any

    @property
    def first(self) -> Recovery:
        """The recovery of the first model; what was drawn is the same for all."""
        return next(iter(self.recoveries.values()))

    def differences(self, metrics: Sequence[str]) -> tuple[Difference, ...]:
        """Return the differences of every pair, metric by metric."""
        return self._all_pairs([{n: self._at(n, m) for n in self.recoveries} for m in metrics])

    def carried(self, metrics: Sequence[str], prevalence: float) -> tuple[Difference, ...]:
        """Return the differences where another share of rows is positive."""
        places = [{n: self._at(n, m) for n in self.recoveries} for m in metrics]
        return self._all_pairs(
            [{n: replace(at, prevalence=prevalence) for n, at in each.items()} for each in places],
            "population",
        )

    def workload(self) -> Workload | None:
        """Compare what models find among as many flagged rows, if a number was asked for."""
        if self.top is None:
            return None
        shares, target = self.first.shares, TARGET_OF[self.question]
        design = design_of(self.first.counts, shares, shares.sampling, target)
        used = {name: each.used for name, each in self.recoveries.items()}
        cut = cut_models(used, design, self.thresholds, self.top)
        places = [MetricAt(metric, top=cut.size) for metric in WORKLOAD_METRICS]
        estimates = {
            name: estimate_workload(each, WORKLOAD_METRICS, cut.size)
            for name, each in self.recoveries.items()
        }
        values = {
            name: {metric: estimate.value for metric, estimate in each.items()}
            for name, each in estimates.items()
        }
        pairs = self._all_pairs([dict.fromkeys(self.recoveries, at) for at in places])
        return Workload(cut.size, cut.chosen, values, cut.last, cut.tied, pairs, estimates)

    def _at(self, name: str, metric: str) -> MetricAt:
        return MetricAt(metric, self.thresholds[name] if metric in PAIRED_POINTS else None)

    def _all_pairs(
        self, asked: Sequence[Mapping[str, MetricAt]], question: Question | None = None
    ) -> tuple[Difference, ...]:
        """Return the differences of every pair in each metric, each model at its own place."""
        question = question or self.question
        models = {n: each.for_target(TARGET_OF[question]) for n, each in self.recoveries.items()}
        found: list[Difference] = []
        for places in asked:
            answers = {name: models[name].read_with_units(at) for name, at in places.items()}
            pairs = [
                _differ(names, answers, places[names[0]].metric, question)
                for names in itertools.combinations(answers, 2)
            ]
            found += holm_adjusted(pairs)
        return tuple(found)


def _differ(
    names: tuple[str, str],
    answers: Mapping[str, tuple[Estimate, Contributions]],
    metric: str,
    question: Question,
) -> Difference:
    """Return the difference of two models by their values and what units add to either."""
    (one, adds), (other, others) = (answers[name] for name in names)
    value, chance = one.value - other.value, (adds - others).chance
    half = chance.quantile(one.confidence_level) * chance.error
    ends = possible_ends(metric, value, value - half, value + half)
    method = f"paired, {one.method}"
    gap = Estimate(value, *ends, chance.error, one.confidence_level, one.needs, method)
    return fixed_difference(metric, names, gap, chance, question)


def estimate_top(recovery: Recovery, metric: str, size: float) -> Estimate:
    """Estimate a metric of so many of the highest rows, as an evaluation does."""
    return estimate_workload(recovery, [metric], size)[metric]


def estimate_workload(
    recovery: Recovery, metrics: Sequence[str], size: float
) -> dict[str, Estimate]:
    """Estimate metrics of so many of the highest rows, as an evaluation does."""
    places = [MetricAt(metric, top=size) for metric in metrics]
    with collect_warnings():  # the table has warned
        found = zip(places, recovery.estimates(places), strict=True)
        return {at.metric: recovery.raise_top(estimate, at) for at, estimate in found}


def raise_to(
    estimate: Estimate, least: float | None, metric: str, needs: tuple[str, ...] | None = None
) -> Estimate:
    """Raise an estimate and its ends to what is certain: a few verdicts may tell less.

    An interval that is but a point holds the truth all the same.
    """
    value, low, high = estimate.value, estimate.low, estimate.high
    if least is not None:
        value, low, high = max(value, least), max(low, least), max(high, least)
    if high - low <= POINT:
        low, high = round_outward(low, high, *FACTS[metric].range)
    needs = estimate.needs if needs is None else needs
    return replace(estimate, value=value, low=low, high=high, needs=needs)
