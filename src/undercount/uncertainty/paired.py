"""Differences of two scores on the same rows: standard errors that use the pairing."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from undercount.rates import FloatArray

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Placements:
    """Hold where the rows of one score stand among the others.

    Attributes
    ----------
    labelled : array
        For each labelled row the share of unlabeled rows below it (ties count one half).
    unlabeled : array
        For each unlabeled row the share of labelled rows above it (ties count one half).
    overall : array
        For each labelled row the share of all rows below it, itself counting one half.
    """

    labelled: FloatArray
    unlabeled: FloatArray
    overall: FloatArray


def placements(score: FloatArray, labelled: BoolArray) -> Placements:
    """Place labelled among unlabeled rows, and the other way round (DeLong et al. 1988)."""
    inside, outside, everyone = np.sort(score[labelled]), np.sort(score[~labelled]), np.sort(score)
    return Placements(
        _share_below(outside, score[labelled]),
        1 - _share_below(inside, score[~labelled]),
        _share_below(everyone, score[labelled]),
    )


def _share_below(ascending: FloatArray, values: FloatArray) -> FloatArray:
    strictly = np.searchsorted(ascending, values, side="left")
    at_most = np.searchsorted(ascending, values, side="right")
    return (strictly + at_most) / (2 * len(ascending))


def auc_difference(one: Placements, other: Placements) -> tuple[float, float]:
    """Return difference and standard error of the AUC of labelled against unlabeled rows.

    Notes
    -----
    Assumes: rows are independent draws from a population.
    Wrong when: only the choice of labelled rows is random; use `lift_difference` then.
    """
    labelled = one.labelled - other.labelled
    unlabeled = one.unlabeled - other.unlabeled
    variance = np.var(labelled, ddof=1) / len(labelled) + np.var(unlabeled, ddof=1) / len(unlabeled)
    return float(np.mean(labelled)), float(np.sqrt(variance))


def lift_difference(
    one: Placements, other: Placements, label_frequency: float
) -> tuple[float, float]:
    """Return difference and standard error of the area under the lift curve of these very rows.

    Notes
    -----
    Assumes: the labelled rows were drawn at random, without replacement, from the positives.
    Wrong when: the target is a population; use `auc_difference` then.
    """
    gap = one.overall - other.overall
    variance = (1 - label_frequency) * np.var(gap, ddof=1) / len(gap)
    return float(np.mean(gap)), float(np.sqrt(variance))
