"""Paired differences of models on the same rows, metric by metric."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtr, stdtrit

from undercount.assume.mixture import mixture_curve
from undercount.assume.mixture_design import design_of
from undercount.curve import ROUNDING, FloatArray
from undercount.estimate import Estimate
from undercount.read.evaluate import Evaluation
from undercount.read.intervals.paired import PairedRows, precision_error
from undercount.read.intervals.threshold_gradients import HeadCounts
from undercount.read.sensitivity import largest_share, with_share
from undercount.shares import Shares

# Orders that are the same at every prevalence, whatever the purity of the labels, and those that
# are if it is 1; F1, accuracy and average precision can flip.
FIXED_ORDER = frozenset(
    {"roc_auc", "lift_auc", "informedness", "balanced_accuracy", "mcc", "precision", "lift"}
)
FIXED_IF_PURE = FIXED_ORDER | {"recall", "lee_liu"}
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
    ) -> None:
        self.evaluations, self.thresholds, self.scores = evaluations, thresholds, rows
        self.labelled, self.unlabeled = labels == 1, labels == -1
        first = next(iter(evaluations.values()))
        self.shares, self.target, self.level = first.shares, first.target, first.confidence_level
        design = design_of(first.counts, self.shares, self.shares.sampling, self.target)
        self.rows = PairedRows.of(labels, design)
        self.heads = {name: self.rows.heads(rows[name] >= at) for name, at in thresholds.items()}
        self.fixed = _fixed_orders(self.shares, n_negative=first.counts.n_negative)

    def differences(self, metric: str) -> list[Difference]:
        """Return the difference of each pair in one metric."""
        return [self._pair(metric, *pair, error) for pair, error in self._errors(metric).items()]

    def _pair(self, metric: str, one: str, other: str, error: float) -> Difference:
        value = self._row(one, metric).estimate.value - self._row(other, metric).estimate.value
        estimate = self._with_interval(metric, one, other, value, error)
        # Where no share changes the order, none belongs into the question whether there is one.
        depends = metric not in self.fixed
        doubt = estimate.standard_error if depends else error
        p_value = 2 * _below(-abs(value), doubt)
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
        if metric in self.fixed:
            # The share scales such a difference and never turns it round.
            low = max(low, 0.0) if value - chance > 0 else low
            high = min(high, 0.0) if value + chance < 0 else high
        error = math.hypot(error, share_error)
        needs = self._row(one, metric).estimate.needs
        return Estimate(value, low, high, error, self.level, needs, "paired")

    def _row(self, name: str, metric: str) -> Any:
        return next(row for row in self.evaluations[name].rows if row.metric == metric)

    def _errors(self, metric: str) -> dict[tuple[str, str], float]:
        """Return the standard error of each pair's difference, by the chance of the rows alone."""
        pairs = list(itertools.combinations(self.evaluations, 2))
        if metric == "average_precision" and self._jackknifed():
            return {pair: self._precision_error(*pair) for pair in pairs}
        added = {
            name: self.rows.influence(
                score, metric, self.thresholds[name] if metric in POINTS else None
            )
            for name, score in self.scores.items()
        }
        return {(one, other): self.rows.error(added[one], added[other]) for one, other in pairs}

    def _jackknifed(self) -> bool:
        """Whether the unbiased average precision of a single sample is compared."""
        return self.shares.label_purity == 1 and self.shares.sampling == "single-sample"

    def _precision_error(self, one: str, other: str) -> float:
        return precision_error(
            self.scores[one],
            self.scores[other],
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
        shares = np.append(self.shares.unlabeled_prevalence, shares)
        gaps = self._differences(metric, one, other, shares)
        moves = gaps[1:] - gaps[0]
        return max(0.0, -float(moves.min())), max(0.0, float(moves.max()))

    def _top(self) -> float:
        """Return the largest share that every model's scores allow."""
        tops = [
            largest_share(e.counts, self.shares.label_purity) for e in self.evaluations.values()
        ]
        return max(min(*tops, self.shares.label_purity) - 1e-6, 0.0)

    def _differences(self, metric: str, one: str, other: str, shares: FloatArray) -> FloatArray:
        return self._values(one, metric, shares) - self._values(other, metric, shares)

    def _values(self, name: str, metric: str, shares: FloatArray) -> FloatArray:
        """Return a metric at each share of positives among the unlabeled rows."""
        if metric in POINTS:
            design = replace(self.rows.design, given="unlabeled_prevalence", value=shares)
            heads = np.repeat(self.heads[name][:, np.newaxis], len(shares), axis=1)
            return HeadCounts(heads, design).point().metric(metric)
        counts, told = self.evaluations[name].counts, self.shares
        curves = (mixture_curve(counts, with_share(told, float(s)), clean=False) for s in shares)
        return np.array([getattr(curve, metric) for curve in curves])

    def _crossover(self, metric: str, one: str, other: str) -> float:
        """Find the hidden share at which the order flips, by the sign of the difference."""
        grid = np.linspace(0, self._top(), GRID)
        gaps = self._differences(metric, one, other, grid)
        flips = np.flatnonzero(gaps[1:] * gaps[:-1] < 0)
        if not flips.size:
            return math.nan
        i = int(flips[0])
        return float(grid[i] + (grid[i + 1] - grid[i]) * gaps[i] / (gaps[i] - gaps[i + 1]))

    def _better(self, metric: str, one: str, other: str, value: float, error: float) -> float:
        """Average the probability that `one` is better over the prevalence's uncertainty."""
        span = self.shares.unlabeled_prevalence_interval
        if metric in self.fixed or span is None or error == 0:
            return _below(value, error)
        spread = self.shares.unlabeled_prevalence_error
        if spread == 0:
            shares, weights = np.linspace(span.low, span.high, NODES), np.ones(NODES)
        else:
            nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
            shares = self.shares.unlabeled_prevalence + spread * nodes
        shares = np.clip(shares, 0, self.shares.label_purity - 1e-6)
        gaps = self._differences(metric, one, other, shares)
        return float(np.average(ndtr(gaps / error), weights=weights))


def _below(value: float, error: float) -> float:
    """Return the normal probability of less than a value, one half at a certain 0; NaN of NaN."""
    if error == 0:  # the same order of rows; areas of differently cut tables differ by rounding
        return 0.5 + 0.5 * float(np.sign(value)) * (abs(value) > ROUNDING)
    return float(ndtr(value / error))


def _fixed_orders(shares: Shares, *, n_negative: float) -> frozenset[str]:
    """Return the metrics in which no share of hidden positives changes the order of two models."""
    if shares.label_purity == 1:
        return FIXED_IF_PURE
    # Known negatives join the recovered ones in a part that moves with the share.
    pooled = shares.sampling == "single-sample" and n_negative > 0
    return frozenset() if pooled else FIXED_ORDER


def holm_adjusted(differences: Sequence[Difference]) -> list[Difference]:
    """Adjust p-values for several pairs (Holm 1979); pairs without one are not tested."""
    tested = [i for i, d in enumerate(differences) if not math.isnan(d.p_value)]
    order = sorted(tested, key=lambda i: differences[i].p_value)
    adjusted, largest = [math.nan] * len(differences), 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * differences[i].p_value))
        adjusted[i] = largest
    return [
        Difference(**{**vars(d), "adjusted_p_value": p})
        for d, p in zip(differences, adjusted, strict=True)
    ]
