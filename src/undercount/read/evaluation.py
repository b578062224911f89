"""Every fact of one evaluation, and the questions that it answers."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from undercount.assume.bounds.bound_curve import bound_curve
from undercount.assume.labelled import naive_curve
from undercount.assume.mixture import mixture_curve
from undercount.counts import ScoreCounts
from undercount.curve import CurveBounds, FloatArray, OperatingCurve, OperatingPoint, metric_names
from undercount.errors import Check, InputError
from undercount.estimate import Estimate
from undercount.read.intervals.resampled import Resamples
from undercount.read.scorecard import POINT_METRICS, MetricRow, Target, metric_estimate, metric_rows
from undercount.read.sensitivity import BreakEven, Over, best_point, break_even, sweep
from undercount.shares import Shares

if TYPE_CHECKING:
    from pathlib import Path

ROUNDING = 1e-9


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
        Largest share of hidden positives that the scores allow, at the confidence level.
    interval : str
        How the interval of the share was made: "calibrated", "bootstrap", "combined"; "own" if an
        estimator's was given; empty if a number, a range or a standard error was.
    resamples : Resamples, optional
        The whole calculation resampled, if it was asked for.

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

    @cached_property
    def curve(self) -> OperatingCurve:
        """The recovered curve."""
        return mixture_curve(self.counts, self.shares)

    @cached_property
    def naive_curve(self) -> OperatingCurve:
        """The curve that calls every unlabeled row negative."""
        return naive_curve(self.counts)

    @cached_property
    def bounds(self) -> CurveBounds:
        """The worst and best curve that data and prevalence allow."""
        return bound_curve(self.counts, self.shares, confidence_level=self.confidence_level)

    def at(self, threshold: float) -> tuple[MetricRow, ...]:
        """Return the metrics at a threshold."""
        counts = self._answering(threshold)
        return metric_rows(
            counts,
            self.shares,
            POINT_METRICS,
            threshold,
            self.target,
            self.confidence_level,
            interval=self.interval,
            resamples=self.resamples,
        )

    def estimate(self, metric: str, threshold: float | None = None) -> Estimate:
        """Estimate one metric with its interval."""
        counts = self.counts if threshold is None else self._answering(threshold)
        with warnings.catch_warnings():
            if threshold in (None, self.threshold):
                warnings.simplefilter("ignore")  # what they would say stands among the checks
            return metric_estimate(
                counts,
                self.shares,
                metric,
                threshold=threshold,
                target=self.target,
                confidence_level=self.confidence_level,
                interval=self.interval,
                resamples=self.resamples,
            )

    def point(self, threshold: float) -> OperatingPoint:
        """Return the recovered point at a threshold, without intervals."""
        return mixture_curve(self._answering(threshold), self.shares, clean=False).at(threshold)

    def _answering(self, threshold: float) -> ScoreCounts:
        """Return counts that can be split at the threshold, counting once more if they must."""
        if not isinstance(threshold, int | float | np.number):
            raise InputError(f"threshold must be one number; got {threshold!r}")
        try:
            mixture_curve(self.counts, self.shares, clean=False).at(threshold)
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
        counts = self.counts if threshold is None else self._answering(threshold)
        return sweep(counts, self.shares, metric, over=over, threshold=threshold)

    def break_even(self, metric: str, value: float, threshold: float | None = None) -> BreakEven:
        """Find the least hidden share and the largest labelling bias at which metric >= value."""
        threshold = self.threshold if threshold is None else threshold
        counts = self.counts if threshold is None else self._answering(threshold)
        return break_even(counts, self.shares, metric, value, threshold)

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
        curve = mixture_curve(self.counts, self.shares, clean=False)
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
        from undercount.show.document import as_json  # noqa: PLC0415 - the layer above

        return as_json([self])

    def to_markdown(self) -> str:
        """Write the table as Markdown."""
        from undercount.show.tables import as_markdown  # noqa: PLC0415 - the layer above

        return as_markdown(self)

    def to_latex(self) -> str:
        """Write the table as LaTeX."""
        from undercount.show.tables import as_latex  # noqa: PLC0415 - the layer above

        return as_latex(self)

    def to_html(self, path: "str | Path") -> None:
        """Write the live report, whole or not at all."""
        from undercount.show.page.page import write_page  # noqa: PLC0415 - the layer above

        write_page([self], path)

    def __str__(self) -> str:
        from undercount.show.text import as_text  # noqa: PLC0415 - the layer above

        return as_text(self)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        from undercount.show.tables import as_snippet  # noqa: PLC0415 - the layer above

        return as_snippet(self)
