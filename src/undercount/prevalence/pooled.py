"""Shares of many segments at once: what each says by itself, drawn towards what all say."""

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit, ndtri

from undercount.curve import FloatArray
from undercount.errors import InputError
from undercount.estimate import Estimate

# Shares nearer to 0 or 1 have no log odds that an error could be told on.
SMALLEST = 1e-4
# Part of a segment's squared error that is its own at least, however unsure the whole is.
OWN_PART = 0.25
WIDEST_SPREAD = 100.0
NEEDS = ("random labels", "scores that only positives reach", "segments alike in part")


@dataclass(frozen=True)
class PooledShares:
    """Hold the share of each segment, and the distribution that the segments seem to come from.

    Attributes
    ----------
    own : mapping
        What each segment says by itself, for those that were asked.
    pooled : mapping
        The same drawn towards the centre, for every segment.
    centre : Estimate
        The middle segment: the share at the mean of the log odds.
    spread : float
        Standard deviation of the true log odds between segments (τ).
    """

    own: Mapping[Hashable, Estimate] = field(repr=False)
    pooled: Mapping[Hashable, Estimate] = field(repr=False)
    centre: Estimate
    spread: float


@dataclass(frozen=True)
class SegmentShare:
    """Hold one segment's share as a fitted estimator, which no evaluation refuses."""

    found: Estimate

    @property
    def unlabeled_prevalence_(self) -> float:
        """Share of positives among the unlabeled rows of the segment."""
        return self.found.value

    @property
    def confidence_level(self) -> float:
        """Of the interval."""
        return self.found.confidence_level

    def fit(self, *_rows: Any) -> Self:
        """Do nothing: it was fitted with all segments."""
        return self

    def estimate(self) -> Estimate:
        """Return the share with its interval."""
        return self.found


def pool_shares(
    own: Mapping[Hashable, Estimate],
    overall: Estimate,
    others: tuple[Hashable, ...] = (),
    *,
    confidence_level: float = 0.95,
) -> PooledShares:
    """Draw the shares of segments towards each other, as far as their errors say.

    On the log odds, estimate = truth + an error that all segments share + an error of its own;
    truths are normal with standard deviation τ. τ² is that of Paule and Mandel (1982), and the
    interval holds the errors of centre and shrinkage (Morris 1983). The error in common is that of
    `overall`: an estimator that takes the shape of scores wrongly does so in every segment, and no
    number of segments averages it away.

    Parameters
    ----------
    own : mapping
        Segment → its own estimate, with an interval.
    overall : Estimate
        Of all rows together.
    others : tuple
        Segments without an estimate of their own; they get the distribution of the others.
    confidence_level : float
        Of the intervals that come in and go out.

    Notes
    -----
    Assumes: segments differ from each other as draws from one distribution do.
    Wrong when: one segment is of another kind, and has few labels: it is drawn to the others.

    Examples
    --------
    >>> from undercount import Estimate
    >>> from undercount.prevalence.pooled import pool_shares
    >>> own = {name: Estimate(s, s / 2, 1.6 * s) for name, s in [("a", 0.1), ("b", 0.2)]}
    >>> found = pool_shares(own, Estimate(0.15, 0.12, 0.18), others=("c",))
    >>> [round(found.pooled[name].value, 2) for name in "abc"]
    [0.14, 0.14, 0.14]
    """
    if not own:
        made = dict.fromkeys(others, overall)
        return PooledShares({}, made, overall, 0.0)
    z = float(ndtri((1 + confidence_level) / 2))
    places = np.array([_on_log_odds(each, z) for each in own.values()])
    value, error = places.T
    common = _on_log_odds(overall, z)[1]
    noise = np.maximum(error**2 - common**2, OWN_PART * error**2)
    between = spread_between(value, noise)
    weight = 1 / (noise + between)
    centre = float(weight @ value / weight.sum())
    drawn = noise / (noise + between)
    places = centre + (1 - drawn) * (value - centre)
    errors = np.sqrt((1 - drawn) * noise + drawn**2 / weight.sum() + common**2)
    made = {
        name: _estimate(place, spread, z, confidence_level)
        for name, place, spread in zip(own, places, errors, strict=True)
    }
    of_centre = math.sqrt(1 / weight.sum() + common**2)
    unseen = _estimate(centre, math.hypot(of_centre, math.sqrt(between)), z, confidence_level)
    made |= dict.fromkeys(others, unseen)
    middle = _estimate(centre, of_centre, z, confidence_level)
    return PooledShares(dict(own), made, middle, math.sqrt(between))


def spread_between(value: FloatArray, noise: FloatArray) -> float:
    """Return the variance of the truths behind values of known noise (Paule and Mandel 1982).

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.prevalence.pooled import spread_between
    >>> spread_between(np.array([-1.0, 1.0]), np.array([0.5, 0.5]))  # their variance less the noise
    1.5
    """
    if len(value) != len(noise):
        raise InputError(f"one noise a value; got {len(noise)} for {len(value)}")

    def excess(between: float) -> float:
        weight = 1 / (noise + between)
        centre = weight @ value / weight.sum()
        return float(weight @ (value - centre) ** 2) - (len(value) - 1)

    if len(value) == 1 or excess(0.0) <= 0:
        return 0.0
    return (
        float(brentq(excess, 0.0, WIDEST_SPREAD, xtol=1e-12))
        if excess(WIDEST_SPREAD) < 0
        else (WIDEST_SPREAD)
    )


def _on_log_odds(found: Estimate, z: float) -> tuple[float, float]:
    """Return the log odds of a share and their error; an end at 0 or 1 tells nothing of it."""
    value = float(np.clip(found.value, SMALLEST, 1 - SMALLEST))
    low, high = max(min(found.low, value), SMALLEST), min(max(found.high, value), 1 - SMALLEST)
    down, up = logit(value) - logit(low), logit(high) - logit(value)
    if found.low <= SMALLEST and up > 0:
        down = up
    elif found.high >= 1 - SMALLEST and down > 0:
        up = down
    return float(logit(value)), float(max(down + up, SMALLEST) / (2 * z))


def _estimate(place: float, error: float, z: float, confidence_level: float) -> Estimate:
    low, value, high = expit([place - z * error, place, place + z * error]).tolist()
    slope = value * (1 - value)
    return Estimate(value, low, high, slope * error, confidence_level, NEEDS, "pooled")
