"""Whether segments differ, which of them stand out, and whether there is a trend."""

import datetime as dt
import math
import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import chi2

from undercount.curve import FloatArray
from undercount.estimate import Estimate, Interval, from_scale, to_scale
from undercount.metric_facts import FACTS
from undercount.prevalence.pooled import spread_between
from undercount.read.differences import adjust_holm

# 2024, 2024-03, 2024-03-09, 2024-W09, 2024-Q1, 202403 and so on.
TIME = re.compile(r"\d{4}([-/ ]?[QWM]?\d{1,2}([-/ ]?\d{1,2}([T ].*)?)?)?", re.IGNORECASE)
FEWEST = 2
FEWEST_OF_TREND = 3


@dataclass(frozen=True)
class Heterogeneity:
    """Hold whether segments differ more than their errors let them.

    Attributes
    ----------
    p_value : float
        Of Cochran's Q, against "all segments are alike".
    spread : float
        Standard deviation of the true values between segments, in units of the metric at its mean.
    n_segments : int
        How many segments have a usable interval.
    """

    metric: str
    statistic: float
    p_value: float
    spread: float
    n_segments: int


@dataclass(frozen=True)
class Deviation:
    """Hold how one segment differs from the others.

    Attributes
    ----------
    difference : Estimate
        Segment less the mean of the others; the interval holds for all segments at once (Šidák).
    adjusted_p_value : float
        Two-sided, adjusted for the number of segments (Holm).
    """

    segment: Hashable
    metric: str
    difference: Estimate
    adjusted_p_value: float


@dataclass(frozen=True)
class Trend:
    """Hold the line through a metric over ordered segments.

    Attributes
    ----------
    first, last : float
        The line at the first and the last segment.
    change : Estimate
        Last less first.
    """

    metric: str
    first: float
    last: float
    change: Estimate
    p_value: float


@dataclass(frozen=True)
class _Points:
    """Hold segments' values and errors on the scale of the metric; unusable ones are left out."""

    segments: list[Hashable]
    value: FloatArray
    error: FloatArray
    metric: str
    confidence_level: float

    @property
    def scale(self) -> Any:
        return FACTS[self.metric].scale

    def back(self, value: Any) -> Any:
        """Return values in units of the metric."""
        return from_scale(value, self.scale)


def read_points(metric: str, found: Sequence[tuple[Hashable, Estimate]]) -> _Points:
    """Put estimates on the metric's scale, where errors are nearly normal."""
    level = found[0][1].confidence_level if found else 0.95
    three = np.array([(each.value, each.low, each.high) for _, each in found]).reshape(-1, 3)
    z = ndtri((1 + np.array([each.confidence_level for _, each in found])) / 2)
    value, low, high = to_scale(three, FACTS[metric].scale).T
    with np.errstate(invalid="ignore"):  # of infinite values and ends, which are left out
        sides = np.stack([value - low, high - value])
    seen = np.isfinite(sides)
    error = np.where(seen, sides, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1) / z
    kept = np.isfinite(value) & (np.where(seen, sides, 0.0).max(axis=0) > 0)
    segments = [found[place][0] for place in np.flatnonzero(kept).tolist()]
    return _Points(segments, value[kept], error[kept], metric, level)


def find_heterogeneity(points: _Points) -> Heterogeneity:
    """Compare the spread of the values with their errors (Cochran's Q).

    Errors that segments have in common, as those of a pooled share, make it cautious: it finds
    too few differences, not too many.
    """
    count = len(points.value)
    if count < FEWEST:
        return Heterogeneity(points.metric, math.nan, math.nan, math.nan, count)
    weight = 1 / points.error**2
    centre = float(weight @ points.value / weight.sum())
    statistic = float(weight @ (points.value - centre) ** 2)
    reach = math.sqrt(spread_between(points.value, points.error**2))
    ends = points.back(np.array([centre - reach, centre + reach]))
    p_value = float(chi2.sf(statistic, count - 1))
    return Heterogeneity(points.metric, statistic, p_value, float(np.ptp(ends)) / 2, count)


