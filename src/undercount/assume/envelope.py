"""Confidence band of a whole ROC curve, from the joint distribution of its points."""

from collections.abc import Sequence

import numpy as np
from scipy.special import expit, logit, ndtri

from undercount.assume.spread import Reader
from undercount.curve import CurveBounds, OperatingCurve
from undercount.rates import FloatArray

GRID = np.linspace(0.0, 1.0, 81)[1:-1]
DRAWS = 20_000
EDGE = 1e-9
# On the logit scale a rate of 0 or 1 would make any error infinite.
NEAR_END = 1e-3


def roc_band(
    points: Sequence[tuple[float, Reader]],
    best: Reader,
    level: float,
    random_state: int | np.random.Generator | None,
    *,
    simultaneous: bool,
) -> CurveBounds:
    """Band of true-positive rates at each false-positive rate, on the logit scale.

    Parameters
    ----------
    points : sequence of (loss, reader)
        Fits not rejected along the error correlation; only ``(0, best)`` where there is none.
    best : reader
        At the maximum.
    level : float
        Confidence level.
    random_state : int, generator or None
        For the critical value of a simultaneous band.
    simultaneous : bool
        Whether the whole curve or each point is covered with the given confidence.
    """
    tpr, covariance = best.roc(GRID)
    critical = float(ndtri(0.5 + level / 2))
    if simultaneous:
        critical = max(critical, _critical_value(covariance, level, random_state))
    low, high = tpr.copy(), tpr.copy()
    for loss, reader in points:
        here, spread = reader.roc(GRID)
        inside = np.clip(here, NEAR_END, 1 - NEAR_END)
        error = np.sqrt(np.diag(spread)) / (inside * (1 - inside))
        reach = error * np.sqrt(max(critical**2 - loss, 0.0))
        low = np.minimum(low, expit(logit(inside) - reach))
        high = np.maximum(high, expit(logit(inside) + reach))
    low, high = np.minimum(low, tpr), np.maximum(high, tpr)
    # The true curve rises, so whatever covers it still does when made to rise.
    low = np.clip(np.minimum.accumulate(low[::-1])[::-1], 0.0, 1.0)
    high = np.clip(np.maximum.accumulate(high), 0.0, 1.0)
    return CurveBounds(_curve(low, best), _curve(high, best))


def _curve(tpr: FloatArray, best: Reader) -> OperatingCurve:
    curve = best.curve
    finite = curve.threshold[1:]
    threshold = np.interp(GRID, curve.fpr[1:], finite)
    return OperatingCurve(
        np.concatenate([[np.inf], threshold, [finite[-1]]]),
        np.concatenate([[0.0], tpr, [1.0]]),
        np.concatenate([[0.0], GRID, [1.0]]),
        curve.prevalence,
    )


def _critical_value(
    covariance: FloatArray, level: float, random_state: int | np.random.Generator | None
) -> float:
    """Quantile of the largest standardised deviation along the curve (sup-t)."""
    error = np.sqrt(np.diag(covariance))
    kept = error > EDGE
    correlation = covariance[np.ix_(kept, kept)] / np.outer(error[kept], error[kept])
    values, vectors = np.linalg.eigh(correlation)
    factor = vectors * np.sqrt(np.maximum(values, 0.0))
    draws = np.random.default_rng(random_state).standard_normal((DRAWS, len(values)))
    largest = np.abs(draws @ factor.T).max(axis=1)
    return float(np.quantile(largest, level))
