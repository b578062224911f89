"""The lift curve of labelled positives among all rows: its area, and the AUC it means.

The AUL paper (2021). Its letters: α the prevalence, β the label frequency. The area under the lift
curve (AUL) needs neither.
"""

from dataclasses import dataclass

import numpy as np

from undercount.counts import ScoreCounts
from undercount.curve import FloatArray, trapezoid
from undercount.errors import InputError
from undercount.theory.numbers import read_share

ROUNDING = 1e-9


@dataclass(frozen=True)
class LiftCurve:
    """Hold recall against the share of all rows predicted positive, from (0, 0) to (1, 1).

    Examples
    --------
    >>> import undercount as uc
    >>> counts = uc.ScoreCounts.from_rows([1, None, 1, None], [0.9, 0.7, 0.4, 0.1])
    >>> curve = uc.theory.lift_curve(counts)
    >>> curve.recall, curve.predicted_positive_rate
    (array([0. , 0.5, 0.5, 1. , 1. ]), array([0.  , 0.25, 0.5 , 0.75, 1.  ]))
    >>> curve.area
    0.625
    """

    threshold: FloatArray
    recall: FloatArray
    predicted_positive_rate: FloatArray

    @property
    def area(self) -> float:
        """Area under the curve (AUL); a row against itself counts one half."""
        return trapezoid(self.recall, self.predicted_positive_rate)


def lift_curve(counts: ScoreCounts) -> LiftCurve:
    """Draw the lift curve of the labelled positives among all rows (AUL paper, eq. 4).

    Parameters
    ----------
    counts : ScoreCounts
        With labelled positives; the rows are the labelled and the unlabeled ones together.

    Returns
    -------
    LiftCurve
        Its area is AUL^PU, an unbiased estimate of the area that all positives would give.

    Notes
    -----
    Assumes: labels are given at random among the positives of these rows, and are right.
    Wrong when: the labelled rows were drawn apart from the unlabeled ones (case-control).

    Examples
    --------
    >>> import undercount as uc
    >>> counts = uc.ScoreCounts.from_rows([1, 1, 0, 0], [0.9, 0.7, 0.4, 0.1], unlabeled=0)
    >>> uc.theory.lift_curve(counts).area
    0.75
    """
    counts.require("positive")
    positive, negative, unlabeled = counts.cumulative()
    rows = positive + negative + unlabeled
    return LiftCurve(np.append(np.inf, counts.score), positive / positive[-1], rows / rows[-1])


def lift_from_auc(auc: float, prevalence: float) -> float:
    """Convert the area under the ROC curve into that under the lift curve.

    Parameters
    ----------
    auc : float
        Area under the ROC curve.
    prevalence : float
        Share of positives among all rows.

    Returns
    -------
    float
        AUL = π/2 + (1-π) AUC.

    Examples
    --------
    >>> import undercount as uc
    >>> uc.theory.lift_from_auc(0.74, prevalence=0.5)
    0.62
    """
    share = read_share("prevalence", prevalence)
    return share / 2 + (1 - share) * read_share("auc", auc)


def auc_from_lift(lift_auc: float, prevalence: float) -> float:
    """Convert the area under the lift curve into that under the ROC curve.

    Parameters
    ----------
    lift_auc : float
        Area under the lift curve (AUL), between π/2 and 1 - π/2.
    prevalence : float
        Share of positives among all rows, below 1.

    Returns
    -------
    float
        AUC = (AUL - π/2)/(1-π).

    Examples
    --------
    >>> import undercount as uc
    >>> round(uc.theory.auc_from_lift(0.62, prevalence=0.5), 12)
    0.74
    """
    share, area = read_share("prevalence", prevalence), read_share("lift_auc", lift_auc)
    if share == 1:
        raise InputError("prevalence must be below 1: without negatives there is no ROC curve")
    auc = (area - share / 2) / (1 - share)
    if not -ROUNDING <= auc <= 1 + ROUNDING:
        raise InputError(
            f"at prevalence {share:.6g} lift_auc lies between {share / 2:.6g} and "
            f"{1 - share / 2:.6g}; got {area:.6g}. The largest prevalence that fits is "
            f"{2 * min(area, 1 - area):.6g}"
        )
    return min(max(auc, 0.0), 1.0)


def expected_labelled_auc(auc: float, *, prevalence: float, label_frequency: float) -> float:
    """Compute the mean AUC of labelled against unlabeled rows: what a naive evaluation shows.

    Parameters
    ----------
    auc : float
        True area under the ROC curve.
    prevalence : float
        Share of positives among all rows.
    label_frequency : float
        Share of the positives that carry a label.

    Returns
    -------
    float
        E[AUC^PU] = 1/2 + (1-π)/(1-πc) (AUC - 1/2), exact over all labellings.

    Notes
    -----
    Assumes: labels are given at random among the positives of these rows.
    Wrong when: the labelled rows were drawn apart from the unlabeled ones (case-control).

    Examples
    --------
    >>> import undercount as uc
    >>> round(uc.theory.expected_labelled_auc(0.74, prevalence=0.5, label_frequency=0.5), 12)
    0.66
    """
    share, frequency = (
        read_share("prevalence", prevalence),
        read_share("label_frequency", label_frequency),
    )
    if share * frequency == 1:
        raise InputError("prevalence and label_frequency may not both be 1: no row is unlabeled")
    return 0.5 + (1 - share) / (1 - share * frequency) * (read_share("auc", auc) - 0.5)
