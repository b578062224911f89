"""Every fact of one evaluation, and the questions that it answers."""

import math
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from undercount.assume.bounds.bound_curve import bound_curve
from undercount.assume.labelled import naive_curve
from undercount.assume.mixture import MixtureDesign, Target, design_of, mixture_curve
from undercount.counts import ScoreCounts
from undercount.curve import CurveBounds, FloatArray, OperatingCurve, OperatingPoint, metric_names
from undercount.errors import Check, InputError, collect_warnings, named, real_number
from undercount.estimate import Estimate
from undercount.metric_facts import FACTS
from undercount.read.chances import Chances
from undercount.read.deployed import Deployment, read_deploy_prevalence
from undercount.read.intervals.clusters import ClusterRows
from undercount.read.intervals.estimate import estimate_metric
from undercount.read.intervals.estimated_share import estimate_end_by_end
from undercount.read.intervals.resampled import Resamples
from undercount.read.sensitivity import (
    AREAS,
    CHANCE,
    ROUNDING,
    BreakEven,
    Over,
    best_point,
    break_even,
    sweep,
)
from undercount.shares import Shares

if TYPE_CHECKING:
    from pathlib import Path


# `show` stands above `read`, which knows nothing of it; a method of convenience such as
# `Evaluation.to_html` names a form, and what draws it is looked up only when it is asked for.
FORMS = {
    "json": "undercount.show.document:as_json",
    "markdown": "undercount.show.tables:as_markdown",
    "latex": "undercount.show.tables:as_latex",
    "snippet": "undercount.show.tables:as_snippet",
    "text": "undercount.show.text:as_text",
    "html": "undercount.show.page.page:write_page",
    "comparison json": "undercount.show.comparison:as_json",
    "comparison text": "undercount.show.comparison:as_text",
}


def read_threshold(threshold: object) -> float:
    """Return a threshold as a float."""
    found = real_number(threshold)
    if not math.isfinite(found):
        raise InputError(f"{named('threshold')} must be one finite number; got {threshold!r}")
    return found


def render(form: str, *subject: Any) -> Any:
    """Draw a result in a form of the table above."""
    return pkgutil.resolve_name(FORMS[form])(*subject)


POINT_METRICS = ("recall", "precision", "f1", "specificity", "accuracy", "mcc")


