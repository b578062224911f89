"""A number with its interval, what it rests on, and the scales on which intervals are made."""

import math
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from undercount.errors import InputError, named, real_number
from undercount.metric_facts import RANDOM_AUDIT, SCALE_RANGES, Scale

FloatArray = NDArray[np.float64]


def check_confidence_level(confidence_level: float) -> float:
    """Return a confidence level, a fraction say, as a float; refuse what no interval can have."""
    level = real_number(confidence_level)
    if not 0 < level < 1:
        raise InputError(f"{named('confidence_level')} must be in (0, 1); got {confidence_level!r}")
    return level


@dataclass(frozen=True)
class Interval:
    """Hold the two ends of an interval.

    Examples
    --------
    >>> from undercount import Interval
    >>> interval = Interval(0.2, 0.5)
    >>> 0.3 in interval, round(interval.width, 3)
    (True, 0.3)
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise InputError(f"an interval needs low <= high; got ({self.low}, {self.high})")

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def width(self) -> float:
        """Distance between the ends."""
        return self.high - self.low


# An interval so wide is said before its middle.
WIDE_INTERVAL = 0.3


@dataclass(frozen=True, repr=False)
class Estimate:
    """Hold a number with its interval, what it rests on, and how it was made.

    Where `range_only` is true the data leave a range and point to no value in it, so that `value`
    is NaN: of a metric that depends on a share which scores only bound from above, say.

    Examples
    --------
    >>> from undercount import Estimate
    >>> estimate = Estimate(0.7, 0.6, 0.8, 0.05, 0.95, ("random labels",), "delta")
    >>> float(estimate), 0.65 in estimate.interval
    (0.7, True)
    >>> print(estimate)
    0.7 (0.6 to 0.8 at 95 %; needs random labels)
    >>> print(estimate.without_value())
    0.6 to 0.8 (a range at 95 %; needs random labels)
    """

    value: float
    low: float
    high: float
    standard_error: float = float("nan")
    confidence_level: float = 0.95
    needs: tuple[str, ...] = ()
    method: str = ""
    range_only: bool = False

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise InputError(f"low must not exceed high; got {self.low} and {self.high}")
        if self.standard_error < 0:
            raise InputError(f"standard_error must not be negative; got {self.standard_error}")

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        # A standard error of 0 would say that chance was measured; there is none, or none is known.
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        if not self.standard_error > 0:
            values.pop("standard_error")
        return f"Estimate({', '.join(f'{name}={value!r}' for name, value in values.items())})"

    def __str__(self) -> str:
        needs = ", ".join(self.needs) or "nothing"
        span = f"{self.low:.4g} to {self.high:.4g} at {self.confidence_level:.4g}"
        if 0 < self.confidence_level < 1:
            span = f"{self.low:.4g} to {self.high:.4g} at {100 * self.confidence_level:.4g} %"
        if self.range_only:
            ends, level = span.split(" at ")
            return f"{ends} (a range at {level}; needs {needs})"
        return f"{self.value:.4g} ({span}; needs {needs})"

    def without_value(self) -> "Estimate":
        """Return the range alone, for data that point to no value in it."""
        return replace(self, value=math.nan, standard_error=math.nan, range_only=True)

    @property
    def exists(self) -> bool:
        """Whether there is a value, known or not: it is not 0/0."""
        return self.range_only or self.open or not math.isnan(self.value)

    @property
    def wide(self) -> bool:
        """Whether the ends lie so far apart that the value between them says little."""
        size = self.high if math.isnan(self.value) else self.value
        least = WIDE_INTERVAL * max(abs(size), 1.0)  # a lift, say, passes 1
        return self.high - self.low >= least  # never of NaN

    @property
    def open(self) -> bool:
        """Whether a value exists, and reviews are too few to say anything of it."""
        has_ends = not math.isnan(self.low)
        by_verdicts = "reviews" in self.needs or RANDOM_AUDIT in self.needs
        return math.isnan(self.value) and has_ends and by_verdicts

    @property
    def interval(self) -> Interval:
        """The interval alone."""
        return Interval(self.low, self.high)


# An interval no wider than this is a point; its ends move outward by more than sums of rows round,
# which nobody reads.
POINT, OUTWARD = 1e-9, 1e-12


def round_outward(
    low: float, high: float, least: float = -math.inf, most: float = math.inf
) -> tuple[float, float]:
    """Move the ends of an interval that is but a point outward, so that they hold the truth.

    Where nothing is left to chance (every row reviewed, say) an estimate is the truth, but for the
    rounding of its sums: an interval from a number to itself would miss it.

    Parameters
    ----------
    low, high : float
        The ends.
    least, most : float
        The range of the metric, which they stay in.

    Examples
    --------
    >>> from undercount.estimate import round_outward
    >>> low, high = round_outward(0.1 + 0.2, 0.1 + 0.2)
    >>> low < 0.3 < high, round_outward(1.0, 1.0, 0.0, 1.0)[1], round_outward(0.2, 0.4)
    (True, 1.0, (0.2, 0.4))
    """
    if not high - low <= POINT:  # of NaN too
        return low, high
    reach = OUTWARD * max(1.0, abs(low), abs(high))
    return max(low - reach, min(least, low)), min(high + reach, max(most, high))


def to_scale(value: ArrayLike, scale: Scale) -> FloatArray:
    """Map a metric to the whole line, on which its errors are nearly normal.

    Examples
    --------
    >>> from undercount.estimate import from_scale, to_scale
    >>> to_scale([0.5, 1.0], "logit"), from_scale(0.0, "symmetric")
    (array([ 0., inf]), array(0.))
    """
    x = np.asarray(value, dtype=float)
    if scale == "plain":
        return x
    low, high = SCALE_RANGES[scale]
    with np.errstate(divide="ignore", invalid="ignore"):
        x = np.clip(x, low, high)
        if scale == "log":
            return np.asarray(np.log(x))
        share = (x - low) / (high - low)
        return np.asarray(np.log(share) - np.log1p(-share))


def from_scale(value: ArrayLike, scale: Scale) -> FloatArray:
    """Map back."""
    x = np.asarray(value, dtype=float)
    if scale == "plain":
        return x
    low, high = SCALE_RANGES[scale]
    with np.errstate(over="ignore"):
        if scale == "log":
            return np.asarray(np.exp(x))
        return np.asarray(low + (high - low) / (1 + np.exp(-x)))


def scale_slope(value: ArrayLike, scale: Scale) -> FloatArray:
    """Return the derivative of `to_scale`."""
    x = np.asarray(value, dtype=float)
    if scale == "plain":
        return np.ones_like(x)
    low, high = SCALE_RANGES[scale]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if scale == "log":
            return np.asarray(1 / x)
        return np.asarray((high - low) / ((x - low) * (high - x)))


def delta_interval(
    centre: ArrayLike, standard_error: ArrayLike, scale: Scale, z: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Return the interval that is symmetric on the scale; it never leaves the metric's range."""
    middle = to_scale(centre, scale)
    with np.errstate(invalid="ignore"):
        half = np.asarray(z) * np.asarray(standard_error) * np.abs(scale_slope(centre, scale))
        half = np.where(np.asarray(standard_error) == 0, 0.0, half)
        return from_scale(middle - half, scale), from_scale(middle + half, scale)


