"""Threshold metrics from six counts, for one threshold or for many at once."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from undercount.curve import FloatArray, Rates
from undercount.errors import collect_warnings
from undercount.read.intervals.design import LABELLED, NEGATIVE, UNLABELED, Design
from undercount.read.intervals.variance import HeadRows, Influence, Spread

# Rates are kept this far (in rows) from 0 and 1 where a slope is taken.
_HALF_ROW = 0.5
_RELATIVE_STEP = 1e-4


@dataclass(frozen=True)
class RatePoint(Rates[FloatArray]):
    """Hold rates and prevalence as arrays of any shape; every metric is a property.

    `flagged` is the share of all rows predicted positive if it was counted; from recovered rates
    it would be 0 or 1 only up to rounding.
    """

    tpr: FloatArray
    fpr: FloatArray
    prevalence: Any
    flagged: Any = None

    @property
    def predicted_positive_rate(self) -> FloatArray:
        """Share of all rows predicted positive, as counted if it was."""
        if self.flagged is None:
            return super().predicted_positive_rate
        return np.asarray(self.flagged)

    def _unflagged(self) -> FloatArray:
        if self.flagged is None:
            return super()._unflagged()
        return np.asarray(1 - self.flagged)

    @property
    def geometric_mean(self) -> FloatArray:
        """Geometric mean, below 0 where a rate is: no root would hide how far below."""
        negative = np.minimum(self.tpr, 1 - self.fpr) < 0
        root = np.sqrt(np.abs(self.tpr * (1 - self.fpr)))
        return np.where(negative, -root, root)

    @property
    def mcc(self) -> FloatArray:
        """Matthews correlation; here the prevalence may be an array as well."""
        class_spread = np.sqrt(self.prevalence * (1 - self.prevalence))
        predictions = np.sqrt(self.predicted_positive_rate * self._unflagged())
        return np.asarray(class_spread * self.informedness / predictions)

    def metric(self, name: str, beta: float = 1.0) -> FloatArray:
        """Read a metric by its name; 0/0 is NaN without a warning."""
        with collect_warnings(), np.errstate(all="ignore"):
            value = self.f_beta(beta) if name == "f_beta" else getattr(self, name)
        return np.asarray(value, dtype=float)

    def capped(self) -> "RatePoint":
        """Return the nearest rates inside [0, 1]."""
        return RatePoint(np.clip(self.tpr, 0, 1), np.clip(self.fpr, 0, 1), self.prevalence)


@dataclass(frozen=True)
class HeadCounts:
    """Hold the rows predicted positive at one threshold or many, and the design they come from.

    `heads` has shape (3, ...): labelled positive, unlabeled, labelled negative.
    """

    heads: NDArray[np.float64]
    design: Design

    @property
    def sizes(self) -> FloatArray:
        """All rows of each kind, in the shape of the heads."""
        return np.asarray(fit(self.design.sizes, self.heads) + 0.0 * self.heads)

    @property
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
        mixing, (labelled, unlabeled, negative) = self.design.mixing(), self.rates
        of_positives, of_negatives, of_all = (
            fit(weights, self.heads)
            for weights in (mixing.positive, mixing.negative, mixing.everyone)
        )
        # Weights sum to 1. Written as distances from one of the rates, the sums are exactly 0 or 1
        # where no or all rows are flagged, and what is 0/0 there stays so.
        return RatePoint(
            labelled + of_positives[UNLABELED] * (unlabeled - labelled),
            unlabeled
            + of_negatives[LABELLED] * (labelled - unlabeled)
            + of_negatives[NEGATIVE] * (negative - unlabeled),
            mixing.prevalence,
            unlabeled
            + of_all[LABELLED] * (labelled - unlabeled)
            + of_all[NEGATIVE] * (negative - unlabeled),
        )

    def smoothed(self) -> "HeadCounts":
        """Return counts half a row away from 0 and from all, where no rate is 0 or 1."""
        sizes, units = self.sizes, fit(self.design.units, self.heads)
        share = np.where(sizes > 0, (self.heads + _HALF_ROW * units) / (sizes + units), 0.0)
        return self.at_rates(share)


def fit(weights: Any, like: FloatArray) -> Any:
    """Give weights of shape (3,) or (3, ...) the dimensions of the heads."""
    array = np.asarray(weights)
    return array.reshape(array.shape + (1,) * (like.ndim - array.ndim))


def head_spread(counts: HeadCounts, name: str, beta: float = 1.0) -> Spread:
    """Return variance and slopes of a metric by the delta method, half a row from the edges."""
    smooth = counts.smoothed()
    raw, total = smooth.point(), counts.design.sizes.sum(axis=0)
    prevalence = np.asarray(raw.prevalence, dtype=float)
    point = RatePoint(
        _inside(raw.tpr, _HALF_ROW / (np.maximum(prevalence * total, 1.0) + 1)),
        _inside(raw.fpr, _HALF_ROW / (np.maximum((1 - prevalence) * total, 1.0) + 1)),
        prevalence,
    )
    by_tpr, by_fpr, by_prevalence = _slopes(point, name, beta)
    influence = Influence(0.0, positive=by_tpr, negative=by_fpr, prevalence=by_prevalence)
    return Spread(counts.design, HeadRows(smooth.rates), influence)


def rate_error(counts: HeadCounts, rate: str) -> float:
    """Return the standard error of the "tpr" or "fpr" at one threshold."""
    return math.sqrt(float(head_spread(counts, rate).variance))


def _inside(rate: FloatArray, margin: Any) -> FloatArray:
    return np.clip(rate, margin, 1 - margin)


def _slopes(point: RatePoint, name: str, beta: float) -> tuple[Any, Any, Any]:
    """Return derivatives by the two rates and the prevalence, by central differences."""
    arguments = np.broadcast_arrays(
        *(np.asarray(v, dtype=float) for v in (point.tpr, point.fpr, point.prevalence))
    )
    slopes = []
    for place, argument in enumerate(arguments):
        step = _RELATIVE_STEP * np.minimum(argument, 1 - argument)
        ends = []
        for sign in (1, -1):
            moved = list(arguments)
            moved[place] = argument + sign * step
            ends.append(RatePoint(*moved).metric(name, beta))
        with np.errstate(invalid="ignore", divide="ignore"):
            slopes.append(np.where(step > 0, (ends[0] - ends[1]) / (2 * step), 0.0))
    return slopes[0], slopes[1], slopes[2]
