"""Points and curves of true-positive against false-positive rate, and numbers with intervals."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from undercount.errors import InputError
from undercount.rates import FloatArray, Rates, metric_names

# A precision above one over this is that of no flagged row at all, apart from rounding.
ROUNDING = 1e-12


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


@dataclass(frozen=True)
class Estimate:
    """Hold a number with its interval, what it rests on, and how it was made.

    Examples
    --------
    >>> from undercount import Estimate
    >>> estimate = Estimate(0.7, 0.6, 0.8, 0.05, 0.95, ("random labels",), "delta")
    >>> float(estimate), 0.65 in estimate.interval
    (0.7, True)
    >>> print(estimate)
    0.7 (0.6 to 0.8 at 95 %; needs random labels)
    """

    value: float
    low: float
    high: float
    standard_error: float = float("nan")
    confidence_level: float = 0.95
    needs: tuple[str, ...] = ()
    method: str = ""

    def __post_init__(self) -> None:
        if self.low > self.high:
            raise InputError(f"low must not exceed high; got {self.low} and {self.high}")
        if self.standard_error < 0:
            raise InputError(f"standard_error must not be negative; got {self.standard_error}")

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        needs = ", ".join(self.needs) or "nothing"
        span = f"{self.low:.4g} to {self.high:.4g} at {self.confidence_level:.4g}"
        if 0 < self.confidence_level < 1:
            span = f"{self.low:.4g} to {self.high:.4g} at {100 * self.confidence_level:.4g} %"
        return f"{self.value:.4g} ({span}; needs {needs})"

    @property
    def interval(self) -> Interval:
        """The interval alone."""
        return Interval(self.low, self.high)


@dataclass(frozen=True)
class OperatingPoint(Rates[float]):
    """Hold the rates of a classifier at one threshold; every metric is a property.

    Examples
    --------
    >>> from undercount import OperatingPoint
    >>> point = OperatingPoint(threshold=0.5, tpr=0.8, fpr=0.1, prevalence=0.2)
    >>> round(point.precision, 4), round(point.f1, 4), round(point.f_beta(2), 4)
    (0.6667, 0.7273, 0.7692)
    """

    threshold: float
    tpr: float
    fpr: float
    prevalence: float


class LeftOut(NamedTuple):
    """Thresholds whose points a curve does not keep, and which of their cells are merged."""

    threshold: FloatArray
    merged: NDArray[np.bool_] | None = None


@dataclass(frozen=True)
class OperatingCurve(Rates[FloatArray]):
    """Hold (threshold, true-positive rate, false-positive rate) from (0, 0) to (1, 1).

    Each metric of `OperatingPoint` is an array here, one entry a threshold; rows with
    ``score >= threshold`` are predicted positive. `merged` marks thresholds whose cell holds
    several scores, inside which no threshold can be answered; neither can those in `left_out`,
    whose points were dropped because they lie outside the unit square or are no corner of a hull.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount import OperatingCurve
    >>> curve = OperatingCurve(
    ...     threshold=np.array([np.inf, 0.9, 0.4]),
    ...     tpr=np.array([0.0, 0.8, 1.0]),
    ...     fpr=np.array([0.0, 0.1, 1.0]),
    ...     prevalence=0.2,
    ... )
    >>> round(curve.roc_auc, 3), round(curve.at(0.5).precision, 4)
    (0.85, 0.6667)
    """

    threshold: FloatArray
    tpr: FloatArray
    fpr: FloatArray
    prevalence: float
    merged: NDArray[np.bool_] | None = field(default=None, repr=False)
    left_out: LeftOut | None = field(default=None, repr=False)

    @property
    def roc_auc(self) -> float:
        """Area under the ROC curve by trapezoids, so that ties count one half."""
        return _trapezoid(self.tpr, self.fpr)

    def partial_roc_auc(self, max_fpr: float) -> float:
        """Area under the ROC curve up to a false-positive rate, McClish-standardised to [0.5, 1].

        The same scale as scikit-learn's ``roc_auc_score(max_fpr=...)``. A curve whose
        false-positive rate falls somewhere, as an uncleaned one may, is refused.
        """
        if not 0 < max_fpr <= 1:
            raise InputError(f"max_fpr must be in (0, 1]; got {max_fpr}")
        if (fall := float(np.min(np.diff(self.fpr)))) < -ROUNDING:
            raise InputError(
                "a part of the area needs a false-positive rate that never falls from point to "
                f"point; it falls by {-fall:.4g} here. Use partial_roc_auc of the rows, or the "
                "curve made with clean=True"
            )
        stop = int(np.searchsorted(self.fpr, max_fpr, side="right"))
        tpr_at_end = np.interp(max_fpr, self.fpr, self.tpr)
        area = _trapezoid(
            np.append(self.tpr[:stop], tpr_at_end), np.append(self.fpr[:stop], max_fpr)
        )
        chance = max_fpr * max_fpr / 2
        return float(0.5 * (1 + (area - chance) / (max_fpr - chance)))

    @property
    def average_precision(self) -> float:
        """Precision summed over the steps of recall, without interpolation.

        A curve whose recall falls somewhere, as a cleaned one sorted by its rates does, is walked
        by falling threshold. Recall gained where nothing of the target is flagged counts with a
        precision of 1. On recovered rates this is the plug-in value, somewhat high with few labels
        if the curve is not cleaned; `undercount.average_precision` corrects for that.
        """
        tpr, flagged = self.tpr, self.predicted_positive_rate
        if np.any(np.diff(tpr) < -ROUNDING):
            # By rates, recall would go up at a high and back at a low precision, over and over,
            # and every such pair of steps would add to the sum.
            order = np.argsort(-self.threshold, kind="stable")
            tpr, flagged = tpr[order], flagged[order]
        gained, hits, flagged = np.diff(tpr), self.prevalence * tpr[1:], flagged[1:]
        # Rows labelled apart (case-control) may score above every unlabeled row: positives are
        # found and no row is flagged. The recovered false-positive rate is negative there, and
        # pulled to 0, as metrics at a threshold do, it makes precision 1.
        # Without hits precision may be 0/0; no recall is gained there, or no positive exists.
        precision = np.where(hits > 0, 1.0, 0.0)
        np.divide(hits, flagged, out=precision, where=flagged > ROUNDING * np.abs(hits))
        return float(gained @ precision)

    @property
    def lift_auc(self) -> float:
        """Area under recall against the predicted-positive rate (AUL).

        A row against itself counts one half, which the trapezoid does by itself.
        """
        return _trapezoid(self.tpr, self.predicted_positive_rate)

    def at(self, threshold: float) -> OperatingPoint:
        """Read the point at which rows with ``score >= threshold`` are predicted positive.

        On a curve made monotone by "cummax" or "isotonic" the recall is the one so changed. A
        threshold whose point the curve left out is refused rather than answered by another's.
        """
        if np.isnan(threshold):
            raise InputError("threshold must be a number; got NaN")
        every, merged = self._thresholds()
        # A cleaned curve is sorted by its rates, so the neighbours in threshold are searched for.
        order = np.argsort(-every[1:], kind="stable") + 1
        n_above = int(np.count_nonzero(every[1:] >= threshold))
        index = int(order[n_above - 1]) if n_above else 0
        below = int(order[n_above]) if n_above < len(order) else None
        exact = n_above > 0 and every[index] == threshold
        if merged is not None and below is not None and merged[below] and not exact:
            low, high = every[below], every[index]
            raise InputError(
                f"threshold {threshold} lies inside a merged cell ({low:.6g} to {high:.6g}), where "
                f"only sums were kept; pass knots=[{threshold}] when counting, or compact=False"
            )
        if index >= len(self.threshold):
            raise InputError(
                f"the point at threshold {threshold} was left out of this curve, because its rates "
                "are outside [0, 1] or no corner of the hull; ask the curve made with clean=False"
            )
        return OperatingPoint(
            float(threshold), float(self.tpr[index]), float(self.fpr[index]), self.prevalence
        )

    def _thresholds(self) -> tuple[FloatArray, NDArray[np.bool_] | None]:
        """Return the thresholds kept, then those left out, and which have merged cells."""
        if self.left_out is None:
            return self.threshold, self.merged
        merged = self.merged
        if merged is not None and self.left_out.merged is not None:
            merged = np.append(merged, self.left_out.merged)
        return np.append(self.threshold, self.left_out.threshold), merged

    def frame(self) -> dict[str, FloatArray]:
        """Return columns of equal length, ready for any data frame's constructor."""
        return {
            "threshold": self.threshold,
            "tpr": self.tpr,
            "fpr": self.fpr,
            **{name: getattr(self, name) for name in metric_names()},
        }


@dataclass(frozen=True)
class CurveBounds:
    """Hold the worst and the best curve that data and assumptions allow.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount import CurveBounds, OperatingCurve
    >>> ends = np.array([np.inf, 0.0])
    >>> diagonal = OperatingCurve(ends, np.array([0.0, 1.0]), np.array([0.0, 1.0]), 0.5)
    >>> CurveBounds(pessimistic=diagonal, optimistic=diagonal).roc_auc
    Interval(low=0.5, high=0.5)
    """

    pessimistic: OperatingCurve
    optimistic: OperatingCurve

    @property
    def roc_auc(self) -> Interval:
        """Areas under the two ROC curves."""
        return Interval(self.pessimistic.roc_auc, self.optimistic.roc_auc)

    @property
    def average_precision(self) -> Interval:
        """Average precisions of the two curves."""
        return Interval(self.pessimistic.average_precision, self.optimistic.average_precision)


def _trapezoid(height: FloatArray, position: FloatArray) -> float:
    return float(np.sum(np.diff(position) * (height[1:] + height[:-1])) / 2)
