"""Shares of many segments at once: what each says by itself, drawn towards what all say."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy.special import expit, logit, ndtri

from undercount.assume.segments import PooledShares
from undercount.estimate import Estimate
from undercount.infer.random_effects import spread_between
from undercount.infer.shared_labels import LEAST_LOG_ODDS_SHARE, LabelPart
from undercount.prevalence.low_end import SCORES_ALONE

# Labels times the variance of the log odds by chance, as simulated segments have it.
CHANCE = 4.0
NEEDS = ("random labels", SCORES_ALONE, "segments alike in part")


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
    labels: Mapping[Hashable, float],
    overall: Estimate,
    others: tuple[Hashable, ...] = (),
    *,
    confidence_level: float = 0.95,
) -> PooledShares:
    """Draw the shares of segments towards each other, as far as the chance of their labels says.

    On the log odds a segment's estimate has a variance of about 4 / labels by chance, and truths
    are normal with standard deviation τ; τ² is that of Paule and Mandel (1982), the shrinkage that
    of Morris (1983). Most of the error of a share is none of chance: an estimator that takes the
    shape of scores wrongly does so in every segment, and no number of segments averages it away.
    So the value is drawn, and the interval stays the segment's own, made to hold the value.

    Parameters
    ----------
    own : mapping
        Segment → its own estimate, with an interval.
    labels : mapping
        Segment → its (effective) number of labels.
    overall : Estimate
        Of all rows together; the answer where no segment has one.
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
    >>> from undercount.assume.random_labels.segments.pooled import pool_shares
    >>> own = {name: Estimate(s, s / 2, 1.6 * s) for name, s in [("a", 0.1), ("b", 0.14)]}
    >>> found = pool_shares(own, {"a": 25, "b": 25}, Estimate(0.12, 0.1, 0.14), others=("c",))
    >>> [round(found.pooled[name].value, 2) for name in "abc"]
    [0.12, 0.12, 0.12]
    """
    if not own:
        return PooledShares({}, dict.fromkeys(others, overall), overall, 0.0)
    z = float(ndtri((1 + confidence_level) / 2))
    value, down, up = np.array([_on_log_odds(estimate, z) for estimate in own.values()]).T
    noise = np.array([CHANCE / labels[name] for name in own])
    between = spread_between(value, noise)
    weight = 1 / (noise + between)
    centre, of_centre = float(weight @ value / weight.sum()), 1 / float(weight.sum())
    drawn = noise / (noise + between)
    places = expit(centre + (1 - drawn) * (value - centre)).tolist()
    pooled = {
        name: replace(
            alone, value=place, low=min(alone.low, place), high=max(alone.high, place),
            needs=NEEDS, method="pooled",
        )
        for (name, alone), place in zip(own.items(), places, strict=True)
    }  # fmt: skip
    # The centre is no better known than a segment of the middle; one without labels spreads too.
    sides = [math.sqrt(float(weight @ side**2) * of_centre) for side in (down, up)]
    unseen = [math.sqrt(side**2 + between) for side in sides]
    pooled |= dict.fromkeys(others, _estimate(centre, unseen, z, confidence_level))
    middle = _estimate(centre, sides, z, confidence_level)
    if overall.low <= 0:  # scores that leave a share of 0 possible do so of every segment unseen
        middle = replace(middle, low=0.0)
        pooled |= {name: replace(pooled[name], low=0.0) for name in others}
    kept = (1 - drawn).tolist()
    shrunk = {
        name: LabelPart(*part)
        for name, part in zip(own, zip(noise.tolist(), kept, strict=True), strict=True)
    }
    return PooledShares(dict(own), pooled, middle, math.sqrt(between), shrunk)


def _on_log_odds(found: Estimate, z: float) -> tuple[float, float, float]:
    """Return the log odds of a share and their error to either side."""
    value = float(np.clip(found.value, LEAST_LOG_ODDS_SHARE, 1 - LEAST_LOG_ODDS_SHARE))
    low, high = (
        max(min(found.low, value), LEAST_LOG_ODDS_SHARE),
        min(max(found.high, value), 1 - LEAST_LOG_ODDS_SHARE),
    )
    down, up = (
        float(distance) / z for distance in (logit(value) - logit(low), logit(high) - logit(value))
    )
    return float(logit(value)), max(down, LEAST_LOG_ODDS_SHARE), max(up, LEAST_LOG_ODDS_SHARE)


def _estimate(place: float, sides: Sequence[float], z: float, confidence_level: float) -> Estimate:
    low, value, high = expit([place - z * sides[0], place, place + z * sides[1]]).tolist()
    low = 0.0 if low <= LEAST_LOG_ODDS_SHARE * (1 + LEAST_LOG_ODDS_SHARE) else low
    error = value * (1 - value) * (sides[0] + sides[1]) / 2
    return Estimate(value, low, high, error, confidence_level, NEEDS, "pooled")
