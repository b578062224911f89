"""Intervals of a selection model's metrics: delta method, and profile of the error correlation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import ndtri

from undercount.assume.biprobit import LIMIT
from undercount.assume.latent import HiddenModel
from undercount.curve import Interval, OperatingCurve
from undercount.errors import InputError
from undercount.rates import FloatArray, metric_names

CURVE_METRICS = ("roc_auc", "prevalence", "lift_auc", "average_precision", "correlation")
SIGNED = {"informedness", "mcc", "kappa", "correlation"}
POSITIVE = {"lift", "lee_liu", "positive_likelihood_ratio", "negative_likelihood_ratio"}
COARSE = 17
FINE = 15
HALVINGS = 6


class Reader(Protocol):
    """Whatever reads metrics with their variance."""

    @property
    def curve(self) -> OperatingCurve:
        """The whole curve."""

    def value(self, metric: str, threshold: float | None) -> float:
        """Value of a metric."""

    def variance(self, metric: str, threshold: float | None) -> float:
        """Variance of a metric."""

    def roc(self, grid: FloatArray) -> tuple[FloatArray, FloatArray]:
        """True-positive rates at false-positive rates, and their covariance."""

    def effective_labels(self, grid: FloatArray) -> FloatArray:
        """Count the labelled positives that the rows beyond each point are worth."""


class Span(NamedTuple):
    """Hold a value, its standard error and its interval."""

    value: float
    low: float
    high: float
    standard_error: float


class Scale(NamedTuple):
    """A transformation on which a metric's error is closer to normal."""

    forward: Callable[[float], float]
    backward: Callable[[float], float]
    slope: Callable[[float], float]


def _logit(value: float) -> float:
    return float(np.log(value) - np.log1p(-value))


LOGIT = Scale(_logit, lambda x: float(1 / (1 + np.exp(-x))), lambda v: 1 / (v * (1 - v)))
FISHER = Scale(
    lambda v: float(np.arctanh(v)), lambda x: float(np.tanh(x)), lambda v: 1 / (1 - v * v)
)
LOG = Scale(lambda v: float(np.log(v)), lambda x: float(np.exp(x)), lambda v: 1 / v)
PLAIN = Scale(lambda v: v, lambda x: x, lambda _: 1.0)


def read_metric(metric: str, threshold: float | None) -> None:
    """Refuse a metric that does not exist, or a threshold missing or too much."""
    known = [*CURVE_METRICS, "tpr", "fpr", *metric_names()]
    if metric not in known:
        raise InputError(f"metric must be one of {', '.join(known)}; got {metric!r}")
    if (threshold is None) != (metric in CURVE_METRICS):
        rule = "takes no threshold" if metric in CURVE_METRICS else "needs a threshold"
        raise InputError(f"{metric} {rule}; got threshold={threshold}")
    if threshold is not None and not np.isfinite(threshold):
        raise InputError(f"threshold must be a finite number; got {threshold}")


def metric_scale(metric: str, value: float) -> Scale:
    """Choose the scale of a metric; at the very end of its range, none."""
    if metric in SIGNED:
        return FISHER if -1 < value < 1 else PLAIN
    if metric in POSITIVE:
        return LOG if value > 0 else PLAIN
    return LOGIT if 0 < value < 1 else PLAIN


def delta_span(reader: Reader, metric: str, threshold: float | None, level: float) -> Span:
    """Interval from the delta method on the metric's own scale."""
    value = reader.value(metric, threshold)
    error = float(np.sqrt(reader.variance(metric, threshold)))
    scale = metric_scale(metric, value)
    reach = float(ndtri(0.5 + level / 2)) * error * scale.slope(value)
    centre = scale.forward(value)
    return Span(value, scale.backward(centre - reach), scale.backward(centre + reach), error)


@dataclass(frozen=True, eq=False)
class ProfilePoint:
    """Hold a fit at a given error correlation and twice the log-likelihood it loses."""

    error_correlation: float
    loss: float
    model: HiddenModel