def find_deviations(points: _Points) -> tuple[Deviation, ...]:
    """Compare each segment with the mean of the others, adjusted for their number."""
    count = len(points.value)
    if count < FEWEST:
        return ()
    between = spread_between(points.value, points.error**2)
    weight = 1 / (points.error**2 + between)
    rest = weight.sum() - weight
    others = ((weight @ points.value) - weight * points.value) / rest
    error = np.sqrt(points.error**2 + 1 / rest)
    p_values = 2 * ndtr(-np.abs(points.value - others) / error)
    reach = ndtri((1 + points.confidence_level ** (1 / count)) / 2)  # Šidák
    found = []
    for i, adjusted in enumerate(adjust_holm(p_values)):
        ends = points.back(
            others[i] + (points.value[i] - others[i]) + np.array([-1, 1]) * reach * error[i]
        )
        middle = float(points.back(others[i]))
        value = float(points.back(points.value[i])) - middle
        low, high = (float(end) - middle for end in ends)
        span = Estimate(value, low, high, math.nan, points.confidence_level, (), "Šidák")
        found.append(Deviation(points.segments[i], points.metric, span, float(adjusted)))
    return tuple(found)


def find_trend(points: _Points) -> Trend | None:
    """Lay a line through the values, on the metric's scale; None of fewer than three.

    Segments spread around the line as much as they seem to (random effects), so that one odd
    month is no trend.
    """
    count = len(points.value)
    if count < FEWEST_OF_TREND:
        return None
    place = positions(points.segments)
    design = np.column_stack([np.ones(count), place])

    def fit(between: float) -> tuple[FloatArray, FloatArray]:
        weight = 1 / (points.error**2 + between)
        covariance = np.asarray(np.linalg.inv(design.T @ (weight[:, None] * design)), np.float64)
        return covariance @ (design.T @ (weight * points.value)), covariance

    line, _ = fit(0.0)
    # One more is lost to the slope, which makes the spread a little small; the errors stay whole.
    line, covariance = fit(spread_between(points.value - design @ line, points.error**2))
    error = math.sqrt(covariance[1, 1])
    reach = float(ndtri((1 + points.confidence_level) / 2)) * error
    first, last = (float(points.back(line[0] + line[1] * at)) for at in (0.0, 1.0))
    steeper = [float(points.back(line[0] + line[1] + side)) - first for side in (-reach, reach)]
    span = Interval(min(steeper), max(steeper))
    change = Estimate(
        last - first, span.low, span.high, math.nan, points.confidence_level, (), "trend"
    )
    p_value = float(2 * ndtr(-abs(line[1]) / error))
    return Trend(points.metric, first, last, change, p_value)


def is_ordered(segments: Sequence[Hashable]) -> bool:
    """Tell whether segments stand in an order: numbers, dates, or text like 2024-03.

    Examples
    --------
    >>> from undercount.read.segment_tests import is_ordered
    >>> is_ordered(["2024-01", "2024-02"]), is_ordered(["DE", "FR"]), is_ordered([1, 2, None])
    (True, False, True)
    """
    held = [each for each in segments if each is not None]
    if all(isinstance(each, str) for each in held):
        return bool(held) and all(TIME.fullmatch(str(each)) for each in held)
    kinds = (int, float, dt.date)
    return all(isinstance(each, kinds) and not isinstance(each, bool) for each in held)


def positions(segments: Sequence[Hashable]) -> FloatArray:
    """Place ordered segments between 0 and 1: dates and numbers by value, text by its order."""
    if all(isinstance(each, int | float) for each in segments):
        place = np.array(segments, float)
    elif all(isinstance(each, dt.date) for each in segments):
        place = np.array([_days(each) for each in segments])
    else:
        place = np.arange(len(segments), dtype=float)
    return np.asarray((place - place[0]) / (place[-1] - place[0]))


def _days(when: Any) -> float:
    seconds = when.hour * 3600 + when.minute * 60 if isinstance(when, dt.datetime) else 0
    return float(when.toordinal()) + seconds / 86400
