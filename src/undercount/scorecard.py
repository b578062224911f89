"""The table of an evaluation: naive value beside estimate, metric by metric."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from undercount.assume.labelled import naive_curve
from undercount.check import Check
from undercount.counts import ScoreCounts
from undercount.curve import Estimate
from undercount.errors import MisfitWarning, SmallSampleWarning, UndefinedMetricWarning
from undercount.shares import Shares
from undercount.uncertainty.intervals import estimate_metric

Target: TypeAlias = Literal["dataset", "population"]
# With pure labels and a classifier better than chance these grow with the hidden share, so the
# value that calls every unlabeled row negative is a lower bound.
GROWING = ("roc_auc", "average_precision", "precision", "f1", "mcc")
ROUNDING = 1e-9
POINT_METRICS = ("recall", "precision", "f1", "specificity", "accuracy", "mcc")


@dataclass(frozen=True)
class MetricRow:
    """Hold one line of the table: the naive value beside the estimate.

    Examples
    --------
    >>> from undercount import Estimate
    >>> from undercount.scorecard import MetricRow
    >>> MetricRow("precision", 0.7, 0.22, Estimate(0.7, 0.6, 0.8), 0.22).label
    'precision@0.7'
    """

    metric: str
    threshold: float | None
    naive: float
    estimate: Estimate
    lower_bound: float | None = None

    @property
    def label(self) -> str:
        """Name with threshold, as people say it."""
        return self.metric if self.threshold is None else f"{self.metric}@{self.threshold:g}"


def metric_rows(
    counts: ScoreCounts,
    shares: Shares,
    metrics: tuple[str, ...],
    threshold: float | None,
    target: Target,
    confidence_level: float,
) -> tuple[MetricRow, ...]:
    """Estimate metrics and read their naive values."""
    naive = naive_curve(counts)
    reading: Any = naive if threshold is None else naive.at(threshold)
    grows = shares.label_purity == 1 and counts.n_negative == 0 and naive.roc_auc >= 0.5  # noqa: PLR2004 - chance
    rows = []
    for metric in metrics:
        value = float(getattr(reading, metric))
        estimate = estimate_metric(
            counts,
            shares,
            metric,
            threshold=threshold,
            target=target,
            confidence_level=confidence_level,
        )
        bound = value if grows and metric in GROWING and value == value else None  # noqa: PLR0124
        rows.append(MetricRow(metric, threshold, value, estimate, bound))
    return tuple(rows)


def naive_check(rows: tuple[MetricRow, ...]) -> Check:
    """UC007: hidden positives make a useful classifier look worse, not better."""
    above = [
        row.label
        for row in rows
        if row.metric in GROWING and row.naive > row.estimate.value + ROUNDING
    ]
    if not above:
        return Check("UC007", "ok", "no naive value is above its estimate")
    return Check(
        "UC007",
        "warn",
        f"the naive value is above the estimate for {', '.join(above)}, which random labels "
        "of a useful classifier do not give",
        "check the direction of the score, the label purity, and how rows were labelled",
    )


def warning_checks(caught: Sequence[warnings.WarningMessage]) -> tuple[Check, ...]:
    """UC012: what the estimators warned of while the table was made; foreign warnings go on."""
    ours = dict.fromkeys(
        str(warning.message)
        for warning in caught
        if issubclass(warning.category, MisfitWarning | SmallSampleWarning | UndefinedMetricWarning)
    )
    for warning in caught:
        if str(warning.message) not in ours:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )
    return tuple(Check("UC012", "warn", message) for message in ours)
