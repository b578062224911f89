"""How recall, precision, F and LL scores vary with the labels that happened to be given.

Tabatabaei et al. 2020, sections 4.1 and 4.3. Their letters: M rows, P positives, M1 and P1 those
predicted positive, S labelled rows, S1 labelled rows predicted positive, ρ the label frequency.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.stats import binom, hypergeom

from undercount.curve import FloatArray
from undercount.errors import InputError
from undercount.theory.numbers import read_whole


@dataclass(frozen=True)
class ScoreMoments:
    """Hold what an estimator aims at, and its mean and variance over all labellings.

    Parameters
    ----------
    target : float
        The value that a complete labelling would give.
    mean, variance : float
        Of the estimator, over the random choice of the rows that carry a label.

    Examples
    --------
    >>> import undercount as uc
    >>> truth = {"positives": 10, "true_positives": 5, "predicted_positive": 7, "n_rows": 40}
    >>> moments = uc.theory.labelled_moments(**truth, labelled=3).lee_liu
    >>> round(moments.bias, 4), round(moments.standard_deviation, 4)
    (0.3704, 1.5298)
    """

    target: float
    mean: float
    variance: float

    @property
    def bias(self) -> float:
        """Mean minus target."""
        return self.mean - self.target

    @property
    def standard_deviation(self) -> float:
        """Square root of the variance."""
        return float(np.sqrt(self.variance))


@dataclass(frozen=True)
class LabelledMoments:
    """Hold the moments of each estimator of one classifier at one threshold.

    Parameters
    ----------
    labelled_flagged : ScoreMoments
        Of S1, the number of labelled rows predicted positive; its target is ρ P1.
    recall, precision, f_beta, lee_liu : ScoreMoments
        Of the estimators of Tabatabaei et al. Recall and LL are taken over the labellings that
        give at least one label, where they are defined.
    probability_above_one : float
        How likely the estimate of F is above 1, which no F score is.

    Examples
    --------
    >>> import undercount as uc
    >>> moments = uc.theory.labelled_moments(
    ...     positives=10, true_positives=5, predicted_positive=7, n_rows=40, labelled=3
    ... )
    >>> round(moments.f_beta.mean, 4), round(moments.probability_above_one, 4)
    (0.5882, 0.0833)
    """

    labelled_flagged: ScoreMoments
    recall: ScoreMoments
    precision: ScoreMoments
    f_beta: ScoreMoments
    lee_liu: ScoreMoments
    probability_above_one: float


def labelled_moments(
    *,
    positives: int,
    true_positives: int,
    predicted_positive: int,
    n_rows: int,
    labelled: int | None = None,
    label_frequency: float | None = None,
    assumed_label_frequency: Any = None,
    beta: float = 1.0,
) -> LabelledMoments:
    """Compute exact moments of S1, recall, precision, F and LL over the random labels.

    Two designs with different variances: `labelled` fixes how many positives get a label, all
    subsets of this size equally likely (the number of positives is known, ρ = S/P is the
    realised share, S1 is hypergeometric); `label_frequency` labels each positive by itself with
    this probability (the probability is known, the number of positives is not).

    Parameters
    ----------
    positives, true_positives : int
        Positives in the data set (P), and those of them predicted positive (P1).
    predicted_positive, n_rows : int
        Rows predicted positive (M1), at least one, and all rows (M).
    labelled : int, optional
        Number of labelled positives (S).
    label_frequency : float, optional
        Probability that a positive is labelled (ρ). Give this or `labelled`.
    assumed_label_frequency : float or array-like, optional
        What is put into the formulas in place of ρ: one value, or several equally likely ones,
        for example estimates from many data sets. By default the right one.
    beta : float, default=1.0
        Weight of recall in the F score.

    Returns
    -------
    LabelledMoments

    Notes
    -----
    Assumes: labels are given at random among positives; an assumed frequency is independent of
    which positives carry a label.
    Wrong when: positives with high scores are labelled more often than others, or the frequency
    was estimated from the labels of the same rows.

    LL is biased upward by Var(S1) M/(S² M1). Section 4.3 concludes that precision and F are
    overestimated whatever the distribution of the assumed frequency; this needs its mean to be
    the true one (Jensen's inequality). A frequency that is simply too large underestimates both.

    Examples
    --------
    >>> import undercount as uc
    >>> truth = {"positives": 68, "true_positives": 44, "predicted_positive": 161, "n_rows": 200}
    >>> known_positives = uc.theory.labelled_moments(**truth, labelled=17)
    >>> known_frequency = uc.theory.labelled_moments(**truth, label_frequency=0.25)
    >>> round(known_positives.precision.variance, 6), round(known_frequency.precision.variance, 6)
    (0.001824, 0.005092)
    >>> for assumed in ([0.2, 0.3], 0.5):
    ...     noisy = uc.theory.labelled_moments(
    ...         **truth, labelled=17, assumed_label_frequency=assumed
    ...     )
    ...     print(round(noisy.precision.bias, 4), round(noisy.f_beta.bias, 4))
    0.0114 0.0078
    -0.1366 -0.1586
    """
    truth = _Truth.read(positives, true_positives, predicted_positive, n_rows)
    number, chance, frequency = _label_numbers(truth.positives, labelled, label_frequency)
    assumed = _read_frequency(
        frequency if assumed_label_frequency is None else assumed_label_frequency
    )
    flagged = truth.flagged_moments(number)
    some = number > 0  # without a label, recall and LL are 0/0
    some_chance = chance[some] / chance[some].sum()
    hit_rate = flagged[0][some] / number[some], flagged[1][some] / number[some] ** 2
    return LabelledMoments(
        ScoreMoments(frequency * truth.true_positives, *_total(chance, *flagged)),
        ScoreMoments(truth.recall, *_total(some_chance, *hit_rate)),
        _precision(truth, _total(chance, *flagged), assumed),
        _f_beta(truth, (number, chance), flagged, assumed, _weight(beta)),
        _lee_liu(truth, number[some], some_chance),
        _above_one(truth, (number, chance), assumed, _weight(beta)),
    )


@dataclass(frozen=True)
class _Truth:
    positives: int  # P
    true_positives: int  # P1
    predicted_positive: int  # M1
    n_rows: int  # M

    @classmethod
    def read(cls, *numbers: Any) -> Self:
        names = ("positives", "true_positives", "predicted_positive", "n_rows")
        least = (1, 0, 1, 1)
        truth = cls(*map(read_whole, names, numbers, least))
        cells = {
            "false negatives": truth.positives - truth.true_positives,
            "false positives": truth.predicted_positive - truth.true_positives,
        }
        cells["true negatives"] = truth.n_rows - truth.positives - cells["false positives"]
        for cell, size in cells.items():
            if size < 0:
                raise InputError(f"no cell may be below 0; these numbers give {size} {cell}")
        return truth

    @property
    def recall(self) -> float:
        return self.true_positives / self.positives

    def flagged_moments(self, number: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of S1 given S, hypergeometric (section 4.1)."""
        left = (self.positives - number) / max(self.positives - 1, 1)
        return number * self.recall, number * self.recall * (1 - self.recall) * left

    def factorial_moment(self, number: FloatArray, order: int) -> FloatArray:
        """E of S1 (S1-1) … (S1-order+1) given S."""
        out = np.ones_like(number)
        for k in range(min(order, self.positives)):
            out = out * (number - k) * (self.true_positives - k) / (self.positives - k)
        return out if order <= self.positives else np.zeros_like(number)


def _precision(truth: _Truth, flagged: tuple[float, float], assumed: FloatArray) -> ScoreMoments:
    # Section 4.3; at a single assumed value it is section 4.1.
    mean, variance = flagged
    inverse = 1 / assumed / truth.predicted_positive
    spread = variance * np.mean(inverse**2) + mean**2 * np.var(inverse)
    target = truth.true_positives / truth.predicted_positive
    return ScoreMoments(target, float(mean * np.mean(inverse)), float(spread))


def _f_beta(
    truth: _Truth,
    labels: tuple[FloatArray, FloatArray],
    flagged: tuple[FloatArray, FloatArray],
    assumed: FloatArray,
    weight: float,
) -> ScoreMoments:
    number, chance = labels
    given = []
    for frequency in assumed:  # F = (1+β²) S1/(β² S + ρ M1), the F1 of section 4.1 for any β
        factor = (1 + weight) / (weight * number + frequency * truth.predicted_positive)
        given.append(_total(chance, flagged[0] * factor, flagged[1] * factor**2))
    means, variances = np.array(given).T
    every = np.full(assumed.size, 1 / assumed.size)
    target = (1 + weight) * truth.true_positives
    target /= weight * truth.positives + truth.predicted_positive
    return ScoreMoments(target, *_total(every, means, variances))


def _lee_liu(truth: _Truth, number: FloatArray, chance: FloatArray) -> ScoreMoments:
    first, second, third, fourth = (truth.factorial_moment(number, k) for k in (1, 2, 3, 4))
    square = second + first  # E S1²
    spread = np.maximum(fourth + 6 * third + 7 * second + first - square**2, 0)
    scale = truth.n_rows / truth.predicted_positive
    moments = _total(chance, scale * square / number**2, scale**2 * spread / number**4)
    return ScoreMoments(scale * truth.recall**2, *moments)


def _above_one(
    truth: _Truth, labels: tuple[FloatArray, FloatArray], assumed: FloatArray, weight: float
) -> float:
    number, chance = labels
    most = (weight * number[:, None] + assumed * truth.predicted_positive) / (1 + weight)
    # F of exactly 1 must not fall above it by rounding.
    above = hypergeom.sf(
        np.floor(most + 1e-9), truth.positives, truth.true_positives, number[:, None]
    )
    return float(chance @ np.mean(above, axis=1))


def _total(chance: FloatArray, mean: FloatArray, variance: FloatArray) -> tuple[float, float]:
    """Mean and variance of a mixture of parts."""
    overall = float(chance @ mean)
    return overall, float(chance @ variance + chance @ (mean - overall) ** 2)


def _label_numbers(
    positives: int, labelled: int | None, label_frequency: float | None
) -> tuple[FloatArray, FloatArray, float]:
    """Return the possible numbers of labels, how likely each is, and ρ."""
    if (labelled is None) == (label_frequency is None):
        raise InputError(
            "give exactly one of labelled (the number of positives is known) and label_frequency "
            f"(the chance of a label is known); got {labelled!r} and {label_frequency!r}"
        )
    if labelled is not None:
        number = read_whole("labelled", labelled, 1)
        if number > positives:
            raise InputError(f"labelled must be at most the {positives} positives; got {number}")
        return np.array([float(number)]), np.ones(1), number / positives
    frequency = _read_frequency(label_frequency, "label_frequency")
    if frequency.size != 1:
        raise InputError(f"label_frequency must be one number; got {label_frequency!r}")
    every = np.arange(positives + 1.0)
    return every, binom.pmf(every, positives, frequency[0]), float(frequency[0])


def _read_frequency(value: Any, name: str = "assumed_label_frequency") -> FloatArray:
    try:
        frequency = np.atleast_1d(np.asarray(value, dtype=float))
    except (TypeError, ValueError):
        frequency = np.empty(0)
    if frequency.ndim != 1 or not frequency.size or not ((frequency > 0) & (frequency <= 1)).all():
        raise InputError(f"{name} must be above 0 and at most 1; got {value!r}")
    return frequency


def _weight(beta: float) -> float:
    if not isinstance(beta, int | float | np.number) or not 0 <= beta < np.inf:
        raise InputError(f"beta must be a finite number of at least 0; got {beta!r}")
    return float(beta) ** 2
