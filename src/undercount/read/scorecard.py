"""The table of an evaluation: naive value beside estimate, metric by metric."""

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from undercount.assume.labelled import naive_curve
from undercount.count.arrays import row_words
from undercount.counts import ScoreCounts
from undercount.errors import Check, MisfitWarning, SmallSampleWarning, UndefinedMetricWarning
from undercount.estimate import Estimate
from undercount.read.intervals.estimate import estimate_metric
from undercount.read.intervals.estimated_share import carried
from undercount.read.intervals.resampled import Resamples
from undercount.shares import Shares

Target: TypeAlias = Literal["dataset", "population"]
# With pure labels and a classifier better than chance these grow with the hidden share, so the
# value that calls every unlabeled row negative is a lower bound. MCC is √(π/(1-π)) (g-Q)/√(Q(1-Q))
# for g and Q, the shares of labelled and of all rows flagged, so it grows only at thresholds where
# g >= Q, whatever the area; precision, F1 and average precision grow at every threshold.
GROWING = ("roc_auc", "average_precision", "precision", "f1", "mcc")
# In case-control sampling the target is what the unlabeled rows are a sample of. Without hidden
# positives it has none, so that all but the area fall to 0 and not to the naive value, which has
# the labelled rows in it.
GROWING_APART = ("roc_auc",)
ROUNDING = 1e-9
# Names of metrics as people say them; others are said as they are written.
SPOKEN = {
    "roc_auc": "ROC AUC",
    "average_precision": "average precision",
    "lift_auc": "lift AUC",
    "balanced_accuracy": "balanced accuracy",
}
# How the estimators name the metric in a warning that they repeat for each.
NAMED = re.compile(r"; (\w+) is reported for")
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
    >>> from undercount.read.scorecard import MetricRow
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


def metric_rows(
    counts: ScoreCounts,
    shares: Shares,
    metrics: tuple[str, ...],
    threshold: float | None,
    target: Target,
    confidence_level: float,
    *,
    interval: str = "",
    resamples: Resamples | None = None,
) -> tuple[MetricRow, ...]:
    """Estimate metrics and read their naive values.

    `interval` says how that of an estimated share was made; empty if a number was given.
    """
    naive = naive_curve(counts)
    growing = _growing(shares)
    reading: Any = naive if threshold is None else naive.at(threshold)
    pure = shares.label_purity == 1 and shares.label_purity_interval is None
    grows = pure and counts.n_negative == 0 and naive.roc_auc >= 0.5  # noqa: PLR2004 - chance
    rows = []
    for metric in metrics:
        value = float(getattr(reading, metric))
        estimate = metric_estimate(
            counts,
            shares,
            metric,
            threshold=threshold,
            target=target,
            confidence_level=confidence_level,
            interval=interval,
            resamples=resamples,
        )
        rises = metric in growing and _rises(metric, value)
        bound = value if grows and rises and value == value else None  # noqa: PLR0124
        certain = bound is not None and metric == "precision" and target == "dataset"
        if certain:
            estimate = replace(estimate, low=max(estimate.low, value))
        rows.append(MetricRow(metric, threshold, value, estimate, bound, certain))
    return tuple(rows)


def _growing(shares: Shares) -> tuple[str, ...]:
    return GROWING if shares.sampling == "single-sample" else GROWING_APART


def _rises(metric: str, naive: float) -> bool:
    """Whether a metric grows at this threshold: the naive MCC has the sign of g - Q."""
    return metric != "mcc" or naive >= 0


def metric_estimate(
    counts: ScoreCounts,
    shares: Shares,
    metric: str,
    *,
    interval: str = "",
    resamples: Resamples | None = None,
    **options: Any,
) -> Estimate:
    """Estimate one metric, the interval of an estimated share carried as it was asked."""
    if interval in ("calibrated", "own"):
        return carried(counts, shares, metric, **options)
    found = estimate_metric(counts, shares, metric, **options)
    if resamples is None:
        return found
    return resamples.estimate(counts, found, metric, options["threshold"])


def flagged_check(counts: ScoreCounts, threshold: float) -> Check:
    """UC013: a threshold should flag some rows, and not all."""
    head = counts.score >= threshold
    rows = counts.positive + counts.negative + counts.unlabeled
    flagged = float(rows[head].sum())
    if flagged == 0:
        return Check(
            "UC013",
            "warn",
            f"no row scores {threshold:g} or more, so nothing is flagged: recall is 0, and "
            "precision and MCC do not exist",
            f"lower the threshold; the highest score is {counts.score[rows > 0][0]:.6g}",
        )
    if flagged == float(rows.sum()):
        return Check(
            "UC013",
            "warn",
            f"every row scores {threshold:g} or more, so all are flagged: a recall of 1 means "
            "nothing here, and precision is the prevalence",
            f"raise the threshold; the lowest score is {counts.score[rows > 0][-1]:.6g}",
        )
    words = row_words(flagged, weighted=counts.weighted)
    return Check("UC013", "ok", f"{words} at {threshold:g} or above")


def spoken(text: str) -> str:
    """Name metrics in a message as people say them.

    Examples
    --------
    >>> from undercount.read.scorecard import spoken
    >>> spoken("roc_auc would be 1.02")
    'ROC AUC would be 1.02'
    """
    return re.sub(rf"\b({'|'.join(SPOKEN)})\b", lambda found: SPOKEN[found[0]], text)


def naive_check(rows: tuple[MetricRow, ...], shares: Shares) -> Check:
    """UC007: hidden positives make a useful classifier look worse, not better."""
    above = [
        spoken(row.label)
        for row in rows
        if row.metric in _growing(shares)
        and _rises(row.metric, row.naive)
        and row.naive > row.estimate.value + ROUNDING
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
    """UC012: what the estimators warned of while the table was made; foreign warnings go on.

    A warning that several metrics repeat becomes one.
    """
    ours: dict[str, list[str]] = {}
    for warning in caught:
        message = str(warning.message)
        if not issubclass(
            warning.category, MisfitWarning | SmallSampleWarning | UndefinedMetricWarning
        ):
            warnings.warn_explicit(message, warning.category, warning.filename, warning.lineno)
            continue
        named = NAMED.search(message)
        names = ours.setdefault(NAMED.sub("; {} reported for", message), [])
        if named and named[1] not in names:
            names.append(named[1])
    return tuple(
        Check("UC012", "warn", spoken(text.replace("{}", f"{', '.join(names)} {_verb(names)}")))
        for text, names in ours.items()
    )


def _verb(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"
