"""Every fact of one evaluation, and the questions that it answers."""

import math
import pkgutil
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from undercount.assume.base import Basis, Recovery, Unknowns
from undercount.checks.flagged import (
    flagged_check,
    rounded_threshold,
    rounding_check,
    warn_rounding,
)
from undercount.count.columns import make_frame
from undercount.counts import ScoreCounts
from undercount.curve import CurveBounds, FloatArray, OperatingCurve, OperatingPoint, metric_names
from undercount.errors import (
    CODES,
    Check,
    InputError,
    check_choice,
    collect_warnings,
    named,
    read_threshold,
)
from undercount.estimate import Estimate, Interval
from undercount.infer.decisions import (
    BestThreshold,
    Goal,
    cost_weight,
    exchange_rate,
    scale_estimate,
)
from undercount.infer.metric_at import MetricAt
from undercount.infer.metric_name import MetricName, parse_metric, short_number, short_threshold
from undercount.infer.metric_row import MetricRow, grows
from undercount.infer.mixture import Target
from undercount.infer.sensitivity import (
    OVER,
    SWEEP_STEPS,
    SWEPT_AREAS,
    BreakEven,
    Over,
    check_goal,
    spaced_thresholds,
)
from undercount.metric_facts import FACTS
from undercount.read.plan.review_gain import (
    BOTH_ANSWERS,
    LackingReviews,
    ReviewGain,
    gain_of,
    lacking_reviews,
)
from undercount.read.require.requirement import (
    Judgement,
    Requirement,
    Verdict,
    check_words,
    judge_requirement,
    parse_requirement,
    parse_requirements,
)
from undercount.read.require.verdict import (
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
    "comparisons json": "undercount.show.comparisons:as_json",
    "comparisons markdown": "undercount.show.comparisons:as_markdown",
    "comparisons text": "undercount.show.comparisons:as_text",
    "comparisons html": "undercount.show.comparisons:write_page",
    "monitoring json": "undercount.show.monitoring:as_json",
    "monitoring text": "undercount.show.monitoring:as_text",
    "monitoring html": "undercount.show.monitoring:write_page",
    "periods json": "undercount.show.monitored_periods:as_json",
    "periods text": "undercount.show.monitored_periods:as_text",
    "periods html": "undercount.show.monitored_periods:write_page",
    "comparison markdown": "undercount.show.comparison_tables:as_markdown",
    "comparison latex": "undercount.show.comparison_tables:as_latex",
    "comparison csv": "undercount.show.comparison_tables:as_csv",
    "comparison snippet": "undercount.show.comparison_tables:as_snippet",
    "comparison page": "undercount.show.page.comparison:write_comparison",
}


def render(form: str, *subject: Any, **options: Any) -> Any:
    """Draw a result in a form of the table above."""
    return pkgutil.resolve_name(FORMS[form])(*subject, **options)


# What is found where rates cannot be carried over.
NO_ESTIMATE = Estimate(math.nan, math.nan, math.nan)
TOP_METRICS = ("precision", "recall", "lift")
POINT_METRICS = ("recall", "precision", "f1", "specificity", "accuracy", "mcc")


