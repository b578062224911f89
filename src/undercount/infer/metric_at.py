"""Which metric, and where: what every question about a number names."""

from dataclasses import dataclass
from typing import Any

from undercount.errors import check_choice, read_threshold
from undercount.infer.sensitivity import SWEPT_AREAS
from undercount.metric_facts import FACTS


@dataclass(frozen=True)
class MetricAt:
    """Name a metric and the place where it is read.

    Attributes
    ----------
    metric : str
        A metric of `undercount.metrics`.
    threshold : float, optional
        Rows with at least this score are predicted positive.
    top : float, optional
        Instead of a threshold: so many rows of the highest scores, or such a share of them.
    beta : float
        The number that some metrics take.
    max_fpr : float, optional
        End of the range of "partial_roc_auc".
    prevalence : float, optional
        Share of positives where the metric is to hold; None: among these rows.

    Examples
    --------
    >>> from undercount.infer.metric_at import MetricAt
    >>> MetricAt("precision", 0.5).place
    {'threshold': 0.5, 'top': None, 'beta': 1.0}
    """

    metric: str
    threshold: float | None = None
    top: float | None = None
    beta: float = 1.0
    max_fpr: float | None = None
    prevalence: float | None = None

    @classmethod
    def of(cls, metric: str, threshold: float | None = None, **place: Any) -> "MetricAt":
        """Check the name of a metric and read its threshold."""
        check_choice("metric", metric, tuple(FACTS))
        return cls(metric, None if threshold is None else read_threshold(threshold), **place)

    @property
    def place(self) -> dict[str, Any]:
        """The place as arguments of functions that read a metric of these rows."""
        place = {"threshold": self.threshold, "top": self.top, "beta": self.beta}
        return place if self.max_fpr is None else {**place, "max_fpr": self.max_fpr}

    @property
    def is_area(self) -> bool:
        """Whether it is an area of the whole curve, which no threshold changes."""
        return self.metric in SWEPT_AREAS
