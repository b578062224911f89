"""Labels more likely for some positives than for others, each with a known propensity."""

from typing import Any

import numpy as np

from undercount.count.arrays import check_row_order, read_floats, read_labels, read_scores
from undercount.counts import ScoreCounts
from undercount.curve import OperatingCurve
from undercount.errors import InputError


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
    check_row_order(y=y, score=score, propensity=propensity)
    labels, scores = read_labels(y, unlabeled), read_scores(score)
    chance = read_floats(propensity, "propensity")
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
