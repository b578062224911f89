"""Whether segments differ, which of them stand out, and whether there is a trend."""

import datetime as dt
import math
import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import chi2

from undercount.curve import FloatArray
from undercount.estimate import Estimate, Interval, from_scale, to_scale
from undercount.infer.random_effects import spread_between
from undercount.metric_facts import FACTS, Scale

# 2024, 2024-03, 2024-03-09, 2024-W09, 2024-Q1, 202403 and so on.
TIME = re.compile(r"\d{4}([-/ ]?[QWM]?\d{1,2}([-/ ]?\d{1,2}([T ].*)?)?)?", re.IGNORECASE)
MIN_SEGMENTS = 2
FEWEST_OF_TREND = 3
SEGMENT_BLOCK = 256


@dataclass(frozen=True)
class Heterogeneity:
    """Hold whether segments differ more than their errors let them.

    Attributes
    ----------
    statistic : float
        Cochran's Q.
    p_value : float
        Against "all segments are alike": twice the smaller of two, that of Q, which sees many small
        differences, and that of the largest difference of `differences` (Šidák). So none of these
        is clear where segments are not said to differ.
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
        Segment less the mean of the others; the interval holds for all segments at once, beside the
        test of Q (Šidák at half the risk).
    adjusted_p_value : float
        Two-sided, adjusted for the number of segments (closed test: not below the p-value that
        they differ at all, then Holm with Shaffer's numbers). Where the interval leaves 0 out,
        this is below the risk.
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
    scale: Scale

    def back(self, value: Any) -> Any:
        """Return values in units of the metric."""
        return from_scale(value, self.scale)


def read_points(
    metric: str, found: Sequence[tuple[Hashable, Estimate]], scale: Scale | None = None
) -> _Points:
    """Put estimates on the metric's scale, or another, where errors are nearly normal."""
    scale = FACTS[metric].scale if scale is None else scale
    level = found[0][1].confidence_level if found else 0.95
    three = np.array(
        [(estimate.value, estimate.low, estimate.high) for _, estimate in found]
    ).reshape(-1, 3)
    z = ndtri((1 + np.array([estimate.confidence_level for _, estimate in found])) / 2)
    value, low, high = to_scale(three, scale).T
    with np.errstate(invalid="ignore"):  # of infinite values and ends, which are left out
        sides = np.stack([value - low, high - value])
    seen = np.isfinite(sides)
    error = np.where(seen, sides, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1) / z
    kept = np.isfinite(value) & (np.where(seen, sides, 0.0).max(axis=0) > 0)
    segments = [found[place][0] for place in np.flatnonzero(kept).tolist()]
    return _Points(segments, value[kept], error[kept], metric, level, scale)


@dataclass(frozen=True, eq=False)
class SegmentTests:
    """Hold what is asked of the values of segments, each question answered once."""

    points: _Points

    @cached_property
    def heterogeneity(self) -> Heterogeneity:
        """Whether they differ more than chance explains."""
        return find_heterogeneity(self.points)

    @cached_property
    def deviations(self) -> tuple[Deviation, ...]:
        """How each differs from the mean of the others."""
        return find_deviations(self.points, self.heterogeneity)

    @cached_property
    def trend(self) -> Trend | None:
        """The line through ordered segments."""
        return find_trend(self.points)


@dataclass(frozen=True)
class _Gaps:
    """Hold what each segment lies above the mean of the others, on the metric's scale.

    The others spread among themselves as much as they seem to, without the one they are compared
    with (DerSimonian and Laird 1986): an odd one does not hide behind the spread it makes, and
    those beside it are not odd because of it.
    """

    others: FloatArray
    gap: FloatArray
    error: FloatArray

    @classmethod
    def of(cls, points: _Points) -> "_Gaps":
        square = points.error**2
        place = points.value - points.value.mean()  # sums of squares then cancel less
        between = _spread_of_others(place, 1 / square)
        others, error = np.empty(len(place)), np.empty(len(place))
        for start in range(0, len(place), SEGMENT_BLOCK):  # a table of all against all may be large
            some = slice(start, start + SEGMENT_BLOCK)
            weight = 1 / (square + between[some, None])
            weight[np.arange(len(weight)), np.arange(len(place))[some]] = 0.0
            rest = weight.sum(axis=1)
            others[some] = weight @ place / rest
            error[some] = np.sqrt(square[some] + 1 / rest)
        return cls(others + points.value.mean(), place - others, error)

    @property
    def p_values(self) -> FloatArray:
        """Of each by itself, two-sided."""
        return np.asarray(2 * ndtr(-np.abs(self.gap) / self.error))