def possible_interval(
    centre: ArrayLike, low: ArrayLike, high: ArrayLike, least: ArrayLike, most: ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Return an interval by the likelihood restricted to what is possible.

    An estimate x that chance pushed beyond the bound b has its largest likelihood at b. The values
    that fit nearly as well lie within x - √(z²s² + (x - b)²) on the far side: z s below b for an
    estimate at b, nearer the farther x is, and never at b itself. Cut at b instead, an interval
    loses its far end and may shrink to a point.

    Parameters
    ----------
    centre, low, high : array-like
        The unrestricted estimate and the ends of its interval, on the scale of its errors.
    least, most : array-like
        What is possible.

    Examples
    --------
    >>> from undercount.estimate import possible_interval
    >>> low, high = possible_interval(1.04, 1.01, 1.07, 0.0, 1.0)
    >>> round(float(low), 4), float(high)
    (0.99, 1.0)
    """
    x, least, most = (np.asarray(part, dtype=float) for part in (centre, least, most))
    with np.errstate(invalid="ignore"):
        over, under = np.maximum(x - most, 0.0), np.maximum(least - x, 0.0)
        low = np.where(over > 0, x - np.hypot(x - low, over), low)
        high = np.where(under > 0, x + np.hypot(high - x, under), high)
    return np.clip(low, least, most), np.clip(high, least, most)
