"""Every rate and score of a confusion table, written once, for a point and for a whole curve."""

import math
import warnings
from typing import Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from undercount.errors import UndefinedMetricWarning

FloatArray = NDArray[np.float64]
Value = TypeVar("Value", float, FloatArray)


def ratio(numerator: Value, denominator: Value, metric: str) -> Value:
    """Divide; 0/0 is NaN with a warning.

    The two ends of a curve (nothing or everything predicted positive) are 0/0 by construction for
    many metrics, so they alone do not warn.
    """
    top, bottom = np.asarray(numerator, dtype=float), np.asarray(denominator, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        result = top / bottom
    if result.ndim:
        top, bottom = top[1:-1], bottom[1:-1]
    if not bottom.all() and np.any((top == 0) & (bottom == 0)):
        warnings.warn(f"{metric} is 0/0 here, so NaN", UndefinedMetricWarning, stacklevel=3)
    return cast("Value", float(result) if result.ndim == 0 else result)


def _root(value: Value) -> Value:
    """Square root; a negative argument (rates outside [0, 1]) gives NaN without NumPy's warning."""
    with np.errstate(invalid="ignore"):
        result = np.sqrt(value)
    return cast("Value", float(result) if np.ndim(result) == 0 else result)


class Rates(Generic[Value]):
    """Metrics as functions of true-positive rate, false-positive rate and prevalence.

    A subclass has the attributes `tpr`, `fpr` (numbers or arrays alike) and `prevalence`.
    """

    tpr: Value
    fpr: Value
    prevalence: float

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
        """Share of all rows predicted positive."""
        return self.prevalence * self.tpr + (1 - self.prevalence) * self.fpr

    def _unflagged(self) -> Value:
        """Share of all rows predicted negative, a sum: 1 - Q would leave rounding where it is 0."""
        return self.prevalence * (1 - self.tpr) + (1 - self.prevalence) * (1 - self.fpr)

    @property
    def precision(self) -> Value:
        """Share of the predicted positives that are positive."""
        return ratio(self.prevalence * self.tpr, self.predicted_positive_rate, "precision")

    @property
    def npv(self) -> Value:
        """Share of the predicted negatives that are negative."""
        true_negative = (1 - self.prevalence) * (1 - self.fpr)
        return ratio(true_negative, self._unflagged(), "npv")

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
        return ratio(
            (1 + weight) * self.prevalence * self.tpr,
            weight * self.prevalence + self.predicted_positive_rate,
            "f_beta",
        )

    @property
    def f1(self) -> Value:
        """Harmonic mean of precision and recall."""
        return self.f_beta(1.0)

    @property
    def mcc(self) -> Value:
        """Matthews correlation of prediction and class."""
        spread = self.prevalence * (1 - self.prevalence)
        predictions = _root(self.predicted_positive_rate * self._unflagged())
        return ratio(math.sqrt(spread) * self.informedness, predictions, "mcc")

    @property
    def kappa(self) -> Value:
        """Cohen's kappa of prediction and class."""
        flagged, spread = self.predicted_positive_rate, self.prevalence * (1 - self.prevalence)
        expected_disagreement = self.prevalence + flagged - 2 * self.prevalence * flagged
        return ratio(2 * spread * self.informedness, expected_disagreement, "kappa")

    @property
    def lift(self) -> Value:
        """Precision over prevalence."""
        return ratio(self.tpr, self.predicted_positive_rate, "lift")

    @property
    def lee_liu(self) -> Value:
        """Lee and Liu's score: recall² over the predicted-positive rate."""
        return ratio(self.tpr * self.tpr, self.predicted_positive_rate, "lee_liu")

    @property
    def geometric_mean(self) -> Value:
        """Geometric mean of recall and specificity."""
        return _root(self.tpr * (1 - self.fpr))

    @property
    def positive_likelihood_ratio(self) -> Value:
        """True-positive rate over false-positive rate."""
        return ratio(self.tpr, self.fpr, "positive_likelihood_ratio")

    @property
    def negative_likelihood_ratio(self) -> Value:
        """False-negative rate over specificity."""
        return ratio(1 - self.tpr, 1 - self.fpr, "negative_likelihood_ratio")


def metric_names() -> list[str]:
    """Names of all threshold metrics, in the order they are written above."""
    return [name for name, member in vars(Rates).items() if isinstance(member, property)]