def profile_points(model: HiddenModel, level: float) -> list[ProfilePoint]:
    """Fits at error correlations that the data do not reject at a confidence level.

    The whole range is scanned, because the profile may have several humps.
    """
    limit = float(ndtri(0.5 + level / 2)) ** 2
    best = model.fit

    def fit(angle: float, start: FloatArray) -> ProfilePoint:
        fitted = model.at_correlation(float(np.tanh(angle)), start)
        loss = 2 * (best.log_likelihood - fitted.fit.log_likelihood)
        return ProfilePoint(float(np.tanh(angle)), max(loss, 0.0), fitted)

    peak = fit(float(np.arctanh(best.error_correlation)), best.coefficients)
    coarse = [peak]
    for side in (-1.0, 1.0):
        latest = peak
        for angle in np.linspace(-1, 1, COARSE) * np.arctanh(LIMIT) * side:
            if side * angle <= side * np.arctanh(peak.error_correlation):
                continue
            try:
                latest = fit(float(angle), latest.model.fit.coefficients)
            except InputError:  # no maximum so far out: the range ends here
                break
            coarse.append(latest)
    coarse.sort(key=lambda point: point.error_correlation)
    ends = _accepted_ends(coarse, limit, fit)
    inner = np.linspace(np.arctanh(ends[0]), np.arctanh(ends[1]), FINE)
    start = peak.model.fit.coefficients
    points = [peak, *(fit(float(angle), start) for angle in inner)]
    kept = [point for point in points if point.loss <= limit]
    return sorted(kept, key=lambda point: point.error_correlation)


def _accepted_ends(
    coarse: Sequence[ProfilePoint],
    limit: float,
    fit: Callable[[float, FloatArray], ProfilePoint],
) -> tuple[float, float]:
    """Outermost accepted correlations, refined by halving towards the rejected neighbour."""
    ends = []
    for ordered in (list(coarse), list(coarse)[::-1]):
        place = next(i for i, point in enumerate(ordered) if point.loss <= limit)
        inside = ordered[place]
        if place > 0:
            outside = float(np.arctanh(ordered[place - 1].error_correlation))
            for _ in range(HALVINGS):
                middle = 0.5 * (outside + float(np.arctanh(inside.error_correlation)))
                point = fit(middle, inside.model.fit.coefficients)
                if point.loss <= limit:
                    inside = point
                else:
                    outside = middle
        ends.append(inside.error_correlation)
    return ends[0], ends[1]


def profile_span(
    points: Sequence[tuple[float, Reader]],
    best: Reader,
    metric: str,
    threshold: float | None,
    level: float,
) -> Span:
    """Interval of a metric that follows the likelihood along the error correlation.

    Along r the likelihood is used as it is; across r, where it is close to a parabola, by the
    delta method: x belongs to the interval if some r has loss(r) + ((x - g(r)) / se(r))² within
    the limit.

    Parameters
    ----------
    points : sequence of (loss, reader)
        Accepted fits.
    best : reader
        At the maximum.
    """
    limit = float(ndtri(0.5 + level / 2)) ** 2
    value = best.value(metric, threshold)
    lows, highs = [value], [value]
    for loss, reader in points:
        here = reader.value(metric, threshold)
        scale = metric_scale(metric, here)
        error = float(np.sqrt(reader.variance(metric, threshold))) * scale.slope(here)
        reach = error * float(np.sqrt(max(limit - loss, 0.0)))
        lows.append(scale.backward(scale.forward(here) - reach))
        highs.append(scale.backward(scale.forward(here) + reach))
    low, high = float(min(lows)), float(max(highs))
    return Span(value, low, high, (high - low) / (2 * float(np.sqrt(limit))))


def profile_interval(points: Sequence[ProfilePoint]) -> Interval:
    """Error correlations that the likelihood does not reject."""
    return Interval(points[0].error_correlation, points[-1].error_correlation)
