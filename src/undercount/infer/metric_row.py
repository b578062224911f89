"""One line of a table: the naive value of a metric beside its estimate."""

import math
from dataclasses import dataclass
from functools import cached_property

from undercount.estimate import Estimate
from undercount.infer.metric_name import place_words
from undercount.metric_facts import FACTS
from undercount.shares import Shares


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
    >>> from undercount.infer.metric_row import MetricRow
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

    @cached_property
    def label(self) -> str:
        """Name with threshold, as people say it."""
        return f"{self.metric}{place_words(self.threshold, self.top)}"


def grows(metric: str, naive: float, shares: Shares) -> bool:
    """Whether a metric grows with the hidden share: the naive MCC has the sign of g - Q.

    One that does not exist (NaN) does not.
    """
    rises = naive >= (0.0 if metric == "mcc" else -math.inf)
    return rises and shares.sampling in FACTS[metric].grows