@dataclass(frozen=True)
class MetricRow:
    """Hold one line of the table: the naive value beside the estimate.

    Attributes
    ----------
    lower_bound : float, optional
        The value if no positive were hidden, for metrics that grow with the hidden share.
    certain : bool
        Whether the metric of these rows cannot be lower (precision: the labelled rows among those
        flagged are positive whatever else is); otherwise the bound has the chance of the labels.

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

    @property
    def label(self) -> str:
        """Name with threshold, as people say it."""
        return self.metric if self.threshold is None else f"{self.metric}@{self.threshold:g}"


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
    estimates : mapping
        What each estimator says of the share of hidden positives, if it was estimated.
    largest_share : float
        Share of hidden positives at which the ROC AUC would be 1; nothing is defined beyond.
    upper_bound : float
        Largest share of hidden positives that the scores allow, at the confidence level. Of
        several models on the same rows both are those of the model that allows least.
    interval : str
        How the interval of the share was made: "calibrated", "bootstrap", "combined"; "own" if an
        estimator's was given; empty if a number, a range or a standard error was.
    resamples : Resamples, optional
        The whole calculation resampled, if it was asked for.
    share_model : str
        The model from whose scores the share was estimated: the sharpest on these rows.
    naive_curve : OperatingCurve
        The curve that calls every unlabeled row negative.
    clusters : ClusterRows, optional
        The rows by cluster, if they come in clusters.
    chances : Chances, optional
        What the rows say if labels were given with known chances, which then need not be equal.
    deploy_prevalence : float, optional
        Share of positives where the classifier will work; `deployed` has the metrics there.

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
    estimates: Mapping[str, Estimate] = field(default_factory=dict)
    name: str = "score"
    recount: Callable[[list[float]], ScoreCounts] | None = field(default=None, repr=False)
    resamples: Resamples | None = field(default=None, repr=False)
    share_model: str = ""
    naive_curve: OperatingCurve = field(kw_only=True, repr=False)
    clusters: ClusterRows | None = field(default=None, kw_only=True, repr=False)
    chances: Chances | None = field(default=None, kw_only=True, repr=False)
    deploy_prevalence: float | None = field(default=None, kw_only=True)

    @cached_property
    def curve(self) -> OperatingCurve:
        """The recovered curve."""
        if self.chances is not None:
            return self.chances.curve()
        return mixture_curve(self.counts, self.shares)

    @cached_property
    def _every_point(self) -> OperatingCurve:
        """The recovered points at every threshold, also those outside the unit square."""
        if self.chances is not None:
            return self.curve
        return mixture_curve(self.counts, self.shares, clean=False)

    @cached_property
    def bounds(self) -> CurveBounds:
        """The worst and best curve that data and prevalence allow."""
        return bound_curve(self.counts, self.shares, confidence_level=self.confidence_level)

    def at(self, threshold: float) -> tuple[MetricRow, ...]:
        """Return the metrics at a threshold."""
        return self.metric_rows(POINT_METRICS, threshold, self._answering(threshold))

    def metric_rows(
        self, metrics: Sequence[str], threshold: float | None, counts: ScoreCounts
    ) -> tuple[MetricRow, ...]:
        """Estimate metrics of counts and read their naive values."""
        naive = self.naive_curve if counts is self.counts else naive_curve(counts)
        reading: Any = naive if threshold is None else naive.at(threshold)
        pure = self.shares.label_purity == 1 and self.shares.label_purity_interval is None
        bounded = (
            pure and self.chances is None and counts.n_negative == 0 and naive.roc_auc >= CHANCE
        )
        rows = []
        for metric in metrics:
            value = float(getattr(reading, metric))
            estimate = self._estimate(counts, metric, threshold)
            bound = value if bounded and grows(metric, value, self.shares) else None
            certain = bound is not None and metric == "precision" and self.target == "dataset"
            if certain:
                estimate = replace(estimate, low=max(estimate.low, value))
            rows.append(MetricRow(metric, threshold, value, estimate, bound, certain))
        return tuple(rows)

    def estimate(self, metric: str, threshold: float | None = None) -> Estimate:
        """Estimate one metric with its interval."""
        counts = self.counts if threshold is None else self._answering(threshold)
        known = threshold in (None, self.threshold)  # what it would warn of is among the checks
        with collect_warnings() if known else nullcontext():
            return self._estimate(counts, metric, threshold)

    def _estimate(self, counts: ScoreCounts, metric: str, threshold: float | None) -> Estimate:
        """Estimate one metric, the interval of an estimated share added as it was asked."""
        if self.chances is not None:
            return self.chances.estimate(metric, threshold)
        options: dict[str, Any] = {
            "threshold": threshold,
            "target": self.target,
            "confidence_level": self.confidence_level,
            "clusters": self.clusters,
        }
        if self.interval and self.resamples is None:
            return estimate_end_by_end(counts, self.shares, metric, **options)
        found = estimate_metric(counts, self.shares, metric, **options)
        if self.resamples is None:
            return found
        return self.resamples.estimate(counts, found, metric, threshold)

    def deployed(
        self, prevalence: float | None = None, threshold: float | None = None
    ) -> tuple[MetricRow, ...]:
        """Return the metrics where another share of rows is positive, with intervals.

        Positives and negatives are supposed to score there as they do here (`Deployment`); the
        naive value is the metric of these rows themselves.
        """
        prevalence = self.deploy_prevalence if prevalence is None else prevalence
        if prevalence is None or self.chances is not None:
            raise InputError(
                f"deployed() needs a prevalence and random labels; pass "
                f"{named('deploy_prevalence')} without {named('propensity')}"
            )
        threshold = self.threshold if threshold is None else threshold
        counts = self.counts if threshold is None else self._answering(threshold)
        moved = Deployment(
            counts,
            self.shares,
            read_deploy_prevalence(prevalence),
            self.confidence_level,
            self.clusters,
        )
        asked: list[tuple[str, float | None]] = [(metric, None) for metric in AREAS]
        if threshold is not None:
            asked = [*((metric, threshold) for metric in POINT_METRICS), *asked]
        return tuple(
            MetricRow(
                metric,
                place,
                self._estimate(counts, metric, place).value,
                moved.estimate(metric, place),
            )
            for metric, place in asked
        )

    def clustered_design(self, metric: str, threshold: float | None = None) -> MixtureDesign:
        """Return what was drawn at random, with the effect that clusters have on a metric."""
        design = design_of(self.counts, self.shares, self.shares.sampling, self.target)
        if self.clusters is None:
            return design
        return self.clusters.design(self.counts, design, metric, threshold=threshold)

    def _discounted(self, metric: str, threshold: float | None) -> ScoreCounts:
        """Return counts that answer at a threshold, their effective sizes those of clusters."""
        counts = self.counts if threshold is None else self._answering(threshold)
        if self.clusters is None:
            return counts
        design = design_of(counts, self.shares, self.shares.sampling, self.target)
        return self.clusters.discounted(counts, design, metric, threshold=threshold)

    def point(self, threshold: float) -> OperatingPoint:
        """Return the recovered point at a threshold, without intervals."""
        if self.chances is not None:
            return self.chances.curve(threshold).at(threshold)
        return mixture_curve(self._answering(threshold), self.shares, clean=False).at(threshold)

    def _answering(self, threshold: float) -> ScoreCounts:
        """Return counts that can be split at the threshold, counting once more if they must."""
        threshold = read_threshold(threshold)
        try:
            self._every_point.at(threshold)
        except InputError:
            if self.recount is None:
                raise
            return self.recount([threshold])
        return self.counts

    def sweep(
        self, metric: str, over: Over = "prevalence", threshold: float | None = None
    ) -> dict[str, FloatArray]:
        """Follow a metric along the prevalence, threshold, purity or labelling bias (gamma)."""
        threshold = self.threshold if threshold is None else threshold
        if self.chances is not None:
            raise InputError(
                "labelling chances tell the prevalence, which is not free to move; "
                "chances.bounds(metric, gamma) moves the chances instead"
            )
        counts = self._discounted(metric, threshold)
        options: dict[str, Any] = {
            "target": self.target,
            "confidence_level": self.confidence_level,
        }
        return sweep(counts, self.shares, metric, over=over, threshold=threshold, **options)

    def break_even(self, metric: str, value: float, threshold: float | None = None) -> BreakEven:
        """Find the least hidden share and the largest labelling bias at which metric >= value."""
        threshold = self.threshold if threshold is None else threshold
        if self.chances is not None:
            return self.chances.break_even(metric, value, threshold)
        counts = self._discounted(metric, threshold)
        return break_even(
            counts,
            self.shares,
            metric,
            value,
            threshold,
            target=self.target,
            confidence_level=self.confidence_level,
        )

    def best_threshold(
        self,
        metric: str = "f1",
        *,
        false_positive_cost: float | None = None,
        false_negative_cost: float | None = None,
    ) -> OperatingPoint:
        """Return the point where a metric is best, or the expected cost smallest.

        Best is largest, except for rates of error (fnr, fpr) and the negative likelihood ratio.

        Notes
        -----
        Assumes: the prevalence; and that the best of many thresholds is read with caution, since
        choosing it on these rows flatters it.
        Wrong when: few rows are labelled.
        """
        names = [*metric_names(), "tpr", "fpr"]
        if metric not in names:
            raise InputError(f"metric must be one of {', '.join(names)}; got {metric!r}")
        if false_positive_cost is None and false_negative_cost is None:
            return best_point(self.counts, self.shares, metric)
        curve = self._every_point
        cost = (false_positive_cost or 0.0) * (1 - curve.prevalence) * curve.fpr
        cost += (false_negative_cost or 0.0) * curve.prevalence * curve.fnr
        # Impure labels may put recall above 1 by chance: no such point exists.
        cost[(curve.fpr < -ROUNDING) | (curve.tpr > 1 + ROUNDING)] = np.inf
        return curve.at(float(curve.threshold[int(np.argmin(cost))]))

    def table(self) -> dict[str, list[Any]]:
        """Return the table as columns, ready for any data frame's constructor."""
        return {
            "metric": [row.label for row in self.rows],
            "naive": [row.naive for row in self.rows],
            "estimate": [row.estimate.value for row in self.rows],
            "low": [row.estimate.low for row in self.rows],
            "high": [row.estimate.high for row in self.rows],
            "needs": [", ".join(row.estimate.needs) for row in self.rows],
            "lower_bound": [row.lower_bound for row in self.rows],
        }

    @property
    def prevalence(self) -> float:
        """Share of positives in the target."""
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

    def to_html(self, path: "str | Path") -> None:
        """Write the live report, whole or not at all."""
        if self.chances is not None:
            raise InputError(
                "the live report moves the prevalence of random labels, which labelling chances "
                "fix; print the evaluation, or write it as JSON or Markdown"
            )
        render("html", [self], path)

    def __str__(self) -> str:
        return str(render("text", self))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return str(render("snippet", self))


def grows(metric: str, naive: float, shares: Shares) -> bool:
    """Whether a metric grows with the hidden share: the naive MCC has the sign of g - Q.

    One that does not exist (NaN) does not.
    """
    rises = naive >= (0.0 if metric == "mcc" else -math.inf)
    return rises and shares.sampling in FACTS[metric].grows
