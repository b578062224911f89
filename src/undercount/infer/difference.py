"""The difference of two models in one metric: what it holds, how it varies, and p-values."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from scipy.optimize import brentq
from scipy.special import stdtr, stdtrit

from undercount.curve import NO_ROWS_ROUNDING, FloatArray
from undercount.estimate import Estimate, round_outward
from undercount.infer.deployed import SAME_RATES
from undercount.infer.shared_labels import over_share
from undercount.infer.skewness import SYMMETRIC, Skewness
from undercount.metric_facts import FACTS

Question: TypeAlias = Literal["population", "rows"]
# What a question is about, as the target of a metric says it.
TARGET_OF: "dict[Question, Literal['population', 'dataset']]" = {
    "population": "population",
    "rows": "dataset",
}
# In the order of the table.
PAIRED_AREAS = ("roc_auc", "lift_auc", "average_precision")
PAIRED_POINTS = ("recall", "precision", "f1", "mcc", "accuracy")


@dataclass(frozen=True)
class Difference:
    """Hold how much better one model is than another in one metric.

    Attributes
    ----------
    difference : Estimate
        One minus other. Its interval holds the chance of the rows (or, for these very rows, of
        their labels) and, where the size of the difference moves with the share of hidden
        positives, that share's interval. It stays inside what the metric's range allows.
    better_probability : float
        Chance that `one` is better, by the distribution of the p-value: 1 - p/2 if it is ahead.
    p_value, adjusted_p_value : float
        Two-sided, and Holm-adjusted over all pairs of models for the metric.
    depends_on_prevalence : bool
        Whether the order of the two could flip with the prevalence.
    crossover : float
        Share of hidden positives at which it does; NaN if it does not within what data allow.
    question : {"population", "rows"}
        What interval, chance and p-values speak of: other rows of the same kind, or these alone.

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
    question: Question = "population"


@dataclass(frozen=True)
class Chance:
    """Say how a difference varies: standard error, degrees of freedom of Student's quantile."""

    error: float
    freedom: float
    skewness: Skewness = SYMMETRIC

    def quantile(self, level: float) -> float:
        """Return Student's quantile, of which a share `level` is nearer to 0."""
        return float(stdtrit(self.freedom, 0.5 + level / 2))

    def below(self, t: float) -> float:
        """Return how far the lower end lies below the value at a quantile of Student's."""
        return self.error * self._skewed(t)

    def above(self, t: float) -> float:
        """Return how far the upper end lies above the value."""
        return -self.error * self._skewed(-t)

    def _skewed(self, t: float) -> float:
        return t if self.skewness is SYMMETRIC else self.skewness.quantile(t)

    def score(self, value: float) -> float:
        """Return the quantile at which an interval around a value ends at 0."""
        if self.error == 0:  # the same order of rows; areas of differently cut tables round
            return 0.0 if abs(value) <= NO_ROWS_ROUNDING else abs(value) * math.inf
        ratio = value / self.error
        return abs(ratio if self.skewness is SYMMETRIC else self.skewness.score(ratio))

    def p_value(self, score: float) -> float:
        """Return how likely such a quantile or a larger one is, on both sides; NaN of NaN."""
        return 2 * float(stdtr(self.freedom, -score))


@dataclass(frozen=True)
class Contributions:
    """Hold what each independent unit adds to an estimate: a row, or all rows of a cluster.

    Those of two models on the same rows, one less the other, are those of their difference.

    Attributes
    ----------
    units : array
        What each adds; the variance of the estimate is the sum of their squares.
    freedom : float
        Degrees of freedom of Student's quantile.
    labels : array, optional
        What each label adds, where the chances of labels are estimates themselves.
    label_variance : callable, optional
        The variance that the error of these chances makes of what labels add.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.infer.difference import Contributions
    >>> one, other = (Contributions(np.array(units), 9.0) for units in ([3.0, 4.0], [3.0, 1.0]))
    >>> float(one.variance), float((one - other).variance)
    (25.0, 9.0)
    """

    units: FloatArray
    freedom: float
    labels: FloatArray | None = None
    label_variance: Callable[[FloatArray], float] | None = None

    @property
    def variance(self) -> float:
        """Variance of the estimate."""
        found = float(self.units @ self.units)
        if self.labels is None or self.label_variance is None:
            return found
        return found + self.label_variance(self.labels)

    @property
    def chance(self) -> Chance:
        """How the estimate varies."""
        return Chance(math.sqrt(self.variance), self.freedom)

    def __sub__(self, other: "Contributions") -> "Contributions":
        labels = None
        if self.labels is not None and other.labels is not None:
            labels = self.labels - other.labels
        return replace(self, units=self.units - other.units, labels=labels)

    def scaled(self, factor: float) -> "Contributions":
        """Return those of the estimate times a factor."""
        labels = None if self.labels is None else factor * self.labels
        return replace(self, units=factor * self.units, labels=labels)


