"""Ends of the intervals of areas and losses, each on the scale that fits its errors."""

import math

import numpy as np
from scipy.special import stdtrit

from undercount.curve import FloatArray
from undercount.read.intervals.areas import area_influence, no_area, with_borders
from undercount.read.intervals.design import LABELLED, Design
from undercount.read.intervals.found import Question
from undercount.read.intervals.scales import LOSS_METRICS, delta_interval
from undercount.read.intervals.skewness import skewed_interval, third_moments
from undercount.read.intervals.variance import CellRows, Spread, unlabelled_share

# A standard error below this share of the largest influence of a row is rounding of no spread.
_ROUNDING = 1e-6
_LARGEST_EXPONENT = 700.0  # e^700 is almost the largest float


def area_ends(moves: Spread, value: float, error: float, question: Question) -> tuple[float, float]:
    """Return the interval inside the metric's range, with Student's quantile for few labels."""
    least, most = question.kind.range
    if math.isnan(value) or math.isnan(error):
        return least, most
    if error <= _ROUNDING * float(np.abs(_of_label(moves)).max()):
        low, high = _flat_ends(moves, value, question)
    else:
        low, high = _scaled_ends(moves, value, error, question)
    return min(max(low, least), most), min(max(high, least), most)


def least_error(moves: Spread, question: Question) -> float:
    """Return the standard error of labels that are all alike: half of one row is otherwise.

    Two labels on top of everything have no spread, and yet are no proof of anything.
    """
    size = max(float(moves.design.effective[LABELLED]), 1.0)
    share = 0.5 / (size + 1)
    reach = float(np.ptp(_anywhere(moves, question).phi[LABELLED]))
    return max(reach * math.sqrt(share * (1 - share) / size), 1e-300)


def _scaled_ends(
    moves: Spread, value: float, error: float, question: Question
) -> tuple[float, float]:
    size = float(moves.design.effective[LABELLED])
    t = float(stdtrit(max(size - 1, 1.0), (1 + question.confidence_level) / 2))
    name, (least, most) = question.kind.name, question.kind.range
    if name in ("log_loss", "roc_auc"):
        # Near 1 the logit's intervals of an AUC explode, and those around an estimate beyond 1 are
        # empty; so the estimate is cut, and the skewness that few labels bring is allowed for.
        return skewed_interval(min(max(value, least), most), error, third_moments(moves), t)
    if name == "partial_roc_auc":
        origin = no_area(question.max_fpr)
        if origin < value < most:
            low, high = _partial_ends(value - origin, error, t)
            return origin + low, origin + high
    elif least < value < most:
        ends = delta_interval(value, error, question.kind.scale, t)
        return float(ends[0]), float(ends[1])
    inside = min(max(value, least), most)  # around a value outside the range would be nothing
    return inside - t * error, inside + t * error


def _partial_ends(area: float, error: float, t: float) -> tuple[float, float]:
    """Return the ends for a partial area, counted from no area at all.

    Its errors grow with it, faster than with its square root and slower than in proportion, the
    more so the fewer negatives are among the unlabeled rows. Each end is taken on the scale that
    puts it farther out. (Simulated: on the log scale alone intervals cover .93 with 120 labels and
    .6 positives among the unlabeled rows, of which .05 lie above the truth.)
    """
    root = math.sqrt(area)
    low = max(root - t * error / (2 * root), 0.0) ** 2
    return low, area * math.exp(min(t * error / area, _LARGEST_EXPONENT))


def _flat_ends(moves: Spread, value: float, question: Question) -> tuple[float, float]:
    """Return the ends if all labels are alike: as for k of k successes, some may be otherwise."""
    design = moves.design
    if _counted(design) and float(unlabelled_share(design)) == 0:  # no positive is hidden
        return value, value
    size = max(float(design.effective[LABELLED]), 1.0)
    others = 1 - ((1 - question.confidence_level) / 2) ** (1 / size)
    middle = float(moves.rows.moments(_of_label(moves), np.eye(3)[LABELLED])[0])
    influence = _of_label(_anywhere(moves, question))
    low, high = float(influence.min()), float(influence.max())
    return value - others * (middle - low), value + others * (high - middle)


def _anywhere(moves: Spread, question: Question) -> Spread:
    """Return influences at the scores of all cells and, of areas, between and beyond them."""
    name = question.kind.name
    if name in LOSS_METRICS or not isinstance(moves.rows, CellRows):
        return moves
    rows = with_borders(moves.rows)
    influence = area_influence(rows, moves.design.mixing(), name, question.max_fpr)
    return Spread(moves.design, rows, influence)


def _of_label(moves: Spread) -> FloatArray:
    """Return what a label at each score adds to the estimate."""
    return np.atleast_1d(moves.moved if _counted(moves.design) else moves.phi[LABELLED])


def _counted(design: Design) -> bool:
    """Whether these very rows are meant, all of them."""
    return design.target == "dataset" and design.sampling == "single-sample"
