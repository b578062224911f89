"""Paired differences of models on the same rows, metric by metric."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtr, stdtrit

from undercount.assume.mixture import LABELLED, design_of
from undercount.curve import ROUNDING, FloatArray
from undercount.estimate import Estimate
from undercount.metric_facts import FACTS
from undercount.read.evaluation import Evaluation
from undercount.read.intervals.heads import HeadCounts
from undercount.read.intervals.paired import LeftOutPrecision, PairedRows, PlacedRows
from undercount.read.sensitivity import AreaSums
from undercount.shares import Shares

# In the order of the table.
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


class Model:
    """One model's rows, evaluation, and what its metrics at any share are read from."""

    def __init__(self, evaluation: Evaluation, rows: PlacedRows, shares: Shares) -> None:
        self.evaluation, self.rows, self.shares = evaluation, rows, shares
        self.table = {row.metric: row.estimate for row in evaluation.rows}

    @cached_property
    def _sums(self) -> AreaSums:
        return AreaSums(self.evaluation.counts, self.shares)

    @cached_property
    def left_out(self) -> LeftOutPrecision:
        """The average precision without each row in turn."""
        return LeftOutPrecision(self.rows, self.shares)

    def values(self, metric: str, shares: FloatArray) -> FloatArray:
        """Return a metric at each share of positives among the unlabeled rows."""
        if metric in AREAS:
            return self._sums.at(metric, shares, self.shares.label_purity)
        design = replace(self.rows.paired.design, given="unlabeled_prevalence", value=shares)
        heads = np.repeat(self.rows.heads[:, np.newaxis], len(shares), axis=1)
        return HeadCounts(heads, design).point().metric(metric)


class Paired:
    """Differences of every pair of models on the same rows."""

    def __init__(
        self,
        labels: Any,
        scores: Mapping[str, FloatArray],
        evaluations: Mapping[str, Evaluation],
        thresholds: Mapping[str, float],
    ) -> None:
        first = next(iter(evaluations.values()))
        self.shares, self.level = first.shares, first.confidence_level
        self.fixed = _fixed_orders(self.shares, n_negative=first.counts.n_negative)
        design = design_of(first.counts, self.shares, self.shares.sampling, first.target)
        self.rows = PairedRows(labels, design)
        self.models = {
            name: Model(
                evaluations[name],
                self.rows.scored(score, thresholds.get(name, math.inf)),
                self.shares,
            )
            for name, score in scores.items()
        }

    def differences(self, metric: str) -> list[Difference]:
        """Return the difference of each pair in one metric."""
        return [self._pair(metric, *pair, error) for pair, error in self._errors(metric).items()]

    def _pair(self, metric: str, one: str, other: str, error: float) -> Difference:
        pair = self.models[one], self.models[other]
        value = pair[0].table[metric].value - pair[1].table[metric].value
        estimate = self._with_interval(metric, pair, value, error)
        # Where no share changes the order, none belongs into the question whether there is one.
        depends = metric not in self.fixed
        doubt = estimate.standard_error if depends else error
        p_value = 2 * _below(-abs(value), doubt)
        return Difference(
            metric,
            one,
            other,
            estimate,
            self._better(metric, pair, value, error),
            p_value,
            p_value,
            depends,
            self._crossover(metric, pair) if depends else math.nan,
        )

    def _with_interval(
        self, metric: str, pair: tuple[Model, Model], value: float, error: float
    ) -> Estimate:
        """Add to the chance of the rows what the share's interval does to the difference."""
        n_labelled = int(self.rows.kinds[LABELLED].sum())
        t = float(stdtrit(max(n_labelled - 1, 1), 0.5 + self.level / 2))
        chance, (below, above) = t * error, self._reach(metric, pair)
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
        needs = pair[0].table[metric].needs
        return Estimate(value, low, high, error, self.level, needs, "paired")

    def _errors(self, metric: str) -> dict[tuple[str, str], float]:
        """Return the standard error of each pair's difference, by the chance of the rows alone."""
        pairs = list(itertools.combinations(self.models, 2))
        single = self.shares.label_purity == 1 and self.shares.sampling == "single-sample"
        if metric == "average_precision" and single:  # the unbiased one is compared
            left_out = {name: model.left_out for name, model in self.models.items()}
            return {(one, other): left_out[one].error(left_out[other]) for one, other in pairs}
        added = {
            name: model.rows.influence(metric, at_threshold=metric in POINTS)
            for name, model in self.models.items()
        }
        return {(one, other): self.rows.error(added[one], added[other]) for one, other in pairs}

    def _reach(self, metric: str, pair: tuple[Model, Model]) -> tuple[float, float]:
        """Return how far the difference falls and rises over the interval of the share."""
        span = self.shares.unlabeled_prevalence_interval
        if span is None:
            return 0.0, 0.0
        shares = np.linspace(span.low, min(span.high, self._top()), RANGE_POINTS)
        shares = np.append(self.shares.unlabeled_prevalence, shares)
        gaps = _gaps(metric, pair, shares)
        moves = gaps[1:] - gaps[0]
        return max(0.0, -float(moves.min())), max(0.0, float(moves.max()))

    def _top(self) -> float:
        """Return the largest share that every model's scores allow."""
        return self.shares.below(min(m.evaluation.largest_share for m in self.models.values()))

    def _crossover(self, metric: str, pair: tuple[Model, Model]) -> float:
        """Find the hidden share at which the order flips, by the sign of the difference."""
        grid = np.linspace(0, self._top(), GRID)
        gaps = _gaps(metric, pair, grid)
        gaps[np.abs(gaps) <= ROUNDING] = 0.0  # the same ranking, summed up in other cells
        flips = np.flatnonzero(gaps[1:] * gaps[:-1] < 0)
        if not flips.size:
            return math.nan
        i = int(flips[0])
        return float(grid[i] + (grid[i + 1] - grid[i]) * gaps[i] / (gaps[i] - gaps[i + 1]))

    def _better(self, metric: str, pair: tuple[Model, Model], value: float, error: float) -> float:
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
        gaps = _gaps(metric, pair, self.shares.clip(shares))
        return float(np.average(ndtr(gaps / error), weights=weights))


def _gaps(metric: str, pair: tuple[Model, Model], shares: FloatArray) -> FloatArray:
    return pair[0].values(metric, shares) - pair[1].values(metric, shares)


def _below(value: float, error: float) -> float:
    """Return the normal probability of less than a value, one half at a certain 0; NaN of NaN."""
    if error == 0:  # the same order of rows; areas of differently cut tables differ by rounding
        return 0.5 + 0.5 * float(np.sign(value)) * (abs(value) > ROUNDING)
    return float(ndtr(value / error))


def _fixed_orders(shares: Shares, *, n_negative: float) -> frozenset[str]:
    """Return the metrics in which no share of hidden positives changes the order of two models."""
    pure = shares.label_purity == 1
    # Known negatives join the recovered ones in a part that moves with the share.
    if not pure and shares.sampling == "single-sample" and n_negative > 0:
        return frozenset()
    orders = ("always", "pure") if pure else ("always",)
    return frozenset(name for name, facts in FACTS.items() if facts.order_fixed in orders)


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
