"""Every fact of one evaluation, and the questions that it answers."""

import math
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from undercount.assume.bounds.bound_curve import bound_curve
from undercount.assume.labelled import naive_area, naive_curve, naive_point
from undercount.assume.mixture import MixtureDesign, Target, design_of, mixture_curve
from undercount.count.columns import make_frame
from undercount.counts import ScoreCounts
from undercount.curve import (
    PARAMETRIC,
    CurveBounds,
    FloatArray,
    OperatingCurve,
    OperatingPoint,
    metric_names,
)
from undercount.errors import (
    CODES,
    NOT_IDENTIFIED,
    Check,
    InputError,
    check_choice,
    collect_warnings,
    named,
    read_threshold,
)
from undercount.estimate import Estimate, Interval, round_outward
from undercount.metric_facts import FACTS, RIGHT_LABELS
from undercount.prevalence.pooled import LabelPart
from undercount.read.bias_bounds import (
    bound_by_chances,
    bound_metric,
    follows_bias,
    no_bias_words,
)
from undercount.read.chances import NEEDS, Chances
from undercount.read.decisions import (
    BestThreshold,
    Goal,
    ThresholdSearch,
    cost_weight,
    exchange_rate,
    scale_estimate,
)
from undercount.read.deployed import Deployment, read_deploy_prevalence
from undercount.read.flagged_check import (
    flagged_check,
    rounded_threshold,
    rounding_check,
    warn_rounding,
)
from undercount.read.hidden_share import lowest_share
from undercount.read.intervals.clusters import Clusters
from undercount.read.intervals.estimate import estimate_metric
from undercount.read.intervals.estimated_share import estimate_end_by_end
from undercount.read.intervals.resampled import Resamples
from undercount.read.labelled_chance import chance_threshold
from undercount.read.metric_name import (
    MetricName,
    parse_metric,
    place_words,
    short_number,
    short_threshold,
)
from undercount.read.requirement import (
    Judgement,
    Requirement,
    Verdict,
    check_words,
    judge_requirement,
    parse_requirement,
    parse_requirements,
)
from undercount.read.reviewed import Labels, Reviewed
from undercount.read.reviewed_search import ReviewedSearch
from undercount.read.sensitivity import (
    AREAS,
    CHANCE,
    OVER,
    STEPS,
    BreakEven,
    Over,
    break_even,
    check_goal,
    metric_value,
    spaced_thresholds,
    sweep,
)
from undercount.read.verdict import (
    ClaimVerdict,
    doubt_words,
    failure_doubt_words,
    judge_claim,
)
from undercount.shares import Shares

if TYPE_CHECKING:
    from pathlib import Path


# `show` stands above `read`, which knows nothing of it; a method of convenience such as
# `Evaluation.to_html` names a form, and what draws it is looked up only when it is asked for.
FORMS = {
    "json": "undercount.show.document:as_json",
    "document": "undercount.show.document:as_document",
    "markdown": "undercount.show.tables:as_markdown",
    "latex": "undercount.show.tables:as_latex",
    "frame": "undercount.show.page.report:as_frame",
    "text": "undercount.show.text:as_text",
    "plan text": "undercount.show.plan:as_text",
    "html": "undercount.show.page.report:write_page",
    "comparison json": "undercount.show.comparison:as_json",
    "comparison text": "undercount.show.comparison:as_text",
    "segments json": "undercount.show.segments:as_json",
    "segments markdown": "undercount.show.segments:as_markdown",
    "segments text": "undercount.show.segments:as_text",
    "segments html": "undercount.show.segments:write_page",
    "monitoring json": "undercount.show.monitoring:as_json",
    "monitoring text": "undercount.show.monitoring:as_text",
    "monitoring html": "undercount.show.monitoring:write_page",
    "comparison markdown": "undercount.show.comparison_tables:as_markdown",
    "comparison latex": "undercount.show.comparison_tables:as_latex",
    "comparison csv": "undercount.show.comparison_tables:as_csv",
    "comparison snippet": "undercount.show.comparison_tables:as_snippet",
    "comparison page": "undercount.show.page.comparison:write_comparison",
}


def render(form: str, *subject: Any, **options: Any) -> Any:
    """Draw a result in a form of the table above."""
    return pkgutil.resolve_name(FORMS[form])(*subject, **options)


@runtime_checkable
class RecountsEveryScore(Protocol):
    """Rows that can be counted once more with every score apart."""

    def count_every_score(self) -> ScoreCounts:
        """Count the rows, merging no scores."""
        ...


# What is found where rates cannot be carried over.
NOTHING = Estimate(math.nan, math.nan, math.nan)
TOP_METRICS = ("precision", "recall", "lift")
POINT_METRICS = ("recall", "precision", "f1", "specificity", "accuracy", "mcc")


@dataclass(frozen=True)
class MetricRow:
    """Hold one line of the table: the naive value beside the estimate.

    Attributes
    ----------
    lower_bound : float, optional
        The value if no positive were hidden, for metrics that grow with the hidden share.
    top : float, optional
        Instead of a threshold: so many rows of the highest scores, or such a share of them.
    certain : bool
        Whether the metric of these rows cannot be lower if every label is right (precision: the
        labelled rows among those flagged are positive whatever else is); otherwise the bound has
        the chance of the labels.
    shown : float, optional
        The threshold with fewer digits, if it has many: it flags the same rows.

    Examples
    --------
    >>> from undercount import Estimate
    >>> from undercount.read.evaluation import MetricRow
    >>> MetricRow("precision", 0.7, 0.22, Estimate(0.7, 0.6, 0.8), 0.22).label
    'precision@0.7'
    """

    metric: str
    threshold: float | None
    naive: float
    estimate: Estimate
    lower_bound: float | None = None
    certain: bool = False
    top: float | None = None
    shown: float | None = None

    @property
    def label(self) -> str:
        """Name with threshold, as people say it."""
        return f"{self.metric}{place_words(self.threshold, self.top)}"


