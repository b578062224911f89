"""Points and curves of true-positive against false-positive rate: each rate and area, once."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from undercount.errors import (
    InputError,
    UndefinedMetricWarning,
    keep_threshold,
    named,
    real_number,
    warn,
)
from undercount.estimate import FloatArray as FloatArray  # noqa: PLC0414 - of every curve
from undercount.estimate import Interval

Value = TypeVar("Value", float, FloatArray)


# Points of a long table that are worked on at once: they and what is made of them stay in cache,
# and products so short are not handed to threads, whose start costs more than they save.
POINTS_PER_BLOCK = 2**13


@lru_cache(maxsize=16)  # a dozen sums along one table ask for the same parts
def blocks(size: int) -> tuple[slice, ...]:
    """Cut a long table into parts that stay in cache."""
    return tuple(
        slice(start, min(start + POINTS_PER_BLOCK, size))
        for start in range(0, size, POINTS_PER_BLOCK)
    )


def dot(weight: FloatArray, value: FloatArray) -> float:
    """Return the sum of products along two long arrays."""
    return float(sum(weight[part] @ value[part] for part in blocks(len(weight))))


def ratio(numerator: Value, denominator: Value, metric: str, stacklevel: int = 3) -> Value:
    """Divide; 0/0 is NaN, with a warning if the metric has a name.

    The two ends of a curve (nothing or everything predicted positive) are 0/0 by construction for
    many metrics, so they alone do not warn.
    """
    top, bottom = np.asarray(numerator, dtype=float), np.asarray(denominator, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        result = top / bottom
    if result.ndim:
        top, bottom = top[1:-1], bottom[1:-1]
    if metric and not bottom.all() and np.any((top == 0) & (bottom == 0)):
        warning = UndefinedMetricWarning("{metric} is 0/0 here, so NaN", metric=metric)
        warn(warning, stacklevel=stacklevel)
    return cast("Value", float(result) if result.ndim == 0 else result)


def trapezoid(height: FloatArray, position: FloatArray) -> float:
    """Return the area under straight lines between points."""
    area, left, right = 0.0, slice(0, -1), slice(1, None)
    for part in blocks(len(position) - 1):
        ends = slice(part.start, part.stop + 1)
        x, y = position[ends], height[ends]
        area += float((x[right] - x[left]) @ (y[right] + y[left]))
    return area / 2


def precision_steps(tpr: FloatArray, flagged: FloatArray, prevalence: float) -> float:
    """Return the sum of precision over the steps of recall, from the first point to the last."""
    hits, rows = prevalence * tpr[1:], flagged[1:]
    # Rows labelled apart (case-control) may score above every unlabeled row: positives are found
    # and no row is flagged. The recovered false-positive rate is negative there, and pulled to 0,
    # as metrics at a threshold do, it makes precision 1.
    # Without hits precision may be 0/0; no recall is gained there, or no positive exists.
    some = rows > NO_ROWS_ROUNDING * np.abs(hits)
    precision = np.where(hits > 0, 1.0, 0.0) if not some.all() else hits
    np.divide(hits, rows, out=precision, where=True if precision is hits else some)
    return float((tpr[1:] - tpr[:-1]) @ precision)


def _falls(rate: FloatArray) -> bool:
    """Whether a rate falls from one point to the next, by more than rounding."""
    return any(
        bool(np.any(rate[part.start + 1 : part.stop + 1] < rate[part] - NO_ROWS_ROUNDING))
        for part in blocks(len(rate) - 1)
    )


def _root(value: Value) -> Value:
    """Square root; a negative argument (rates outside [0, 1]) gives NaN without NumPy's warning."""
    with np.errstate(invalid="ignore"):
        result = np.sqrt(value)
    return cast("Value", float(result) if np.ndim(result) == 0 else result)


