"""Paired differences of models on the same rows, metric by metric."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from undercount.assume.mixture import mixture_curve
from undercount.curve import Estimate
from undercount.evaluation import Evaluation
from undercount.rates import FloatArray
from undercount.sensitivity import largest_share, with_share
from undercount.uncertainty.paired import (
    Placements,
    auc_difference,
    lift_difference,
    placements,
)
from undercount.uncertainty.resampled import resampled_differences

# Orders that are the same at every prevalence; F1, accuracy and average precision can flip.
FIXED_ORDER = frozenset(
    {
        "roc_auc",
        "lift_auc",
        "recall",
        "informedness",
        "balanced_accuracy",
        "precision",
        "lift",
        "lee_liu",
        "mcc",
    }
)
AREAS = ("roc_auc", "lift_auc", "average_precision")
POINTS = ("recall", "precision", "f1", "mcc", "accuracy")
GRID = 201


@dataclass(frozen=True)
class Difference:
    """Hold how much better one model is than another in one metric.

    Attributes
    ----------
    better_probability : float
        Probability that `one` is better, over sampling and the prevalence's uncertainty.
    p_value, adjusted_p_value : float
        Two-sided, and Holm-adjusted over all pairs of models for the metric.
    depends_on_prevalence : bool
        Whether the order of the two could flip with the prevalence.
    crossover : float
        Share of hidden positives at which it does; NaN if it does not within what data allow.

    Examples
    --------
    >>> import undercount as uc
    >>> gap = uc.Estimate(0.02, 0.01, 0.03, 0.005)
    >>> uc.Difference("roc_auc", "a", "b", gap, 0.99, 0.001, 0.001, False, float("nan")).one
    'a'
    """

    metric: str
    one: str
    other: str
    difference: Estimate
    better_probability: float
    p_value: float
    adjusted_p_value: float
    depends_on_prevalence: bool
    crossover: float


class Paired:
    """Differences of every pair of models on the same rows."""

    def __init__(
        self,
        labelled: Any,
        rows: Mapping[str, FloatArray],
        evaluations: Mapping[str, Evaluation],
        thresholds: Mapping[str, float],
        n_resamples: int,
        random_state: int | None,
    ) -> None:
        self.evaluations, self.thresholds = evaluations, thresholds
        self.places: dict[str, Placements] = {n: placements(s, labelled) for n, s in rows.items()}
        first = next(iter(evaluations.values()))
        self.shares, self.counts = first.shares, first.counts
        self.target, self.level = first.target, first.confidence_level
        self.resampled = resampled_differences(
            labelled,
            rows,
            thresholds,
            self.shares,
            n_resamples=n_resamples,
            random_state=random_state,
            labels_only=self.target == "dataset",
        )

    def differences(self, metric: str) -> list[Difference]:
        """Return the difference of each pair in one metric."""
        return [
            self._pair(metric, one, other)
            for one, other in itertools.combinations(self.evaluations, 2)
        ]

    def _pair(self, metric: str, one: str, other: str) -> Difference:
        value, error = self._gap(metric, one, other)
        z = float(ndtri(0.5 + self.level / 2))
        estimate = Estimate(
            value,
            value - z * error,
            value + z * error,
            error,
            self.level,
            self._row(one, metric).estimate.needs,
            "paired",
        )
        p_value = float(2 * ndtr(-abs(value) / error)) if error > 0 else float(value == 0)
        depends = metric not in FIXED_ORDER
        return Difference(
            metric,
            one,
            other,
            estimate,
            self._better(metric, one, other, value, error),
            p_value,
            p_value,
            depends,
            self._crossover(metric, one, other) if depends else math.nan,
        )

    def _row(self, name: str, metric: str) -> Any:
        return next(row for row in self.evaluations[name].rows if row.metric == metric)

    def _gap(self, metric: str, one: str, other: str) -> tuple[float, float]:
        """Return difference and standard error."""
        gap = self.shares.label_purity - self.shares.unlabeled_prevalence
        if metric in ("roc_auc", "lift_auc"):
            prevalence = self.shares.prevalence(self.counts)
            if self.target == "dataset" and self.shares.label_purity == 1:
                frequency = self.shares.label_frequency(self.counts)
                value, error = lift_difference(self.places[one], self.places[other], frequency)
                scale = 1 - prevalence if metric == "roc_auc" else 1.0
            else:
                value, error = auc_difference(self.places[one], self.places[other])
                scale = gap if metric == "roc_auc" else gap / (1 - prevalence)
            return value / scale, error / scale
        value = self._row(one, metric).estimate.value - self._row(other, metric).estimate.value
        return value, float(np.std(self.resampled(metric, one, other), ddof=1))

    def _value(self, name: str, metric: str, share: float) -> float:
        curve = mixture_curve(
            self.evaluations[name].counts, with_share(self.shares, share), clean=False
        )
        reading: Any = curve if metric in AREAS else curve.at(self.thresholds[name])
        return float(getattr(reading, metric))

    def _crossover(self, metric: str, one: str, other: str) -> float:
        """Find the hidden share at which the order flips, by the sign of the difference."""
        top = min(
            largest_share(e.counts, self.shares.label_purity) for e in self.evaluations.values()
        )
        grid = np.linspace(0, max(top - 1e-6, 0.0), GRID)
        gaps = np.array([self._value(one, metric, s) - self._value(other, metric, s) for s in grid])
        flips = np.flatnonzero(gaps[1:] * gaps[:-1] < 0)
        if not flips.size:
            return math.nan
        i = int(flips[0])
        return float(grid[i] + (grid[i + 1] - grid[i]) * gaps[i] / (gaps[i] - gaps[i + 1]))

    def _better(self, metric: str, one: str, other: str, value: float, error: float) -> float:
        """Average the probability that `one` is better over the prevalence's uncertainty."""
        spread = self.shares.unlabeled_prevalence_error
        if error == 0:
            return 0.5 if value == 0 else float(value > 0)
        if metric in FIXED_ORDER or spread == 0:
            return float(ndtr(value / error))
        nodes, weights = np.polynomial.hermite_e.hermegauss(9)
        shares = self.shares.unlabeled_prevalence + spread * nodes
        shares = np.clip(shares, 0, self.shares.label_purity - 1e-6)
        gaps = [
            self._value(one, metric, float(s)) - self._value(other, metric, float(s))
            for s in shares
        ]
        return float(np.average(ndtr(np.array(gaps) / error), weights=weights))


def holm_adjusted(differences: Sequence[Difference]) -> list[Difference]:
    """Adjust p-values for several pairs (Holm 1979)."""
    order = sorted(range(len(differences)), key=lambda i: differences[i].p_value)
    adjusted, largest = [0.0] * len(differences), 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(differences) - rank) * differences[i].p_value))
        adjusted[i] = largest
    return [
        Difference(**{**vars(d), "adjusted_p_value": p})
        for d, p in zip(differences, adjusted, strict=True)
    ]
