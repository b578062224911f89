"""Threshold metrics from six counts, with their gradients; one threshold, or many at once."""

import itertools
import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from undercount.assume.mixture import MixtureDesign
from undercount.counts import ScoreCounts
from undercount.curve import FloatArray, Rates, read_metric
from undercount.errors import InputError, keep_scores
from undercount.read.intervals.variance import HeadRows, Influence, Spread

# Rates are kept this far (in rows) from 0 and 1 where a slope is taken.
_HALF_ROW = 0.5
_RELATIVE_STEP = 1e-4
# The counts at the threshold that was last asked for: metrics are read one by one.
_LAST: "WeakKeyDictionary[ScoreCounts, tuple[float, HeadCounts]]" = WeakKeyDictionary()


@dataclass(frozen=True)
class RatePoint(Rates[FloatArray]):
    """Hold rates and prevalence as arrays of any shape; every metric is a property."""

    tpr: FloatArray
    fpr: FloatArray
    prevalence: Any
    flagged: Any = None
    continued: ClassVar[bool] = True

    def metric(self, name: str, beta: float = 1.0) -> FloatArray:
        """Read a metric by its name; 0/0 is NaN without a warning."""
        return read_metric([self], name, beta)[0]

    def capped(self) -> "RatePoint":
        """Return the nearest rates inside [0, 1]."""
        return RatePoint(np.clip(self.tpr, 0, 1), np.clip(self.fpr, 0, 1), self.prevalence)


@dataclass(frozen=True, eq=False)
class HeadCounts:
    """Hold the rows predicted positive at one threshold or many, and the design they come from.

    `heads` has shape (3, ...): labelled positive, unlabeled, labelled negative.
    """

    heads: NDArray[np.float64]
    design: MixtureDesign
    # What `threshold_intervals` found of them: many metrics ask for the same limits.
    limits: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    def at(cls, counts: ScoreCounts, design: MixtureDesign, threshold: float) -> "HeadCounts":
        """Count the rows of each kind with at least a score; the last answer is kept."""
        known = _LAST.get(counts)
        if known is None or known[0] != threshold or known[1].design is not design:
            heads = cls(_heads(counts, threshold), design)
            _LAST[counts] = known = threshold, heads
        return known[1]

    @cached_property
    def sizes(self) -> FloatArray:
        """All rows of each kind, in the shape of the heads."""
        return np.asarray(fit(self.design.sizes, self.heads) + 0.0 * self.heads)

    @cached_property
    def rates(self) -> FloatArray:
        """Share predicted positive of each kind; 0 where there are no rows."""
        sizes = self.sizes
        return np.divide(self.heads, sizes, out=np.zeros(sizes.shape), where=sizes > 0)

    def at_rates(self, rates: FloatArray) -> "HeadCounts":
        """Return the same rows with other shares predicted positive."""
        return HeadCounts(rates * self.sizes, self.design)

    def with_sizes(self, sizes: FloatArray) -> "HeadCounts":
        """Return other numbers of rows with the same shares predicted positive."""
        return HeadCounts(self.rates * sizes, replace(self.design, sizes=sizes))

    def point(self) -> RatePoint:
        """Return the recovered rates, which chance may push outside [0, 1]."""
        return self._point

    @cached_property
    def _point(self) -> RatePoint:
        mixing = self.design.mixing
        tpr, fpr, flagged = mixing.exact_rates(*self.rates)
        return RatePoint(tpr, fpr, mixing.prevalence, flagged)

    @cached_property
    def smoothed(self) -> "HeadCounts":
        """The counts half a row away from 0 and from all, where no rate is 0 or 1."""
        sizes, units = self.sizes, fit(self.design.units, self.heads)
        share = np.where(sizes > 0, (self.heads + _HALF_ROW * units) / (sizes + units), 0.0)
        return self.at_rates(share)

    @cached_property
    def smooth_point(self) -> RatePoint:
        """The rates at which slopes are taken, half a row inside (0, 1)."""
        raw, total = self.smoothed.point(), self.design.sizes.sum(axis=0)
        prevalence = np.asarray(raw.prevalence, dtype=float)
        return RatePoint(
            _inside(raw.tpr, _HALF_ROW / (np.maximum(prevalence * total, 1.0) + 1)),
            _inside(raw.fpr, _HALF_ROW / (np.maximum((1 - prevalence) * total, 1.0) + 1)),
            prevalence,
        )


def _heads(counts: ScoreCounts, threshold: float) -> FloatArray:
    stop = int(np.searchsorted(-counts.score, -threshold, side="right"))
    exact = stop > 0 and counts.score[stop - 1] == threshold
    if stop < len(counts.score) and counts.merged[stop] and not exact:
        raise InputError(
            f"threshold {threshold} lies inside a merged cell of compact counts, where only sums "
            "were kept; "
            f"{keep_scores(f'pass knots=[{threshold}] when counting, or compact=False')}"
        )
    kinds = (counts.positive, counts.unlabeled, counts.negative)
    # Part of the weights may sum up in another order than all of them, to another number.
    heads = [cells[: stop if cells[stop:].any() else None].sum() for cells in kinds]
    return np.array(heads)


def fit(weights: Any, like: FloatArray) -> Any:
    """Give weights of shape (3,) or (3, ...) the dimensions of the heads."""
    array = np.asarray(weights)
    return array.reshape(array.shape + (1,) * (like.ndim - array.ndim))


def head_spread(counts: HeadCounts, name: str, beta: float = 1.0) -> Spread:
    """Return variance and slopes of a metric by the delta method, half a row from the edges."""
    by_tpr, by_fpr, by_prevalence = _slopes(counts.smooth_point, name, beta)
    influence = Influence(0.0, positive=by_tpr, negative=by_fpr, prevalence=by_prevalence)
    return Spread(counts.design, HeadRows(counts.smoothed.rates), influence)


def rate_error(counts: HeadCounts, rate: str) -> float:
    """Return the standard error of the "tpr" or "fpr" at one threshold."""
    return math.sqrt(float(head_spread(counts, rate).variance))


def _inside(rate: FloatArray, margin: Any) -> FloatArray:
    return np.clip(rate, margin, 1 - margin)


def _slopes(point: RatePoint, name: str, beta: float) -> list[FloatArray]:
    """Return derivatives by the two rates and the prevalence, by central differences."""
    arguments = np.broadcast_arrays(
        *(np.asarray(v, dtype=float) for v in (point.tpr, point.fpr, point.prevalence))
    )
    steps = [_RELATIVE_STEP * np.minimum(argument, 1 - argument) for argument in arguments]
    moved = []
    for place, sign in itertools.product(range(3), (1, -1)):
        ends = list(arguments)
        ends[place] = arguments[place] + sign * steps[place]
        moved.append(RatePoint(*ends))
    values = read_metric(moved, name, beta)
    with np.errstate(invalid="ignore", divide="ignore"):
        return [
            np.where(step > 0, (up - down) / (2 * step), 0.0)
            for step, up, down in zip(steps, values[::2], values[1::2], strict=True)
        ]