class Rates(Generic[Value]):
    """Metrics as functions of true-positive rate, false-positive rate and prevalence.

    A subclass has the attributes `tpr`, `fpr` (numbers or arrays alike) and `prevalence`. `flagged`
    is the share of all rows predicted positive, if it was counted: from recovered rates it would be
    0 or 1 only up to rounding.
    """

    tpr: Value
    fpr: Value
    prevalence: float
    flagged: Value | None = None
    # Whether a root goes on below 0 where chance pushed a rate there, so that an interval sees how
    # far, instead of being NaN; and whether 0/0 is NaN without a warning.
    continued: ClassVar[bool] = False

    def _ratio(self, numerator: Value, denominator: Value, metric: str) -> Value:
        return ratio(numerator, denominator, "" if self.continued else metric, stacklevel=4)

    @property
    def recall(self) -> Value:
        """Share of the positives predicted positive."""
        return self.tpr

    @property
    def fnr(self) -> Value:
        """Share of the positives predicted negative."""
        return 1 - self.tpr

    @property
    def specificity(self) -> Value:
        """Share of the negatives predicted negative."""
        return 1 - self.fpr

    @property
    def predicted_positive_rate(self) -> Value:
        """Share of all rows predicted positive, as counted if it was."""
        if self.flagged is not None:
            return self.flagged
        return self.prevalence * self.tpr + (1 - self.prevalence) * self.fpr

    def _unflagged(self) -> Value:
        """Share of all rows predicted negative, a sum: 1 - Q would leave rounding where it is 0."""
        if self.flagged is not None:
            return 1 - self.flagged
        return self.prevalence * (1 - self.tpr) + (1 - self.prevalence) * (1 - self.fpr)

    @property
    def precision(self) -> Value:
        """Share of the predicted positives that are positive."""
        return self._ratio(self.prevalence * self.tpr, self.predicted_positive_rate, "precision")

    @property
    def npv(self) -> Value:
        """Share of the predicted negatives that are negative."""
        true_negative = (1 - self.prevalence) * (1 - self.fpr)
        return self._ratio(true_negative, self._unflagged(), "npv")

    @property
    def accuracy(self) -> Value:
        """Share of all rows predicted right."""
        return self.prevalence * self.tpr + (1 - self.prevalence) * (1 - self.fpr)

    @property
    def balanced_accuracy(self) -> Value:
        """Mean of recall and specificity."""
        return (self.tpr + 1 - self.fpr) / 2

    @property
    def informedness(self) -> Value:
        """Youden's J: recall + specificity - 1."""
        return self.tpr - self.fpr

    def f_beta(self, beta: float) -> Value:
        """Weighted harmonic mean of precision and recall, recall counting `beta` times as much."""
        weight = beta * beta
        return self._ratio(
            (1 + weight) * self.prevalence * self.tpr,
            weight * self.prevalence + self.predicted_positive_rate,
            "f_beta",
        )

    def expected_cost(self, weight: float) -> Value:
        """Cost a row if a false positive costs `weight` and a false negative 1 - `weight`."""
        false_positive = self.predicted_positive_rate - self.prevalence * self.tpr
        return weight * false_positive + (1 - weight) * self.prevalence * (1 - self.tpr)

    def net_benefit(self, exchange: float) -> Value:
        """Count true positives a row, less the false ones, each worth `exchange` of a true one."""
        true_positive = self.prevalence * self.tpr
        return true_positive - exchange * (self.predicted_positive_rate - true_positive)

    @property
    def f1(self) -> Value:
        """Harmonic mean of precision and recall."""
        return self.f_beta(1.0)

    @property
    def mcc(self) -> Value:
        """Matthews correlation of prediction and class."""
        spread = self.prevalence * (1 - self.prevalence)
        predictions = _root(self.predicted_positive_rate * self._unflagged())
        return self._ratio(_root(spread) * self.informedness, predictions, "mcc")

    @property
    def kappa(self) -> Value:
        """Cohen's kappa of prediction and class."""
        flagged, spread = self.predicted_positive_rate, self.prevalence * (1 - self.prevalence)
        expected_disagreement = self.prevalence + flagged - 2 * self.prevalence * flagged
        return self._ratio(2 * spread * self.informedness, expected_disagreement, "kappa")

    @property
    def lift(self) -> Value:
        """Precision over prevalence."""
        return self._ratio(self.tpr, self.predicted_positive_rate, "lift")

    @property
    def lee_liu(self) -> Value:
        """Lee and Liu's score: recall² over the predicted-positive rate."""
        return self._ratio(self.tpr * self.tpr, self.predicted_positive_rate, "lee_liu")

    @property
    def geometric_mean(self) -> Value:
        """Geometric mean of recall and specificity, NaN where one of them is below 0."""
        product = self.tpr * (1 - self.fpr)
        if not self.continued:
            return _root(product)
        below = np.minimum(self.tpr, 1 - self.fpr) < 0
        return cast("Value", np.where(below, -1.0, 1.0) * _root(np.abs(product)))

    @property
    def positive_likelihood_ratio(self) -> Value:
        """True-positive rate over false-positive rate."""
        return self._ratio(self.tpr, self.fpr, "positive_likelihood_ratio")

    @property
    def negative_likelihood_ratio(self) -> Value:
        """False-negative rate over specificity."""
        return self._ratio(1 - self.tpr, 1 - self.fpr, "negative_likelihood_ratio")


def metric_names() -> list[str]:
    """Names of all threshold metrics, in the order they are written above."""
    return [name for name, member in vars(Rates).items() if isinstance(member, property)]


# Metrics that take a number of their own, handed on as `beta`.
PARAMETRIC = ("f_beta", "expected_cost", "net_benefit")


def read_metric(
    points: Iterable[Rates[Any]], names: str | Sequence[str], beta: float = 1.0
) -> list[FloatArray]:
    """Read a metric of several points by its name; of several metrics an array for each point."""
    with np.errstate(all="ignore"):
        if isinstance(names, str):
            return [_read(point, names, beta) for point in points]
        return [np.array([_read(point, name, beta) for name in names]) for point in points]


def _read(point: Rates[Any], name: str, beta: float) -> FloatArray:
    value = getattr(point, name)
    return np.asarray(value(beta) if name in PARAMETRIC else value, dtype=float)


