"""Confidence band of a whole ROC curve, from the joint distribution of its points."""

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.special import ndtri

from undercount.assume.selection.fit import CurveReader
from undercount.curve import CurveBounds, FloatArray, OperatingCurve
from undercount.estimate import delta_interval

# Nearer to the ends hardly a row is left, so the band is flat there.
BAND_FPR = np.linspace(0.02, 0.98, 81)
BAND_DRAWS = 20_000
LEAST_BAND_ERROR = 1e-9
# On the logit scale a rate of 0 or 1 would make any error infinite.
NEAR_END = 1e-4


def roc_band(
    points: Sequence[tuple[float, CurveReader]],
    best: CurveReader,
    level: float,
    random_state: int | None,
) -> CurveBounds:
    """Band of true-positive rates at each false-positive rate, which covers the whole curve.

    Parameters
    ----------
    points : sequence of (loss, reader)
        Fits not rejected along the error correlation; only ``(0, best)`` where there is none.
    best : reader
        At the maximum.
    level : float
        Confidence level.
    random_state : int, optional
        For the critical value.
    """
    tpr, covariance = best.roc(BAND_FPR)
    critical = max(float(ndtri(0.5 + level / 2)), _critical_value(covariance, level, random_state))
    low, high = tpr.copy(), tpr.copy()
    for loss, reader in points:
        here, spread = reader.roc(BAND_FPR)
        centre, variance = np.clip(here, NEAR_END, 1 - NEAR_END), np.diag(spread)
        spans, labels = [(centre, variance)], reader.effective_labels(BAND_FPR)
        # A step function of few labels shows no spread near 0 and 1, although it has some.
        if np.isfinite(labels).all():
            spans.append(_smooth(centre, variance, labels))
        reach = float(np.sqrt(max(critical**2 - loss, 0.0)))
        for inside, square in spans:
            for below, above in _limits(inside, reach * np.sqrt(square)):
                low, high = np.minimum(low, below), np.maximum(high, above)
    return _bounds(best.curve, tpr, low, high)


def _bounds(
    curve: OperatingCurve, tpr: FloatArray, low: FloatArray, high: FloatArray
) -> CurveBounds:
    """Make the limits rise, as the true curve does, and go on beyond the grid.

    What covers the whole of a rising curve tells of each point what it tells of those to the left,
    which are no higher, and to the right; but the estimate, which may fall, stays inside.
    """
    low = np.minimum(np.maximum.accumulate(low), tpr)
    high = np.maximum(np.minimum.accumulate(high[::-1])[::-1], tpr)
    low = np.clip(np.minimum.accumulate(low[::-1])[::-1], 0.0, 1.0)
    high = np.clip(np.maximum.accumulate(high), 0.0, 1.0)
    inner = np.interp(BAND_FPR, curve.fpr[1:], curve.threshold[1:])
    threshold = np.concatenate([[np.inf], inner[:1], inner, inner[-1:], curve.threshold[-1:]])
    # Beyond the grid: as low, or as high, as a rising curve can be.
    lower = np.concatenate([[0.0, 0.0], low, low[-1:], [1.0]])
    upper = np.concatenate([[0.0], high[:1], high, [1.0, 1.0]])
    right = np.concatenate([[0.0], BAND_FPR[:1], BAND_FPR, [1.0, 1.0]])
    left = np.concatenate([[0.0, 0.0], BAND_FPR, BAND_FPR[-1:], [1.0]])
    return CurveBounds(
        OperatingCurve(threshold, lower, right, curve.prevalence),
        OperatingCurve(threshold, upper, left, curve.prevalence),
    )


def _limits(tpr: FloatArray, reach: FloatArray) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Limits on the logit and on the angular scale; the outer ones are kept.

    Where few rows are left, next to 0 and 1, the logit alone stops short of the nearer end.
    """
    yield delta_interval(tpr, reach, "logit", 1.0)
    angle, turn = np.arcsin(np.sqrt(tpr)), reach / (2 * np.sqrt(tpr * (1 - tpr)))
    ends = np.maximum(angle - turn, 0.0), np.minimum(angle + turn, np.pi / 2)
    yield np.sin(ends[0]) ** 2, np.sin(ends[1]) ** 2


def _smooth(
    tpr: FloatArray, variance: FloatArray, labels: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Add two positives above and two below (Agresti and Coull), each with the weight there."""
    moved = (labels * tpr + 2) / (labels + 4)
    return moved, np.maximum(variance, moved * (1 - moved) / (labels + 4))


def _critical_value(covariance: FloatArray, level: float, random_state: int | None) -> float:
    """Quantile of the largest standardised deviation along the curve (sup-t)."""
    error = np.sqrt(np.diag(covariance))
    kept = error > LEAST_BAND_ERROR
    correlation = covariance[np.ix_(kept, kept)] / np.outer(error[kept], error[kept])
    values, vectors = np.linalg.eigh(correlation)
    factor = vectors * np.sqrt(np.maximum(values, 0.0))
    draws = np.random.default_rng(random_state).standard_normal((BAND_DRAWS, len(values)))
    largest = np.abs(draws @ factor.T).max(axis=1)
    return float(np.quantile(largest, level))