@dataclass(frozen=True)
class Evaluation:
    """Hold every fact of one evaluation; made by `evaluate`.

    Attributes
    ----------
    counts, shares : ScoreCounts, Shares
        What was read, and what is known or estimated of the positives.
    rows : tuple of MetricRow
        The table.
    checks : tuple of Check
        What was found about data and assumptions.
    share_estimates : mapping
        What each estimator says of the share of hidden positives, if it was estimated.
    largest_share : float
        Share of hidden positives at which the ROC AUC would be 1, which chance may pass.
    upper_bound : float
        Largest share of hidden positives that the scores allow, at the confidence level.
    area_bound : float
        Largest share at which the ROC AUC passes 1 by no more than chance. Of several models on
        the same rows all three are those of the model that allows least.
    interval : str
        How the interval of the share was made: "calibrated", "bootstrap", "combined"; "own" if an
        estimator's was given; empty if a number, a range or a standard error was.
    resamples : Resamples, optional
        The whole calculation resampled, if it was asked for.
    share_model : str
        The model from whose scores the share was estimated: the sharpest on these rows.
    claim : Requirement, optional
        What `verdict` judges; None for a round number below the leading one. See `claiming`.
    random_state : int, optional
        The seed of estimators and resampling.
    naive_curve : OperatingCurve
        The curve that calls every unlabeled row negative.
    reviewed : Reviewed, optional
        What reviewed rows say, with and without random labels; the table is that of its headline.
    clusters : Clusters, optional
        The rows by cluster, if they come in clusters.
    chances : Chances, optional
        What the rows say if labels were given with known chances, which then need not be equal.
    deploy_prevalence : float, optional
        Share of positives where the classifier will work; `deployed` has the metrics there.
    top_rows : tuple of MetricRow
        Precision, recall and lift of so many rows of the highest scores, if they were asked for.
    backend : str
        The library of the frame that was read, in which `to_frame` answers; empty for arrays.
    origin : str
        Data and columns as a command line names them; empty if there was none.
    costs : mapping, optional
        What a false positive and a false negative cost, which text and page then show. See
        `costing`.
    odds_ratio : float, optional
        Labelling bias Γ whose bounds text and documents then show. See `bias_bounds`.
    unlabeled : float, optional
        Label value that means unlabeled, if one was told.
    share_needs : tuple of str
        What the share itself rests on, which every metric that needs it then names.
    label_part : LabelPart, optional
        How far the chance of these rows' labels is in an estimated share, if that is known.
    from_scores : bool
        Whether nothing but the shape of scores tells the share, which bounds it from above only.
    judgements : tuple of Judgement
        What was found of each requirement, the worst first, which documents then list.

    Examples
    --------
    >>> import undercount as uc
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(5000) < 0.2
    >>> y = truth & (rng.random(5000) < 0.5)
    >>> evaluation = uc.evaluate(y, rng.normal(2.0 * truth), unlabeled=0, prevalence=0.2)
    >>> evaluation.naive_curve.roc_auc < evaluation.curve.roc_auc
    True
    """

    counts: ScoreCounts = field(repr=False)
    shares: Shares
    target: Target
    confidence_level: float
    threshold: float | None
    source: str
    rows: tuple[MetricRow, ...]
    checks: tuple[Check, ...]
    largest_share: float
    upper_bound: float = 1.0
    interval: str = ""
    share_estimates: Mapping[str, Estimate] = field(default_factory=dict)
    name: str = "score"
    recount: Callable[[list[float]], ScoreCounts] | None = field(default=None, repr=False)
    resamples: Resamples | None = field(default=None, repr=False)
    share_model: str = ""
    claim: Requirement | None = None
    random_state: int | None = None
    reviewed: Reviewed | None = field(default=None, kw_only=True, repr=False)
    clusters: Clusters | None = field(default=None, kw_only=True, repr=False)
    chances: Chances | None = field(default=None, kw_only=True, repr=False)
    deploy_prevalence: float | None = field(default=None, kw_only=True)
    backend: str = field(default="", kw_only=True, repr=False)
    top_rows: tuple[MetricRow, ...] = field(default=(), kw_only=True)
    origin: str = field(default="", kw_only=True)
    costs: Mapping[str, float] | None = field(default=None, kw_only=True)
    odds_ratio: float | None = field(default=None, kw_only=True)
    unlabeled: float | None = field(default=None, kw_only=True, repr=False)
    label_part: LabelPart | None = field(default=None, kw_only=True, repr=False)
    area_bound: float = field(default=1.0, kw_only=True, repr=False)
    share_needs: tuple[str, ...] = field(default=(), kw_only=True, repr=False)
    judgements: tuple[Judgement, ...] = field(default=(), kw_only=True, repr=False)
    from_scores: bool = field(default=False, kw_only=True, repr=False)

    @cached_property
    def curve(self) -> OperatingCurve:
        """The recovered curve; what depends on a share that is left open is NaN."""
        if self.reviewed is not None:
            return self.reviewed.curve()
        if self.chances is not None:
            return self.chances.curve()
        if self.share_range_only:
            return self._open_curve(self.counts)
        return mixture_curve(self.counts, self.shares)

    @cached_property
    def naive_curve(self) -> OperatingCurve:
        """The curve that calls every unlabeled row negative."""
        return naive_curve(self.counts)

    @cached_property
    def bounds(self) -> CurveBounds:
        """The worst and best curve that data and prevalence allow."""
        self._check_labels_answer("bounds of the curve", "the band and intervals have what is open")
        if self.clusters is not None:
            raise InputError(
                "bounds of the whole curve are those of independent rows, and these come in "
                "clusters; a sweep over the threshold has intervals that rest on clusters",
                argument="cluster",
            )
        return bound_curve(self.counts, self.shares, confidence_level=self.confidence_level)

    @property
    def share_given(self) -> bool:
        """Whether the user gave the share, so that nothing here says it is right."""
        return self.interval == "" and not self.share_estimates

    @property
    def random_labels(self) -> bool:
        """Whether the numbers suppose that labels are random, which reviews alone do not."""
        return self.reviewed is None or self.reviewed.labels == "random"

    @cached_property
    def share_limit(self) -> float:
        """The one limit of the hidden share: the scores rule out more, at the confidence level.

        The smaller of `area_bound` and `upper_bound`, which suppose random labels; but never
        inside the interval of a share that was estimated from pure labels.
        """
        limit, span = self.area_bound, self.shares.unlabeled_prevalence_interval
        if span is not None and not self.share_given and self.shares.label_purity == 1:
            limit = max(limit, span.high)
        return float(self.shares.clip(min(limit, self.upper_bound)))

    @cached_property
    def verdict(self) -> ClaimVerdict:
        """What may be said of the claim."""
        return judge_claim(self)

    def claiming(self, text: str) -> "Evaluation":
        """Return the same with a claim to judge, such as "precision >= 0.6"."""
        return self.claimed(parse_requirement(text, self.threshold, self.top))

    def claimed(self, requirement: Requirement) -> "Evaluation":
        """Return the same with a claim that was read before, and what its threshold asks to say."""
        threshold, told = requirement.threshold, []
        if threshold is not None:
            own = threshold == self.threshold
            told = rounding_check(self.counts_at(threshold), threshold, own=own)
        checks = dict.fromkeys((*self.checks, *told))
        return replace(self, claim=self.placed(requirement), checks=tuple(checks))

    def costing(self, *, false_positive: float, false_negative: float) -> "Evaluation":
        """Return the evaluation with costs of errors, which its text and page then show.

        Examples
        --------
        >>> import undercount as uc
        >>> y, score = [1, 1, 0, 1, 0, 0, 0, 0] * 10, [8, 7, 6, 5, 4, 3, 2, 1] * 10
        >>> evaluation = uc.evaluate(y, score, unlabeled=0, prevalence=0.4)
        >>> "a false negative 4" in str(evaluation.costing(false_positive=1, false_negative=4))
        True
        """
        costs = {"false_positive": false_positive, "false_negative": false_negative}
        cost_weight(costs)  # refuses what is no cost
        return replace(self, costs={name: float(each) for name, each in costs.items()})

    def at(
        self, threshold: float | None = None, *, top: float | None = None
    ) -> tuple[MetricRow, ...]:
        """Return the metrics at a threshold, or of so many rows of the highest scores.

        `top` below 1 is a share of the rows. Where the last row is tied with others, the metrics
        are means over the ways in which chance may take them.
        """
        if top is not None and threshold is None:
            return self._top_rows(top)
        if top is not None or threshold is None:
            raise InputError(f"give either a {named('threshold')} or {named('top')}")
        threshold = read_threshold(threshold)
        return self.metric_rows(POINT_METRICS, threshold, self.counts_at(threshold))

    def _top_rows(self, top: float, metrics: Sequence[str] = TOP_METRICS) -> tuple[MetricRow, ...]:
        """Estimate the metrics of the highest rows beside the values that count labels alone."""
        apart = self.shares.sampling == "case-control"
        rows = []
        for metric in metrics:
            estimate = self.estimate(metric, top=top)
            naive = math.nan
            if not apart:
                naive = metric_value(self.counts_for_top, Shares(0.0), metric, top=top)
            asked = int(top) if top == 1 else float(top)  # 1.0 might be all rows
            rows.append(MetricRow(metric, None, naive, estimate, top=asked))
        return tuple(rows)

    @cached_property
    def counts_for_top(self) -> ScoreCounts:
        """Counts that tell the highest rows: of weighted rows, with every score apart.

        Inside a merged cell nobody knows which weights stand higher.
        """
        counts = self.counts
        exact = counts.rows is not None and not counts.compact
        if counts.weighted and not exact and isinstance(self.recount, RecountsEveryScore):
            return self.recount.count_every_score()
        return counts

    @property
    def top(self) -> float | None:
        """Highest rows at which metrics are read where neither threshold nor other rows are said.

        None with a threshold of the evaluation's own, which is meant then.
        """
        rows = self.top_rows if self.threshold is None else ()
        return rows[0].top if rows else None

    @property
    def _certain(self) -> bool:
        """Whether labelled rows among those flagged are positive whatever else is."""
        pure = self.shares.label_purity == 1 and self.shares.label_purity_interval is None
        return pure and self.target == "dataset" and self.shares.sampling == "single-sample"

    def standard_rows(self) -> tuple[MetricRow, ...]:
        """Return the table of the areas and, if there is a threshold, the metrics at it."""
        rows = self.metric_rows(AREAS, None, self.counts)
        if self.threshold is None:
            return rows
        return self.metric_rows(POINT_METRICS, self.threshold, self.counts) + rows

    def standard(self) -> "Evaluation":
        """Return the evaluation with the usual table, whichever metrics were chosen for it."""
        wanted: set[tuple[str, float | None]] = {(metric, None) for metric in AREAS}
        if self.threshold is not None:
            wanted |= {(metric, self.threshold) for metric in POINT_METRICS}
        if wanted <= {(row.metric, row.threshold) for row in self.rows}:
            return self
        with collect_warnings():
            return replace(self, rows=self.standard_rows())

    def chosen_rows(
        self, metrics: Sequence[str], top: float | None = None
    ) -> tuple[MetricRow, ...]:
        """Return the rows of chosen metrics, at the evaluation's threshold if none is said.

        Without one those of the highest rows are meant, which `top_rows` has if it was asked for.
        """
        rows: list[MetricRow] = []
        for name in map(parse_metric, metrics):
            if top is not None and self.threshold is None and not name.placed:
                name.refuse_elsewhere(TOP_METRICS)
                continue
            if name.top is not None:
                rows += self._top_rows(name.top, [m for m in TOP_METRICS if m == name.metric])
                continue
            threshold = self.threshold if name.threshold is None else name.threshold
            if name.metric in AREAS:
                threshold = None
            elif threshold is None:
                raise InputError(
                    f"{name.metric} needs a threshold; pass {named('threshold')}, or ask for "
                    f"{name.metric}@0.5 say",
                    argument="metrics",
                )
            counts = self.counts_at(threshold)
            rows += self.metric_rows((name.metric,), threshold, counts)
        # "precision" and "precision@0.4" are one row at threshold 0.4.
        return tuple({(row.metric, row.threshold, row.top): row for row in rows}.values())

    def metric_rows(
        self, metrics: Sequence[str], threshold: float | None, counts: ScoreCounts
    ) -> tuple[MetricRow, ...]:
        """Estimate metrics of counts and read their naive values."""
        self._warn_rounding(counts, threshold)
        naive = None if threshold is None else naive_point(counts, threshold)
        shown = None if threshold is None else short_threshold(threshold, counts)
        bounded = self._bounded(counts)
        rows = []
        for metric in metrics:
            value = naive_area(counts, metric) if naive is None else float(getattr(naive, metric))
            estimate = self._estimate(counts, metric, threshold)
            bound = value if bounded and grows(metric, value, self.shares) else None
            certain = bound is not None and metric == "precision" and self.target == "dataset"
            if not (certain or self.random_labels):
                bound = None
            rows.append(MetricRow(metric, threshold, value, estimate, bound, certain, shown=shown))
        return tuple(rows)

    def _bounded(self, counts: ScoreCounts) -> bool:
        """Whether naive values of metrics that grow with the hidden share are below the true."""
        pure = self.supposes_right_labels and self.chances is None
        return pure and counts.n_negative == 0 and naive_area(counts, "roc_auc") >= CHANCE

    def certain_value(self, metric: str, threshold: float, counts: ScoreCounts) -> float | None:
        """Return what a metric is at least, whatever is hidden: labelled rows are positive."""
        if metric != "precision" or self.target != "dataset" or not self._bounded(counts):
            return None
        point = naive_point(counts, threshold)
        if not point.predicted_positive_rate > 0:  # none is flagged, so nothing is certain
            return None
        value = point.precision
        return value if grows(metric, value, self.shares) else None

    def estimate(
        self,
        metric: str,
        threshold: float | None = None,
        *,
        top: float | None = None,
        beta: float = 1.0,
    ) -> Estimate:
        """Estimate one metric with its interval; `beta` is the number that some metrics take."""
        check_choice("metric", metric, tuple(FACTS))
        threshold = None if threshold is None else read_threshold(threshold)
        counts = self.counts_at(threshold) if top is None else self.counts_for_top
        known = threshold in (None, self.threshold)  # what it would warn of is among the checks
        self._warn_rounding(counts, threshold)
        with collect_warnings() if known else nullcontext():
            found = self._estimate(counts, metric, threshold, top=top, beta=beta)
        if top is None or metric != "precision" or not self._certain:
            return found
        naive = metric_value(counts, Shares(0.0), metric, top=top)
        return _round_outward(self._at_least(naive, found), metric)

    def _warn_rounding(self, counts: ScoreCounts, threshold: float | None) -> None:
        """Warn of rows just below a threshold; of the evaluation's own a check tells."""
        if threshold is not None and threshold != self.threshold:
            warn_rounding(counts, threshold, stacklevel=3)

    def reviewed_estimate(
        self, metric: str, threshold: float | None, labels: Labels | None = None
    ) -> Estimate:
        """Estimate a metric by the reviews, alone or with random labels, as the table would."""
        if self.reviewed is None:
            raise InputError(f"no {named('reviews')} were given to this evaluation")
        check_choice("metric", metric, tuple(FACTS))
        if labels is not None:
            check_choice("labels", labels, ("any", "random"))
        threshold = None if threshold is None else read_threshold(threshold)
        counts = self.counts_at(threshold)
        found = self.reviewed.estimate(metric, threshold, labels=labels, counts=counts)
        return self._at_least_certain(found, metric, threshold, counts)

    def _at_least_certain(
        self, found: Estimate, metric: str, threshold: float | None, counts: ScoreCounts
    ) -> Estimate:
        """Raise an estimate at a threshold to what its flagged rows are certain to have."""
        if threshold is not None and metric == "precision":
            least = self.certain_value(metric, threshold, counts)
            found = found if least is None else self._at_least(least, found)
        return _round_outward(found, metric)

    def _at_least(self, least: float, found: Estimate) -> Estimate:
        """Raise an estimate and its ends to what is certain: a few verdicts may tell less."""
        ends = {end: max(getattr(found, end), least) for end in ("value", "low", "high")}
        return replace(found, **ends)

    @property
    def supposes_right_labels(self) -> bool:
        """Whether no row labelled positive is supposed to be a negative."""
        return self.shares.label_purity == 1 and self.shares.label_purity_interval is None

    def _estimate(
        self, counts: ScoreCounts, metric: str, threshold: float | None, **place: Any
    ) -> Estimate:
        """Estimate one metric, and name all that it needs."""
        found = self._estimate_alone(counts, metric, threshold, **place)
        found = self._name_needs(self._leave_open(found))
        return self._at_least_certain(found, metric, threshold, counts)

    def _leave_open(self, found: Estimate) -> Estimate:
        """Take the value out of an estimate that depends on a share of which a range is known."""
        depends = self.share_range_only and "prevalence" in found.needs and found.exists
        return found.without_value() if depends else found

    def _name_needs(self, found: Estimate) -> Estimate:
        """Name what the share rests on among the needs of an estimate, and right labels."""
        share = self.share_needs if "prevalence" in found.needs else ()
        right = (RIGHT_LABELS,) if found.needs and self.supposes_right_labels else ()
        return replace(found, needs=(*found.needs, *share, *right))

    @property
    def share_estimated(self) -> bool:
        """Whether the share is estimated: not given, nor determined by reviews or chances."""
        determined = self.chances is not None or self.reviewed is not None
        return not self.share_given and not determined

    @property
    def share_range_only(self) -> bool:
        """Whether labels and scores leave a share of 0 possible, so that no value can be named."""
        return self.from_scores and lowest_share(self.shares) <= 0

    def _open_curve(self, counts: ScoreCounts) -> OperatingCurve:
        """Return a curve with NaN where a rate depends on a share of which a range is known."""
        curve = mixture_curve(counts, self.shares.exact(0.0), clean=False)
        flagged, nothing = curve.predicted_positive_rate, np.full(len(curve.tpr), np.nan)
        tpr = curve.tpr if self.supposes_right_labels else nothing
        return replace(curve, tpr=tpr, fpr=nothing, prevalence=math.nan, flagged=flagged)

    def _check_share(self, what: str) -> None:
        """Raise where a question has one answer only at one share, and a range of it is known."""
        if self.share_range_only:
            raise InputError(
                f"{what} depends on the share of hidden positives, and labels and scores cannot "
                f"tell it: there may be none. Give {named('prevalence')}, or a range of it, or "
                f"{named('reviews')}",
                code=NOT_IDENTIFIED,
                argument="prevalence",
            )

    def _estimate_alone(
        self, counts: ScoreCounts, metric: str, threshold: float | None, **place: Any
    ) -> Estimate:
        """Estimate one metric, the interval of an estimated share added as it was asked."""
        if self.reviewed is not None:
            return self.reviewed.estimate(metric, threshold, counts=counts, **place)
        if self.chances is not None:
            return self.chances.estimate(metric, threshold, **place)
        options: dict[str, Any] = {
            "threshold": threshold,
            "target": self.target,
            "confidence_level": self.confidence_level,
            "clusters": self.clusters,
            **place,
        }
        if self.resamples is not None and (place.get("top") or metric in PARAMETRIC):
            raise InputError(
                "the highest rows and costs are not resampled, so that "
                f"{named('prevalence_interval', repr(self.interval))} has no interval of them; "
                "leave it out, and the error of the share reaches them as 'calibrated' does"
            )
        if self.interval and self.resamples is None:
            part = self.label_part
            return estimate_end_by_end(counts, self.shares, metric, label_part=part, **options)
        found = estimate_metric(counts, self.shares, metric, **options)
        if self.resamples is None:
            return found
        return self.resamples.estimate(counts, found, metric, threshold)

    def __getitem__(self, metric: str) -> Estimate:
        """Return the estimate of a metric by any of its names, as "precision" or "f1@0.7".

        Without a threshold it is read at the evaluation's own. "recall@top 500" flags the 500
        rows of the highest scores.
        """
        return self.estimate_named(parse_metric(metric))

    def estimate_named(self, name: MetricName) -> Estimate:
        """Return the estimate of a metric, from the table if it stands there."""
        if self.top is not None and not name.placed:
            name = replace(name, top=self.top)
        threshold = self.threshold if name.top is None else None
        threshold = threshold if name.threshold is None else name.threshold
        if name.metric in AREAS:
            threshold = None
        for row in self.rows:
            if name.top is None and (row.metric, row.threshold) == (name.metric, threshold):
                return row.estimate
        if threshold is None and not name.placed:
            raise InputError(
                f"{name.metric} is read at a threshold, and this evaluation has none; ask for "
                f"{name.metric}@0.5 say, or pass {named('threshold')} to evaluate"
            )
        return self.estimate(name.metric, threshold, top=name.top)

    def require(self, *conditions: str) -> Verdict:
        """Judge conditions such as "precision >= 0.7" or "recall > 50% and fpr@0.9 < 0.1".

        Those that name no threshold are read at the evaluation's own. With a `deploy_prevalence`
        each is judged where that share of rows is positive, and says so.

        Returns
        -------
        Verdict
            True only if each condition holds on its whole interval and `verdict` grants it.
            One that hangs on an estimated share or on a failed check is "inconclusive", unless it
            holds, or fails, at every share that the scores allow. `outcome` is "met", "failed" or
            "inconclusive", and printed it says why.
        """
        wanted = [
            requirement
            for condition in conditions
            for requirement in parse_requirements(condition, self.threshold, self.top)
        ]
        return Verdict(tuple(self.judge(requirement) for requirement in wanted))

    def judge(self, requirement: Requirement) -> Judgement:
        """Judge one requirement by the estimate and by what the checks found.

        It is open if it hangs on rows that score what the threshold is in single precision.
        """
        found, threshold = self._judge(requirement), requirement.threshold
        if threshold is None:
            return found
        counts = self.counts_at(threshold)
        near = rounded_threshold(counts, threshold)
        if near is None:
            return found
        there = replace(requirement, name=replace(requirement.name, threshold=near))
        if self._judge(there).outcome == found.outcome:
            return found
        (check,) = rounding_check(counts, threshold)
        return replace(found, outcome="inconclusive", why=check_words(check))

    def _judge(self, requirement: Requirement) -> Judgement:
        """Judge one requirement where it is read."""
        if requirement.name.model not in (None, self.name):
            raise InputError(
                f"{requirement.words!r} is about {requirement.name.model!r}; this is {self.name!r}"
            )
        requirement = self.placed(requirement)
        try:
            with collect_warnings() as warned:
                estimate = self.estimate_required(requirement)
        except InputError as error:
            if error.code != "misfit" or requirement.deploy_prevalence is None:
                raise
            return Judgement(self.name, requirement, "inconclusive", NOTHING, str(error))
        checks = [check for check in self.checks if check.code != CODES["flagged"]]
        if requirement.threshold is not None:
            checks.append(flagged_check(self.counts, requirement.threshold))
        outcome, why = judge_requirement(requirement, estimate, checks, warned)
        # One judgement: what the verdict does not grant is not met, and not failed either.
        if outcome == "met":
            why = self._doubt_words(requirement, estimate)
        elif requirement.verdict(estimate) == "failed":
            why = failure_doubt_words(replace(self, claim=requirement.opposite))
            outcome = "failed"
        outcome = "inconclusive" if why else outcome
        return Judgement(self.name, requirement, outcome, estimate, why, tuple(warned))

    def _doubt_words(self, requirement: Requirement, estimate: Estimate) -> str:
        """Say why the verdict does not grant a requirement that the interval meets."""
        claiming = replace(self, claim=requirement)
        if "prevalence" not in estimate.needs and claiming.verdict.light != "unsupported":
            return ""
        return doubt_words(claiming)

    def estimates(self) -> dict[str, Estimate]:
        """Return the estimates of the table by their names, "precision" or "roc_auc"."""
        return {self._key(row, "@"): row.estimate for row in (*self.rows, *self.top_rows)}

    def _key(self, row: MetricRow, at: str) -> str:
        """Name a row by its metric, and by its threshold if that is not the evaluation's."""
        if row.top is not None:
            return f"{row.metric}{at}top_{row.top:g}"
        if row.threshold is None or row.threshold == self.threshold:
            return row.metric
        return f"{row.metric}{at}{short_number(row.threshold)}"

    def metrics(self, prefix: str = "") -> dict[str, float]:
        """Return value, ends and naive value of every metric, and the prevalence, as plain numbers.

        Flat, and by names that experiment trackers take: "precision", "precision_low",
        "precision_high", "precision_naive". What does not exist here (0/0) is left out.
        So is the value, and the prevalence, where the data leave only a range.

        Examples
        --------
        >>> import numpy as np
        >>> import undercount as uc
        >>> y, score = np.repeat([1, -1], [40, 80]), np.arange(120)[::-1]
        >>> evaluation = uc.evaluate(y, score, unlabeled=-1, prevalence=0.4, metrics=["lift_auc"])
        >>> sorted(evaluation.metrics("valid/"))[:2]
        ['valid/lift_auc', 'valid/lift_auc_high']
        """
        found = {}
        if not self.share_range_only:
            found["prevalence"] = self.prevalence
            found["unlabeled_prevalence"] = self.shares.unlabeled_prevalence
        for row in (*self.rows, *self.top_rows):
            name, estimate = self._key(row, "_at_"), row.estimate
            found[name], found[f"{name}_naive"] = estimate.value, row.naive
            found[f"{name}_low"], found[f"{name}_high"] = estimate.low, estimate.high
        return {
            f"{prefix}{name}": float(value) for name, value in found.items() if math.isfinite(value)
        }

    def point(self, threshold: float) -> OperatingPoint:
        """Return the recovered point at a threshold, without intervals.

        Rates that depend on a share that labels and scores leave open are NaN.
        """
        threshold = read_threshold(threshold)
        if self.reviewed is not None:
            return self.reviewed.curve(counts=self.counts_at(threshold)).at(threshold)
        if self.chances is not None:
            return self.chances.curve(threshold).at(threshold)
        counts = self.counts_at(threshold)
        if self.share_range_only:
            return self._open_curve(counts).at(threshold)
        return mixture_curve(counts, self.shares, clean=False).at(threshold)

    def deployed(
        self, prevalence: float | None = None, threshold: float | None = None
    ) -> tuple[MetricRow, ...]:
        """Return the metrics where another share of rows is positive, with intervals.

        Positives and negatives are supposed to score there as they do here (`Deployment`); the
        naive value is the metric of these rows themselves.
        """
        prevalence = self.deploy_prevalence if prevalence is None else prevalence
        if prevalence is None:
            raise InputError(
                f"deployed() needs a prevalence; pass it, or {named('deploy_prevalence')} to "
                "evaluate",
                argument="deploy_prevalence",
            )
        share = read_deploy_prevalence(prevalence, reviewed=self.reviewed is not None)
        threshold = self.threshold if threshold is None else read_threshold(threshold)
        counts = self.counts_at(threshold)
        moved = self._deployment(share, threshold)
        asked: list[tuple[str, float | None]] = [(metric, None) for metric in AREAS]
        if threshold is not None:
            asked = [*((metric, threshold) for metric in POINT_METRICS), *asked]
        rows = []
        for metric, place in asked:
            try:
                found = self._name_needs(self._leave_open(moved.estimate(metric, place)))
            except InputError as error:
                if error.code != "misfit":  # these rows allow the shares, the population less so
                    raise
                continue
            here = self._estimate(counts, metric, place).value
            shown = None if place is None else short_threshold(place, counts)
            rows.append(MetricRow(metric, place, here, found, shown=shown))
        return tuple(rows)

    def _deployment(self, prevalence: float, threshold: float | None) -> Deployment:
        """Return what carries metrics over to another prevalence, counted at a threshold."""
        if self.chances is not None:
            return Deployment.of_chances(self.chances, prevalence, threshold)
        level, counts = self.confidence_level, self.counts_at(threshold)
        return Deployment(counts, self.shares, prevalence, level, self.clusters)

    def estimate_required(self, requirement: Requirement) -> Estimate:
        """Estimate the metric of a requirement where it is to hold: here, or where it says."""
        name, there = requirement.name, requirement.deploy_prevalence
        if there is None:
            return self.estimate_named(name)
        threshold = None if name.metric in AREAS else name.threshold
        found = self._deployment(there, threshold).estimate(name.metric, threshold)
        return self._name_needs(self._leave_open(found))

    def placed(self, requirement: Requirement) -> Requirement:
        """Return a requirement that says where it is judged: where the classifier will work."""
        placed = replace(requirement, deploy_prevalence=self.deploy_prevalence)
        if self.deploy_prevalence is not None and placed.name.top is not None:
            raise InputError(
                f"{placed.words!r} cannot be judged: rates at a threshold carry over to another "
                "prevalence, the highest rows do not",
                argument="deploy_prevalence",
                hint=f"require {placed.metric} at a threshold, or leave the other prevalence out",
            )
        return placed

    def clustered_design(self, metric: str, threshold: float | None = None) -> MixtureDesign:
        """Return what was drawn at random, with the effect that clusters have on a metric."""
        design = design_of(self.counts, self.shares, self.shares.sampling, self.target)
        if self.clusters is None:
            return design
        return self.clusters.design(self.counts, design, metric, threshold=threshold)

    def discounted_counts(self, metric: str, threshold: float | None) -> ScoreCounts:
        """Return counts that answer at a threshold, their effective sizes those of clusters."""
        counts = self.counts_at(threshold)
        if self.clusters is None:
            return counts
        check_choice("metric", metric, tuple(FACTS))
        design = design_of(counts, self.shares, self.shares.sampling, self.target)
        return self.clusters.discounted(counts, design, metric, threshold=threshold)

    def counts_at(self, threshold: float | None) -> ScoreCounts:
        """Return counts that can be split at a threshold, counting once more if they must."""
        if threshold is None:
            return self.counts
        threshold = read_threshold(threshold)
        try:
            if self.reviewed is not None or self.chances is not None:
                self.curve.at(threshold)
            else:
                self.counts.head_cells(threshold)
        except InputError:
            if self.recount is None:
                raise
            return self.recount([threshold])
        return self.counts

    def sweep(
        self, metric: str, over: Over = "prevalence", threshold: float | None = None
    ) -> dict[str, FloatArray]:
        """Follow a metric along the prevalence, threshold, purity or labelling bias (gamma).

        Returns
        -------
        dict
            What is swept → its values, and the metric's name → its values. Over the threshold also
            "precision_low" and "precision_high", say: at each threshold they are value and
            interval of `evaluate` with that threshold. Over gamma there are ends alone.
        """
        check_choice("over", over, OVER)
        if over == "threshold":
            return self._sweep_thresholds(metric)
        self._check_free(over)
        threshold = self.threshold if threshold is None else read_threshold(threshold)
        counts = self.discounted_counts(metric, threshold)
        options: dict[str, Any] = {
            "target": self.target,
            "confidence_level": self.confidence_level,
        }
        return sweep(counts, self.shares, metric, over=over, threshold=threshold, **options)

    def _sweep_thresholds(self, metric: str) -> dict[str, FloatArray]:
        """Estimate a metric at thresholds in even steps of cells, the own one among them."""
        if metric not in metric_names():
            check_choice("metric", metric, tuple(FACTS))
            raise InputError(f"{metric} has no threshold; sweep a metric such as precision")
        thresholds = spaced_thresholds(self.counts, STEPS, self.threshold)
        with collect_warnings():  # along a curve single rates leave their range by chance
            estimates = [
                self.metric_rows((metric,), threshold, self.counts_at(threshold))[0].estimate
                for threshold in thresholds.tolist()
            ]
        ends = {"": "value", "_low": "low", "_high": "high"}
        columns = {
            f"{metric}{end}": np.array([getattr(estimate, name) for estimate in estimates])
            for end, name in ends.items()
        }
        return {"threshold": thresholds, **columns}

    @property
    def determined_by(self) -> str:
        """What determines the prevalence, which then is not free to move; empty if nothing does."""
        if self.chances is not None:
            return "labelling chances" if self.chances.late is None else "dates of labels"
        if self.reviewed is not None:
            return "audited rows" if self.reviewed.audited else "reviews"
        return ""

    def _check_free(self, over: str) -> None:
        """Raise where what is to be swept is determined and cannot be moved."""
        source = self.determined_by
        if not source:
            return
        fixed = "and is not free to move; sweep over the threshold instead"
        if over == "prevalence":
            words = f"the prevalence is determined by the {source}, {fixed}"
        elif over == "purity":
            words = f"the label purity is 1 where the {source} determine the prevalence, {fixed}"
        elif self.reviewed is not None:
            words = f"verdicts have no bounds of a bias: {no_bias_words(self.reviewed.labels)}"
        else:
            words = (
                f"a sweep over gamma supposes random labels, and the {source} say that some are "
                "likelier; bias_bounds() has the ends if the odds of each chance are wrong by Γ"
            )
        raise InputError(words, code=NOT_IDENTIFIED, argument="over")

    def break_even(self, metric: str, value: float, threshold: float | None = None) -> BreakEven:
        """Find the least hidden share and the largest labelling bias at which metric >= value.

        The bias is NaN where labels and scores leave a range of the share and point to none.
        """
        check_choice("metric", metric, tuple(FACTS))
        check_goal(metric, value)
        threshold = self.threshold if threshold is None else read_threshold(threshold)
        if self.chances is not None:
            return self.chances.break_even(metric, value, threshold)
        self._check_labels_answer("a break-even share", "ask by require() whether the metric holds")
        counts = self.discounted_counts(metric, threshold)
        found = break_even(
            counts,
            self.shares,
            metric,
            value,
            threshold,
            target=self.target,
            confidence_level=self.confidence_level,
        )
        # At which share a bias is survived, nothing says.
        return replace(found, odds_ratio=math.nan) if self.share_range_only else found

    def bias_bounds(self, odds_ratio: float | None = None) -> dict[str, Interval]:
        """Bound each metric if the odds of a label differ by a factor Γ between positives.

        Returns
        -------
        dict
            Name of a metric, as in `estimates`, → where it may lie: with the chance of the labels,
            and at every share of the interval. Metrics in which a bias is not followed are left
            out: average precision, and those of the highest rows.

        Notes
        -----
        Assumes: the odds of a label differ at most by `odds_ratio` between two positives; the
        share is right within its interval.
        Wrong when: the share was estimated, which itself supposes that labels prefer none.

        Examples
        --------
        >>> import undercount as uc
        >>> counts = uc.ScoreCounts.from_counts([1, 0], [60, 20], [0, 0], [20, 900])
        >>> evaluation = uc.evaluate(counts, prevalence=0.1, threshold=1)
        >>> bounds = evaluation.bias_bounds(2)["recall"]
        >>> bounds.low < evaluation["recall"].low, evaluation["recall"].high < bounds.high
        (True, True)
        """
        odds_ratio = self.odds_ratio if odds_ratio is None else odds_ratio
        if odds_ratio is None:
            raise InputError(
                f"give {named('odds_ratio')}, a factor of at least 1", argument="odds_ratio"
            )
        if self.reviewed is not None:
            raise InputError(
                f"{named('odds_ratio')} cannot be combined with verdicts: "
                f"{no_bias_words(self.reviewed.labels)}",
                argument="odds_ratio",
            )
        return {
            self._key(row, "@"): self._bias_bound(row, odds_ratio)
            for row in self.rows
            if self.chances is not None or follows_bias(row.metric, row.threshold, self.shares)
        }

    def _bias_bound(self, row: MetricRow, odds_ratio: float) -> Interval:
        if self.chances is not None:
            place = row.metric, odds_ratio, row.threshold
            return bound_by_chances(self.chances, row.estimate, *place)
        found = bound_metric(
            row.estimate,
            row.metric,
            odds_ratio,
            self.discounted_counts(row.metric, row.threshold),
            self.shares,
            threshold=row.threshold,
            target=self.target,
        )
        # Labelled rows among those flagged are positive, whoever chose them.
        least = row.lower_bound if row.certain and row.lower_bound is not None else found.low
        return replace(found, low=min(max(found.low, least), found.high))

    def _check_labels_answer(self, what: str, instead: str, *, joined: bool = False) -> None:
        """Raise if random labels alone would answer where reviews or chances are believed.

        With `joined` the answer may be that of random labels and reviews together.
        """
        reason = ""
        if self.chances is not None:
            reason = "would suppose that labels are random, and theirs is a chance of its own here"
        elif self.reviewed is not None and self.reviewed.labels == "any":
            reason = (
                "would suppose that labels are random, and the reviews speak for themselves here"
            )
        elif self.reviewed is not None and not joined:
            reason = (
                "would rest on the labels alone, and the reviews determine the prevalence here "
                "together with them"
            )
        if reason:
            raise InputError(f"{what} {reason}: {instead}", code=NOT_IDENTIFIED)

    def calibrated_threshold(self, chance: float = 0.5) -> float:
        """Return the score of rows with this chance of being positive, if scores are of labels.

        A model trained on found labels predicts the chance of being labelled: the label frequency
        times that of being positive.

        Notes
        -----
        Assumes: the scores are calibrated chances of being labelled; labels are random and pure.
        Wrong when: the model was trained on balanced or weighted rows; scores are no probabilities.
        Refused where labels and scores leave the share open: the label frequency is open with it.
        """
        self._check_labels_answer("such a threshold", "ask best_threshold() for one", joined=True)
        self._check_share("such a threshold")
        return chance_threshold(self.counts, self.shares, chance)

    def best_threshold(
        self,
        metric: str = "f1",
        *,
        at_least: Mapping[str, float] | None = None,
        cost: Mapping[str, float] | None = None,
        over: float | None = None,
    ) -> BestThreshold:
        """Return the point where a metric is best, or the expected cost smallest.

        Parameters
        ----------
        metric : str
            Best is largest, except for rates of error (fnr, fpr) and the negative likelihood ratio.
        at_least : mapping, optional
            Conditions on the estimates of other metrics: {"precision": 0.6}.
        cost : mapping, optional
            What errors cost: {"false_positive": 5, "false_negative": 100}; then `metric` is not
            used.
        over : float, optional
            The threshold that `gain` compares with; by default the evaluation's own, and for costs
            without one the cheaper of flagging no row and all.

        Notes
        -----
        Assumes: the prevalence. Choosing the best of many thresholds on these rows flatters it;
        `gain` is corrected for that by drawing labels (with reviews alone: verdicts) anew, the
        point's own metrics are not.
        Wrong when: few rows are labelled.
        Refused where labels and scores leave the share open and the choice depends on it: through
        the metric, a condition or a cost.
        """
        goal = Goal.of(metric, at_least, cost)
        if self.share_range_only:
            return self._share_free_threshold(goal, over)
        over = self.threshold if over is None else read_threshold(over)
        counts = self.counts_at(over)
        about: Any = (counts, self.shares, self.target, self.confidence_level)
        if self.chances is not None:  # what labels stand for, beside all rows
            counts, whole = self.chances.counts_at(over), self.chances.prevalence
            shares = Shares(whole, 1.0, "case-control")
            about = (counts, shares, "population", self.confidence_level)
        search = ThresholdSearch(*about, clusters=self.clusters)
        if self.reviewed is not None:
            search = ReviewedSearch(*about, metrics=self.reviewed.metrics(counts=counts))
        found = search.best(goal, over)
        if found.gain is None:
            return found
        needs = found.gain.needs if self.chances is None else NEEDS
        audit = () if self.reviewed is None else self.reviewed.audit_needs
        return replace(found, gain=replace(found.gain, needs=(*needs, *audit)))

    def _share_free_threshold(self, goal: Goal, over: float | None) -> BestThreshold:
        """Return the best point of a goal that is the same at every share; refuse any other."""
        names = dict.fromkeys([goal.metric, *(name for name, _ in goal.at_least)])
        right = self.supposes_right_labels
        turning = [n for n in names if FACTS[n].needs and (FACTS[n].needs_prevalence or not right)]
        if turning:
            self._check_share(f"the best threshold by {FACTS[turning[0]].title}")
        over = self.threshold if over is None else read_threshold(over)
        # At the high end most positives are hidden, and the chance of the labels is largest.
        span = self.shares.unlabeled_prevalence_interval
        high = self.shares.unlabeled_prevalence if span is None else span.high
        shares = self.shares.exact(float(self.shares.clip(high)))
        about = (self.counts_at(over), shares, self.target, self.confidence_level)
        search = ThresholdSearch(*about, clusters=self.clusters)
        found = search.best(replace(goal, any_share=True), over)
        return found.without_share(recall_known=right)

    def cost(
        self,
        threshold: float | None = None,
        *,
        false_positive: float,
        false_negative: float,
        top: float | None = None,
    ) -> Estimate:
        """Estimate what errors cost a row, at a threshold or if the highest rows are flagged."""
        errors = {"false_positive": false_positive, "false_negative": false_negative}
        weight, scale = cost_weight(errors)
        found = self.estimate("expected_cost", self._place(threshold, top), top=top, beta=weight)
        found = scale_estimate(found, scale)
        return replace(found, high=min(found.high, max(map(float, errors.values()))))

    def net_benefit(
        self, chance: float, threshold: float | None = None, *, top: float | None = None
    ) -> Estimate:
        """Estimate the net benefit of flagging: true positives a row, less what false ones cost.

        Parameters
        ----------
        chance : float
            At this chance of being positive a row is just worth flagging, so that a false positive
            costs chance/(1 - chance) of a true one (Vickers and Elkin 2006).
        """
        exchange = exchange_rate(chance)
        return self.estimate("net_benefit", self._place(threshold, top), top=top, beta=exchange)

    def _place(self, threshold: float | None, top: float | None) -> float | None:
        if top is not None:
            return None
        found = self.threshold if threshold is None else threshold
        if found is None:
            raise InputError(
                f"give a {named('threshold')} or {named('top')}; this evaluation has none"
            )
        return found

    def table(self) -> dict[str, list[Any]]:
        """Return the table as columns, ready for any data frame's constructor."""
        rows = (*self.rows, *self.top_rows)
        return {
            "metric": [row.label for row in rows],
            "naive": [row.naive for row in rows],
            "estimate": [row.estimate.value for row in rows],
            "low": [row.estimate.low for row in rows],
            "high": [row.estimate.high for row in rows],
            "needs": [", ".join(row.estimate.needs) for row in rows],
            "lower_bound": [row.lower_bound for row in rows],
        }

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the table as a frame: pandas, polars or pyarrow.

        By default of the library whose frame was evaluated; for arrays, the first installed.
        """
        columns = self.table()
        columns["lower_bound"] = [
            math.nan if bound is None else bound for bound in columns["lower_bound"]
        ]
        return make_frame(columns, backend or self.backend)

    def to_dict(self) -> dict[str, Any]:
        """Return every fact as plain values, those of `to_json`."""
        document: dict[str, Any] = render("document", [self])
        return document

    @property
    def prevalence(self) -> float:
        """Share of positives in the target; NaN where labels and scores leave it open."""
        if self.share_range_only:
            return math.nan
        return self.shares.prevalence(self.counts)

    def to_json(self) -> str:
        """Write every fact as JSON of a versioned schema."""
        return str(render("json", [self]))

    def to_markdown(self) -> str:
        """Write the table as Markdown."""
        return str(render("markdown", self))

    def to_latex(self) -> str:
        """Write the table as LaTeX."""
        return str(render("latex", self))

    def to_html(
        self, path: "str | Path", *, title: str = "", data: str = "", date: str | None = None
    ) -> None:
        """Write the live report, whole or not at all; that of labelling chances has no sliders.

        Parameters
        ----------
        path : str or Path
            The file.
        title, data : str
            What the report is called, and the rows; by default the name of the score, and nothing.
        date : str, optional
            The date on top, such as "2026-01-31"; by default that of SOURCE_DATE_EPOCH, which
            makes the same bytes on any day, or else today's.
        """
        render("html", [self], path, title=title, data=data, date=date)

    def __str__(self) -> str:
        return str(render("text", self))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return str(render("frame", [self]))


def _round_outward(found: Estimate, metric: str) -> Estimate:
    """Return an estimate whose interval, if it is but a point, holds the truth all the same."""
    low, high = round_outward(found.low, found.high, *FACTS[metric].range)
    return replace(found, low=low, high=high)


def grows(metric: str, naive: float, shares: Shares) -> bool:
    """Whether a metric grows with the hidden share: the naive MCC has the sign of g - Q.

    One that does not exist (NaN) does not.
    """
    rises = naive >= (0.0 if metric == "mcc" else -math.inf)
    return rises and shares.sampling in FACTS[metric].grows