# A precision above one over this is that of no flagged row at all, apart from rounding.
NO_ROWS_ROUNDING = 1e-12


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
    flagged: FloatArray | None = field(default=None, repr=False)

    @cached_property
    def predicted_positive_rate(self) -> FloatArray:
        """Share of all rows predicted positive, as counted if it was; many metrics share it."""
        if self.flagged is not None:
            return self.flagged
        rate = (1 - self.prevalence) * self.fpr
        rate += self.prevalence * self.tpr
        return rate

    @cached_property
    def roc_auc(self) -> float:
        """Area under the ROC curve by trapezoids, so that ties count one half."""
        return trapezoid(self.tpr, self.fpr)

    def partial_roc_auc(self, max_fpr: float) -> float:
        """Area under the ROC curve up to a false-positive rate, McClish-standardised to [0.5, 1].

        The same scale as scikit-learn's ``roc_auc_score(max_fpr=...)``. A curve whose
        false-positive rate falls somewhere, as an uncleaned one may, is refused.
        """
        if not 0 < max_fpr <= 1:
            raise InputError(f"max_fpr must be in (0, 1]; got {max_fpr}")
        if (fall := float(np.min(np.diff(self.fpr)))) < -NO_ROWS_ROUNDING:
            raise InputError(
                "a part of the area needs a false-positive rate that never falls from point to "
                f"point; it falls by {-fall:.4g} here. Use partial_roc_auc of the rows, or the "
                "curve made with clean=True"
            )
        stop = int(np.searchsorted(self.fpr, max_fpr, side="right"))
        tpr_at_end = np.interp(max_fpr, self.fpr, self.tpr)
        area = trapezoid(
            np.append(self.tpr[:stop], tpr_at_end), np.append(self.fpr[:stop], max_fpr)
        )
        chance = max_fpr * max_fpr / 2
        return float(0.5 * (1 + (area - chance) / (max_fpr - chance)))

    @cached_property
    def average_precision(self) -> float:
        """Precision summed over the steps of recall, without interpolation.

        A curve whose recall falls somewhere, as a cleaned one sorted by its rates does, is walked
        by falling threshold. Recall gained where nothing of the target is flagged counts with a
        precision of 1. On recovered rates this is the plug-in value, somewhat high with few labels
        if the curve is not cleaned; `undercount.metrics.average_precision` corrects for that.
        """
        tpr, flagged = self.tpr, self.predicted_positive_rate
        if math.isnan(self.prevalence):  # no step would have a hit
            return math.nan
        if _falls(tpr):
            # By rates, recall would go up at a high and back at a low precision, over and over,
            # and every such pair of steps would add to the sum.
            order = np.argsort(-self.threshold, kind="stable")
            tpr, flagged = tpr[order], flagged[order]
        return float(
            sum(
                precision_steps(
                    tpr[part.start : part.stop + 1],
                    flagged[part.start : part.stop + 1],
                    self.prevalence,
                )
                for part in blocks(len(tpr) - 1)
            )
        )

    @cached_property
    def lift_auc(self) -> float:
        """Area under recall against the predicted-positive rate (AUL).

        A row against itself counts one half, which the trapezoid does by itself.
        """
        return trapezoid(self.tpr, self.predicted_positive_rate)

    def at(self, threshold: float) -> OperatingPoint:
        """Read the point at which rows with ``score >= threshold`` are predicted positive.

        On a curve made monotone by "cummax" or "isotonic" the recall is the one so changed. A
        threshold whose point the curve left out is refused rather than answered by another's.
        """
        if math.isnan(real_number(threshold)):
            got = "NaN" if isinstance(threshold, float) else repr(threshold)
            raise InputError(f"{named('threshold')} must be a number; got {got}")
        every, merged = self._thresholds()
        n_above = int(np.count_nonzero(every[1:] >= threshold))
        index, below = n_above, n_above + 1 if n_above + 1 < len(every) else None
        if not np.all(every[1:-1] >= every[2:]):
            # A cleaned curve is sorted by its rates, so its neighbours in threshold are sought.
            order = np.argsort(-every[1:], kind="stable") + 1
            index = int(order[n_above - 1]) if n_above else 0
            below = int(order[n_above]) if below is not None else None
        exact = n_above > 0 and every[index] == threshold
        if merged is not None and below is not None and merged[below] and not exact:
            low, high = every[below], every[index]
            raise InputError(
                f"threshold {threshold} lies inside a merged cell ({low:.6g} to {high:.6g}), where "
                "only sums were kept; "
                f"{keep_threshold(threshold)}"
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
        return _ordered(self.pessimistic.roc_auc, self.optimistic.roc_auc)

    @property
    def average_precision(self) -> Interval:
        """Average precisions of the two curves."""
        return _ordered(self.pessimistic.average_precision, self.optimistic.average_precision)


def _ordered(worst: float, best: float) -> Interval:
    """Return the interval of two areas.

    Pointwise bounds of few rows may cross each other, and may ask for more than there can be: then
    they fall with the score, and their area is none.
    """
    low, high = (min(max(end, 0.0), 1.0) for end in sorted((worst, best)))
    return Interval(low, high)