@dataclass(frozen=True)
class Evaluation:
    """Hold every fact of one evaluation; made by `evaluate`.

    Attributes
    ----------
    recovery : Recovery
        The assumption applied to the rows: what every number is asked of.
    rows : tuple of MetricRow
        The table.
    checks : tuple of Check
        What was found about data and assumptions.
    name : str
        What the score is called.
    threshold : float, optional
        Rows with at least this score are predicted positive.
    claim : Requirement, optional
        What `verdict` judges; None for a round number below the leading one. See `claiming`.
    random_state : int, optional
        The seed of estimators and resampling.
    deploy_prevalence : float, optional
        Share of positives where the classifier will work; `deployed` has the metrics there.
    backend : str
        The library of the frame that was read, in which `to_frame` answers; empty for arrays.
    top_rows : tuple of MetricRow
        Precision, recall and lift of so many rows of the highest scores, if they were asked for.
    origin : str
        Data and columns as a command line names them; empty if there was none.
    costs : mapping, optional
        What a false positive and a false negative cost, which text and page then show. See
        `costing`.
    odds_ratio : float, optional
        Labelling bias Γ whose bounds text and documents then show. See `bias_bounds`.
    unlabeled : float, optional
        Label value that means unlabeled, if one was told.
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

    recovery: Recovery = field(repr=False)
    rows: tuple[MetricRow, ...]
    checks: tuple[Check, ...]
    name: str = "score"
    threshold: float | None = None
    claim: Requirement | None = None
    random_state: int | None = None
    deploy_prevalence: float | None = field(default=None, kw_only=True)
    backend: str = field(default="", kw_only=True, repr=False)
    top_rows: tuple[MetricRow, ...] = field(default=(), kw_only=True)
    origin: str = field(default="", kw_only=True)
    costs: Mapping[str, float] | None = field(default=None, kw_only=True)
    odds_ratio: float | None = field(default=None, kw_only=True)
    unlabeled: float | None = field(default=None, kw_only=True, repr=False)
    judgements: tuple[Judgement, ...] = field(default=(), kw_only=True, repr=False)

    @cached_property
    def counts(self) -> ScoreCounts:
        """The rows that were read, as counts."""
        return self.recovery.counts

    @cached_property
    def shares(self) -> Shares:
        """What is known or estimated of the positives."""
        return self.recovery.shares

    @cached_property
    def unknowns(self) -> Unknowns:
        """Where the shares come from, and how far they are known."""
        return self.recovery.unknowns

    @cached_property
    def basis(self) -> Basis:
        """What the numbers rest on, in facts and words."""
        return self.recovery.basis

    @cached_property
    def target(self) -> Target:
        """What the intervals speak of: these rows, or the population behind them."""
        return self.recovery.target

    @cached_property
    def confidence_level(self) -> float:
        """Of all intervals."""
        return self.recovery.confidence_level

    @cached_property
    def source(self) -> str:
        """Where the share of hidden positives comes from."""
        return self.basis.source or self.unknowns.source

    @cached_property
    def share_estimates(self) -> Mapping[str, Estimate]:
        """What each estimator says of the share of hidden positives, if it was estimated."""
        return self.unknowns.estimates

    @cached_property
    def curve(self) -> OperatingCurve:
        """The recovered curve; what depends on a share that is left open is NaN."""
        return self.recovery.curve

    @cached_property
    def review_gain(self) -> ReviewGain | None:
        """What reviews would buy: half the width of the main interval now, and after them."""
        return gain_of(self)

    @cached_property
    def lacking_reviews(self) -> LackingReviews | None:
        """Which rows of the table have too few verdicts, and how many more would do."""
        return lacking_reviews(self)

    @cached_property
    def both_answers(self) -> list[tuple[MetricRow, dict[str, Estimate]]]:
        """Rows of the table with the answers of reviews alone, and with random labels."""
        review = self.basis.review
        if review is None or not review.plain:
            return []
        return [
            (row, self.recovery.answers(MetricAt(row.metric, row.threshold)))
            for row in self.rows
            if row.metric in BOTH_ANSWERS
        ]

    @cached_property
    def naive_curve(self) -> OperatingCurve:
        """The curve that people compute today."""
        return self.recovery.naive_curve

    @property
    def bounds(self) -> CurveBounds:
        """The worst and best curve that data and prevalence allow."""
        return self.recovery.bounds

    @cached_property
    def verdict(self) -> ClaimVerdict:
        """What may be said of the claim."""
        return judge_claim(self)

    def claiming(self, text: str) -> "Evaluation":
        """Return the same with a claim to judge, such as "precision >= 0.6"."""
        return self.claimed(parse_requirement(text, self.threshold, self.top))

    def claimed(self, requirement: Requirement) -> "Evaluation":
        """Return the same with a claim that was read before, and what its threshold asks to say."""
        threshold, warned = requirement.threshold, []
        if threshold is not None:
            own = threshold == self.threshold
            warned = rounding_check(self.counts_at(threshold), threshold, own=own)
        checks = dict.fromkeys((*self.checks, *warned))
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
        return replace(self, costs={name: float(cost) for name, cost in costs.items()})

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
        rows = []
        for metric in metrics:
            estimate, at = self.estimate(metric, top=top), MetricAt(metric, top=top)
            (naive,) = self.recovery.naive_values([at], self.recovery.counts_for_top)
            size = int(top) if top == 1 else float(top)  # 1.0 might be all rows
            rows.append(MetricRow(metric, None, naive, estimate, top=size))
        return tuple(rows)

    @property
    def top(self) -> float | None:
        """Highest rows at which metrics are read where neither threshold nor other rows are said.

        None with a threshold of the evaluation's own, which is meant then.
        """
        rows = self.top_rows if self.threshold is None else ()
        return rows[0].top if rows else None

    def standard_rows(self) -> tuple[MetricRow, ...]:
        """Return the table of the areas and, if there is a threshold, the metrics at it."""
        rows = self.metric_rows(SWEPT_AREAS, None, self.counts)
        if self.threshold is None:
            return rows
        return self.metric_rows(POINT_METRICS, self.threshold, self.counts) + rows

    def standard(self) -> "Evaluation":
        """Return the evaluation with the usual table, whichever metrics were chosen for it."""
        rows_asked: set[tuple[str, float | None]] = {(metric, None) for metric in SWEPT_AREAS}
        if self.threshold is not None:
            rows_asked |= {(metric, self.threshold) for metric in POINT_METRICS}
        if rows_asked <= {(row.metric, row.threshold) for row in self.rows}:
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
                name.check_top_metric(TOP_METRICS)
                continue
            if name.top is not None:
                rows += self._top_rows(name.top, [m for m in TOP_METRICS if m == name.metric])
                continue
            threshold = self.threshold if name.threshold is None else name.threshold
            if name.metric in SWEPT_AREAS:
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
        shown = None if threshold is None else short_threshold(threshold, counts)
        floors, recovery = self.recovery.floors(counts), self.recovery
        places = [MetricAt(metric, threshold) for metric in metrics]
        estimates, naive = recovery.estimates(places, counts), recovery.naive_values(places, counts)
        rows = []
        for metric, value, estimate in zip(metrics, naive, estimates, strict=True):
            bound = value if floors and grows(metric, value, self.shares) else None
            certain = bound is not None and metric == "precision" and self.target == "dataset"
            if not (certain or self.basis.random_labels):
                bound = None
            rows.append(MetricRow(metric, threshold, value, estimate, bound, certain, shown=shown))
        return tuple(rows)

    def estimate(
        self,
        metric: str,
        threshold: float | None = None,
        *,
        top: float | None = None,
        beta: float = 1.0,
    ) -> Estimate:
        """Estimate one metric with its interval; `beta` is the number that some metrics take."""
        at = MetricAt.of(metric, threshold, top=top, beta=beta)
        recovery = self.recovery
        counts = recovery.counts_at(at.threshold) if top is None else recovery.counts_for_top
        checked = at.threshold in (
            None,
            self.threshold,
        )  # what it would warn of is among the checks
        self._warn_rounding(counts, at.threshold)
        with collect_warnings() if checked else nullcontext():
            estimate = recovery.estimate(at, counts)
        return recovery.raise_top(estimate, at)

    def _warn_rounding(self, counts: ScoreCounts, threshold: float | None) -> None:
        """Warn of rows just below a threshold; of the evaluation's own a check tells."""
        if threshold is not None and threshold != self.threshold:
            warn_rounding(counts, threshold, stacklevel=3)

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
        if name.metric in SWEPT_AREAS:
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
        requirements_read = [
            requirement
            for condition in conditions
            for requirement in parse_requirements(condition, self.threshold, self.top)
        ]
        return Verdict(tuple(self.judge(requirement) for requirement in requirements_read))

    def judge(self, requirement: Requirement) -> Judgement:
        """Judge one requirement by the estimate and by what the checks found.

        It is open if it hangs on rows that score what the threshold is in single precision.
        """
        judgement, threshold = self._judge(requirement), requirement.threshold
        if threshold is None:
            return judgement
        counts = self.counts_at(threshold)
        near = rounded_threshold(counts, threshold)
        if near is None:
            return judgement
        nearby = replace(requirement, name=replace(requirement.name, threshold=near))
        if self._judge(nearby).outcome == judgement.outcome:
            return judgement
        (check,) = rounding_check(counts, threshold)
        return replace(judgement, outcome="inconclusive", why=check_words(check))

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
            return Judgement(self.name, requirement, "inconclusive", NO_ESTIMATE, str(error))
        at = MetricAt(requirement.metric, requirement.threshold, top=requirement.name.top)
        checks = [check for check in self.checks if check.code != CODES["flagged"]]
        if requirement.threshold is not None:
            checks.append(flagged_check(self.counts, requirement.threshold))
        checks = list(self.recovery.checks_of(at, checks))
        outcome, why = judge_requirement(requirement, estimate, checks, warned)
        if open_words := self.recovery.open_words(at):
            return Judgement(self.name, requirement, "inconclusive", estimate, open_words)
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
        values = {}
        if not self.unknowns.range_only:
            values["prevalence"] = self.prevalence
            values["unlabeled_prevalence"] = self.shares.unlabeled_prevalence
        for row in (*self.rows, *self.top_rows):
            name, estimate = self._key(row, "_at_"), row.estimate
            values[name], values[f"{name}_naive"] = estimate.value, row.naive
            values[f"{name}_low"], values[f"{name}_high"] = estimate.low, estimate.high
        return {
            f"{prefix}{name}": float(value)
            for name, value in values.items()
            if math.isfinite(value)
        }

    def point(self, threshold: float) -> OperatingPoint:
        """Return the recovered point at a threshold, without intervals.

        Rates that depend on a share that labels and scores leave open are NaN.
        """
        return self.recovery.point(read_threshold(threshold))

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
        share = self.recovery.read_prevalence(prevalence)
        threshold = self.threshold if threshold is None else read_threshold(threshold)
        counts = self.counts_at(threshold)
        places: list[tuple[str, float | None]] = [(metric, None) for metric in SWEPT_AREAS]
        if threshold is not None:
            places = [*((metric, threshold) for metric in POINT_METRICS), *places]
        rows = []
        for metric, place in places:
            at = MetricAt(metric, place)
            try:
                carried = self.recovery.estimate(replace(at, prevalence=share))
            except InputError as error:
                if error.code != "misfit":  # these rows allow the shares, the population less so
                    raise
                continue
            here = self.recovery.estimate(at, counts).value
            shown = None if place is None else short_threshold(place, counts)
            rows.append(MetricRow(metric, place, here, carried, shown=shown))
        return tuple(rows)

    def estimate_required(self, requirement: Requirement) -> Estimate:
        """Estimate the metric of a requirement where it is to hold: here, or where it says."""
        name, prevalence = requirement.name, requirement.deploy_prevalence
        if prevalence is None:
            return self.estimate_named(name)
        threshold = None if name.metric in SWEPT_AREAS else name.threshold
        return self.recovery.estimate(MetricAt(name.metric, threshold, prevalence=prevalence))

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

    def counts_at(self, threshold: float | None) -> ScoreCounts:
        """Return counts that can be split at a threshold, counting once more if they must."""
        return self.recovery.counts_at(None if threshold is None else read_threshold(threshold))

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
        threshold = self.threshold if threshold is None else read_threshold(threshold)
        return self.recovery.sweep(MetricAt(metric, threshold), over)

    def _sweep_thresholds(self, metric: str) -> dict[str, FloatArray]:
        """Estimate a metric at thresholds in even steps of cells, the own one among them."""
        if metric not in metric_names():
            check_choice("metric", metric, tuple(FACTS))
            raise InputError(f"{metric} has no threshold; sweep a metric such as precision")
        thresholds = spaced_thresholds(self.counts, SWEEP_STEPS, self.threshold)
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

    def break_even(self, metric: str, value: float, threshold: float | None = None) -> BreakEven:
        """Find the least hidden share and the largest labelling bias at which metric >= value.

        The bias is NaN where labels and scores leave a range of the share and point to none.
        """
        check_choice("metric", metric, tuple(FACTS))
        check_goal(metric, value)
        threshold = self.threshold if threshold is None else read_threshold(threshold)
        return self.recovery.break_even(MetricAt(metric, threshold), value)

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
        self.recovery.check_bias()
        return {
            self._key(row, "@"): self.recovery.bias_bound(row, odds_ratio)
            for row in self.rows
            if self.recovery.follows_bias(MetricAt(row.metric, row.threshold))
        }

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
        return self.recovery.calibrated_threshold(chance)

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
        over = self.threshold if over is None else read_threshold(over)
        return self.recovery.best_threshold(goal, over)

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
        cost = self.estimate("expected_cost", self._place(threshold, top), top=top, beta=weight)
        cost = scale_estimate(cost, scale)
        return replace(cost, high=min(cost.high, max(map(float, errors.values()))))

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
        place = self.threshold if threshold is None else threshold
        if place is None:
            raise InputError(
                f"give a {named('threshold')} or {named('top')}; this evaluation has none"
            )
        return place

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

    @cached_property
    def prevalence(self) -> float:
        """Share of positives in the target; NaN where labels and scores leave it open."""
        return self.recovery.prevalence

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
