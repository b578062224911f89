"""Paired differences of models on the same rows, metric by metric."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr, stdtrit

from undercount.assume.mixture import mixture_curve
from undercount.curve import Estimate
from undercount.evaluation import Evaluation
from undercount.paired_precision import precision_error
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
# Points at which the interval of a share is tried, and those of its normal distribution.
RANGE_POINTS, NODES = 5, 9


@dataclass(frozen=True)
class Difference:
    """Hold how much better one model is than another in one metric.

    Attributes
    ----------
    difference : Estimate
        One minus other. Its interval holds the chance of the labels (and rows) and, where the
        size of the difference moves with the share of hidden positives, that share's interval.
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
        labels: Any,
        rows: Mapping[str, FloatArray],
        evaluations: Mapping[str, Evaluation],
        thresholds: Mapping[str, float],
        n_resamples: int,
        random_state: int | None,
    ) -> None:
        self.evaluations, self.thresholds, self.rows = evaluations, thresholds, rows
        self.labelled, self.unlabeled = labels == 1, labels == -1
        labelled = self.labelled
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
        estimate = self._with_interval(metric, one, other, value, error)
        # Where no share changes the order, none belongs into the question whether there is one.
        doubt = error if metric in FIXED_ORDER else estimate.standard_error
        p_value = float(2 * ndtr(-abs(value) / doubt)) if doubt > 0 else float(value == 0)
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

    def _with_interval(
        self, metric: str, one: str, other: str, value: float, error: float
    ) -> Estimate:
        """Add to the chance of the rows what the share's interval does to the difference."""
        t = float(stdtrit(max(int(self.labelled.sum()) - 1, 1), 0.5 + self.level / 2))
        chance, (below, above) = t * error, self._reach(metric, one, other)
        if self.shares.unlabeled_prevalence_error == 0:  # a range: every share in it is possible
            low, high, share_error = value - below - chance, value + above + chance, 0.0
        else:  # an estimate: its error is one more chance
            low, high = value - math.hypot(below, chance), value + math.hypot(above, chance)
            share_error = (below + above) / (2 * t)
        if metric in FIXED_ORDER:
            # The share scales such a difference and never turns it round.
            low = max(low, 0.0) if value - chance > 0 else low
            high = min(high, 0.0) if value + chance < 0 else high
        error = math.hypot(error, share_error)
        needs = self._row(one, metric).estimate.needs
        return Estimate(value, low, high, error, self.level, needs, "paired")

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
        if metric == "average_precision" and self._jackknifed():
            return value, self._precision_error(one, other)
        return value, float(np.std(self.resampled(metric, one, other), ddof=1))

    def _jackknifed(self) -> bool:
        """Whether the unbiased average precision of a single sample is compared."""
        known = self.target == "population" or self.shares.given != "label_frequency"
        return known and self.shares.label_purity == 1 and self.shares.sampling == "single-sample"

    def _precision_error(self, one: str, other: str) -> float:
        return precision_error(
            self.rows[one],
            self.rows[other],
            self.labelled,
            self.unlabeled,
            self.shares,
            labels_only=self.target == "dataset",
        )

    def _reach(self, metric: str, one: str, other: str) -> tuple[float, float]:
        """Return how far the difference falls and rises over the interval of the share."""
        span = self.shares.unlabeled_prevalence_interval
        if span is None:
            return 0.0, 0.0
        shares = np.linspace(span.low, min(span.high, self._top()), RANGE_POINTS)
        middle = self._difference(metric, one, other, self.shares.unlabeled_prevalence)
        moves = [self._difference(metric, one, other, float(s)) - middle for s in shares]
        return max(0.0, -min(moves)), max(0.0, *moves)

    def _top(self) -> float:
        """Return the largest share that every model's scores allow."""
        tops = [
            largest_share(e.counts, self.shares.label_purity) for e in self.evaluations.values()
        ]
        return max(min(*tops, self.shares.label_purity) - 1e-6, 0.0)

    def _difference(self, metric: str, one: str, other: str, share: float) -> float:
        return self._value(one, metric, share) - self._value(other, metric, share)

    def _value(self, name: str, metric: str, share: float) -> float:
        curve = mixture_curve(
            self.evaluations[name].counts, with_share(self.shares, share), clean=False
        )
        reading: Any = curve if metric in AREAS else curve.at(self.thresholds[name])
        return float(getattr(reading, metric))

    def _crossover(self, metric: str, one: str, other: str) -> float:
        """Find the hidden share at which the order flips, by the sign of the difference."""
        grid = np.linspace(0, self._top(), GRID)
        gaps = np.array([self._difference(metric, one, other, float(s)) for s in grid])
        flips = np.flatnonzero(gaps[1:] * gaps[:-1] < 0)
        if not flips.size:
            return math.nan
        i = int(flips[0])
        return float(grid[i] + (grid[i + 1] - grid[i]) * gaps[i] / (gaps[i] - gaps[i + 1]))

    def _better(self, metric: str, one: str, other: str, value: float, error: float) -> float:
        """Average the probability that `one` is better over the prevalence's uncertainty."""
        if error == 0:
            return 0.5 if value == 0 else float(value > 0)
        span = self.shares.unlabeled_prevalence_interval
        if metric in FIXED_ORDER or span is None:
            return float(ndtr(value / error))
        spread = self.shares.unlabeled_prevalence_error
        if spread == 0:
            shares, weights = np.linspace(span.low, span.high, NODES), np.ones(NODES)
        else:
            nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
            shares = self.shares.unlabeled_prevalence + spread * nodes
        shares = np.clip(shares, 0, self.shares.label_purity - 1e-6)
        gaps = [self._difference(metric, one, other, float(s)) for s in shares]
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
