"""Labels more likely for some positives than for others: known propensities, and sensitivity."""

from typing import Any

import numpy as np

from undercount.count.arrays import read_labels, read_scores
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray, OperatingCurve, OperatingPoint
from undercount.errors import InputError
from undercount.estimate import Interval
from undercount.shares import Shares

ROUNDING = 1e-9


def propensity_curve(
    y: Any, score: Any, propensity: Any, *, unlabeled: float | None = None
) -> OperatingCurve:
    """Recover the curve when each labelled row's probability of being labelled is known.

    A labelled row stands for 1/propensity positives; the number of positives is their sum, so no
    prevalence is needed. Rows that are not labelled need no propensity (pass anything, also NaN).

    Notes
    -----
    Assumes: the propensities of the labelled rows are right, and none is 0.
    Wrong when: some positives can never be labelled, or propensities were fitted on few rows.

    Examples
    --------
    >>> import undercount as uc
    >>> curve = uc.propensity_curve([1, 1, None, None], [4, 3, 2, 1], [0.5, 1.0, 1.0, 1.0])
    >>> curve.prevalence, curve.at(4).recall
    (0.75, 0.6666666666666666)
    """
    labels, scores = read_labels(y, unlabeled), read_scores(score)
    chance = np.asarray(propensity, np.float64)
    if not chance.shape == scores.shape == labels.shape:
        raise InputError(
            "y, score and propensity must have the same length; "
            f"got {labels.shape}, {scores.shape} and {chance.shape}"
        )
    labelled = labels == 1
    wrong = np.flatnonzero(labelled & ~((chance > 0) & (chance <= 1)))
    if wrong.size:
        raise InputError(
            "the propensity of a labelled row must be in (0, 1]; "
            f"got {chance[wrong[0]]} at row {wrong[0]}"
        )
    weight = np.divide(1.0, chance, out=np.zeros(len(chance)), where=labelled)
    # Two tables of the same scores: what the labelled rows stand for, and all rows.
    everyone = ScoreCounts.from_rows(np.zeros(len(scores)), scores)
    heads = np.append(0.0, everyone.negative.cumsum())
    place = np.searchsorted(-everyone.score, -scores[labelled].astype(np.float64))
    stands_for = np.bincount(place, weight[labelled], len(everyone.score))
    positive = np.append(0.0, stands_for.cumsum())
    if not 0 < positive[-1] < heads[-1]:
        raise InputError(
            "the labelled rows must stand for more than none and fewer than all rows; "
            f"got {positive[-1]:.6g} of {heads[-1]:.6g}"
        )
    return OperatingCurve(
        threshold=np.append(np.inf, everyone.score),
        tpr=positive / positive[-1],
        fpr=(heads - positive) / (heads[-1] - positive[-1]),
        prevalence=float(positive[-1] / heads[-1]),
    )


def biased_recall(recall: float, odds_ratio: float) -> Interval:
    """Bound the recall when the odds of being labelled differ by at most a factor (Γ).

    Notes
    -----
    Assumes: between any two positives the odds of being labelled differ at most by `odds_ratio`.
    Wrong when: labelling depends on the score more strongly than that.

    Examples
    --------
    >>> import undercount as uc
    >>> interval = uc.biased_recall(0.5, 2.0)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.3333, 0.6667)
    """
    return Interval(*_recall_ends(recall, odds_ratio))


def _recall_ends(recall: float, odds_ratio: float) -> tuple[float, float]:
    if odds_ratio < 1:
        raise InputError(f"odds_ratio must be at least 1; got {odds_ratio}")
    ends = (
        recall / (recall + odds_ratio * (1 - recall)),
        odds_ratio * recall / (odds_ratio * recall + (1 - recall)),
    )
    return min(ends), max(ends)  # equal ends may round


def biased_points(
    point: OperatingPoint, odds_ratio: float
) -> tuple[OperatingPoint, OperatingPoint]:
    """Move a point to the worst and the best recall that biased labelling allows.

    The number of rows predicted positive and the prevalence stay, so the false positives give way,
    as far as there are any: the ends are pulled to where the false-positive rate would leave
    [0, 1]. A recall that impure labels put outside [0, 1] by chance is pulled inside first.

    Notes
    -----
    Assumes: between any two positives the odds of being labelled differ at most by `odds_ratio`.
    Wrong when: the prevalence is wrong as well.
    """
    recall = min(max(point.tpr, 0.0), 1.0)
    flagged, share = point.predicted_positive_rate, point.prevalence
    least, most = _recall_ends(recall, odds_ratio)
    if share > 0:  # a point that is itself outside stays
        least = max(least, min((flagged - (1 - share)) / share, recall))
        most = min(most, max(flagged / share, recall))
    low, high = (
        OperatingPoint(point.threshold, tpr, (flagged - share * tpr) / (1 - share), share)
        for tpr in (least, most)
    )
    return low, high


def biased_auc(counts: ScoreCounts, shares: Shares, odds_ratio: float) -> Interval:
    """Bound the ROC AUC when the odds of being labelled differ by at most a factor (Γ).

    The extreme means of the labelled rows' positions put the weight Γ on all rows above some
    score and 1 on the rest, or the other way round, so one pass over the cells finds them. What
    they allow beyond [0, 1] no classifier reaches, so it is cut off; an interval that lies outside
    altogether is returned as it is, and says that the prevalence does not fit the scores.

    Notes
    -----
    Assumes: between any two positives the odds of being labelled differ at most by `odds_ratio`;
    labels are pure.
    Wrong when: the prevalence is wrong, or labels are impure.

    Examples
    --------
    >>> import undercount as uc
    >>> counts = uc.ScoreCounts.from_rows([1, None, 1, None, None], [5, 4, 3, 2, 1])
    >>> fair = uc.biased_auc(counts, uc.Shares(0.1), 1.0)
    >>> round(fair.low, 4) == round(fair.high, 4)
    True
    """
    if odds_ratio < 1:
        raise InputError(f"odds_ratio must be at least 1; got {odds_ratio}")
    counts.require("positive", "unlabeled")
    position, share = _positions(counts, shares)
    weight = counts.positive
    low = _extreme_mean(position[::-1], weight[::-1], odds_ratio, np.minimum.reduce)
    high = _extreme_mean(position, weight, odds_ratio, np.maximum.reduce)
    ends = sorted((end - share / 2) / (1 - share) for end in (low, high))  # equal ends may round
    if ends[0] > 1 + ROUNDING or ends[1] < -ROUNDING:
        return Interval(ends[0], ends[1])
    return Interval(min(max(ends[0], 0.0), 1.0), min(max(ends[1], 0.0), 1.0))


def _positions(counts: ScoreCounts, shares: Shares) -> tuple[FloatArray, float]:
    """Share of the target population below each cell (ties count ½), and its prevalence."""
    below = counts.unlabeled
    if shares.sampling == "single-sample":
        below = counts.unlabeled + counts.positive + counts.negative
    total = below.sum()
    return 1 - (np.cumsum(below) - below / 2) / total, shares.prevalence(counts)


def _extreme_mean(value: FloatArray, weight: FloatArray, factor: float, choose: Any) -> float:
    """Extreme of the weighted mean when the weights of a head may grow by a factor."""
    head, total = np.cumsum(weight), weight.sum()
    moved, whole = np.cumsum(weight * value), np.sum(weight * value)
    return float(choose((whole + (factor - 1) * moved) / (total + (factor - 1) * head)))
