"""Skewness of an estimate, and an interval that allows for it.

Student's interval misses on one side where rows are skewed: with few of them a low mean comes with
a low standard error (ten exponential rows: 90 % instead of 95 %).
"""

from typing import Any

import numpy as np

from undercount.read.intervals.design import LABELLED, NEGATIVE, UNLABELED, Design
from undercount.read.intervals.variance import Spread, unlabelled_share

_FEWEST = 2  # rows that have no skewness
_STRAIGHT = 1e-8


def third_moments(moves: Spread) -> tuple[float, float]:
    """Return the third cumulant of an estimate's error, and its covariance with its variance.

    They are equal for independent rows. For these very rows the first is (1-f)(1-2f) m₃/n², the
    second (1-f)² m₃/n², if a share f of the positives is labelled.
    """
    design, phi = moves.design, moves.phi
    if design.target == "population":
        both = sum(
            _third(moves, phi[kind], kind) / float(design.effective[kind]) ** 2
            for kind in (LABELLED, UNLABELED, NEGATIVE)
            if design.effective[kind] > _FEWEST
        )
        return both, both
    size = float(design.effective[LABELLED])
    if size <= _FEWEST:
        return 0.0, 0.0
    if design.sampling == "case-control":
        third = _third(moves, phi[LABELLED], LABELLED)
        hidden = float(design.mixing().unlabeled_prevalence * design.effective[UNLABELED])
        other = 1 / hidden if hidden > 0 else 0.0
        return third * (size**-2 - other**2), third * (1 / size + other) / size
    free = float(unlabelled_share(design))
    third = _labelled_third(moves, design) / size**2
    return third * free * (2 * free - 1), third * free**2


def _labelled_third(moves: Spread, design: Design) -> float:
    """Return the third moment of what one label more moves, in units of a mean."""
    third = _third(moves, moves.moved, LABELLED)
    if not (design.share_known and design.given == "label_frequency"):
        return third
    # The number of labels is random as well: moments around 0, not around the mean.
    shift = float(moves.number_slope * design.sizes[LABELLED])
    if moves.weights is not None:
        gap = moves.weights.around(moves.moved)
        around = [moves.weights.mean(gap**power, 2) for power in range(3)]
        return third + 3 * shift * around[2] + 3 * shift**2 * around[1] + shift**3 * around[0]
    variance = float(moves.rows.moments(moves.moved, np.eye(3)[LABELLED])[1])
    return third + 3 * shift * variance + shift**3


def _third(moves: Spread, value: Any, kind: int) -> float:
    """Return the third central moment among the rows of a kind, corrected for its bias."""
    size = float(moves.design.effective[kind])
    if kind == LABELLED and moves.weights is not None:
        third = moves.weights.mean(moves.weights.around(value) ** 3, 2)
    else:
        weights = np.eye(3)[kind]
        mean = moves.rows.moments(value, weights)[0]
        third = float(moves.rows.moments((value - mean) ** 3, weights)[0])
    return third * size * size / ((size - 1) * (size - 2))


def skewed_interval(
    value: float, error: float, moments: tuple[float, float], t: float
) -> tuple[float, float]:
    """Return the interval of a studentised estimate made symmetric by Hall's cubic.

    Hall 1992 (JRSS B 54): P(T ≤ x) = Φ(x) + (A x² + B) φ(x) to first order, and then
    g(T) = ((1 + A T)³ - 1)/(3 A) + B is normal up to a second order; its inverse is closed.
    """
    bend = (moments[1] / 2 - moments[0] / 6) / error**3
    shift = moments[0] / 6 / error**3
    quantiles = []
    for q in (t, -t):
        moved = q - shift
        if abs(bend) > _STRAIGHT:
            moved = float(np.cbrt(1 + 3 * bend * moved) - 1) / bend
        quantiles.append(moved)
    return value - error * quantiles[0], value - error * quantiles[1]
