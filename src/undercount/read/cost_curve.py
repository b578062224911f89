"""What errors cost along the thresholds, with a band; and where they cost least."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from undercount.curve import FloatArray
from undercount.errors import collect_warnings
from undercount.estimate import Estimate
from undercount.infer.decisions import BestThreshold, cost_weight
from undercount.read.evaluation import Evaluation

# Thresholds along which costs are drawn.
COST_THRESHOLDS = 40


@dataclass(frozen=True)
class CostCurve:
    """Hold what errors cost a row at thresholds from the highest to the lowest.

    Attributes
    ----------
    costs : mapping
        What a false positive and a false negative cost.
    threshold, flagged : array
        The thresholds and the rows from each on. The evaluation's own threshold, if it has one, and
        the best one are among them.
    points : tuple of Estimate
        The cost a row at each.
    benefits : tuple of Estimate
        The net benefit at each, at the chance at which a row is just worth flagging:
        false_positive over the sum of both costs. Empty if one of them is 0.
    none, everything : float
        The cost if no row is flagged, and if all are; NaN where the share of hidden positives is
        a range without a value.
    own : float, optional
        The evaluation's own threshold, if it has one.
    here : Estimate, optional
        The cost there.
    best : BestThreshold, optional
        Where the cost is least, with what that gains; None where the share of hidden positives is
        a range without a value, since the place depends on it.

    Notes
    -----
    Assumes: the prevalence; random labels, or reviews.
    Wrong when: the least of the curve is read as if its threshold had been fixed before; the gain
    of `best` is corrected for that. Rates that leave their range by chance are put to its end at
    each point, without a warning for each; `Evaluation.cost` warns where one threshold is asked.
    """

    costs: Mapping[str, float]
    threshold: FloatArray
    flagged: FloatArray
    points: tuple[Estimate, ...]
    benefits: tuple[Estimate, ...]
    none: float
    everything: float
    own: float | None
    here: Estimate | None
    best: BestThreshold | None


def cost_curve(
    evaluation: Evaluation, costs: Mapping[str, float], n_points: int = COST_THRESHOLDS
) -> CostCurve:
    """Estimate what errors cost along an evaluation's thresholds.

    Examples
    --------
    >>> import undercount as uc
    >>> from undercount.read.cost_curve import cost_curve
    >>> y = [1, 1, 0, 1, 0, 0, 0, 0] * 10
    >>> evaluation = uc.evaluate(y, [8, 7, 6, 5, 4, 3, 2, 1] * 10, unlabeled=0, prevalence=0.4)
    >>> curve = cost_curve(evaluation, {"false_positive": 1, "false_negative": 4})
    >>> round(curve.none, 3), round(curve.everything, 3)
    (1.6, 0.6)
    """
    cost_weight(costs)  # refuses what is no cost
    valued = not evaluation.unknowns.range_only
    best = evaluation.best_threshold(cost=costs) if valued else None
    counts = evaluation.counts
    cells = [counts.unlabeled]
    if evaluation.shares.sampling == "single-sample":
        cells += [counts.positive, counts.negative]
    flagged = np.cumsum(np.sum(cells, axis=0))
    # Even steps in rows: half of the thresholds flag less than half of them.
    sizes = np.linspace(0, flagged[-1], n_points + 1)[1:]
    places = np.minimum(np.searchsorted(flagged, sizes), len(flagged) - 1)
    marked = (evaluation.threshold, None if best is None else best.threshold)
    marks = [threshold for threshold in marked if threshold is not None]
    thresholds = np.unique([*counts.score[places], *filter(np.isfinite, marks)])[::-1]
    rows = np.append(0.0, flagged)[np.searchsorted(-counts.score, -thresholds, side="right")]
    named = {name: costs.get(name, 0.0) for name in ("false_positive", "false_negative")}
    chance = named["false_positive"] / sum(named.values())
    prevalence = evaluation.prevalence
    with collect_warnings():  # along a curve single rates leave their range by chance
        prices = tuple(evaluation.cost(threshold, **named) for threshold in thresholds.tolist())
        benefits = (
            tuple(evaluation.net_benefit(chance, threshold) for threshold in thresholds.tolist())
            if 0 < chance < 1
            else ()
        )
    return CostCurve(
        named,
        thresholds,
        rows,
        prices,
        benefits,
        prevalence * named["false_negative"],
        (1 - prevalence) * named["false_positive"],
        evaluation.threshold,
        None if evaluation.threshold is None else evaluation.cost(evaluation.threshold, **named),
        best,
    )
