"""What reviewing some rows would buy an evaluation: how wide its main interval is, and would be."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from undercount.errors import InputError, collect_warnings
from undercount.read.plan import Prices, design_reviews

if TYPE_CHECKING:
    from undercount.read.evaluation import Evaluation

BUDGET = 100


@dataclass(frozen=True)
class ReviewPrice:
    """Hold half the width of a metric's interval without reviews, and what some would make it.

    Examples
    --------
    >>> from undercount.read.review_price import ReviewPrice
    >>> ReviewPrice("precision", 0.7, 100, 0.3, 0.07).helps
    True
    """

    metric: str
    threshold: float | None
    budget: int
    before: float
    after: float

    @property
    def helps(self) -> bool:
        """Whether the interval would be clearly narrower."""
        return self.after < 0.9 * self.before


def price_reviews(evaluation: "Evaluation", budget: int = BUDGET) -> ReviewPrice | None:
    """Say what reviews would buy; nothing where rows have weights or were drawn apart."""
    counts, shares = evaluation.counts, evaluation.shares
    metric = "roc_auc" if evaluation.threshold is None else "precision"
    row = next((row for row in evaluation.rows if row.metric == metric), None)
    single = shares.sampling == "single-sample" and shares.label_purity == 1
    if row is None or math.isnan(row.estimate.value) or counts.weighted or not single:
        return None
    if evaluation.clusters is not None or evaluation.chances is not None:
        return None
    before = (row.estimate.high - row.estimate.low) / 2
    try:
        with collect_warnings():
            design = design_reviews(
                counts,
                budget=min(budget, int(counts.n_unlabeled)),
                goal=metric,
                threshold=evaluation.threshold,
                unlabeled_prevalence=shares.unlabeled_prevalence,
            )
            prices = Prices.of(counts, design, evaluation.confidence_level)
            after = prices.half_width(metric, len(design.order))
    except InputError:  # nothing is flagged, say: then no review tells its precision
        return None
    return ReviewPrice(metric, row.threshold, len(design.order), before, after)
