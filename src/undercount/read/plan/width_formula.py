"""Half the width of an interval after so many reviews, by a formula: no verdict is drawn."""

import numpy as np
from scipy.special import gammaln, ndtri

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray
from undercount.estimate import delta_interval
from undercount.infer.reviews.ends import HALF_ROW, part_more
from undercount.infer.reviews.intervals import range_of, scale_of
from undercount.infer.reviews.verdicts import supposed_posterior
from undercount.read.plan.goals import gradient_at, half_range
from undercount.read.plan.hidden_positives import LIKELY_SCORES, HiddenPositives
from undercount.read.plan.merged_cells import merge_cells
from undercount.read.plan.strata import verdict_parts

# Cells that the formula is summed over; more say nothing more.
MOST_CELLS_OF_FORMULA = 64
# Shapes of a gamma distribution beyond which its root has the mean that none or no spread gives.
LEAST_SHAPE, LARGEST_SHAPE = 1e-6, 1e6


def formula_half_width(
    counts: ScoreCounts,
    hidden: HiddenPositives,
    metric: str,
    threshold: float | None,
    budget: int,
    confidence_level: float,
) -> float:
    """Return the half-width that so many reviews, planned for a metric, would leave.

    Each cell gets the verdicts that a plan gives it, and adds the variance of their sum, for shares
    of hidden positives as likely as their estimate makes them. What verdicts add to a variance is
    taken to have a gamma distribution: where it comes from a handful of rare positives, most draws
    have none of them, and the mean of the root is less than the root of the mean. Ends count a part
    of a verdict more than a normal interval does.

    Notes
    -----
    Assumes: what `ExpectedWidths` assumes.
    Wrong when: positives are rare and all rows count (an area at a prevalence of 1 %): intervals
    then were a quarter narrower than the formula says.
    """
    counts = merge_cells(counts, MOST_CELLS_OF_FORMULA, threshold)
    rows = np.maximum(counts.unlabeled, 1e-9)
    drawn = np.minimum(budget * verdict_parts(counts, (metric,), threshold, hidden), rows)
    drawn, left = np.maximum(drawn, 1e-9), np.maximum(rows - drawn, 0.0)
    like = hidden.lie_like(counts)
    chances = np.array(
        [supposed_posterior(like, share) for share in hidden.shares_at(counts, LIKELY_SCORES)]
    )
    gradient = gradient_at(counts, chances, metric, threshold)
    squares = gradient.turned**2 * rows * left / drawn**2  # what one verdict adds to the variance
    variance = (squares * drawn * chances * (1 - chances)).sum(axis=-1)
    normal, (least, most) = float(ndtri((1 + confidence_level) / 2)), range_of(metric)
    low, high = delta_interval(gradient.value, variance**0.5, scale_of(metric), normal)
    widths = (np.minimum(high, most) - np.maximum(low, least)) / 2
    widths = widths * _mean_root(variance, squares, drawn, np.minimum(chances, 1 - chances))
    more = part_more((1 - confidence_level) / 2) - HALF_ROW
    widths = widths + more * (np.abs(gradient.turned) @ left) / budget
    # Fewer hidden positives than are likeliest are nothing to promise by.
    return float(min(max(widths.mean(), widths[0]), half_range(metric)))


def _mean_root(
    variance: FloatArray, squares: FloatArray, drawn: FloatArray, rare: FloatArray
) -> FloatArray:
    """Return the mean of the root of a variance that draws decide, over the root of its mean."""
    spread = (squares**2 * drawn * rare * (1 - rare) * (1 - 2 * rare) ** 2).sum(axis=-1)
    shape = np.clip(variance**2 / np.maximum(spread, 1e-300), LEAST_SHAPE, LARGEST_SHAPE)
    return np.asarray(np.exp(gammaln(shape + 0.5) - gammaln(shape)) / shape**0.5)
