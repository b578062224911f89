"""What is asked of an interval method, and what it answers."""

from dataclasses import dataclass

from undercount.uncertainty.exact import IntervalKind
from undercount.uncertainty.scales import MetricKind


@dataclass(frozen=True)
class Question:
    """Hold a metric with its settings, and the confidence level."""

    kind: MetricKind
    threshold: float | None
    beta: float
    max_fpr: float | None
    confidence_level: float
    interval: IntervalKind


@dataclass(frozen=True)
class Found:
    """Hold value, interval and error of a metric, and how badly the shares misfit.

    `misfit` is in standard errors, 0 if nothing had to be pulled into its range; `outside` names
    the quantity that was, with its value; `largest_share` is the largest share of positives among
    the unlabeled rows at which it would fit.
    """

    value: float
    low: float
    high: float
    standard_error: float
    method: str
    misfit: float = 0.0
    outside: tuple[str, float] = ("", 0.0)
    largest_share: float = 1.0