@dataclass(frozen=True)
class MovedDifference:
    """A difference of two models, and how far an uncertain share of positives moves it.

    Attributes
    ----------
    metric : str
    value, possible : float
        One minus other; and with each inside the metric's range.
    falls, rises : float
        How far the share's interval takes it down and up.
    estimated : bool
        Whether the share is an estimate, whose error is one more chance; else it is a number, or a
        range of which every share is possible.
    fixed : bool
        Whether no share changes the order of the two.
    level : float
        The confidence level.
    """

    metric: str
    value: float
    possible: float
    falls: float
    rises: float
    estimated: bool
    fixed: bool
    level: float

    def estimate(self, chance: Chance, needs: tuple[str, ...]) -> Estimate:
        """Add to the chance of the rows what the share's interval does to the difference."""
        t, value, share_error = chance.quantile(self.level), self.value, 0.0
        below, above = chance.below(t), chance.above(t)
        if self.estimated:
            here, ends = (value - below, value + above), (value - self.falls, value + self.rises)
            low, high = map(float, over_share(value, here, ends))
            share_error = (self.falls + self.rises) / (2 * t)
        else:
            low, high = value - self.falls - below, value + self.rises + above
        if self.fixed:
            # The share scales such a difference and never turns it round.
            low = max(low, 0.0) if value - below > 0 else low
            high = min(high, 0.0) if value + above < 0 else high
        error = math.hypot(chance.error, share_error)
        low, high = possible_ends(self.metric, self.possible, low, high)
        return Estimate(self.possible, low, high, error, self.level, needs, "paired")

    def p_value(self, chance: Chance) -> float:
        """Return the p-value that is small where the interval of the difference leaves out 0."""
        value = self.value
        # Where no share changes the order, none belongs into the question whether there is one.
        if self.fixed:
            return chance.p_value(chance.score(value))
        nearer = self.falls if value > 0 else self.rises
        if not self.estimated:
            rest = math.copysign(max(abs(value) - nearer, 0.0), value)
            return chance.p_value(chance.score(rest))
        return chance.p_value(self._joint_score(chance, nearer))

    def _joint_score(self, chance: Chance, nearer: float) -> float:
        """Return the quantile at which an interval ends at 0 that holds an estimated share's error.

        The reach of the share is that at the level in use, and grows with the quantile.
        """
        value, t, most = self.value, chance.quantile(self.level), chance.score(self.value)
        reach = chance.below if value > 0 else chance.above

        def beyond(score: float) -> float:
            return math.hypot(reach(score), nearer * score / t) - abs(value)

        if math.isnan(most) or nearer == 0:
            return most
        if math.isinf(most):
            return t * abs(value) / nearer
        return float(brentq(beyond, 0.0, 2 * most)) if beyond(0.0) < 0 < most else 0.0


def fixed_difference(
    metric: str, names: tuple[str, str], estimate: Estimate, chance: Chance, question: Question
) -> Difference:
    """Return the difference of two models whose order no share of hidden positives turns."""
    p_value = chance.p_value(chance.score(estimate.value))
    return Difference(
        metric,
        *names,
        difference=estimate,
        better_probability=better_chance(estimate.value, p_value),
        p_value=p_value,
        adjusted_p_value=p_value,
        depends_on_prevalence=False,
        crossover=math.nan,
        question=question,
    )


def better_chance(value: float, p_value: float) -> float:
    """Return the chance that a model ahead by a value is better: one side of its p-value.

    Examples
    --------
    >>> from undercount.infer.difference import better_chance
    >>> better_chance(0.1, 0.04), better_chance(-0.1, 0.04), better_chance(0.0, 1.0)
    (0.98, 0.02, 0.5)
    """
    return 1 - p_value / 2 if value > 0 else p_value / 2


def possible_ends(metric: str, value: float, low: float, high: float) -> tuple[float, float]:
    """Return the ends of a difference's interval inside what two values of the metric allow.

    Examples
    --------
    >>> from undercount.infer.difference import possible_ends
    >>> possible_ends("average_precision", 0.1, -1.069, 1.441)
    (-1.0, 1.0)
    """
    least, most = FACTS[metric].range
    low, high = (float(np.clip(end, least - most, most - least)) for end in (low, high))
    ends = float(np.fmin(low, value)), float(np.fmax(high, value))
    return round_outward(*ends, least - most, most - least)


def holm_adjusted(differences: Sequence[Difference]) -> list[Difference]:
    """Adjust p-values for several pairs (Holm 1979); pairs without one are not tested."""
    adjusted = adjust_holm(np.array([d.p_value for d in differences]))
    return [
        replace(d, adjusted_p_value=float(p)) for d, p in zip(differences, adjusted, strict=True)
    ]


def adjust_holm(p_values: FloatArray) -> FloatArray:
    """Adjust p-values for their number (Holm 1979); those that are NaN stay and do not count.

    Examples
    --------
    >>> import numpy as np
    >>> from undercount.infer.difference import adjust_holm
    >>> adjust_holm(np.array([0.01, 0.04, np.nan, 0.03])).tolist()
    [0.03, 0.06, nan, 0.06]
    """
    order = np.argsort(p_values)[: np.count_nonzero(~np.isnan(p_values))]  # NaN sorts last
    raised = p_values[order] * np.arange(len(order), 0, -1)
    adjusted = np.full(len(p_values), np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(raised), 1.0)
    return adjusted


def carried_over(difference: Difference) -> Difference:
    """Return a difference that names what it needs beyond those of these rows."""
    gap = difference.difference
    gap = replace(gap, needs=(*gap.needs, SAME_RATES), method=f"{gap.method}, carried over")
    return replace(difference, difference=gap)