def _spread_of_others(value: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the variance between the segments beside each one, from sums without it."""
    rest, squares = weight.sum() - weight, (weight**2).sum() - weight**2
    mean = (weight @ value - weight * value) / rest
    statistic = weight @ value**2 - weight * value**2 - rest * mean**2
    room = rest - squares / rest
    over = statistic - (len(value) - 2)
    spread = np.divide(over, room, out=np.zeros_like(over), where=room > 0)
    return np.maximum(spread, 0.0) if len(value) > MIN_SEGMENTS else np.zeros_like(over)


def find_heterogeneity(points: _Points) -> Heterogeneity:
    """Compare the spread of the values with their errors, as a whole and by the largest difference.

    Errors that segments have in common, as those of a pooled share, make it cautious: it finds
    too few differences, not too many.
    """
    count = len(points.value)
    if count < MIN_SEGMENTS:
        return Heterogeneity(points.metric, math.nan, math.nan, math.nan, count)
    weight = 1 / points.error**2
    centre = float(weight @ points.value / weight.sum())
    statistic = float(weight @ (points.value - centre) ** 2)
    reach = math.sqrt(spread_between(points.value, points.error**2))
    ends = points.back(np.array([centre - reach, centre + reach]))
    p_value = float(chi2.sf(statistic, count - 1))
    if count > MIN_SEGMENTS:  # two segments have one difference, which Q is
        largest = -math.expm1(count * math.log1p(-float(_Gaps.of(points).p_values.min())))
        p_value = min(1.0, 2 * min(p_value, largest))
    return Heterogeneity(points.metric, statistic, p_value, float(np.ptp(ends)) / 2, count)


def find_deviations(
    points: _Points, whole_test: Heterogeneity | None = None
) -> tuple[Deviation, ...]:
    """Compare each segment with the mean of the others, adjusted for their number."""
    count = len(points.value)
    if count < MIN_SEGMENTS:
        return ()
    whole = (whole_test or find_heterogeneity(points)).p_value
    gaps, level = _Gaps.of(points), points.confidence_level
    own_level = level if count == MIN_SEGMENTS else ((1 + level) / 2) ** (1 / count)
    reach = float(ndtri((1 + own_level) / 2)) * gaps.error
    middle = points.back(gaps.others)
    value, low, high = (points.back(points.value + side) - middle for side in (0.0, -reach, reach))
    adjusted = np.maximum(adjust_shaffer(gaps.p_values), whole)
    columns = zip(points.segments, value, low, high, adjusted, strict=True)
    return tuple(
        Deviation(
            segment,
            points.metric,
            Estimate(float(gap), float(least), float(most), math.nan, level, (), "Šidák"),
            float(p_value),
        )
        for segment, gap, least, most, p_value in columns
    )


def adjust_shaffer(p_values: FloatArray) -> FloatArray:
    """Adjust p-values of segments against the others, some of which differ (Shaffer 1986).

    Holm's steps, but of K segments no more than K - 2 equal the mean of the others if not all do:
    where one lies above it, another lies below.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.read.segments.spread_tests import adjust_shaffer
    >>> adjust_shaffer(np.array([0.01, 0.02, 0.5, 0.3])).tolist()
    [0.02, 0.04, 0.6, 0.6]
    """
    count = len(p_values)
    order = np.argsort(p_values)
    left = np.minimum(np.arange(count, 0, -1), max(count - 2, 1))
    adjusted = np.empty(count)
    adjusted[order] = np.minimum(np.maximum.accumulate(p_values[order] * left), 1.0)
    return adjusted


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
    >>> from undercount.read.segments.spread_tests import is_ordered
    >>> is_ordered(["2024-01", "2024-02"]), is_ordered(["DE", "FR"]), is_ordered([1, 2, None])
    (True, False, True)
    """
    present = [segment for segment in segments if segment is not None]
    if all(isinstance(segment, str) for segment in present):
        return bool(present) and all(TIME.fullmatch(str(segment)) for segment in present)
    kinds = (int, float, dt.date)
    return all(isinstance(segment, kinds) and not isinstance(segment, bool) for segment in present)


def positions(segments: Sequence[Hashable]) -> FloatArray:
    """Place ordered segments between 0 and 1: dates and numbers by value, text by its order."""
    if all(isinstance(segment, int | float) for segment in segments):
        place = np.array(segments, float)
    elif all(isinstance(segment, dt.date) for segment in segments):
        place = np.array([_days(segment) for segment in segments])
    else:
        place = np.arange(len(segments), dtype=float)
    return np.asarray((place - place[0]) / (place[-1] - place[0]))


def _days(when: Any) -> float:
    seconds = when.hour * 3600 + when.minute * 60 if isinstance(when, dt.datetime) else 0
    return float(when.toordinal()) + seconds / 86400
